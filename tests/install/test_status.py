"""What status and harnesses say."""

import json
import os
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import pytest

from ecc_memory.cli.status_output import status_lines
from ecc_memory.errors import InstallConflict
from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.plugins import adapt
from ecc_memory.harness.types import CommandCheck, ConfigEntry, Harness, Installation, ListItem
from ecc_memory.install.catalogue import catalogue
from ecc_memory.install.checks import Checked, ask
from ecc_memory.install.diagnosis import diagnose
from ecc_memory.install.status import Status, status
from ecc_memory.testing.home import SERVER, Home

from .invented import hooked, invented


def codes(home, weight="finding", **options):
    found = status(home.context, **options)
    return sorted(remark.code for remark in diagnose(home.context, found) if remark.weight == weight)


@pytest.fixture(autouse=True)
def server(home, tmp_path):
    """The server that entries name exists here."""
    program = tmp_path / "bin" / SERVER.name
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    home.server = program
    return program


def test_nothing_installed(home):
    assert codes(home) == []
    assert status(home.context).installations == ()


def test_intact(home):
    home.install("acme", "beta")
    before = home.tree(times=True)
    found = status(home.context)
    assert [one.owner.harness for one in found.installations] == ["acme", "beta"]
    assert {one.state for installation in found.installations for one in installation.artifacts} == {"intact"}
    skill = next(one for one in found.installations[0].artifacts if one.artifact.part == "skill")
    assert [owner.harness for owner in skill.owners] == ["acme", "beta"]
    assert codes(home) == []
    assert home.tree(times=True) == before


def test_edited_missing_unreadable(home, config, rules):
    home.install("acme")
    (home.path / ".agents/skills/unified-memory/SKILL.md").unlink()
    rules.write_bytes(rules.read_bytes().replace(b"memory_search", b"memory_seek"))
    config.write_bytes(b"broken =\n")
    assert codes(home) == ["edited", "missing", "unreadable"]


def test_added_keys_are_no_drift(home, config):
    home.install("acme")
    config.write_bytes(config.read_bytes() + b"\n[mcp_servers.ecc-memory-vault.tools.x]\na = 1\n")
    found = status(home.context)
    assert ("intact", "with tools added") in [
        (one.state, one.note) for one in found.installations[0].artifacts
    ]
    assert codes(home) == []


def test_foreign_and_unrecorded(home, config, rules):
    home.write(config, b'[mcp_servers.ecc-memory-vault]\ncommand = "mine"\n')
    assert codes(home) == ["foreign"]
    home.install("acme", adopt=True)
    (home.path / ".local/state/ecc-memory/receipts.json").unlink()
    assert set(codes(home)) == {"unrecorded"}


def test_what_came_with_a_project_is_a_note(home, server):
    home.env["PATH"] = str(server.parent)
    home.install("acme", level="project")
    (home.path / ".local/state/ecc-memory/receipts.json").unlink()
    assert codes(home) == []
    assert set(codes(home, "note")) == {"unrecorded"}


def test_the_advice_installs_the_same_again(home, config):
    home.env["ECC_MEMORY_PROJECT_ROOT"] = str(home.path / "pinned")
    home.install(
        "acme",
        parts=frozenset({"mcp", "rules"}),
        read_only=True,
        allow_user_scope=True,
        pin_project_root=True,
    )
    config.unlink()
    (advice,) = [remark.message for remark in diagnose(home.context, status(home.context))]
    words = "--user --no-skill --read-only --allow-user-scope --pin-project-root puts it back"
    assert advice.endswith(f"ecc memory install --harness acme {words}")


def test_the_advice_names_reminders(tmp_path):
    home = Home(tmp_path / "hooked", [hooked("acme", "remind")])
    home.install("acme", parts=frozenset({"reminders"}))
    (home.path / "settings.json").unlink()
    advice = [remark.message for remark in diagnose(home.context, status(home.context))]
    assert any("--no-mcp --no-rules --no-skill --reminders puts it back" in one for one in advice)


def test_settings_stay_known_where_the_server_is_left_alone(home, config):
    home.env["ECC_MEMORY_USER_ROOT"] = str(home.path / "vault")
    home.install("acme")
    del home.env["ECC_MEMORY_USER_ROOT"]
    home.install("acme", parts=frozenset({"rules", "skill"}))
    assert b"ECC_MEMORY_USER_ROOT" in config.read_bytes()
    (one,) = status(home.context).installations
    assert one.vaults["user"] == str(home.path / "vault")


@hookimpl
def _harness():
    return Harness("acme", "Acme", levels={"user": frozenset({"mcp", "reminders"})})


def described(home, *artifacts):
    """An Acme of exactly these artifacts."""
    acme = types.ModuleType("described")
    acme.ecc_memory_harness = _harness
    acme.ecc_memory_detect = next(
        vars(plugin)["ecc_memory_detect"] for plugin in invented("acme")._manager.get_plugins()
    )
    acme.ecc_memory_installation = hookimpl(lambda request: Installation(artifacts))
    return Home(home.path, [adapt(acme, "acme", "ecc-memory-acme", "1")])


def test_a_setting_that_was_only_supplied_is_the_persons_to_change(home):
    path = home.path / "config.toml"
    home = described(home, ConfigEntry("mcp", path, "toml", ("wait",), 10, absent_only=True))
    home.install("acme")
    path.write_text("wait = 3\n")
    (one,) = status(home.context).installations
    assert [artifact.state for artifact in one.artifacts] == ["yours"]
    assert [remark.code for remark in diagnose(home.context, status(home.context))] == ["server-gone"]
    home.uninstall("acme")
    assert path.read_text() == "wait = 3\n"


def test_an_edited_element_of_a_list_is_edited_not_missing(home):
    path = home.path / "settings.json"
    item = ListItem("reminders", path, "json", ("hooks",), {"run": ["remind"], "wait": 5}, mark="remind")
    home = described(home, item)
    home.install("acme", parts=frozenset({"reminders"}))
    path.write_text(path.read_text().replace("5", "9"))
    (one,) = status(home.context).installations
    assert [artifact.state for artifact in one.artifacts] == ["edited"]
    with pytest.raises(InstallConflict, match="--force writes over it"):
        home.install("acme", parts=frozenset({"reminders"}))
    home.install("acme", parts=frozenset({"reminders"}), force=True)
    assert json.loads(path.read_text()) == {"hooks": [item.item]}
    path.write_text(path.read_text().replace('"remind"', '"remind", "theirs"'))
    assert not home.uninstall("acme", force=True).kept
    assert json.loads(path.read_text()) == {"hooks": [{"run": ["remind", "theirs"], "wait": 5}]}


def test_a_server_that_is_gone(home, server):
    home.install("acme")
    server.unlink()
    assert codes(home) == ["server-gone"]


def test_foreign_program_earlier_on_path(home, tmp_path, server):
    stranger = tmp_path / "earlier" / "ecc"
    stranger.parent.mkdir()
    stranger.write_text("#!/bin/sh\n")
    stranger.chmod(0o755)
    home.env["PATH"] = os.pathsep.join([str(stranger.parent), str(server.parent)])
    assert codes(home) == ["foreign-program"]
    home.env["PATH"] = str(server.parent)
    assert codes(home) == []


def test_a_projects_bare_command_must_be_on_path(home, server):
    home.install("acme", level="project")
    assert codes(home) == ["not-on-path"]
    home.env["PATH"] = str(server.parent)
    assert codes(home) == []


def test_repetition_across_levels_is_a_note(home, server):
    home.env["PATH"] = str(server.parent)
    home.install("acme")
    home.install("acme", level="project")
    assert codes(home, "note") == ["twice"]


def test_which_vault(home):
    home.env["ECC_MEMORY_USER_ROOT"] = str(home.path / "vault")
    home.install("acme")
    (one,) = status(home.context).installations
    assert one.vaults["user"] == str(home.path / "vault")
    assert one.vaults["project"] == str(home.project / ".ecc/memory/project")
    assert codes(home) == []
    del home.env["ECC_MEMORY_USER_ROOT"]
    assert codes(home) == ["other-vault"]


def test_pinned_project_root(home):
    home.env["ECC_MEMORY_PROJECT_ROOT"] = str(home.path / "pinned")
    outcome = home.install("acme")
    assert any("--pin-project-root" in note for note in outcome.notes)
    assert codes(home) == ["other-vault", "other-vault"]
    home.install("acme", pin_project_root=True)
    (one,) = status(home.context).installations
    assert one.vaults["project"] == str(home.path / "pinned" / "project")
    assert codes(home) == []


def checked(home, script, timeout=15.0):
    """An Acme whose program is a Python script."""
    module = types.ModuleType("checked")
    base = invented("acme")
    for plugin in base._manager.get_plugins():
        vars(module).update(
            {name: value for name, value in vars(plugin).items() if name.startswith("ecc_memory_")}
        )

    @hookimpl
    def ecc_memory_checks(where, level):
        return (CommandCheck("mcp", (sys.executable, "-c", script), "ecc-memory-vault", timeout=timeout),)

    module.ecc_memory_checks = ecc_memory_checks
    return Home(home.path, [adapt(module, "acme", "ecc-memory-acme", "1")])


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        ("print('ecc-memory-vault: connected')", "seen"),
        ("print('nothing here')", "not seen"),
        ("import time; time.sleep(60)", "not checked"),
    ],
)
def test_the_harness_own_program_is_asked(home, server, script, answer):
    home = checked(home, script, timeout=1.5)
    home.server = server
    home.install("acme")
    (one,) = status(home.context).installations
    answers = {check.part: check.answer for check in one.checks}
    assert answers == {"mcp": answer, "skill": "not checked", "rules": "not checked"}
    assert codes(home) == (["not-seen"] if answer == "not seen" else [])
    assert status(home.context, run_checks=False).installations[0].checks == ()


HELPER = """
import subprocess, sys
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("yes", helper.pid, flush=True)
open(sys.argv[1], "w").write(str(helper.pid))
"""


def test_a_helper_left_behind_neither_delays_nor_survives(tmp_path):
    note = tmp_path / "pid"
    check = CommandCheck("mcp", (sys.executable, "-c", HELPER, str(note)), "yes")
    (answer,) = ask([check], os.environ, tmp_path)
    assert answer.answer == "seen"
    helper = Path("/proc", note.read_text(), "stat")
    for _ in range(500):
        if not helper.exists() or helper.read_text().rpartition(")")[2].split()[0] in "ZX":
            return
        time.sleep(0.02)
    pytest.fail("the helper is still running")


def test_a_program_that_says_nothing_is_asked_again_alone(tmp_path):
    script = "import pathlib; m = pathlib.Path('once'); m.exists() and print('yes'); m.touch()"
    answers = ask([CommandCheck("mcp", (sys.executable, "-c", script), "yes")], os.environ, tmp_path)
    assert [answer.answer for answer in answers] == ["seen"]


def test_of_several_answers_about_one_part_the_worst_is_shown(home):
    home.install("acme")
    (one,) = status(home.context, run_checks=False).installations
    checks = (Checked("mcp", "seen"), Checked("mcp", "not seen"), Checked("mcp", "seen"))
    lines = list(status_lines(Status((replace(one, checks=checks),), ()), []))
    assert "    mcp: not seen by acme" in lines


def test_a_program_that_cannot_be_started(tmp_path):
    (answer,) = ask([CommandCheck("mcp", (str(tmp_path / "gone"),), "yes")], os.environ, tmp_path)
    assert answer.answer == "not checked"


def test_catalogue(home):
    (home.path / ".acme").mkdir()
    home.install("beta")
    entries = {entry.adapter.harness.slug: entry for entry in catalogue(home.context)}
    assert entries["acme"].detection.found
    assert not entries["gamma"].detection.found
    assert [owner.level for owner in entries["beta"].installed] == ["user"]
