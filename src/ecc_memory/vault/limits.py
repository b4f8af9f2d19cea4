"""How much one call may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ecc_memory.errors import UsageError

MAX_FILES_VARIABLE = "ECC_MEMORY_MAX_FILES"
MAX_SCAN_BYTES_VARIABLE = "ECC_MEMORY_MAX_SCAN_BYTES"


@dataclass(frozen=True)
class Limits:
    """How much one call may look at, over all its scopes.

    Attributes:
        files: directory entries of any kind (default 100,000).
        scan_bytes: bytes of documents (default 256 MiB).
    """

    files: int = 100_000
    scan_bytes: int = 256 * 1024 * 1024

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Limits:
        """Read the two settings; :class:`UsageError` when one is not a positive whole number."""
        return cls(
            _positive(env, MAX_FILES_VARIABLE, cls.files),
            _positive(env, MAX_SCAN_BYTES_VARIABLE, cls.scan_bytes),
        )


def _positive(env: Mapping[str, str], variable: str, default: int) -> int:
    value = env.get(variable, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 15 or int(value) == 0:
        raise UsageError(
            f"{variable} must be a whole number above 0; set it so, or unset it", detail=f"{variable}={value}"
        )
    return int(value)
