"""What a harness's own program says about our installation, asked within a bounded time."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ecc_memory.harness.types import CommandCheck, Part

Answer = Literal["seen", "not seen", "not checked"]

_AT_ONCE = 4
_MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Checked:
    """The answer about one part.

    Attributes:
        part: the part.
        answer: whether the program sees it.
        command: what was run, empty when nothing was.
        note: why it was not checked, or what to do where the part is not seen.
    """

    part: Part
    answer: Answer
    command: tuple[str, ...] = ()
    note: str = ""


def ask(checks: Iterable[CommandCheck], env: Mapping[str, str], home: Path) -> list[Checked]:
    """Run the commands, each distinct one once and a few at a time; a silent one again, alone.

    Args:
        checks: what an adapter names.
        env: the environment the checks' own variables are laid over.
        home: where commands run that do not say otherwise.
    """
    wanted = list(checks)
    runs = {_run_key(check, home): check for check in wanted}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        outputs = dict(zip(runs, pool.map(lambda check: _run(check, env, home), runs.values()), strict=True))
    for key, check in runs.items():
        if outputs[key] == "":  # two first starts at once can fail each other, as OpenCode's do
            outputs[key] = _run(check, env, home)
    return [_judge(check, outputs[_run_key(check, home)]) for check in wanted]


def _run_key(check: CommandCheck, home: Path) -> tuple[object, ...]:
    return (check.argv, tuple(sorted(check.env.items())), check.cwd or home)


def _judge(check: CommandCheck, output: str | None) -> Checked:
    if output is None:
        return Checked(
            check.part, "not checked", check.argv, "the program did not answer in time, or failed to start"
        )
    if check.expect in output:
        return Checked(check.part, "seen", check.argv)
    return Checked(check.part, "not seen", check.argv, check.hint)


def _run(check: CommandCheck, env: Mapping[str, str], home: Path) -> str | None:
    """Return a command's standard output, None when there is no answer.

    Output goes to a file and the command gets a session of its own, so that a helper it leaves
    behind neither keeps us waiting nor survives the time limit.
    """
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                check.argv,
                cwd=check.cwd or home,
                env={**env, **check.env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            process.wait(check.timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
        output.seek(0)
        return output.read(_MOST_BYTES).decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command's whole session, which is ours alone."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
