"""The passage of a long text that bears on a question, and the parts in which it is read; values in, values out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from vault_tool.recall.question import frames
from vault_tool.util.structs import Struct
from vault_tool.util.text import PART, one_line

_LEAST_PART = 0.6

# Where a text is best cut: after a paragraph, a line, a sentence, a word.
_ENDS = tuple(map(re.compile, (r"\n[ \t>]*\n", r"\n", r"[.!?…;][\"'”’)\]]*\s|[。！？；]", r"\s")))
_SENTENCE_ENDS = _ENDS[:3]

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ies", "ing", "es", "ed", "s")
_LEAST_STEM = 3
# From here on scripts are written without spaces, and a word is told by two signs.
_WIDE = 0x2E80
# A word that stands more often tells no place.
_MOST_PLACES = 64

# Most characters of the passage beside a title, and of one word of it: an address would be wider than its column.
_BESIDE, _WIDEST = 120, 24


class Passage(Struct):
    """A passage of a text: from `start` to `stop`, and how it reads, with an ellipsis where the text goes on."""

    text: str
    start: int
    stop: int


def passage(text: str, question: str, limit: int) -> Passage:
    """The passage of at most `limit` characters that has most of what a question names; without any of it the beginning."""
    if len(text) <= limit:
        return Passage(text, 0, len(text))
    limit = max(limit, 3)
    folded = _folded(text)
    stems = [stem for stem in _stems(question) if stem in folded]
    first, last = _most(_places(folded, stems), limit - 2)
    start = _begin(text, first, max(0, first - max(0, limit - 2 - (last - first)) // 3, min(first, last - limit + 2)))
    if len(text) - start < limit:
        # Its end: what room is left goes to what stands before.
        start = _begin(text, first, len(text) - limit + 1)
    before = "…" if text[:start].strip() else ""
    start = start if before else 0
    if len(text) - start <= limit - len(before):
        return Passage(before + text[start:], start, len(text))
    stop = _stop(text, max(start + (limit - 2) // 2, min(last, start + limit - 2)), start + limit - len(before) - 1)
    return Passage(f"{before}{text[start:stop].rstrip()}…", start, stop)


def excerpt(text: str, question: str, limit: int) -> str:
    """The same on one line. Most texts begin with what they are about: only of others a passage is looked for."""
    line = one_line(text, limit)
    begun = line.lower()
    missing = [stem for stem in _stems(question) if stem not in begun] if len(text) > limit else []
    if missing:
        folded = text.lower()
        if any(stem in folded for stem in missing):
            return one_line(passage(text, question, limit).text, limit)
    return line


def with_passage(title: str, text: str, question: str) -> str:
    """A title in a list of answers, with the passage that was found where it names nothing of the question, as a day's does.

    A title that has a word of the question says itself why it stands there; of a text without any a passage would say nothing.
    """
    stems = _stems(question)
    if _names(title, stems) or not _names(text, stems):
        return title
    # A text often begins with its title as a heading, or as its first sentence.
    shown = excerpt(text, question, _BESIDE)
    begun = shown.lstrip("# ")
    shown = begun.removeprefix(title).lstrip(" .") if begun.startswith(title) else shown
    shown = " ".join(one_line(word, _WIDEST) for word in shown.split(" "))
    return f"{title}: {shown}" if shown else title


def parts(text: str) -> list[tuple[int, int]]:
    """Where each part of a text begins and ends: put together they are the text."""
    places, start = [], 0
    while len(text) - start > PART:
        stop = _stop(text, start + int(PART * _LEAST_PART), start + PART)
        places.append((start, stop))
        start = stop
    return [*places, (start, len(text))]


def part_of(text: str, shown: Passage) -> str:
    """How much of its text a passage is, as an answer says it: `800 of 46,000 characters, of part 3 of 6`."""
    share = f"{shown.stop - shown.start:,} of {len(text):,} characters"
    several = parts(text)
    if len(several) == 1:
        return share
    number = bisect_right(several, ((shown.start + shown.stop) // 2, len(text)))
    return f"{share}, of part {number} of {len(several)}"


def _folded(text: str) -> str:
    """A text in small letters, of which each stands where it stood."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)


def _places(folded: str, stems: Sequence[str]) -> list[tuple[int, int, int]]:
    """Where a word of the question stands in a text, in order: from, to, and which word."""
    return sorted((at, at + len(stem), number) for number, stem in enumerate(stems) for at in _found(folded, stem))


@lru_cache(maxsize=8)
def _stems(question: str) -> tuple[str, ...]:
    """The words of a question by which a passage is told, without their endings."""
    stems: dict[str, None] = {}
    words = _WORD.findall(question.lower())
    telling = [word for word in words if not frames(word)]
    for word in telling or words:
        if len(word) == 1 and word.isascii() and not word.isdigit():
            continue
        if ord(word[-1]) >= _WIDE:
            stems.update(dict.fromkeys(word[at : at + 2] for at in range(max(1, len(word) - 1))))
            continue
        ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _LEAST_STEM), "")
        stems[word.removesuffix(ending)] = None
    return tuple(stems)


def _found(text: str, stem: str) -> Iterator[int]:
    wide = ord(stem[0]) >= _WIDE
    at = text.find(stem)
    count = 0
    while at >= 0 and count < _MOST_PLACES:
        if wide or not (at and text[at - 1].isalnum()):
            count += 1
            yield at
        at = text.find(stem, at + len(stem))


def _names(text: str, stems: Sequence[str]) -> bool:
    """Whether a text has one of these words."""
    folded = text.lower()
    return any(next(_found(folded, stem), None) is not None for stem in stems)


def _most(places: Sequence[tuple[int, int, int]], width: int) -> tuple[int, int]:
    """From where to where the most that a question names stands within `width`; of equals the closest, then the first.

    A word counts the less the more often the text has it.
    """
    often = Counter(word for _, _, word in places)
    worth = {word: 1 / count**0.5 for word, count in often.items()}
    within: Counter[int] = Counter()
    best, richest, begin, held = (0.0, 0), (0, 0), 0, 0.0
    for index, (_, stop, word) in enumerate(places):
        held += 0.0 if within[word] else worth[word]
        within[word] += 1
        while begin < index and (stop - places[begin][0] > width or within[places[begin][2]] > 1):
            left = places[begin][2]
            within[left] -= 1
            held -= 0.0 if within[left] else worth[left]
            begin += 1
        if (reached := (round(held, 6), places[begin][0] - stop)) > best:
            best, richest = reached, (places[begin][0], stop)
    return richest


def _begin(text: str, first: int, least: int) -> int:
    """The beginning of a paragraph, line, sentence or word from `least` on, before what is to be shown."""
    if least <= 0:
        return 0
    for pattern in _SENTENCE_ENDS:
        if end := next((match.end() for match in pattern.finditer(text, least - 1, first) if match.end() <= first), 0):
            return end
    match = _ENDS[-1].search(text, least - 1, first)
    return match.end() if match else min(least, first)


def _stop(text: str, least: int, most: int) -> int:
    """The best end between two places: of a paragraph, a line, a sentence, a word, else the furthest."""
    for pattern in _ENDS:
        if ends := [match.end() for match in pattern.finditer(text, least, most)]:
            return ends[-1]
    return most
