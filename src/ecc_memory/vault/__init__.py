"""The vault: documents, where they live, and the operations on them. The public Python API.

>>> from ecc_memory.vault import Vault
>>> saved = Vault.open().save(title="Use uv", body="The build uses uv, see docs/build.md.")
>>> Vault.open().search("uv").results[0].memory.title
'Use uv'

Each name is imported when it is first used, so that a hook, which needs one module of this package,
does not wait for all of them.
"""

TYPE_CHECKING = False  # as in typing, whose import would cost more than this whole module
if TYPE_CHECKING:
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

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        for module in ("document", "roots", "results", "vault"):
            found = vars(import_module(f"{__name__}.{module}"))
            if name in found:
                globals()[name] = found[name]
                return found[name]
        raise AssertionError("unreachable")
