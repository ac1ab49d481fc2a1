"""The comments between which a text keeps both versions of a place that two sides changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_tool.util.structs import Struct

OPEN = "<!-- two versions: keep one, or both -->"
OR = "<!-- or -->"
END = "<!-- end of the two versions -->"
MARKS = frozenset({OPEN, OR, END})

OPEN_BYTES = OPEN.encode()


class Place(Struct):
    """A place kept twice: the numbers (from 0) of its first and last line, both comments included, and what they enclose."""

    first: int
    last: int
    this: tuple[str, ...]
    that: tuple[str, ...]


def kept_twice(first: Sequence[str], other: Sequence[str]) -> list[str]:
    """The lines of a place that keeps both versions, in the order of their texts: every clone writes the same."""
    this, that = sorted((list(first), list(other)))
    return [OPEN, *this, OR, *that, END]


def places(lines: Sequence[str]) -> list[Place]:
    """The places of a text that are kept twice, in order; of one in another the outer. Comments without their others are text."""
    whole: list[Place] = []
    for place in all_places(lines):
        while whole and whole[-1].first > place.first:
            whole.pop()
        whole.append(place)
    return whole


def all_places(lines: Sequence[str]) -> Iterator[Place]:
    """The same with those that stand in another, which come before it."""
    opened: list[tuple[int, int | None]] = []
    for number, line in enumerate(lines):
        mark = line.rstrip()
        if mark == OPEN:
            opened.append((number, None))
        elif mark == OR and opened and opened[-1][1] is None:
            opened[-1] = (opened[-1][0], number)
        elif mark == END and opened:
            first, middle = opened.pop()
            if middle is not None:
                yield Place(first, number, tuple(lines[first + 1 : middle]), tuple(lines[middle + 1 : number]))
