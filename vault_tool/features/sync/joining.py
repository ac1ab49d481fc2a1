"""Two commits of a vault joined in memory: what the result holds, before anything of it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.consolidation import ledger
from vault_tool.errors import Refused, StorageError
from vault_tool.features.erasing import forgotten_words
from vault_tool.features.erasing.erasing import erase_from, traces_of
from vault_tool.files import git, layout
from vault_tool.files.episode_text import redacted_episode
from vault_tool.files.git import remote as elsewhere
from vault_tool.files.git.authors import Brought
from vault_tool.files.git.run import output
from vault_tool.files.git.survey import TreeEntry
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.files.merging.tree_merge import Note, Outcome, Result, Sides, Unit, merge_trees, note_of
from vault_tool.files.parse import parse
from vault_tool.files.signal_lines import redacted_signals
from vault_tool.index.graves import identity_of, is_grave
from vault_tool.model.authority import Act, Effect, Party, authority, by_origin, writer_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass, Registry
from vault_tool.util.hints import step
from vault_tool.util.text import counted, one_line
from vault_tool.vault.context import Context
from vault_tool.vault.store_interface import Phase, Traces

# What a commit may change that sync passes on: the vault's own folders and files, and nothing beside them.
OWN_FOLDERS = (layout.VAULT, layout.TEMPLATES)
OWN_FILES = (layout.SETTINGS_FILE, *layout.MADE_PAGES, *layout.GIT_FILES)
OWN = re.compile(rf"(?:{'|'.join(OWN_FOLDERS)})/.+|{'|'.join(map(re.escape, OWN_FILES))}", re.DOTALL)
_FILES = ("100644", "100755")

# More than this part of the notes, and more than so many, are not taken away without a person's word.
_BULK_SHARE = 5
_BULK = 20


class Join(msgspec.Struct):
    """The result of two commits: the commit that it is built on, what differs from it there, and what is told of it."""

    ours: str
    theirs: str
    base: str
    outcome: Outcome = field(default_factory=Outcome)
    targets: dict[str, TreeEntry | None] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    redacted: list[str] = field(default_factory=list)
    forgotten: frozenset[str] = frozenset()
    """The ids of what the other side forgot, and that this one knew till now."""
    traces: Traces = field(default_factory=Traces)
    received: list[str] = field(default_factory=list)
    """The paths of the files that are others than before here."""

    @property
    def moves_forward(self) -> bool:
        """Whether this side has nothing that the other has not."""
        return self.base == self.ours

    @property
    def is_settled(self) -> bool:
        """Whether all is done once the files have followed: nothing was forgotten elsewhere, and no page is to be made anew."""
        return not (self.forgotten or self.outcome.pages)

    @property
    def builds_on(self) -> str:
        return self.theirs if self.moves_forward else self.ours


def require_common(repo: git.Repo, ours: str, theirs: str) -> Sequence[str]:
    """The commits that two histories parted from; Refused where there is none."""
    bases = elsewhere.merge_bases(repo, ours, theirs)
    if not bases:
        raise Refused(
            "the two histories have nothing in common, and are not joined",
            f"clone the remote into a folder of its own, and bring the memories over with {step('import_markdown', path=...)}",
        )
    return bases


def join(vault: Context, repo: git.Repo, ours: str, theirs: str) -> Join:
    """Join two commits; Refused where they have nothing in common, or what came is not the vault's alone."""
    bases = require_common(repo, ours, theirs)
    joined = Join(ours, theirs, bases[0])
    changed = {"ours": {} if ours == bases[0] else elsewhere.entries_between(repo, bases[0], ours)}
    changed["theirs"] = elsewhere.entries_between(repo, bases[0], theirs)
    for path, (_, now) in changed["theirs"].items():
        if now is not None and now.mode not in _FILES:
            raise Refused(f"{one_line(path, 80)} is no plain file in what came, and nothing was merged", "ask who sent it")
        if fault := layout.path_fault(path):
            raise Refused(f"{one_line(path, 80)} came, which can be no file of a vault: {fault}", "ask who sent it")
    brought = _brought(vault, repo, joined, changed["theirs"])
    forgotten, joined.forgotten = _forgotten(vault, brought, changed["theirs"])
    if joined.moves_forward and not forgotten and not any(commit.removed for commit, own in brought if not own):
        joined.received = sorted(changed["theirs"])
        joined.outcome.tree = {
            path: Result(path, path, now.mode, now.oid) if now else None for path, (_, now) in changed["theirs"].items()
        }
        return joined
    sides = _sides(repo, joined, changed)
    joined.outcome = merge_trees(sides, dropped=forgotten, stays=_stays(vault, brought))
    _redact(vault, repo, joined, sides.read, forgotten)
    _aim(joined, sides)
    return joined


def refuse_bulk(vault: Context, repo: git.Repo, joined: Join, *, confirm: bool) -> None:
    """Refuse a result in which many of the notes would be gone, unless a person said that this is meant."""
    gone = _vanishing(repo, joined)
    notes = vault.whole_index.catalog.counts().notes
    if confirm or len(gone) <= _BULK or len(gone) * _BULK_SHARE <= notes:
        return
    who = elsewhere.removed_last(repo, gone[:50], joined.ours, joined.theirs)
    by = f" by {who[1]} (commit {who[0]})" if who else ""
    raise Refused(
        f"{len(gone)} of {counted(notes, 'note')} would be gone here{by}, and nothing was merged",
        f"if that is meant: {step('sync', confirm=True)}",
    )


def _vanishing(repo: git.Repo, joined: Join) -> list[str]:
    """The notes of this side that the result has nowhere."""
    tree = joined.outcome.tree
    going = [path for path, result in tree.items() if result is None and file_kind(path) is FileKind.NOTE]
    if len(going) <= _BULK:
        return going
    before = git.show_many(repo, joined.ours, going)
    staying: set[str] = set()
    fresh = {path: result for path, result in tree.items() if result is not None and path not in before}
    blobs = git.blobs(repo, (result.oid for result in fresh.values() if result.oid))
    for path, result in fresh.items():
        staying.add(note_of(path, result.data if result.data is not None else blobs.get(result.oid, b"")).id)
    return [path for path, data in before.items() if (note_of(path, data).id or path) not in staying - {""}]


def _brought(vault: Context, repo: git.Repo, joined: Join, changed: Mapping[str, object]) -> list[tuple[Brought, bool]]:
    """The commits that came, each with whether it is the owner's; none where all are, and nothing was forgotten there."""
    owners = vault.owners()
    commits = git.brought(repo, [joined.theirs], [joined.ours], (), owners.signed)
    graves = any(map(is_grave, changed))
    if not graves and all(map(owners.wrote, commits)):
        return []
    commits = git.brought(repo, [joined.theirs], [joined.ours], (layout.VAULT,), owners.signed)
    return [(commit, owners.wrote(commit)) for commit in commits]


def _forgotten(
    vault: Context, brought: Sequence[tuple[Brought, bool]], changed: Mapping[str, tuple[object, object]]
) -> tuple[frozenset[str], frozenset[str]]:
    """The ids that are forgotten once the two are joined, and those among them that were not so here."""
    known, owners = vault.forgotten(), vault.owners()
    back = {identity_of(path) for path, (_, now) in changed.items() if is_grave(path) and now is None}
    came: set[str] = set()
    for commit, own in brought:
        for file in commit.files:
            identity = identity_of(file.path) if is_grave(file.path) else ""
            if identity and (own or _may_forget(vault, by_origin(owners.origin_of(commit)), identity)):
                came.add(identity)
    present = {identity_of(path) for path, (_, now) in changed.items() if is_grave(path) and now is not None}
    return (known - back) | (came & present), frozenset((came & present) - known)


def _may_forget(vault: Context, writer: Party, identity: str) -> bool:
    """Whether a tombstone of this writer counts here: each memory of that id has to be theirs to take."""
    catalog = vault.whole_index.catalog
    entries = catalog.get(identity)
    return bool(entries) and all(authority(Act.TOMBSTONE, writer, _party(vault, entry)) is Effect.ALLOWED for entry in entries)


def _party(vault: Context, entry: Entry) -> Party:
    catalog = vault.whole_index.catalog
    return writer_of(entry, bool(catalog.reviewed_at([entry])))


def _stays(vault: Context, brought: Sequence[tuple[Brought, bool]]) -> Callable[[Unit, Note], bool]:
    """Whether a memory that only their side took away stays: where its remover has no authority over it."""
    removers = {path: (commit, own) for commit, own in brought for path, _ in commit.removed}
    strangers, owners = any(not own for _, own in brought), vault.owners()

    def stays(unit: Unit, note: Note) -> bool:
        if not strangers or unit.base is None:
            return False
        entry = vault.whole_index.catalog.by_path(unit.base.path) or next(iter(vault.whole_index.catalog.get(note.id)), None)
        if entry is None or entry.record_class not in MEMORIES:
            return False
        commit, own = removers.get(unit.base.path, (None, False))
        if own:
            return False
        writer = by_origin(owners.origin_of(commit)) if commit is not None else by_origin("pulled (unknown)")
        return authority(Act.TOMBSTONE, writer, _party(vault, entry)) is not Effect.ALLOWED

    return stays


def _sides(repo: git.Repo, joined: Join, changed: Mapping[str, Mapping[str, elsewhere.Change]]) -> Sides:
    trees: dict[str, dict[str, TreeEntry]] = {"base": {}, "ours": {}, "theirs": {}}
    for path in {*changed["ours"], *changed["theirs"]}:
        base = next(rows[path][0] for rows in changed.values() if path in rows)
        by_side = {"base": base, **{side: rows[path][1] if path in rows else base for side, rows in changed.items()}}
        for side, blob in by_side.items():
            if blob is not None:
                trees[side][path] = blob
    blob_ids = {blob.oid for tree in trees.values() for blob in tree.values()}
    texts = git.blobs(repo, blob_ids)
    comes = any(path not in trees["base"] for side in ("ours", "theirs") for path in trees[side])
    others = elsewhere.names_in(repo, joined.base) if comes else []
    return Sides(trees["base"], trees["ours"], trees["theirs"], texts.__getitem__, _moment(repo, joined), others)


def _moment(repo: git.Repo, joined: Join) -> str:
    """The later of the two commits' times, as the name of a copy has it: every machine gives it the same."""
    asked = ("show", "--no-patch", "--no-show-signature", "--format=%ct", joined.ours, joined.theirs)
    times = output(repo.work_tree, "read the times of the commits", *asked).split()
    return f"{datetime.fromtimestamp(max(map(int, times)), UTC):%Y%m%dT%H%M%SZ}"


def _redact(vault: Context, repo: git.Repo, joined: Join, read: Callable[[str], bytes], forgotten: Collection[str]) -> None:
    """Take the words of what was forgotten out of the journals and ledgers that either side wrote."""
    if not forgotten:
        return
    tree = joined.outcome.tree
    telling = {path: result for path, result in tree.items() if result is not None and _may_tell(path)}
    if not telling and not joined.forgotten:
        return
    versions = forgotten_words.taken_away(vault, [joined.ours, joined.theirs])
    entries = {identity: list(vault.whole_index.catalog.get(identity)) for identity in forgotten}
    joined.traces = traces_of(vault, {identity: entries[identity] for identity in joined.forgotten}, (), versions)
    traces = traces_of(vault, entries, (), {identity: versions.get(identity, ()) for identity in forgotten})
    for path, result in telling.items():
        before = result.data if result.data is not None else read(result.oid)
        after = redacted(path, before, traces)
        if after != before:
            tree[path] = replace(result, oid="", data=after)
            joined.redacted.append(path)


def _may_tell(path: str) -> bool:
    kind = file_kind(path)
    return kind in (FileKind.EPISODE, FileKind.SIGNALS) or path.startswith(f"{layout.VAULT}/consolidations/")


def redacted(path: str, data: bytes, traces: Traces) -> bytes:
    """A journal or a ledger without the words of some memories."""
    kind = file_kind(path)
    if kind is FileKind.EPISODE:
        return redacted_episode(path, data, traces.paths, traces.mentioned_in)
    if kind is FileKind.SIGNALS:
        return redacted_signals(data, traces.ids, traces.repeated_in)
    if kind is FileKind.NOTE and parse(path, data, Registry()).record_class is RecordClass.CONSOLIDATION:
        return ledger.redacted(data, traces.ids, traces.repeated_in)
    return data


def _aim(joined: Join, sides: Sides) -> None:
    """Find the changes to the commit that the result is built on, and those to this side."""
    on = sides.theirs if joined.moves_forward else sides.ours
    for path, result in joined.outcome.tree.items():
        if _differs(result, on.get(path)):
            joined.targets[path] = None if result is None else TreeEntry(result.mode, result.oid)
            if result is not None and result.data is not None:
                joined.contents[path] = result.data
        if _differs(result, sides.ours.get(path)):
            joined.received.append(path)


def _differs(result: Result | None, blob: TreeEntry | None) -> bool:
    if result is None or blob is None:
        return result is not None or blob is not None
    return result.data is not None or (result.mode, result.oid) != (blob.mode, blob.oid)


def clear_local(vault: Context, joined: Join) -> tuple[str, ...]:
    """Take local words of what the other side forgot away, once the files have followed; remarks on what could not go."""
    if not joined.forgotten:
        return ()
    try:
        return erase_from(vault.with_withheld(), Phase.LOCAL, joined.traces).remarks
    except StorageError:
        return ()


def ids_of(joined: Join) -> Iterator[str]:
    """The ids of the memories that were merged."""
    yield from (key for key in joined.outcome.merged if "/" not in key)
