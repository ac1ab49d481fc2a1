"""Words as supposed updates compare them: plain forms, numbers with their units, names; and whether a text tells an event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from msgspec.structs import replace

from vault_tool.recall import update_words as w
from vault_tool.util.structs import Struct

# So many words tell whether a text is of an event.
_BEGINNING = 30
_LEAST_STEM, _SHORT_WORD = 3, 4

_DIGIT = re.compile(r"\d")
_TOKEN = re.compile(r"[^\s,;!?()\[\]\"“”„=]+|=")
_THOUSANDS = re.compile(r"(?<=\d)[,. '](?=\d{3}(?!\d))")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{1,2})\.?\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)([a-z]*)\b", re.IGNORECASE)


class Word(Struct):
    """One word as it is compared: `form` is normal, `text` as it stands, `name` that it is written as names are, `leads` that a
    colon stands after it.
    """

    form: str
    text: str
    name: bool
    leads: bool = False


def words_of(text: str) -> Iterator[Word]:
    text = _CLOCK.sub(_clock, _DATE.sub(r"\2\3 \1", _THOUSANDS.sub("", text)))
    first = True
    for raw in _TOKEN.findall(text.replace("==", " = ")):
        bare = raw.strip(".:'`*_<>").rstrip("/") or raw
        lower = bare.casefold()
        if lower.endswith("n't"):
            yield Word("not", bare, False)
            lower = lower[:-3]
            if lower in ("do", "does", "did", "wo", "ca"):
                first = False
                continue
        elif lower == "cannot":
            yield Word("not", bare, False)
            lower = "can"
        if not any(map(str.isalnum, lower)):
            continue
        if lower.endswith(("'s", "'ve", "'re", "'m", "'ll", "'d")):
            lower = lower.rpartition("'")[0]
        name = not first and (bare[:1].isupper() or any(map(str.isdigit, bare)))
        first = False
        if lower in ("do", "does"):
            continue
        for word in _split_unit(lower, bare, name):
            yield replace(word, leads=True) if raw.endswith(":") else word


def _split_unit(lower: str, bare: str, name: bool) -> Iterator[Word]:
    """A number with its unit written to it is two words: `10MB`, `60s`, `8k`."""
    match = re.fullmatch(r"([$€£]?\d+(?:[.,]\d+)?)(%|[a-zµ]{1,3})", lower)
    if match:
        yield Word(match[1], bare, True)
        yield Word(_stem(match[2]), bare, False)
        return
    yield Word(w.NUMBERS.get(lower) or _stem(lower), bare, name)


def _stem(word: str) -> str:
    if any(map(str.isdigit, word)) or len(word) < 4 or word in w.FUNCTION:
        return word
    for end in ("ing", "s"):
        if word.endswith(end) and not word.endswith(("ss", "us", "is")) and len(word) - len(end) >= 3:
            word = word[: -len(end)]
            break
    return word


def _clock(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    return f"{hour:02}:{match[2] or '00'}"


def is_event(text: str) -> bool:
    """Whether a text tells what happened once: the like of it happens again, and changes nothing."""
    if w.ONCE.search(text) or w.THEN.search(text):
        return True
    plain = w.STOPPED.sub(" ", w.MOVED.sub(" ", w.INSTEAD.sub("", text)))
    words = [word.strip(".,:;!?'\"").casefold() for word in plain.split()][:_BEGINNING]
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word in w.PAST and not (word in ("was", "were") and before in ("", "it")):
            return before not in w.IS
        if word.endswith("ed") and len(word) > 4 and word not in w.SETTLED and before not in w.IS:
            early = any(other in w.IS or _stem(other) in w.VERBS for other in words[:at])
            return not early
        if word in w.IS or (at and _stem(word) in w.VERBS):
            return False
    return False


def is_verb(form: str) -> bool:
    return form in w.COPULAS or form in w.VERBS or form.rstrip("e") in w.VERBS


def is_number(word: Word) -> bool:
    """Whether a word has a digit."""
    return _DIGIT.search(word.form) is not None


def are_of_two_things(older: Sequence[Word], was: Word, newer: Sequence[Word], now: Word) -> bool:
    """Whether two numbers cannot be of one thing: they count two things (`12 minutes`, `40 steps`), stand behind two names
    (`port 8443`, `Go 1.22`), are equal in another unit or said for another time, or what is said of them is opposite (`opens at
    nine`, `closes at six`).
    """
    before, after = _Number(older, was), _Number(newer, now)
    unit, other_unit = before.counts, after.counts
    if unit and other_unit:
        time = _seconds(was, unit)
        if _dimension(unit) != _dimension(other_unit) or (time is not None and time == _seconds(now, other_unit)):
            return True
    elif other_unit and _dimension(other_unit) != other_unit and after.verbs and not before.verbs:
        return True
    if before.per and after.per and before.per != after.per:
        return True
    if other_unit and ":" in was.form and ":" not in now.form and _dimension(other_unit) != _dimension("second"):
        return True
    if before.is_bound != after.is_bound or _have_two_names(before, after):
        return True
    verbs, others = before.verbs, after.verbs
    return any(len(pair & verbs) == len(pair & others) == 1 and pair <= verbs | others for pair in w.OPPOSED)


def are_placed_alike(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the prepositions of two names, or of two days, mean the same."""
    return len(before) == len(after) and all(
        x == y or any(x in words and y in words for words in w.PLACED) for x, y in zip(before, after, strict=True)
    )


class _Number(Struct):
    """A number in its text."""

    words: Sequence[Word]
    number: Word

    @property
    def _behind(self) -> list[str]:
        at = self._at
        return [word.form for word in self.words[at + 1 : at + 4]]

    @property
    def _at(self) -> int:
        return next(at for at, word in enumerate(self.words) if word is self.number)

    @property
    def _before(self) -> Word | None:
        return self.words[self._at - 1] if self._at else None

    @property
    def counts(self) -> str:
        """The word right behind it, as what it counts does; empty where nothing such does."""
        form = next(iter(self._behind), "")
        return "" if form in w.FILLERS or is_verb(form) or _DIGIT.search(form) else form

    @property
    def name(self) -> Word | None:
        """The word right before it of which it is a part, as in `port 8443` and `Go 1.22`; None where none is."""
        word = self._before
        if word is None or word.form in w.FILLERS or not word.form.isalpha() or (is_verb(word.form) and not word.name):
            return None
        return word

    @property
    def per(self) -> str:
        """The time for which it is said: `900 a month`."""
        return next((unit for article, unit in pairwise(self._behind) if article in w.EACH and unit in w.TIMES), "")

    @property
    def is_bound(self) -> bool:
        """Whether it only says from where on something is so: `free above 50 euros`."""
        return self._before is not None and self._before.form in w.BOUNDS

    @property
    def verbs(self) -> frozenset[str]:
        """The verbs of its text that say more than that something is or has it."""
        return frozenset(word.form for word in self.words if is_verb(word.form) and word.form not in w.COPULAS)

    def has(self, form: str) -> bool:
        """Whether its text has a word, or that is said of any number."""
        return form in w.OF_NUMBERS or any(word.form == form for word in self.words)


def _have_two_names(before: _Number, after: _Number) -> bool:
    """Whether each has a name that the other text does not have; of two written as names one replaces the other (`Redis 6`)."""
    name, other = before.name, after.name
    if name is None or other is None or (name.name and other.name):
        return False
    return not after.has(name.form) and not before.has(other.form)


def _seconds(number: Word, unit: str) -> float | None:
    """A time in seconds; None where the unit is none of time, or the number cannot be read."""
    scale = w.SECONDS.get(unit)
    with suppress(ValueError):
        return float(number.form.replace(",", ".")) * scale if scale else None
    return None


def _dimension(unit: str) -> str:
    """The same word for all units that measure one thing; another word as it is."""
    unit = w.UNITS[unit][1] if unit in w.UNITS else unit
    return next((str(place) for place, units in enumerate(w.DIMENSIONS) if unit in units), unit)
