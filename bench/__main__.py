"""The command line of the measurements: `python -m bench speed --notes 10000`, `python -m bench consolidation --notes 1000`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bench import consolidation, mutations, profile, quality_report, speed
from bench.bed import prepare
from bench.figure import Figure, growths
from bench.machine import RESULTS, Failed, description, pace
from bench.table import figures_table, growth_table


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the JSON; 1 where a target was missed, 2 where something could not be measured."""
    asked = _parser().parse_args(given)
    if "run" in asked:
        return int(asked.run(asked))
    folder: Path = asked.folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        figures = _measure(asked, folder)
    except Failed as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    growth = list(growths(figures))
    document = {
        "machine": description(),
        "seed": asked.seed,
        "figures": [figure.to_json() for figure in figures],
        "growth": [{**asdict(one), "linear": one.linear} for one in growth],
    }
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(figures_table(figures))
    if growth:
        print(f"\n{growth_table(growth)}")
    return 1 if any(figure.ok is False for figure in figures) else 0


def _measure(asked: argparse.Namespace, folder: Path) -> list[Figure]:
    figures: list[Figure] = []
    for notes in asked.notes or [10_000]:
        _say(f"making a vault of {notes:,} notes")
        bed = prepare(folder, notes, asked.runs, asked.seed)
        measured = consolidation.measured(bed) if asked.what == "consolidation" else speed.measured(bed, tuple(asked.only))
        before = pace()
        for figure in measured:
            _say(f"{figure.name}: {figure.median:.4g} {figure.unit}")
            after = pace()
            figures.append(replace(figure, pace=(before + after) / 2))
            before = after
        if not asked.keep:
            for made in (bed.root, bed.clone):
                shutil.rmtree(made)
    return figures


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    whats = parser.add_subparsers(required=True, metavar="WHAT", dest="what")
    quality_report.add_parser(whats)
    mutations.add_parser(whats)
    profile.add_parser(whats)
    _common(whats.add_parser("consolidation", help="a pass over a few changed subjects, in vaults of any size"), "consolidation")
    what = _common(whats.add_parser("speed", help="times, memory and sizes beside floors"), "speed")
    what.add_argument("--only", choices=speed.NAMES, action="append", default=[], metavar="NAME", help=", ".join(speed.NAMES))
    return parser


def _common(what: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    what.add_argument("--notes", type=_notes, action="append", help="a size to measure at; may be repeated (default 10000)")
    what.add_argument("--runs", type=int, default=11, help="how often each figure is run (long ones at most 3 times)")
    what.add_argument("--seed", type=int, default=1, help="the vault's seed")
    what.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", help="where the JSON goes")
    what.add_argument("--folder", type=Path, default=RESULTS / "vaults", help="where the vaults are made; not a RAM disk")
    what.add_argument("--keep", action="store_true", help="leave the vaults there for the next run")
    return what


def _notes(text: str) -> int:
    count = int(text)
    if count < 20:
        raise argparse.ArgumentTypeError("a vault of fewer than 20 notes has too little in it")
    return count


if __name__ == "__main__":
    sys.exit(main())
