"""`forget`: a person erases a memory from the vault, from what refers to it, and from everything derived or local."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from vault_tool.consolidation import ledger
from vault_tool.errors import Refused, UsageError, VaultError
from vault_tool.files import git, layout, reader, tombstones, writer
from vault_tool.files.episode_text import redacted_episode
from vault_tool.files.inbox import Inbox
from vault_tool.files.parse import parse
from vault_tool.files.parse import record as record_in
from vault_tool.files.sessions import Sessions
from vault_tool.files.signal_lines import redacted_signals
from vault_tool.files.turns import Turns
from vault_tool.generate.escape import link_path
from vault_tool.index.manifest import discard
from vault_tool.model.ids import canonical
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import STORY_EDGES, RecordClass
from vault_tool.util.text import content_hash, normal_body, one_line
from vault_tool.verbs import pages, resolve
from vault_tool.verbs.context import Context
from vault_tool.verbs.look import body_of
from vault_tool.verbs.operation import Operation, Saved, writing

VECTORS = "vectors"
"""The folder of the sets of vectors, in the cache."""

_TELLING = 12
"""A text shorter than this may stand anywhere by chance, so only whole titles are looked for by it."""

_COMMITS = 200
"""Of so many of the newest commits those that name a memory are looked into for its words."""

_QUOTED = 40
"""So many characters of a memory in a row, in what is kept elsewhere, are taken for a quotation of it."""


Versions = Sequence[tuple[str, bytes]]
"""Texts that git has, with their paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citing:
    """A memory that refers to the forgotten one by its id, and may repeat it in words that only a person can judge."""

    id: str
    type: str
    title: str
    path: str
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Saved):
    """What was erased: `removed` files (links to the memory too), `redacted` journals and ledgers, and where the tombstone is.

    `title` is told beforehand alone (`dry_run`). `citing` still names its id. `in_history` says that earlier commits, and
    clones of them, still hold the text.
    """

    id: str
    title: str = ""
    tombstone: str
    removed: tuple[str, ...]
    links_removed: tuple[str, ...]
    redacted: tuple[str, ...]
    citing: tuple[Citing, ...]
    local: int = 0
    in_history: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Traces:
    """By what a text that repeats the memory is known: its id, its paths, its title, and the sentences of its body."""

    id: str
    paths: frozenset[str]
    titles: frozenset[str]
    quotes: tuple[str, ...]

    def told_by(self, text: str) -> bool:
        """Whether a text repeats the memory."""
        return self.quoted_by(text) or any(title in normal_body(text) for title in self.titles)

    def quoted_by(self, text: str) -> bool:
        """Whether a text repeats what the memory says: a title may stand anywhere by chance, a passage does not."""
        flat = normal_body(text)
        return any(quote in flat for quote in self.quotes)

    def is_head_of(self, text: str) -> bool:
        """Whether a text is the memory's own file, or a link's to it."""
        return any(f"{name}: {self.id}" in text for name in ("id", "from_id", "to_id"))

    def meant_by(self, text: str) -> bool:
        """Whether a text repeats the memory or names its id."""
        return self.id in text or self.told_by(text)


def forget(vault: Context, memory_id: str, *, dry_run: bool = False) -> Forgotten:
    """Erase one memory: its files and links to it in a commit, its words in journals, and every derived and local trace.

    Its id alone is kept, as an empty tracked file, by which readers, imports and pulls refuse its return. What cites it
    is listed, for a person to mend. History keeps the text. With `dry_run` nothing changes. Naming a forgotten id again
    erases what has come back. For a person alone: raises Refused for anybody but the owner.
    """
    if vault.who.origin != "owner":
        raise Refused(f"only a person may forget, and this is asked by {vault.who.origin}", "in a terminal, or --origin owner")
    with writer.lock(vault.root, vault.settings.lock_wait, "forget"):
        return _forgotten(vault.with_withheld(), memory_id, dry_run)


def _forgotten(vault: Context, memory_id: str, dry_run: bool) -> Forgotten:
    # All that can be refused is refused before the first byte goes: half a forgotten memory would be the worst of both.
    with writing(vault, "forget") as op:
        identity, entries = meant(vault, memory_id)
        return erased(op, identity, entries, dry_run=dry_run)


def erased(
    op: Operation, identity: str, entries: list[Entry], versions: Versions = (), *, how: str = "", dry_run: bool = False
) -> Forgotten:
    """Erase one memory, known also by its earlier `versions`, from everything but history.

    With `how` it stays written down that there is more to do, for the caller to strike off.
    """
    vault = op.vault
    links = _links(vault, identity)
    traces = traces_of(vault, identity, entries, links, versions)
    copies = sorted({*(entry.path for entry in entries), *_returned(vault, identity), *_conflict_copies(vault, traces)})
    redactions = dict(_redactions(vault, traces))
    shown = Forgotten(
        id=identity, title=one_line(entries[0].title, 60) if dry_run and entries else "",
        tombstone=tombstones.tombstone(identity), removed=tuple(copies),
        links_removed=tuple(link.path for link in links), redacted=tuple(redactions),
        citing=(*_citing(vault, identity), *_quoting(vault, traces, copies, redactions)),
        in_history=vault.repo is not None, dry_run=dry_run,
    )  # fmt: skip
    if dry_run:
        return shown
    _plan(op, shown, redactions)
    op.screen()
    with _under_way(vault, identity, how):
        # While the notes still say by which words it is known.
        local = _forget_locally(vault, traces)
        saved = _carried_out(op, shown, redactions)
        unmade = _forget_derived(vault, traces)
    again = ((one_line(old.title, 60), resolve.short(vault, old.id)) for old in _revived(vault, entries))
    revived = [f"`{title}` ({short}) is active again" for title, short in again]
    return replace(shown, **{**asdict(saved), "local": local, "warnings": (*saved.warnings, *revived, *unmade)})


@contextmanager
def _under_way(vault: Context, identity: str, how: str) -> Iterator[None]:
    """Written down until every trace is gone: what a kill leaves of it, the next command finishes."""
    vault.local.begin_forgetting(identity, how)
    with alone(vault, identity):
        yield
    if not how:
        vault.local.end_forgetting(identity)


@contextmanager
def alone(vault: Context, identity: str) -> Iterator[None]:
    """Nothing that is asked or written meanwhile begins to finish the same."""
    mine = identity not in vault.finishing
    vault.finishing.add(identity)
    try:
        yield
    finally:
        if mine:
            vault.finishing.discard(identity)


def _revived(vault: Context, entries: Sequence[Entry]) -> Iterator[Entry]:
    """The understandings that the forgotten one had replaced, and that nothing replaces now."""
    for replaced in dict.fromkeys(one for entry in entries for one in entry.texts("supersedes")):
        yield from (old for old in vault.index.catalog.get(replaced) if not vault.superseded_by(replaced))


def meant(vault: Context, named: str) -> tuple[str, list[Entry]]:
    """The id that is meant, with every file that has it; it may be forgotten already, or wait for review."""
    whole = canonical(named)
    known = list(vault.index.catalog.get(whole)) if whole else []
    if whole and (known or tombstones.has(vault.root, whole) or whole in _inbox_ids(vault) or _is_told_of(vault, whole)):
        entry = known[0] if known else None
    else:
        entry = resolve.find(vault, named)
        whole, known = entry.id, list(vault.index.catalog.get(entry.id))
    if entry is not None and entry.record_class not in (*resolve.MEMORIES, RecordClass.EDGE):
        hint = "rename it or delete its file by hand" if entry.record_class is RecordClass.SUBJECT else "name a memory"
        raise UsageError(f"`{one_line(entry.title, 60)}` is a {entry.record_class}, and memories alone are forgotten", hint)
    return whole, known


def _is_told_of(vault: Context, identity: str) -> bool:
    """Whether anything still tells of a memory whose file is gone: what cites it, what was judged of it, or git."""
    told = (signal.target for signal in vault.index.catalog.signals())
    return (
        bool(vault.index.catalog.pointing_at(identity))
        or identity in told
        or any(use.target == identity for use in vault.local.uses())
        or bool(_as_committed(vault, identity))
    )


def _as_committed(vault: Context, identity: str) -> Mapping[str, bytes]:
    """The files of a memory that is gone, as git had them last: deleted by hand since, or by a commit that names it."""
    repo = vault.repo
    if repo is None:
        return {}
    found: dict[str, bytes] = {}
    graves = git.log(repo, paths=[tombstones.tombstone(identity)], limit=_COMMITS)
    lately = [one for one in git.log(repo, limit=_COMMITS) if identity in one.ids]
    for commit in dict.fromkeys(one.commit for one in (*graves, *lately)):
        if git.resolve(repo, f"{commit}^"):
            gone = [path for path, code in git.changed_between(repo, f"{commit}^", commit).items() if code == "D"]
            found |= git.show_many(repo, f"{commit}^", gone)
    deleted = [one.path for one in git.uncommitted(repo, [layout.VAULT]) if one.state == "deleted"]
    if deleted:
        found |= git.show_many(repo, "HEAD", deleted)
    return {path: data for path, data in found.items() if parse(path, data, vault.settings.types).head.get("id") == identity}


def _inbox_ids(vault: Context) -> dict[str, str]:
    """The ids of what waits for review, with their files' names."""
    found = {}
    for name, data in Inbox(vault.root).notes():
        record = record_in(name, data, vault.settings.types)
        if record is not None:
            found[record.id] = name
    return found


def _links(vault: Context, identity: str) -> list[Entry]:
    """The edges that begin or end at the memory: their names and titles repeat its own."""
    pointing = (entry for field, entry in vault.index.catalog.pointing_at(identity, ("from_id", "to_id")))
    return list({entry.path: entry for entry in pointing if entry.record_class is RecordClass.EDGE}.values())


def _citing(vault: Context, identity: str) -> Iterator[Citing]:
    for field, entry in vault.index.catalog.pointing_at(identity):
        if entry.record_class is not RecordClass.EDGE:
            yield Citing(id=entry.id, type=entry.type, title=entry.title, path=entry.path, field=field)


def _quoting(
    vault: Context, traces: Traces, going: Sequence[str], redactions: Mapping[str, tuple[bytes, bytes]]
) -> Iterator[Citing]:
    """The notes that repeat the memory in their own words, or rather in its, and go on doing so."""
    cited = {entry.path for entry in _citing(vault, traces.id)}
    for path in (*vault.index.catalog.of_kind("record"), *vault.index.catalog.of_kind("page")):
        if path in going or path in traces.paths or path in cited:
            continue
        data = redactions[path][1] if path in redactions else reader.read(vault.root, path)
        if traces.told_by(data.decode("utf-8", "replace")):
            entry = vault.index.catalog.by_path(path)
            title = entry.title if entry else path
            yield Citing(id=entry.id if entry else "", type=entry.type if entry else "page", title=title, path=path, field="text")


def traces_of(vault: Context, identity: str, entries: list[Entry], links: list[Entry], versions: Versions = ()) -> Traces:
    """By what texts that repeat a memory are known: from its files and links as they are, and from versions that git has."""
    titles, quotes = set(), []
    for entry in (*entries, *(link for link in links if link.type not in STORY_EDGES)):
        titles.add(normal_body(entry.title))
        body = normal_body(body_of(vault, entry))
        quotes.append(body[:_QUOTED])
        quotes.extend(_passages(body))
        quotes.extend(_passages(normal_body(entry.text("summary"))))
    gone = versions if versions or entries else tuple(_as_committed(vault, identity).items())
    for path, data in gone:
        parsed = parse(path, data, vault.settings.types)
        titles.add(normal_body(parsed.title))
        quotes.extend(_passages(normal_body(parsed.body)))
        quotes.extend(_passages(normal_body(str(parsed.head.get("summary") or ""))))
    # A line that has room for no more cuts a title.
    quotes.extend(title[:_QUOTED] for title in titles if len(title) > _QUOTED)
    paths = frozenset((*(entry.path for entry in (*entries, *links)), *(path for path, _ in gone)))
    telling = tuple(dict.fromkeys(quote for quote in quotes if len(quote) >= _TELLING))
    return Traces(identity, paths, frozenset(title for title in titles if len(title) >= _TELLING), telling)


def _passages(body: str) -> Iterator[str]:
    """Pieces of a text, so small that a longer quotation of it holds one of them whole."""
    yield from (body[start : start + _QUOTED] for start in range(0, max(1, len(body) - _QUOTED + 1), _QUOTED // 2))


def _returned(vault: Context, identity: str) -> Iterator[str]:
    """The files that brought a forgotten id back, or a link to it, which the indexes refuse."""
    for path in vault.index.catalog.of_kind("forgotten"):
        head = parse(path, reader.read(vault.root, path), vault.settings.types).head
        if identity in (head.get("id"), head.get("from_id"), head.get("to_id")):
            yield path


def _conflict_copies(vault: Context, traces: Traces) -> Iterator[str]:
    """The copies that were kept of the memory's text when two writers met."""
    for path in vault.index.catalog.of_kind("conflict"):
        if traces.meant_by(reader.read(vault.root, path).decode("utf-8", "replace")):
            yield path


def _redactions(vault: Context, traces: Traces) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """The journals and ledgers that repeat the memory, as they are and as they shall be."""
    rewrite: Mapping[str, Callable[[str, bytes], bytes]] = {
        "episode": lambda path, data: redacted_episode(path, data, traces.paths, traces.meant_by),
        "signals": lambda path, data: redacted_signals(data, traces.id, traces.told_by),
    }
    for kind, redacted in rewrite.items():
        for path in vault.index.catalog.of_kind(kind):
            data = reader.read(vault.root, path)
            if (after := redacted(path, data)) != data:
                yield path, (data, after)
    for one in vault.index.catalog.of_class(RecordClass.CONSOLIDATION):
        data = reader.read(vault.root, one.path)
        # The bytes of a name that is not UTF-8 are kept through the decoding and back.
        text = data.decode("utf-8", "surrogateescape")
        after = ledger.redacted(text, traces.id, traces.told_by).encode("utf-8", "surrogateescape")
        if after != data:
            yield one.path, (data, after)


def _plan(op: Operation, shown: Forgotten, redactions: Mapping[str, tuple[bytes, bytes]]) -> None:
    for path in (*shown.removed, *shown.links_removed):
        op.remove(path)
    for path, (before, after) in redactions.items():
        op.rewrite(path, before, after)
    if not (op.vault.root / shown.tombstone).exists():
        op.restore(shown.tombstone, b"")


def _carried_out(op: Operation, shown: Forgotten, redactions: Mapping[str, tuple[bytes, bytes]]) -> Saved:
    local = op.vault.local
    # Or our own journals would look like somebody else's, and be left for new ones; after a kill they are either.
    mine = {path: texts for path, texts in redactions.items() if f".{local.token()}." in path}
    for path, (before, after) in mine.items():
        local.expect_journal(path, content_hash(before), content_hash(after))
    saved = op.carry_out(shown.id, [shown.id])
    for path, (_, after) in mine.items():
        local.expect_journal(path, content_hash(after))
    return saved


def _forget_locally(vault: Context, traces: Traces) -> int:
    """Erase the memory from what only this machine keeps; returns how many things that were."""
    dropped = Turns(vault.root).forget(traces.meant_by) + vault.local.forget(traces.id, traces.meant_by)
    dropped += Sessions(vault.root, vault.settings.lock_wait).forget(traces.id)
    inbox = Inbox(vault.root)
    for name, data in inbox.notes():
        record = record_in(name, data, vault.settings.types)
        if record is not None and (record.id == traces.id or traces.told_by(record.body)):
            inbox.decide(record.id, "refused", vault.now())
            inbox.discard(record.id, name)
            dropped += 1
    drafts = vault.root / layout.LOCAL / "drafts"
    for draft in drafts.glob("*.md") if drafts.is_dir() else ():
        if traces.meant_by(draft.read_text(encoding="utf-8", errors="replace")):
            draft.unlink()
            dropped += 1
    return dropped


def _forget_derived(vault: Context, traces: Traces) -> list[str]:
    """Make everything derived anew: deleted rows and merged segments may keep a text's bytes for long.

    Returns what is said of pages that could not be made anew.
    """
    vault.index.refresh(full=True, confirm=True)
    cache = vault.root / layout.CACHE
    if (cache / VECTORS).is_dir():
        from vault_tool.index.vectors.erasing import erase  # loads numpy, and few vaults that forget have vectors

        erase(cache, traces.paths, vault.settings.lock_wait)
        discard(vault.root / layout.EMBEDDINGS_FILE)
    vault.settle_state(changed=True)
    makers = {layout.CORE_FILE: pages.core, layout.REFLECTION_FILE: pages.reflection}
    return [said for path, make in makers.items() for said in _page_made_anew(vault, traces, path, make)]


def _page_made_anew(vault: Context, traces: Traces, path: str, make: Callable[[Context], Saved]) -> Iterator[str]:
    """Make a page without the memory where it shows it; returns what is said where that cannot be."""
    page = (vault.root / path).read_text(encoding="utf-8", errors="replace") if (vault.root / path).is_file() else ""
    # A page cuts and escapes what it quotes, but it links to the file of all that it shows. Of what is gone already
    # nobody knows the words.
    if not page or not (not traces.paths or traces.told_by(page) or any(link_path(one) in page for one in traces.paths)):
        return
    try:
        make(vault)
    except VaultError as fault:
        # The memory is erased by now; that a merge keeps its page from being made is no reason to call that failed.
        yield f"{path} may still show it: {fault.message}; `vt {path.removesuffix('.md').lower()}` makes it anew"
