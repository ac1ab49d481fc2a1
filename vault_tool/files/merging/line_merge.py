"""Lines changed on two sides: what one side changed is taken, and a place that both changed keeps both."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import field

from vault_tool.files.two_versions import MARKS, all_places, kept_twice
from vault_tool.util.structs import Struct

# Past these a stretch without a line of its own counts as replaced whole: the time stays that of reading the text.
_LEVELS = 12
_MOST_EDITS = 200
_MOST_PAIRED = 40
_ALIKE = 0.5

Lines: TypeAlias = "Sequence[Line]"
Both: TypeAlias = Callable[[Sequence[str], Sequence[str]], Iterable[str]]
Words: TypeAlias = Callable[[str, str, str], "str | None"]

_WORD = re.compile(r"\w+")
_ITEM = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s|\|)")


class Line(str):
    """A line as it is compared, and what it carries: the blank lines after it, in which two texts may differ and be alike.

    What a merge has put between comments is no line that stayed: it is compared with lines of the same place alone.
    """

    __slots__ = ("after",)

    after: tuple[str, ...]

    def __new__(cls, text: str, after: tuple[str, ...] = ()) -> Line:
        """The compared part of a line: its text and, after a line end, the place that it stands in."""
        line = super().__new__(cls, text)
        line.after = after
        return line

    @property
    def shown(self) -> str:
        """The line as it stands."""
        return self.partition("\n")[0]

    @property
    def is_mark(self) -> bool:
        """Whether it is a comment around what is kept twice."""
        return self.shown in MARKS


class Hunk(Struct):
    """`base[start:stop]` became `lines`; with `start == stop` they were put in before that line."""

    start: int
    stop: int
    lines: Lines


class MergedLines(msgspec.Struct):
    """The lines of both sides, the places that keep both versions, the lines that one side removed and the other changed, and
    those that hold the words of both.
    """

    lines: list[str]
    twice: list[tuple[list[str], list[str]]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    in_words: list[str] = field(default_factory=list)


def merge_lines(
    base: Sequence[str] | None,
    ours: Sequence[str],
    theirs: Sequence[str],
    both: Both = kept_twice,
    words: Words | None = None,
) -> MergedLines:
    """Both sides' changes to `base` in one text; without a base what the two have in common is it.

    The result is the same whichever side is named first. `both` says what becomes of a place that both changed, `words` makes
    one line of two that came of one, or None where it cannot.
    """
    first, second = sorted((list(ours), list(theirs)))
    known = _known(first if base is None else base)
    ours, theirs = _spaced(first, known), _spaced(second, known)
    if base is None:
        for part, whole in ((ours, theirs), (theirs, ours)):
            if len(part) < len(whole) and _within(part, whole):
                return MergedLines(list(_flat(whole)))
        common, ones, others = _in_common(ours, theirs)
        return _Weaving(common, ones, others, both, None, None).woven()
    spaced = _spaced(base, known)
    return _Weaving(spaced, changes(spaced, ours), changes(spaced, theirs), both, (ours, theirs), words).woven()


def changes(base: Lines, text: Lines) -> list[Hunk]:
    """The changes that make `text` of `base`: in order, each as small as can be told, with no two at one place."""
    hunks: list[Hunk] = []
    at, other_at = 0, 0
    for i, j in [*matching(base, text), (len(base), len(text))]:
        if i > at or j > other_at:
            hunks.extend(_smaller(base, Hunk(at, i, text[other_at:j])))
        at, other_at = i + 1, j + 1
    return hunks


def _spaced(text: Sequence[str], known: Mapping[str, int]) -> list[Line]:
    """A text's lines with their blank lines; those at its beginning stand after an empty one that every text has.

    `known` are the lines of the places that the base keeps twice, each with its place's number.
    """
    inside: dict[int, str] = {}
    for rows, content in _own_rows(text):
        continued = next((known[text[row]] for row in content if text[row] in known), None)
        begins = text[content[0]] if content else ""
        for row in rows:
            inside[row] = f"\n{begins}" if continued is None else "" if row in content else f"\n\n{continued}"
    lines: list[Line] = [Line("")]
    for row, line in enumerate(text):
        if line.strip():
            lines.append(Line(line + inside.get(row, "")))
        else:
            lines[-1].after += (line,)
    return lines


def _known(text: Sequence[str]) -> dict[str, int]:
    return {text[row]: number for number, (_, content) in enumerate(_own_rows(text)) for row in content}


def _own_rows(text: Sequence[str]) -> Iterator[tuple[list[int], list[int]]]:
    """The rows of each place that is kept twice, without those of a place within it; and those of them that hold its text."""
    seen: set[int] = set()
    for place in all_places(text):
        rows = [row for row in range(place.first, place.last + 1) if row not in seen]
        seen.update(rows)
        yield rows, [row for row in rows if text[row].strip() and text[row].rstrip() not in MARKS]


def _flat(lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        if line:
            yield line.shown
        yield from line.after


def _in_common(first: Lines, other: Lines) -> tuple[list[Line], list[Hunk], list[Hunk]]:
    """The lines that two texts share, in order, and what each has besides."""
    pairs = matching(first, other)
    additions: tuple[list[Hunk], list[Hunk]] = [], []
    at = other_at = 0
    for number, (i, j) in enumerate([*pairs, (len(first), len(other))]):
        for side, lines in zip(additions, (first[at:i], other[other_at:j]), strict=True):
            if lines:
                side.append(Hunk(number, number, lines))
        at, other_at = i + 1, j + 1
    return [Line(first[i], max(first[i].after, other[j].after, key=_length)) for i, j in pairs], *additions


def _length(blank: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return len(blank), blank


class _Weaving:
    """Two lists of changes put into one text."""

    def __init__(
        self,
        base: Lines,
        ones: list[Hunk],
        others: list[Hunk],
        both: Both,
        texts: tuple[Lines, Lines] | None,
        words: Words | None,
    ) -> None:
        self._base = base
        self._changes = ones, others
        self._both = both
        self._words = words
        # Each side's own form of a line that it left: only the blank lines after it can differ.
        self._in_order = texts is not None
        self._own = (_left(base, ones, texts[0]), _left(base, others, texts[1])) if texts else (base, base)
        self._merged = MergedLines([])
        self._woven: list[Line] = []

    def woven(self) -> MergedLines:
        """The base with the changes of both."""
        at = 0
        # What touches is looked at together: one side may hold all that the other changed there, under another division.
        for first, last, ones, others in _groups(*self._changes, touching=True):
            self._left_by_both(at, first)
            at = last
            taken = self._taken(first, last, ones, others)
            if taken is not None:
                self._woven.extend(taken)
                continue
            for start, stop, left, right in _groups(ones, others, touching=False):
                taken = self._taken(start, stop, left, right)
                self._woven.extend(self._twice(start, stop, left, right) if taken is None else taken)
        self._left_by_both(at, len(self._base))
        self._merged.lines.extend(_flat(self._woven))
        return self._merged

    def _left_by_both(self, first: int, last: int) -> None:
        for number in range(first, last):
            self._woven.append(Line(self._base[number], _space(*(lines[number] for lines in (self._base, *self._own)))))

    def _taken(self, first: int, last: int, ones: list[Hunk], others: list[Hunk]) -> list[Line] | None:
        """One side's text of a place where that is all there is to take, else None."""
        ours, other = self._applied(first, last, ones, 0), self._applied(first, last, others, 1)
        if not others:
            return ours
        if not ones:
            return other
        if ours == other:
            return [Line(x, max(x.after, y.after, key=_length)) for x, y in zip(ours, other, strict=True)]
        holding = [text for text, whole, part in ((ours, ones, others), (other, others, ones)) if self._holds(whole, part)]
        if not holding:
            return None
        for removing, changing in ((ones, others), (others, ones)):
            if not _put_in(removing) and _put_in(changing) and _taken_out(removing) >= _taken_out(changing) > set():
                self._merged.kept.extend(line.shown for line in _put_in(changing))
        return min(holding)

    def _holds(self, whole: list[Hunk], part: list[Hunk]) -> bool:
        """Whether one side's changes of a place have all of the other's in them, also where a line has more words changed."""
        if not _taken_out(part) <= _taken_out(whole):
            return False
        words, rest = self._words, iter(_put_in(whole))
        if words is None or max(len(_taken_out(part)), len(_put_in(whole)), len(_put_in(part))) > _MOST_PAIRED:
            return _within(_put_in(part), _put_in(whole))

        def held(base: Line | None, line: Line, other: Line) -> bool:
            # Only of the line that it came of: another that is alike would hide a word that was taken out.
            return line.shown == other.shown or (base is not None and words(base, other.shown, line.shown) == other.shown)

        return all(any(held(base, line, other) for other in rest) for base, line in self._each_of(part))

    def _each_of(self, hunks: list[Hunk]) -> Iterator[tuple[Line | None, Line]]:
        """Each line that was put in, with the one that it came of where that is known."""
        for hunk in hunks:
            came_of = (
                self._base[hunk.start : hunk.stop] if hunk.stop - hunk.start == len(hunk.lines) else [None] * len(hunk.lines)
            )
            yield from zip(came_of, hunk.lines, strict=True)

    def _twice(self, first: int, last: int, ones: list[Hunk], others: list[Hunk]) -> Iterator[Line]:
        ours, other = self._applied(first, last, ones, 0), self._applied(first, last, others, 1)
        if (in_words := self._in_words(self._base[first:last], ours, other)) is not None:
            yield from in_words
            return
        before = _same_before(ours, other)
        after = _same_before(ours[before:][::-1], other[before:][::-1])
        this, that = ours[before : len(ours) - after], other[before : len(other) - after]
        yield from ours[:before]
        if this and that and self._in_order and not _taken_out(ones) and not _taken_out(others):
            above = ours[before - 1] if before else self._woven[-1] if self._woven else Line("")
            if _are_apart(above, this, last == len(self._base)) and _are_apart(above, that, last == len(self._base)):
                # Each side added what stands for itself: there is nothing to choose between.
                lesser, greater = sorted((this, that), key=lambda lines: list(_flat(lines)))
                space = max(lesser[-1].after, () if _are_items(lesser) else above.after, key=_length)
                yield from lesser[:-1]
                yield Line(lesser[-1], space)
                yield from greater[:-1]
                yield Line(greater[-1], max(lesser[-1].after, greater[-1].after, key=_length))
                yield from ours[len(ours) - after :]
                return
        if this and that:
            # The space below the place is neither version's.
            space = max(this[-1].after, that[-1].after, key=_length)
            versions = [_whole(list(_flat([*lines[:-1], Line(lines[-1])]))) for lines in (this, that)]
            self._merged.twice.append((min(versions), max(versions)))
            *lines, last_line = self._both(*versions)
            yield from map(Line, lines)
            yield Line(last_line, space)
        else:
            yield from this or that
        yield from ours[len(ours) - after :]

    def _in_words(self, base: Lines, ours: Lines, other: Lines) -> list[Line] | None:
        """A place that both reworded, with the words of both in each of its lines; None where a line cannot have them."""
        if self._words is None or not len(base) == len(ours) == len(other) > 0:
            return None
        lines: list[Line] = []
        reworded: list[str] = []
        for known, first, foreign in zip(base, ours, other, strict=True):
            texts = {str(first), str(foreign)} - {str(known)} or {str(known)}
            if len(texts) > 1:
                if any(text.is_mark or "\n" in text for text in (known, first, foreign)):
                    return None
                together = self._words(known, first, foreign)
                if together is None:
                    return None
                reworded.append(together)
                texts = {together}
            lines.append(Line(texts.pop(), _space(known, first, foreign)))
        self._merged.in_words += reworded
        return lines

    def _applied(self, first: int, last: int, hunks: list[Hunk], side: int) -> list[Line]:
        text: list[Line] = []
        for hunk in hunks:
            text.extend(self._own[side][first : hunk.start])
            text.extend(hunk.lines)
            first = hunk.stop
        return [*text, *self._own[side][first:last]]


def _space(base: Line, first: Line, other: Line) -> tuple[str, ...]:
    """The blank lines after a line that both sides have, as the side that changed them has it."""
    if other.after in (base.after, first.after):
        return first.after
    return other.after if first.after == base.after else max(first.after, other.after, key=_length)


def _left(base: Lines, hunks: list[Hunk], text: Lines) -> list[Line]:
    """The base with each line that a side left as that side has it."""
    own = list(base)
    at = other_at = 0
    for hunk in [*hunks, Hunk(len(base), len(base), [])]:
        own[at : hunk.start] = text[other_at : other_at + hunk.start - at]
        other_at += hunk.start - at + len(hunk.lines)
        at = hunk.stop
    return own


def _are_apart(above: Line, lines: Lines, at_end: bool) -> bool:
    """Whether lines that were put in are paragraphs of their own, or items of a list; not a part of a sentence that goes on."""
    if any(line.is_mark or "\n" in line for line in (above, *lines)):
        return False
    return _are_items(lines) or bool((above.after or not above) and (lines[-1].after or at_end))


def _are_items(lines: Lines) -> bool:
    return all(map(_ITEM.match, lines))


def _whole(version: list[str]) -> list[str]:
    """A version without the comments that have lost their others: they would end the place that it is put in."""
    kept_rows = {row for place in all_places(version) for row in range(place.first, place.last + 1)}
    return [line for row, line in enumerate(version) if row in kept_rows or line.rstrip() not in MARKS]


def _groups(left: list[Hunk], right: list[Hunk], *, touching: bool) -> Iterator[tuple[int, int, list[Hunk], list[Hunk]]]:
    """The changes of both sides by place: those that overlap stand together, and those that touch if asked for."""
    queue = sorted([(hunk.start, hunk.stop, 0, hunk) for hunk in left] + [(hunk.start, hunk.stop, 1, hunk) for hunk in right],
                   key=lambda row: row[:3])  # fmt: skip
    number = 0
    while number < len(queue):
        first, last = queue[number][:2]
        sides: tuple[list[Hunk], list[Hunk]] = [], []
        while number < len(queue):
            start, stop, side, hunk = queue[number]
            at_one_point = start == stop == first == last
            if any(sides) and not (start < last or at_one_point or (touching and start <= last)):
                break
            sides[side].append(hunk)
            last = max(last, stop)
            number += 1
        yield first, last, *sides


def _taken_out(hunks: list[Hunk]) -> set[int]:
    return {number for hunk in hunks for number in range(hunk.start, hunk.stop)}


def _put_in(hunks: list[Hunk]) -> list[Line]:
    return [line for hunk in hunks for line in hunk.lines]


def _within(part: Lines, whole: Lines) -> bool:
    """Whether the lines of `part` stand in `whole` in their order."""
    rest = (line.shown for line in whole)
    return all(line.shown in rest for line in part)


def _same_before(first: Lines, other: Lines) -> int:
    return next((n for n, (x, y) in enumerate(zip(first, other, strict=False)) if x != y), min(len(first), len(other)))


def matching(first: Lines, other: Lines) -> list[tuple[int, int]]:
    """The lines (or words) that stay, as pairs of numbers: around those that occur once on each side, as a reader would look."""
    pairs: list[tuple[int, int]] = []
    stretches = [(0, len(first), 0, len(other), 0)]
    while stretches:
        i, i_end, j, j_end, level = stretches.pop()
        while i < i_end and j < j_end and first[i] == other[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and first[i_end - 1] == other[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            pairs.append((i_end, j_end))
        if i == i_end or j == j_end:
            continue
        anchors = _anchors(first[i:i_end], other[j:j_end]) if level < _LEVELS else []
        if not anchors:
            pairs.extend((i + x, j + y) for x, y in _fewest_edits(first[i:i_end], other[j:j_end]))
            continue
        bounds = [(i, j), *((i + x, j + y) for x, y in anchors), (i_end, j_end)]
        stretches.extend((a, b, c, d, level + 1) for (a, c), (b, d) in itertools.pairwise(bounds))
    return sorted(pairs)


def _anchors(first: Lines, other: Lines) -> list[tuple[int, int]]:
    """Lines that occur once in each, as many as stand in one order (the longest rising row, by patience)."""
    # Blank lines and rules are found anywhere, and comments of ours are no line of a text.
    once = {line for line in _once(first) & _once(other) if not line.is_mark and _WORD.search(line)}
    where = {line: number for number, line in enumerate(other) if line in once}
    common = [(number, where[line]) for number, line in enumerate(first) if line in once]
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(common):
        pile = bisect_left(ends, place)
        before.append(tops[pile - 1] if pile else -1)
        ends[pile : pile + 1] = [place]
        tops[pile : pile + 1] = [number]
    row: list[tuple[int, int]] = []
    number = tops[-1] if tops else -1
    while number >= 0:
        row.append(common[number])
        number = before[number]
    return row[::-1]


def _once(lines: Lines) -> set[Line]:
    return {line for line, count in Counter(lines).items() if count == 1}


def _fewest_edits(first: Lines, other: Lines) -> list[tuple[int, int]]:
    """The lines that stay where as few as can be are changed (Myers); none where they are too many to tell."""
    reach = {1: 0}
    steps: list[dict[int, int]] = []
    for edits in range(min(len(first) + len(other), _MOST_EDITS) + 1):
        steps.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
            i = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            j = i - diagonal
            while i < len(first) and j < len(other) and first[i] == other[j]:
                i, j = i + 1, j + 1
            reach[diagonal] = i
            if i >= len(first) and j >= len(other):
                return _walked_back(steps, i, j)
    return []


def _walked_back(steps: list[dict[int, int]], i: int, j: int) -> list[tuple[int, int]]:
    """The lines that stayed on the way to `(i, j)`: `steps` has how far each diagonal reached before each edit."""
    pairs: list[tuple[int, int]] = []
    for edits in range(len(steps) - 1, 0, -1):
        reach, diagonal = steps[edits], i - j
        down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
        came = diagonal + 1 if down else diagonal - 1
        x, y = reach[came], reach[came] - came
        after = (x, y + 1) if down else (x + 1, y)
        while (i, j) != after:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        i, j = x, y
    # Before the first edit stands only what is the same.
    pairs.extend((n, n) for n in range(i))
    return pairs


def _smaller(base: Lines, hunk: Hunk) -> Iterator[Hunk]:
    """A change cut finer: each line taken out for itself, and a line that was reworded for itself."""
    old = base[hunk.start : hunk.stop]
    if not hunk.lines:
        yield from (Hunk(number, number + 1, []) for number in range(hunk.start, hunk.stop))
        return
    if not old or max(len(old), len(hunk.lines)) > _MOST_PAIRED or any(line.is_mark for line in hunk.lines):
        yield hunk
        return
    at = other_at = 0
    for i, j in [*_reworded(old, hunk.lines), (len(old), len(hunk.lines))]:
        if i > at or j > other_at:
            between = Hunk(hunk.start + at, hunk.start + i, list(hunk.lines[other_at:j]))
            # What has no like line on the other side stays whole: it may have been written anew.
            yield from [between] if between.lines else _smaller(base, between)
        if i < len(old):
            yield Hunk(hunk.start + i, hunk.start + i + 1, [hunk.lines[j]])
        at, other_at = i + 1, j + 1


def _reworded(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """The lines that are others reworded, as pairs of numbers: those that have the most words in common, in one order."""
    words = [Counter(_WORD.findall(line)) for line in old], [Counter(_WORD.findall(line)) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_share(x, y) for y in words[1]] for x in words[0]]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + alike[i][j])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == best[i + 1][j + 1] + alike[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _share(first: Counter[str], other: Counter[str]) -> float:
    total = first.total() + other.total()
    share = 2 * (first & other).total() / total if total else 0.0
    return share if share >= _ALIKE else 0.0
