"""Figures as a Markdown table: for the terminal and for the docs alike."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from bench.figure import Against, Figure, Growth

_HEADINGS = ("figure", "notes", "median", "best", "floor", "ratio", "target", "ok", "pace")
_GROWTH_HEADINGS = ("figure", "from", "to", "times", "exponent", "linear")
_ROW_HEADINGS = ("row", "promise", "figures: ratio (or value) @ notes")
_FLAGS = {True: "yes", False: "NO", None: ""}


def figures_table(figures: Iterable[Figure]) -> str:
    """One line a figure; times below a second in milliseconds."""
    return table(_HEADINGS, [_row(figure) for figure in figures])


def growth_table(growths: Iterable[Growth]) -> str:
    """One line a figure that was measured at two sizes."""
    rows = [
        (one.name, f"{one.fewer:,}", f"{one.more:,}", f"{one.times:.1f}", f"{one.exponent:.2f}", _FLAGS[one.linear])
        for one in growths
    ]
    return table(_GROWTH_HEADINGS, rows)


def rows_table(verdicts: Iterable[tuple[str, str, str]]) -> str:
    """One line a promise, with the figures that decide it."""
    return table(_ROW_HEADINGS, [*verdicts])


def amount(value: float, unit: str) -> str:
    """A value as people read it."""
    if unit == "/s":
        return f"{value:,.1f} /s"
    if unit != "s":
        return f"{value:,.0f} {unit}" if value >= 10 else f"{value:.2f} {unit}"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.2f} ms"


def _row(figure: Figure) -> tuple[str, ...]:
    floor = f"{amount(statistics.median(figure.floor), figure.unit)} ({figure.floor_is})" if figure.floor else ""
    return (
        f"{figure.name}: {figure.what}",
        f"{figure.notes:,}",
        amount(figure.median, figure.unit),
        amount(figure.best, figure.unit),
        floor,
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        _target(figure),
        _FLAGS[figure.ok],
        amount(figure.pace, "s") if figure.pace else "",
    )


def _target(figure: Figure) -> str:
    if figure.target is None:
        return ""
    limit = figure.target.limit
    least = "at least " if figure.target.at_least else ""
    return least + (f"{limit:g} x floor" if figure.target.against is Against.FLOOR else amount(limit, figure.unit))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under headings, as Markdown."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |" for line in lines)
