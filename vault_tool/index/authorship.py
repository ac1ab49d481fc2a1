"""The authors of a vault's texts: the catalogue keeps each text that came with another person's commit.

The origin in a head or signal counts only if its text came with a commit of this machine's owner, or is not committed. A text
is identified by its content at its path: an owner who merges or moves it does not become its author, one who edits it does.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import field
from msgspec.structs import asdict, replace

from vault_tool.errors import GitError, NotFound, Refused
from vault_tool.files import git, reader
from vault_tool.files.layout import CONFIG_FILE, TEMPLATES, VAULT, FileKind, file_kind, is_around
from vault_tool.files.local_trust import place
from vault_tool.files.signal_lines import read_signals
from vault_tool.index import evidence_text, grave_history, graves
from vault_tool.index.catalog import Catalog
from vault_tool.index.trusted_authors import DOUBT, TRUSTS, TrustedAuthors
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import Put, pulled
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.files.git.authors import Brought, Introduced  # read only where HEAD moved
    from vault_tool.index.evidence_text import Evidence
    from vault_tool.index.graves import ForeignGrave, GraveNews

FOLDERS = (VAULT, TEMPLATES)
# Facts of the catalogue: the commits whose history is taken in, the owners' addresses then, and a stamp of the settings file.
HISTORY, OWNERS, MACHINE = "history", "owners", "machine"

_NOBODY = pulled("git could not say by whom")

# Rows with these prefixes are marks at a path: they say who changed which part of the owner's note, instead of naming a text.
_MARK = "mark:"
_PUT = f"{_MARK}put:"
_HID = f"{_MARK}hid:"
# The mark of an owner's note that another person's commit deleted; its row has the note's id as its path. The blob follows.
GONE = f"{_MARK}gone:"

# The number of texts that are read from the history at once.
_READ_AT_ONCE = 500

# The verbs whose caller becomes the author of a text; "" is an edit without a verb. A change by any other verb is the tool's
# own: the text keeps the author whose commit brought it.
PERSONS = frozenset({"", "edit", "commit", "review", "undo"})


class Foreign(Struct):
    """A text that another person's commit brought: the blob of a note, or one line of a journal by its `digest`."""

    path: str
    text: str
    author: str
    at: int
    commit: str


class HistoryDelta(Struct):
    """The part of the history to take in: new texts, and commits that HEAD no longer has (`whole`: everything is read anew)."""

    came: tuple[Foreign, ...] = ()
    lost: frozenset[str] = frozenset()
    whole: bool = False
    graves: tuple[ForeignGrave, ...] | None = None
    """All tombstones of other people, if the history has new ones or lost commits; None: the known ones stay."""
    facts: Mapping[str, str] = field(default_factory=dict)

    def apply(self, catalog: Catalog) -> None:
        """Write the changes to the catalogue, in a transaction of the caller."""
        if self.whole:
            catalog.connection.execute("DELETE FROM foreign_texts")
        catalog.connection.executemany("DELETE FROM foreign_texts WHERE by_commit = ?", ((commit,) for commit in self.lost))
        catalog.connection.executemany(ADD, map(row_of, self.came))
        if self.whole or self.graves is not None:
            catalog.connection.execute("DELETE FROM foreign_graves")
            catalog.connection.executemany(graves.ADD, map(graves.row_of, self.graves or ()))

    def grave_news(self) -> GraveNews:
        """The changes that concern tombstones."""
        owned = frozenset(text.path for text in self.came if text.text == graves.OWNED)
        return graves.GraveNews(self.graves, owned, self.lost, self.whole)

    def touched(self, catalog: Catalog) -> set[str]:
        """The paths whose texts may count differently than before."""
        paths = {text.path for text in self.came}
        if self.whole:
            paths.update(row[0] for row in catalog.rows("SELECT DISTINCT path FROM foreign_texts"))
        else:
            paths.update(row[0] for row in catalog.rows_in("SELECT path FROM foreign_texts WHERE by_commit IN ({})", self.lost))
        # The row of a deleted note has an id instead of a path.
        return {path for path in paths if "/" in path}


ADD = "INSERT OR REPLACE INTO foreign_texts VALUES (?,?,?,?,?)"
_TEXTS = "SELECT path, text, author, at, by_commit FROM foreign_texts WHERE"


def known_texts(catalog: Catalog, path: str) -> list[Foreign]:
    """The known texts of other people at one path."""
    return [Foreign(*row) for row in catalog.rows(f"{_TEXTS} path = ?", (path,))]


def row_of(text: Foreign) -> tuple[Any, ...]:
    """A text as a row of `foreign_texts`."""
    return text.path, text.text, text.author, text.at, text.commit


def pin_of(blob: str) -> str:
    """The key of the mark that says who pinned an owner's text; `blob` is the text now."""
    return f"{_MARK}pin:{blob}"


def put_to(blob: str, field: str, item: str, taken: bool) -> str:
    """The key of the mark that says who added an item to a list of an owner's note, or removed it; `blob` is the note now."""
    return f"{_PUT}{blob}:{orjson.dumps([field, item, taken]).decode()}"


def put_by(texts: Iterable[Foreign], blob: str) -> list[Put]:
    """The items that other people added to an owner's note or removed from it, by the marks at its path; `blob` is the note."""
    start = f"{_PUT}{blob}:"
    rows = ((orjson.loads(row.text[len(start) :]), row.author) for row in texts if row.text.startswith(start))
    return [Put(field, item, author, taken) for (field, item, taken), author in rows]


def hid_by(texts: Iterable[str], blob: str) -> tuple[str, ...] | None:
    """The owner's values of a note's end and user, if another person's text, now `blob`, has changed them."""
    start = f"{_HID}{blob}:"
    encoded = next((text[len(start) :] for text in texts if text.startswith(start)), None)
    if encoded is None:
        return None
    values = tuple(map(str, orjson.loads(encoded)))
    # A mark from before a field was introduced has no value for it.
    return (*values, *("",) * (len(evidence_text.HIDING) - len(values)))


class TakenAway(Struct):
    """An owner's note that another person's commit deleted: its id, its blob, the author, the time and the commit.

    The path is not kept, because it has words of the title, which may be forgotten later.
    """

    id: str
    blob: str
    author: str
    at: int
    commit: str


def taken_away(catalog: Catalog) -> list[TakenAway]:
    """The owner's notes that other people's commits deleted, in the order of their ids; some may have come back since."""
    rows = catalog.rows(f"{_TEXTS} text GLOB ? ORDER BY path", (f"{GONE}*",))
    return [TakenAway(path, text.removeprefix(GONE), author, at, commit) for path, text, author, at, commit in rows]


def tips(repo: git.Repo, head: str) -> list[str]:
    """The commits from which the files of the work tree may come: HEAD, and the other side of an open merge."""
    return [commit for commit in (head, *git.merging(repo)) if commit]


def whole(repo: git.Repo | None, head: str, owners: TrustedAuthors) -> HistoryDelta:
    """All of the history; raises `GitError`."""
    if repo is None:
        return HistoryDelta()
    ends = _known_tips(repo, head)
    facts = {HISTORY: " ".join(ends), OWNERS: owners.fact(), MACHINE: _machine(repo)}
    if not ends:
        return HistoryDelta(whole=True, facts=facts)
    # The trees of the commits are compared only if one is another person's, because that takes most of the time.
    if not owners.signed and all(map(owners.wrote, git.brought(repo, ends, (), (), signed=False))):
        return HistoryDelta(whole=True, facts=facts)
    fold = _Fold(owners, None, frozenset())
    delta = fold.taken(repo, git.brought(repo, ends, (), FOLDERS, owners.signed))
    return HistoryDelta(delta, whole=True, graves=fold.graves(repo, ends), facts=facts)


def since(repo: git.Repo, catalog: Catalog, head: str, owners: Callable[[], TrustedAuthors]) -> HistoryDelta:
    """The part of the history that the catalogue has not taken in, by a walk over that part alone; raises `GitError`."""
    ends, known, stored_owners = _known_tips(repo, head), catalog.meta(HISTORY).split(), catalog.meta(OWNERS)
    facts = {HISTORY: " ".join(ends), MACHINE: _machine(repo)}
    if facts[MACHINE] == catalog.meta(MACHINE) and _all_ours(repo, catalog, known, ends, stored_owners):
        return HistoryDelta(facts=facts)
    who = owners()
    if not ends or not known or stored_owners != who.fact():
        return whole(repo, head, who)
    if known == ends:
        return HistoryDelta(lost=frozenset([DOUBT]), facts=facts)
    try:
        lost = frozenset([DOUBT]).union(*(git.unreachable(repo, old, ends) for old in known))
        commits = git.brought(repo, ends, known, FOLDERS, who.signed)
    except GitError:
        # Commits were pruned since, and their contents are unknown.
        return whole(repo, head, who)
    fold = _Fold(who, catalog, lost)
    delta = fold.taken(repo, commits)
    return HistoryDelta(delta, lost, graves=fold.graves(repo, ends), facts=facts)


def doubted(repo: git.Repo, catalog: Catalog | None, head: str, paths: Collection[str], now: datetime) -> HistoryDelta:
    """Marks of doubt for texts in these files that git cannot attribute now: each committed text that is not known yet."""
    paths = [path for path in paths if not is_around(path)]
    blobs = work_tree_blobs(repo, paths)
    committed: list[dict[str, str]] | None = None
    with suppress(GitError):
        committed = [git.committed_blobs(repo, tip, paths) for tip in _known_tips(repo, head)]
    unknown = []
    for path in paths:
        blob = blobs.get(path, "")
        journal = file_kind(path) is FileKind.SIGNALS
        if not journal and file_kind(path) is not FileKind.NOTE:
            continue
        if committed is not None and not any(
            path in blobs and (journal or not blob or blobs[path] == blob) for blobs in committed
        ):
            continue  # an uncommitted edit of a person, or an uncommitted line of our own
        texts = _lines_of(repo, path) if journal else [blob]
        unknown += [Foreign(path, text, _NOBODY, int(now.timestamp()), DOUBT) for text in texts]
    known = "SELECT 1 FROM foreign_texts WHERE path = ? AND text = ?"
    return HistoryDelta(tuple(text for text in unknown if catalog is None or not catalog.rows(known, (text.path, text.text))))


def changed_since(repo: git.Repo, catalog: Catalog, head: str) -> frozenset[str]:
    """The files that differ between the history taken in and HEAD, as far as git can say."""
    changed: set[str] = set()
    with suppress(GitError, NotFound):
        for old in catalog.meta(HISTORY).split():
            changed.update(git.changed_between(repo, old, head))
    return frozenset(changed)


def _known_tips(repo: git.Repo, head: str) -> list[str]:
    """The result of `tips`; raises the `GitError` if git failed to give HEAD."""
    if not head:
        git.head(repo)
    return tips(repo, head)


def _lines_of(repo: git.Repo, path: str) -> list[str]:
    with suppress(OSError, Refused):
        return [digest(signal) for signal in read_signals(path, reader.read(repo.root, path))[0]]
    return []


def others_text(texts: Mapping[str, Foreign], blob: str) -> Foreign | None:
    """The row of a file's text among other people's texts at its path; None for the owner's text.

    If git cannot give the file's blob, the text counts as written by the last person who brought a text there.
    """
    if not texts:
        return None
    if blob:
        return texts.get(blob) or texts.get("")
    return max((text for text in texts.values() if not text.text.startswith(_MARK)), key=lambda text: text.at, default=None)


def brought_to(catalog: Catalog, files: str) -> list[tuple[str, str]]:
    """The files of a path pattern that other people's commits wrote, each with the author, earliest first."""
    return [
        (row[0], row[1]) for row in catalog.rows("SELECT path, author FROM foreign_texts WHERE path GLOB ? ORDER BY at", (files,))
    ]


def owners_texts(repo: git.Repo, catalog: Catalog, owners: TrustedAuthors, paths: Collection[str]) -> dict[str, list[bytes]]:
    """The texts that the owner's commits wrote to each path, newest first; raises `GitError`."""
    ends = tips(repo, catalog.meta("head"))
    if not ends or not paths:
        return {}
    known = catalog.meta(HISTORY).split() == ends
    texts_of_path: dict[str, dict[str, bool]] = {path: {} for path in paths}
    rows = {path: dict(catalog.rows("SELECT text, by_commit FROM foreign_texts WHERE path = ?", (path,))) for path in paths}
    for commit in git.brought(repo, ends, (), [*paths], owners.signed):
        own = owners.wrote(commit)
        for file in commit.files:
            texts, brought_by = texts_of_path[file.path], rows[file.path]
            # An owner's text stays the owner's if another person restores it; an owner's copy of another's text stays theirs.
            copied = brought_by.get(file.blob) == commit.commit or texts.get(file.blob) is False
            if (known and file.blob not in brought_by) or (own and not copied):
                texts.pop(file.blob, None)
                texts[file.blob] = True
            else:
                texts.setdefault(file.blob, False)
    contents = git.blobs(repo, (blob for texts in texts_of_path.values() for blob, ours in texts.items() if ours))
    return {path: [contents[blob] for blob in reversed(texts) if blob in contents] for path, texts in texts_of_path.items()}


def _machine(repo: git.Repo) -> str:
    """A stamp that changes with the file of this machine's settings, which may name the owners."""
    with suppress(OSError):
        info = (place(repo.root) / CONFIG_FILE).stat()
        return f"{info.st_size}.{info.st_mtime_ns}.{info.st_ino}"
    return ""


def _all_ours(repo: git.Repo, catalog: Catalog, known: Sequence[str], ends: Sequence[str], recorded: str) -> bool:
    """Whether HEAD moved by commits of this tool alone, as its own log has it: the usual case, which costs no process.

    Where others' texts are known a commit of ours may bring one to another path, so there it is not asked.
    """
    *lines, signed = recorded.split("\n")
    addresses = [line for line in lines if not line.startswith(TRUSTS)]
    if not recorded or signed or len(known) != 1 or len(ends) != 1 or catalog.rows("SELECT 1 FROM foreign_texts LIMIT 1"):
        return False
    return known == list(ends) or git.moved_by_us(repo, known[0], ends[0], addresses)


class _Fold:
    """The texts of other people, gathered while commits are read, each after its parents."""

    def __init__(self, owners: TrustedAuthors, catalog: Catalog | None, lost: frozenset[str]) -> None:
        self._owners = owners
        self._catalog = catalog
        self._lost = lost
        self._found: defaultdict[str, dict[str, Foreign]] = defaultdict(dict)
        self._by_text: dict[str, Foreign] = {}
        self._journals: list[tuple[Foreign, tuple[str, ...]]] = []
        self._has_graves = bool(lost - {DOUBT})
        self._evidence: dict[str, Evidence] = {}
        self._removed: dict[str, tuple[tuple[str, str], ...]] = {}
        self._put_to: dict[tuple[str, str], list[Put]] = {}

    def graves(self, repo: git.Repo, ends: Sequence[str]) -> tuple[ForeignGrave, ...] | None:
        """All tombstones of other people, once the commits were read; None if the known ones have not changed."""
        if not self._has_graves:
            return None

        def whose(path: str, blob: str) -> str:
            theirs = self._at(path, blob)
            return theirs.author if theirs is not None and self._at(path, graves.OWNED) is None else ""

        return grave_history.foreign_graves(repo, ends, self._owners.signed, self._owners.wrote, self._owners.origin_of, whose)

    def taken(self, repo: git.Repo, commits: Iterable[Brought]) -> tuple[Foreign, ...]:
        """The texts that these commits add to the known ones."""
        commits = list(commits)
        self._read_evidence(repo, commits)
        for commit in commits:
            own = self._owners.wrote(commit)
            self._has_graves = self._has_graves or any(graves.is_grave(file.path) for file in commit.files)
            if own and self._catalog is None and not self._found:
                continue  # no text of another person is known that this commit could have moved or copied
            author = "" if own else self._owners.origin_of(commit)
            if not own:
                self._take_away(commit, author)
            for file in commit.files:
                if graves.is_grave(file.path):
                    continue  # all empty files have one blob: the author of a tombstone is found by its path and history
                self._take(Foreign(file.path, file.blob, author, commit.at, commit.commit), file, own, commit.op)
        self._lines(repo)
        return tuple(text for texts in self._found.values() for text in texts.values())

    def _take(self, new: Foreign, file: Introduced, own: bool, op: str) -> None:
        """Add a text by the rule: a moved text keeps its author, and so does one that says the same as before.

        Any other text of another person is theirs. An owner's copy keeps its author, and so does a change that the tool made.
        """
        journal = file_kind(file.path) is FileKind.SIGNALS
        if file.was:
            if journal:
                self._move_journal(file, new)
            elif before := self._at(file.was, file.blob):
                self._add(replace(new, author=before.author, at=before.at))
                if self._at(file.was, graves.OWNED):
                    self._add(replace(new, text=graves.OWNED))
                self._hide(new, [(file.was, file.blob)])
            else:
                self._put(new, [(file.was, file.blob)], "")
        elif own or file.blob in file.before:
            before = None if self._at(file.path, file.blob) else self._kept(file, op, new.commit) or self._anywhere(file.blob)
            if before is not None:
                self._add(replace(new, author=before.author, at=before.at))
                self._hide(new, self._made_of(file, new.commit))
            elif file.blob not in file.before and (op not in PERSONS or len(file.before) > 1):
                # No person read a text that the tool changed or a merge made: items that others added stay theirs.
                self._put(new, [*self._made_of(file, new.commit)], "")
        elif journal:
            self._add(new)
            self._journals.append((new, file.before))
        elif (same := self._says_the_same(file, new.commit)) is None:
            self._add(new)
            if self._is_over_the_owners(file, new.commit):
                self._add(replace(new, text=graves.OWNED))
                self._hide(new, self._made_of(file, new.commit))
        elif (theirs := self._at(*same)) is not None:
            self._add(replace(new, author=theirs.author, at=theirs.at))
        else:
            if self._evidence[file.blob].pinned and not self._evidence[same[1]].pinned:
                self._add(replace(new, text=pin_of(file.blob)))
            self._put(new, [same], new.author)

    def _take_away(self, commit: Brought, author: str) -> None:
        """Add marks for the owner's notes that another person's commit deleted."""
        stay = {self._evidence[file.blob].id for file in commit.files if file.blob in self._evidence}
        for path, blob in commit.removed:
            evidence = self._evidence.get(blob)
            ours = self._at(path, blob) is None or self._at(path, graves.OWNED) is not None
            if evidence is not None and evidence.id and evidence.id not in stay and ours:
                self._add(Foreign(evidence.id, f"{GONE}{blob}", author, commit.at, commit.commit))

    def _hide(self, new: Foreign, made_of: Iterable[tuple[str, str]]) -> None:
        """Keep the owner's values of a note's end and user, so that another person's text cannot hide the owner's note."""
        now = self._evidence.get(new.text)
        for path, blob in made_of:
            before = hid_by([text.text for text in self._of_path(path)], blob)
            if before is None and blob in self._evidence and (self._at(path, blob) is None):
                before = self._evidence[blob].hiding
            if before is not None and (now is None or now.hiding != before):
                self._add(replace(new, text=f"{_HID}{new.text}:{orjson.dumps(before).decode()}"))
                return

    def _put(self, new: Foreign, made_of: Sequence[tuple[str, str]], author: str) -> None:
        """Add marks for items in the lists of an owner's note: earlier ones that still stand, and the changes of `author`."""
        now, known = self._evidence.get(new.text), [self._puts(path, blob) for path, blob in made_of]
        if now is None:
            # The note was moved without a change, so its marks move along.
            for put in (
                {change for changes in known for change in changes} if len(made_of) == 1 and made_of[0][1] == new.text else ()
            ):
                self._add(replace(new, author=put.by, text=put_to(new.text, put.field, put.item, put.taken)))
            return
        before = self._evidence.get(made_of[0][1]) if author and made_of else None
        by = {(put.field, put.item, put.taken): put.by for changes_of_path in known for put in changes_of_path}
        for name, items, were in zip(
            evidence_text.LISTS, now.lists, before.lists if before is not None else now.lists, strict=True
        ):
            own = {item for item in were if (name, item, False) not in by} | {
                item for field, item, gone in by if field == name and gone
            }
            changes = [(item, False) for item in items if item not in own and ((name, item, False) in by or item not in were)]
            changes += [(item, True) for item in own if item not in items]
            for item, taken in changes:
                if whose := by.get((name, item, taken)) or author:
                    self._add(replace(new, author=whose, text=put_to(new.text, name, item, taken)))

    def _puts(self, path: str, blob: str) -> list[Put]:
        """The items that other people added to the owner's note at a path, or removed from it."""
        if (path, blob) not in self._put_to:
            rows = known_texts(self._catalog, path) if self._catalog is not None else ()
            self._put_to[path, blob] = put_by((row for row in rows if row.commit not in self._lost), blob)
        return self._put_to[path, blob]

    def _is_over_the_owners(self, file: Introduced, commit: str) -> bool:
        """Whether another person's text replaces a text of the owner, or one that itself had replaced a text of the owner."""
        made_of = self._made_of(file, commit)
        return any(self._at(path, blob) is None or self._at(path, graves.OWNED) is not None for path, blob in made_of)

    def _kept(self, file: Introduced, op: str, commit: str) -> Foreign | None:
        """The text of another person whose author stays the same after the owner's commit; None if it is the owner's now."""
        now = self._evidence.get(file.blob)
        for path, blob in self._made_of(file, commit):
            theirs, before = self._at(path, blob), self._evidence.get(blob)
            if theirs is None:
                continue
            if op not in PERSONS or (now is not None and before is not None and now.same_as(before, own=True)):
                return theirs
        return None

    def _made_of(self, file: Introduced, commit: str) -> Iterator[tuple[str, str]]:
        """The paths and blobs that a text was made from: those at its path before, or the removed note with the same id."""
        if before := [blob for blob in file.before if blob.strip("0")]:
            yield from ((file.path, blob) for blob in before)
        elif (now := self._evidence.get(file.blob)) is not None and now.id:
            for path, blob in self._removed.get(commit, ()):
                if blob in self._evidence and self._evidence[blob].id == now.id:
                    yield path, blob

    def _says_the_same(self, file: Introduced, commit: str) -> tuple[str, str] | None:
        """The path and blob that another person's text was made from without adding a word; None if it adds words."""
        now = self._evidence.get(file.blob)
        if now is None:
            return None
        sources = ((path, blob) for path, blob in self._made_of(file, commit) if blob in self._evidence)
        return next((known for known in sources if now.same_as(self._evidence[known[1]], own=False)), None)

    def _read_evidence(self, repo: git.Repo, commits: Sequence[Brought]) -> None:
        """Read the texts before and after changes that decide authorship.

        They are notes that other people changed or moved, and notes that the owner changed after others.
        """
        to_read: dict[str, str] = {}
        theirs: set[str] = set()

        def known(path: str) -> bool:
            return path in theirs or (self._catalog is not None and bool(known_texts(self._catalog, path)))

        for commit in commits:
            own = self._owners.wrote(commit)
            removed = [
                removal for removal in commit.removed if file_kind(removal[0]) is FileKind.NOTE and (not own or known(removal[0]))
            ]
            for file in commit.files:
                if file.was in theirs or (file.was and not own):
                    theirs.add(file.path)
                if file.was or file_kind(file.path) is not FileKind.NOTE:
                    continue
                before = [blob for blob in file.before if blob.strip("0")]
                if (before or removed) and (not own or removed or known(file.path)):
                    to_read |= dict.fromkeys((file.blob, *before), file.path)
                if not own or removed:
                    theirs.add(file.path)
            if removed and commit.files:
                self._removed[commit.commit] = tuple(removed)
            if removed and (commit.files or not own):
                to_read |= {blob: path for path, blob in removed}
        names = list(to_read)
        for start in range(0, len(names), _READ_AT_ONCE):
            texts = git.blobs(repo, names[start : start + _READ_AT_ONCE])
            self._evidence |= {name: evidence_text.evidence_of(to_read[name], data) for name, data in texts.items()}

    def _move_journal(self, file: Introduced, new: Foreign) -> None:
        self._journals += [(replace(row, path=file.path), old) for row, old in self._journals if row.path == file.was]
        for known in self._of_path(file.was):
            self._add(replace(known, path=file.path, commit=new.commit))

    def _add(self, text: Foreign) -> None:
        if text.text.startswith(_PUT):
            blob = text.text[len(_PUT) :].partition(":")[0]
            self._puts(text.path, blob).extend(put_by([text], blob))
        self._found[text.path].setdefault(text.text, text)
        self._by_text.setdefault(text.text, text)

    def _at(self, path: str, text: str) -> Foreign | None:
        return self._found.get(path, {}).get(text) or self._known("path = ? AND text = ?", path, text)

    def _anywhere(self, text: str) -> Foreign | None:
        return self._by_text.get(text) or self._known("text = ?", text)

    def _known(self, where: str, *values: str) -> Foreign | None:
        rows = self._catalog.rows(f"{_TEXTS} {where} ORDER BY path", values) if self._catalog is not None else ()
        return next((Foreign(*row) for row in rows if row[4] not in self._lost), None)

    def _of_path(self, path: str) -> list[Foreign]:
        known = known_texts(self._catalog, path) if self._catalog is not None else []
        return [*self._found.get(path, {}).values(), *known]

    def _lines(self, repo: git.Repo) -> None:
        """Add the lines of journals from other people. A run of commits by one author on a file adds the lines that are new at
        its end."""
        runs: dict[tuple[str, str], tuple[Foreign, tuple[str, ...]]] = {}
        for text, before in self._journals:
            begun = runs.pop((text.path, before[0]), None) if len(before) == 1 else None
            runs[text.path, text.text] = (text, begun[1] if begun and begun[0].author == text.author else before)
            if begun and begun[0].author != text.author:
                runs[text.path, begun[0].text] = begun
        texts = git.blobs(repo, (name for text, before in runs.values() for name in (text.text, *before)))
        for text, before in runs.values():
            had = {digest(signal) for name in before for signal in read_signals(text.path, texts.get(name, b""))[0]}
            for signal in read_signals(text.path, texts.get(text.text, b""))[0]:
                if (line := digest(signal)) not in had:
                    self._add(replace(text, text=line))


def digest(signal: Signal) -> str:
    """A digest of a journal line that does not depend on its spacing."""
    return "line:" + hashlib.blake2b(orjson.dumps(signal, default=asdict), digest_size=16).hexdigest()


def work_tree_blobs(repo: git.Repo | None, paths: Collection[str]) -> dict[str, str]:
    notes = [path for path in paths if file_kind(path) is FileKind.NOTE and not is_around(path)]
    if repo is None or not notes:
        return {}
    try:
        return git.work_tree_blobs(repo, notes)
    except GitError:
        return {}
