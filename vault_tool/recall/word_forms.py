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
    """Whether two numbers cannot be of one thing: they count two things (`12 minutes`, `40 steps`), one of them alone counts and
    another verb says so, or what is said of them is opposite (`opens at nine`, `closes at six`).
    """
    counted, recounted = _counted(older, was), _counted(newer, now)
    if counted and recounted and _dimension(counted) != _dimension(recounted):
        return True
    if counted and recounted and (time := _seconds(was, counted)) is not None and time == _seconds(now, recounted):
        return True
    if (per := _per(older, was)) and (each := _per(newer, now)) and per != each:
        return True
    if recounted and _is_clock(was) and not _is_clock(now) and _dimension(recounted) != f"as {w.DIMENSIONS[0][0]}":
        return True
    named, renamed = _named(older, was), _named(newer, now)
    both_names = named is not None and renamed is not None and named.name and renamed.name
    if named and renamed and not both_names and named.form not in _forms(newer) and renamed.form not in _forms(older):
        return True
    if _is_bound(older, was) != _is_bound(newer, now):
        return True
    verbs, others = _verbs(older), _verbs(newer)
    if recounted and not counted and _dimension(recounted) != recounted and others - verbs and not verbs:
        return True
    return any(len(pair & verbs) == len(pair & others) == 1 and pair <= verbs | others for pair in w.OPPOSED)


def are_placed_alike(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the prepositions of two names, or of two days, mean the same."""
    return len(before) == len(after) and all(
        x == y or any(x in words and y in words for words in w.PLACED) for x, y in zip(before, after, strict=True)
    )


def _counted(words: Sequence[Word], number: Word) -> str:
    """The word that stands right behind a number, as what it counts does; empty where nothing such does."""
    at = next((at for at, word in enumerate(words) if word is number), len(words))
    behind = words[at + 1].form if at + 1 < len(words) else ""
    is_said = behind in w.FUNCTION or behind in w.NEWS or behind in w.DAYS or behind in w.PREPOSITIONS or is_verb(behind)
    return "" if is_said or _DIGIT.search(behind) else behind


def _named(words: Sequence[Word], number: Word) -> Word | None:
    """The word right before a number that is a part of its name, as in `port 8443` and `Go 1.22`; None where none is."""
    at = next((at for at, word in enumerate(words) if word is number), 0)
    before = words[at - 1] if at else number
    is_said = before.form in w.FUNCTION or before.form in w.NEWS or before.form in w.DAYS or before.form in w.PREPOSITIONS
    return None if is_said or not before.form.isalpha() or (is_verb(before.form) and not before.name) else before


def _is_bound(words: Sequence[Word], number: Word) -> bool:
    """Whether a number only says from where on something is so: `free above 50 euros`."""
    at = next((at for at, word in enumerate(words) if word is number), 0)
    return at > 0 and words[at - 1].form in w.BOUNDS


def _forms(words: Sequence[Word]) -> frozenset[str]:
    """The forms of a text's words, with those that are said of any number."""
    return frozenset((*(word.form for word in words), "version", "number", "release", "nummer", "número", "versión"))


def _per(words: Sequence[Word], number: Word) -> str:
    """The time for which a number is said: `900 a month`."""
    at = next((at for at, word in enumerate(words) if word is number), len(words))
    behind = [word.form for word in words[at + 1 : at + 4]]
    return next((unit for article, unit in pairwise(behind) if article in w.EACH and unit in w.DIMENSIONS[0]), "")


def _seconds(number: Word, unit: str) -> float | None:
    """A time in seconds; None where the unit is none of time, or the number cannot be read."""
    scale = w.SECONDS.get(unit)
    with suppress(ValueError):
        return float(number.form.replace(",", ".")) * scale if scale else None
    return None


def _is_clock(word: Word) -> bool:
    return ":" in word.form


def _dimension(form: str) -> str:
    form = w.UNITS[form][1] if form in w.UNITS else form
    return next((f"as {words[0]}" for words in w.DIMENSIONS if form in words), form)


def _verbs(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.form for word in words if is_verb(word.form) and word.form not in w.COPULAS)
