"""The figures: what is run how often, against which floor."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench import commands, crowd, doors, hooks, meaning, peers, small
from bench.bed import Bed
from bench.figure import Figure, slow_one
from bench.machine import child, in_turn, run, vt
from bench.meaning import models_here
from vault_tool.files.layout import DERIVED, VAULT

PARSE = "read every file, parse every head with the stock C loader"
STATUS = "git status"
COMMIT = "git add + git commit"
PYTHON = "start of Python"
CHROMA = "Chroma's default embedding function"

Measure = Callable[[Bed], Iterator[Figure]]

_SMALL, _LARGE = 1000, 10_000


def rebuild(bed: Bed) -> Iterator[Figure]:
    """A full rebuild in a fresh process each time, its floor in another beside it."""
    pairs = [(child("parse", bed.root), child("rebuild", bed.root)) for _ in range(bed.rebuilds)]
    floor = tuple(float(one["seconds"]) for one, _ in pairs)
    ours = [one for _, one in pairs]
    what = "full rebuild of everything derived, without embeddings"
    yield bed.figure("rebuild", what, [one["seconds"] for one in ours], floor_is=PARSE, floor=floor)
    yield bed.figure("rebuild-peak", "peak memory of the process that rebuilds", [one["peak_mb"] for one in ours], unit="MB")
    sizes = [_megabytes(bed.root / name) for name in DERIVED]
    floor = (_megabytes(bed.root / VAULT),)
    yield bed.figure("derived-size", "derived files on disk", [sum(sizes)], unit="MB", floor_is="the notes", floor=floor)


def check(bed: Bed) -> Iterator[Figure]:
    """The comparison that stands before every answer."""
    found = child("check", bed.root, bed.runs)
    yield bed.figure("check", "nothing changed: compare all files, warm process", **_paired(found, STATUS))


def remember(bed: Bed) -> Iterator[Figure]:
    """One write from the call to the commit."""
    found = child("remember", bed.root, bed.clone, bed.runs)
    yield bed.figure("remember", "one memory written, indexed and committed, warm process", **_paired(found, COMMIT))
    alike = _paired({"seconds": found["only"], "floor": found["floor"]}, COMMIT)
    yield bed.figure("commit-only", "git add + git commit -- FILE: other staged work stays, as with remember", **alike)


def look(bed: Bed) -> Iterator[Figure]:
    """Reading verbs of a process that stays."""
    found = child("look", bed.root, bed.identity, bed.query, bed.runs)
    yield bed.figure("get-warm", "get, warm process", found["get"])
    yield bed.figure("search-warm", "search of two words, warm process", found["search"])
    edited = child("edit", bed.root, bed.path, bed.runs)
    yield bed.figure("edit-search", "search that finds the word just typed in an editor, warm process", edited["seconds"])


def recall(bed: Bed) -> Iterator[Figure]:
    """Questions in a process that stays."""
    taken = child("recall", bed.root, max(bed.runs, 40))["seconds"]
    yield bed.figure("recall", "recall of a question, warm process, freshness vouched for", taken)
    yield bed.figure("recall-p95", "the same, of twenty the slowest but one", [slow_one(taken)])


def watch(bed: Bed) -> Iterator[Figure]:
    """Edits under a watcher that has just begun, with CORE.md to make: the slowest one decides."""
    taken = child("watch-edit", bed.root, bed.path, bed.runs)["seconds"]
    yield bed.figure("watch-edit", "an edit by hand, seen by the watcher and searchable", taken)
    yield bed.figure("watch-edit-slowest", "the slowest of these edits, the first two included", [max(taken)])


def cold(bed: Bed) -> Iterator[Figure]:
    """Commands as people type them, by turns with an idle Python."""
    floor, helped, got, found, asked, remembered = in_turn(
        bed.runs,
        lambda: run([sys.executable, "-c", "pass"]),
        lambda: run([*vt(), "--help"]),
        lambda: bed.vt("get", bed.identity),
        lambda: bed.vt("search", bed.query),
        lambda: bed.vt("recall", bed.query),
        lambda: bed.vt("remember", f"Typed {uuid.uuid4()}.", "--kind", "fact"),
        warm=True,
    )
    yield bed.figure("help", "vt --help", helped, floor_is=PYTHON, floor=tuple(floor))
    yield bed.figure("get", "vt get ID", got, floor_is=PYTHON, floor=tuple(floor))
    yield bed.figure("search", "vt search WORDS", found, floor_is=PYTHON, floor=tuple(floor))
    yield bed.figure("recall-cold", "vt recall QUESTION", asked, floor_is=PYTHON, floor=tuple(floor))
    yield bed.figure("remember-cold", "vt remember TEXT", remembered, floor_is=PYTHON, floor=tuple(floor))


def write(bed: Bed) -> Iterator[Figure]:
    """The door to the disk."""
    found = child("write", bed.root, bed.runs * 3)
    yield bed.figure("write", "one file written for good", **_paired(found, "temp, fsync, rename, fsync"))


def embedding(bed: Bed) -> Iterator[Figure]:
    """The local model beside Chroma's own way with the same files; no figure where they are not on this machine."""
    models = models_here()
    if models is None:
        return
    found = child("embed-local", bed.root, models, bed.rebuilds)
    yield bed.figure("embed-local", "96 short notes embedded by the local model, warm process", **_paired(found, CHROMA))


def lookup(bed: Bed) -> Iterator[Figure]:
    """The first lookup by id in a fresh process: why the working catalogue is no JSON file."""
    runs = range(bed.rebuilds)
    ours = [child("catalogue", bed.root, bed.identity)["seconds"] for _ in runs]
    fast, slow = ([child("whole-json", bed.root, bed.identity, way)["seconds"] for _ in runs] for way in (1, 0))
    yield bed.figure("lookup", "first lookup of an id, catalogue", ours, floor_is="_index.json by orjson", floor=tuple(fast))
    yield bed.figure("lookup-json", "the same from _index.json, standard library", slow)


MEASURES: Mapping[Measure, tuple[str, ...]] = MappingProxyType(
    {
        rebuild: ("rebuild", "rebuild-peak", "derived-size"),
        check: ("check",),
        remember: ("remember", "commit-only"),
        cold: ("help", "get", "search", "recall-cold", "remember-cold"),
        look: ("get-warm", "search-warm", "edit-search"),
        recall: ("recall", "recall-p95"),
        watch: ("watch-edit", "watch-edit-slowest"),
        write: ("write",),
        embedding: ("embed-local",),
        lookup: ("lookup", "lookup-json"),
        meaning.turns: ("turn", "turn-adds"),
        meaning.by_vectors: (
            "memory-warm",
            "memory-warm-peak",
            "recall-vectors",
            "recall-vectors-p95",
            "recall-second",
            "embed-cached",
        ),
        meaning.cold_by_meaning: ("recall-cold-local",),
        **doors.MEASURES,
        **small.MEASURES,
        **hooks.MEASURES,
        **crowd.MEASURES,
        **commands.MEASURES,
        **peers.MEASURES,
    }
)
"""Each measure with the names of its figures; the rebuild comes first, for it makes what the others read."""

NAMES = tuple(name for names in MEASURES.values() for name in names)
WITH_MODEL = MEASURES[embedding] + MEASURES[meaning.cold_by_meaning] + MEASURES[doors.by_owner_local]
"""The figures that take the files of the local model."""


SIZES: Mapping[Measure, Callable[[int], bool]] = MappingProxyType(
    {
        small.day: lambda notes: notes == _SMALL,
        small.month: lambda notes: notes == _LARGE,
        hooks.never_empty: lambda notes: notes >= _LARGE,
        crowd.crowds: lambda notes: notes in (_SMALL, _LARGE),
    }
)
"""The sizes at which a long measure is taken in a run of all of them; one that is asked for by name is taken at every size."""


def measured(bed: Bed, only: tuple[str, ...] = ()) -> Iterator[Figure]:
    """The figures of a vault, all of them or those named."""
    for measure, names in MEASURES.items():
        if measure in peers.MEASURES and bed.extent.peers is None:
            continue
        if set(only) & set(names) if only else SIZES.get(measure, bool)(bed.notes):
            yield from (figure for figure in measure(bed) if not only or figure.name in only)


def _paired(found: dict[str, Any], floor_is: str) -> dict[str, Any]:
    return {"values": found["seconds"], "floor_is": floor_is, "floor": tuple(found["floor"])}


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6
