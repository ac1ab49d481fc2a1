"""Words changed on two sides of one line: both sides' are taken where each can be read for itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from vault_tool.files.merging.line_merge import Line, Words, matching
from vault_tool.util.structs import Struct
from vault_tool.util.text import NEGATIONS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# So many words that both sides left stand between their changes.
_APART = 2

# Code, links and addresses are one word each, whatever is in them.
_WHOLE = r"(`+)(?:(?!`).)+?\1(?!`)|!?\[\[[^\]]*\]\]|!?\[[^\]]*\]\([^)]*\)|<[^<>]*>"
_WHOLES = re.compile(_WHOLE)
_WORDS = re.compile(rf"(?:(?:{_WHOLE})|\S)+")
# A list's mark, a box, a heading's or a quotation's: no words of the line.
_MARK = re.compile(r"\s*(?:(?:[-*+]|\d+[.)]|#{1,6}|>)\s+)*(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"\s*(?:[-*+>]\s+)*(```|~~~)")
# Rows of tables, HTML, what a link stands for, and code that is set in.
_NO_SENTENCE = re.compile(r"\s*(?:\||<|\[[^\]]*\]:)|(?: {4}|\t)\s*(?![\s>]|[-*+]\s|\d+[.)]\s)")

_ENDS = re.compile(r"(\w[\w'’-]*)?[.!?…][\"')\]”’*_]*$")
_SHORTENED = _set("dr mr mrs ms prof st vs no nr ca approx fig cf bzw etc sr sra jr inc vol pp art abs")
# Put into a sentence, such a word changes what all the others say: two sides' changes of it are not for both to stand.
_TURNING = NEGATIONS | _set(
    "only unless except hardly barely seldom rarely if but instead almost formerly nobody nothing neither nor "
    "nur außer wenn falls statt kaum fast ehemals niemand nichts weder sondern aber "
    "solo salvo si pero sino casi nadie nada ni tampoco"
)


def in_words(*texts: Sequence[str]) -> Words:
    """The merge of one line by its words, for lines of these texts: a line of code in any of them is left to a person."""

    @cache
    def code() -> frozenset[str]:
        return frozenset(line for text in texts for line in _code(text))

    def merged(base: str, ours: str, theirs: str) -> str | None:
        if code().isdisjoint((base, ours, theirs)):
            return merge_words(base, ours, theirs)
        return None

    return merged


def merge_words(base: str, ours: str, theirs: str) -> str | None:
    """One line with what each side changed of its words, the same whichever side is named first; None for a person to choose.

    Two words that both sides left stand between their changes. In one sentence both may only have put words in, none of
    which denies, limits or counts; in sentences of their own each may have changed what it likes.
    """
    merged = _woven(base, ours, theirs)
    # Tried rather than reasoned about: with either side it must stay as it is.
    return merged if merged is not None and all(_woven(base, merged, side) == merged for side in (ours, theirs)) else None


class _Change(Struct):
    """`base[start:stop]` became `words`."""

    start: int
    stop: int
    words: tuple[str, ...]

    @property
    def only_adds(self) -> bool:
        return self.start == self.stop and not any(map(_turns, self.words))

    def is_apart(self, other: _Change) -> bool:
        return max(other.start - self.stop, self.start - other.stop) >= _APART


def _woven(base: str, ours: str, theirs: str) -> str | None:
    parts = [_taken_apart(line) for line in (base, ours, theirs)]
    if any(line is None for line in parts):
        return None
    (mark, known), (first_mark, first), (other_mark, other) = (line for line in parts if line is not None)
    if len({mark, first_mark, other_mark}) == 3:
        return None
    mark = other_mark if first_mark == mark else first_mark
    ones, others = set(_changes(known, first)), set(_changes(known, other))
    sentences = _sentences(known)
    for change in ones - others:
        for foreign in others - ones:
            if not change.is_apart(foreign):
                return None
            in_one = not _touched(change, known, sentences).isdisjoint(_touched(foreign, known, sentences))
            if in_one and not (change.only_adds and foreign.only_adds):
                return None
    words: list[str] = []
    at = 0
    for change in sorted(ones | others, key=lambda change: (change.start, change.stop)):
        words += [*known[at : change.start], *change.words]
        at = change.stop
    return mark + " ".join([*words, *known[at:]])


def _taken_apart(line: str) -> tuple[str, list[str]] | None:
    """A line's mark and its words; None where it is no line of sentences, or is spaced in a way of its own."""
    match = _MARK.match(line)
    mark = match[0] if match else ""
    words = [match[0] for match in _WORDS.finditer(line, len(mark))]
    if _NO_SENTENCE.match(line) or "`" in _WHOLES.sub("", line) or mark + " ".join(words) != line:
        return None
    return mark, words


def _changes(base: Sequence[str], text: Sequence[str]) -> Iterator[_Change]:
    at = other_at = 0
    for i, j in [*matching([*map(Line, base)], [*map(Line, text)]), (len(base), len(text))]:
        if i > at or j > other_at:
            yield _Change(at, i, tuple(text[other_at:j]))
        at, other_at = i + 1, j + 1


def _sentences(words: Sequence[str]) -> list[int]:
    """For each word the number of its sentence, and one more for what is put behind the last."""
    numbers = [0]
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else ""
        numbers.append(numbers[-1] + (_ends(word) and not following[:1].islower()))
    return numbers


def _touched(change: _Change, base: Sequence[str], sentences: Sequence[int]) -> set[int]:
    """The sentences that a change is in; one that is a sentence itself, between two, is in neither."""
    start, stop = change.start, change.stop
    at_edge = not start or sentences[start - 1] != sentences[start]
    if start == stop and at_edge and _ends(change.words[-1]) and not change.words[0][:1].islower():
        return set()
    touched = {sentences[number] for number in range(start, stop)}
    # What ends otherwise than it did runs on into the next; what is put in beside an end may belong to either.
    if start == stop or not (change.words and _ends(change.words[-1]) == _ends(base[stop - 1])):
        touched.add(sentences[min(stop, len(base) - 1)] if base else 0)
    if start == stop and start:
        touched.add(sentences[start - 1])
    return touched


def _ends(word: str) -> bool:
    match = _ENDS.search(word)
    if not match:
        return False
    stem = (match[1] or "").lower()
    return not word.rstrip("\"')]”’*_").endswith(".") or (stem not in _SHORTENED and (len(stem) > 1 or stem.isdigit()))


def _turns(word: str) -> bool:
    plain = word.strip("\"'()[]*_.,;:!?…“”‘’").lower()
    return plain in _TURNING or plain.endswith(("n't", "n’t")) or plain[:1].isdigit()


def _code(text: Sequence[str]) -> Iterator[str]:
    fence = ""
    for line in text:
        match = _FENCE.match(line)
        if match or fence:
            yield line
        if match and fence in ("", match[1]):
            fence = "" if fence else match[1]
