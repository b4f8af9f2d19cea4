"""The hooks an adapter implements. One adapter describes one harness.

Every hook is called for one plugin at a time and its failure is that plugin's alone.
"""

from __future__ import annotations

import pluggy

from ecc_memory.harness.types import (
    Artifact,
    CommandCheck,
    Detection,
    Harness,
    Installation,
    InstallRequest,
    Level,
    Surroundings,
)

PROJECT = "ecc_memory"
"""pluggy project name and entry-point group."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def ecc_memory_harness() -> Harness:
    """Say who the harness is. Required.

    Example::

        @hookimpl
        def ecc_memory_harness() -> Harness:
            return Harness(slug="acme", name="Acme Agent",
                           levels={"user": frozenset({"rules", "mcp", "skill"})})
    """
    raise NotImplementedError


@hookspec
def ecc_memory_detect(where: Surroundings) -> Detection:
    """Say whether the harness is on this machine and where its configuration lives. Required.

    Example::

        @hookimpl
        def ecc_memory_detect(where: Surroundings) -> Detection:
            home = Path(where.env.get("ACME_HOME", "").strip() or where.home / ".acme")
            return Detection(found=home.is_dir(), config_home=home)
    """
    raise NotImplementedError


@hookspec
def ecc_memory_installation(request: InstallRequest) -> Installation:
    """Describe every artifact of an installation; touch nothing. Required.

    Example::

        @hookimpl
        def ecc_memory_installation(request: InstallRequest) -> Installation:
            home = ecc_memory_detect(request.where).config_home
            server = {"command": request.server_command, "env": dict(request.server_env)}
            return Installation(artifacts=(
                ConfigEntry("mcp", home / "acme.json", "json", ("servers", SERVER_NAME), server),
                MarkedBlock("rules", home / "ACME.md", request.rules),
            ))
    """
    raise NotImplementedError


@hookspec
def ecc_memory_checks(where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
    """Name commands of the harness's own program that prove it sees our parts. Optional.

    Example::

        @hookimpl
        def ecc_memory_checks(where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
            return (CommandCheck("mcp", ("/usr/bin/acme", "servers"), SERVER_NAME),)
    """
    raise NotImplementedError


@hookspec
def ecc_memory_residue(where: Surroundings, artifacts: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
    """Name what the harness itself wrote because of our artifacts; uninstalling takes it out. Optional.

    Such as the person's consent to our hooks. ``artifacts`` are the blocks, entries and items that are
    installed; each answer is described exactly as it stands in the file now.

    Example::

        @hookimpl
        def ecc_memory_residue(where: Surroundings,
                               artifacts: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
            consent = where.home / ".acme" / "consent.json"
            commands = [item.item["command"] for item in artifacts if isinstance(item, ListItem)]
            given = json.loads(consent.read_text())["given"] if consent.is_file() else []
            return tuple(ListItem("reminders", consent, "json", ("given",), entry)
                         for entry in given if entry["command"] in commands)
    """
    raise NotImplementedError
