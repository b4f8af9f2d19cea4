"""The one exception tree of ecc-memory.

    EccMemoryError                 exit 1
    |-- UsageError                 exit 2   the command line or the call is wrong
    |-- InvalidMemory                       a memory or document breaks the format
    |-- SecretRefused                       a field holds what looks like a credential
    |-- MemoryExists                        that id is taken; nothing is overwritten
    |-- MemoryNotFound                      no visible memory has that id
    |-- DuplicateId                         several files claim one id
    |-- VaultIncomplete                     the scan could not vouch for every document
    |-- VaultUnsafe                         a link, a foreign .gitignore, a root that may not be used
    |-- VaultIO                             the operating system refused a read or a write
    |-- DryRun                              ECC_DRY_RUN=1 refused a write
    |-- PluginError                         an adapter is broken, missing or in conflict
    `-- InstallError                        an installation cannot be planned or carried out
        |-- EditRefused                     a configuration file cannot be edited safely
        `-- InstallConflict                 something of our name is there and is not ours

A message never holds an absolute path, a secret value or the text of a memory, so the
server may send it to a model. What only the person at the terminal should see, mostly
paths, goes into ``detail``.
"""

from __future__ import annotations


class EccMemoryError(Exception):
    """Base of all expected failures.

    Args:
        message: what is wrong and what to do next; safe to show to a model.
        detail: where it happened (a path, a line), shown by the CLI only.
        code: overrides the class's stable code.

    Attributes:
        code: stable, machine-readable, ``ECC_MEMORY_...``.
        exit_code: the exit status of a CLI command that ends with this error.
    """

    code: str = "ECC_MEMORY_ERROR"
    exit_code: int = 1

    def __init__(self, message: str, *, detail: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.detail})" if self.detail else self.message


class UsageError(EccMemoryError):
    """The command line, or an argument of a call, is wrong."""

    code = "ECC_MEMORY_USAGE"
    exit_code = 2


class InvalidMemory(EccMemoryError):
    """A memory or a document breaks the format; the message names field, line and repair.

    Attributes:
        line: the line of the document that is to blame, 1-based, if one is.
    """

    code = "ECC_MEMORY_INVALID"

    def __init__(self, message: str, *, detail: str | None = None, line: int | None = None) -> None:
        super().__init__(message, detail=detail)
        self.line = line


class SecretRefused(EccMemoryError):
    """A field holds what looks like a credential; the message names field, rule and line."""

    code = "ECC_MEMORY_SECRET"


class MemoryExists(EccMemoryError):
    """A memory or file with that id exists; nothing was overwritten."""

    code = "ECC_MEMORY_EXISTS"


class MemoryNotFound(EccMemoryError):
    """No memory with that id is visible in the scopes that were searched."""

    code = "ECC_MEMORY_NOT_FOUND"


class DuplicateId(EccMemoryError):
    """Several documents claim the same id, so none of them can be meant."""

    code = "ECC_MEMORY_DUPLICATE_ID"


class VaultIncomplete(EccMemoryError):
    """The scan was cut short or met documents it could not read, so absence proves nothing."""

    code = "ECC_MEMORY_INCOMPLETE"


class VaultUnsafe(EccMemoryError):
    """The vault's place cannot be used safely: a link, a foreign .gitignore, a refused root."""

    code = "ECC_MEMORY_UNSAFE"


class VaultIO(EccMemoryError):
    """The operating system refused a read or a write below the vault."""

    code = "ECC_MEMORY_IO"


class DryRun(EccMemoryError):
    """``ECC_DRY_RUN=1`` is set, so nothing is written."""

    code = "ECC_MEMORY_DRY_RUN"


class PluginError(EccMemoryError):
    """An adapter is broken, missing, or two of them claim the same harness."""

    code = "ECC_MEMORY_PLUGIN"


class InstallError(EccMemoryError):
    """An installation cannot be planned or carried out; what was written is taken back."""

    code = "ECC_MEMORY_INSTALL"


class EditRefused(InstallError):
    """A configuration file cannot be edited without touching what is not ours.

    Attributes:
        snippet: what a person can paste into the file instead, if that is known.
    """

    code = "ECC_MEMORY_EDIT_REFUSED"

    def __init__(self, message: str, *, detail: str | None = None, snippet: str | None = None) -> None:
        super().__init__(message, detail=detail)
        self.snippet = snippet


class InstallConflict(InstallError):
    """Something under our name exists and was not made by us, or was edited since."""

    code = "ECC_MEMORY_CONFLICT"
