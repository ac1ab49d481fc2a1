"""Others' tombstones that count for nothing before the owner says so: what they would take away is told until then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from vault_tool.errors import GitError
from vault_tool.features.erasing.erasing import erased, resolve_target
from vault_tool.files import git, reader, tombstones
from vault_tool.files.parse import parse
from vault_tool.index.graves import ForeignGrave, Graves
from vault_tool.model.authority import contributor_of
from vault_tool.model.snapshot import Entry, is_from_others
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing

_SHOWN = 60


class WaitingTombstone(Struct):
    """One that waits: the id, who brought it by which commit, and the memory that it is of.

    `taken` says that the same commit took the note away, whose text git still has.
    """

    id: str
    who: str
    commit: str
    at: int
    path: str
    title: str
    type: str
    text: str
    whose: str
    taken: bool

    @property
    def said(self) -> str:
        """A sentence that says what was done and by whom."""
        whose = "which is yours" if not is_from_others(self.whose) else f"which is by {_name(self.whose)}"
        act = "took away and had forgotten" if self.taken else "had forgotten"
        return f"{self.who} (commit {self.commit[:10]}) {act} `{one_line(self.title, _SHOWN)}`, {whose}"


def waiting(vault: Context) -> list[WaitingTombstone]:
    """All that wait, the oldest first."""
    graves = vault.graves()
    if graves is None or not graves.theirs:
        return []
    catalog = vault.whole_index.catalog
    tombstones: list[WaitingTombstone] = []
    for identity in graves.theirs:
        entries = [entry for entry in catalog.get(identity) if not graves.refuses(entry)]
        assertions = graves.waiting(identity, entries)
        tombstones += [
            _of_entry(vault, identity, assertion, entries[0], graves) if entries else _of_taken(vault, identity, assertion)
            for assertion in assertions[:1]
        ]
    return sorted(tombstones, key=lambda tombstone: (tombstone.at, tombstone.id))


def accept(vault: Context, tombstone: WaitingTombstone) -> Saved:
    """Have it count: the memory is forgotten as if the owner had, and the tombstone says that it was confirmed."""
    with writing(vault.with_withheld(), "forget") as op:
        identity, entries = resolve_target(op.vault, tombstone.id)
        return erased(op, {identity: entries})


def refuse(vault: Context, tombstone: WaitingTombstone) -> Saved:
    """Take it away; a note that went with it is put back where it was."""
    with writing(vault, "review") as op:
        for name, identity in tombstones.files(vault.root).items():
            if identity == tombstone.id:
                op.remove(f"{tombstones.FORGOTTEN}/{name}")
        if tombstone.taken and not (vault.root / tombstone.path).exists():
            op.restore(tombstone.path, tombstone.text.encode("utf-8", "surrogateescape"))
        return op.carry_out(f"{tombstone.id} is kept", [tombstone.id])


def _of_entry(vault: Context, identity: str, grave: ForeignGrave, entry: Entry, graves: Graves) -> WaitingTombstone:
    text = reader.read(vault.root, entry.path).decode("utf-8", "replace")
    whose = "" if entry.path in graves.owned else entry.origin
    return WaitingTombstone(
        identity, _name(grave.author), grave.commit, grave.at, entry.path, entry.title, entry.type, text, whose, False
    )


def _of_taken(vault: Context, identity: str, grave: ForeignGrave) -> WaitingTombstone:
    path, data = "", b""
    with suppress(GitError):
        if vault.repo is not None:
            path = next((path for _, path, blob in git.removed_by(vault.repo, [grave.commit]) if blob == grave.note), "")
            data = git.blobs(vault.repo, [grave.note]).get(grave.note, b"")
    parsed = parse(path, data, vault.settings.types)
    return WaitingTombstone(
        identity, _name(grave.author), grave.commit, grave.at, path, parsed.title or path, str(parsed.head.get("type") or ""),
        data.decode("utf-8", "surrogateescape"), grave.whose or "", True,
    )  # fmt: skip


def _name(origin: str) -> str:
    """The name of the person who brought it, without further words: `Bob <bob@example.org>`."""
    return contributor_of(origin)


def named(tombstones: Sequence[WaitingTombstone], prefix: str) -> Iterator[WaitingTombstone]:
    """Those that an id or the beginning of one means."""
    start = prefix.strip().lower()
    yield from (tombstone for tombstone in tombstones if start and tombstone.id.startswith(start))
