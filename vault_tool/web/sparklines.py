"""Sparklines and the one sentence beside each: how far a memory is believed, and how long it will be kept in mind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup

from vault_tool.belief.decay import PINNED
from vault_tool.util.clock import parse_time
from vault_tool.util.text import counted
from vault_tool.web.rendering import day_in_words

_WIDE, _HIGH = 240, 44
_WORDS = {"active": "stays active", "fading": "fades", "dormant": "falls dormant", "archived": "fades away"}


def confidence_line(shown: Any, now: str) -> Markup:
    """The truth of a memory since it was written."""
    timeline = shown.timeline
    if timeline is None:
        return Markup("")
    first = shown.created or now
    points = [(first, timeline.start), *((step.at, step.truth) for step in timeline.steps), (now, shown.truth)]
    return _line("Confidence since it was written", points, now, colour=0, steps=True, least=0.0, most=1.0)


def confidence_sentence(shown: Any, now: str) -> str:
    """How far it is believed, and what moved that last."""
    share = f"Believed to {shown.truth:.0%}".replace("%", " %")
    steps = [step for step in shown.timeline.steps if step.of == "truth" and not step.withdrawn_at] if shown.timeline else []
    if not steps:
        return f"{share}, as sure as its writer was."
    return f"{share}: last moved {_ago(steps[-1].at, now)} by {steps[-1].by}."


def retention_line(shown: Any, now: str) -> Markup:
    """How present it was, is, and will be if it is not used."""
    curve = shown.timeline.curve if shown.timeline else ()
    if not curve:
        return Markup("")
    return _line("Retention, past and to come", [(point.at, point.score) for point in curve], now, colour=2, least=0.0)


def retention_sentence(shown: Any, now: str) -> str:
    """When it fades, and how often it was asked for."""
    fades = shown.timeline.fades if shown.timeline else ()
    pinned = shown.decay_score >= PINNED
    when = "Pinned: it does not fade" if pinned else f"{shown.standing.capitalize()}, and lower it does not fall"
    if fades:
        to = fades[0].standing.value
        when = f"{_WORDS[to].capitalize()} on {_day(fades[0].at, now)}"
    used = "never asked for"
    if shown.access_count:
        times = "once" if shown.access_count == 1 else counted(shown.access_count, "time")
        used = f"asked for {times}" + (f", last {_ago(shown.last_accessed, now)}" if shown.last_accessed else "")
    return f"{when}; {used}."


def _line(
    title: str,
    points: Sequence[tuple[str, float]],
    now: str,
    *,
    colour: int,
    steps: bool = False,
    least: float,
    most: float | None = None,
) -> Markup:
    times = [(moment.timestamp(), value) for at, value in points if (moment := parse_time(at))]
    present = parse_time(now)
    if not times or present is None:
        return Markup("")
    first, last = min(at for at, _ in times), max(at for at, _ in times)
    high = max(max(value for _, value in times), most or 0.0) or 1.0

    def x(at: float) -> float:
        return 3 + (_WIDE - 6) * ((at - first) / ((last - first) or 1.0))

    def y(value: float) -> float:
        return 4 + (_HIGH - 8) * (1 - (min(value, high) - least) / ((high - least) or 1.0))

    corners: list[tuple[float, float]] = []
    for at, value in times:
        if steps and corners:
            corners.append((x(at), corners[-1][1]))
        corners.append((x(at), y(value)))
    where = " ".join(f"{left:.1f},{top:.1f}" for left, top in corners)
    here = present.timestamp()
    known = [(at, value) for at, value in times if at <= here] or times[:1]
    area = f"{corners[0][0]:.1f},{_HIGH} {where} {corners[-1][0]:.1f},{_HIGH}"
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}"><polygon class="c{}" points="{}"/>'
        '<polyline class="l{}" points="{}"/><line class="now" x1="{:.1f}" x2="{:.1f}" y1="0" y2="{}"/>'
        '<circle class="c{}" cx="{:.1f}" cy="{:.1f}" r="3.2"/></svg>'
    ).format(
        _WIDE, _HIGH, title, colour, area, colour, where, x(here), x(here), _HIGH, colour, x(here), y(known[-1][1])
    )  # fmt: skip


def _day(stamp: str, now: str) -> str:
    at, present = parse_time(stamp), parse_time(now)
    if at is None or present is None:
        return stamp[:10]
    return day_in_words(at.astimezone(), present.astimezone())


def _ago(stamp: str, now: str) -> str:
    """A day in the words that a person has for it: `today`, `yesterday`, `5 days ago`, `on 3 May`."""
    at, present = parse_time(stamp), parse_time(now)
    if at is None or present is None:
        return stamp[:10]
    days = (_midnight(present) - _midnight(at)).days
    if days <= 0:
        return "today"
    return "yesterday" if days == 1 else f"{days} days ago" if days < 14 else f"on {_day(stamp, now)}"


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
