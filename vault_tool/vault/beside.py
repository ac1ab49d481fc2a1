"""The person's other vaults, asked beside this one: which there are by which names, and each asked in a thread of its own.

All have one limit of time together. What is wrong with one of them is told by its name, and stops nothing.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar, cast

from vault_tool.errors import Busy, NotFound, StorageError, UsageError, VaultError
from vault_tool.files.git.run import bounded
from vault_tool.files.layout import SETTINGS_FILE
from vault_tool.model.ids import as_prefix
from vault_tool.util.hints import option, step
from vault_tool.util.outcome import Outcome, outcome_of
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.util.user_folder import global_vault_at
from vault_tool.vault.context import Context, opened_beside
from vault_tool.vault.embedding_in_force import machine_settings
from vault_tool.vault.settings_stamps import Stamps, stamps_of

T = TypeVar("T")

# What the global one is called; and what asks all others.
GLOBAL, ALL = "global", "all"

# Seconds that all others have together.
LIMIT = 2.0

_THREAD = "another vault"

# For this part of the limit git has ended already: what it was asked last must not outlive the answer.
_TO_END = 0.15

# Asked before it is opened: what is no plain file there could be waited for without end.
_OPENED = (SETTINGS_FILE, "vault/workspace.md", ".git/HEAD", ".git/config", ".git/index", ".git/packed-refs")


class Neighbour:
    """One other vault that this process keeps open, for one question at a time."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._context: Context | None = None
        self._stamps: Stamps = ()

    def asked(self, vault: Context, until: float, use: Callable[[Context], T]) -> T:
        """`use` of the other vault, as whoever asks `vault` sees it; nothing is waited for after `until` (monotonic).

        Raises what `use` raises, and VaultError for a vault that cannot be asked.
        """
        if not self._guard.acquire(timeout=max(0.0, until - time.monotonic())):
            raise Busy("it is still at an earlier question")
        try:
            _require_askable(self.folder)
            with bounded(until - _TO_END * LIMIT):
                beside = self._opened(vault)
                beside.hurried_until = until
                beside.progress = partial(_stop_at, until)
                with beside.whole_index.hurried(until):
                    return use(beside.seen_as(vault))
        finally:
            self._guard.release()

    def close(self) -> None:
        """Let go of it, unless it is at a question: then its process does so by its end."""
        if self._guard.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._guard.release()

    def _opened(self, vault: Context) -> Context:
        if self._context is not None and (self._stamps != stamps_of(self._context) or not self._context.location.is_there()):
            self._let_go()
        if self._context is None:
            self._context = opened_beside(vault, Path(self.folder))
            self._stamps = stamps_of(self._context)
        return self._context

    def _let_go(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = None


def _stop_at(until: float, done: int, count: int) -> None:
    if time.monotonic() > until:
        raise Busy("its indexes have to be built first")


def others(vault: Context) -> Mapping[str, str]:
    """The folders of the person's other vaults by their names, the global one first. Raises ConfigError for faulty settings."""
    if vault.who.author:
        return {}
    if vault.machine.fault:
        machine_settings(vault)  # says what is wrong with them
    shared = global_vault_at(vault.environ)
    first = {GLOBAL: shared} if shared and Path(shared).resolve() != vault.root else {}
    return {**first, **vault.machine.vaults}


def which(folders: Collection[str]) -> str:
    """A hint after a wrong name: the vaults that there are, or how one is named."""
    if folders:
        return f"there are: {', '.join(folders)}"
    return f"{step('config', name='vault', value='NAME', folder=...)} names one"


def chosen(vault: Context, named: Sequence[str], *, include_global: bool = True) -> Mapping[str, str]:
    """The folders of those that are named, `all` for all. Raises UsageError with what there is for any other name."""
    folders = others(vault)
    names = [name.strip() for text in named for name in text.split(",")]
    hint = which(folders)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"the vault {one_line(twice, 40)} is named twice", hint)
    if ALL in names and len(names) > 1:
        raise UsageError("`all` stands alone: it is every vault already", hint)
    if "" in names:
        raise UsageError("no vault is named", hint)
    if unknown := next((name for name in names if name not in (*folders, ALL)), None):
        raise UsageError(f"no vault is called `{one_line(unknown, 40)}`", hint)
    if GLOBAL in names and not include_global:
        raise UsageError("the global vault is asked and left out at once", "leave one of both away")
    asked = folders if ALL in names else {name: folders[name] for name in names}
    if not asked:
        raise UsageError("there is no other vault", hint)
    return {name: folder for name, folder in asked.items() if include_global or name != GLOBAL}


def split_name(vault: Context, named: str) -> tuple[str, str] | None:
    """Another vault's name, and the name of a memory in it, of what is written `team:a1b2c3`; None for anything else."""
    name, _, rest = named.strip().partition(":")
    if vault.who.author or not rest.strip() or not (name == GLOBAL or name in vault.machine.vaults):
        return None
    return (name, rest.strip()) if name in others(vault) else None


def require_known(vault: Context, named: str) -> None:
    """Raise UsageError where `named` is an id in another vault, as `team:a1b2c3`, and no vault is called so."""
    name, _, rest = named.strip().partition(":")
    if not vault.who.author and name and as_prefix(rest.strip()) and name not in (folders := others(vault)):
        raise UsageError(f"no vault is called `{one_line(name, 40)}`", which(folders))


class Told(Struct, Generic[T]):
    """The answers of other vaults by their names, and for each that gave none the reason."""

    answers: Mapping[str, T]
    missing: tuple[str, ...]


class Asking(Generic[T]):
    """One question that other vaults were asked, each in a thread of its own; they are at it while this one answers."""

    def __init__(self, vault: Context, folders: Mapping[str, str], use: Callable[[Context], T]) -> None:
        self._until = time.monotonic() + LIMIT
        self._calls: dict[str, _Call[T]] = {}
        self._same: list[str] = []
        places = {str(vault.root): "this one"}
        for name, folder in folders.items():
            if (place := os.path.realpath(folder)) in places:
                self._same.append(f"the vault {name} is the same as {places[place]}")
                continue
            places[place] = name
            self._calls[name] = _Call(partial(_neighbour(vault, place).asked, vault, self._until, use))

    def told(self) -> Told[T]:
        """The answers of those that gave one in time."""
        answers: dict[str, T] = {}
        missing = list(self._same)
        for name, call in self._calls.items():
            outcome = call.outcome(self._until)
            if outcome is None or isinstance(outcome.fault, Busy):
                missing.append(f"the vault {name} did not answer within {LIMIT:g} s; what is asked of it alone is waited for")
            elif outcome.fault is not None:
                missing.append(f"the vault {name} could not be asked: {_reason(outcome.fault)}")
            elif outcome.value is not None:
                answers[name] = outcome.value
        return Told(answers, tuple(missing))


class _Call(Generic[T]):
    """A call in a thread of its own, waited for no longer than is wanted."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._ended = threading.Event()
        self._outcome: Outcome[T] = Outcome()
        try:
            # One that hangs must not keep the process from its end.
            threading.Thread(target=self._run, name=_THREAD, daemon=True).start()
        except RuntimeError as fault:  # no thread can be had
            self._outcome = Outcome(fault=fault)
            self._ended.set()

    def _run(self) -> None:
        self._outcome = outcome_of(self._work)
        self._ended.set()

    def outcome(self, until: float) -> Outcome[T] | None:
        """The end of the call; None where it has none in time."""
        return self._outcome if self._ended.wait(max(0.0, until - time.monotonic())) else None


def one(vault: Context, name: str, use: Callable[[Context], T]) -> T:
    """`use` of one other vault that is named. Raises what `use` raises, and VaultError where it gives no answer in time."""
    until = time.monotonic() + LIMIT
    folder = chosen(vault, [name])[name]
    place = os.path.realpath(folder)
    if place == str(vault.root):
        return use(vault)
    outcome = _Call(partial(_neighbour(vault, place).asked, vault, until, use)).outcome(until)
    if outcome is None or isinstance(outcome.fault, Busy):
        raise Busy(f"the vault {name} did not answer within {LIMIT:g} s", f"ask it alone: {option('vault', folder)}")
    if isinstance(outcome.fault, VaultError):
        raise outcome.fault
    if outcome.fault is not None:
        raise StorageError(f"the vault {name} could not be asked: {_reason(outcome.fault)}", "look into it alone")
    if outcome.value is None:
        raise NotFound(f"the vault {name} has no answer", "look into it alone")
    return outcome.value


def kept_to_itself(vault: Context, identities: Iterable[str]) -> frozenset[str]:
    """Those of these ids that a vault forgot, or has and shows to another than whoever asks: no clone of it tells of them."""
    forgotten, whole, shown = vault.forgotten(), vault.whole_index.catalog, vault.index.catalog
    return frozenset(
        identity for identity in identities if identity in forgotten or (whole.get(identity) and not shown.get(identity))
    )


def _neighbour(vault: Context, place: str) -> Neighbour:
    return cast("Neighbour", vault.neighbours.setdefault(place, Neighbour(place)))


def fault_of(folder: str) -> str:
    """Why the vault in a folder cannot be asked, as far as a look at its folder says; empty where it can."""
    try:
        _require_askable(folder)
    except VaultError as fault:
        return fault.message
    return ""


def told_folders(vault: Context) -> dict[str, str]:
    """The folder of each of the other vaults, and what is wrong with it where it cannot be asked."""
    faults = {name: fault_of(folder) for name, folder in others(vault).items()}
    return {name: f"{folder} ({fault})" if (fault := faults[name]) else folder for name, folder in others(vault).items()}


def is_any_at_work() -> bool:
    """Whether another vault is still at a question of this process, which then ends without waiting for it."""
    return any(thread.name == _THREAD for thread in threading.enumerate())


def _require_askable(folder: str) -> None:
    """Raise VaultError where no vault is, another user's, or one with something odd in the place of a file that is opened."""
    root = Path(folder)
    if not (root / SETTINGS_FILE).is_file():
        raise NotFound(f"no vault is at {folder}", f"{step('config', name='vault', value=...)} says where it is now")
    if hasattr(os, "geteuid") and root.stat().st_uid != os.geteuid():
        raise StorageError(f"{folder} belongs to another user of this machine", "have a copy of your own")
    if odd := next((path for path in _OPENED if (root / path).exists() and not (root / path).is_file()), None):
        raise StorageError(f"{odd} in it is no file", "look at it")


def _reason(fault: BaseException) -> str:
    return fault.message if isinstance(fault, VaultError) else f"{type(fault).__name__}: {one_line(str(fault), 100)}"
