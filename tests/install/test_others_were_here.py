"""Things that are not ours, or no longer as we left them."""

import shutil

import pytest

from ecc_memory.errors import EditRefused, InstallConflict
from ecc_memory.install.edit import toml
from ecc_memory.testing.home import SERVER

OURS = ("mcp_servers", "ecc-memory-vault")
BY_HAND = b"""\
model = "x"

[mcp_servers.ecc-memory-vault]  # pasted from the README
command = "/home/me/ecc-memory-mcp"
args = ["--mine"]

[mcp_servers.other]
command = "other"
"""


def entry(config):
    return toml.load(config.read_bytes())["mcp_servers"].get("ecc-memory-vault")


def actions(outcome, part):
    return [item.action for step in outcome.steps for item in step.items if item.artifact.part == part]


def notes(outcome):
    return [item.note for step in outcome.steps for item in step.items]


def test_toml_duplicate_table(home, config):
    home.write(config, BY_HAND)
    before = home.tree(times=True)
    with pytest.raises(InstallConflict, match="--adopt") as refused:
        home.install("acme")
    assert refused.value.detail == str(config)
    assert "/" not in refused.value.message
    assert home.tree(times=True) == before


def test_adopt_keeps_the_original_and_gives_it_back(home, config, rules):
    home.write(config, BY_HAND)
    skill = home.write(home.path / ".agents/skills/unified-memory/SKILL.md", b"my own skill\n")
    home.write(rules, b"<!-- ecc-memory:begin -->\nold\n<!-- ecc-memory:end -->\n")
    before = home.tree()
    outcome = home.install("acme", adopt=True)
    assert actions(outcome, "mcp") == ["take-over"]
    assert entry(config)["command"] == str(SERVER)
    assert config.read_bytes().count(b"[mcp_servers.ecc-memory-vault]") == 1
    assert skill.read_bytes() != b"my own skill\n"
    home.install("acme")
    home.uninstall("acme")
    assert home.tree() == before


def test_adopted_original_comes_back_although_the_file_changed(home, config, rules):
    home.write(config, BY_HAND)
    home.write(rules, b"<!-- ecc-memory:begin -->\nold\n<!-- ecc-memory:end -->\n")
    home.install("acme", adopt=True)
    config.write_bytes(config.read_bytes() + b"\n[mine]\nx = 1\n")
    rules.write_bytes(rules.read_bytes() + b"\nmine\n")
    outcome = home.uninstall("acme")
    assert actions(outcome, "mcp") == ["give-back"]
    assert entry(config) == {"command": "/home/me/ecc-memory-mcp", "args": ["--mine"]}
    assert toml.load(config.read_bytes())["mine"] == {"x": 1}
    assert rules.read_bytes() == b"<!-- ecc-memory:begin -->\nold\n<!-- ecc-memory:end -->\n\nmine\n"


def test_toml_same_key_inline_and_subtable(home, config):
    """The harness wrote our entry in another spelling: it is still ours, once."""
    home.write(config, b'model = "x"\n')
    home.install("acme")
    spelled = (
        f'[mcp_servers]\necc-memory-vault = {{ command = "{SERVER}", startup_timeout_sec = 60, '
        'env = { ECC_MEMORY_HARNESS = "acme" } }\n\n[mcp_servers.new]\ncommand = "new"\n'
    )
    config.write_bytes(b'model = "x"\n\n' + spelled.encode())
    before = home.tree(times=True)
    home.install("acme")
    assert home.tree(times=True) == before
    home.uninstall("acme")
    assert toml.load(config.read_bytes()) == {"model": "x", "mcp_servers": {"new": {"command": "new"}}}


def test_toml_subtree_overdelete(home, config):
    """What a user wrote below our entry survives an update; its removal is said."""
    home.write(config, b"")
    home.install("acme")
    theirs = b'\n[mcp_servers.ecc-memory-vault.tools.memory_save]  # careful\napproval_mode = "prompt"\n'
    config.write_bytes(config.read_bytes() + theirs)
    home.install("acme", read_only=True)
    assert entry(config)["tools"] == {"memory_save": {"approval_mode": "prompt"}}
    assert entry(config)["env"]["ECC_MEMORY_READ_ONLY"] == "1"
    assert theirs in config.read_bytes()
    home.install("acme")
    assert "ECC_MEMORY_READ_ONLY" not in entry(config)["env"]
    assert theirs in config.read_bytes()
    outcome = home.uninstall("acme")
    assert any("tools" in note for note in notes(outcome))
    assert b"ecc-memory-vault" not in config.read_bytes()


def test_edited_entry_is_kept_and_reported(home, config, rules):
    home.install("acme")
    config.write_bytes(config.read_bytes().replace(str(SERVER).encode(), b"/my/wrapper"))
    edited = config.read_bytes()
    with pytest.raises(InstallConflict, match="--force"):
        home.install("acme", read_only=True)
    assert config.read_bytes() == edited
    outcome = home.uninstall("acme")
    assert outcome.kept
    assert actions(outcome, "mcp") == ["keep"]
    assert config.read_bytes() == edited
    assert not rules.exists()
    assert not home.uninstall("acme", force=True).kept
    assert not config.exists()
    assert not (home.path / ".local").exists()


def test_edited_skill_and_block_are_kept(home, rules):
    home.install("acme")
    skill = home.path / ".agents/skills/unified-memory/SKILL.md"
    skill.write_bytes(skill.read_bytes() + b"\nmy remark\n")
    rules.write_bytes(rules.read_bytes().replace(b"memory_search", b"memory_seek"))
    outcome = home.uninstall("acme")
    assert {"keep"} <= set(actions(outcome, "skill"))
    assert actions(outcome, "rules") == ["keep"]
    assert b"my remark" in skill.read_bytes()
    assert b"memory_seek" in rules.read_bytes()
    home.uninstall("acme", force=True)
    assert not skill.exists()
    assert not rules.exists()


def test_force_writes_over_an_edit_but_not_over_additions(home, config):
    home.install("acme")
    edited = config.read_bytes().replace(str(SERVER).encode(), b"/my/wrapper")
    config.write_bytes(edited.replace(b"startup_timeout_sec = 60", b"startup_timeout_sec = 60\nmine = true"))
    home.install("acme", force=True)
    assert entry(config)["command"] == str(SERVER)
    assert entry(config)["mine"] is True


def test_removed_by_hand_uninstall_says_so_and_finishes(home, config):
    home.write(config, b'model = "x"\n')
    home.install("acme")
    config.write_bytes(b'model = "y"\n')
    outcome = home.uninstall("acme")
    assert actions(outcome, "mcp") == ["gone"]
    assert config.read_bytes() == b'model = "y"\n'
    assert not (home.path / ".local").exists()


def test_removed_by_hand_install_puts_it_back(home, config):
    home.write(config, b'model = "x"\n')
    home.install("acme")
    config.write_bytes(b'model = "x"\n')
    outcome = home.install("acme")
    assert actions(outcome, "mcp") == ["add"]
    assert entry(config)["command"] == str(SERVER)
    home.uninstall("acme")
    assert config.read_bytes() == b'model = "x"\n'


def test_whole_file_removed_by_hand(home, config):
    home.write(config, b'model = "x"\n')
    home.install("acme")
    config.unlink()
    home.install("acme")
    assert entry(config)["command"] == str(SERVER)
    home.uninstall("acme")
    assert not config.exists()


def test_substring_match_uninstall(home, rules):
    text = b"See ~/projects/ecc-memory-notes and ecc-memory:begin.\n"
    home.write(rules, text)
    home.install("acme")
    home.uninstall("acme")
    assert rules.read_bytes() == text


def test_no_install_state_no_uninstall(home, config, rules):
    """Without a record, exactly what this version writes is still found; nothing else is touched."""
    home.write(config, b'model = "x"\n')
    home.install("acme")
    for name in ("receipts.json", "lock"):
        (home.path / ".local/state/ecc-memory" / name).unlink()
    dry = home.uninstall("acme", dry_run=True)
    assert actions(dry, "mcp") == ["remove"]
    assert config.is_file()
    rules.write_bytes(rules.read_bytes().replace(b"memory_search", b"memory_seek"))
    outcome = home.uninstall("acme")
    assert actions(outcome, "mcp") == ["remove"]
    assert actions(outcome, "rules") == ["foreign"]
    assert config.read_bytes() == b'model = "x"\n'
    assert b"memory_seek" in rules.read_bytes()
    assert not (home.path / ".agents/skills/unified-memory/SKILL.md").exists()


def test_install_without_a_record_takes_known_shapes_as_ours(home, config):
    home.install("acme")
    (home.path / ".local/state/ecc-memory/receipts.json").unlink()
    before = {key: value for key, value in home.tree(times=True).items() if not key.startswith(".local")}
    home.install("acme")
    assert {k: v for k, v in home.tree(times=True).items() if not k.startswith(".local")} == before
    home.uninstall("acme")
    assert not config.exists()  # it was, byte for byte, what we write where there is no file


def test_a_skill_that_is_the_users_link_is_not_ours(home):
    """Somebody linked the skill from a checkout: deleting through the link would delete that."""
    home.install("acme")
    skill = home.path / ".agents/skills/unified-memory"
    checkout = home.path / "checkout"
    skill.rename(checkout)
    skill.symlink_to(checkout)
    (home.path / ".local/state/ecc-memory/receipts.json").unlink()
    home.uninstall("acme")
    assert (checkout / "SKILL.md").is_file()


def test_uninstalling_what_was_never_installed_leaves_others_alone(home):
    home.install("acme")
    before = home.tree()
    outcome = home.uninstall("beta")
    assert not any(step.writes for step in outcome.steps)
    assert home.tree() == before


def test_lost_end_marker_eats_user_text(home, rules):
    home.write(rules, b"<!-- ecc-memory:begin -->\nold\nMY OWN TEXT\n")
    before = home.tree(times=True)
    with pytest.raises(EditRefused, match="line 1") as refused:
        home.install("acme")
    assert refused.value.detail == str(rules)
    assert "ecc-memory:begin" in refused.value.snippet
    assert home.tree(times=True) == before


def test_a_broken_file_is_refused_with_line_and_snippet_and_nothing_is_written(home, config):
    home.write(config, b'model = "x"\nmodel = "y"\n')
    before = home.tree(times=True)
    with pytest.raises(EditRefused, match="line 2") as refused:
        home.install("acme")
    assert refused.value.detail == str(config)
    assert toml.load(refused.value.snippet.encode())["mcp_servers"]["ecc-memory-vault"]
    assert home.tree(times=True) == before


def test_the_harness_rewrote_its_file(home, config):
    home.write(config, b'# mine\nmodel = "x"\n')
    home.install("acme")
    tree = toml.load(config.read_bytes())
    rewritten = toml.set_key(
        b'# mine\nmodel = "z"\n\n[mcp_servers.new]\ncommand = "n"\n',
        OURS,
        tree["mcp_servers"]["ecc-memory-vault"],
    )
    config.write_bytes(rewritten)
    home.install("beta")
    home.uninstall("acme")
    assert toml.load(config.read_bytes()) == {"model": "z", "mcp_servers": {"new": {"command": "n"}}}
    assert config.read_bytes().startswith(b'# mine\nmodel = "z"\n')


def test_edits_by_others_between_two_owners_survive_both(home):
    agents = home.write(home.project / "AGENTS.md", b"# Mine\n")
    home.install("acme", level="project")
    agents.write_bytes(b"intro\n\n" + agents.read_bytes())
    home.install("beta", level="project")
    home.uninstall("acme", level="project")
    assert b"ecc-memory:begin" in agents.read_bytes()
    home.uninstall("beta", level="project")
    assert agents.read_bytes() == b"intro\n\n# Mine\n"


def test_a_project_that_is_gone_is_forgotten(home):
    home.install("acme", level="project")
    shutil.rmtree(home.project)
    outcome = home.uninstall()
    assert {item.action for step in outcome.steps for item in step.items} == {"gone"}
    assert not (home.path / ".local").exists()


def test_the_original_put_back_by_hand_counts_as_uninstalled(home, config):
    home.write(config, BY_HAND)
    home.install("acme", adopt=True)
    config.write_bytes(BY_HAND)
    outcome = home.uninstall("acme")
    assert actions(outcome, "mcp") == ["gone"]
    assert config.read_bytes() == BY_HAND
    assert not (home.path / ".local").exists()


def test_two_names_of_one_file_are_one_file(home):
    """Beta's rules file is a link to Acme's: one block, two owners."""
    rules = home.write(home.path / ".acme" / "RULES.md", b"mine\n")
    (home.path / ".beta").mkdir()
    (home.path / ".beta" / "RULES.md").symlink_to(rules)
    before = home.tree()
    home.install("acme", "beta")
    assert rules.read_bytes().count(b"ecc-memory:begin") == 1
    home.uninstall("acme")
    assert rules.read_bytes().count(b"ecc-memory:begin") == 1
    home.uninstall("beta")
    assert home.tree() == before


def cloned(home):
    """What git brings: everything of a project's installation but the record of it and empty folders."""
    before = home.tree()
    home.install("acme", "beta", level="project")
    shutil.rmtree(home.path / ".local")
    return before


def folders(tree):
    return {path for path, facts in tree.items() if facts[0] == "folder"}


@pytest.mark.parametrize("again", [False, True])
def test_a_clone_is_left_without_our_files_and_folders(home, again):
    """A file that is just what we write is deleted, not emptied: an empty AGENTS.md would silence others."""
    before = cloned(home)
    if again:
        home.install("acme", "beta", level="project")
    home.uninstall("acme", "beta", level="project")
    after = home.tree()
    left = {
        str(home.project.relative_to(home.path) / name)
        for name in (".agents", ".agents/skills", ".acme", ".beta")
    }
    assert set(after) - set(before) == left
    assert folders(after) >= left


def test_what_others_added_in_a_clone_stays(home):
    cloned(home)
    rules, config = home.project / "AGENTS.md", home.project / ".acme" / "config.toml"
    rules.write_bytes(rules.read_bytes() + b"mine\n")
    config.write_bytes(config.read_bytes() + b"# mine\n")
    home.uninstall("acme", level="project")
    assert rules.read_bytes().strip() == b"mine"
    assert config.read_bytes().strip() == b"# mine"


def test_a_link_to_a_file_of_only_ours_keeps_its_target(home):
    cloned(home)
    rules, target = home.project / "AGENTS.md", home.path / "rules.md"
    rules.rename(target)
    rules.symlink_to(target)
    home.uninstall("acme", level="project")
    assert target.read_bytes() == b""
