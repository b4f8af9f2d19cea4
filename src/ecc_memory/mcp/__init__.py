"""``ecc-memory-mcp``: the vault over the Model Context Protocol, on standard input and output.

Importing this package loads nothing of the SDK; :func:`main` does, once standard output is
out of everybody's reach.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Serve one client until it leaves.

    Exit status: 0 when the client closed its end, stopped reading or died; 2 when the command
    line or the environment is wrong; 128 + number on a signal; 1 when the server itself failed.
    """
    from ecc_memory import __version__
    from ecc_memory.errors import UsageError
    from ecc_memory.mcp.launch import USAGE, Launch
    from ecc_memory.mcp.life import leave_on_signals, leave_with_the_client
    from ecc_memory.mcp.wire import Wire

    arguments = sys.argv[1:]
    if "--help" in arguments or "--version" in arguments:
        sys.stdout.write(USAGE if "--help" in arguments else f"ecc-memory-mcp {__version__}\n")
        sys.exit(0)
    try:
        launch = Launch.parse(arguments, os.environ)
    except UsageError as error:
        sys.stderr.write(f"ecc-memory-mcp: {error.message}\n")
        sys.exit(2)
    leave_on_signals()
    wire = Wire.claim()
    leave_with_the_client(wire.output)
    gc.disable()  # half a million objects are about to be made and none of them is garbage
    from ecc_memory.mcp.run import run

    gc.freeze()
    gc.enable()
    run(launch, wire)
