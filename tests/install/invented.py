"""Two invented harnesses, Acme and Beta, that share a skill and a project's AGENTS.md."""

import types
from pathlib import Path

from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.plugins import adapt
from ecc_memory.harness.types import (
    SERVER_NAME,
    SKILL_NAME,
    ConfigEntry,
    Detection,
    Harness,
    Installation,
    ListItem,
    MarkedBlock,
    OwnedFile,
)

PARTS = frozenset({"rules", "mcp", "skill"})


def config_home(where, slug):
    override = where.env.get(f"{slug.upper()}_HOME", "").strip()
    return Path(override) if override else where.home / f".{slug}"


def invented(slug):
    """Return the adapter of an invented harness."""
    return adapt(plugin(slug), slug, f"ecc-memory-{slug}", "0.0.1")


def plugin(slug):
    """Return a plugin like the ones adapters ship: skill, rules and a TOML entry."""

    @hookimpl
    def ecc_memory_harness():
        return Harness(slug=slug, name=slug.title(), levels={"user": PARTS, "project": PARTS})

    @hookimpl
    def ecc_memory_detect(where):
        home = config_home(where, slug)
        return Detection(found=home.is_dir(), config_home=home)

    @hookimpl
    def ecc_memory_installation(request):
        project = request.where.project_root
        base = project if request.level == "project" else request.where.home
        own = project / f".{slug}" if request.level == "project" else config_home(request.where, slug)
        rules = project / "AGENTS.md" if request.level == "project" else own / "RULES.md"
        server = {
            "command": request.server_command,
            "startup_timeout_sec": 60,
            "env": dict(request.server_env),
        }
        skill = base / ".agents" / "skills" / SKILL_NAME
        return Installation(
            artifacts=(
                *(OwnedFile("skill", skill / name, content) for name, content in request.skill.items()),
                MarkedBlock("rules", rules, request.rules),
                ConfigEntry("mcp", own / "config.toml", "toml", ("mcp_servers", SERVER_NAME), server),
            ),
            notes=(f"start {slug} again",),
        )

    module = types.ModuleType(f"invented_{slug}")
    module.ecc_memory_harness = ecc_memory_harness
    module.ecc_memory_detect = ecc_memory_detect
    module.ecc_memory_installation = ecc_memory_installation
    return module


def hooked(slug, command):
    """Return the adapter of a harness whose reminders are an element of a list in strict JSON."""

    @hookimpl
    def ecc_memory_harness():
        return Harness(slug=slug, name=slug.title(), levels={"user": frozenset({"reminders"})})

    @hookimpl
    def ecc_memory_detect(where):
        return Detection(found=True, config_home=where.home)

    @hookimpl
    def ecc_memory_installation(request):
        group = {"matcher": "startup", "hooks": [{"type": "command", "command": command}]}
        settings = request.where.home / "settings.json"
        return Installation((ListItem("reminders", settings, "json", ("hooks", "SessionStart"), group),))

    module = types.ModuleType(f"hooked_{slug}")
    module.ecc_memory_harness = ecc_memory_harness
    module.ecc_memory_detect = ecc_memory_detect
    module.ecc_memory_installation = ecc_memory_installation
    return adapt(module, slug, f"ecc-memory-{slug}", "0.0.1")
