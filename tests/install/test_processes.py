"""Several installers at once, each a process of its own; and one that is killed half way."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ecc_memory.errors import InstallError
from ecc_memory.install.edit import toml

WORKER = """
import sys
from pathlib import Path
from tests_install.invented import invented
from ecc_memory.testing.home import Home
home = Home(Path(sys.argv[1]), [invented(name) for name in ("acme", "beta", "gamma")])
for turn in range(int(sys.argv[4])):
    getattr(home, sys.argv[2])(sys.argv[3], level=sys.argv[5])
"""


def start(home, tmp_path, command, slug, *, turns=1, level="user"):
    package = tmp_path / "lib" / "tests_install"
    if not package.exists():
        package.parent.mkdir()
        package.symlink_to(Path(__file__).parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package.parent), *sys.path])}
    words = [sys.executable, "-c", WORKER, str(home.path), command, slug, str(turns), level]
    return subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes):
    for process in processes:
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr


def test_parallel_installs_lose_nothing(home, tmp_path):
    agents = home.write(home.project / "AGENTS.md", b"# Mine\n")
    before = home.tree()
    finish(
        [
            start(home, tmp_path, "install", slug, turns=3, level="project")
            for slug in ("acme", "beta", "gamma")
        ]
    )
    assert agents.read_bytes().count(b"ecc-memory:begin") == 1
    receipts = json.loads((home.path / ".local/state/ecc-memory/receipts.json").read_text())
    assert sorted(entry["harness"] for entry in receipts["installations"]) == ["acme", "beta", "gamma"]
    for slug in ("acme", "beta", "gamma"):
        assert toml.load((home.project / f".{slug}" / "config.toml").read_bytes())["mcp_servers"]
    finish([start(home, tmp_path, "uninstall", slug, level="project") for slug in ("acme", "beta", "gamma")])
    assert home.tree() == before


def test_install_and_uninstall_at_once_leave_a_sound_state(home, tmp_path):
    before = home.tree()
    finish(
        [
            start(home, tmp_path, command, slug, turns=4)
            for slug in ("acme", "beta")
            for command in ("install", "uninstall")
        ]
    )
    home.uninstall()
    assert home.tree() == before


def test_a_killed_installer_leaves_what_uninstall_recognises(home, tmp_path, config):
    """Kill it at many moments: whatever it got done can be taken out, and the user's bytes are whole."""
    home.write(config, b'model = "x"\n')
    home.write(home.path / ".acme/RULES.md", b"mine")
    (home.path / ".local/state").mkdir(parents=True)
    before = home.tree()
    for pause in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        process = start(home, tmp_path, "install", "acme", turns=1)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        home.install("acme")
        home.uninstall("acme")
        assert home.tree() == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"schemaVersion": "ecc.memory.receipts.v9"}',
        '{"schemaVersion": "ecc.memory.receipts.v1"}',
    ],
)
def test_a_damaged_record_is_refused_and_nothing_touched(home, text):
    home.install("acme")
    (home.path / ".local/state/ecc-memory/receipts.json").write_text(text)
    before = home.tree(times=True)
    for command in (home.install, home.uninstall):
        with pytest.raises(InstallError, match="damaged") as error:
            command("acme")
        assert "receipts.json" in error.value.detail
        assert home.tree(times=True) == before


def test_receipts_are_private(home):
    home.install("acme")
    folder = home.path / ".local/state/ecc-memory"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_receipts_of_another_version_with_more_in_them_are_read(home):
    before = home.tree()
    home.install("acme")
    path = home.path / ".local/state/ecc-memory/receipts.json"
    receipts = json.loads(path.read_text())
    receipts["somethingNew"] = {"x": 1}
    for entry in (*receipts["installations"], *receipts["files"], *receipts["files"][0]["artifacts"]):
        entry["somethingNew"] = [1]
        entry.get("version") and entry.update(version="0.0.1")
    path.write_text(json.dumps(receipts))
    home.uninstall("acme")
    assert home.tree() == before


def test_xdg_state_home(home):
    home.env["XDG_STATE_HOME"] = str(home.path / "state")
    home.install("acme")
    assert (home.path / "state" / "ecc-memory" / "receipts.json").is_file()
    assert not (home.path / ".local").exists()
    home.uninstall("acme")
    assert not (home.path / "state").exists()
