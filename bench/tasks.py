"""The work that is measured, each piece in a process of its own: `python -m bench.tasks NAME ARGUMENTS` prints JSON."""

from __future__ import annotations

import gc
import json
import resource
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import floors, meaning_tasks, small_tasks
from bench.machine import PEAK_UNIT, Failed, in_turn, timed
from bench.prose import Prose
from vault_tool import Vault
from vault_tool.files.layout import CACHE, CORE_FILE, DERIVED, VAULT
from vault_tool.index.vectors.hits import Vector
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util import atomic
from vault_tool.vault.retrieval.engine import Query, gather

_EMBEDDED = 96
_SHORT_NOTE = 150
_MEGABYTE = 1_000_000
_PAUSES = 2.2, 0.3, 0.6, 0.9
"""Seconds between saves, by turns: after the first of them CORE.md is begun, and the others fall into its making."""
_WARMING = 10


def parse(root: Path) -> dict[str, Any]:
    """The floor of a rebuild."""
    heads = 0

    def work() -> None:
        nonlocal heads
        heads = floors.read_and_parse(root)

    return {"seconds": timed(work), "heads": heads}


def rebuild(root: Path) -> dict[str, Any]:
    """Everything derived, made from the files alone; the peak is of the whole process, Python included."""
    for name in DERIVED:
        target = root / name
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
    with Vault.open(root) as vault:
        before = _peak()
        seconds = timed(lambda: vault.reindex(full=True))
        return {"seconds": seconds, "peak_mb": _peak(), "before_mb": before, "notes": vault.status().counts}


def check(root: Path, runs: int) -> dict[str, Any]:
    """The comparison with nothing changed in a warm process, beside `git status`."""
    with Vault.open(root) as vault:
        ours, floor = in_turn(runs, vault.fresh, lambda: floors.git_status(root), warm=True)
        return {"seconds": ours, "floor": floor}


def remember(root: Path, clone: Path, runs: int) -> dict[str, Any]:
    """One memory written, logged, indexed and committed, beside git's own add and commit of the same file elsewhere."""
    seconds: list[list[float]] = [[], [], []]
    with Vault.open(root) as vault:
        subject = next(iter(vault.get_subjects().results)).name
        for _ in range(runs + 1):
            begun = time.perf_counter()
            done = vault.remember(f"Measured memory {uuid.uuid4()}. It is of the usual length.", [subject], kind="fact")
            seconds[0].append(time.perf_counter() - begun)
            if not done.committed:
                raise Failed(f"remember did not commit: {done.reason}")
            twin, other = done.path, f"{done.path.removesuffix('.md')}-only.md"
            for path in (twin, other):
                (clone / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / done.path, clone / path)
            seconds[1].append(timed(lambda path=other: floors.git_add_and_commit_only(clone, path)))  # type: ignore[misc]
            seconds[2].append(timed(lambda path=twin: floors.git_add_and_commit(clone, path)))  # type: ignore[misc]
    ours, only, bare = (taken[1:] for taken in seconds)  # the first of each warms git's caches
    return {"seconds": ours, "floor": bare, "only": only}


def look(root: Path, identity: str, query: str, runs: int) -> dict[str, Any]:
    """`get` and `search` in a warm process."""
    with Vault.open(root) as vault:
        got, found = in_turn(runs, lambda: vault.get(identity), lambda: vault.search(query), warm=True)
        return {"get": got, "search": found}


def recall(root: Path, runs: int) -> dict[str, Any]:
    """Questions of several words in a warm process whose watcher vouches: every one another, the embedding of each left out."""
    with Vault.open(root) as vault:
        vault.fresh()
        vault.is_current = lambda: True
        entries = [one for one in vault.index.catalog.snapshot().entries if one.record_class is RecordClass.OBSERVATION]
        step = max(1, len(entries) // (runs + _WARMING))
        questions = [f"what about {' '.join(one.preview.split()[2:8])}?" for one in entries[::step]][: runs + _WARMING]
        by_meaning = vault.embedding.vectors.ready
        embed = vault.embedding.vectors.query
        spent = 0.0

        def query(*texts: str, seconds: float | None = None) -> dict[str, Vector]:
            nonlocal spent
            begun = time.perf_counter()
            found = embed(*texts, seconds=seconds)
            spent += time.perf_counter() - begun
            return found

        vault.embedding.vectors.query = query  # type: ignore[method-assign,assignment]
        stock = _stock(root, vault, entries) if by_meaning else None
        taken, floor = [], []
        for question in questions:
            spent = 0.0
            seconds = timed(lambda one=question: gather(vault, Query(query=one, include_global=False)))  # type: ignore[misc]
            taken.append(seconds - spent)
            if stock is not None:
                floor.append(timed(lambda one=question: stock.ask(one)))  # type: ignore[misc]
    return {"seconds": taken[_WARMING:], "floor": floor[_WARMING:], "first": taken[:_WARMING], "by_meaning": by_meaning}


def _stock(root: Path, vault: Vault, entries: Sequence[Entry]) -> floors.StockSearch:
    """The floor of a question, over the same notes and vectors as wide."""
    texts = {root / one.path: (root / one.path).read_text(encoding="utf-8").split("---\n", 2)[-1] for one in entries}
    return floors.StockSearch(texts, len(next(iter(vault.embedding.vectors.query("width").values()))))


def second(root: Path, runs: int) -> dict[str, Any]:
    """A fresh process's second question by words and meaning, beside those that come later."""
    with Vault.open(root) as vault:
        vault.fresh()
        vault.is_current = lambda: True
        prose = Prose(11)
        asked = [" ".join(prose.words(5)) for _ in range(runs + 2)]
        taken = [timed(lambda one=one: gather(vault, Query(query=one, include_global=False))) for one in asked]  # type: ignore[misc]
        return {"second": taken[1], "later": taken[2:]}


def edit(root: Path, path: str, runs: int) -> dict[str, Any]:
    """A search right after an editor saved one note: it must find the new word."""
    note = root / path
    before = note.read_bytes()
    taken: list[float] = []
    with Vault.open(root) as vault:
        vault.search("warm")
        for turn in range(runs):
            word = f"handmade{turn}{uuid.uuid4().hex[:8]}"
            note.write_bytes(before + f"\nAn edit by hand says {word}.\n".encode())
            taken.append(timed(lambda word=word: _must_find(vault, word, path)))  # type: ignore[misc]
        note.write_bytes(before)
        vault.fresh()
    return {"seconds": taken}


def watch_edit(root: Path, path: str, runs: int) -> dict[str, Any]:
    """From an editor's save to the watcher's word that it is searchable, from the first edit on, while CORE.md is due."""
    note = root / path
    before = note.read_bytes()
    (root / CORE_FILE).unlink(missing_ok=True)
    command = [sys.executable, "-m", "vault_tool", "watch", "--json", "--vault", str(root)]
    taken: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watcher, Vault.open(root) as vault:
        vault.is_current = lambda: True  # what the watcher took in must be found without another comparison
        try:
            _await(watcher, "watching ")
            for turn in range(runs):
                word = f"watched{turn}{uuid.uuid4().hex[:8]}"
                begun = time.perf_counter()
                note.write_bytes(before + f"\nAn edit by hand says {word}.\n".encode())
                _await(watcher, path)
                taken.append(time.perf_counter() - begun)
                _must_find(vault, word, path)
                time.sleep(_PAUSES[turn % len(_PAUSES)])
            note.write_bytes(before)
            _await(watcher, path)
        finally:
            watcher.terminate()
    return {"seconds": taken}


def _await(watcher: subprocess.Popen[str], what: str) -> None:
    """Read what the watcher says until it speaks of `what`."""
    assert watcher.stdout is not None
    for line in watcher.stdout:
        said = json.loads(line)
        if said.get("path") == what or str(said.get("remark", "")).startswith(what):
            return
    raise Failed(f"the watcher ended before it said anything of {what}")


def write(root: Path, runs: int) -> dict[str, Any]:
    """One file put on the disk for good, beside the bare calls."""
    folder = root / CACHE / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    data = b"One line of a note.\n" * 40
    ours, floor = in_turn(
        runs,
        lambda: atomic.write(folder / f"{uuid.uuid4().hex[:8]}.md", data),
        lambda: floors.write_durably(folder, data),
    )
    shutil.rmtree(folder)
    return {"seconds": ours, "floor": floor}


def embed_local(root: Path, models: Path, runs: int) -> dict[str, Any]:
    """The first sentences of some notes by the local model and by Chroma's default function, from the same files, by turns."""
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

    from vault_tool.index.embedding.embedder import Role
    from vault_tool.index.embedding.onnx import Local, folder_in

    notes = sorted((root / VAULT / "observations").rglob("*.md"))[:_EMBEDDED]
    texts = [note.read_text(encoding="utf-8").split("---\n", 2)[-1].strip()[:_SHORT_NOTE] for note in notes]
    ONNXMiniLM_L6_V2.DOWNLOAD_PATH = folder_in(models).parent
    theirs, ours = ONNXMiniLM_L6_V2(preferred_providers=["CPUExecutionProvider"]), Local(folder_in(models))
    difference = max(
        float(abs(one - other).max()) for one, other in zip(ours.embed(texts, Role.DOCUMENT).vectors, theirs(texts), strict=True)
    )
    if difference > 1e-5:
        raise Failed(f"the local model's vectors differ from those of Chroma's function by {difference:.2g}")
    taken, floor = in_turn(runs, lambda: ours.embed(texts, Role.DOCUMENT), lambda: theirs(texts))
    return {"seconds": taken, "floor": floor}


def catalogue(root: Path, identity: str) -> dict[str, Any]:
    """The first lookup of one id in a fresh process: from the catalogue as it is, without a comparison with the files."""
    with Vault.open(root) as vault:
        return {"seconds": timed(lambda: _one(vault, identity))}


def whole_json(root: Path, identity: str, fast: int) -> dict[str, Any]:
    """The same from `_index.json`, loaded whole by orjson (`fast`) or by Python's own reader."""
    return {"seconds": timed(lambda: floors.look_up_in_json(root, identity, bool(fast)))}


def _one(vault: Vault, identity: str) -> str:
    return vault.index.catalog.get(identity)[0].path


def _must_find(vault: Vault, word: str, path: str) -> None:
    if path not in [found.path for found in vault.search(word).results]:
        raise Failed(f"the search for {word} did not find {path}, which was just edited")


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / _MEGABYTE, 1)


_TASKS: dict[str, tuple[Callable[..., dict[str, Any]], tuple[Callable[[str], Any], ...]]] = {
    "parse": (parse, (Path,)),
    "rebuild": (rebuild, (Path,)),
    "check": (check, (Path, int)),
    "remember": (remember, (Path, Path, int)),
    "look": (look, (Path, str, str, int)),
    "recall": (recall, (Path, int)),
    "second": (second, (Path, int)),
    "edit": (edit, (Path, str, int)),
    "watch-edit": (watch_edit, (Path, str, int)),
    "write": (write, (Path, int)),
    "embed": (meaning_tasks.embed, (Path,)),
    "embed-again": (meaning_tasks.embed_again, (Path,)),
    "embed-as-local": (meaning_tasks.embed_as_local, (Path, Path)),
    "memory": (meaning_tasks.memory, (Path, str)),
    "turn": (meaning_tasks.turn, (Path, int)),
    "small": (small_tasks.small, (Path, str, Path, str, int)),
    "results": (small_tasks.results, (Path, int)),
    "day": (small_tasks.day, (Path, Path, Path, int, int, int)),
    "month": (small_tasks.month, (Path, Path, int)),
    "embed-local": (embed_local, (Path, Path, int)),
    "catalogue": (catalogue, (Path, str)),
    "whole-json": (whole_json, (Path, str, int)),
}


def main(given: list[str]) -> int:
    """Do one task and print what it found out."""
    task, kinds = _TASKS[given[0]]
    gc.collect()
    print(json.dumps(task(*(kind(value) for kind, value in zip(kinds, given[1:], strict=True)))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
