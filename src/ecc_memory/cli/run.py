"""One run of the program: streams, the command, and the one place where errors become words."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

from ecc_memory.cli.output import abandon, emit_error
from ecc_memory.errors import EccMemoryError, UsageError

INTERRUPTED = 130  # 128 + SIGINT, what a shell reports


def run(program: str) -> NoReturn:
    """Run ``program`` (``ecc`` or ``ecc-memory``) and end the process with its exit status.

    0 done, 1 refused or findings, 2 usage; 130 interrupted, 141 the reader of the output left.
    """
    _use_utf8()
    words = sys.argv[1:]
    as_json = "--json" in words[: words.index("--")] if "--" in words else "--json" in words
    try:
        status = _invoke(program, [_decoded(word) for word in words])
    except KeyboardInterrupt:
        status = INTERRUPTED
    except EccMemoryError as error:
        status = emit_error(error.code, str(error), error.exit_code, as_json=as_json)
    except Exception as error:  # noqa: BLE001  the last stop: a fault of ours must not show as a traceback
        status = _report_fault(error, as_json=as_json)
    if status == INTERRUPTED:
        emit_error("ECC_MEMORY_INTERRUPTED", "interrupted", INTERRUPTED, as_json=as_json)
    abandon()
    sys.exit(status)


def _invoke(program: str, words: list[str]) -> int:
    import typer

    from ecc_memory.cli.app import build

    try:
        status = build(program)(args=words, prog_name=program, standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        message = error.format_message().rstrip(". \n")
        if context is not None:
            message += f"{' See' if message.endswith('?') else '; see'} {context.command_path} --help"
        raise UsageError(message) from None
    except typer.Abort:
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def _use_utf8() -> None:
    """Speak UTF-8 whatever the locale says; what is no text at all is shown escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _decoded(word: str) -> str:
    """Return an argument as UTF-8, even where Python took the locale's encoding for it."""
    if word.isascii():
        return word
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        raise UsageError("an argument is not valid UTF-8; set a UTF-8 locale, or pass it in UTF-8") from None


def _report_fault(error: Exception, *, as_json: bool) -> int:
    if os.environ.get("ECC_MEMORY_TRACEBACK") == "1":
        import traceback

        from ecc_memory.terminal import safe

        sys.stderr.write(safe("".join(traceback.format_exception(error))))
    message = (
        f"internal error ({type(error).__name__}); this is a fault of ecc-memory, please report it "
        "with the output of the same command under ECC_MEMORY_TRACEBACK=1"
    )
    return emit_error("ECC_MEMORY_INTERNAL", message, 1, as_json=as_json)
