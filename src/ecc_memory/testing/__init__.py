"""For the authors of adapters: a home folder of a test's own, and the contract as a test suite.

Needs pytest. ``docs/writing-an-adapter.md`` shows it in use.
"""

from ecc_memory.testing.contract import AdapterContract
from ecc_memory.testing.corpus import EDITABLE, UNEDITABLE
from ecc_memory.testing.home import Home

__all__ = ["EDITABLE", "UNEDITABLE", "AdapterContract", "Home"]
