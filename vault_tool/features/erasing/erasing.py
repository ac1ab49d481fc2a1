"""Memories erased: their files, what refers to them, their words in journals, and every derived and local trace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from msgspec.structs import replace

from vault_tool.errors import UsageError
from vault_tool.features import stores
from vault_tool.files import git, layout, reader, tombstones
from vault_tool.files.parse import parse
from vault_tool.index.relations import edges_at, successors
from vault_tool.model.ids import canonical
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, STORY_EDGES, RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, counted, normal_body, one_line, with_article
from vault_tool.vault import resolve
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import orphaned_subjects
from vault_tool.vault.operation import Operation, Saved
from vault_tool.vault.store_interface import Phase, Rewrites, Traces

# A text shorter than this may stand anywhere by chance, so only whole titles are looked for by it.
_TELLING = 12

# Of so many of the newest commits those that name a memory are looked into for its words.
_COMMITS = 200

# So many characters of a memory in a row, in what is kept elsewhere, are taken for a quotation of it.
_QUOTED = 40

# Texts that git has, with their paths.
Versions = Sequence[tuple[str, bytes]]


class Citing(Struct, kw_only=True):
    """A memory that refers to the forgotten one by its id, and may repeat it in words that only a person can judge."""

    id: str
    type: str
    title: str
    path: str
    field: str


class Erased(Saved, kw_only=True):
    """The erased parts of several memories in one operation, or those that would be; see `Forgotten`."""

    ids: tuple[str, ...]
    titles: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    subjects_removed: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    citing: tuple[Citing, ...] = ()
    local: int = 0


def erased(
    op: Operation,
    targets: Mapping[str, list[Entry]],
    versions: Mapping[str, Versions] = MappingProxyType({}),
    *,
    how: str = "",
    dry_run: bool = False,
) -> Erased:
    """Erase memories, by their ids and known also by earlier `versions`, from everything but history, as one operation.

    With `how` it stays written down that there is more to do, for the caller to strike off.
    """
    vault = op.vault
    links = [link for link in edges_at(vault.index.catalog, targets) if link.id not in targets]
    entries = [entry for versions in targets.values() for entry in versions]
    traces = traces_of(vault, targets, links, versions)
    copies = sorted(
        {*(entry.path for entry in entries), *_resurrected_files(vault, traces.ids), *_conflict_copies(vault, traces)}
    )
    emptied = [subject for subject in orphaned_subjects(vault, entries) if subject.path not in copies]
    going = {*copies, *(subject.path for subject in emptied)}
    repeating = list(_repeating(vault, traces, going))
    redactions = _redactions(vault, traces, repeating)
    shown = Erased(
        ids=tuple(targets),
        titles=tuple(one_line(versions[0].title, 60) for versions in targets.values() if versions) if dry_run else (),
        removed=tuple(copies),
        links_removed=tuple(link.path for link in links),
        subjects_removed=tuple(subject.path for subject in emptied),
        redacted=tuple(redactions),
        citing=(*_citing(vault, targets, going), *_quoting(vault, traces, repeating, redactions)),
    )
    if dry_run or not targets:
        return shown
    _plan(op, shown, redactions)
    op.screen()
    with _record_progress(vault, shown.ids, how):
        # While the notes still say by which words they are known.
        local = erase_from(vault, Phase.LOCAL, traces)
        saved = _carried_out(op, shown, redactions)
        derived = erase_from(vault, Phase.DERIVED, traces)
    again = ((one_line(old.title, 60), resolve.short(vault, old.id)) for old in _revived(vault, entries))
    revived = [f"`{title}` ({short}) is active again" for title, short in again]
    return replace(shown, **saved.fields(*revived, *derived.remarks), local=local.count)


class ErasedHere(Struct):
    """How many things went from the stores, and the remarks on what could not go."""

    count: int
    remarks: tuple[str, ...]


def erase_from(vault: Context, phase: Phase, traces: Traces) -> ErasedHere:
    """Erase memories from the stores of a phase."""
    cleaned = [place for store in stores.of(vault) if store.phase is phase for place in store.erase(traces)]
    return ErasedHere(sum(place.count for place in cleaned), tuple(place.remark for place in cleaned if place.remark))


@contextmanager
def _record_progress(vault: Context, ids: Sequence[str], how: str) -> Iterator[None]:
    """Written down until every trace is gone: what a kill leaves of it, the next command finishes."""
    vault.local.begin_forgetting(ids, how)
    with no_reentry(vault, ids):
        yield
    if not how:
        vault.local.end_forgetting(ids)


@contextmanager
def no_reentry(vault: Context, ids: Collection[str]) -> Iterator[None]:
    """No call or write of this time begins to finish forgetting the same ids."""
    own = {*ids} - vault.ids_being_forgotten
    vault.ids_being_forgotten.update(own)
    try:
        yield
    finally:
        vault.ids_being_forgotten.difference_update(own)


def _revived(vault: Context, entries: Sequence[Entry]) -> Iterator[Entry]:
    """The understandings that the forgotten one had replaced, and that nothing replaces now."""
    for replaced in dict.fromkeys(identity for entry in entries for identity in entry.texts("supersedes")):
        yield from (old for old in vault.index.catalog.get(replaced) if not successors(vault.index.catalog, replaced))


def resolve_target(vault: Context, named: str) -> tuple[str, list[Entry]]:
    """The id that is meant, with every file that has it; it may be forgotten already, or wait for review."""
    whole = canonical(named)
    known = list(vault.index.catalog.get(whole)) if whole else []
    if whole and (known or tombstones.has(vault.root, whole) or _is_mentioned(vault, whole)):
        entry = known[0] if known else None
    else:
        entry = resolve.find(vault, named)
        whole, known = entry.id, list(vault.index.catalog.get(entry.id))
    if entry is not None and entry.record_class not in (*MEMORIES, RecordClass.EDGE):
        hint = "rename it or delete its file by hand" if entry.record_class is RecordClass.SUBJECT else "name a memory"
        raise UsageError(
            f"`{one_line(entry.title, 60)}` is {with_article(entry.record_class)}, and memories alone are forgotten", hint
        )
    return whole, known


def _is_mentioned(vault: Context, identity: str) -> bool:
    """Whether anything still tells of a memory whose file is gone: a store, what cites it, or git."""
    return (
        any(store.holds(identity) for store in stores.of(vault))
        or bool(vault.index.catalog.pointing_at(identity))
        or bool(_as_committed(vault, identity))
    )


def _as_committed(vault: Context, identity: str) -> Mapping[str, bytes]:
    """The files of a memory that is gone, as git had them last: deleted by hand since, or by a commit that names it."""
    repo = vault.repo
    if repo is None:
        return {}
    texts: dict[str, bytes] = {}
    graves = git.log(repo, paths=[tombstones.tombstone(identity)], limit=_COMMITS)
    lately = [commit for commit in git.log(repo, limit=_COMMITS) if identity in commit.ids]
    for commit in dict.fromkeys(commit.commit for commit in (*graves, *lately)):
        if git.resolve(repo, f"{commit}^"):
            gone = [path for path, code in git.changed_between(repo, f"{commit}^", commit).items() if code == "D"]
            texts |= git.show_many(repo, f"{commit}^", gone)
    deleted = [change.path for change in git.uncommitted(repo, [layout.VAULT]) if change.state == "deleted"]
    if deleted:
        texts |= git.show_many(repo, "HEAD", deleted)
    return {path: data for path, data in texts.items() if parse(path, data, vault.settings.types).head.get("id") == identity}


def redacted_files(vault: Context, identity: str, versions: Versions = ()) -> list[str]:
    """The journals and ledgers that repeat a memory, known also by earlier `versions`, and that forgetting it would redact."""
    entries = {identity: list(vault.index.catalog.get(identity))}
    traces = traces_of(vault, entries, edges_at(vault.index.catalog, entries), {identity: versions})
    return [*_redactions(vault, traces, list(_repeating(vault, traces, ())))]


def _citing(vault: Context, ids: Collection[str], going: Collection[str] = ()) -> Iterator[Citing]:
    for pointing in vault.index.catalog.pointing_at_each(ids).values():
        for field, entry in pointing:
            if entry.record_class is not RecordClass.EDGE and entry.path not in going:
                yield Citing(id=entry.id, type=entry.type, title=entry.title, path=entry.path, field=field)


def _repeating(vault: Context, traces: Traces, going: Collection[str]) -> Iterator[str]:
    """The notes and pages that stay, and repeat the memories in words of their own."""
    notes = (*vault.index.catalog.of_kind("record"), *vault.index.catalog.of_kind("page"))
    for path in (path for path in notes if path not in going and path not in traces.paths):
        if traces.repeated_in(reader.read(vault.root, path).decode("utf-8", "replace")):
            yield path


def _quoting(vault: Context, traces: Traces, repeating: Sequence[str], redactions: Rewrites) -> Iterator[Citing]:
    """The notes that go on repeating the memories, and do not name them."""
    cited = {entry.path for entry in _citing(vault, traces.ids)}
    for path in repeating:
        if path in cited or (path in redactions and not traces.repeated_in(redactions[path][1].decode("utf-8", "replace"))):
            continue
        entry = vault.index.catalog.by_path(path)
        title = entry.title if entry else path
        yield Citing(id=entry.id if entry else "", type=entry.type if entry else "page", title=title, path=path, field="text")


def traces_of(
    vault: Context,
    targets: Mapping[str, Sequence[Entry]],
    links: Sequence[Entry],
    versions: Mapping[str, Versions] = MappingProxyType({}),
) -> Traces:
    """By what texts that repeat memories are known: from their files and links as they are, and from versions that git has."""
    titles: set[str] = set()
    quotes: list[str] = []
    paths: set[str] = set()
    entries = [entry for versions in targets.values() for entry in versions]
    paths.update(entry.path for entry in (*entries, *links))
    for entry in (*entries, *(link for link in links if link.type not in STORY_EDGES)):
        titles.update(normal_body(title) for title in (entry.title, entry.text("title")) if title)
        body = normal_body(body_of(vault, entry))
        quotes.append(body[:_QUOTED])
        quotes.extend(_passages(body))
        quotes.extend(_passages(normal_body(entry.text("summary"))))
    for identity, entries_now in targets.items():
        known = versions.get(identity, ())
        for path, data in known if known or entries_now else _as_committed(vault, identity).items():
            parsed = parse(path, data, vault.settings.types)
            paths.add(path)
            titles.update(normal_body(title) for title in (parsed.title, str(parsed.head.get("title") or "")) if title)
            quotes.extend(_passages(normal_body(parsed.body)))
            quotes.extend(_passages(normal_body(str(parsed.head.get("summary") or ""))))
    # A line that has room for no more cuts a title.
    quotes.extend(title[:_QUOTED] for title in titles if len(title) > _QUOTED)
    telling = tuple(dict.fromkeys(quote for quote in quotes if len(quote) >= _TELLING))
    long = frozenset(title for title in titles if len(title) >= _TELLING)
    return Traces(frozenset(targets), frozenset(paths), long, telling)


def _passages(body: str) -> Iterator[str]:
    """Pieces of a text, so small that a longer quotation of it holds one of them whole."""
    yield from (body[start : start + _QUOTED] for start in range(0, max(1, len(body) - _QUOTED + 1), _QUOTED // 2))


def _resurrected_files(vault: Context, ids: Collection[str]) -> Iterator[str]:
    """The files that brought forgotten ids back, or links to them, which the indexes refuse."""
    for path in vault.index.catalog.of_kind("forgotten"):
        head = parse(path, reader.read(vault.root, path), vault.settings.types).head
        if not {str(head.get(name)) for name in ("id", "from_id", "to_id")}.isdisjoint(ids):
            yield path


def _conflict_copies(vault: Context, traces: Traces) -> Iterator[str]:
    """The copies that were kept of the memory's text when two writers met."""
    for path in vault.index.catalog.of_kind("conflict"):
        if traces.mentioned_in(reader.read(vault.root, path).decode("utf-8", "replace")):
            yield path


def _redactions(vault: Context, traces: Traces, repeating: Sequence[str]) -> Rewrites:
    """The journals and ledgers that repeat the memory, as they are and as they shall be.

    What they say of a note that says the same itself, as somebody else's may, is that one's.
    """
    spared = [entry for path in repeating if (entry := vault.index.catalog.by_path(path)) is not None]
    return {path: texts for store in stores.of(vault) for path, texts in store.rewrites(traces, spared).items()}


def _plan(op: Operation, shown: Erased, redactions: Rewrites) -> None:
    for path in (*shown.removed, *shown.links_removed, *shown.subjects_removed):
        op.remove(path)
    for path, (before, after) in redactions.items():
        op.rewrite(path, before, after)
    graves = op.vault.graves()
    for identity in shown.ids:
        tombstone = tombstones.tombstone(identity)
        if not tombstones.has(op.vault.root, identity):
            op.restore(tombstone, b"")
        elif graves and identity in graves.theirs:
            # Another's, which counts for what is not theirs by the owner's own text in it alone.
            before = reader.read(op.vault.root, tombstone)
            op.rewrite(tombstone, before, tombstones.confirmed(before, op.vault.now()))


def _carried_out(op: Operation, shown: Erased, redactions: Rewrites) -> Saved:
    local = op.vault.local
    # Or our own journals would look like somebody else's, and be left for new ones; after a kill they are either.
    own = {path: texts for path, texts in redactions.items() if f".{local.token()}." in path}
    for path, (before, after) in own.items():
        local.expect_journal(path, content_hash(before), content_hash(after))
    title = shown.ids[0] if len(shown.ids) == 1 else counted(len(shown.ids), "memory", "memories")
    saved = op.carry_out(title, shown.ids)
    for path, (_, after) in own.items():
        local.expect_journal(path, content_hash(after))
    return saved
