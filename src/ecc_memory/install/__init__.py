"""The installer: plans, shows, applies, verifies, remembers and takes back."""
