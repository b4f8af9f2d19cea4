"""All adapters of this environment, both levels, any order of coming and going: no mark is left."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecc_memory.harness.plugins import Plugins
from ecc_memory.testing import Home
from ecc_memory.testing.corpus import EDITABLE

ADAPTERS = Plugins.load({}).adapters
PLACES = [(adapter.harness.slug, level) for adapter in ADAPTERS for level in adapter.harness.levels]

FILES = {
    ".claude/CLAUDE.md": EDITABLE["markdown"]["usual"],
    ".codex/AGENTS.md": EDITABLE["markdown"]["no final newline"],
    ".codex/config.toml": EDITABLE["toml"]["crlf"],
    ".config/opencode/opencode.jsonc": EDITABLE["jsonc"]["usual"],
    ".hermes/config.yaml": EDITABLE["yaml"]["usual"],
    ".hermes/SOUL.md": b"I am.\n",
    "work/project/AGENTS.md": EDITABLE["markdown"]["crlf"],
    "work/project/CLAUDE.md": b"@AGENTS.md\n",
    "work/project/.mcp.json": EDITABLE["json"]["tabs"],
    "work/project/opencode.json": EDITABLE["jsonc"]["no trailing comma"],
    "work/project/.codex/config.toml": EDITABLE["toml"]["no final newline"],
}
PARTS = st.sets(st.sampled_from(["rules", "mcp", "skill"]), min_size=1).map(frozenset)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("install"), st.sampled_from(PLACES), PARTS),
        st.tuples(st.just("uninstall"), st.sampled_from(PLACES), st.none()),
    ),
    max_size=10,
)


@pytest.mark.skipif(not PLACES, reason="no adapter is installed")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(present=st.sets(st.sampled_from(sorted(FILES))), events=EVENTS, leaving=st.permutations(PLACES))
def test_coming_and_going_in_any_order(present, events, leaving):
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder, "home"), ADAPTERS)
        for name in present:
            home.write(home.path / name, FILES[name])
        before = home.tree()
        for event, (slug, level), parts in events:
            if event == "install":
                home.install(slug, level=level, parts=parts)
            else:
                home.uninstall(slug, level=level)
        for slug, level in leaving:
            home.uninstall(slug, level=level)
        assert home.tree() == before


@pytest.mark.skipif(not PLACES, reason="no adapter is installed")
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(present=st.sets(st.sampled_from(sorted(FILES))), arriving=st.permutations(PLACES))
def test_a_shared_file_holds_our_text_once(present, arriving):
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder, "home"), ADAPTERS)
        for name in present:
            home.write(home.path / name, FILES[name])
        for slug, level in arriving:
            home.install(slug, level=level)
        for name, facts in home.tree().items():
            if facts[0] == "file" and "ecc-memory/" not in name:
                assert facts[2].count(b"\n<!-- ecc-memory:begin -->") <= 1, name
                assert facts[2].count(b"Shared memory of all agents") <= 1, name
