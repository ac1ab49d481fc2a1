"""What was promised of the tool's speed, row by row, and whether the figures of a run keep it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.commands import COMMANDS
from bench.figure import Figure

_CROWDS = tuple(f"crowd-{what}-{many}" for what in ("recall", "write") for many in ("one", "some", "work"))


@dataclass(frozen=True, slots=True)
class Row:
    """One promise in words, with the figures that decide it."""

    name: str
    what: str
    figures: tuple[str, ...]
    beside: tuple[str, ...] = ()
    """Figures that are told with them and decide nothing."""


ROWS = (
    Row("remember", "one memory written, indexed and committed, warm", ("remember",)),
    Row("day", "the 1st, 1,000th and 5,000th of a day alike; a full month as an empty one", ("day-second", "day-last", "month")),
    Row("small", "`get` and a counted `recall` in small vaults not slower than at 10,000", ("get-small", "recall-small")),
    Row("check", "the comparison with nothing changed, warm", ("check",)),
    Row(
        "hooks",
        "hooks of a session's start and of a prompt, owner there; never empty",
        ("hook-start", "hook-prompt", "hook-empty"),
    ),
    Row("owner", "an owner's answers", ("owner-get", "owner-search", "owner-recall")),
    Row("cold", "commands where no owner is, and the second of a minute", ("help", "get", "second-command")),
    Row("crowd", "20 clients of one owner", ("crowd-recall", "crowd-write", "crowd-refused"), _CROWDS),
    Row("results", "ten results beside none, processor time", ("recall-ten",)),
    Row(
        "whole",
        "`status`, `tags`, `activity`, `core` beside a cold `get`",
        ("whole-status", "whole-tags", "whole-activity", "whole-core", "whole-peak"),
    ),
    Row("memory", "the memory of any command", ("command-peak",), tuple(f"peak {name}" for name in COMMANDS)),
    Row("embedding", "short notes embedded by the local model", ("embed-local",)),
    Row("mcp-first", "the first list of tools where no owner is, beside server-memory's", ("mcp-list",)),
    Row("full-rebuild", "everything derived made anew", ("rebuild",)),
)


def chosen(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """The figures of these names, a row's name standing for all of its own; ValueError naming the first that is none."""
    rows = {row.name: row.figures + row.beside for row in ROWS}
    found: list[str] = []
    for name in names:
        if name not in rows and name not in known:
            raise ValueError(name)
        found += rows.get(name, (name,))
    return tuple(dict.fromkeys(found))


def verdicts(figures: Sequence[Figure], *, told: bool = True) -> list[tuple[str, str, str]]:
    """Each row, its promise and, for each figure and size, whether it is kept; with `told` also what was not measured."""
    measured = {figure.name for figure in figures if figure.ok is not None}
    return [
        (row.name, row.what, "; ".join(_verdict(name, figures) for name in row.figures if told or name in measured))
        for row in ROWS
        if told or measured & {*row.figures}
    ]


def _verdict(name: str, figures: Sequence[Figure]) -> str:
    found = [figure for figure in figures if figure.name == name and figure.ok is not None]
    if not found:
        return f"{name} not measured"
    kept = " ".join(_size(figure) for figure in found if figure.ok)
    missed = " ".join(_size(figure) for figure in found if not figure.ok)
    return f"{name}{f' met {kept}' if kept else ''}{f' MISSED {missed}' if missed else ''}"


def _size(figure: Figure) -> str:
    value = f"{figure.ratio:.2f}" if figure.ratio is not None else f"{figure.median:.0f}"
    return f"{value}@{figure.notes:,}"
