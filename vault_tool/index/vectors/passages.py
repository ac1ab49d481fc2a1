"""Which notes are embedded and what of each, read off the files, and keeping what a set knows of them up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from vault_tool.config import Config
from vault_tool.files import git, reader
from vault_tool.files.reader import Reader
from vault_tool.index.catalog import UNREADABLE, Catalog
from vault_tool.index.embedding.chunking import passages
from vault_tool.index.refresh.diff import head_now
from vault_tool.index.refresh.reading import Seen, Vanished, see, with_head
from vault_tool.index.schema import linked_as
from vault_tool.index.vault_index import Index
from vault_tool.index.vectors.rows import KEY_BYTES, LATER
from vault_tool.index.vectors.vector_ledger import Note, VectorLedger
from vault_tool.index.vectors.vector_set import VectorSet
from vault_tool.model.types import RecordClass, Registry
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

_FORM = "3"
_SPECIMEN = "A sentence, then another; a third? Yes!\n\n- a line with `code` and Größe\n" * 200

# What is searched by meaning beside pages: an edge says what its ends say, and a pass is a ledger.
EMBEDDED = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT)

_CLASSES = ",".join(f"'{each.value}'" for each in EMBEDDED)
_ENTRIES = f"SELECT path, hash FROM entries WHERE class IN ({_CLASSES})"
# The plus keeps SQLite from the index by class, which would read every entry.
_SINCE = f"SELECT path, hash FROM entries WHERE n > ? AND +class IN ({_CLASSES})"
_PAGES = "SELECT p.path, f.hash FROM pages p JOIN files f ON f.path = p.path"
_LAST = "SELECT n, path, hash FROM entries ORDER BY n DESC LIMIT 1"
_READ_AT_ONCE = 500
# Changed notes that a question looks at itself before it answers; more are left to who embeds, and counted as missing.
FEW = 200


class Notes(Struct):
    """The notes of one vault, read when they are asked for; `now` gives seconds since the epoch."""

    root: Path
    index: Callable[[], Index]
    settings: Config
    repo: git.Repo | None
    now: Callable[[], float]

    def count(self) -> int:
        """How many notes are to be embedded."""
        return count_embeddable(self.index().catalog)

    def state(self) -> str:
        """A value that changes when the catalogue does."""
        catalog = self.index().catalog
        return f"{catalog.meta('nonce')} {catalog.seq()}"

    def unread(self, vectors: VectorSet) -> int:
        """How many notes a set does not know as they are now."""
        return len(PendingTexts(self.index().catalog, vectors.ledger()).to_read)

    def texts(self, paths: Sequence[str], window: int) -> Iterator[Mapping[bytes, str]]:
        """The texts of some notes by their keys, a note at a time and in this order."""
        for start in range(0, len(paths), _READ_AT_ONCE):
            batch = paths[start : start + _READ_AT_ONCE]
            read = {note.path: dict(zip(note.keys, texts, strict=True)) for note, texts in self._read(batch, window)}
            yield from (read[path] for path in batch if path in read)

    def links(self, paths: Sequence[str]) -> Mapping[str, int]:
        """How many records link to each of these notes; those that nothing links to are left out."""
        catalog = self.index().catalog
        named = {path: linked_as(entry) for path, entry in catalog.by_paths(paths).items()}
        counts = catalog.link_counts(set().union(*named.values()))
        counts_of_links = {path: max((counts.get(name, 0) for name in names), default=0) for path, names in named.items()}
        return {path: count for path, count in counts_of_links.items() if count}

    def noted(self, vectors: VectorSet, window: int, limit: int | None) -> int:
        """Bring what the set knows of the notes' texts up to date, at most `limit` notes; how many were left."""
        vectors.examine()
        form = form_of(window)
        if vectors.ledger().meta("form") != form:
            with vectors.writing() as ledger, ledger.transaction():
                ledger.drop_all_notes()
                ledger.say(form=form, window=str(window), mark="")
        outlook = PendingTexts(self.index().catalog, vectors.ledger())
        todo = outlook.to_read if limit is None else outlook.to_read[:limit]
        for start in range(0, len(todo), _READ_AT_ONCE):
            notes = [note for note, _ in self._read(todo[start : start + _READ_AT_ONCE], window)]
            with vectors.writing() as ledger, ledger.transaction():
                ledger.put_notes(notes, self.now())
        left = len(outlook.to_read) - len(todo)
        if outlook.to_drop or (not left and vectors.ledger().meta("mark") != outlook.mark):
            with vectors.writing() as ledger, ledger.transaction():
                ledger.drop_notes(outlook.to_drop, self.now())
                if not left:
                    ledger.say(mark=outlook.mark)
        return left

    def _read(self, paths: Sequence[str], window: int) -> Iterator[tuple[Note, tuple[str, ...]]]:
        return read_notes(self.root, self.settings.types, self.repo, paths, window)


class PendingTexts:
    """How what is known of the notes' texts stands to the catalogue: which to read, which to forget, and what to note then."""

    def __init__(self, catalog: Catalog, ledger: VectorLedger) -> None:
        self.mark = _mark(catalog)
        self.to_read: list[str] = []
        self.to_drop: list[str] = []
        if not self._since(catalog, ledger):
            self._compared(catalog, ledger)

    def _since(self, catalog: Catalog, ledger: VectorLedger) -> bool:
        """Entries after the last one that was looked at; false if that does not add up, because some went."""
        nonce, number, *entry = (ledger.meta("mark") or "\n").split("\n")
        if nonce != catalog.meta("nonce") or not number:
            return False
        if [list(row) for row in catalog.rows("SELECT path, hash FROM entries WHERE n = ?", (number,))] != [entry]:
            return False
        now = {**dict(catalog.rows(f"{_SINCE} ORDER BY n DESC", (number,))), **dict(catalog.rows(_PAGES))}
        known = ledger.notes(now)
        if ledger.count_notes() + len(now.keys() - known.keys()) != count_embeddable(catalog):
            return False
        self.to_read = [path for path, content_hash in now.items() if path not in known or known[path].hash != content_hash]
        return True

    def _compared(self, catalog: Catalog, ledger: VectorLedger) -> None:
        now = {**dict(catalog.rows(f"{_ENTRIES} ORDER BY n DESC")), **dict(catalog.rows(_PAGES))}
        known = ledger.hashes()
        self.to_read = [path for path, content_hash in now.items() if known.get(path) != content_hash]
        self.to_drop = sorted(known.keys() - now.keys())


def _mark(catalog: Catalog) -> str:
    last = [str(part) for row in catalog.rows(_LAST) for part in row]
    return "\n".join([catalog.meta("nonce"), *(last or [""])])


@cache
def form_of(window: int) -> str:
    """A stamp of how texts are made of notes: when it changes, every note is looked at again."""
    specimen = passages("A title", _SPECIMEN, "Who", ("One", "Two"), window)
    return f"{_FORM} {window} {_key_of(chr(10).join(specimen), first=True).hex()}"


def count_embeddable(catalog: Catalog) -> int:
    """How many notes are to be embedded."""
    entries = catalog.rows(f"SELECT count(*) FROM entries WHERE class IN ({_CLASSES})")[0][0]
    return int(entries + catalog.rows("SELECT count(*) FROM pages")[0][0])


def read_notes(
    root: Path, registry: Registry, repo: git.Repo | None, paths: Sequence[str], window: int
) -> Iterator[tuple[Note, tuple[str, ...]]]:
    """Each note that is there with its texts; `window` is how many characters one text may have."""
    files: list[Seen] = []
    with Reader(root) as notes:
        for path, stat in reader.present(root, paths).items():
            try:
                seen = see(notes, path, stat, registry)
            except Vanished:
                continue
            if seen is not None:
                files.append(seen)
    commit = head_now(repo) if any(seen.kind == UNREADABLE for seen in files) else ""
    for seen in with_head(files, repo, commit, registry):
        texts = _texts(seen, window)
        if texts:
            yield _note(seen, keys_of(texts)), texts


def keys_of(texts: Sequence[str]) -> tuple[bytes, ...]:
    """The keys of the vectors of a note's texts; see `rows.KEY_BYTES`."""
    return tuple(_key_of(text, first=n == 0) for n, text in enumerate(texts))


def _key_of(text: str, *, first: bool) -> bytes:
    # Two digests, not one with another bit: rows are looked up by a key's first half.
    person = b"first" if first else b"later"
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=KEY_BYTES, person=person).digest()
    last = digest[-1] & ~LATER if first else digest[-1] | LATER
    return digest[:-1] + bytes([last])


def _texts(seen: Seen, window: int) -> tuple[str, ...]:
    if seen.text is None or (seen.entry is not None and seen.entry.record_class not in EMBEDDED):
        return ()
    entry = seen.entry
    who, subjects = (entry.text("user"), entry.subjects) if entry is not None else ("", ())
    return passages(seen.text.title, seen.text.body, who, subjects, window)


def _note(seen: Seen, keys: tuple[bytes, ...]) -> Note:
    entry = seen.entry
    if entry is None:
        return Note(seen.path, "", seen.hash, keys, "page")
    at = parse_time(entry.observed)
    named = [entry.text("name"), *entry.texts("aliases")] if entry.record_class is RecordClass.SUBJECT else entry.subjects
    subjects = tuple(dict.fromkeys(filter(None, map(normal_name, named))))
    return Note(
        seen.path,
        entry.id,
        entry.hash,
        keys,
        entry.record_class.value,
        entry.type,
        entry.text("project"),
        stamp(at) if at else "",
        subjects,
    )
