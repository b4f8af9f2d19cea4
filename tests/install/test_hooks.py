"""Hook entries in a settings file that belongs to the user and to other tools."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from ecc_memory.errors import InstallError
from ecc_memory.harness.types import ConfigEntry
from ecc_memory.install.apply import carry_out
from ecc_memory.install.plan import Target, plan_install
from ecc_memory.install.receipt import Installed, Owner
from ecc_memory.testing import Home

from .invented import hooked, invented

REMINDERS = frozenset({"reminders"})


@pytest.fixture
def home(tmp_path):
    return Home(
        tmp_path / "home", [hooked("hooked", "ecc-memory-hook a"), hooked("other", "ecc-memory-hook b")]
    )


@pytest.fixture
def settings(home):
    return home.path / "settings.json"


def test_array_replaced_not_merged(home, settings):
    foreign = b'{"matcher":"compact","hooks":[{"type":"command","command":"other-tool remind"}]}'
    home.write(settings, b'{"hooks":{"SessionStart":[' + foreign + b"]}}")
    original = settings.read_bytes()
    planned = home.install("hooked", parts=REMINDERS, dry_run=True)
    (item,) = [item for step in planned.steps for item in step.items]
    assert (item.action, item.artifact.key) == ("add", ("hooks", "SessionStart"))
    for _ in range(2):
        home.install("hooked", parts=REMINDERS)
        assert foreign in settings.read_bytes()
        assert len(json.loads(settings.read_bytes())["hooks"]["SessionStart"]) == 2
        assert settings.read_bytes() == planned.steps[0].after
    home.uninstall("hooked")
    assert settings.read_bytes() == original


def test_template_overwrites_settings(home, settings):
    original = b'{"outputStyle":"terse","model":"opus","permissions":{"allow":["Bash(ls)"]}}'
    home.write(settings, original)
    home.install("hooked", parts=REMINDERS)
    assert settings.read_bytes().startswith(original[:-1])
    assert list(json.loads(settings.read_bytes())) == ["outputStyle", "model", "permissions", "hooks"]
    home.uninstall("hooked")
    assert settings.read_bytes() == original


def test_bom_settings_reset_to_empty(home, settings):
    home.write(settings, b'\xef\xbb\xbf{"model":"x"}')
    home.install("hooked", parts=REMINDERS)
    assert settings.read_bytes().startswith(b'\xef\xbb\xbf{"model":"x"')
    home.uninstall("hooked")
    assert settings.read_bytes() == b'\xef\xbb\xbf{"model":"x"}'


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}])
def test_wrong_codepage_mangles_non_ascii(tmp_path, locale):
    config = tmp_path / ".config" / "opencode" / "opencode.json"
    config.parent.mkdir(parents=True)
    original = '{"note": "café — don’t"}'.encode()
    config.write_bytes(original)
    env = {"HOME": str(tmp_path), "PATH": os.defpath, **locale}
    words = [sys.executable, "-m", "ecc_memory.cli"]
    for command in ("install", "uninstall"):
        done = subprocess.run(
            [*words, command, "--harness", "opencode"],
            check=False,
            cwd=tmp_path,
            env=env,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        assert '"note": "café — don’t"'.encode() in config.read_bytes()
    assert config.read_bytes() == original


def test_other_peoples_hooks_of_similar_names_stay(home, settings):
    theirs = [
        {"hooks": [{"type": "command", "command": "python3 /home/u/projects/ecc-memory-notes/hook.py"}]},
        {"hooks": [{"type": "command", "command": "bash ~/.other/hooks/session-start.sh"}]},
    ]
    home.write(settings, json.dumps({"hooks": {"SessionStart": theirs}}, indent=4).encode())
    home.install("hooked", parts=REMINDERS)
    value = json.loads(settings.read_bytes())
    value["hooks"]["SessionStart"].insert(0, {"hooks": [{"type": "command", "command": "new"}]})
    settings.write_text(json.dumps(value))
    home.uninstall("hooked")
    left = json.loads(settings.read_bytes())["hooks"]["SessionStart"]
    assert left == [{"hooks": [{"type": "command", "command": "new"}]}, *theirs]


def test_our_hooks_were_the_last_ones(home, settings):
    home.write(settings, b'{"permissions": {"allow": []}}\n')
    home.install("hooked", parts=REMINDERS)
    value = json.loads(settings.read_bytes())
    value["model"] = "opus"
    settings.write_text(json.dumps(value))
    home.uninstall("hooked")
    assert json.loads(settings.read_bytes()) == {"permissions": {"allow": []}, "model": "opus"}


def test_a_list_that_two_made_goes_with_the_last(home, settings):
    home.write(settings, b"{}")
    home.install("hooked", "other", parts=REMINDERS)
    settings.write_text(json.dumps(json.loads(settings.read_bytes())))
    home.uninstall("hooked")
    assert json.loads(settings.read_bytes())["hooks"]["SessionStart"][0]["hooks"][0]["command"].endswith("b")
    home.uninstall("other")
    assert json.loads(settings.read_bytes()) == {}


def test_success_but_not_persisted(tmp_path):
    """What is not in the file after it was written is an error, and the file is what it was."""
    home = Home(tmp_path / "home", [invented("acme")])
    config = home.write(home.path / "config.toml", b'model = "x"\n')
    before = home.tree()
    artifact = ConfigEntry("mcp", config, "toml", ("servers", "ours"), {"command": "x"})
    target = Target(
        Owner("acme", "user"), (artifact,), frozenset({"mcp"}), Installed("1", frozenset(), {}, "x")
    )
    store = home.context.store
    with store.locked():
        receipts = store.load()
        plan = plan_install([target], receipts)
        lost = replace(plan, steps=(replace(plan.steps[0], after=b'model = "y"\n'),))
        with pytest.raises(InstallError, match="not in the file"):
            carry_out(lost, receipts, store)
    assert home.tree() == before
