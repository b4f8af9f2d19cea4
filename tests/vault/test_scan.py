"""A vault full of things that are not documents: named, skipped, never followed, never fatal."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from ecc_memory.errors import DuplicateId, UsageError, VaultIncomplete

from .conftest import World

Make = Callable[..., str]


@pytest.fixture
def notes(world: World) -> str:
    """The folder of the project's notes, with one valid memory in it."""
    world.open().save(title="Valid", body="findme")
    return str(world.project / "notes")


def put(folder: str, name: str, content: bytes) -> str:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def codes(world: World) -> dict[str, str]:
    return {finding.path: finding.code for finding in world.open().doctor().findings}


BOM = b"\xef\xbb\xbf"
VARIANTS: list[tuple[str, Callable[[bytes], bytes], bool]] = [
    ("lf", lambda d: d, True),
    ("crlf", lambda d: d.replace(b"\n", b"\r\n"), True),
    ("mixed", lambda d: d.replace(b"\n", b"\r\n", 5), True),
    ("no-final-newline", lambda d: d.rstrip(), True),
    ("lone-cr-in-body", lambda d: d.rstrip() + b"\rmore", True),
    ("bom-lf", lambda d: BOM + d, False),
    ("bom-crlf", lambda d: BOM + d.replace(b"\n", b"\r\n"), False),
    ("lone-cr", lambda d: d.replace(b"\n", b"\r"), False),
    ("text-after-marker", lambda d: d.replace(b"\n---\n", b"\n---   \n"), False),
]


@pytest.mark.parametrize(("change", "valid"), [v[1:] for v in VARIANTS], ids=[v[0] for v in VARIANTS])
def test_bom_crlf_frontmatter(
    world: World, notes: str, document: Make, change: Callable[[bytes], bytes], valid: bool
) -> None:
    put(notes, "variant.md", change(document().encode()))
    report = world.open().doctor()
    assert report.memory_count == (2 if valid else 1)
    if not valid:
        (finding,) = report.findings
        assert (finding.code, finding.path) == ("invalid-document", "project:notes/variant.md")
        assert finding.message
        assert finding.repair


def test_bom_is_named(world: World, notes: str, document: Make) -> None:
    put(notes, "bom.md", BOM + document().encode())
    assert "byte-order mark" in world.open().doctor().findings[0].message


BAD_FILES = {
    "bad-utf8.md": b"\xff\xfe",
    "utf16.md": "---\n".encode("utf-16"),
    "latin1.md": b"caf\xe9",
    "nul.md": b"\0\0",
    "empty.md": b"",
    "huge.md": b"x" * 200_000,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_one_bad_byte_kills_all_search(world: World, notes: str, name: str) -> None:
    path = put(notes, name, BAD_FILES[name])
    result = world.open().search("findme")
    assert len(result.results) == 1
    assert result.diagnostics.invalid_files == 1
    assert codes(world) == {f"project:notes/{name}": "invalid-document"}
    with open(path, "rb") as file:
        assert file.read() == BAD_FILES[name]


def test_special_files_do_not_hang_or_mislead(world: World, notes: str) -> None:
    os.mkdir(os.path.join(notes, "folder.md"))
    os.mkfifo(os.path.join(notes, "fifo.md"))
    os.symlink("/nowhere", os.path.join(notes, "dangling.md"))
    os.symlink(notes, os.path.join(notes, "loop"))
    assert len(world.open().search("findme").results) == 1
    assert codes(world) == {
        "project:notes/dangling.md": "symlink",
        "project:notes/loop": "symlink",
        "project:notes/fifo.md": "unreadable",
    }
    report = world.open().doctor()
    assert report.skipped_symlinks == ("project:notes/dangling.md", "project:notes/loop")


@pytest.mark.skipif(
    os.geteuid() == 0, reason="root may read everything; the run as an ordinary user covers this"
)
def test_file_and_folder_without_permission(world: World, notes: str) -> None:
    path = put(notes, "closed.md", b"x")
    os.chmod(path, 0)
    os.makedirs(os.path.join(notes, "closed"))
    os.chmod(os.path.join(notes, "closed"), 0)
    try:
        assert codes(world) == {
            "project:notes/closed.md": "unreadable",
            "project:notes/closed": "unreadable-folder",
            "": "truncated",
        }
    finally:
        os.chmod(os.path.join(notes, "closed"), 0o700)


def test_one_bad_file_blocks_the_rest(world: World, notes: str) -> None:
    put(notes, "bad.md", b"not a document")
    saved = world.open().save(title="Another", body="findme too")
    result = world.open().search("findme")
    assert len(result.results) == 2
    assert result.to_json()["diagnostics"]["invalidFileCount"] == 1  # type: ignore[index]
    assert not world.open().doctor().ok
    with pytest.raises(VaultIncomplete, match="doctor"):
        world.open().read(saved.memory.id)


def test_document_in_the_wrong_place(world: World, notes: str, document: Make) -> None:
    put(notes, "kind.md", document(kind='"decision"').encode())
    put(notes, "scope.md", document(scope='"team"').encode())
    put(str(world.project), "top.md", document().encode())
    put(
        str(world.project),
        "decisions/sub/deep/free-name.md",
        document(kind='"decision"', id='"mem_deep"').encode(),
    )
    assert codes(world) == {
        "project:notes/kind.md": "location-mismatch",
        "project:notes/scope.md": "location-mismatch",
        "project:top.md": "location-mismatch",
    }


def test_hidden_entries_and_other_files_are_no_documents(world: World, notes: str) -> None:
    for name in (".hidden.md", ".folder/x.md", "readme.txt", "x.MD", "x.md.bak"):
        put(notes, name, b"junk")
    assert world.open().doctor().ok


def test_suspected_secret_in_a_file_is_named_by_line_only(world: World, notes: str, document: Make) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5" * 4
    put(notes, "leak.md", document(body=f"one\ntwo {token}\n").encode())
    result = world.open().search("two")
    assert result.results == ()
    (finding,) = world.open().doctor().findings
    assert (finding.code, finding.line) == ("suspected-secret", 18)
    assert token not in str(world.open().doctor().to_json())


@pytest.mark.parametrize("line", ["title: {t}", "{t}", "tags: {t}", 'secret: "{t}"'])
def test_broken_line_with_a_secret_is_not_quoted(world: World, notes: str, document: Make, line: str) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5" * 4
    text = document().replace('title: "By hand"', line.format(t=token))
    put(notes, "leak.md", text.encode())
    report = world.open().doctor()
    assert report.findings[0].code == "suspected-secret"
    assert token not in str(report.to_json())


@pytest.mark.parametrize("line", ["title: Re: plan", "title: yes", "title: 'quoted'", "title: *x*"])
def test_unquoted_value_names_file_line_key_and_right_form(
    world: World, notes: str, document: Make, line: str
) -> None:
    put(notes, "hand.md", document().replace('title: "By hand"', line).encode())
    (finding,) = world.open().doctor().findings
    value = line.partition(": ")[2].strip("'")
    assert finding.line == 4
    assert f'title: "{value}"' in finding.message


def test_duplicate_ids(world: World, notes: str, document: Make) -> None:
    put(notes, "one.md", document().encode())
    put(notes, "two.md", document().encode())
    report = world.open().doctor()
    assert report.duplicate_ids == (
        {"id": "mem_by_hand", "paths": ["project:notes/one.md", "project:notes/two.md"]},
    )
    assert {finding.code for finding in report.findings} == {"duplicate-id"}
    with pytest.raises(DuplicateId, match="2 files"):
        world.open().read("mem_by_hand")


def test_duplicate_that_a_harness_may_not_see_does_not_exist(
    world: World, notes: str, document: Make
) -> None:
    put(notes, "one.md", document().encode())
    put(notes, "two.md", document(target_harnesses='["claude"]').encode())
    assert world.open().read("mem_by_hand", target_harness="codex").memory.id == "mem_by_hand"
    assert world.open().doctor(target_harness="codex").ok
    assert not world.open().doctor(target_harness="claude").ok


def test_broken_link_is_found_per_scope(world: World) -> None:
    user = world.open().save(title="U", body="B", scope="user").memory
    world.open().save(title="P", body="B", links=[user.id])
    report = world.open().doctor()
    assert report.broken_link_count == 1
    assert report.findings[0].code == "broken-link"
    assert world.open().doctor(scopes=["project", "user"]).ok


def test_rejected_and_superseded_are_readable_but_not_found(world: World, notes: str, document: Make) -> None:
    put(notes, "old.md", document(status='"superseded"', body="findme").encode())
    assert len(world.open().search("findme").results) == 1
    assert world.open().read("mem_by_hand").memory.status == "superseded"


def test_entry_bound_is_over_all_scopes_and_says_so(world: World, notes: str) -> None:
    for number in range(10):
        world.open().save(title=f"T{number}", body="B", scope="team" if number % 2 else "project")
    world.env["ECC_MEMORY_MAX_FILES"] = "8"
    result = world.open().search("")
    assert result.diagnostics.truncated
    report = world.open().doctor()
    assert report.truncated
    assert "ECC_MEMORY_MAX_FILES=8" in report.findings[-1].message
    with pytest.raises(VaultIncomplete):
        world.open().read("mem_anything")
    world.env["ECC_MEMORY_MAX_FILES"] = "15"
    report = world.open().doctor()
    assert report.ok
    assert [warning.code for warning in report.warnings] == ["nearly-full"]
    assert "ECC_MEMORY_MAX_FILES" in report.warnings[0].repair


def test_byte_bound(world: World) -> None:
    for number in range(3):
        world.open().save(title=f"T{number}", body="x" * 1000)
    world.env["ECC_MEMORY_MAX_SCAN_BYTES"] = "3000"
    report = world.open().doctor()
    assert (report.truncated, report.memory_count) == (True, 2)
    assert "ECC_MEMORY_MAX_SCAN_BYTES=3000" in report.findings[0].message


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "٣", "9" * 30])
def test_unusable_bound_is_refused(world: World, value: str) -> None:
    world.env["ECC_MEMORY_MAX_FILES"] = value
    with pytest.raises(UsageError, match="whole number above 0"):
        world.open()


def test_deep_folders_are_not_entered_and_reported(world: World, notes: str, document: Make) -> None:
    put(str(world.project), "notes/" + "d/" * 7 + "fine.md", document().encode())
    assert world.open().doctor().memory_count == 2
    put(str(world.project), "notes/" + "e/" * 8 + "deep.md", document(id='"mem_deep"').encode())
    report = world.open().doctor()
    assert (report.truncated, report.memory_count) == (True, 2)


def test_lists_are_capped_and_counts_exact(world: World, notes: str) -> None:
    for number in range(120):
        put(notes, f"bad-{number:03}.md", b"bad")
    report = world.open().doctor()
    assert (len(report.invalid_files), report.invalid_file_count) == (100, 120)
    assert len(report.findings) == 100
    assert report.diagnostics_truncated


def test_leftover_of_an_interrupted_save_is_a_warning(world: World, notes: str) -> None:
    put(notes, ".ecc-tmp-0123", b"half")
    report = world.open().doctor()
    assert report.ok
    assert [(warning.code, warning.path) for warning in report.warnings] == [
        ("leftover", "project:notes/.ecc-tmp-0123")
    ]


def test_doctor_names_a_gitignore_that_stops_every_save(world: World, notes: str) -> None:
    put(str(world.project), ".gitignore", b"*\n!.gitignore\n!notes\n")
    report = world.open().doctor()
    assert [(each.code, each.path) for each in report.findings] == [
        ("foreign-gitignore", "project:.gitignore")
    ]
    assert world.open().doctor(scopes=["team"]).ok
    os.unlink(world.project / ".gitignore")
    os.mkdir(world.project / ".gitignore")
    assert [each.code for each in world.open().doctor().findings] == ["foreign-gitignore"]


def test_doctor_warns_of_memories_that_git_would_commit(world: World, notes: str) -> None:
    os.unlink(world.project / ".gitignore")
    report = world.open().doctor()
    assert report.ok
    assert [(each.code, each.path) for each in report.warnings] == [("not-ignored", "project:.gitignore")]
    world.open().init()
    assert world.open().doctor().warnings == ()


def test_scope_without_memories_needs_no_gitignore(world: World) -> None:
    world.project.mkdir(parents=True)
    report = world.open().doctor()
    assert (report.ok, report.warnings) == (True, ())


def test_linked_scope_folder_is_reported_and_not_followed(world: World) -> None:
    outside = world.home / "outside"
    outside.mkdir()
    world.team.parent.mkdir(parents=True)
    world.team.symlink_to(outside)
    report = world.open().doctor()
    assert not report.ok
    assert report.skipped_symlinks == ("team:",)
    with pytest.raises(VaultIncomplete):
        world.open().read("mem_anything")


def test_file_in_place_of_a_scope_folder_is_called_what_it_is(world: World) -> None:
    world.team.parent.mkdir(parents=True)
    world.team.write_text("not a folder", encoding="utf-8")
    report = world.open().doctor()
    assert report.truncated
    assert "a symbolic link or a file" in report.findings[0].message


def test_file_name_that_is_not_utf8(world: World, notes: str) -> None:
    put(notes, os.fsdecode(b"\xff\xfe.md"), b"bad")
    assert list(codes(world)) == ["project:notes/\ufffd\ufffd.md"]


def test_missing_vault_is_an_empty_vault(world: World) -> None:
    before = world.files()
    assert world.open().search("x").results == ()
    assert world.open().doctor(scopes=["project", "team", "user"]).ok
    assert world.files() == before
