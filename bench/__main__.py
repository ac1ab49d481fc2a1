"""The command line of the measurements: `python -m bench speed --only remember --sizes 300,1000`, `python -m bench profile`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path

from bench import consolidation, house, mutations, page_needs, profile, quality_report, rows, speed, story_pass, updates
from bench.bed import Beds, Extent
from bench.figure import Figure, growths
from bench.machine import RESULTS, Failed, description, pace
from bench.table import figures_table, growth_table, rows_table

SIZES = (300, 1000, 10_000, 100_000)


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the JSON; 1 where a target was missed, 2 where something could not be measured."""
    asked = _parser().parse_args(given)
    if "run" in asked:
        return int(asked.run(asked))
    folder: Path = asked.folder
    folder.mkdir(parents=True, exist_ok=True)
    figures: list[Figure] = []
    try:
        _measure(asked, folder, figures)
    except Failed as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    print(figures_table(figures))
    growth = list(growths(figures))
    if growth:
        print(f"\n{growth_table(growth)}")
    if asked.what == "speed":
        print(f"\n{rows_table(rows.verdicts(figures, told=not asked.only))}")
    return 1 if any(figure.ok is False for figure in figures) else 0


def _measure(asked: argparse.Namespace, folder: Path, figures: list[Figure]) -> None:
    """Add every figure as it is measured; the JSON is written after each, for a run of all sizes takes hours."""
    beds = Beds(folder, asked.runs, asked.seed, _extent(asked))
    try:
        for notes in asked.sizes or SIZES:
            _say(f"making a vault of {notes:,} notes")
            bed = beds.of(notes)
            measured = consolidation.measured(bed) if asked.what == "consolidation" else speed.measured(bed, asked.only)
            before = pace()
            for figure in measured:
                _say(f"{figure.name}: {figure.median:.4g} {figure.unit}")
                after = pace()
                figures.append(replace(figure, pace=(before + after) / 2))
                before = after
                _write(asked, figures)
    finally:
        if not asked.keep:
            beds.discard()


def _write(asked: argparse.Namespace, figures: Sequence[Figure]) -> None:
    document = {
        "machine": description(),
        "seed": asked.seed,
        "figures": [figure.to_json() for figure in figures],
        "growth": [{**asdict(one), "linear": one.linear} for one in growths(figures)],
    }
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _extent(asked: argparse.Namespace) -> Extent:
    return Extent(**{option.name: getattr(asked, option.name) for option in fields(Extent)})


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    whats = parser.add_subparsers(required=True, metavar="WHAT", dest="what")
    quality_report.add_parser(whats)
    mutations.add_parser(whats)
    profile.add_parser(whats)
    house.add_parser(whats)
    updates.add_parser(whats)
    page_needs.add_parser(whats)
    what = _common(
        whats.add_parser("consolidation", help="a pass over a few changed subjects, in vaults of any size"), "consolidation"
    )
    what.add_argument(
        "--story", dest="run", action="store_const", const=story_pass.run, default=argparse.SUPPRESS,
        help="instead: calls and tokens of a pass over a story of forty memories, and of one after ten more",
    )  # fmt: skip
    what = _common(
        whats.add_parser("speed", help="times, memory and sizes beside floors, and whether promises are kept"), "speed"
    )
    names = ", ".join([*(row.name for row in rows.ROWS), *speed.NAMES])
    what.add_argument(
        "--only", type=_names, action="extend", default=[], metavar="NAMES", help=f"rows or figures, by commas: {names}"
    )
    return parser


def _common(what: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    full = Extent()
    what.add_argument(
        "--sizes", "--notes", dest="sizes", type=_sizes, action="extend", default=[], metavar="N,N",
        help=f"the vaults' notes (default {','.join(map(str, SIZES))})",
    )  # fmt: skip
    what.add_argument("--runs", type=int, default=11, help="how often each figure is run (long ones at most 3 times)")
    what.add_argument("--seed", type=int, default=1, help="the vault's seed")
    what.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", help="where the JSON goes")
    what.add_argument("--folder", type=Path, default=RESULTS / "vaults", help="where the vaults are made; not a RAM disk")
    what.add_argument("--keep", action="store_true", help="leave the vaults there for the next run")
    what.add_argument("--beside", type=_count, default=full.beside, help="notes of the vault that small ones are held against")
    what.add_argument("--day", type=int, default=full.day, help="memories of a busy day")
    what.add_argument("--month", type=_count, default=full.month, help="notes of a full month")
    what.add_argument("--starts", type=int, default=full.starts, help="sessions that start under trouble")
    what.add_argument("--seconds", type=float, default=full.seconds, help="how long a crowd asks")
    what.add_argument("--clients", type=_clients, default=full.clients, metavar="N,N", help="the clients of crowds")
    what.add_argument("--peers", type=Path, help="a folder with `bin` and `node_modules`, where other tools are installed")
    what.set_defaults(only=[])
    return what


def _count(text: str) -> int:
    count = int(text)
    if count < 20:
        raise argparse.ArgumentTypeError("a vault of fewer than 20 notes has too little in it")
    return count


def _sizes(text: str) -> list[int]:
    return [_count(word) for word in text.split(",")]


def _clients(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    try:
        return rows.chosen(text.split(","), speed.NAMES)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(f"there is no row and no figure `{fault}`") from None


if __name__ == "__main__":
    sys.exit(main())
