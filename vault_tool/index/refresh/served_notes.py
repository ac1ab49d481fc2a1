"""The ids of notes in the folder around the vault: each has one by its path, and keeps it where the note is moved.

A note with marks or links on it is written down (`_local/served.json`), with where it is and what it holds: once it has
another name nothing else says which note they are on. A note without any needs no more than its path.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from vault_tool.errors import VaultError
from vault_tool.files import git, reader
from vault_tool.files.layout import AROUND, is_around
from vault_tool.files.local import LocalFolder
from vault_tool.files.reader import Stat
from vault_tool.importing.notes import own_id
from vault_tool.index.catalog import Catalog, Known
from vault_tool.index.refresh.reading import Seen
from vault_tool.index.schema import relations_of
from vault_tool.model.ids import canonical, derived_id, is_derived
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash

# A note that was moved and edited has more than this share of the lines that it had; and they are no small part of it.
SHARE = 0.8
_PART = 0.5
_FEWEST_LINES = 2
_MOST_LINES = 2000
_MOST_CANDIDATES = 500


class ServedNote(Struct):
    """A note that something refers to: where it is, the hash and size of its bytes, its head's own id, its lines' checksums."""

    path: str
    hash: str = ""
    size: int = 0
    own: str = ""
    lines: tuple[int, ...] = ()


class ServedNotes:
    """Those of one vault, by their ids; `save` keeps what changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._local = LocalFolder(root)
        self._kept = self._local.served_notes()
        self.notes = {identity: note for identity, value in self._kept.items() if (note := _note(identity, value)) is not None}
        self._at = {note.path: identity for identity, note in self.notes.items()}

    def identity(self, path: str) -> str:
        """The id of the note at a path of the folder around."""
        if path in self._at:
            return self._at[path]
        identity, number = derived_id("around", path), 1
        # Its name was another's, which has kept the id.
        while identity in self.notes:
            number += 1
            identity = derived_id("around", f"{path}\n{number}")
        return identity

    def named(self, seen: Iterable[Seen]) -> tuple[Seen, ...]:
        """The files read, each note of the folder around under its id."""
        return tuple(self._named(file) if is_around(file.path) and file.entry is not None else file for file in seen)

    def _named(self, file: Seen) -> Seen:
        entry, identity = file.entry, self.identity(file.path)
        if entry is None or entry.id == identity:
            return file
        return replace(file, entry=replace(entry, id=identity, head={**entry.head, "id": identity}))

    def follow(self, before: Mapping[str, Known], seen: Sequence[Seen], gone: Collection[str]) -> None:
        """Find where notes went: `before` is what was known of the files that were seen, or are gone."""
        here = {file.path: file for file in seen if is_around(file.path) and file.hash}
        if not self.notes or not (here or any(map(is_around, gone))):
            return
        stats = reader.present(self._root, [note.path for note in self.notes.values()])
        was = {path: known.hash for path, known in before.items() if is_around(path) and known.hash}
        departed = {identity: note for identity, note in self.notes.items() if note.path in gone or note.path not in stats}
        # Of two that swapped their names neither is gone: each has now what the other had.
        departed |= {
            identity: note
            for identity, note in self.notes.items()
            if note.path in here
            and (now := here[note.path].hash) != note.hash
            and any(held == now for path, held in was.items() if path != note.path)
        }
        # Nor where another text has taken its name, and its bytes have another.
        stands = {file.hash for file in here.values()}
        departed |= {
            identity: note
            for identity, note in self.notes.items()
            if note.path in here and note.hash in stands and here[note.path].hash != note.hash and not self._goes_on(note)
        }
        self._by_bytes(departed, here, {path: was[path] for path in gone if path in was})
        arrived = {path: file for path, file in here.items() if path not in was and path not in self._places()}
        self._by_text(departed, arrived)

    def settle(self, files: Mapping[str, Stat]) -> None:
        """The same where nothing is known of the files but that they are there: by their bytes alone."""
        lost = {identity: note for identity, note in self.notes.items() if note.path not in files and note.hash}
        sizes = {note.size for note in lost.values()}
        alike = [path for path, stat in files.items() if is_around(path) and stat[0] in sizes and path not in self._places()]
        places_of: dict[str, list[str]] = defaultdict(list)
        for path in alike:
            places_of[content_hash(self._bytes(path))].append(path)
        count_of_hash = Counter(note.hash for note in lost.values())
        for identity, note in lost.items():
            if count_of_hash[note.hash] == len(places_of[note.hash]) == 1:
                self._move(identity, places_of[note.hash][0])

    def learn(self, catalog: Catalog, seen: Sequence[Seen]) -> None:
        """Write down the notes that what was read refers to, and what those now hold that were written down."""
        targets = {signal.target for file in seen for signal in file.signals}
        targets |= {target for file in seen if file.entry is not None for target, _ in relations_of(file.entry)}
        now = {file.entry.id: file.path for file in seen if file.entry is not None and is_around(file.path)}
        for identity in targets - self.notes.keys():
            path = now.get(identity) or next((entry.path for entry in catalog.get(identity) if is_around(entry.path)), "")
            if path:
                self._move(identity, path)
        for identity in now.keys() & self.notes.keys():
            self._move(identity, now[identity])

    def learn_all(self, catalog: Catalog) -> None:
        """Write down every note that anything of a catalogue refers to."""
        query = "SELECT target FROM signals UNION SELECT target FROM relations"
        targets = {row[0] for row in catalog.rows(query)} - self.notes.keys()
        for row in catalog.rows_in("SELECT id, path FROM entries WHERE id IN ({})", targets) if targets else ():
            if is_around(row[1]):
                self._move(row[0], row[1])

    def recall(self, catalog: Catalog) -> bool:
        """Find by the history of the folder around what nothing was written down of, as in a new clone; whether any was found."""
        query = "SELECT target FROM signals UNION SELECT target FROM relations EXCEPT SELECT id FROM entries"
        targets = {row[0] for row in catalog.rows(query)} - self.notes.keys()
        targets = {identity for identity in targets if is_derived(identity)}
        repo = git.find(self._root.parent) if targets else None
        if repo is None:
            return False
        places: dict[str, str] = {}
        for old, new in git.renames(repo):
            for identity, path in places.items():
                if path == old:
                    places[identity] = new
            if (identity := derived_id("around", f"{AROUND}{old}")) in targets:
                places[identity] = new
        identity_at = {f"{AROUND}{path}": identity for identity, path in places.items()}
        # Two that came to stand at one path are not told apart.
        alone = Counter(places.values())
        served = [
            path for path in catalog.by_paths(identity_at) if alone[path.removeprefix(AROUND)] == 1 and path not in self._at
        ]
        for path in served:
            self._move(identity_at[path], path)
        return bool(served)

    def lost(self) -> dict[str, ServedNote]:
        """The notes that are not where they were, and were found nowhere."""
        stats = reader.present(self._root, [note.path for note in self.notes.values()])
        return {identity: note for identity, note in self.notes.items() if note.path not in stats}

    def candidates(self, note: ServedNote, paths: Iterable[str]) -> list[str]:
        """Which of these paths a lost note may be, the likeliest first."""
        shares: list[tuple[float, str]] = []
        for path in paths:
            data = self._bytes(path) if path not in self._places() else b""
            if not data:
                continue
            own = bool(note.own) and own_id(data) == note.own
            share = 1.0 if own or content_hash(data) == note.hash else _share(note.lines, _lines(data))
            if share >= _PART or PurePosixPath(path).name.casefold() == PurePosixPath(note.path).name.casefold():
                shares.append((-share, path))
        return [path for _, path in sorted(shares)]

    def assign(self, identity: str, path: str) -> None:
        """Say which note an id is of; what was called by another id there has none of ours any more."""
        if (other := self._at.get(path, identity)) != identity:
            del self.notes[other]
        self._move(identity, path)

    def save(self, *, strict: bool = False) -> None:
        """Keep what changed; where nothing can be kept it is found out again, and with `strict` that is raised."""
        plain = {identity: _plain(note) for identity, note in sorted(self.notes.items())}
        if plain == self._kept:
            return
        try:
            self._local.keep_served_notes(plain)
            self._kept = plain
        except (VaultError, OSError):
            if strict:
                raise

    def _places(self) -> set[str]:
        return {note.path for note in self.notes.values()}

    def _move(self, identity: str, path: str) -> None:
        data, was = self._bytes(path), self.notes.get(identity)
        if was is not None and self._at.get(was.path) == identity:
            del self._at[was.path]
        self._at[path] = identity
        self.notes[identity] = ServedNote(path, content_hash(data), len(data), own_id(data), _lines(data))

    def _bytes(self, path: str) -> bytes:
        with suppress(OSError):
            return Path(self._root.parent, path.removeprefix(AROUND)).read_bytes()
        return b""

    def _goes_on(self, note: ServedNote) -> bool:
        """Whether what stands at a note's path is still that note, edited."""
        data = self._bytes(note.path)
        return (bool(note.own) and own_id(data) == note.own) or _share(note.lines, _lines(data)) >= _PART

    def _by_bytes(self, departed: dict[str, ServedNote], here: Mapping[str, Seen], gone: Mapping[str, str]) -> None:
        """Those whose bytes stand at one other path; of several with the same bytes those that kept their file's name."""
        arrived: dict[str, list[str]] = defaultdict(list)
        for path, file in here.items():
            arrived[file.hash].append(path)
        left: dict[str, set[str]] = defaultdict(set)
        for note in departed.values():
            left[note.hash].add(note.path)
        for path, held in gone.items():
            left[held].add(path)
        pairs: dict[str, str] = {}
        for identity, note in departed.items():
            places = [path for path in arrived[note.hash] if path != note.path]
            if len(places) == 1 and len(left[note.hash]) == 1:
                pairs[identity] = places[0]
            elif same := [path for path in places if _name(path) == _name(note.path)]:
                rivals = [path for path in left[note.hash] if _name(path) == _name(note.path)]
                if len(same) == len(rivals) == 1:
                    pairs[identity] = same[0]
        self._moved(departed, pairs)

    def _by_text(self, departed: dict[str, ServedNote], arrived: Mapping[str, Seen]) -> None:
        """Those whose head's own id, or nearly all of whose lines, stand in one note that came, and in no other."""
        if not departed or not 0 < len(arrived) <= _MOST_CANDIDATES:
            return
        texts = {path: self._bytes(path) for path in arrived}
        owns = {path: own_id(data) for path, data in texts.items()}
        lines = {path: _lines(data) for path, data in texts.items()}
        self._moved(departed, _only(departed, owns, lambda note, own: bool(note.own) and note.own == own))
        taken = self._places()
        free = {path: lines_of for path, lines_of in lines.items() if path not in taken}
        self._moved(departed, _only(departed, free, lambda note, lines_of: _share(note.lines, lines_of) > SHARE))

    def _moved(self, departed: dict[str, ServedNote], pairs: Mapping[str, str]) -> None:
        for identity, path in pairs.items():
            self._move(identity, path)
            del departed[identity]


def _only(
    departed: Mapping[str, ServedNote], arrived: Mapping[str, Any], fits: Callable[[ServedNote, Any], bool]
) -> dict[str, str]:  # fmt: skip
    """The pairs in which each side fits the other alone."""
    pairs = [(identity, path) for identity, note in departed.items() for path, value in arrived.items() if fits(note, value)]
    ids, paths = Counter(identity for identity, _ in pairs), Counter(path for _, path in pairs)
    return {identity: path for identity, path in pairs if ids[identity] == paths[path] == 1}


def _lines(data: bytes) -> tuple[int, ...]:
    """The checksums of a text's lines, each once, without those that say nothing."""
    hashes = {zlib.crc32(line) for line in map(bytes.strip, data.splitlines()) if len(line) > 1 and line != b"---"}
    return tuple(sorted(hashes))[:_MOST_LINES]


def _share(lines: Sequence[int], others: Sequence[int]) -> float:
    """How many of a note's lines another has; nothing where they are few, or a small part of the other."""
    common = len(set(lines).intersection(others))
    if len(lines) < _FEWEST_LINES or common < _PART * len(others):
        return 0.0
    return common / len(lines)


def _name(path: str) -> str:
    return PurePosixPath(path).name.casefold()


def _plain(note: ServedNote) -> dict[str, Any]:
    return {**to_builtins(note), "lines": list(note.lines)}


def _note(identity: str, value: object) -> ServedNote | None:
    """A note as the file has it, which anybody may have changed."""
    if canonical(identity) != identity or not isinstance(value, dict) or not isinstance(value.get("path"), str):
        return None
    lines, size = value.get("lines"), value.get("size")
    texts = {name: text for name in ("path", "hash", "own") if isinstance(text := value.get(name), str)}
    if not is_around(texts["path"]):
        return None
    numbers = tuple(number for number in lines if isinstance(number, int)) if isinstance(lines, list) else ()
    return ServedNote(**texts, size=size if isinstance(size, int) else 0, lines=numbers)
