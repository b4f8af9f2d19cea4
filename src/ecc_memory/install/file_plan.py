"""What an installation or its removal means for one file, decided before anything is written."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ecc_memory.errors import EditRefused, InstallConflict, InstallError
from ecc_memory.harness.types import Artifact, ConfigEntry, OwnedFile
from ecc_memory.install import artifacts
from ecc_memory.install.artifacts import Anything, Held, KeptFile, Keys, State, identity
from ecc_memory.install.files import View, digest
from ecc_memory.install.receipt import FileReceipt, Holding, Owner
from ecc_memory.install.splice import Splice
from ecc_memory.install.steps import Action, Item, Step, Wish

_FOREIGN = (
    "exists already and was not made by ecc-memory; --adopt takes it over and gives it back on uninstall"
)
_EDITED = "was changed since ecc-memory wrote it; --force writes over it"


class FilePlanner:
    """Decides what becomes of one file.

    First every artifact that leaves or comes is judged against the file as it is. Then the new
    bytes are made: from the original where it is known exactly, else by editing what others left.

    Args:
        view: the file as it is.
        receipt: what we remember of it, if anything.
        force: take out, or write over, an artifact of ours that someone edited.
        adopt: write over a foreign thing in our place, and remember it.
    """

    def __init__(
        self, view: View, receipt: FileReceipt | None, *, force: bool = False, adopt: bool = False
    ) -> None:
        self._view = view
        self._receipt = receipt
        self._force = force
        self._adopt = adopt
        self._holdings: list[Holding] = list(receipt.holdings) if receipt else []
        self._wanted: dict[tuple[object, ...], Artifact] = {}
        self._leaving: list[Holding] = []
        self._writing: list[tuple[Artifact, Held | None]] = []
        self._items: list[Item] = []
        self._recognised = False  # something of ours that no receipt knows
        self._met: dict[tuple[object, ...], Artifact] = {}  # what is in the file as we write it

    def leave(self, artifact: Anything, owner: Owner) -> None:
        """Take one owner off an artifact, and the artifact out with its last owner."""
        holding = self._holding(artifact)
        if holding is None or owner not in holding.owners:
            return
        rest = tuple(other for other in holding.owners if other != owner)
        if rest:
            self._replace(holding, replace(holding, owners=rest))
            self._note(owner, holding.artifact, "release", f"still used by {_names(rest)}")
            return
        found = State.ABSENT if self._is_original() else self._state(holding.artifact)
        if found is State.OTHER and not self._force:
            if _is_optional(holding.artifact):
                self._holdings.remove(holding)
                self._note(owner, holding.artifact, "skip", "it was changed since, and stays so")
            else:
                self._note(owner, holding.artifact, "keep", "it was edited since; --force removes it")
            return
        self._holdings.remove(holding)
        if found is State.ABSENT:
            self._note(owner, holding.artifact, "gone", "someone had removed it already")
            return
        self._leaving.append(holding)
        extra = artifacts.added_by_others(holding.artifact, self._view.data)
        note = f"together with {', '.join(extra)}, which someone had added to it" if extra else ""
        self._note(owner, holding.artifact, "remove" if holding.original is None else "give-back", note)

    def meet(self, artifact: Artifact) -> None:
        """Note an artifact that may be in a file without a receipt, in the order in which we write."""
        if self._receipt is None and self._state(artifact) is State.INTACT:
            self._met.setdefault(identity(artifact), artifact)

    def recognise(self, forms: Sequence[Artifact], owner: Owner) -> None:
        """Take out an artifact that no receipt knows, if it has exactly one of the forms we write."""
        if self._holding(forms[0]) is not None or _is_optional(forms[0]):
            return
        for artifact in forms:
            if self._is_ours(artifact, self._state(artifact)):
                self._recognised = True
                self._leaving.append(Holding(artifacts.held(artifact), (owner,)))
                self._note(owner, artifact, "remove", "recognised without a record of its installation")
                return
        if self._state(forms[0]) is not State.ABSENT:
            self._note(owner, forms[0], "foreign", "not what this version writes")

    def want(self, wish: Wish) -> None:
        """Put an artifact in for an owner.

        Raises:
            InstallConflict: something foreign, or edited, stands in its place.
        """
        artifact, owner = wish.artifact, wish.owner
        self.meet(artifact)
        again = identity(artifact) in self._wanted
        self._wanted[identity(artifact)] = artifact
        holding = self._holding(artifact)
        if holding is None:
            if not again:  # else the user has a setting of their own, as we found a moment ago
                self._want_new(artifact, owner)
            return
        form = artifacts.held(artifact)
        others = tuple(other for other in holding.owners if other != owner)
        alike = artifacts.alike(form, holding.artifact)
        if others and isinstance(form, ConfigEntry) and not alike:
            raise self._conflict(artifact, owner, f"is used by {_names(others)} with another value")
        if again and not alike:
            raise self._conflict(artifact, owner, "is described twice, each time otherwise")
        action: Action = "unchanged"
        note = ""
        if not again:
            action, note = self._refresh(artifact, holding, owner)
        if others and action == "unchanged" and owner not in holding.owners:
            action, note = "share", f"also used by {_names(others)}"
        elif others and action == "update":
            note = f"for {_names(others)} too"
        owners = holding.owners if owner in holding.owners else (*holding.owners, owner)
        self._replace(holding, replace(holding, artifact=form, owners=owners))
        self._note(owner, artifact, action, note)

    def step(self) -> Step:
        """Return what is to be done, once everything that leaves or comes was named.

        Raises:
            EditRefused: the file cannot be edited safely.
        """
        if len(self._holdings) > 1 and any(isinstance(held.artifact, KeptFile) for held in self._holdings):
            raise InstallError("one file is to be wholly ours and shared too", detail=str(self._view.path))
        after, receipt = self._outcome()
        modes = [artifact.mode for artifact in self._wanted.values() if isinstance(artifact, OwnedFile)]
        return Step(self._view, after, receipt, tuple(self._items), modes[0] if modes else 0o644)

    def _want_new(self, artifact: Artifact, owner: Owner) -> None:
        found = self._state(artifact)
        action: Action = "add"
        original: object = None
        if found is State.ABSENT:
            self._writing.append((artifact, None))
        elif _is_optional(artifact):
            self._note(owner, artifact, "skip", "there is one already, and it stays as it is")
            return
        elif self._is_ours(artifact, found) or found is State.GROWN:
            self._recognised = True
            action = "unchanged"
        elif self._adopt:
            original = artifacts.present(artifact, self._view.data)
            self._writing.append((artifact, None))
            action = "take-over"
        else:
            raise self._conflict(artifact, owner, _FOREIGN)
        self._holdings.append(Holding(artifacts.held(artifact), (owner,), original))
        self._note(owner, artifact, action)

    def _refresh(self, artifact: Artifact, holding: Holding, owner: Owner) -> tuple[Action, str]:
        """Decide how an artifact that we hold already comes to its newest form."""
        found = self._state(artifact)
        if found is State.INTACT or (found is State.GROWN and not self._is_outdated(artifact, holding)):
            return "unchanged", ""
        before = self._state(holding.artifact)
        if before is State.OTHER and _is_optional(artifact):
            return "skip", "it was changed since, and stays so"
        if before is State.OTHER and not self._force:
            raise self._conflict(artifact, owner, _EDITED)
        self._writing.append((artifact, holding.artifact))
        if before is State.ABSENT:
            return "add", "someone had removed it"
        return "update", "over what someone had changed" if before is State.OTHER else ""

    def _outcome(self) -> tuple[bytes | None, FileReceipt | None]:
        """Make the file's new bytes and what is to be remembered of them."""
        if not self._writing and not self._leaving and not self._recognised:
            return self._view.data, self._remembered_as_it_is()
        if self._recognised:
            return self._edited()
        if self._view.data is None or self._receipt is None:
            return self._rebuilt(self._view.data)
        if self._receipt.knows_original(self._view.data):
            return self._rebuilt(self._receipt.original(self._view.data))
        return self._edited()

    def _remembered_as_it_is(self) -> FileReceipt | None:
        if self._receipt is None or not self._holdings:
            return None
        return replace(self._receipt, holdings=tuple(self._holdings))

    def _rebuilt(self, original: bytes | None) -> tuple[bytes | None, FileReceipt | None]:
        """Make the file anew: the original, and every artifact that has an owner."""
        if not self._holdings:
            return original, None
        data, made, splices = original, Keys(), list[Splice]()
        for holding in self._holdings:
            artifact = self._wanted.get(identity(holding.artifact), holding.artifact)
            with self._located(artifact):
                made |= artifacts.missing_keys(artifact, data)
                edited = artifacts.put(artifact, data)
            splices.append(Splice.between(data or b"", edited))
            data = edited
        kept = () if original is None else tuple(splices)
        return data, self._remembered(original is not None, digest(original), data, kept, made)

    def _edited(self) -> tuple[bytes | None, FileReceipt | None]:
        """Edit what others left; the exact original is not to be had any more."""
        data, old = self._view.data, self._receipt
        ours = self._made_by_us() if old is None else None
        existed = ours is None if old is None else old.existed
        made = ours or (Keys() if old is None else old.made)
        for holding in self._leaving:
            with self._located(holding.artifact):
                if data is not None:
                    data = artifacts.take_out(holding.artifact, data, holding.original, made)
        for artifact, previous in self._writing:
            with self._located(artifact):
                made |= artifacts.missing_keys(artifact, data)
                data = artifacts.put(artifact, data, previous)
        if not self._holdings:
            if ours is not None:
                return None, None
            return (None if not existed and data is not None and artifacts.is_bare(data) else data), None
        return data, self._remembered(existed, old.before if old else None, data, None, made)

    def _remembered(
        self,
        existed: bool,
        before: str | None,
        data: bytes | None,
        splices: tuple[Splice, ...] | None,
        made: Keys,
    ) -> FileReceipt:
        facts = self._view.facts
        mode = stat.S_IMODE(facts.st_mode) if existed and facts is not None else None
        return FileReceipt(
            str(self._view.real), existed, before, digest(data), mode, splices, made, tuple(self._holdings)
        )

    def _holding(self, artifact: Anything) -> Holding | None:
        wanted = identity(artifact)
        return next((held for held in self._holdings if identity(held.artifact) == wanted), None)

    def _replace(self, old: Holding, new: Holding) -> None:
        self._holdings[self._holdings.index(old)] = new

    def _note(self, owner: Owner, artifact: Anything, action: Action, note: str = "") -> None:
        self._items.append(Item(owner, artifact, action, note))

    def _state(self, artifact: Anything) -> State:
        with self._located(artifact):
            return artifacts.state(artifact, self._view.data)

    def _made_by_us(self) -> Keys | None:
        """Return the containers in a file that is just what we write where there is none, as in a clone."""
        data, made = None, Keys()
        for artifact in self._met.values():
            made |= artifacts.missing_keys(artifact, data)
            data = artifacts.put(artifact, data)
        return made if data == self._view.data and not self._view.is_link else None

    def _is_original(self) -> bool:
        """Whether someone gave the file its bytes from before us back."""
        return self._receipt is not None and digest(self._view.data) == self._receipt.before

    def _is_ours(self, artifact: Artifact, found: State) -> bool:
        """Whether what no receipt knows is ours: exactly our shape, and no link of the user's."""
        if isinstance(artifact, OwnedFile) and (self._view.is_link or os.path.islink(self._view.path.parent)):
            return False
        return found is State.INTACT

    def _is_outdated(self, artifact: Artifact, holding: Holding) -> bool:
        """Whether keys that only our earlier form had are still there beside the user's own."""
        return artifacts.put(artifact, self._view.data, holding.artifact) != self._view.data

    def _conflict(self, artifact: Artifact, owner: Owner, problem: str) -> InstallConflict:
        without = "without --reminders" if artifact.part == "reminders" else f"with --no-{artifact.part}"
        return InstallConflict(
            f"{artifacts.title(artifact)} for {owner} {problem}; {without} this part is left out",
            detail=str(self._view.path),
        )

    @contextlib.contextmanager
    def _located(self, artifact: Anything) -> Iterator[None]:
        """Give a refusal the file's name, and the text that a person can paste instead."""
        try:
            yield
        except EditRefused as error:
            error.detail = error.detail or str(self._view.path)
            if error.snippet is None and not isinstance(artifact, (OwnedFile, KeptFile)):
                error.snippet = artifacts.snippet(artifact)
            raise


def _is_optional(artifact: Anything) -> bool:
    return isinstance(artifact, ConfigEntry) and artifact.absent_only


def _names(owners: tuple[Owner, ...]) -> str:
    return ", ".join(map(str, owners))
