"""The contract between adapters and the installer, kept by this one."""

import ecc_memory_hermes
from ecc_memory.testing import AdapterContract


class TestHermes(AdapterContract):
    plugin = ecc_memory_hermes
