"""A dry run writes nothing and says exactly what the real run then does."""

import pytest

from ecc_memory.install.files import digest


def effects(outcome):
    return {
        str(step.view.path): (
            step.writes,
            digest(step.after),
            [(item.owner, item.action) for item in step.items],
        )
        for step in outcome.steps
    }


def on_disk(outcome):
    paths = [step.view.path for step in outcome.steps]
    return {str(path): digest(path.read_bytes()) if path.exists() else None for path in paths}


@pytest.mark.parametrize("variable", [False, True])
def test_dry_run_is_exactly_what_the_real_run_does(home, config, variable):
    home.write(config, b'model = "x"\n[mcp_servers.other]\ncommand = "o"\n')
    before = home.tree(times=True)
    if variable:
        home.env["ECC_DRY_RUN"] = "1"
    planned = home.install("acme", dry_run=not variable)
    assert planned.dry_run
    assert home.tree(times=True) == before
    home.env.pop("ECC_DRY_RUN", None)
    done = home.install("acme")
    assert effects(planned) == effects(done)
    assert on_disk(done) == {path: effect[1] for path, effect in effects(planned).items()}

    before = home.tree(times=True)
    if variable:
        home.env["ECC_DRY_RUN"] = "1"
    planned = home.uninstall("acme", dry_run=not variable)
    assert planned.dry_run
    assert home.tree(times=True) == before
    home.env.pop("ECC_DRY_RUN", None)
    done = home.uninstall("acme")
    assert effects(planned) == effects(done)
    assert on_disk(done) == {path: effect[1] for path, effect in effects(planned).items()}
