"""The command line: ``ecc memory ...``, installed also as ``ecc-memory ...``.

The two entry points import what they need when they are called, so that importing this
package costs nothing.
"""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """Run ``ecc`` with the arguments of this process."""
    from ecc_memory.cli.run import run

    run("ecc")


def memory_main() -> NoReturn:
    """Run ``ecc-memory``, which is ``ecc memory`` under one name."""
    from ecc_memory.cli.run import run

    run("ecc-memory")
