"""The plugin host: finds adapters, loads them one by one, and remembers what broke.

Nothing else in the product touches pluggy. Each plugin gets a manager of its own, so that one
plugin's failure, whatever it is, never reaches another.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

import pluggy

from ecc_memory.errors import EccMemoryError, PluginError
from ecc_memory.harness import hookspecs
from ecc_memory.harness.checked import check_installation
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

DISABLE_VARIABLE = "ECC_MEMORY_DISABLE"
NO_PLUGINS_VARIABLE = "ECC_MEMORY_NO_PLUGINS"

_REQUIRED = ("ecc_memory_harness", "ecc_memory_detect", "ecc_memory_installation")

T = TypeVar("T")


@dataclass(frozen=True)
class BrokenPlugin:
    """A plugin that could not be used, and why.

    Attributes:
        name: its entry point's name.
        distribution: the distribution that brought it.
        version: that distribution's version.
        reason: one sentence for a person.
    """

    name: str
    distribution: str
    version: str
    reason: str


@dataclass(frozen=True)
class Adapter:
    """One harness's adapter behind a typed face.

    Attributes:
        harness: who it is for.
        name: the entry point's name.
        distribution: the distribution that brought it.
        version: that distribution's version.
    """

    harness: Harness
    name: str
    distribution: str
    version: str
    _manager: pluggy.PluginManager = field(repr=False, compare=False)

    def detect(self, where: Surroundings) -> Detection:
        """Ask whether the harness is on this machine.

        Raises:
            PluginError: the adapter failed or answered something else.
        """
        return _expect(self, "ecc_memory_detect", Detection, self._call("ecc_memory_detect", where=where))

    def installation(self, request: InstallRequest) -> Installation:
        """Ask for every artifact of one installation, checked for shape.

        Raises:
            PluginError: the adapter failed or described something that cannot be installed.
        """
        answer = self._call("ecc_memory_installation", request=request)
        installation = _expect(self, "ecc_memory_installation", Installation, answer)
        fault = check_installation(installation)
        if fault is not None:
            raise PluginError(f"{self.label} describes an artifact that cannot be installed: {fault}")
        return installation

    def checks(self, where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
        """Ask for the commands of the harness's own program that prove an installation.

        Raises:
            PluginError: the adapter failed or answered something else.
        """
        if not self._manager.hook.ecc_memory_checks.get_hookimpls():
            return ()
        answer = self._call("ecc_memory_checks", where=where, level=level)
        if not isinstance(answer, tuple) or not all(isinstance(check, CommandCheck) for check in answer):
            raise PluginError(f"{self.label} must return a tuple of CommandCheck from ecc_memory_checks")
        return answer

    def residue(self, where: Surroundings, artifacts: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
        """Ask for what the harness itself wrote because of our artifacts.

        Raises:
            PluginError: the adapter failed or answered something that cannot be taken out.
        """
        if not self._manager.hook.ecc_memory_residue.get_hookimpls():
            return ()
        answer = self._call("ecc_memory_residue", where=where, artifacts=artifacts)
        residue = Installation(_expect(self, "ecc_memory_residue", tuple, answer))
        fault = check_installation(residue)
        if fault is not None:
            raise PluginError(f"{self.label} names a residue that cannot be taken out: {fault}")
        return residue.artifacts

    @property
    def label(self) -> str:
        """Name the adapter so that a person can tell which package to look at."""
        return f"adapter {self.name} ({self.distribution} {self.version})"

    def _call(self, hook: str, **arguments: object) -> object:
        try:
            return _only(getattr(self._manager.hook, hook)(**arguments))
        except EccMemoryError:
            raise
        except Exception as error:  # a plugin's code may raise anything
            raise PluginError(f"{self.label} failed in {hook}: {_words(error)}") from error


class Plugins:
    """All adapters of this environment.

    Attributes:
        adapters: those that work, by slug.
        broken: those that do not, with the reason.
    """

    def __init__(self, adapters: Iterable[Adapter], broken: Iterable[BrokenPlugin] = ()) -> None:
        self.adapters = tuple(sorted(adapters, key=lambda adapter: adapter.harness.slug))
        self.broken = tuple(broken)

    @classmethod
    def load(cls, env: Mapping[str, str]) -> Plugins:
        """Load every adapter that is installed and not switched off.

        ``ECC_MEMORY_NO_PLUGINS=1`` loads none; ``ECC_MEMORY_DISABLE=a,b`` skips those whose
        entry point or distribution has that name. Both act before anything is imported. What
        a plugin prints while it is imported goes to standard error.

        Args:
            env: the environment the two variables are read from.
        """
        if env.get(NO_PLUGINS_VARIABLE, "").strip() not in ("", "0"):
            return cls(())
        disabled = {name.strip() for name in env.get(DISABLE_VARIABLE, "").split(",")}
        adapters: list[Adapter] = []
        broken: list[BrokenPlugin] = []
        for entry_point in sorted(entry_points(group=hookspecs.PROJECT), key=lambda point: point.name):
            distribution, version = _origin(entry_point)
            if disabled & {entry_point.name, distribution}:
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    plugin = _import(entry_point)
                    adapters.append(adapt(plugin, entry_point.name, distribution, version))
            except PluginError as error:
                broken.append(BrokenPlugin(entry_point.name, distribution, version, error.message))
        return cls(*_without_rivals(adapters, broken))

    def get(self, slug: str) -> Adapter:
        """Return the adapter for one harness.

        Raises:
            PluginError: there is none, or it is broken.
        """
        for adapter in self.adapters:
            if adapter.harness.slug == slug:
                return adapter
        for plugin in self.broken:
            if plugin.name == slug:
                origin = f"{plugin.distribution} {plugin.version}"
                raise PluginError(f"the adapter for {slug} ({origin}) is broken: {plugin.reason}")
        known = ", ".join(adapter.harness.slug for adapter in self.adapters) or "none"
        raise PluginError(
            f"no adapter for a harness named {slug!r} is installed (installed: {known}); "
            f"install one, such as ecc-memory-{slug}"
        )


def adapt(plugin: object, name: str, distribution: str, version: str) -> Adapter:
    """Turn a plugin, usually a module, into an adapter.

    Args:
        plugin: the object that carries the hook implementations.
        name: its entry point's name.
        distribution: the distribution that brought it.
        version: that distribution's version.

    Raises:
        PluginError: a hook is misspelt, has a wrong signature, is missing, fails or answers
            something that is no :class:`Harness`.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(f"a hook does not fit: {_words(error)}") from error
    missing = [hook for hook in _REQUIRED if not getattr(manager.hook, hook).get_hookimpls()]
    if missing:
        raise PluginError(f"it does not implement {', '.join(missing)}")
    try:
        harness = _only(manager.hook.ecc_memory_harness())
    except Exception as error:  # a plugin's code may raise anything
        raise PluginError(f"ecc_memory_harness failed: {_words(error)}") from error
    if not isinstance(harness, Harness):
        raise PluginError(f"ecc_memory_harness returned {type(harness).__name__}, not Harness")
    return Adapter(harness, name, distribution, version, manager)


def _only(results: list[object]) -> object:
    """Return the one plugin's answer; pluggy leaves an answer of None out."""
    return results[0] if results else None


def _expect(adapter: Adapter, hook: str, kind: type[T], answer: object) -> T:
    if not isinstance(answer, kind):
        given = type(answer).__name__
        raise PluginError(f"{adapter.label} returned {given} from {hook}, not {kind.__name__}")
    return answer


def _import(entry_point: EntryPoint) -> object:
    try:
        return entry_point.load()
    except (Exception, SystemExit) as error:  # importing a plugin runs its code, which may raise anything
        raise PluginError(f"importing {entry_point.value} failed: {_words(error)}") from error


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    distribution = entry_point.dist
    return ("unknown", "unknown") if distribution is None else (distribution.name, distribution.version)


def _without_rivals(
    adapters: list[Adapter], broken: list[BrokenPlugin]
) -> tuple[list[Adapter], list[BrokenPlugin]]:
    """Set aside adapters that claim one harness, each with the names of all that do."""
    rivals: dict[str, list[Adapter]] = {}
    for adapter in adapters:
        rivals.setdefault(adapter.harness.slug, []).append(adapter)
    return (
        [group[0] for group in rivals.values() if len(group) == 1],
        [*broken, *(loser for group in rivals.values() if len(group) > 1 for loser in _losers(group))],
    )


def _losers(group: list[Adapter]) -> Iterator[BrokenPlugin]:
    culprits = " and ".join(f"{rival.distribution} {rival.version}" for rival in group)
    for rival in group:
        reason = f"harness {rival.harness.slug} is claimed by {culprits}; uninstall all but one"
        yield BrokenPlugin(rival.name, rival.distribution, rival.version, reason)


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
