"""The vectors of one model on disk: found intact, put right after a crash; a spoilt file is dropped and made anew."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from vault_tool.errors import Busy, StorageError
from vault_tool.index.database import identity
from vault_tool.index.seals import IndexState, SealedFile, discard, lock, make_way
from vault_tool.index.vectors import first_passages, rows
from vault_tool.index.vectors.first_passages import Copies
from vault_tool.index.vectors.hits import Matrix
from vault_tool.index.vectors.row_map import RowMap
from vault_tool.index.vectors.rows import Header, Mapped, Rows
from vault_tool.index.vectors.vector_ledger import FORMAT, TABLES, Partition, VectorLedger

# Seconds to wait for another process's batch before reading beside it.
_QUICK_WAIT = 0.2


class VectorView(msgspec.Struct):
    """One partition as it was at one moment: rows, which partition they are of, and where each note is in them.

    `places` is handed on to the view of the next state; an answer that still asks this one has them looked up anew.
    """

    partition: Partition
    rows: Rows
    places: RowMap
    copies: Copies | None = None
    """What is mapped beside the rows."""


class VectorSet:
    """One model's folder: a ledger under a seal, and a file of rows for each instruction."""

    def __init__(self, folder: Path, model: str, dimensions: int, wait: float) -> None:
        self.folder = folder
        self.model = model
        self.dimensions = dimensions
        self._wait = wait
        self._ledger: tuple[tuple[int, int], VectorLedger] | None = None
        self._views: dict[str, VectorView] = {}
        self._unsynced = False
        self._trusted: VectorLedger | None = None
        self.holds = False

    def close(self) -> None:
        """Let go of all files, on disk from now on."""
        if self._unsynced and self._ledger is not None:
            with suppress(Busy, StorageError, OSError), self._locked(_QUICK_WAIT):
                self._sealed.sync()
        self._unsynced = False
        if self._ledger is not None:
            self._ledger[1].close()
        self._drop()
        self._views.clear()

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Take the ledger for what it was when it was looked at first, until the end."""
        self.holds = True
        try:
            yield
        finally:
            self.holds, self._trusted = False, None

    def ledger(self) -> VectorLedger:
        """The ledger, begun anew without any vectors where it cannot be trusted. Raises Busy and StorageError."""
        if self._trusted is not None:
            return self._trusted
        ledger = self._open_if_intact()
        if self.holds:
            self._trusted = ledger
        return ledger

    def _open_if_intact(self) -> VectorLedger:
        sealed = self._sealed
        if sealed.state() is IndexState.INTACT:
            ledger = self._opened()
            if ledger is not None:
                return ledger
        with self._locked(self._wait):
            return self._repair()

    @contextmanager
    def writing(self) -> Iterator[VectorLedger]:
        """Hold the set's lock and a broken seal, for short work; other processes wait. Raises Busy and StorageError."""
        with self._locked(self._wait):
            ledger = self._repair()
            with self._sealed.writing(ledger.meta("nonce"), synced=False):
                self._unsynced = True
                yield ledger

    def examine(self) -> None:
        """See whether the files are as the ledger says, and put right what is not; what was in lost rows is wanted again."""
        for instruction, partition in self.ledger().partitions().items():
            if not self._is_unchanged(partition):
                self._recheck(instruction, partition)

    def want(self, instructions: Collection[str]) -> None:
        """Have a partition for each instruction; every text is wanted in a new one."""
        if not set(instructions) - self.ledger().partitions().keys():
            return
        with self.writing() as ledger, ledger.transaction():
            known = ledger.partitions()
            for instruction in dict.fromkeys(instructions):
                if instruction not in known:
                    number = 1 + max((partition.number for partition in ledger.partitions().values()), default=-1)
                    file = self._new_file(instruction)
                    ledger.put_partition(Partition(number, instruction, file.name, 0, rows.fingerprint(file)))
                    ledger.want_all(number)

    def add(self, instruction: str, keys: Sequence[bytes], vectors: Matrix) -> int:
        """Keep the vectors of texts, on disk when this returns, and say how many; those kept already are passed over."""
        with self.writing() as ledger:
            partition = self._sound_partition(ledger, ledger.partition(instruction))
            known = ledger.row_numbers(partition.number, keys)
            new = [n for n, key in enumerate(keys) if key not in known and keys.index(key) == n]
            if not new:
                return 0
            file = self.folder / partition.file
            # Rows first: a kill after them leaves rows that nobody counts, and the next batch is written over them.
            rows.append(file, self.dimensions, partition.rows, [keys[n] for n in new], vectors[new])
            partition = replace(partition, rows=partition.rows + len(new), fingerprint=rows.fingerprint(file))
            with ledger.transaction():
                ledger.put_vectors(partition.number, partition.rows - len(new), [keys[n] for n in new])
                ledger.put_partition(partition)
            self._copy_first_passages(ledger, partition)
            return len(new)

    def view(self, instruction: str) -> VectorView | None:
        """The rows of one instruction as they are now; None where there are none that can be trusted."""
        partition = self.ledger().partitions().get(instruction)
        if partition is None or not partition.rows:
            return None
        view = self._views.get(instruction)
        now = rows.fingerprint(self.folder / partition.file)
        if (
            view is not None
            and view.partition == partition
            and now == partition.fingerprint
            and view.rows.sound()
            and self._copies_intact(view)
        ):
            return view
        as_left = now == partition.fingerprint
        if not as_left:
            partition = self._recheck(instruction, partition)
        copies = self._mapped(partition)
        opened = rows.opened(self.folder / partition.file, self.dimensions, partition.rows, copies) if partition.rows else None
        if opened is None:
            self._views.pop(instruction, None)
            return None
        places = RowMap()
        if view is not None and as_left:
            opened.follow(view.rows)
            places, view.places = view.places, places
        self._views[instruction] = VectorView(
            partition, opened, places, self._copies_of(self.ledger(), partition) if copies else None
        )
        return self._views[instruction]

    def _copies_of(self, ledger: VectorLedger, partition: Partition) -> Copies | None:
        """The copies that the ledger says there are of a partition's rows, where they are as they were left."""
        try:
            copies = Copies.read(ledger.meta(f"first passages {partition.number}"))
        except (TypeError, ValueError):
            return None
        return copies if copies is not None and copies.of == partition.file and copies.intact(self.folder) else None

    def _copies_intact(self, view: VectorView) -> bool:
        return view.copies is None or view.copies.intact(self.folder)

    def _copy_first_passages(self, ledger: VectorLedger, partition: Partition) -> None:
        """Bring the copies of a large partition up to date; the caller holds the lock. Without room for them there are none."""
        if not rows.is_large(self.dimensions, partition.rows):
            return
        with suppress(StorageError):
            before = self._copies_of(ledger, partition)
            copies = first_passages.updated(self.folder / partition.file, self.dimensions, partition.rows, before)
            with ledger.transaction():
                ledger.say(**{f"first passages {partition.number}": copies.as_text()})

    def _mapped(self, partition: Partition) -> Mapped | None:
        """The copies of a large partition, made if need be; None where they cannot be made now."""
        if not rows.is_large(self.dimensions, partition.rows):
            return None
        copies = self._copies_of(self.ledger(), partition)
        if copies is None or copies.seen != partition.rows:
            with suppress(Busy, StorageError), self._locked(_QUICK_WAIT):
                ledger = self._repair()
                if ledger.partitions().get(partition.instruction) != partition:
                    return None
                with self._sealed.writing(ledger.meta("nonce"), synced=False):
                    self._unsynced = True
                    self._copy_first_passages(ledger, partition)
                copies = self._copies_of(ledger, partition)
        return first_passages.mapped(self.folder, self.dimensions, copies, partition.rows) if copies else None

    def compact(self, instruction: str, dropped: frozenset[bytes]) -> None:
        """Write a partition anew without the rows of some texts; who reads the old file goes on reading it."""
        with self.writing() as ledger:
            partition = self._sound_partition(ledger, ledger.partition(instruction))
            self._rewrite(ledger, partition, dropped)

    @cached_property
    def _sealed(self) -> SealedFile:
        return SealedFile(self.folder / f"ledger-{FORMAT}.sqlite3", self.folder / "ledger.seal")

    @contextmanager
    def _locked(self, wait: float) -> Iterator[None]:
        with lock(self.folder / "write.lock", wait, "the vectors"):
            yield

    def _drop(self) -> None:
        # Not closed: an answer that is being made asks it to its end.
        self._ledger = self._trusted = None

    def _opened(self) -> VectorLedger | None:
        path = self._sealed.path
        # A mended ledger is renamed into this place; the one that we hold open would then be a file without a name.
        identity_on_disk = identity(path)
        if self._ledger is not None and self._ledger[0] == identity_on_disk:
            return self._ledger[1]
        self._drop()
        if identity_on_disk is None:
            return None
        try:
            ledger = VectorLedger.open(path)
        except sqlite3.DatabaseError:
            return None
        self._ledger = identity_on_disk, ledger
        return ledger

    def _repair(self) -> VectorLedger:
        """The ledger, whatever it was found like; the caller holds the lock."""
        sealed = self._sealed
        state = sealed.state()
        if state is IndexState.INTERRUPTED:
            self._drop()
            ledger = self._opened()
            # `sound` reads all of it: after a crash alone that is worth the time.
            if ledger is not None and ledger.sound() and ledger.meta("nonce"):
                sealed.renew_seal(ledger.meta("nonce"), synced=False)
                return ledger
        elif state is IndexState.INTACT:
            ledger = self._opened()
            if ledger is not None:
                return ledger
        return self._begun_anew()

    def _begun_anew(self) -> VectorLedger:
        """A new ledger that knows no vectors and no notes, beside no file of rows: all texts are embedded again."""
        self._drop()
        self._views.clear()
        nonce = secrets.token_hex(8)
        new_path = self.folder / f"ledger.{nonce}.tmp"
        try:
            ledger = VectorLedger.open(new_path, tables=TABLES)
        except sqlite3.DatabaseError as fault:
            raise StorageError(f"the vectors' ledger cannot be made: {fault}", "look at the free space of `_cache`") from fault
        try:
            with ledger.transaction():
                ledger.say(nonce=nonce, seq="0", model=self.model, dimensions=str(self.dimensions))
        finally:
            ledger.close()
        sealed = self._sealed
        make_way(sealed.path)
        # The old ledger's journal, too: SQLite would roll it back into the new one.
        for left in (sealed.path, sealed.path.with_name(f"{sealed.path.name}-journal")):
            discard(left)
        new_path.replace(sealed.path)
        sealed.renew_seal(nonce, synced=False)
        for left in self.folder.glob("ledger.*.tmp*"):
            discard(left)
        self._discard_others(())
        opened = self._opened()
        if opened is None:
            raise StorageError(
                "the vectors' ledger is spoilt as soon as it is made", "look whether another program writes to `_cache`"
            )
        return opened

    def _discard_others(self, names: Collection[str]) -> None:
        """Remove the files of rows but these, as a kill leaves them; not what a later version of this tool wrote."""
        for file in self.folder.glob(f"rows-{rows.VERSION}-*.vec"):
            if file.name not in names and not _is_of_later_version(file):
                _discard(file)

    def _recheck(self, instruction: str, partition: Partition) -> Partition:
        """The partition without a writer at work: a file unlike its ledger is checked, and dropped if it is not whole."""
        try:
            with self.writing() as ledger:
                return self._sound_partition(ledger, ledger.partition(instruction))
        except Busy:
            # Another process is between its rows and its ledger: those that count so far are as they were.
            return partition
        except StorageError:
            # Nothing can be put right on a disk that cannot be written, but what is whole can be read.
            return partition if self._is_whole(self.ledger(), partition) else replace(partition, rows=0)

    def _sound_partition(self, ledger: VectorLedger, partition: Partition) -> Partition:
        """The partition with a file that is as its ledger says; the caller holds the lock."""
        file = self.folder / partition.file
        if self._is_unchanged(partition):
            return partition
        with ledger.transaction():
            if self._is_whole(ledger, partition):
                # Touched, or a killed process left rows behind those that count.
                partition = replace(partition, fingerprint=rows.fingerprint(file))
            else:
                if not _is_of_later_version(file):
                    _discard(file)
                fresh = self._new_file(partition.instruction)
                partition = replace(partition, file=fresh.name, rows=0, fingerprint=rows.fingerprint(fresh))
                ledger.clear_partition(partition.number)
            ledger.put_partition(partition)
        return partition

    def _is_whole(self, ledger: VectorLedger, partition: Partition) -> bool:
        """Whether each row that counts is in the file as it was written, with the key that the ledger has it under."""
        file = self.folder / partition.file
        if rows.header(file) != self._header(partition.instruction):
            return False
        return rows.are_whole(file, self.dimensions, partition.rows, dict(ledger.every_row(partition.number)))

    def _is_unchanged(self, partition: Partition) -> bool:
        file = self.folder / partition.file
        return rows.fingerprint(file) == partition.fingerprint and rows.header(file) == self._header(partition.instruction)

    def _rewrite(self, ledger: VectorLedger, partition: Partition, dropped: frozenset[bytes]) -> None:
        opened = rows.opened(self.folder / partition.file, self.dimensions, partition.rows)
        if opened is None:
            return
        fresh = self._new_file(partition.instruction)
        kept_rows = [(key, row) for key, row in ledger.every_row(partition.number) if key not in dropped]
        for start in range(0, len(kept_rows), 4096):
            chunk = kept_rows[start : start + 4096]
            rows.append(fresh, self.dimensions, start, [key for key, _ in chunk], opened.vectors[[row for _, row in chunk]])
        with ledger.transaction():
            ledger.clear_partition(partition.number)
            ledger.put_vectors(partition.number, 0, [key for key, _ in kept_rows])
            ledger.put_partition(replace(partition, file=fresh.name, rows=len(kept_rows), fingerprint=rows.fingerprint(fresh)))
        self._discard_others({partition.file for partition in ledger.partitions().values()})

    def _header(self, instruction: str) -> Header:
        return Header(self.model, self.dimensions, instruction)

    def _new_file(self, instruction: str) -> Path:
        mark = hashlib.blake2b(instruction.encode(), digest_size=4).hexdigest()
        # A new name each time: who has the old file mapped goes on reading it.
        file = self.folder / f"rows-{rows.VERSION}-{mark}-{secrets.token_hex(4)}.vec"
        rows.create(file, self._header(instruction))
        return file


def _discard(file: Path) -> None:
    """Remove a file of rows and the copies of it."""
    discard(file)
    first_passages.remove(file.parent, file.name)


def size_of(file: Path) -> int:
    """The bytes of a file; -1 for one that is not there."""
    try:
        return file.stat().st_size
    except OSError:
        return -1


def _is_of_later_version(file: Path) -> bool:
    header = rows.header(file)
    return header is not None and header.version > rows.VERSION
