"""Upkeep of the vectors' folder: the export for other programs, compaction, old sets, and erasing notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
from msgspec import to_builtins

from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import CACHE, EMBEDDINGS_FILE, VECTORS
from vault_tool.files.local_trust import place
from vault_tool.index.export import ExportedFile
from vault_tool.index.seals import IndexState, SealedFile, discard
from vault_tool.index.vectors import sets
from vault_tool.index.vectors.hits import GENERAL, GONE
from vault_tool.index.vectors.vector_ledger import VectorLedger
from vault_tool.index.vectors.vector_set import VectorSet

VERSION = 1

# Seconds for which the vectors of a text that no note has any more are kept: a branch may have it.
KEEP = 30 * 86400.0

# Seconds after its last use when another model's set is removed.
OLD_SET = 30 * 86400.0

# Up to so many notes the vectors stand in `_embeddings.json` as lists: 384 numbers of each are about 4 kB.
_LISTED = 2000

_DEAD_SHARE = 0.3
_FEW_DEAD = 1000


def export_if_due(root: Path, vectors: VectorSet, names: Mapping[str, str], updated: str, wait: float) -> None:
    """Write `_embeddings.json` when it is not as we left it, and otherwise when enough has changed to be worth its size.

    `names` gives the perspective of each instruction. What cannot be written now is written later.
    """
    ledger = vectors.ledger()
    build, changes = f"{vectors.folder.name} {ledger.meta('nonce')}", int(ledger.meta("seq"))
    exported = ExportedFile(_export(root), place(root) / CACHE / "embeddings.lock", wait)
    if exported.is_due(build, changes, ledger.count_notes()):
        with suppress(Busy, StorageError):
            exported.write(lambda: orjson.dumps(document(vectors, names, updated)) + b"\n", build, changes, synced=False)


def exported_well(root: Path) -> bool:
    """Whether `_embeddings.json` is as it was left; nothing is read of it."""
    return _export(root).state() is IndexState.INTACT


def _export(root: Path) -> SealedFile:
    return SealedFile(root / EMBEDDINGS_FILE, place(root) / CACHE / "embeddings.seal")


def document(vectors: VectorSet, names: Mapping[str, str], updated: str) -> dict[str, Any]:
    """`version, model, dimensions, updated, calibration, files` by perspective, `entries` and `notes` by id (pages: by path).

    `entries` has the vector of each note's first text, as a list of numbers as the second document has it; of more than
    2,000 notes the row of that vector in the file of the perspective `general`. `notes` has each note's path and, by
    perspective, the hash of each of its texts with the row of its vector (null: none yet).
    """
    ledger = vectors.ledger()
    partitions = {names.get(instruction, instruction): partition for instruction, partition in ledger.partitions().items()}
    rows = {name: dict(ledger.every_row(partition.number)) for name, partition in partitions.items()}
    notes: dict[str, Any] = {}
    for note in ledger.every_note():
        fields = {
            name: {"texts": [key.hex() for key in note.keys], "rows": [at.get(key) for key in note.keys]}
            for name, at in rows.items()
        }
        notes.setdefault(note.id or note.path, {"path": note.path, "perspectives": fields})
    first = {name: next(iter(note["perspectives"].get(GENERAL, {"rows": ()})["rows"]), None) for name, note in notes.items()}
    at = {name: row for name, row in first.items() if row is not None}
    return {
        "version": VERSION,
        "model": vectors.model,
        "dimensions": vectors.dimensions,
        "updated": updated,
        "calibration": {name: to_builtins(partition.background) for name, partition in partitions.items()},
        "files": {name: f"{CACHE}/{VECTORS}/{vectors.folder.name}/{partition.file}" for name, partition in partitions.items()},
        "count": len(notes),
        "entries": at if len(notes) > _LISTED else _numbers(vectors, names, at),
        "notes": notes,
    }


def _numbers(vectors: VectorSet, names: Mapping[str, str], rows: Mapping[str, int]) -> dict[str, list[float]]:
    """The vectors of some rows of the perspective `general`, rounded to six digits."""
    view = vectors.view(next((instruction for instruction, name in names.items() if name == GENERAL), ""))
    if view is None:
        return {}
    known = {name: row for name, row in rows.items() if row < len(view.rows)}
    table = view.rows.vectors_at(list(known.values()))
    return {name: [round(float(number), 6) for number in vector] for name, vector in zip(known, table, strict=True)}


def compact_if_due(vectors: VectorSet, now: float) -> None:
    """Leave out rows of texts that no note has had for long, or of more such texts than there are others, when they are many."""
    dropped = _to_drop(vectors.ledger(), now)
    if len(dropped) < _FEW_DEAD:
        return
    for instruction, partition in vectors.ledger().partitions().items():
        if len(vectors.ledger().row_numbers(partition.number, dropped)) > _DEAD_SHARE * partition.rows:
            vectors.compact(instruction, dropped)
    with vectors.writing() as ledger, ledger.transaction():
        ledger.drop_retired(dropped)


def discard_old(cache: Path, serving: Path, now: float) -> None:
    """Remove the sets of other models that were not written to for long."""
    for folder, _, _ in sets.folders(cache):
        with suppress(OSError):
            if folder != serving and now - max(file.stat().st_mtime for file in folder.iterdir()) > OLD_SET:
                discard(folder)


def _to_drop(ledger: VectorLedger, now: float) -> frozenset[bytes]:
    retired = ledger.retired()
    owned = Counter(partition.rows for partition in ledger.partitions().values())
    most = max(max(owned, default=0) - len(retired), _FEW_DEAD)
    return frozenset(key for n, (key, at) in enumerate(retired) if n >= most or now - at > KEEP)


def erase(cache: Path, paths: Collection[str], wait: float, code: Callable[[str], str] | None = None) -> None:
    """Erase these notes, and all texts that no note has any more, from the sets of all models: for once no text is kept in case
    it comes back.

    Chroma's copy below `cache` is removed whole: it is made again from the sets. Of what a server has, the name that `code`
    gives is kept until it is deleted there, and no other. Raises Busy and StorageError.
    """
    for folder, model, dimensions in sets.folders(cache):
        vectors = VectorSet(folder, model, dimensions, wait)
        try:
            with vectors.writing() as ledger, ledger.transaction():
                ledger.drop_notes(paths, 0.0)
                if code is not None:
                    _let_go(ledger, paths, code)
                # It names the last note that was looked at; without it all are compared once more.
                ledger.say(mark="")
            dropped = frozenset(key for key, _ in vectors.ledger().retired())
            for instruction in vectors.ledger().partitions() if dropped else ():
                vectors.compact(instruction, dropped)
            with vectors.writing() as ledger, ledger.transaction():
                ledger.drop_retired(dropped)
        finally:
            vectors.close()
    for copy in cache.glob("chroma*"):
        discard(copy)


def let_go(cache: Path, paths: Collection[str], wait: float, code: Callable[[str], str]) -> None:
    """Have what a server has of these notes deleted there, once it answers. Raises Busy and StorageError."""
    for folder, model, dimensions in sets.folders(cache):
        vectors = VectorSet(folder, model, dimensions, wait)
        try:
            with vectors.writing() as ledger, ledger.transaction():
                _let_go(ledger, paths, code)
        finally:
            vectors.close()


def _let_go(ledger: VectorLedger, paths: Collection[str], code: Callable[[str], str]) -> None:
    for store, partition, path, _ in ledger.mirrored_elsewhere():
        if path in paths:
            ledger.rename_mirrored(store, partition, path, f"{GONE}{code(path)}")


def undeleted(cache: Path, wait: float) -> dict[str, int]:
    """By the address of a server, how many notes it still has that the vault has no more; of all sets."""
    counts: Counter[str] = Counter()
    for folder, model, dimensions in sets.folders(cache):
        vectors = VectorSet(folder, model, dimensions, wait)
        with suppress(Busy, StorageError):
            counts.update(dict(vectors.ledger().undeleted()))
        vectors.close()
    return dict(counts)


def mirror_bytes(cache: Path) -> int:
    """The bytes of Chroma's own folder, and of one that was set aside."""
    total = 0
    for file in cache.glob("chroma*/**/*"):
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total
