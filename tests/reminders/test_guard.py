"""What an agent's own file tools may do to a vault, as each harness describes its tools."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from ecc_memory.reminders.run import answer
from ecc_memory.vault import parse_document, serialize_document

HARNESSES = ("claude", "codex", "hermes")
EVENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "hermes": "pre_tool_call"}
CREDENTIAL = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def write(harness, path, content):
    """Describe the tool call that creates or replaces a file."""
    if harness == "claude":
        return "Write", {"file_path": str(path), "content": content}
    if harness == "hermes":
        return "write_file", {"path": str(path), "content": content}
    lines = "".join(f"+{line}\n" for line in content.removesuffix("\n").split("\n"))
    return "apply_patch", {"command": f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"}


def edit(harness, path, old, new):
    """Describe the tool call that replaces text in a file."""
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
    if harness == "claude":
        arguments = {"file_path": str(path), "old_string": old, "new_string": new, "replace_all": False}
        return "Edit", arguments
    if harness == "hermes":
        return "patch", {"mode": "replace", "path": str(path), "old_string": old, "new_string": new}
    return "apply_patch", {"command": patch}


def refusal(session, harness, call, *arguments, cwd=None):
    """Give why a call is denied, empty if it is not; no time limit but the test's own."""
    event = session.event(EVENTS[harness], tool_name=call[0], tool_input=call[1])
    data = json.dumps({**event, "cwd": str(cwd or session.project)}).encode()
    command = ("guard", "--harness", harness, "--event", EVENTS[harness], "--tools", "mcp__v__", *arguments)
    out = answer(command, data, {"HOME": str(session.home), **session.env}, time.monotonic() + 60)
    if not out:
        return ""
    said = json.loads(out)
    if harness == "hermes":
        assert list(said) == ["action", "message"]
        assert said["action"] == "block"
        return said["message"]
    assert list(said) == ["hookSpecificOutput"]
    decision = said["hookSpecificOutput"]
    assert decision["hookEventName"] == "PreToolUse"
    assert decision["permissionDecision"] == "deny"
    return decision["permissionDecisionReason"]


@pytest.fixture(params=HARNESSES)
def harness(request):
    return request.param


@pytest.fixture
def memory(session):
    return session.save("Sessions live in Redis", "Not in JWT.", kind="decision", id="mem_kept")


@pytest.fixture
def document(memory):
    """A valid document that is not there yet."""
    kept = parse_document(memory.read_text())
    return serialize_document(kept).replace("mem_kept", "mem_new")


def test_a_memory_is_not_overwritten_edited_or_removed(session, harness, memory, document):
    for call in (write(harness, memory, document), edit(harness, memory, "Not in JWT.", "In JWT.")):
        reason = refusal(session, harness, call)
        assert "is a memory" in reason
        assert "`mcp__v__memory_save`" in reason
    patch = {"command": f"*** Begin Patch\n*** Delete File: {memory}\n*** End Patch\n"}
    assert "removed" in refusal(session, "codex", ("apply_patch", patch))
    moved = f"*** Begin Patch\n*** Update File: {memory}\n*** Move to: notes.md\n@@\n-a\n+b\n*** End Patch"
    assert "removed" in refusal(session, "codex", ("apply_patch", {"command": moved}))
    assert "removed" in refusal(session, "hermes", ("patch", {"mode": "patch", "patch": moved}))


def test_an_invalid_document_is_not_created(session, harness, memory, document):
    for name, content in (
        ("a.md", "# Just notes\n"),
        ("b.md", document.replace('"unreviewed"', '"trusted"')),
        ("c.md", document.replace('"decision"', '"fact"')),
        ("d.md", document.replace('"project"', '"team"')),
    ):
        reason = refusal(session, harness, write(harness, memory.with_name(name), content))
        assert reason.startswith("This would be no valid memory: ")
        assert "`mcp__v__memory_save`" in reason
    assert refusal(session, harness, write(harness, memory.with_name("e.md"), document)) == ""
    created = (
        "Edit",
        {"file_path": str(memory.with_name("f.md")), "old_string": "", "new_string": "# Notes"},
    )
    assert refusal(session, "claude", created) != ""


def test_nothing_unchecked_is_moved_in(session, memory):
    target = memory.with_name("in.md")
    patch = f"*** Begin Patch\n*** Update File: notes.md\n*** Move to: {target}\n@@\n-a\n+b\n*** End Patch"
    assert "cannot be checked" in refusal(session, "codex", ("apply_patch", {"command": patch}))


def test_a_broken_document_can_be_repaired(session, harness, memory, document):
    broken = memory.with_name("broken.md")
    broken.write_text(document.replace('"active"', '"done"'))
    assert refusal(session, harness, edit(harness, broken, 'status: "done"', 'status: "active"')) == ""
    assert refusal(session, harness, write(harness, broken, document)) == ""
    assert refusal(session, harness, write(harness, broken, "still broken\n")) != ""


def test_the_protective_gitignore_stays(session, harness, memory):
    ignore = memory.parents[1] / ".gitignore"
    assert "stays" in refusal(session, harness, write(harness, ignore, "*\n!.gitignore\n"))
    assert "stays" in refusal(session, harness, edit(harness, ignore, "*", "#"))
    patch = {"command": f"*** Begin Patch\n*** Delete File: {ignore}\n*** End Patch\n"}
    assert "stays" in refusal(session, "codex", ("apply_patch", patch))
    assert refusal(session, harness, write(harness, session.project / ".gitignore", "*.pyc\n")) == ""


def test_a_credential_is_not_stored(session, harness, memory, document):
    with_credential = document.replace("Not in JWT.", f"The token is {CREDENTIAL} for now.")
    for name in ("new.md", "new.txt", ".hidden.md"):
        reason = refusal(session, harness, write(harness, memory.with_name(name), with_credential))
        assert "looks like a credential" in reason
        assert CREDENTIAL not in reason
    broken = memory.with_name("broken.md")
    broken.write_text("broken")
    assert "credential" in refusal(session, harness, edit(harness, broken, "broken", CREDENTIAL))


def test_everything_else_passes(session, harness, memory):
    for path in (
        "README.md",
        "src/.ecc/memory.md",
        ".ecc/memory/README.md",
        ".ecc/memory/project/notes.txt",
        ".ecc/memory/project/.hidden.md",
        ".ecc/config.json",
        "ecc/memory/project/notes/x.md",
    ):
        call = write(harness, session.project / path, f"# Notes\n\n{'x' if 'ecc' in path else CREDENTIAL}\n")
        assert refusal(session, harness, call) == "", path


@pytest.mark.parametrize(
    "call",
    [
        ("Read", {"file_path": "{memory}"}),
        ("Bash", {"command": "rm {memory}"}),
        ("terminal", {"command": "rm {memory}"}),
        ("Write", {}),
        ("Write", {"file_path": 7, "content": []}),
        ("MultiEdit", {"file_path": "{memory}", "edits": "all"}),
        ("apply_patch", {"command": ""}),
        ("apply_patch", {"command": "*** Update File"}),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"}),
        ("", {}),
    ],
)
def test_what_cannot_be_judged_passes(session, memory, call):
    arguments = {key: value.replace("{memory}", str(memory)) if isinstance(value, str) else value
                 for key, value in call[1].items()}  # fmt: skip
    assert refusal(session, "claude", (call[0], arguments)) == ""


def test_older_and_rarer_tools(session, memory):
    edits = [{"old_string": "a", "new_string": "b"}]
    assert refusal(session, "claude", ("MultiEdit", {"file_path": str(memory), "edits": edits})) != ""
    notebook = {"notebook_path": str(memory.with_name("a.ipynb")), "new_source": CREDENTIAL}
    assert "credential" in refusal(session, "claude", ("NotebookEdit", notebook))


def test_a_patch_is_judged_file_by_file(session, memory):
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-*** Delete File: x\n+y\n"
        f"*** Add File: b.md\n+# Fine\n*** Update File: {memory}\n@@\n-a\n+b\n*** End Patch\n"
    )
    assert refusal(session, "codex", ("apply_patch", {"command": patch})) != ""
    assert refusal(session, "codex", ("apply_patch", {"command": patch.replace(str(memory), "c.md")})) == ""
    assert refusal(session, "codex", ("apply_patch", {"command": patch.replace("\n", "\r\n")})) != ""


def test_every_way_to_write_the_path(session, harness, memory, tmp_path):
    below = memory.relative_to(session.project)
    (tmp_path / "link").symlink_to(session.project)
    (tmp_path / "file.md").symlink_to(memory)
    (session.project / "src").mkdir()
    (session.project / "deep").symlink_to(tmp_path / "elsewhere" / "deep")
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    for path in (
        below,
        f"./{below}",
        f"src/../{below}",
        f"deep/../{below}",  # what a program that drops ".." from the text means
        f"gone/../{below}",
        f"~/work/shop/{below}",
        tmp_path / "link" / below,
        tmp_path / "file.md",
        f"/{memory}",
        f"{memory.parent}//{memory.name}",
    ):
        assert refusal(session, harness, edit(harness, path, "a", "b")) != "", path
    above = edit(harness, f"../{below}", "a", "b")
    assert refusal(session, harness, above, cwd=session.project / "src") != ""


def test_a_case_variant_counts_where_the_file_system_says_so(session, memory):
    variant = Path(str(memory).replace(".ecc/memory", ".ECC/Memory"))
    denied = refusal(session, "claude", edit("claude", variant, "a", "b")) != ""
    assert denied == variant.exists()


def test_every_scope_and_every_moved_root(session, harness, memory, tmp_path):
    personal = session.save("Mine", scope="user")
    shared = session.save("Ours", scope="team")
    assert refusal(session, harness, edit(harness, personal, "a", "b")) != ""
    assert refusal(session, harness, edit(harness, shared, "a", "b")) != ""
    session.env["ECC_MEMORY_PROJECT_ROOT"] = str(tmp_path / "moved")
    session.env["ECC_MEMORY_USER_ROOT"] = "~/mine"
    moved, own = session.save("Moved"), session.save("Own", scope="user")
    for path in (moved, own):
        assert refusal(session, harness, edit(harness, path, "a", "b")) != ""
    session.env.clear()
    assert refusal(session, harness, edit(harness, moved, "a", "b")) == ""
    pinned = ("--project-root", str(tmp_path / "moved"), "--user-root", "~/mine")
    for path in (moved, own):
        assert refusal(session, harness, edit(harness, path, "a", "b"), *pinned) != ""
    assert refusal(session, harness, edit(harness, memory, "a", "b"), cwd=tmp_path) != ""  # another project's


def test_a_worktree_shares_its_main_checkout(session, harness, memory, tmp_path):
    git = f"git -C {session.project} -c user.name=t -c user.email=t@example.invalid"
    assert os.system(f"{git} commit -q --allow-empty -m x && {git} worktree add -q {tmp_path / 'tree'}") == 0
    assert refusal(session, harness, edit(harness, memory, "a", "b"), cwd=tmp_path / "tree") != ""


def test_the_reason_speaks_of_what_the_session_has(session, memory, document):
    call = edit("claude", memory, "a", "b")
    command = ("guard", "--harness", "claude", "--event", "PreToolUse")
    event = session.event("PreToolUse", tool_name=call[0], tool_input=call[1])
    out = session.answer(*command, event=event)
    assert b"`ecc memory save --link ID --source-harness claude --stdin`" in out
    assert "memory_save" not in refusal(session, "claude", call, "--read-only")
    new = write("claude", memory.with_name("new.md"), "text")
    assert "only reads" in refusal(session, "claude", new, "--read-only")


def test_it_is_silent_for_other_events(session, memory):
    call = edit("claude", memory, "a", "b")
    event = session.event("PostToolUse", tool_name=call[0], tool_input=call[1])
    command = ("guard", "--harness", "claude", "--event", "PostToolUse")
    assert session.hook(*command, event=event) == b""
