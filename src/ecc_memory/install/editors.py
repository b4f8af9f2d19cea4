"""Which editor edits which format; each is imported when a file of its format is met."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from ecc_memory.errors import InstallError
from ecc_memory.harness.types import ConfigFormat

Key = tuple[str, ...]


class ConfigEditor(Protocol):
    """The operations of :mod:`ecc_memory.install.edit` on one format, bytes in, bytes out."""

    def load(self, data: bytes) -> Mapping[str, object]: ...  # noqa: D102

    def set_key(self, data: bytes, key: Key, value: object) -> bytes: ...  # noqa: D102

    def delete_key(self, data: bytes, key: Key, *, prune: int = 0) -> bytes: ...  # noqa: D102

    def append_item(self, data: bytes, key: Key, item: object) -> bytes: ...  # noqa: D102

    def remove_item(self, data: bytes, key: Key, item: object, *, prune: int = 0) -> bytes: ...  # noqa: D102

    def snippet(self, key: Key, value: object) -> str: ...  # noqa: D102


class _Strict:
    """The JSON editor, bound to strict JSON or to JSON with comments."""

    def __init__(self, module: ConfigEditor, *, strict: bool) -> None:
        self._module, self._strict = module, strict

    def __getattr__(self, name: str) -> object:
        function = getattr(self._module, name)
        if name == "snippet":
            return function
        return lambda *arguments, **options: function(*arguments, strict=self._strict, **options)


@cache
def editor(format: ConfigFormat) -> ConfigEditor:
    """Return the editor of a format.

    Raises:
        InstallError: the editor needs a library that is not installed.
    """
    name = "json" if format == "jsonc" else format
    try:
        module = cast("ConfigEditor", import_module(f"ecc_memory.install.edit.{name}"))
    except ModuleNotFoundError as error:
        raise InstallError(
            f"editing {name.upper()} files needs the library {error.name}; install ecc-memory[{name}]"
        ) from error
    if name == "json":
        return cast("ConfigEditor", _Strict(module, strict=format == "json"))
    return module
