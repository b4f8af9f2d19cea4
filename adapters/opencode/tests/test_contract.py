"""The contract between adapters and the installer, kept by this one."""

import ecc_memory_opencode
from ecc_memory.testing import AdapterContract


class TestOpenCode(AdapterContract):
    plugin = ecc_memory_opencode
