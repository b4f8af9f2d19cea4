"""Adapters as distributions of their own: found, loaded one by one, and never each other's undoing."""

import pytest

from ecc_memory.errors import PluginError
from ecc_memory.harness.plugins import Plugins, adapt
from ecc_memory.harness.types import InstallRequest, Surroundings

GOOD = """
from pathlib import Path
from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.types import *

@hookimpl
def ecc_memory_harness():
    return Harness(slug="{slug}", name="{slug}", levels={{"user": frozenset({{"rules"}})}})

@hookimpl
def ecc_memory_detect(where):
    return Detection(found=False, config_home=where.home / ".{slug}")

@hookimpl
def ecc_memory_installation(request):
    return Installation(artifacts=(MarkedBlock("rules", request.where.home / "R.md", request.rules),))
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed distributions, like site-packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def distribution(site, name, source, *, version="1.2.3", entry=None):
    module = f"plugin_under_test_{site.parent.name}_{name}".replace("-", "_")
    (site / f"{module}.py").write_text(source)
    info = site / f"ecc_memory_{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ecc-memory-{name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[ecc_memory]\n{entry or name} = {module}\n")


def mine(plugins):
    """Leave out the adapters of this environment."""
    ours = ("quux", "quax", "broken")
    return (
        [adapter for adapter in plugins.adapters if adapter.harness.slug in ours],
        [plugin for plugin in plugins.broken if plugin.name.startswith(ours)],
    )


def test_a_good_adapter_is_found_with_its_distribution_and_version(site):
    distribution(site, "quux", GOOD.format(slug="quux"))
    (adapter,), broken = mine(Plugins.load({}))
    assert (adapter.harness.slug, adapter.distribution, adapter.version) == (
        "quux",
        "ecc-memory-quux",
        "1.2.3",
    )
    assert broken == []


BROKEN = {
    "import error": ("import nonexistent_module_xyz\n", "nonexistent_module_xyz"),
    "syntax error": ("def (:\n", "SyntaxError"),
    "exit at import": ("raise SystemExit(3)\n", "SystemExit"),
    "misspelt hook": (
        GOOD.format(slug="broken").replace("def ecc_memory_detect(", "def ecc_memory_detct("),
        "ecc_memory_detct",
    ),
    "unknown argument": (
        GOOD.format(slug="broken").replace("detect(where)", "detect(where, colour)"),
        "colour",
    ),
    "no hooks": ("x = 1\n", "ecc_memory_harness"),
    "missing hook": (
        GOOD.format(slug="broken").partition("@hookimpl\ndef ecc_memory_installation")[0],
        "installation",
    ),
    "wrong type": (GOOD.format(slug="broken").replace("return Harness(", "return dict("), "dict"),
    "no answer": (GOOD.format(slug="broken").replace("return Harness(", "Harness("), "NoneType"),
    "bad slug": (GOOD.format(slug="Not A Slug"), "slug"),
    "raising": (
        GOOD.format(slug="broken").replace("return Harness(", "raise RuntimeError('boom') #("),
        "boom",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_adapter_is_reported_and_takes_nobody_down(site, name):
    source, reason = BROKEN[name]
    if name == "raising":
        source = GOOD.format(slug="broken").replace(
            "def ecc_memory_harness():\n", "def ecc_memory_harness():\n    raise RuntimeError('boom')\n"
        )
    distribution(site, "broken", source, version="0.9")
    distribution(site, "quux", GOOD.format(slug="quux"))
    (adapter,), (plugin,) = mine(Plugins.load({}))
    assert adapter.harness.slug == "quux"
    assert (plugin.name, plugin.distribution, plugin.version) == ("broken", "ecc-memory-broken", "0.9")
    assert reason in plugin.reason
    with pytest.raises(PluginError, match=r"ecc-memory-broken 0\.9"):
        Plugins.load({}).get("broken")


def test_two_adapters_for_one_harness_are_both_named(site):
    distribution(site, "quux", GOOD.format(slug="quux"), version="1.0")
    distribution(site, "quux-fork", GOOD.format(slug="quux"), version="2.0")
    adapters, broken = mine(Plugins.load({}))
    assert adapters == []
    assert len(broken) == 2
    for plugin in broken:
        assert "ecc-memory-quux 1.0 and ecc-memory-quux-fork 2.0" in plugin.reason


@pytest.mark.parametrize(
    "env",
    [
        {"ECC_MEMORY_DISABLE": "quax, broken"},
        {"ECC_MEMORY_DISABLE": "ecc-memory-broken"},
        {"ECC_MEMORY_NO_PLUGINS": "1"},
    ],
)
def test_switched_off_before_import(site, tmp_path, env):
    trace = tmp_path / "imported"
    distribution(site, "broken", f"open({str(trace)!r}, 'w').close()\n")
    distribution(site, "quux", GOOD.format(slug="quux"))
    plugins = Plugins.load(env)
    assert not trace.exists()
    assert [adapter.harness.slug for adapter in mine(plugins)[0]] == (
        [] if "ECC_MEMORY_NO_PLUGINS" in env else ["quux"]
    )


def test_what_a_plugin_prints_does_not_reach_standard_output(site, capsys):
    distribution(site, "quux", "print('hello from the plugin')\n" + GOOD.format(slug="quux"))
    Plugins.load({})
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "hello from the plugin" in captured.err


def test_unknown_harness_names_what_there_is(site):
    distribution(site, "quux", GOOD.format(slug="quux"))
    with pytest.raises(PluginError, match="quux"):
        Plugins.load({}).get("nobody")


ANSWERS = {
    "detect raises": ("ecc_memory_detect", "raise ValueError('odd')", "odd"),
    "detect answers nothing": ("ecc_memory_detect", "return None", "NoneType"),
    "installation is a list": ("ecc_memory_installation", "return []", "list"),
    "artifacts are a list": ("ecc_memory_installation", "return Installation(artifacts=[])", "tuples"),
    "relative path": (
        "ecc_memory_installation",
        "return Installation((OwnedFile('skill', Path('x'), b''),))",
        "not absolute",
    ),
    "text for bytes": (
        "ecc_memory_installation",
        "return Installation((OwnedFile('skill', Path('/x'), 'text'),))",
        "bytes",
    ),
    "unknown part": (
        "ecc_memory_installation",
        "return Installation((OwnedFile('hat', Path('/x'), b''),))",
        "'hat'",
    ),
    "block without newline": (
        "ecc_memory_installation",
        "return Installation((MarkedBlock('rules', Path('/x'), 'text'),))",
        "newline",
    ),
    "unknown format": (
        "ecc_memory_installation",
        "return Installation((ConfigEntry('mcp', Path('/x'), 'ini', ('a',), 1),))",
        "'ini'",
    ),
    "key is a string": (
        "ecc_memory_installation",
        "return Installation((ConfigEntry('mcp', Path('/x'), 'toml', 'a', 1),))",
        "tuple",
    ),
    "no artifact": ("ecc_memory_installation", "return Installation((1,))", "int"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_wrong_answer_names_the_adapter(site, name, tmp_path):
    hook, body, reason = ANSWERS[name]
    lines = []
    inside = False
    for line in GOOD.format(slug="quux").splitlines():
        if inside and line.startswith("    "):
            continue
        inside = line.startswith(f"def {hook}")
        lines.append(line)
        if inside:
            lines.append(f"    {body}")
    distribution(site, "quux", "\n".join(lines))
    (adapter,), _ = mine(Plugins.load({}))
    where = Surroundings(tmp_path, {})
    request = InstallRequest(
        "user", where, frozenset({"rules"}), "/x/ecc-memory-mcp", {}, (), ("/x/hook",), {}, "rules\n", "0"
    )
    detecting = hook == "ecc_memory_detect"
    ask, argument = (adapter.detect, where) if detecting else (adapter.installation, request)
    with pytest.raises(PluginError, match="ecc-memory-quux") as error:
        ask(argument)
    assert reason in error.value.message


def test_the_examples_in_the_hook_specifications_work(tmp_path):
    """Each docstring holds one hook; together they are a whole adapter."""
    import textwrap
    import types

    from ecc_memory.harness import hookspecs

    source = (
        "from pathlib import Path\n"
        "from ecc_memory.harness.hookspecs import *\n"
        "from ecc_memory.harness.types import *\n"
    )
    for name, function in vars(hookspecs).items():
        if name.startswith("ecc_memory_"):
            source += textwrap.dedent(function.__doc__.partition("Example::\n")[2])
    module = types.ModuleType("acme_example")
    exec(source, vars(module))
    adapter = adapt(module, "acme", "ecc-memory-acme", "1")
    where = Surroundings(tmp_path, {})
    request = InstallRequest(
        "user", where, frozenset({"rules", "mcp"}), "/x/mcp", {"A": "b"}, (), ("/x/hook",), {}, "rules\n", "0"
    )
    assert not adapter.detect(where).found
    assert len(adapter.installation(request).artifacts) == 2
    assert adapter.checks(where, "user")[0].expect == "ecc-memory-vault"
