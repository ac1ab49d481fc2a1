"""Chroma beside the exact store: kept equal to it by one writer, and believed only as far as our own rows agree."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from vault_tool.errors import Busy, StorageError, VaultError
from vault_tool.index.embedding.calling import Patience
from vault_tool.index.seals import lock
from vault_tool.index.vectors.chroma_client import PROBE_SECONDS, DoesNotOpen, Home, load
from vault_tool.index.vectors.hits import GONE, KnownDown, NoSuchCollection, StoreUnavailable, Vector
from vault_tool.index.vectors.vector_ledger import Note, Partition, VectorLedger
from vault_tool.index.vectors.vector_set import VectorSet
from vault_tool.util.clock import parse_time
from vault_tool.util.hints import step
from vault_tool.util.native_errors import translated

T = TypeVar("T")

QUERY_SECONDS = 5.0
# For which a question waits for a folder that was changed behind our back to be opened by a child process, once.
OPENING_SECONDS = 10.0

WRITE_SECONDS = 120.0

# For which a question waits for a server in all, and for which one that failed is not asked again.
SERVER_SECONDS = 2.0
SILENT_SECONDS = 60.0

_NOTES_AT_ONCE = 200
_TEXTS_AT_ONCE = 1000
_MOST_BEHIND = 2000
# Chroma ranks passages where we rank files, and only about: it is asked for more than is wanted.
_LOOK = 3
_MORE = 30


class ChromaStore:
    """Search by Chroma. What it finds is looked up and measured in our own rows: it proposes, so it can miss but not invent.

    Raises StoreUnavailable whenever it cannot be asked, and never a fault of Chroma's own.
    """

    def __init__(
        self,
        home: Home,
        vectors: VectorSet,
        instructions: Mapping[str, str],
        hidden: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """`hidden` are the paths of withheld notes: a server has nothing of them."""
        self._hidden = hidden if home.is_remote else tuple
        self._names: tuple[str, dict[str, str]] = ("", {})
        self._until: float | None = None
        self._home = home
        self.vectors = vectors
        self._instructions = instructions
        self._patience = Patience()
        self._client: Any = None
        self._opened: tuple[str, object] = ("", None)
        self._slow: object = None
        """The stamp of a folder that did not open in time: nobody waits for it again while its files are as they were."""

    @property
    def name(self) -> str:
        """Its name in the ledger and to people."""
        return self._home.name

    def close(self) -> None:
        """Let go of the client."""
        if self._client is not None:
            client, self._client = self._client, None
            with suppress(Exception):
                client.close()

    def candidates(self, queries: Mapping[str, Vector], limit: int) -> set[str]:
        """The files among which the best are, with those that the collection does not have yet."""
        ledger = self._ledger()
        candidates: set[str] = set()
        if self._home.is_remote:
            self._require_up(ledger)
            self._until = time.monotonic() + SERVER_SECONDS
        for perspective, query in queries.items():
            partition = self._partition(ledger, perspective)
            if partition is None or len(query) != self.vectors.dimensions:
                continue
            missing = [path for path, _ in ledger.to_mirror(self.name, partition.number, _MOST_BEHIND + 1)]
            if len(missing) > _MOST_BEHIND:
                raise StoreUnavailable(
                    f"the Chroma collection is more than {_MOST_BEHIND:,} notes behind; {step('embed')} fills it"
                )
            # What the collection lacks is measured with the rest, so no answer waits for it to catch up.
            candidates.update(missing, self._asked(ledger, partition, query, limit))
        return candidates

    def equalise(self, seconds: float | None = None) -> int:
        """Bring the collections to what the rows say, for about so many seconds; how many notes were written or removed.

        The caller is the one writer. Raises Busy when there is another, StoreUnavailable when Chroma fails.
        """
        until = None if seconds is None else time.monotonic() + seconds
        with lock(self.vectors.folder / "chroma.lock", 0.5, "the Chroma collection"):
            changed: set[str] = set()
            if self._equal():
                return 0
            self._until = None
            self._start()
            for instruction, partition in self._ledger().partitions().items():
                if partition.rows and instruction in self._instructions.values():
                    changed |= self._equalised(partition, until)
            self.close()
            self._home.note_stamp()
            with self.vectors.writing() as ledger, ledger.transaction():
                ledger.say(**{f"mirror {self.name}": secrets.token_hex(8), f"doubt {self.name}": "", f"down {self.name}": ""})
            return len(changed)

    def delete_gone(self, seconds: float) -> None:
        """Delete what the vault has no more, for at most so many seconds. Raises Busy and StoreUnavailable."""
        with lock(self.vectors.folder / "chroma.lock", 0.5, "the Chroma collection"):
            ledger = self._ledger()
            gone = {partition.number: self._to_delete(partition) for partition in ledger.partitions().values()}
            if not any(gone.values()):
                return
            self._until = time.monotonic() + seconds
            self._start()
            for partition in ledger.partitions().values():
                if gone[partition.number]:
                    with suppress(NoSuchCollection):
                        self._delete(self._named(partition), self._ids(gone[partition.number]))
                    self._forget(partition, gone[partition.number])
            self.close()

    def missing_count(self) -> int:
        """How many notes the collections do not have as they are, up to a few thousand."""
        ledger = self._ledger()
        partitions = [
            partition for instruction, partition in ledger.partitions().items() if instruction in self._instructions.values()
        ]
        return max((len(ledger.to_mirror(self.name, partition.number, _MOST_BEHIND + 1)) for partition in partitions), default=0)

    def _equal(self) -> bool:
        """Whether nothing is to be done, as far as the ledger and the files say; nothing is opened for it."""
        ledger = self._ledger()
        for instruction, partition in ledger.partitions().items():
            if not partition.rows or instruction not in self._instructions.values():
                continue
            if not ledger.meta(f"nonce {self.name} {partition.number}") or self._to_delete(partition):
                return False
            if self._to_put(partition, 1):
                return False
        return not ledger.meta(f"doubt {self.name}") and self._home.stamp() == self._home.noted_stamp()

    def _asked(self, ledger: VectorLedger, partition: Partition, query: Vector, limit: int) -> set[str]:
        collection = self._reading(ledger, partition)
        count = limit * _LOOK + _MORE
        ask = partial(collection.query, query_embeddings=[query], n_results=count, include=[])
        answer = self._call(QUERY_SECONDS, ask)
        return set(self._paths(ledger, partition, {text_id.rpartition("#")[0] for text_id in answer["ids"][0]}))

    def _paths(self, ledger: VectorLedger, partition: Partition, codes: set[str]) -> Iterator[str]:
        """The notes of these names; StoreUnavailable where one of them was never given to a server."""
        if not self._home.is_remote:
            yield from codes
            return
        state = f"{ledger.meta(f'mirror {self.name}')} {partition.number}"
        if self._names[0] != state or not codes <= self._names[1].keys():
            mirrored = ledger.mirrored_ids(self.name, partition.number)
            self._names = state, {self._home.code(path): path for path, _ in mirrored}
        if not codes <= self._names[1].keys():
            self._doubt()
            raise StoreUnavailable(f"it answers with what it was never given; {step('embed')} looks at all of it")
        yield from (path for code in codes if not (path := self._names[1][code]).startswith(GONE))

    def _to_put(self, partition: Partition, limit: int) -> list[tuple[str, int]]:
        """The notes that it does not have as they are, each with how many passages it has there."""
        hidden = self._hidden()
        rows = self._ledger().to_mirror(self.name, partition.number, limit + len(hidden))
        return [row for row in rows if row[0] not in hidden][:limit]

    def _to_delete(self, partition: Partition) -> list[tuple[str, int]]:
        """The notes that it has and should not have, each with how many passages."""
        ledger, hidden = self._ledger(), self._hidden()
        rows = ledger.to_unmirror(self.name, partition.number)
        withheld = [row for row in ledger.mirrored_ids(self.name, partition.number) if row[0] in hidden] if hidden else []
        return list(dict.fromkeys((*rows, *withheld)))

    def _ids(self, rows: Iterable[tuple[str, int]]) -> list[str]:
        return [f"{self._home.code(path)}#{n}" for path, count in rows for n in range(count)]

    def _forget(self, partition: Partition, rows: Iterable[tuple[str, int]]) -> None:
        with self.vectors.writing() as ledger, ledger.transaction():
            ledger.mirror(self.name, partition.number, (), [path for path, _ in rows])

    def _named(self, partition: Partition) -> Any:
        client = self._client
        return self._call(QUERY_SECONDS, lambda: client.get_collection(self._collection(partition), embedding_function=None))

    def _require_up(self, ledger: VectorLedger) -> None:
        """Raise KnownDown where a server failed a moment ago: its reason was told then."""
        at, _, reason = ledger.meta(f"down {self.name}").partition(" ")
        if at.isdecimal() and 0 <= time.time() - int(at) < SILENT_SECONDS:
            raise KnownDown(reason)

    def _reading(self, ledger: VectorLedger, partition: Partition) -> Any:
        """The collection as its last writer left it: a client that was opened before that answers as of then."""
        generation = ledger.meta(f"mirror {self.name}")
        if self._client is None or self._opened != (generation, self._home.stamp()):
            self.close()
            self._let_write()
            self._require_sound()
            self._connect()
            self._opened = generation, self._home.stamp()
        collection = self._named(partition)
        if (collection.metadata or {}).get("nonce") != ledger.meta(f"nonce {self.name} {partition.number}"):
            self._doubt()
            raise StoreUnavailable(f"the Chroma collection is not the one that was filled; {step('embed')} fills it anew")
        return collection

    def _require_sound(self) -> None:
        """Raise StoreUnavailable where the folder must not be opened here, or a child does not get it open in time."""
        stamp = self._home.stamp()
        if stamp is not None and stamp == self._slow:
            raise StoreUnavailable(f"the Chroma collection does not open; {step('embed')} looks at it for longer")
        try:
            self._home.check(OPENING_SECONDS)
        except DoesNotOpen:
            self._slow = stamp
            self._doubt()
            raise

    def _let_write(self) -> None:
        """Not opened during a write: half of a batch looks broken from outside."""
        try:
            with lock(self.vectors.folder / "chroma.lock", 0.0, "the Chroma collection"):
                pass
        except Busy as fault:
            raise StoreUnavailable("the Chroma collection is being brought up to date") from fault
        except StorageError:
            return  # on a disk that cannot be written nobody writes

    def _start(self) -> None:
        """A client for writing; a folder that is missing is begun."""
        self.close()
        with suppress(StoreUnavailable):
            self._home.check(PROBE_SECONDS)
        self._connect()

    def _connect(self) -> None:
        if not self._home.is_remote:
            load()
        self._client = self._call(QUERY_SECONDS, self._home.connect)

    def _equalised(self, partition: Partition, until: float | None) -> set[str]:
        """Bring one partition up to date; returns the paths of the notes that were written or taken out there."""
        collection = self._writing(partition)
        changed: set[str] = set()
        gone = self._to_delete(partition)
        if gone:
            self._delete(collection, self._ids(gone))
            self._forget(partition, gone)
            changed.update(path for path, _ in gone)
        while until is None or time.monotonic() < until:
            batch = self._to_put(partition, _NOTES_AT_ONCE)
            if not batch:
                return changed | self._without_ghosts(collection, partition)
            self._put(collection, partition, dict(batch))
            changed.update(path for path, _ in batch)
        return changed

    def _writing(self, partition: Partition) -> Any:
        """The collection of a partition: a new one where there is none, or not the one that was filled."""
        client, name, fact = self._client, self._collection(partition), f"nonce {self.name} {partition.number}"
        nonce = self._ledger().meta(fact)
        if name in self._call(QUERY_SECONDS, lambda: {listed.name for listed in client.list_collections()}):
            collection = self._call(QUERY_SECONDS, lambda: client.get_collection(name, embedding_function=None))
            known = sum(count for _, count in self._ledger().mirrored_ids(self.name, partition.number))
            ours = nonce and (collection.metadata or {}).get("nonce") == nonce
            # With fewer, somebody took texts out behind our back; what it has too many `_without_ghosts` takes out.
            if ours and self._call(QUERY_SECONDS, collection.count) >= known:
                return collection
            self._call(WRITE_SECONDS, lambda: client.delete_collection(name))
        nonce = secrets.token_hex(8)
        space: Any = {"hnsw": {"space": "cosine"}}
        metadata = {"nonce": nonce} | ({} if self._home.is_remote else {"model": self.vectors.model})
        collection_made = self._call(
            WRITE_SECONDS,
            lambda: client.create_collection(name, metadata=metadata, configuration=space, embedding_function=None),
        )
        with self.vectors.writing() as ledger, ledger.transaction():
            ledger.unmirror(self.name, partition.number)
            ledger.say(**{fact: nonce})
        return collection_made

    def _put(self, collection: Any, partition: Partition, had: Mapping[str, int]) -> None:
        """Write some notes; `had` says how many passages each of them has there."""
        view = self.vectors.view(partition.instruction)
        if view is None:
            raise StoreUnavailable("the vectors cannot be read now")
        notes = list(self._ledger().notes(had).values())
        at = self._ledger().row_numbers(partition.number, {key for note in notes for key in note.keys})
        facts_of = _no_facts if self._home.is_remote else _facts
        codes = {path: self._home.code(path) for path in had}
        texts = [
            (f"{codes[note.path]}#{n}", at[key], facts_of(note)) for note in notes for n, key in enumerate(note.keys) if key in at
        ]
        text_ids = {text_id for text_id, _, _ in texts}
        # A note that grew shorter has passages there that it has no more.
        self._delete(collection, [old for old in self._ids(had.items()) if old not in text_ids])
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            batch = texts[start : start + _TEXTS_AT_ONCE]
            vectors = view.rows.vectors[[row for _, row, _ in batch]]
            ids, facts = [text_id for text_id, _, _ in batch], [each for _, _, each in batch]
            self._call(WRITE_SECONDS, partial(collection.upsert, ids, vectors, facts))
        with self.vectors.writing() as ledger, ledger.transaction():
            ledger.mirror(self.name, partition.number, notes, had.keys() - {note.path for note in notes})

    def _without_ghosts(self, collection: Any, partition: Partition) -> set[str]:
        """Remove what a killed writer left that the ledger does not know of; returns the paths of the notes."""
        known = self._ledger().mirrored_ids(self.name, partition.number)
        if self._call(QUERY_SECONDS, collection.count) <= sum(count for _, count in known):
            return set()
        ids = set(self._ids(known))
        stored_ids = self._call(WRITE_SECONDS, lambda: collection.get(include=[]))["ids"]
        ghosts = [stored_id for stored_id in stored_ids if stored_id not in ids]
        self._delete(collection, ghosts)
        return {ghost.rpartition("#")[0] for ghost in ghosts}

    def _delete(self, collection: Any, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _TEXTS_AT_ONCE):
            self._call(WRITE_SECONDS, partial(collection.delete, ids=list(ids[start : start + _TEXTS_AT_ONCE])))

    def _partition(self, ledger: VectorLedger, perspective: str) -> Partition | None:
        return ledger.partitions().get(self._instructions[perspective]) if perspective in self._instructions else None

    def _collection(self, partition: Partition) -> str:
        whose = f"{self._home.vault} {self.vectors.folder.name} {partition.instruction}"
        return f"vault-{hashlib.blake2b(whose.encode(), digest_size=12).hexdigest()}"

    def _ledger(self) -> VectorLedger:
        try:
            return self.vectors.ledger()
        except (Busy, StorageError) as fault:
            raise StoreUnavailable(fault.message) from fault

    def _call(self, seconds: float, call: Callable[[], T]) -> T:
        """Chroma's answer within so many seconds; any failure inside it becomes one StoreUnavailable."""
        if self._until is not None:
            seconds = max(0.0, min(seconds, self._until - time.monotonic()))
        try:
            with translated(lambda reason: StoreUnavailable(f"Chroma ({self.name}) failed: {reason}")):
                return self._patience.call(seconds, call, f"Chroma ({self.name})", waiting=seconds <= QUERY_SECONDS)
        except NoSuchCollection as fault:
            self._doubt()
            raise NoSuchCollection(f"the Chroma collection is not made yet; {step('embed')} makes it") from fault
        except VaultError as fault:
            # Search goes on without it, and the next writer looks at all of it.
            self._doubt()
            reason = fault.message if self.name in fault.message else f"{self.name}: {fault.message}"
            if self._home.is_remote:
                self._note_down(reason)
            raise StoreUnavailable(reason) from fault

    def _note_down(self, reason: str) -> None:
        """Remember that a server failed, for all processes: none of them waits for it in the next minute."""
        with suppress(Busy, StorageError), self.vectors.writing() as ledger, ledger.transaction():
            ledger.say(**{f"down {self.name}": f"{int(time.time())} {reason}"})

    def _doubt(self) -> None:
        """See to it that the next writer looks whether everything is there still."""
        self.close()
        with suppress(Busy, StorageError):
            if not self.vectors.ledger().meta(f"doubt {self.name}"):
                with self.vectors.writing() as ledger, ledger.transaction():
                    ledger.say(**{f"doubt {self.name}": "1"})


def _no_facts(note: Note) -> None:
    """A server is told nothing of a note beside its vectors."""


def _facts(note: Note) -> dict[str, Any]:
    moment = parse_time(note.at)
    facts: dict[str, Any] = {"path": note.path, "id": note.id, "class": note.record_class, "type": note.type}
    facts |= {"project": note.project, "at": moment.timestamp() if moment else 0.0}
    return facts | ({"subjects": list(note.subjects)} if note.subjects else {})
