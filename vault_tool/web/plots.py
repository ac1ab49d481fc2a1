"""Plots as SVG, made here: lines over time, without a script and readable as text too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from vault_tool.util.clock import parse_time

_WIDE, _HIGH, _LEFT, _BELOW = 640, 150, 28, 18

_GRID = Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text x="0" y="{:.1f}">{:.1f}</text>')
_BAR = Markup(
    '<rect class="c0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}: {}</title></rect>'
    '<text x="{:.1f}" y="64">{}</text>'
)
_POLYLINE = Markup('<polyline class="l{}" points="{}"><title>{}</title></polyline>')
_CIRCLE = Markup('<circle class="mark" cx="{:.1f}" cy="{}" r="4"><title>{}</title></circle>')


@dataclass(frozen=True, slots=True)
class Line:
    """One line: points of (time as records write it, value in 0..1), drawn as steps or straight; `colour` is 0 to 7."""

    name: str
    points: Sequence[tuple[str, float]]
    colour: int
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a time, told where one points at it."""

    at: str
    label: str


def plot(title: str, lines: Sequence[Line], *, now: str = "", marks: Sequence[Mark] = ()) -> Markup:
    """The lines over their common time, 0 to 1; a line at `now`, marks below. Nothing where no point has a time."""
    times = [moment.timestamp() for line in lines for at, _ in line.points if (moment := parse_time(at))]
    if not times:
        return Markup("")
    first, last = min(times), max(times)
    span = (last - first) or 1.0

    def x(at: str) -> float:
        moment = parse_time(at)
        return _LEFT + (_WIDE - _LEFT - 4) * (((moment.timestamp() if moment else first) - first) / span)

    def y(value: float) -> float:
        return 4 + (_HIGH - _BELOW - 8) * (1 - min(1.0, max(0.0, value)))

    parts = [Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(_WIDE, _HIGH, title)]
    parts.extend(_GRID.format(_LEFT, _WIDE - 4, y(value), y(value), y(value) + 4, value) for value in (0.0, 0.5, 1.0))
    present = parse_time(now) if now else None
    if present is not None and first <= present.timestamp() <= last:
        parts.append(Markup('<line class="now" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"/>').format(x(now), x(now), _HIGH - _BELOW))
    for line in lines:
        corners = _corners([(x(at), y(value)) for at, value in line.points], steps=line.steps)
        where = " ".join(f"{at:.1f},{value:.1f}" for at, value in corners)
        parts.append(_POLYLINE.format(line.colour % 8, where, line.name))
    parts.extend(_CIRCLE.format(x(mark.at), _HIGH - _BELOW - 4, mark.label) for mark in marks)
    ends = sorted((moment.timestamp(), at) for line in lines for at, _ in line.points if (moment := parse_time(at)))
    parts.append(Markup('<text x="{}" y="{}">{}</text>').format(_LEFT, _HIGH - 4, ends[0][1][:10]))
    parts.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text></svg>').format(_WIDE - 4, _HIGH - 4, ends[-1][1][:10]))
    legend = (
        Markup('<li><span class="swatch c{}" aria-hidden="true"></span>{}</li>').format(line.colour % 8, escape(line.name))
        for line in lines
    )
    return Markup("").join([*parts, Markup('<ul class="legend">'), *legend, Markup("</ul>")])


def bars(title: str, counts: Sequence[tuple[str, int]]) -> Markup:
    """Counts side by side, each with its name below where there is room; nothing for none."""
    if not counts:
        return Markup("")
    most, step = max(count for _, count in counts) or 1, min(48.0, (_WIDE - 8) / len(counts))
    parts = [Markup('<svg class="plot" viewBox="0 0 {} 70" role="img" aria-label="{}">').format(_WIDE, title)]
    for number, (name, count) in enumerate(counts):
        tall = 46 * count / most
        shown = name if number % max(1, len(counts) // 8) == 0 else ""
        parts.append(_BAR.format(4 + number * step, 50 - tall, max(1.0, step - 2), tall, name, count, 4 + number * step, shown))
    return Markup("").join([*parts, Markup("</svg>")])


def _corners(points: Sequence[tuple[float, float]], *, steps: bool) -> Iterator[tuple[float, float]]:
    """The corners of a line: with steps each value lasts until the next."""
    before: tuple[float, float] | None = None
    for point in points:
        if steps and before is not None:
            yield point[0], before[1]
        yield point
        before = point
