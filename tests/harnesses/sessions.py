"""One session of each harness with a scripted model, and what its model was shown."""

from __future__ import annotations

import json
from typing import Any

from ecc_memory.guidance import rules_snippet

from .endpoint import ScriptedModel, Step, text_of
from .person import Person

CLAUDE_TOOLS = "mcp__plugin_ecc-memory_ecc-memory-vault"
QUIET = {
    "claude": {
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ANTHROPIC_API_KEY": "dummy",
    },
    "opencode": {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
}
"""What keeps a program on this machine; every person has it set."""


def claude(person: Person, *steps: Step) -> tuple[ScriptedModel, dict[str, Any]]:
    """Run Claude Code; give the endpoint and what it said about itself at the start."""
    with ScriptedModel(*steps) as model:
        said = person.output(
            "claude", "-p", "hello", "--output-format", "stream-json", "--verbose",
            "--allowedTools", CLAUDE_TOOLS, ANTHROPIC_BASE_URL=model.url,
        )  # fmt: skip
    return model, json.loads(said.splitlines()[0])


def codex(person: Person, *steps: Step, model_name: str | None = "stub") -> ScriptedModel:
    """Run Codex; the model is named on its command line, None being what it takes by itself."""
    with ScriptedModel(*steps) as model:
        settings = codex_settings(model.url)
        if model_name is not None:
            settings["model"] = f'"{model_name}"'
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        person.output("codex", "exec", "--skip-git-repo-check", *options, "hello")
    return model


def codex_settings(url: str) -> dict[str, str]:
    """Give the settings that make the endpoint Codex's model, in the form of its option ``-c``."""
    provider = {"name": '"stub"', "base_url": f'"{url}/v1"', "wire_api": '"responses"'}
    retries = {"request_max_retries": "0", "stream_max_retries": "0"}
    settings = {f"model_providers.stub.{key}": value for key, value in {**provider, **retries}.items()}
    return {**settings, "model_provider": '"stub"', "analytics.enabled": "false"}


def hermes(person: Person, *steps: Step) -> ScriptedModel:
    """Run Hermes; the model stands in its configuration while it runs."""
    with ScriptedModel(*steps) as model:
        config = person.home / ".hermes" / "config.yaml"
        mine = config.read_bytes()
        stub = f"default: stub, provider: custom, base_url: '{model.url}/v1', api_key: dummy"
        config.write_bytes(mine + f"model: {{{stub}}}\n".encode())
        person.output("hermes", "-z", "hello")
        config.write_bytes(mine)
    return model


def opencode(person: Person, *steps: Step) -> ScriptedModel:
    """Run OpenCode; the model comes by environment."""
    with ScriptedModel(*steps) as model:
        options = {"baseURL": f"{model.url}/v1", "apiKey": "dummy"}
        limits = {"stub": {"limit": {"context": 200000, "output": 8000}}}
        stub = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": limits}
        names = {"model": "stub/stub", "small_model": "stub/stub", "enabled_providers": ["stub"]}
        content = json.dumps({**names, "provider": {"stub": stub}})
        person.output("opencode", "run", "hello", OPENCODE_CONFIG_CONTENT=content)
    return model


def shown(person: Person, slug: str) -> str:
    """Give all that a harness's model is shown in a first turn."""
    if slug == "claude":
        return text_of(claude(person)[0].turns[0])
    return text_of({"codex": codex, "hermes": hermes, "opencode": opencode}[slug](person).turns[0])


def rules_count(person: Person, slug: str) -> int:
    """Give how often a harness's model reads our rules."""
    return shown(person, slug).count(rules_snippet().strip())
