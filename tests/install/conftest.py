"""A person's home with three invented harnesses."""

import pytest

from ecc_memory.testing.home import Home

from .invented import invented


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home", [invented("acme"), invented("beta"), invented("gamma")])


@pytest.fixture
def config(home):
    """The user-level configuration file of Acme; it does not exist yet."""
    return home.path / ".acme" / "config.toml"


@pytest.fixture
def rules(home):
    """The user-level rules file of Acme; it does not exist yet."""
    return home.path / ".acme" / "RULES.md"
