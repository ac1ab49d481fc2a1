"""How well supposed updates are told from pairs that only look like one: `python -m bench updates`.

The pairs are invented; the odd ones were tuned on, the even ones set aside. Those of a second file tell the newer memory in words
of its own. Two hands wrote them without knowing the rule; the odd ones were tuned on, the even ones looked at only where they
were wrongly told. A third file has pairs by two more hands, half of whose look-alikes say that something is new, of another
attribute: `The build takes 12 minutes.`, `The build now has 40 steps.`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.table import table
from vault_tool.recall.updates import changed

PAIRS = Path(__file__).with_name("updates.jsonl")
RETOLD = Path(__file__).with_name("updates_retold.jsonl")
NEWS = Path(__file__).with_name("updates_news.jsonl")
PRECISION, RECALL = 0.95, 0.7


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories of one thing or of two, the older first, and whether the newer is an update."""

    id: int
    update: bool
    kind: str
    older: str
    newer: str

    @property
    def aside(self) -> bool:
        """Whether it was set aside while the rule was made."""
        return self.id % 2 == 0


@dataclass(frozen=True, slots=True)
class Told:
    """What the rule says of some pairs."""

    found: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of the updates that it tells that are updates."""
        return self.found / max(1, self.found + self.wrong)

    @property
    def recall(self) -> float:
        """The share of the updates that it tells."""
        return self.found / max(1, self.found + self.missed)


def pairs(path: Path = PAIRS) -> list[Pair]:
    """All pairs of a file."""
    return [Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def told(some: list[Pair]) -> Told:
    """What the rule says of them."""
    said = [(pair.update, changed(pair.older, pair.newer) is not None) for pair in some]
    return Told(said.count((True, True)), said.count((False, True)), said.count((True, False)))


def add_parser(whats: Any) -> None:
    """The command and its options."""
    parser: argparse.ArgumentParser = whats.add_parser("updates", help="supposed updates beside pairs that only look like one")
    parser.add_argument("--wrong", action="store_true", help="also each pair of the half tuned on that is told wrongly")
    parser.set_defaults(run=_run)


def _run(asked: argparse.Namespace) -> int:
    some, retold, news = pairs(), pairs(RETOLD), pairs(NEWS)
    aside = told([pair for pair in some if pair.aside])
    rows = [_row("tuned on", told([pair for pair in some if not pair.aside])), _row("set aside", aside)]
    rows.append(_row("tuned on, in other words", told([pair for pair in retold if not pair.aside])))
    rows.append(_row("set aside, in other words", told([pair for pair in retold if pair.aside])))
    rows.append(_row("tuned on, with news", told([pair for pair in news if not pair.aside])))
    rows.append(_row("set aside, with news", told([pair for pair in news if pair.aside])))
    print(table(("half", "updates told", "wrongly told", "not told", "precision", "recall"), rows))
    print(f"\n{table(('kind', 'an update', 'told so', 'of'), list(_kinds(some)))}")
    for pair in some if asked.wrong else ():
        if not pair.aside and pair.update != (changed(pair.older, pair.newer) is not None):
            print(f"{'missed' if pair.update else 'wrong'} ({pair.kind}): {pair.older} / {pair.newer}")
    return 0 if aside.precision >= PRECISION and aside.recall >= RECALL else 1


def _row(name: str, one: Told) -> tuple[str, ...]:
    return name, str(one.found), str(one.wrong), str(one.missed), f"{one.precision:.3f}", f"{one.recall:.3f}"


def _kinds(some: list[Pair]) -> Iterator[tuple[str, ...]]:
    for update, kind in dict.fromkeys((pair.update, pair.kind) for pair in some):
        several = [pair for pair in some if (pair.update, pair.kind) == (update, kind)]
        one = told(several)
        yield kind, "yes" if update else "no", str(one.found + one.wrong), str(len(several))
