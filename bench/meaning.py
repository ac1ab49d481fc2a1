"""The figures about vectors and turns: what embedding is spared, what a warm process holds, what a turn adds to its recall."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.bed import Bed
from bench.figure import Figure, slow_one
from bench.machine import Failed, child, in_turn, run
from vault_tool import machine
from vault_tool.files.layout import CACHE, CONFIG_FILE, EMBEDDINGS_FILE
from vault_tool.index.embedding.onnx import folder_in, present, usual_models

_TURNS_A_RUN = 10
_ASKED = 40


def models_here() -> Path | None:
    """The folder with the local model's files; None, and a word about it, where they are not on this machine."""
    models = Path(os.environ.get("VAULT_MODELS") or usual_models(Path.home()))
    if present(folder_in(models)):
        return models
    print("skipped, there is no model (VAULT_MODELS names its folder)", file=sys.stderr, flush=True)
    return None


def by_vectors(bed: Bed) -> Iterator[Figure]:
    """A vault with a vector for everything, made by a stand-in that answers on loopback: see `bench.embedder`."""
    from bench.embedder import MODEL, ollama  # numpy, for these figures alone

    with ollama() as url, _settings(bed.root, provider="ollama", ollama_host=url, model=MODEL):
        child("embed", bed.root)
        held = child("memory", bed.root, bed.query)
        what = f"memory of a warm process, {held['vectors']:,} notes with vectors, catalogue and full text"
        yield bed.figure("memory-warm", what, [held["now_mb"]], unit="MB")
        yield bed.figure("memory-warm-peak", "the most it ever had", [held["peak_mb"]], unit="MB")
        taken = child("recall", bed.root, max(bed.runs, _ASKED))
        if not taken["by_meaning"]:
            raise Failed("the questions were not answered by meaning")
        yield bed.figure("recall-vectors", "recall by words and meaning, the question embedded before, warm", taken["seconds"])
        slow, floor = [slow_one(taken["seconds"])], (slow_one(taken["floor"]),)
        what = "the same, of twenty the slowest but one"
        yield bed.figure("recall-vectors-p95", what, slow, floor_is="a stock query, a product, ten files read", floor=floor)
        turns = [child("second", bed.root, bed.runs) for _ in range(bed.rebuilds)]
        later = tuple(statistics.median(one["later"]) for one in turns)
        what = "a fresh process's second question by words and meaning"
        yield bed.figure("recall-second", what, [one["second"] for one in turns], floor_is="its later ones", floor=later)
        again = child("embed-again", bed.root)["texts"]
        yield bed.figure("embed-cached", "texts embedded after a full reindex and without a catalogue", again, unit="texts")


def cold_by_meaning(bed: Bed) -> Iterator[Figure]:
    """One question as people type it, embedded by the real local model; the notes' vectors are made up, which costs no less."""
    models = models_here()
    if models is None:
        return
    with by_local_model(bed, models):
        floor, asked = in_turn(bed.runs, lambda: run([sys.executable, "-c", "pass"]), lambda: ask(bed), warm=True)
    what = "vt recall QUESTION, by the local model"
    yield bed.figure("recall-cold-local", what, asked, floor_is="start of Python", floor=tuple(floor))


@contextmanager
def by_local_model(bed: Bed, models: Path) -> Iterator[None]:
    """A vault whose questions the local model embeds, with made-up vectors for its notes."""
    with _settings(bed.root, provider="local", models=str(models)):
        child("embed-as-local", bed.root, models)
        yield


def turns(bed: Bed) -> Iterator[Figure]:
    """What a turn costs beside the recall that is part of it: accepted candidates are on the disk, and written later."""
    found = child("turn", bed.root, bed.runs * _TURNS_A_RUN)
    ours, floor = found["seconds"], found["floor"]
    yield bed.figure("turn", "a turn, its candidate accepted", ours, floor_is="its recall alone", floor=tuple(floor))
    yield bed.figure("turn-adds", "what a turn adds to it: p95 less p95", [max(0.0, slow_one(ours) - slow_one(floor))])


def ask(bed: Bed, *, owner: bool = False) -> None:
    """One question as people type it; Failed where it was not answered by meaning."""
    said = json.loads(bed.vt("recall", bed.query, "--json", owner=owner))
    if said["degraded"]:
        raise Failed(f"the question was not answered by meaning: {said['degraded']}")


@contextmanager
def _settings(root: Path, **settings: str) -> Iterator[None]:
    """Settings of this machine in the vault's folder; they and the vectors go afterwards, for other figures are without."""
    machine.write(root / CONFIG_FILE, settings)
    try:
        yield
    finally:
        (root / CONFIG_FILE).unlink()
        (root / EMBEDDINGS_FILE).unlink(missing_ok=True)
        shutil.rmtree(root / CACHE / "vectors", ignore_errors=True)
