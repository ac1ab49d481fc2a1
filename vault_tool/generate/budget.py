"""How a page's characters are shared out: fair shares, cuts at paragraphs, and best-first filling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

_PARAGRAPH = re.compile(r"\n[ \t>]*\n")

T = TypeVar("T")


def shares(demands: Sequence[int], total: int) -> tuple[int, ...]:
    """`total` shared out: no demand gets more than it asks for, and what it leaves goes to the others alike."""
    granted = [0] * len(demands)
    left = max(0, total)
    open_ends = sorted(range(len(demands)), key=lambda place: demands[place])
    for done, place in enumerate(open_ends):
        granted[place] = min(demands[place], left // (len(open_ends) - done))
        left -= granted[place]
    return tuple(granted)


def cut(text: str, limit: int) -> str:
    """The beginning of `text` in at most `limit` characters: whole paragraphs, or else whole lines, or else whole words."""
    if len(text) <= limit:
        return text
    ends = [match.start() for match in _PARAGRAPH.finditer(text, 0, limit + 2) if match.start() <= limit]
    if ends:
        return text[: ends[-1]].rstrip()
    line_end = text.rfind("\n", 0, limit + 1)
    if line_end > 0:
        return text[:line_end].rstrip()
    word_end = text.rfind(" ", 0, max(0, limit))
    return text[:word_end].rstrip() + "…" if word_end > 0 else ""


def interleaved(ranked: Iterable[T], source: Callable[[T], str]) -> list[T]:
    """`ranked` (best first) so reordered that no one source makes more than half of any beginning while others wait.

    `source` names where an item comes from; the empty string is nobody in particular and never waits. A flood from one
    source thus fills what room is left, and pushes nobody out.
    """
    queues: dict[str, list[tuple[int, T]]] = {}
    for place, item in enumerate(ranked):
        name = source(item)
        queues.setdefault(name, []).append((place, item))
    heads = [(queue[0][0], name, 0) for name, queue in queues.items()]
    heapify(heads)
    taken = dict.fromkeys(queues, 0)
    picked: list[T] = []
    while heads:
        head = heappop(heads)
        if head[1] and heads and 2 * (taken[head[1]] + 1) > len(picked) + 2:
            head, waiting = heappop(heads), head
            heappush(heads, waiting)
        _, name, at = head
        picked.append(queues[name][at][1])
        taken[name] += 1
        if at + 1 < len(queues[name]):
            heappush(heads, (queues[name][at + 1][0], name, at + 1))
    return picked
