"""The vault: documents, where they live, and the operations on them. The public Python API.

>>> from ecc_memory.vault import Vault
>>> saved = Vault.open().save(title="Use uv", body="The build uses uv, see docs/build.md.")
>>> Vault.open().search("uv").results[0].memory.title
'Use uv'
"""

from ecc_memory.vault.document import KINDS, SCOPES, Memory, parse_document, serialize_document
from ecc_memory.vault.results import (
    Diagnostics,
    DoctorReport,
    Finding,
    InitResult,
    ReadResult,
    SaveResult,
    SearchHit,
    SearchResult,
)
from ecc_memory.vault.roots import Place
from ecc_memory.vault.vault import Vault

__all__ = [
    "KINDS",
    "SCOPES",
    "Diagnostics",
    "DoctorReport",
    "Finding",
    "InitResult",
    "Memory",
    "Place",
    "ReadResult",
    "SaveResult",
    "SearchHit",
    "SearchResult",
    "Vault",
    "parse_document",
    "serialize_document",
]
