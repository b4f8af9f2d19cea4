"""The contract between adapters and the installer, kept by this one."""

import ecc_memory_claude
from ecc_memory.testing import AdapterContract


class TestClaude(AdapterContract):
    plugin = ecc_memory_claude
