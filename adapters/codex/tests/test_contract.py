"""The contract between adapters and the installer, kept by this one."""

import ecc_memory_codex
from ecc_memory.testing import AdapterContract


class TestCodex(AdapterContract):
    plugin = ecc_memory_codex
