"""What must be known to change one thing, counted in one checkout or several: `python -m bench house [CHECKOUT ...]`."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import profile, source
from bench.source import Module

HERE = Path(__file__).resolve().parent.parent

_FILES_BY_CAPABILITY = {"turns": 12, "consent": 12, "erasing": 14, "vectors": 20, "visibility per user": 15}
_WALKS = {profile.WARM: 45, "recall": 70, "remember": 75, "consolidate": 90, "status": 75}
_GIT = {"status": 3, "remember": 6}


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is counted; without a target it is printed and decides nothing."""

    name: str
    value: int
    target: int | None = None
    where: tuple[str, ...] = ()

    @property
    def misses(self) -> bool:
        """Whether there is more of it than there should be."""
        return self.target is not None and self.value > self.target


def measures(checkout: Path, field: str = "mood") -> list[Measure]:
    """All measures of a checkout that its source alone tells."""
    package = source.modules(checkout / profile.PACKAGE)
    return [*_knowledge(package, field), *_forms(package), *_prose(package, checkout), *_sizes(package)]


def _knowledge(package: Sequence[Module], field: str) -> Iterator[Measure]:
    places = [len(re.findall(rf"\b{field}\b", module.code)) for module in package]
    yield Measure(f"files that hold the field `{field}`", sum(map(bool, places)), 6)
    yield Measure(f"places that name the field `{field}`", sum(places))
    for name, most in _FILES_BY_CAPABILITY.items():
        knowing = [str(module.path) for module in package if module.words & source.CAPABILITIES[name]]
        yield Measure(f"files that know of {name}", len(knowing), most, tuple(knowing))


def _forms(package: Sequence[Module]) -> Iterator[Measure]:
    yield Measure(
        "calls of `fresh()` in verbs and below", sum(module.calls("fresh") for module in package if not module.is_door), 1
    )
    yield Measure("result fields called `freshness`", source.fields_called(package, "freshness"), 1)
    describing = source.describing(package)
    yield Measure("classes that describe a memory", len(describing), None, tuple(describing))
    caches = source.caches(package)
    yield Measure("caches with a rule of validity of their own", len(caches), 1, tuple(caches))
    yield Measure("members of `Context`", source.members_of(package, "Context"), 20)
    yield Measure("modules that import `Context`", source.importers_of(package, "Context"), 60)
    yield Measure("reaches into `__dict__`", source.reaches(package), 0)
    yield Measure("blocks that load a module late", source.late_blocks(package), 30)
    yield Measure("imports by strings", source.imports_by_strings(package), 0)


def _prose(package: Sequence[Module], checkout: Path) -> Iterator[Measure]:
    riddles = source.riddles(package)
    yield Measure("docstrings that begin with a riddle", len(riddles), 0, tuple(riddles))
    pages = [page for page in sorted((checkout / "docs").glob("*.md")) if page.name != "decisions.md"]
    sentences = source.riddles_in_prose(pages)
    yield Measure("sentences of docs that are riddles", len(sentences), 0, tuple(sentences))
    yield Measure("vague locals and arguments", source.vague_names(package), 100)


def _sizes(package: Sequence[Module]) -> Iterator[Measure]:
    long = tuple(source.too_long(package))
    yield Measure("files over 600 lines, functions over 60", len(long), 0, long)
    lines = sorted(module.text.count("\n") for module in package)
    lengths = sorted((node.end_lineno or 0) - node.lineno + 1 for module in package for node in module.functions)
    yield Measure("files", len(lines))
    yield Measure("files under 100 lines", sum(count < 100 for count in lines))
    yield Measure("lines", sum(lines))
    for name, counts in (("lines of a file", lines), ("lines of a function", lengths)):
        yield Measure(f"{name}, median", round(statistics.median(counts)))
        yield Measure(f"{name}, ninth of ten", counts[int(0.9 * len(counts))])
        yield Measure(f"{name}, most", counts[-1])


def walks(checkout: Path) -> list[Measure]:
    """How many modules commands enter, and how many processes of git they start, with the code of a checkout."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "house"
        memory = profile.made(root, checkout)
        profiles = {command: profile.measured(root, memory, command, checkout) for command in _WALKS}
    entered = [Measure(f"modules entered by {command}", profiles[command].modules, most) for command, most in _WALKS.items()]
    return entered + [Measure(f"processes of git of {command}", profiles[command].git, most) for command, most in _GIT.items()]


def as_table(columns: Sequence[tuple[str, Sequence[Measure]]]) -> str:
    """One line a measure, one column a checkout; what misses its target is bold."""
    heads = ("measure", *(name for name, _ in columns), "target")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in zip(*(measured for _, measured in columns), strict=True):
        cells = [f"**{each.value:,}**" if each.misses else f"{each.value:,}" for each in row]
        target = "" if row[0].target is None else f"<= {row[0].target}"
        lines.append(f"| {row[0].name} | {' | '.join(cells)} | {target} |")
    return "\n".join(lines)


def add_parser(whats: Any) -> None:
    """The command line of `python -m bench house`."""
    what: argparse.ArgumentParser = whats.add_parser(
        "house", help="what must be known to change one thing, in one checkout or several"
    )
    what.add_argument("checkouts", type=Path, nargs="*", default=[HERE], metavar="CHECKOUT", help="folders (default: this one)")
    what.add_argument("--field", default="mood", help="the field of a memory that is looked for")
    what.add_argument("--source", action="store_true", help="only what the source tells; no command is run")
    what.add_argument("--where", metavar="WORDS", help="list the places of the measures whose names hold these words")
    what.set_defaults(run=_run)


def _run(asked: argparse.Namespace) -> int:
    columns = []
    for checkout in (path.resolve() for path in asked.checkouts):
        if not (checkout / profile.PACKAGE).is_dir():
            print(f"error: there is no {profile.PACKAGE} in {checkout}", file=sys.stderr)
            return 2
        measured = measures(checkout, asked.field)
        columns.append((checkout.name, measured if asked.source else [*measured, *walks(checkout)]))
    print(as_table(columns))
    for name, measured in columns if asked.where else ():
        for each in measured:
            if asked.where in each.name:
                print(f"\n{name}: {each.name}", *each.where, sep="\n  ")
    return 1 if any(each.misses for each in columns[-1][1]) else 0
