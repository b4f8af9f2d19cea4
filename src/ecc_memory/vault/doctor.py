"""What is wrong in a vault, why, and how a person repairs it. Never writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

from ecc_memory.errors import VaultIO, VaultUnsafe
from ecc_memory.vault.conflict import conflict_line
from ecc_memory.vault.document import BODY_LINE
from ecc_memory.vault.judge import Document, Problem
from ecc_memory.vault.limits import MAX_FILES_VARIABLE, MAX_SCAN_BYTES_VARIABLE, Limits
from ecc_memory.vault.publish import GITIGNORE, GITIGNORE_NAME, gitignore
from ecc_memory.vault.results import DoctorReport, Finding
from ecc_memory.vault.roots import Place
from ecc_memory.vault.scan import Scan, open_root

MOST_DIAGNOSTICS = 100
_NEARLY_FULL = 0.8
_REPAIRS = {
    "invalid-document": "Edit the file so that it follows the format, or move it out of the vault.",
    "location-mismatch": "Move the file to the folder its fields name, or correct the field.",
    "suspected-secret": "Remove the value from the file, and replace the credential where it is used.",
    "unreadable": "Make it a regular file that you may read, or move it out of the vault.",
    "unreadable-folder": "Give yourself permission to list the folder, or move it out of the vault.",
    "symlink": "Replace the link by the file or folder itself, or remove it.",
}
_T = TypeVar("_T")


def examine(
    scan: Scan,
    limits: Limits,
    target_harness: str | None,
    project: Place | None = None,
    *,
    findings: Sequence[Finding] = (),
    warnings: Sequence[Finding] = (),
) -> DoctorReport:
    """Judge a finished scan.

    Args:
        scan: of the scopes in question.
        limits: the bounds it ran under.
        target_harness: judge only what this harness may see; files that cannot be parsed
            belong to nobody and are always counted.
        project: the project scope if it is one of them; whether git keeps it to itself is looked at.
        findings: what was found elsewhere.
        warnings: what there is to warn of elsewhere.
    """
    exposed, unprotected = _privacy(scan, project) if project is not None else ([], [])
    documents = scan.visible_to(target_harness)
    duplicates = _duplicates(documents)
    broken = _broken_links(documents)
    problems = sorted((*scan.invalid, *scan.symlinks), key=lambda problem: problem.path)
    found = [_of_problem(problem) for problem in problems]
    found += [_of_duplicate(identity, path) for identity, paths in duplicates for path in paths]
    found += [_of_broken_link(source, target) for source, target in broken]
    found += [*exposed, *findings]
    if scan.cut_by is not None:
        found.append(_of_cut(scan.cut_by, limits))
    invalid = sorted(scan.invalid, key=lambda problem: problem.path)
    symlinks = sorted(problem.path for problem in scan.symlinks)
    lists: tuple[Sequence[object], ...] = (invalid, duplicates, broken, symlinks, found)
    return DoctorReport(
        ok=not found,
        memory_count=len(documents),
        invalid_files=tuple(_invalid_entry(problem) for problem in _first(invalid)),
        invalid_file_count=len(invalid),
        duplicate_ids=tuple(
            {"id": identity, "paths": _first(paths)} for identity, paths in _first(duplicates)
        ),
        duplicate_id_count=len(duplicates),
        broken_links=tuple(
            {"sourceId": source.memory.id, "targetId": target, "path": source.path}
            for source, target in _first(broken)
        ),
        broken_link_count=len(broken),
        skipped_symlinks=tuple(_first(symlinks)),
        skipped_symlink_count=len(symlinks),
        scanned_bytes=(
            scan.scanned_bytes if target_harness is None else sum(document.size for document in documents)
        ),
        truncated=scan.truncated,
        diagnostics_truncated=any(len(entries) > MOST_DIAGNOSTICS for entries in lists),
        findings=tuple(_first(found)),
        warnings=tuple(
            _first([*unprotected, *warnings, *_merge_markers(documents), *_warnings(scan, limits)])
        ),
    )


def _duplicates(documents: Sequence[Document]) -> list[tuple[str, list[str]]]:
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for document in documents:
        paths[document.memory.id].append(document.path)
    return sorted((identity, sorted(places)) for identity, places in paths.items() if len(places) > 1)


def _broken_links(documents: Sequence[Document]) -> list[tuple[Document, str]]:
    known = {document.memory.id for document in documents}
    broken = [
        (document, link) for document in documents for link in document.memory.links if link not in known
    ]
    return sorted(broken, key=lambda pair: (pair[0].memory.id, pair[1], pair[0].path))


def _merge_markers(documents: Sequence[Document]) -> list[Finding]:
    """Warn of texts that say two things at once; as documents they are valid."""
    message = "a merge left its conflict markers in the text, which now says both versions"
    repair = "Keep the version that is right, and remove the lines <<<<<<<, ======= and >>>>>>>."
    lines = ((document.path, conflict_line(document.memory.body)) for document in documents)
    return [
        Finding("merge-markers", path, message, repair, BODY_LINE + line - 1)
        for path, line in lines
        if line is not None
    ]


def _warnings(scan: Scan, limits: Limits) -> list[Finding]:
    warnings = []
    for used, most, unit, variable in (
        (scan.entries, limits.files, "directory entries", MAX_FILES_VARIABLE),
        (scan.scanned_bytes, limits.scan_bytes, "bytes of documents", MAX_SCAN_BYTES_VARIABLE),
    ):
        if not scan.truncated and used >= _NEARLY_FULL * most:
            message = f"the vault is nearly full: {used} of {most} {unit} that one scan may look at"
            warnings.append(Finding("nearly-full", "", message, f"Set {variable} to a larger number."))
    warnings += [
        Finding(
            "leftover",
            path,
            "a temporary file that an interrupted save left behind; it is not a memory",
            "Remove it once no program is saving; a save in this folder removes it when it is an hour old.",
        )
        for path in scan.leftovers
    ]
    return warnings


def _privacy(scan: Scan, project: Place) -> tuple[list[Finding], list[Finding]]:
    """Findings and warnings about what keeps the project scope out of version control."""
    path = f"{project.scope}:{GITIGNORE_NAME}"
    try:
        root = open_root(project)
        if root is None:
            return [], []
        with root:
            content = gitignore(root)
    except (VaultUnsafe, VaultIO):
        return [], []  # nor could the scan get there, and said so
    paths = [each.path for each in scan.documents] + [each.path for each in scan.invalid]
    if content is None and any(each.startswith(f"{project.scope}:") for each in paths):
        message = "there is no .gitignore in the project scope, so git would commit its memories"
        return [], [Finding("not-ignored", path, message, "Run ecc memory init, which makes it anew.")]
    if content is None or content == GITIGNORE:
        return [], []
    message = "it is not the .gitignore that keeps memories private, so nothing can be saved here"
    repair = "Remove it and run ecc memory init, which makes it anew."
    return [Finding("foreign-gitignore", path, message, repair)], []


def _invalid_entry(problem: Problem) -> dict[str, object]:
    entry: dict[str, object] = {"path": problem.path, "reason": problem.code, "message": problem.message}
    if problem.line is not None:
        entry["line"] = problem.line
    return entry


def _of_problem(problem: Problem) -> Finding:
    return Finding(problem.code, problem.path, problem.message, _REPAIRS[problem.code], problem.line)


def _of_duplicate(identity: str, path: str) -> Finding:
    message = f"several files claim the id {identity}"
    return Finding(
        "duplicate-id", path, message, "Keep one of them; give the others ids of their own or remove them."
    )


def _of_broken_link(source: Document, target: str) -> Finding:
    message = f"{source.memory.id} links to {target}, which is not in the scopes that were checked"
    repair = "Check the other scopes too, correct the id, or remove it from links."
    return Finding("broken-link", source.path, message, repair)


def _of_cut(cut_by: str, limits: Limits) -> Finding:
    bounds = {MAX_FILES_VARIABLE: limits.files, MAX_SCAN_BYTES_VARIABLE: limits.scan_bytes}
    if cut_by in bounds:
        message = (
            f"the scan stopped at its bound {cut_by}={bounds[cut_by]}, so some memories were not looked at"
        )
        return Finding("truncated", "", message, f"Set {cut_by} to a larger number, or split the vault.")
    message = f"the scan could not see everything: {cut_by}"
    return Finding("truncated", "", message, "Repair the folders named above.")


def _first(entries: Sequence[_T]) -> list[_T]:
    return list(entries[:MOST_DIAGNOSTICS])
