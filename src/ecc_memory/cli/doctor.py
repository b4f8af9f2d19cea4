"""``ecc memory doctor``."""

from __future__ import annotations

import typer

from ecc_memory.cli import options
from ecc_memory.cli.describe import where
from ecc_memory.cli.output import emit
from ecc_memory.vault import DoctorReport, Finding, Vault

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
    roots = [
        {"scope": scope, "path": place.path, "origin": place.origin}
        for scope, place in ((scope, vault.place(scope)) for scope in chosen)
    ]
    lines = [f"{scope}: {where(vault, scope)}" for scope in chosen] + _lines(report)
    return emit({**report.to_json(), "roots": roots}, lines, as_json=as_json, status=0 if report.ok else 1)


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
    line = f", line {finding.line}" if finding.line is not None else ""
    return [
        f"  {finding.code}: {finding.path}{line}",
        f"    {finding.message}",
        f"    repair: {finding.repair}",
    ]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
