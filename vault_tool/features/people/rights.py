"""`export_user` and `forget_user`: export or erase all data about one person in a vault and on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from vault_tool.errors import Refused, UsageError
from vault_tool.features import stores
from vault_tool.features.erasing import purging
from vault_tool.features.erasing.erasing import Citing, Erased, erase_from, erased
from vault_tool.features.erasing.purging import Purged
from vault_tool.features.people.about_people import NAMED, Naming, Person, naming, person_of
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.atomic import storage
from vault_tool.util.hints import option
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.pending import held
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.store_interface import Phase, Traces

# The file of an export for all data that are not notes.
RECORDS = "records.json"

_FORMAT = 1
_ERASABLE = (*MEMORIES, RecordClass.EDGE)


class Exported(Answer, kw_only=True):
    """The export for one person: its folder, and counts of notes, judgements, waiting and refused memories, and turns.

    `elsewhere` are the first of `elsewhere_count` notes that name the person but are not filed under them: the export does not
    contain these.
    """

    user: str
    folder: str
    notes: int
    signals: int
    waiting: int
    turns: int
    refused: int = 0
    elsewhere: tuple[Naming, ...] = ()
    elsewhere_count: int = 0


class ForgottenUser(Saved, kw_only=True):
    """The erased data of one person, or the data that would be erased (`dry_run`): ids and counts, without any of the texts.

    `waiting`, `refused` and `turns` count this machine's memories that waited in the inbox or were refused there lately, and
    its turns. `after` are the counts of the person afterwards. `citing` are the notes that still refer to the erased data, and
    `elsewhere` the first of `elsewhere_count` notes that name the person but are not filed under them: these stay. `purged`
    describes the change to history, if one was asked for. `receipt` is the path of the file with this record.
    """

    ids: tuple[str, ...]
    removed: int = 0
    links_removed: int = 0
    subjects_removed: int = 0
    redacted: int = 0
    waiting: int = 0
    turns: int = 0
    refused: int = 0
    after: Person | None = None
    elsewhere: tuple[Naming, ...] = ()
    elsewhere_count: int = 0
    local: int = 0
    citing: tuple[Citing, ...] = ()
    purged: Purged | None = None
    in_history: bool = False
    receipt: str = ""
    dry_run: bool = False


@verb
@looks
@of_the_whole
def export_user(vault: Context, user: str, folder: str | Path) -> Exported:
    """Write all that is about one user into a folder that is not there yet: their notes as they are, and `records.json`.

    That file holds the judgements of their memories with their consent, the memories that wait for review, and the turns that
    this machine keeps. Links to memories about others, and understandings of several people, stay out. Raises Refused if the
    caller is not a person, and for a folder that is not empty.
    """
    vault = resolve.for_act(vault, "export all of somebody's")
    _require_name(user)
    target = Path(folder).expanduser().resolve()
    if target.is_relative_to(vault.root / "vault"):
        raise Refused(f"{target} is among the vault's own notes", "name a folder elsewhere")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Refused(f"{target} is there already", "name a folder that is not there yet")
    every = list(stores.of(vault))
    sections: dict[str, list[Any]] = {name: [] for store in every for name in store.sections}
    files: dict[str, str] = {}
    for place, text in (passage for store in every for passage in store.of_person(user)):
        if "/" in place:
            files[place] = text
        else:
            sections.setdefault(place, []).append(json.loads(text))
    exported = {"format": _FORMAT, "user": user, "made": vault.now(), **sections}
    with storage(str(target)):
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place, note in files.items():
            _write(target / PurePosixPath(place), note.encode("utf-8", "surrogateescape"))
        text = json.dumps(exported, ensure_ascii=False, indent=1, sort_keys=True)
        _write(target / RECORDS, f"{text}\n".encode("utf-8", "surrogatepass"))
    counts, elsewhere = person_of(vault, user), naming(vault, user)
    return Exported(
        user=user, folder=str(target), notes=len(sections["memories"]), signals=len(sections["signals"]),
        waiting=len(sections["waiting"]), turns=counts.turns, refused=len(sections["refused"]),
        elsewhere=tuple(elsewhere[:NAMED]), elsewhere_count=len(elsewhere),
    )  # fmt: skip


@verb
@of_the_whole
def forget_user(
    vault: Context, user: str, *, purge: bool = False, despite: Sequence[str] = (), dry_run: bool = False
) -> ForgottenUser:
    """Erase all that is about one user: their memories as `forget` erases one, in one commit, and what waits and is kept of them.

    With `purge` git's history is rewritten without these data too (see `purge` for `despite`). If the process is killed, the
    next command finishes its work. With `dry_run` nothing changes. Raises Refused if the caller is not a person.
    """
    vault = resolve.for_act(vault, "erase all of somebody's")
    _require_name(user)
    with held(vault, "forget"):
        with writing(vault, "forget") as op:
            entries = [entry for entry in vault.index.catalog.of_user(user) if entry.record_class in _ERASABLE]
            entries_by_id = {entry.id: list(vault.index.catalog.get(entry.id)) for entry in entries}
            before, elsewhere = person_of(vault, user), naming(vault, user)
            in_history = vault.repo is not None and not purge
            shown = ForgottenUser(
                ids=tuple(entries_by_id), waiting=before.waiting, turns=before.turns, refused=before.refused,
                in_history=in_history, dry_run=dry_run,
            )  # fmt: skip
            # The data on this machine alone are erased first: after a kill, the rest is still found by the user's name.
            if not dry_run and not (purge and entries_by_id):
                shown = replace(shown, local=_forget_here(vault, user))
            done = Erased(ids=())
            if dry_run or not purge:
                done = erased(op, entries_by_id, dry_run=dry_run)
                shown = replace(_with(shown, done), local=shown.local + done.local)
        if purge and entries_by_id:
            here: list[int] = []
            gone = purging.purged(
                vault, list(entries_by_id), despite, dry_run=dry_run, first=lambda: here.append(_forget_here(vault, user))
            )
            shown = replace(shown, purged=gone, citing=gone.citing, local=sum(here))
        going = {*done.removed, *done.links_removed, *done.subjects_removed} if dry_run else set()
        left = [naming for naming in elsewhere if naming.path not in going and (vault.root / naming.path).exists()]
        shown = replace(shown, elsewhere=tuple(left[:NAMED]), elsewhere_count=len(left))
        if not dry_run:
            shown = replace(shown, after=person_of(vault, user))
            shown = replace(shown, receipt=_receipt(vault, shown))
    return shown


def _require_name(user: str) -> None:
    if not user.strip():
        raise UsageError("no user is named", f"say whose memories are meant: {option('all_of')}")


def _forget_here(vault: Context, user: str) -> int:
    """Erase the waiting memories and turns of a user on this machine; returns their number."""
    return erase_from(vault, Phase.LOCAL, Traces(user=user)).count


def _with(shown: ForgottenUser, done: Erased) -> ForgottenUser:
    return replace(
        shown, **done.fields(), removed=len(done.removed), links_removed=len(done.links_removed),
        subjects_removed=len(done.subjects_removed), redacted=len(done.redacted), citing=done.citing, local=done.local,
    )  # fmt: skip


def _receipt(vault: Context, done: ForgottenUser) -> str:
    """Write a receipt of the erased data, with ids and counts but without the user's name; returns its path."""
    fields: dict[str, Any] = {
        "at": vault.now(), "ids": done.ids, "waiting": done.waiting, "refused": done.refused, "turns": done.turns,
        "commit": done.commit, "named_elsewhere": done.elsewhere_count,
    }  # fmt: skip
    if done.after is not None:
        fields["after"] = {name: count for name, count in to_builtins(done.after).items() if name != "user"}
    if done.purged is not None:
        fields["purge"] = done.purged.receipt
    name = vault.now().replace(":", "").replace("+0000", "Z")
    return vault.local.keep_receipt(f"{name}-erased", fields)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
