"""Is a file's content a valid document at its place?"""

from __future__ import annotations

from dataclasses import dataclass

from ecc_memory.errors import InvalidMemory
from ecc_memory.vault.document import Memory, parse_document
from ecc_memory.vault.secrets import find_secret

SUFFIX = ".md"
"""What the name of every document ends with."""


@dataclass(frozen=True, slots=True)
class Document:
    """A valid document and where it stands, as ``scope:folder/file``."""

    memory: Memory
    path: str
    size: int


@dataclass(frozen=True)
class Problem:
    """Something in the vault that is not a valid document.

    Attributes:
        path: ``scope:folder/file``.
        code: invalid-document, location-mismatch, suspected-secret, unreadable, symlink or
            unreadable-folder.
        message: what is wrong, without any value from the file that could be a secret.
        line: where, if one line is to blame.
    """

    path: str
    code: str
    message: str
    line: int | None = None


def judge(data: bytes, scope: str, names: tuple[str, ...], path: str) -> Memory | Problem:
    """Decide whether a file's bytes are a valid document at its place.

    Args:
        data: the file's content (of a file over the bound, its beginning).
        scope: the scope whose tree it stands in.
        names: folder and file names below the scope's root.
        path: the same as ``scope:folder/file``.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(path, "invalid-document", "it is not valid UTF-8; save it as UTF-8", line)
    secret = find_secret(text)
    if secret is not None:
        message = (
            f"it holds what looks like a credential ({secret.rule}); remove it, and replace the credential"
        )
        return Problem(path, "suspected-secret", message, secret.line)
    try:
        memory = parse_document(text)
    except InvalidMemory as error:
        return Problem(path, "invalid-document", error.message, error.line)
    if memory.scope != scope:
        message = (
            f'its scope is "{memory.scope}" but it stands in the {scope} scope; move it or correct the field'
        )
        return Problem(path, "location-mismatch", message)
    folder = kind_folder(memory.kind)
    if len(names) < 2 or names[0] != folder:
        message = f'its kind is "{memory.kind}", so it belongs below the folder {folder}; move it'
        return Problem(path, "location-mismatch", message)
    return memory


def kind_folder(kind: str) -> str:
    """The folder below a scope's root that holds memories of this kind."""
    return f"{kind}s"
