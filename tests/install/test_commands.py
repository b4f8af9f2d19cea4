"""The four commands as a person types them: real processes, real adapters of this environment."""

import json
import os
import pwd
import subprocess
import sys

import pytest

from ecc_memory.install.edit import toml
from ecc_memory.install.request import Context


@pytest.fixture
def run(tmp_path):
    """Run ``ecc memory ...`` in a project below a home of its own."""
    home = tmp_path / "home"
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    (home / ".codex").mkdir()

    def run(*words, cwd=project, **env):
        return subprocess.run(
            [sys.executable, "-m", "ecc_memory.cli", *words],
            check=False,
            cwd=cwd,
            capture_output=True,
            text=True,
            env={"HOME": str(home), "PATH": os.defpath, **env},
        )

    run.home, run.project = home, project
    return run


def listing(folder):
    return sorted(
        (str(path.relative_to(folder)), path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    )


def payload(result, schema):
    assert result.stdout.count("\n") == 1
    value = json.loads(result.stdout)
    assert value["schemaVersion"] == schema
    return value


def test_install_status_uninstall(run):
    config = run.home / ".codex" / "config.toml"
    config.write_bytes(b'model = "x"\n')
    before = listing(run.home)
    dry = run("install", "--harness", "codex", "--dry-run")
    assert dry.returncode == 0
    assert f"would edit {config}" in dry.stdout
    assert "+[mcp_servers.ecc-memory-vault]" in dry.stdout
    assert 'model = "x"' not in dry.stdout
    assert listing(run.home) == before

    done = run("install", "--harness", "codex")
    assert done.returncode == 0, done.stderr
    assert f"edited {config}" in done.stdout
    assert "ecc memory uninstall --harness codex" in done.stdout
    entry = toml.load(config.read_bytes())["mcp_servers"]["ecc-memory-vault"]
    assert os.access(entry["command"], os.X_OK)
    assert "nothing to change" in run("install", "--harness", "codex").stdout

    status = run("status")
    assert status.returncode == 0, status.stdout
    assert "codex, user level: installed by ecc-memory" in status.stdout
    assert "everything is as it was installed" in status.stdout

    gone = run("uninstall", "--all")
    assert gone.returncode == 0
    assert listing(run.home) == before
    assert "nothing to remove" in run("uninstall", "--all").stdout
    assert listing(run.home) == before


def test_json(run):
    words = ("install", "--harness", "codex", "--json")
    planned = payload(run(*words, ECC_DRY_RUN="1"), "ecc.memory.install.v1")
    assert planned["dryRun"]
    done = payload(run(*words), "ecc.memory.install.v1")
    assert not done["dryRun"]
    assert done["changed"]
    assert planned["files"] == done["files"]
    assert done["installations"][0]["harness"] == "codex"
    status = payload(run("status", "--json"), "ecc.memory.status.v1")
    assert status["ok"]
    assert {artifact["state"] for artifact in status["installations"][0]["artifacts"]} == {"intact"}
    harnesses = payload(run("harnesses", "--json"), "ecc.memory.harnesses.v1")
    codex = next(entry for entry in harnesses["harnesses"] if entry["slug"] == "codex")
    assert codex["distribution"] == "ecc-memory-codex"
    assert codex["detected"]
    assert codex["installed"] == [{"harness": "codex", "level": "user"}]
    gone = payload(run("uninstall", "--harness", "codex", "--json"), "ecc.memory.uninstall.v1")
    assert gone["complete"]
    assert {file["action"] for file in gone["files"]} == {"delete"}


def test_edited_is_kept_with_exit_status_1(run):
    run("install", "--harness", "codex")
    rules = run.home / ".codex" / "AGENTS.md"
    rules.write_text(rules.read_text().replace("memory_search", "memory_seek"))
    status = run("status")
    assert status.returncode == 1
    assert "finding:" in status.stdout
    kept = run("uninstall", "--harness", "codex")
    assert kept.returncode == 1
    assert "--force removes it" in kept.stdout
    assert rules.is_file()
    assert run("uninstall", "--harness", "codex", "--force").returncode == 0
    assert not rules.exists()


def test_conflict_is_an_error_on_both_streams(run):
    config = run.home / ".codex" / "config.toml"
    config.write_bytes(b'[mcp_servers.ecc-memory-vault]\ncommand = "mine"\n')
    result = run("install", "--harness", "codex", "--json")
    assert result.returncode == 1
    error = payload(result, "ecc.memory.error.v1")["error"]
    assert error["code"] == "ECC_MEMORY_CONFLICT"
    assert result.stderr.startswith("Error: ")
    assert "--adopt" in result.stderr
    assert str(config) in result.stderr


def test_a_refused_file_shows_what_to_paste(run):
    config = run.home / ".codex" / "config.toml"
    config.write_bytes(b"model = \n")
    result = run("install", "--harness", "codex")
    assert result.returncode == 1
    assert "[mcp_servers.ecc-memory-vault]\n" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: line 1")
    assert config.read_bytes() == b"model = \n"


@pytest.mark.parametrize(
    "words",
    [
        ["install"],
        ["uninstall"],
        ["install", "--harness", "codex", "--user", "--project"],
        ["install", "--harness", "codex", "--no-mcp", "--no-rules", "--no-skill"],
        ["install", "--harness", "codex", "--pin-project-root"],
        ["uninstall", "--all", "--harness", "codex"],
    ],
)
def test_usage(run, words):
    before = listing(run.home)
    result = run(*words)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: ")
    assert listing(run.home) == before


def test_unknown_harness(run):
    result = run("install", "--harness", "nobody")
    assert result.returncode == 1
    assert "codex" in result.stderr


def test_project_level(run):
    before = listing(run.home)
    result = run("install", "--harness", "codex", "--project", cwd=run.project)
    assert result.returncode == 0, result.stderr
    entry = toml.load((run.project / ".codex" / "config.toml").read_bytes())
    assert entry["mcp_servers"]["ecc-memory-vault"]["command"] == "ecc-memory-mcp"
    assert run("uninstall", "--harness", "codex", "--project").returncode == 0
    assert listing(run.home) == before


def test_no_project_here(run):
    result = run("install", "--harness", "codex", "--project", cwd=run.home)
    assert result.returncode == 1
    assert "no project" in result.stderr


def test_all_detected(run):
    result = run("install", "--all-detected", "--json")
    assert result.returncode == 0, result.stderr
    assert [one["harness"] for one in json.loads(result.stdout)["installations"]] == ["codex"]


def test_user_override_is_written_and_validated(run):
    result = run("install", "--harness", "codex", ECC_MEMORY_USER_ROOT="relative")
    assert result.returncode == 2
    run("install", "--harness", "codex", ECC_MEMORY_USER_ROOT="~/vault")
    entry = toml.load((run.home / ".codex" / "config.toml").read_bytes())["mcp_servers"]["ecc-memory-vault"]
    assert entry["env"]["ECC_MEMORY_USER_ROOT"] == str(run.home / "vault")


def test_no_plugins(run):
    result = run("harnesses", ECC_MEMORY_NO_PLUGINS="1")
    assert result.returncode == 0
    assert "no adapter is installed" in result.stdout


@pytest.mark.parametrize("command", ["install", "uninstall", "status", "harnesses"])
def test_help_has_examples(run, command):
    result = run(command, "--help")
    assert result.returncode == 0
    assert f"ecc memory {command}" in result.stdout


def test_the_user_scope_is_opened_and_shown(run):
    assert run("install", "--harness", "codex", "--allow-user-scope").returncode == 0
    config = run.home / ".codex" / "config.toml"
    entry = toml.load(config.read_bytes())["mcp_servers"]["ecc-memory-vault"]
    assert entry["env"]["ECC_MEMORY_ALLOW_USER_SCOPE"] == "1"
    status = run("status")
    assert status.returncode == 0
    assert f"user memories: {run.home}/.ecc/memory (open to agents that ask for it)" in status.stdout
    shown = payload(run("status", "--json"), "ecc.memory.status.v1")["installations"][0]["serverEnv"]
    assert shown == {"ECC_MEMORY_HARNESS": "codex", "ECC_MEMORY_ALLOW_USER_SCOPE": "1"}
    assert run("install", "--harness", "codex").returncode == 0
    assert "open to agents" not in run("status").stdout
    refused = run("install", "--harness", "codex", "--project", "--allow-user-scope")
    assert refused.returncode == 2
    assert "travels through git" in refused.stderr


def test_an_opened_user_scope_is_recognised_without_a_record(run):
    run("install", "--harness", "codex", "--allow-user-scope", "--no-rules", "--no-skill")
    (run.home / ".local/state/ecc-memory/receipts.json").unlink()
    assert "recognised without a record" in run("uninstall", "--harness", "codex").stdout
    assert not (run.home / ".codex" / "config.toml").exists()


def test_a_relative_home_is_refused_before_any_adapter_is_asked(run):
    before = listing(run.project)
    result = run("install", "--harness", "codex", HOME="rel")
    assert (result.returncode, result.stdout) == (2, "")
    assert "HOME must be an absolute path" in result.stderr
    assert listing(run.project) == before


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_uninstalling_what_is_not_there_names_no_file(run, dry_run):
    (run.home / ".codex" / "AGENTS.md").write_text("# Mine\n")
    result = run("uninstall", "--harness", "codex", *dry_run)
    assert result.stdout.splitlines() == [
        "note: codex (user): no record of an installation",
        "dry run: nothing was written" if dry_run else "nothing to remove",
        "your memories are untouched",
    ]
    result = run("uninstall", "--harness", "codex", "--json", *dry_run)
    assert payload(result, "ecc.memory.uninstall.v1")["files"] == []


def test_an_empty_home_is_the_user_database_s(monkeypatch):
    monkeypatch.setenv("HOME", "")
    monkeypatch.setenv("ECC_MEMORY_NO_PLUGINS", "1")
    assert str(Context.current().home) == pwd.getpwuid(os.getuid()).pw_dir
