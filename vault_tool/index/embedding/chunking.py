"""Which texts stand for a note: overlapping passages, each with who and what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

# The part of a passage that the next one repeats, so that no sentence is cut for both.
OVERLAP = 0.15

_SPACE = re.compile(r"\s+")
# Where a text is best cut: after a paragraph, a sentence, a word.
_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"[.!?…]['\")\]]*\s|[。！？]|\n"), _SPACE)

_HEAD_PART = 3
_TAIL_PART = 0.6
_WIDE = 0x2E80
# What a character costs: a token is worth four. Marks and ideographs are tokens of their own, words of English are one in five
# letters, those of other alphabets are spelt.
_LETTER, _DIGIT, _MARK, _FOREIGN_LETTER, _IDEOGRAPH = 1, 2, 3, 3, 4

_DIGITS = bytes(range(0x30, 0x3A))
_CHEAP = bytes(code for code in range(128) if chr(code).isalpha() or chr(code).isspace())
_ASCII = bytes(_DIGIT if code in _DIGITS else _LETTER if code in _CHEAP else _MARK for code in range(256))


def passages(
    title: str, body: str, who: str = "", subjects: Iterable[str] = (), window: int = 900, overlap: float = OVERLAP
) -> tuple[str, ...]:
    """The texts to embed for a note, each `about: title. passage` and no longer than `window`; at least one.

    A short note is one passage. Of a long one the first is its head and each later one begins with the last sentences
    of the one before (`overlap`, as a part of the window). The window counts characters of English prose; digits, marks
    and other scripts count for more, as they take more tokens.
    """
    head = _head(title, body, who, subjects, window // _HEAD_PART)
    room = window - _cost(head)
    return tuple(f"{head}{piece}" for piece in _pieces(body.strip(), room, int(room * overlap))) or (head.rstrip(),)


def _head(title: str, body: str, who: str, subjects: Iterable[str], limit: int) -> str:
    names = dict.fromkeys(name for name in (who.strip(), *map(str.strip, subjects)) if name)
    # A line of a conversation (`Ada: I moved.`) says itself who speaks; the others who are tagged would blur that.
    about = "" if _flat(body).partition(":")[0] in map(_flat, names) else ", ".join(names)
    named = title.strip().rstrip(".…")
    # A title that was taken from the first words of the body would count twice.
    repeated = _flat(body).startswith(_flat(named))
    parts = [f"{_fitting(about, limit // 2)}: " if about else "", "" if repeated or not named else f"{_fitting(named, limit)}. "]
    return "".join(parts)


def _pieces(text: str, room: int, overlap: int) -> Iterator[str]:
    """The text in pieces of at most `room`, cut where it reads best, each after the first repeating up to `overlap`."""
    if text and _cost(text) <= room:
        yield text
        return
    ends = _costs(text)
    start = 0
    while start < len(text):
        if ends[-1] - ends[start] <= room:
            yield text[start:].strip()
            return
        stop = _cut(text, start, _reach(ends, start, room), _TAIL_PART)
        yield text[start:stop].strip()
        back = _reach_back(ends, stop, overlap)
        start = max(_after_space(text, back, stop), start + 1)


def _cut(text: str, start: int, limit: int, least: float) -> int:
    """The best end of a piece between `least` of it and `limit`."""
    from_here = start + int((limit - start) * least)
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, from_here, limit)]
        if ends:
            return ends[-1]
    return max(limit, start + 1)


def _after_space(text: str, position: int, stop: int) -> int:
    """The next beginning of a sentence, else of a word, at or after a position; `stop` if there is none before it."""
    for pattern in _ENDS[1:]:
        match = pattern.search(text, position, stop)
        if match and match.end() < stop:
            return match.end()
    return position


def _reach(ends: list[int], start: int, room: int) -> int:
    """The furthest end of a piece from `start` that costs no more than `room`."""
    low, high = start + 1, len(ends) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ends[middle] - ends[start] <= room else (low, middle - 1)
    return low


def _reach_back(ends: list[int], stop: int, room: int) -> int:
    start = stop
    while start > 0 and ends[stop] - ends[start - 1] <= room:
        start -= 1
    return start


def _costs(text: str) -> list[int]:
    """The cost of each beginning of the text, from nothing to the whole."""
    each = text.encode("ascii").translate(_ASCII) if text.isascii() else map(_cost_of, text)
    return list(accumulate(each, initial=0))


def _cost(text: str) -> int:
    if not text.isascii():
        return sum(map(_cost_of, text))
    # The same sum at the speed of C: every note is asked, and few are long.
    dear = text.encode("ascii").translate(None, _CHEAP)
    marks = len(dear.translate(None, _DIGITS))
    return len(text) + marks * (_MARK - _LETTER) + (len(dear) - marks) * (_DIGIT - _LETTER)


def _cost_of(character: str) -> int:
    code = ord(character)
    return _ASCII[code] if code < 128 else _IDEOGRAPH if code >= _WIDE else _FOREIGN_LETTER


def _fitting(text: str, limit: int) -> str:
    if _cost(text) <= limit:
        return text
    ends = _costs(text)
    cut = _reach(ends, 0, limit)
    return text[:cut].rpartition(" ")[0] or text[:cut]


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
