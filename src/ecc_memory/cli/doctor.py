"""``ecc memory doctor``."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ecc_memory.cli import options
from ecc_memory.cli.describe import where
from ecc_memory.cli.output import emit
from ecc_memory.vault import DoctorReport, Finding, Place, Vault

_EXAMPLES = """\b
Examples:
  ecc memory doctor
  ecc memory doctor --scope project --scope team --scope user --json
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("doctor", epilog=_EXAMPLES)(doctor)


def doctor(scopes: options.Scopes = None, as_json: options.Json = False) -> int:
    """Check every document; change nothing. Exit status 1 when something needs a repair."""
    vault = Vault.open()
    chosen = tuple(scopes) if scopes else ("project", "team")
    report = vault.doctor(scopes=chosen)
    places = [vault.place(scope) for scope in chosen]
    roots = [
        {"scope": place.scope, "path": place.path, "origin": place.origin}
        | ({"refusal": place.refusal} if place.refusal else {})
        for place in places
    ]
    lines = [f"{scope}: {where(vault, scope)}" for scope in chosen]
    lines += [f"note: {reason}" for reason in _refusals(places)]
    lines += _lines(report)
    return emit({**report.to_json(), "roots": roots}, lines, as_json=as_json, status=0 if report.ok else 1)


def _refusals(places: Sequence[Place]) -> list[str]:
    """Return why saving is refused, each reason once."""
    return list(dict.fromkeys(place.refusal for place in places if place.refusal))


def _lines(report: DoctorReport) -> list[str]:
    lines = [
        f"{_count(report.memory_count, 'valid memory', 'valid memories')}, {report.scanned_bytes} bytes read"
    ]
    if report.truncated:
        lines.append("The scan was cut short, so the counts cover only what was seen.")
    for title, items in (("finding", report.findings), ("warning", report.warnings)):
        if items:
            lines += ["", f"{_count(len(items), title, title + 's')}:"]
            lines += [line for item in items for line in _finding_lines(item)]
    if report.diagnostics_truncated:
        lines.append("There are more; repair these first.")
    if report.ok:
        lines.append("Nothing needs a repair.")
    return lines


def _finding_lines(finding: Finding) -> list[str]:
    path = f": {finding.path}" if finding.path else ""
    line = f", line {finding.line}" if finding.line is not None else ""
    return [
        f"  {finding.code}{path}{line}",
        f"    {finding.message}",
        f"    repair: {finding.repair}",
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
