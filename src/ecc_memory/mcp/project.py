"""Which vault a server serves."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ecc_memory.errors import UsageError
from ecc_memory.mcp.launch import PROJECT_ROOT_VARIABLE

if TYPE_CHECKING:
    from ecc_memory.vault import Vault

HOST_VARIABLE = "CLAUDE_PROJECT_DIR"
"""Claude Code starts servers with the project's folder in it; the working directory may differ."""


class LazyVault:
    """Opens the vault at the first call, since a client asks for the tools long before that.

    Args:
        env: the environment. An explicit root in it wins, then the harness's own variable,
            then the working directory of this process.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._lock = threading.Lock()
        self._vault: Vault | None = None

    def __call__(self) -> Vault:
        """Return the vault, the same one for the life of the server.

        Raises:
            EccMemoryError: a root is no usable path; the next call tries again.
        """
        with self._lock:
            if self._vault is None:
                self._vault = _open(self._env)
            return self._vault


def _open(env: Mapping[str, str]) -> Vault:
    from ecc_memory.vault import Vault

    folder = env.get(HOST_VARIABLE, "").strip()
    if not folder or env.get(PROJECT_ROOT_VARIABLE, "").strip():
        return Vault.open(env=env)
    if not os.path.isabs(folder):
        raise UsageError(f"{HOST_VARIABLE} must be an absolute path; set it so, or unset it")
    return Vault.open(cwd=folder, env=env, cwd_origin=HOST_VARIABLE)
