"""The work of the figures about vectors and turns, each piece in a process of its own; `bench.tasks` lists it."""

from __future__ import annotations

import os
import resource
import shutil
import uuid
from pathlib import Path
from typing import Any

from bench.machine import PEAK_UNIT, Failed, in_turn, timed
from bench.prose import Prose
from vault_tool import Vault
from vault_tool.features.turns.turn_recall import recollect
from vault_tool.files.layout import CACHE
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query

_USER, _WORLD, _SESSION = "u1", "w1", "s1"
_QUESTIONS = 20
_MEGABYTE = 1_000_000


def embed(root: Path) -> dict[str, Any]:
    """Embed all that has no vector, by whom the settings of the vault's folder name."""
    with Vault.open(root) as vault:
        seconds = timed(vault.fresh)
        done = vault.embed()
        if not done.complete or done.refused:
            raise Failed(f"{done.behind} notes are behind, {done.refused} texts refused: {done.stopped or dict(done.reasons)}")
        return {"seconds": done.seconds, "fresh": seconds, "embedded": done.embedded}


def embed_as_local(root: Path, models: Path) -> dict[str, Any]:
    """Fill the local model's set with made-up vectors."""
    from bench.embedder import AsLocal
    from vault_tool.index.embedding.onnx import folder_in

    with Vault.open(root) as vault:
        vault.fresh()
        done = vault.embedding.vectors.catch_up(AsLocal(folder_in(models)))
        if done.stopped or done.behind:
            raise Failed(f"{done.behind} notes are behind: {done.stopped}")
        return {"embedded": done.embedded}


def embed_again(root: Path) -> dict[str, Any]:
    """How many texts are embedded once everything was: after a full reindex, and after the catalogue was deleted."""
    with Vault.open(root) as vault:
        vault.reindex(full=True)
        reindexed = vault.embed()
    for left in [*(root / CACHE).glob("catalog*"), root / CACHE / "lexical"]:
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    with Vault.open(root) as vault:
        made_again = vault.embed()
        if vault.embedding.vectors.count == 0 or reindexed.behind or made_again.behind:
            raise Failed("nothing is embedded, or not everything")
    return {"texts": [reindexed.embedded, made_again.embedded]}


def memory(root: Path, query: str) -> dict[str, Any]:
    """What a process holds that has compared the files, answered by words and by meaning, and told what is new."""
    with Vault.open(root) as vault:
        vault.fresh()
        vault.is_current = lambda: True
        if not vault.embedding.vectors.ready:
            raise Failed("there are no vectors to answer by")
        prose = Prose(3)
        for _ in range(_QUESTIONS):
            answer = gather(vault, Query(query=" ".join(prose.words(5)), include_global=False))
            if answer.degraded:
                raise Failed(f"the answer is not by meaning: {answer.degraded}")
        vault.search(query)
        vault.orient()
        return {"now_mb": _resident(), "peak_mb": _peak(), "vectors": vault.embedding.vectors.count}


def turn(root: Path, runs: int) -> dict[str, Any]:
    """A turn with a candidate that is accepted, beside the recall that is part of it; each of another text."""
    prose = Prose(5)

    def said() -> str:
        return " ".join(prose.words(8))

    with Vault.open(root) as vault:
        for number in range(runs):
            _one_turn(vault, said(), str(number))
        vault.drain(link=False)
        vault.fresh()
        vault.is_current = lambda: True
        ours, floor = in_turn(
            runs,
            lambda: _one_turn(vault, said()),
            lambda: recollect(vault, said(), user=_USER, world=_WORLD, session=_SESSION, limit=8, budget=600),
            warm=True,
        )
        waiting = vault.drain(link=False).waiting
        if waiting:
            raise Failed(f"{waiting} turns still wait")
    return {"seconds": ours, "floor": floor}


def _one_turn(vault: Vault, text: str, number: str = "") -> None:
    candidates = [{"content": f"{text} {uuid.uuid4().hex[:8]}.", "anchors": [f"Person {len(text) % 7}"]}]
    done = vault.turn(_SESSION, _USER, _WORLD, text, extractMemory=True, candidates=candidates, turn=number, write="later")
    if done.accepted != 1:
        raise Failed(f"the turn was not accepted: {done.gate.reason}")


def _resident() -> float:
    """Megabytes of this process that are in memory now, files that are mapped included; the peak where nothing says it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return _peak()
    return round(pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE, 1)


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / _MEGABYTE, 1)
