"""The contract between an adapter and the installer, as a test suite to subclass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from ecc_memory.errors import EditRefused, InstallConflict
from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.plugins import Adapter, adapt
from ecc_memory.harness.types import (
    Artifact,
    Detection,
    Harness,
    Installation,
    InstallRequest,
    Level,
    Surroundings,
)
from ecc_memory.install import artifacts
from ecc_memory.install.artifacts import State
from ecc_memory.install.editors import editor
from ecc_memory.install.engine import Outcome
from ecc_memory.install.files import digest
from ecc_memory.install.request import ALL_PARTS, Options, build_request
from ecc_memory.testing import touch
from ecc_memory.testing.corpus import EDITABLE, UNEDITABLE
from ecc_memory.testing.home import Home

TWIN = "contract-twin"

_IN_SHARED_FILES = ALL_PARTS - {"skill"}
_HOMES = ("Jane Doe", "it's", "$HOME (1)", "Zoë 設計")


class AdapterContract:
    """What every adapter must keep. Subclass it and name the plugin::

        import ecc_memory_acme
        from ecc_memory.testing import AdapterContract

        class TestAcme(AdapterContract):
            plugin = ecc_memory_acme

    Attributes:
        plugin: the module (or object) with the hook implementations.
        env: variables that are set in every test.
        corpus: further editable files, format -> name -> bytes.
    """

    plugin: ClassVar[object]
    env: ClassVar[Mapping[str, str]] = {}
    corpus: ClassVar[Mapping[str, Mapping[str, bytes]]] = {}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test that asks for a level once for each level the harness has."""
        if "level" in metafunc.fixturenames:
            metafunc.parametrize("level", list(_adapter(self.plugin).harness.levels))

    @pytest.fixture
    def adapter(self) -> Adapter:
        """The adapter under test, loaded as the host loads it."""
        return _adapter(self.plugin)

    @pytest.fixture
    def homes(self, adapter: Adapter, tmp_path: Path) -> Iterator[Home]:
        """As many fresh homes as a test wants, with the adapter and its twin."""
        return (self._home(tmp_path / str(number) / "home", adapter) for number in range(1_000_000))

    @pytest.fixture
    def home(self, homes: Iterator[Home]) -> Home:
        """One fresh home."""
        return next(homes)

    def test_describing_touches_nothing(self, adapter: Adapter, home: Home, level: Level) -> None:
        """Detecting, checking and describing read at most; the host writes."""
        before = home.tree(times=True)
        where = home.context.surroundings(level)
        adapter.detect(where)
        adapter.checks(where, level)
        _describe(home, adapter, level)
        assert home.tree(times=True) == before

    def test_every_supported_part_is_described(self, adapter: Adapter, home: Home, level: Level) -> None:
        """``Harness.levels`` and the artifacts agree."""
        described = {artifact.part for artifact in _describe(home, adapter, level)}
        assert described == adapter.harness.levels[level]

    def test_files_stay_where_the_level_says(self, adapter: Adapter, home: Home, level: Level) -> None:
        """User level stays below home, project level inside the project."""
        base = home.project if level == "project" else home.path
        for artifact in _describe(home, adapter, level):
            assert base in artifact.path.parents

    def test_the_server_gets_its_identity(self, adapter: Adapter, home: Home, level: Level) -> None:
        """Command, identity and switches reach the entry."""
        if "mcp" not in adapter.harness.levels[level]:
            pytest.skip("this level has no server")
        options = Options(level, ALL_PARTS, read_only=True, allow_user_scope=level == "user")
        where = home.context.surroundings(level)
        request = build_request(home.context, adapter, where, options)
        written = "\n".join(touch.texts(one) for one in adapter.installation(request).artifacts)
        for word in (request.server_command, adapter.harness.slug, *request.server_env):
            assert word in written

    def test_the_user_scope_is_opened_and_closed(self, adapter: Adapter, home: Home) -> None:
        """A second install without the switch closes it; with it, uninstall leaves no mark."""
        if "mcp" not in adapter.harness.levels.get("user", ()):
            pytest.skip("there is no server at user level")
        slug, before = adapter.harness.slug, home.tree()
        _install(home, adapter, "user")
        closed = _without_receipts(home)
        home.install(slug, parts=ALL_PARTS, allow_user_scope=True)
        assert _without_receipts(home) != closed
        home.install(slug, parts=ALL_PARTS)
        assert _without_receipts(home) == closed
        home.install(slug, parts=ALL_PARTS, allow_user_scope=True)
        _uninstall(home, adapter, "user")
        assert home.tree() == before

    def test_a_projects_files_travel(self, adapter: Adapter, home: Home) -> None:
        """A project's files hold no path of this machine and no override."""
        if "project" not in adapter.harness.levels:
            pytest.skip("this harness has no project level")
        home.env["ECC_MEMORY_USER_ROOT"] = str(home.path / "vault")
        home.env["ECC_MEMORY_PROJECT_ROOT"] = str(home.path / "pinned")
        for artifact in _describe(home, adapter, "project"):
            assert str(home.path) not in touch.texts(artifact)

    def test_uninstall_leaves_no_mark(self, adapter: Adapter, home: Home, level: Level) -> None:
        """Install and uninstall in a fresh home change nothing, folders included."""
        before = home.tree()
        _install(home, adapter, level)
        assert home.tree() != before
        _uninstall(home, adapter, level)
        assert home.tree() == before

    def test_homes_with_odd_names(self, adapter: Adapter, tmp_path: Path, level: Level) -> None:
        """Blanks, quotes, dollars and non-ASCII letters in the home path do no harm."""
        for name in _HOMES:
            home = self._home(tmp_path / name, adapter)
            before = home.tree()
            _install(home, adapter, level)
            _uninstall(home, adapter, level)
            assert home.tree() == before, name

    def test_a_repeated_install_writes_nothing(self, adapter: Adapter, home: Home, level: Level) -> None:
        """Same bytes, same times, same inodes."""
        _install(home, adapter, level)
        before = home.tree(times=True)
        _install(home, adapter, level)
        assert home.tree(times=True) == before

    def test_a_dry_run_is_exact(self, adapter: Adapter, home: Home, level: Level) -> None:
        """A dry run writes nothing and foretells every byte."""
        before = home.tree(times=True)
        planned = home.install(adapter.harness.slug, level=level, parts=ALL_PARTS, dry_run=True)
        assert home.tree(times=True) == before
        done = _install(home, adapter, level)
        assert _effects(planned) == _effects(done) == _on_disk(done)
        before = home.tree(times=True)
        planned = home.uninstall(adapter.harness.slug, level=level, dry_run=True)
        assert home.tree(times=True) == before
        done = _uninstall(home, adapter, level)
        assert _effects(planned) == _effects(done) == _on_disk(done)

    def test_users_files_come_back_byte_for_byte(
        self, adapter: Adapter, homes: Iterator[Home], level: Level
    ) -> None:
        """Every editable file of the corpus survives install and uninstall."""
        for format, name, data in self._samples():
            home = next(homes)
            if not _fill(home, adapter, level, format, data):
                continue
            before = home.tree()
            home.install(adapter.harness.slug, level=level, parts=_IN_SHARED_FILES)
            _uninstall(home, adapter, level)
            assert home.tree() == before, f"{format}: {name}"

    def test_files_that_cannot_be_edited_are_refused(
        self, adapter: Adapter, homes: Iterator[Home], level: Level
    ) -> None:
        """Every uneditable file of the corpus is refused and left untouched."""
        for format, samples in UNEDITABLE.items():
            for name, data in samples.items():
                home = next(homes)
                if not _fill(home, adapter, level, format, data):
                    continue
                before = home.tree(times=True)
                with pytest.raises(EditRefused):
                    pytest.fail(f"{format}: {name}: {_install(home, adapter, level)}")
                assert home.tree(times=True) == before, f"{format}: {name}"

    def test_what_others_added_survives(self, adapter: Adapter, homes: Iterator[Home], level: Level) -> None:
        """Another program rewrites each shared file while we live in it: ours goes, theirs stays."""
        for format in EDITABLE:
            home = next(homes)
            paths = _fill(home, adapter, level, format, EDITABLE[format]["usual"])
            if not paths:
                continue
            _install(home, adapter, level)
            for artifact in _describe(home, adapter, level):
                if artifact.path in paths and touch.format_of(artifact) == format:
                    artifact.path.write_bytes(touch.added(artifact, artifact.path.read_bytes()))
            _uninstall(home, adapter, level)
            for path in paths:
                _check_added(format, path.read_bytes())

    def test_edited_artifacts_are_kept_until_forced(
        self, adapter: Adapter, homes: Iterator[Home], level: Level
    ) -> None:
        """What someone edited stays and is reported; force removes it."""
        for number in range(len(_describe(next(homes), adapter, level))):
            home = next(homes)
            before = home.tree()
            _install(home, adapter, level)
            artifact = _describe(home, adapter, level)[number]
            if not touch.can_be_foreign(artifact):
                continue
            data = touch.edited(artifact, artifact.path.read_bytes())
            artifact.path.write_bytes(data)
            assert _uninstall(home, adapter, level).kept, artifact.path
            assert artifacts.state(artifact, artifact.path.read_bytes()) is State.OTHER
            assert not home.uninstall(adapter.harness.slug, level=level, force=True).kept
            assert home.tree() == before, artifact.path

    def test_foreign_things_are_conflicts_and_adopted_ones_come_back(
        self, adapter: Adapter, homes: Iterator[Home], level: Level
    ) -> None:
        """Things made by hand under our name are refused, or given back."""
        for number in range(len(_describe(next(homes), adapter, level))):
            home = next(homes)
            artifact = _describe(home, adapter, level)[number]
            if not touch.can_be_foreign(artifact):
                continue
            home.write(artifact.path, touch.planted(artifact))
            if artifact.path not in [one.path for one in _describe(home, adapter, level)]:
                continue  # the adapter goes elsewhere when there is a file
            before = home.tree(times=True)
            with pytest.raises(InstallConflict):
                _install(home, adapter, level)
            assert home.tree(times=True) == before
            plain = home.tree()
            _install(home, adapter, level, adopt=True)
            _uninstall(home, adapter, level)
            assert home.tree() == plain, artifact.path

    def test_shared_artifacts_go_with_their_last_owner(
        self, adapter: Adapter, homes: Iterator[Home], level: Level
    ) -> None:
        """Two harnesses that want the same share one copy, in any order."""
        for first, second in ((adapter.harness.slug, TWIN), (TWIN, adapter.harness.slug)):
            home = next(homes)
            before = home.tree()
            home.install(adapter.harness.slug, level=level, parts=ALL_PARTS)
            once = _without_receipts(home)
            home.install(TWIN, level=level, parts=ALL_PARTS)
            assert _without_receipts(home) == once
            home.uninstall(first, level=level)
            assert _without_receipts(home) == once
            home.uninstall(second, level=level)
            assert home.tree() == before

    def _home(self, path: Path, adapter: Adapter) -> Home:
        home = Home(path, [adapter, _twin(adapter)])
        home.env.update(self.env)
        return home

    def _samples(self) -> Iterator[tuple[str, str, bytes]]:
        for corpus in (EDITABLE, self.corpus):
            for format, samples in corpus.items():
                for name, data in samples.items():
                    yield format, name, data


def _adapter(plugin: object) -> Adapter:
    return adapt(plugin, "under-test", "distribution-under-test", "0")


def _twin(adapter: Adapter) -> Adapter:
    """Return another harness that wants exactly the same artifacts."""
    harness = replace(adapter.harness, slug=TWIN)

    @hookimpl
    def ecc_memory_harness() -> Harness:
        return harness

    @hookimpl
    def ecc_memory_detect(where: Surroundings) -> Detection:
        return adapter.detect(where)

    @hookimpl
    def ecc_memory_installation(request: InstallRequest) -> Installation:
        env = {**request.server_env, "ECC_MEMORY_HARNESS": adapter.harness.slug}
        return adapter.installation(replace(request, server_env=env))

    twin = SimpleNamespace(
        ecc_memory_harness=ecc_memory_harness,
        ecc_memory_detect=ecc_memory_detect,
        ecc_memory_installation=ecc_memory_installation,
    )
    return adapt(twin, TWIN, "distribution-under-test", "0")


def _describe(home: Home, adapter: Adapter, level: Level) -> tuple[Artifact, ...]:
    where = home.context.surroundings(level)
    options = Options(level, ALL_PARTS)
    return adapter.installation(build_request(home.context, adapter, where, options)).artifacts


def _install(home: Home, adapter: Adapter, level: Level, *, adopt: bool = False) -> Outcome:
    return home.install(adapter.harness.slug, level=level, parts=ALL_PARTS, adopt=adopt)


def _uninstall(home: Home, adapter: Adapter, level: Level) -> Outcome:
    return home.uninstall(adapter.harness.slug, level=level)


def _effects(outcome: Outcome) -> dict[str, str | None]:
    return {str(step.view.path): digest(step.after) for step in outcome.steps}


def _on_disk(outcome: Outcome) -> dict[str, str | None]:
    paths = [step.view.path for step in outcome.steps]
    return {str(path): digest(path.read_bytes() if path.exists() else None) for path in paths}


def _without_receipts(home: Home) -> dict[str, tuple[object, ...]]:
    return {path: facts for path, facts in home.tree().items() if not path.endswith("receipts.json")}


def _fill(home: Home, adapter: Adapter, level: Level, format: str, data: bytes) -> list[Path]:
    """Put a sample into every shared file of the format; return those that are edited then."""
    for artifact in _describe(home, adapter, level):
        if touch.format_of(artifact) == format:
            home.write(artifact.path, data)
    described = _describe(home, adapter, level)
    return list(dict.fromkeys(one.path for one in described if touch.format_of(one) == format))


def _check_added(format: str, data: bytes) -> None:
    """Check that a file holds the usual sample and what somebody added, and nothing else."""
    usual = EDITABLE[format]["usual"]
    if format == "markdown":
        assert data == usual + touch.THEIR_LINE
        return
    edit = editor(format)
    assert edit.load(data) == edit.load(edit.set_key(usual, touch.THEIR_KEY, "kept"))
