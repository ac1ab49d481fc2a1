"""The ledger of one model's vectors: which texts each note consists of, in which row each text's vector is, what is missing."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from msgspec import to_builtins

from vault_tool.errors import StorageError
from vault_tool.index.database import Database, marks
from vault_tool.index.vectors.hits import Background
from vault_tool.index.vectors.rows import KEY_BYTES, Fingerprint
from vault_tool.util.structs import Struct

_MOST_TOUCHED = 10_000
# Seconds after which a text that was refused is tried again: the first time, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 60.0, 24 * 3600.0
FORMAT = 1
_NOTE = "path, id, hash, keys, class, type, project, at, subjects"

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lanes (lane INTEGER PRIMARY KEY, instruction TEXT NOT NULL UNIQUE, file TEXT NOT NULL, rows INTEGER NOT NULL,
    print BLOB NOT NULL, background BLOB);
CREATE TABLE vectors (lane INTEGER NOT NULL, key BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (lane, key)) WITHOUT ROWID;
CREATE TABLE notes (path TEXT PRIMARY KEY, id TEXT NOT NULL, hash TEXT NOT NULL, keys BLOB NOT NULL, class TEXT NOT NULL,
    type TEXT NOT NULL, project TEXT NOT NULL, at TEXT NOT NULL, subjects TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE owners (key BLOB NOT NULL, path TEXT NOT NULL, passage INTEGER NOT NULL,
    PRIMARY KEY (key, path, passage)) WITHOUT ROWID;
CREATE TABLE wanted (lane INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (lane, key)) WITHOUT ROWID;
CREATE TABLE refused (lane INTEGER NOT NULL, key BLOB NOT NULL, reason TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (lane, key)) WITHOUT ROWID;
CREATE TABLE mirrored (store TEXT NOT NULL, lane INTEGER NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
    passages INTEGER NOT NULL, PRIMARY KEY (store, lane, path)) WITHOUT ROWID;
CREATE TABLE retired (key BLOB PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
"""


class Partition(Struct):
    """The vectors made with one instruction: their file, how many rows of it count, and the file's stat after our last write."""

    number: int
    instruction: str
    file: str
    rows: int
    fingerprint: Fingerprint
    background: Background | None = None


class Note(Struct):
    """The embedded texts of one file: their keys in order, and fields for Chroma's filters."""

    path: str
    id: str
    hash: str
    keys: tuple[bytes, ...]
    record_class: str = ""
    type: str = ""
    project: str = ""
    at: str = ""
    subjects: tuple[str, ...] = ()


class Refusal(Struct):
    """A text of a note that the model gave no usable vector for."""

    path: str
    reason: str
    at: float


class VectorLedger(Database):
    """One open ledger; every write is a transaction of the caller's, under the lock of its set."""

    # A path tells of what a note said: what is erased must not stay in a page that is free.
    pragmas = ("secure_delete = ON",)

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._behind: tuple[tuple[object, ...], dict[tuple[int, ...], int]] = ((), {})
        self._token = object()
        self._touched: list[str] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; counted, so that others see that something changed."""
        with super().transaction():
            yield
            self.many("UPDATE meta SET value = value + 1 WHERE key = 'seq'", [()])

    def say(self, **facts: str) -> None:
        """Keep facts."""
        self.many("INSERT OR REPLACE INTO meta VALUES (?,?)", facts.items())

    def partitions(self) -> dict[str, Partition]:
        """All partitions by instruction."""
        return {
            row[1]: _partition_of(row) for row in self.rows("SELECT lane, instruction, file, rows, print, background FROM lanes")
        }

    def partition(self, instruction: str) -> Partition:
        """The partition of an instruction; StorageError where there is none any more."""
        partition = self.partitions().get(instruction)
        if partition is None:
            raise StorageError("the vectors were taken away meanwhile", "run it again: what is missing is embedded again")
        return partition

    def put_partition(self, partition: Partition) -> None:
        """Add a partition or replace what is known of it."""
        background = orjson.dumps(to_builtins(partition.background)) if partition.background else None
        self.many(
            "INSERT OR REPLACE INTO lanes VALUES (?,?,?,?,?,?)",
            [
                (
                    partition.number,
                    partition.instruction,
                    partition.file,
                    partition.rows,
                    orjson.dumps(partition.fingerprint),
                    background,
                )
            ],
        )

    def put_vectors(self, partition: int, first: int, keys: Sequence[bytes]) -> None:
        """Say that the vectors of these texts are in the rows from `first` on."""
        self.many("INSERT OR REPLACE INTO vectors VALUES (?,?,?)", ((partition, key, first + n) for n, key in enumerate(keys)))
        self.many("DELETE FROM wanted WHERE lane = ? AND key = ?", ((partition, key) for key in keys))
        self.many("DELETE FROM refused WHERE lane = ? AND key = ?", ((partition, key) for key in keys))

    def clear_partition(self, partition: int) -> None:
        """Forget every row of a partition; its texts are wanted until rows are put back."""
        self.many("DELETE FROM vectors WHERE lane = ?", [(partition,)])
        self.want_all(partition)

    def want_all(self, partition: int) -> None:
        """Want every text of a note that this partition has no vector of (those refused aside)."""
        self.many(
            "INSERT OR IGNORE INTO wanted SELECT DISTINCT ?1, o.key FROM owners o WHERE"
            " NOT EXISTS (SELECT 1 FROM vectors v WHERE v.lane = ?1 AND v.key = o.key)"
            " AND NOT EXISTS (SELECT 1 FROM refused r WHERE r.lane = ?1 AND r.key = o.key)",
            [(partition,)],
        )

    def refuse(self, partition: int, reasons: Mapping[bytes, str], at: float) -> None:
        """Keep that these texts got no vector, and do not want them for a while: a minute, then as `retry_refused` says."""
        query = "SELECT key FROM refused WHERE lane = ? AND key IN ({})"
        if reasons.keys() - {row[0] for row in self.rows_in(query, reasons, partition)}:
            self.say(doubted="1", pause=str(_FIRST_PAUSE), again=str(at + _FIRST_PAUSE))
        self.many("INSERT OR REPLACE INTO refused VALUES (?,?,?,?)", ((partition, key, why, at) for key, why in reasons.items()))
        self.many("DELETE FROM wanted WHERE lane = ? AND key = ?", ((partition, key) for key in reasons))

    @property
    def doubted(self) -> bool:
        """Whether texts were refused that were not tried again since: it may have been the model's fault and not theirs."""
        return self.meta("doubted") == "1"

    def retry_refused(self, now: float, *, at_once: bool = False) -> None:
        """Want again what was refused, if the pause is over or `at_once`; the next pause is twice as long, at most a day."""
        pause = float(self.meta("pause") or _FIRST_PAUSE)
        again = float(self.meta("again") or 0)
        # A moment further off than any pause is that of a clock which was wrong.
        if not at_once and now < again <= now + _LONGEST_PAUSE:
            return
        pause = min(2 * pause, _LONGEST_PAUSE)
        self.say(doubted="", pause=str(pause), again=str(now + pause))
        self.many("INSERT OR IGNORE INTO wanted SELECT lane, key FROM refused WHERE key IN (SELECT key FROM owners)", [()])

    def refusals(self) -> list[Refusal]:
        """The refused texts and the reasons, by path."""
        query = "SELECT DISTINCT o.path, r.reason, r.at FROM refused r JOIN owners o ON o.key = r.key ORDER BY 1, 2"
        return [Refusal(*row) for row in self.rows(query)]

    def put_notes(self, notes: Iterable[Note], at: float) -> None:
        """Add notes or replace what is known of them; texts that no note has any more are retired at this moment."""
        listed = list(notes)
        self.drop_notes([note.path for note in listed], at)
        self.many(f"INSERT INTO notes ({_NOTE}) VALUES (?,?,?,?,?,?,?,?,?)", map(_note_row, listed))
        self.say(notes=str(self.count_notes() + len({note.path for note in listed})))
        owned = [(key, note.path, n) for note in listed for n, key in enumerate(note.keys)]
        self.many("INSERT OR IGNORE INTO owners VALUES (?,?,?)", owned)
        self.many("DELETE FROM retired WHERE key = ?", ((key,) for key, _, _ in owned))
        for (partition,) in self.rows("SELECT lane FROM lanes"):
            self.many(
                "INSERT OR IGNORE INTO wanted SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE lane = ?1 AND key = ?2)"
                " AND NOT EXISTS (SELECT 1 FROM refused WHERE lane = ?1 AND key = ?2)",
                ((partition, key) for key, _, _ in owned),
            )

    def drop_notes(self, paths: Collection[str], at: float) -> None:
        """Forget notes; texts that no note has any more are retired at this moment."""
        self._touch(paths)
        parts = self.note_keys(paths)
        keys = {key for keys_of_part in parts.values() for key in keys_of_part}
        self.many("DELETE FROM owners WHERE key = ? AND path = ?", ((key, path) for path in parts for key in parts[path]))
        self.say(notes=str(self.count_notes() - len(parts)))
        self.many("DELETE FROM notes WHERE path = ?", ((path,) for path in paths))
        gone = keys - {row[0] for row in self.rows_in("SELECT key FROM owners WHERE key IN ({})", keys)}
        self.many("DELETE FROM wanted WHERE key = ?", ((key,) for key in gone))
        self.many("INSERT OR REPLACE INTO retired VALUES (?,?)", ((key, at) for key in gone))

    def doubt(self, paths: Iterable[str]) -> None:
        """Have notes looked at again: their files say something else than is known."""
        self.many("UPDATE notes SET hash = '' WHERE path = ?", ((path,) for path in paths))
        self.say(mark="")

    def notes(self, paths: Collection[str]) -> dict[str, Note]:
        """The ledger's rows of some notes."""
        return {row[0]: _note_of(row) for row in self.rows_in(f"SELECT {_NOTE} FROM notes WHERE path IN ({{}})", paths)}

    def note_keys(self, paths: Collection[str]) -> dict[str, tuple[bytes, ...]]:
        """The texts of some notes, by path."""
        return {path: _parts(joined) for path, joined in self.joined_keys(paths).items()}

    def joined_keys(self, paths: Collection[str] | None = None) -> dict[str, bytes]:
        """The same, or that of all notes, the keys of a note one after the other."""
        if paths is None:
            return dict(self.rows("SELECT path, keys FROM notes"))
        return dict(self.rows_in("SELECT path, keys FROM notes WHERE path IN ({})", paths))

    def every_note(self) -> Iterator[Note]:
        """All notes in the order of their paths."""
        return map(_note_of, self.rows(f"SELECT {_NOTE} FROM notes ORDER BY path"))

    def hashes(self) -> dict[str, str]:
        """The content hash under which each note is known, by path."""
        return dict(self.rows("SELECT path, hash FROM notes"))

    def count_notes(self) -> int:
        """How many notes are known."""
        return int(self.meta("notes") or 0)

    def owners(self, keys: Collection[bytes]) -> dict[bytes, list[tuple[str, int]]]:
        """The notes that have these texts, each with which of its passages it is."""
        owners: dict[bytes, list[tuple[str, int]]] = defaultdict(list)
        for key, path, passage in self.rows_in("SELECT key, path, passage FROM owners WHERE key IN ({})", keys):
            owners[key].append((path, passage))
        return owners

    def row_numbers(self, partition: int, keys: Collection[bytes]) -> dict[bytes, int]:
        """In which rows of a partition the vectors of texts are, as far as they are there."""
        return dict(self.rows_in("SELECT key, row FROM vectors WHERE lane = ? AND key IN ({})", keys, partition))

    def file_of(self, partition: int) -> str:
        """The file that the rows of a partition are in."""
        return "".join(row[0] for row in self.rows("SELECT file FROM lanes WHERE lane = ?", (partition,)))

    def every_row(self, partition: int) -> list[tuple[bytes, int]]:
        """All texts of a partition with their rows, in the order of the rows."""
        return self.rows("SELECT key, row FROM vectors WHERE lane = ? ORDER BY row", (partition,))

    def sample(self, partition: int, size: int) -> list[tuple[bytes, int]]:
        """Texts of notes with their rows: those with the lowest keys, which is chance, and the same every time."""
        query = (
            "SELECT v.key, v.row FROM vectors v WHERE v.lane = ? AND EXISTS (SELECT 1 FROM owners o WHERE o.key = v.key)"
            " ORDER BY v.key LIMIT ?"
        )
        return self.rows(query, (partition, size))

    def wanted(self, partition: int, limit: int) -> list[tuple[bytes, str, int]]:
        """Texts without a vector, each with one note that has it and which of its passages it is: what notes begin with
        before what follows, the latest notes first.
        """
        query = (
            "SELECT w.key, o.path, o.passage FROM wanted w JOIN owners o ON o.key = w.key JOIN notes n ON n.path = o.path"
            " WHERE w.lane = ? GROUP BY w.key ORDER BY o.passage > 0, max(n.at) DESC, o.path, o.passage LIMIT ?"
        )
        return self.rows(query, (partition, limit))

    def count_wanted(self, partition: int) -> int:
        """How many texts have no vector."""
        return int(self.rows("SELECT count(*) FROM wanted WHERE lane = ?", (partition,))[0][0])

    def state(self) -> tuple[object, ...]:
        """A value that changes with every write to the ledger, by this process or another, and when it is opened anew."""
        return self._token, self.rows("PRAGMA data_version")[0][0], self.connection.total_changes

    def _touch(self, paths: Collection[str]) -> None:
        if len(self._touched) + len(paths) > _MOST_TOUCHED:
            self._token, self._touched = object(), []
        self._touched.extend(paths)

    def touched(self, since: int) -> tuple[int, list[str]]:
        """How many notes this connection put or dropped, and those after the first `since` of them.

        Counted anew when the first part of `state` changes.
        """
        return len(self._touched), self._touched[since:]

    def notes_missing(self, partitions: Collection[int]) -> int:
        """How many notes have a text without a vector in one of the partitions."""
        # Half a second where a hundred thousand wait, and every answer says how many do: counted once for each state.
        state, asked = self.state(), tuple(partitions)
        if self._behind[0] != state:
            self._behind = state, {}
        if asked not in self._behind[1]:
            query = f"SELECT count(DISTINCT o.path) FROM wanted w JOIN owners o ON o.key = w.key WHERE w.lane IN ({marks(asked)})"
            self._behind[1][asked] = int(self.rows(query, asked)[0][0])
        return self._behind[1][asked]

    def to_mirror(self, store: str, partition: int, limit: int) -> list[tuple[str, int]]:
        """Notes, whole in a partition, that a store does not have as they are now, each with how many passages it has there."""
        query = (
            "SELECT n.path, coalesce(m.passages, 0) FROM notes n LEFT JOIN mirrored m ON m.store = ?1 AND m.lane = ?2"
            " AND m.path = n.path WHERE m.hash IS NOT n.hash AND n.path NOT IN"
            " (SELECT o.path FROM wanted w JOIN owners o ON o.key = w.key WHERE w.lane = ?2) LIMIT ?3"
        )
        return self.rows(query, (store, partition, limit))

    def to_unmirror(self, store: str, partition: int) -> list[tuple[str, int]]:
        """Notes that a store has and the vault has not, each with how many passages it has there."""
        query = (
            "SELECT m.path, m.passages FROM mirrored m WHERE m.store = ? AND m.lane = ?"
            " AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.path = m.path)"
        )
        return self.rows(query, (store, partition))

    def mirror(self, store: str, partition: int, notes: Iterable[Note], gone: Iterable[str] = ()) -> None:
        """Say that a store has these notes as they are now, and those that are gone no more."""
        self.many("DELETE FROM mirrored WHERE store = ? AND lane = ? AND path = ?", ((store, partition, path) for path in gone))
        rows = ((store, partition, note.path, note.hash, len(note.keys)) for note in notes)
        self.many("INSERT OR REPLACE INTO mirrored VALUES (?,?,?,?,?)", rows)

    def mirrored_elsewhere(self) -> list[tuple[str, int, str, int]]:
        """The contents of stores at addresses: store, partition, path, and how many passages."""
        return self.rows("SELECT store, lane, path, passages FROM mirrored WHERE store LIKE '%://%'")

    def rename_mirrored(self, store: str, partition: int, path: str, name: str) -> None:
        """Let a store's notes of a path be known by another name."""
        where = "WHERE store = ? AND lane = ? AND path = ?"
        self.many(f"UPDATE OR REPLACE mirrored SET path = ? {where}", [(name, store, partition, path)])

    def undeleted(self) -> list[tuple[str, int]]:
        """The stores at addresses that have notes which the vault has no more, each with how many."""
        query = (
            "SELECT m.store, count(DISTINCT m.path) FROM mirrored m WHERE m.store LIKE '%://%'"
            " AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.path = m.path) GROUP BY m.store ORDER BY m.store"
        )
        return self.rows(query)

    def unmirror(self, store: str, partition: int) -> None:
        """Say that a store has nothing of a partition."""
        self.many("DELETE FROM mirrored WHERE store = ? AND lane = ?", [(store, partition)])

    def mirrored_ids(self, store: str, partition: int) -> list[tuple[str, int]]:
        """The contents of a store for a partition: paths and how many passages of each."""
        return self.rows("SELECT path, passages FROM mirrored WHERE store = ? AND lane = ?", (store, partition))

    def retired(self) -> list[tuple[bytes, float]]:
        """The texts that no note has any more, the latest first, each with since when."""
        return self.rows("SELECT key, at FROM retired ORDER BY at DESC, key")

    def drop_retired(self, keys: Iterable[bytes]) -> None:
        """Drop retired texts; their rows are the caller's to leave out."""
        listed = [(key,) for key in keys]
        for table in ("vectors", "retired", "refused"):
            self.many(f"DELETE FROM {table} WHERE key = ?", listed)

    def drop_all_notes(self) -> None:
        """Drop what the notes consist of; the vectors stay."""
        for table in ("notes", "owners", "wanted", "retired"):
            self.many(f"DELETE FROM {table}", [()])
        self.say(notes="0")
        self._token, self._touched = object(), []


def _note_of(row: Sequence[Any]) -> Note:
    """The note of a row."""
    path, id_, hash_, keys, class_, type_, project, at, subjects = row
    return Note(path, id_, hash_, _parts(keys), class_, type_, project, at, tuple(filter(None, subjects.split("\n"))))


def _parts(keys: bytes) -> tuple[bytes, ...]:
    return tuple([keys[n : n + KEY_BYTES] for n in range(0, len(keys), KEY_BYTES)])


def _partition_of(row: Sequence[Any]) -> Partition:
    number, instruction, file, rows, kept_count, background = row
    return Partition(
        number, instruction, file, rows, orjson.loads(kept_count), Background(**orjson.loads(background)) if background else None
    )


def _note_row(note: Note) -> tuple[Any, ...]:
    subjects = f"\n{chr(10).join(note.subjects)}\n" if note.subjects else ""
    keys = b"".join(note.keys)
    return note.path, note.id, note.hash, keys, note.record_class, note.type, note.project, note.at, subjects
