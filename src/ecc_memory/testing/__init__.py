"""For the authors of adapters: a home folder of a test's own, and the contract as a test suite."""
