"""``python -m ecc_memory.cli`` is ``ecc-memory``."""

from ecc_memory.cli import memory_main

memory_main()
