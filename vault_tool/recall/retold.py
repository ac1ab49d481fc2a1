"""Supposed updates told in other words: `Python 3.10 runs the API`, and weeks later `the image was bumped to Python 3.12`.

Words of two texts are not compared in their order here. A newer text changes an older one where it says that something changed,
speaks of all that the older one speaks of, and has another value of the same form; or where it says in place of which value it
is, or which is gone. It is a guess as `updates` has it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from vault_tool.recall import update_words as w
from vault_tool.recall.question import COMMON
from vault_tool.recall.word_forms import Word, are_of_two_things, are_placed_alike, is_event, is_number, is_verb, words_of
from vault_tool.util.structs import Struct

# Longer texts are talk: what they say of one thing is told by where it stands in them.
_LETTERS = 240
_LEAST_WORDS = 2
# A newer text that says more than this beside the value may speak of another thing, if it does not say that it is news.
_MOST_BESIDE = 2
_MOST_REWORDED = 3
_MOST_NEW = 8
_LEAST_SHORT, _LEAST_PART, _ENDED = 3, 5, 3

_CLAUSE = re.compile(r"(?<=\w\w\w[.!;])\s+|[;,]\s+|\s[-–—]\s|\s(?:and|und|y)\s")
_SENTENCE = re.compile(r"(?<=\w\w[.!;])\s+|\n+")
_ENDING = re.compile(r"s|es|d|ed|ing|ly|er|n|en|e|[bdgmnprt](?:ed|ing)")
_INSIDE = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"\d")
_KEY = re.compile(r"\w[_.-]\w")

Values = tuple[str, str]
"""What stood there, and what stands there now; `""` where the newer text does not say it in a form that can be told."""


class _Read(Struct):
    """A text as it is compared: every word, the telling ones, their forms, those without a digit, and those that may name what it
    speaks of.
    """

    text: str
    every: tuple[Word, ...]
    words: tuple[Word, ...]
    forms: frozenset[str]
    spelled: tuple[str, ...]
    subject: frozenset[str]
    news: bool
    """Whether it says that something changed."""
    stated: bool
    """Whether a verb or a colon stands before its last number."""


class _Pair(Struct):
    """Two texts of which one may change the other: the older's words that are gone, those of both, and the newer's fresh ones."""

    older: _Read
    newer: _Read
    gone: tuple[Word, ...]
    both: tuple[Word, ...]
    fresh: tuple[Word, ...]

    @property
    def common(self) -> list[Word]:
        """The words of both that tell of what they speak."""
        return list(filter(_tells, self.both))

    @property
    def lacking(self) -> list[Word]:
        """The words of the older text that tell of what it speaks, and that the newer one does not have."""
        return list(filter(_tells, self.gone))


def retold(older: str, newer: str) -> Values | None:
    """The values that a newer text seems to change, in words of its own; None where it changes nothing, or one cannot tell."""
    if max(len(older), len(newer)) > _LETTERS or "?" in newer:
        return None
    first = _SENTENCE.split(newer, maxsplit=1)[0]
    if any(words.search(first) for words in (w.ALSO, w.LISTED, w.THEN, w.NOT_YET)) or w.LISTED.search(older):
        return None
    named = bool(w.GONE.search(newer) or w.IN_PLACE.search(newer))
    if not (named or w.CHANGES.search(newer) or _may_be_plain(older, newer)):
        return None
    ours = _read(newer)
    for theirs in _parts(older):
        # Most of what is spoken of stands in both in the same form: the rest is looked at more closely.
        if named or len(theirs.subject - ours.forms) <= _MOST_REWORDED:
            pair = _compared(theirs, ours)
            values = next(filter(None, (rule(pair) for rule in _RULES)), None) if pair.both else None
            if values is not None:
                return values
    return None


@lru_cache(1024)
def _read(text: str) -> _Read:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    every = list(words_of(plain))
    words = tuple(word for word in every if word.form not in w.FUNCTION)
    spelled = tuple(dict.fromkeys(word.form for word in words if not is_number(word)))
    last = max((at for at, word in enumerate(every) if is_number(word)), default=0)
    stated = any(word.leads or is_verb(word.form) for word in every[:last])
    forms = frozenset(word.form for word in words)
    subject = frozenset(word.form for word in words if word.form[0].isalpha() and not _is_of_anything(word.form))
    return _Read(text, tuple(every), words, forms, spelled, subject, bool(w.CHANGES.search(text)), stated)


@lru_cache(512)
def _parts(text: str) -> tuple[_Read, ...]:
    """A text, and its clauses, that tell a state."""
    parts = dict.fromkeys([text, *filter(None, map(str.strip, _CLAUSE.split(text)))])
    return tuple(read for part in parts if len((read := _read(part)).words) >= _LEAST_WORDS and not is_event(part))


def _may_be_plain(older: str, newer: str) -> bool:
    """Whether a text that does not say that it is news may have another value: it has few words that the other does not have."""
    texts = (older, newer)
    if len(set(newer.casefold().split()).difference(older.casefold().split())) > _MOST_NEW:
        return False
    switched = all(w.ON.search(text) or w.OFF.search(text) for text in texts)
    return switched or any(all(map(form.search, texts)) for form in (_DIGIT, _KEY))


def _compared(theirs: _Read, ours: _Read) -> _Pair:
    gone = _missing(theirs, ours)
    both = tuple(word for word in theirs.words if word not in gone)
    return _Pair(theirs, ours, gone, both, _missing(ours, theirs))


def _missing(read: _Read, other: _Read) -> tuple[Word, ...]:
    """The words of a text that stand in no form in another."""
    new = {form for form in read.forms if form not in other.forms}
    spelled = {form for form in read.spelled if form in new}
    new -= {form for form in spelled if any(_same(form, candidate) for candidate in other.spelled)}
    return tuple(word for word in read.words if word.form in new)


@lru_cache(4096)
def _same(form: str, other: str) -> bool:
    """Whether two words are one but for their endings, or one is a part of the other; numbers only if they are equal."""
    if form == other:
        return True
    short, long = sorted((form, other), key=len)
    if len(short) < _LEAST_SHORT or _DIGIT.search(form + other):
        return False
    if long.startswith(short) and (len(long) - len(short) == 1 or _ENDING.fullmatch(long[len(short) :])):
        return True
    if short in long.split("-"):
        return True
    if short[-1] in "ey" and _LEAST_SHORT < len(short) >= len(long) - _ENDED and long.startswith(short[:-1]):
        return True
    return len(short) >= _LEAST_PART and long.isalpha() and (long.endswith(short) or long.startswith(short))


def _tells(word: Word) -> bool:
    """Whether a word tells of what is spoken: it is no number, verb, unit, day, or word that many things are spoken of with."""
    return not is_number(word) and not _is_of_anything(word.form)


@lru_cache(4096)
def _is_of_anything(form: str) -> bool:
    return is_verb(form) or any(form in words for words in _OF_ANYTHING)


_OF_ANYTHING = (COMMON, w.NEWS, w.GENERIC, w.UNITS, w.DAYS)


def _numbers(words: Iterable[Word]) -> list[Word]:
    return [word for word in words if is_number(word)]


def _names(words: Iterable[Word], first: Word | None = None) -> list[Word]:
    """Those that are written as names are; `first` begins its text and is taken for one if it has a capital."""
    return [word for word in words if _tells(word) and (word.name or (word is first and word.text[:1].isupper()))]


def _in_place(pair: _Pair) -> Values | None:
    """It says in place of which value it is: `with Vitest instead of Mocha`."""
    match = w.IN_PLACE.search(pair.newer.text)
    if match is None or len(pair.lacking) > 1:
        return None
    for named in words_of(f"- {match[1]}"):
        for value in pair.older.words:
            if _same(named.form, value.form) and any(not _same(word.form, value.form) for word in pair.both):
                return value.text, _text(_names(pair.fresh) or _numbers(pair.fresh))
    return None


def _renamed(pair: _Pair) -> Values | None:
    """It says what the value is called now: `mon01 was renamed to telemetry-a`."""
    match = w.RENAMED.search(pair.newer.text)
    former = next(words_of(f"- {match[1]}"), None) if match else None
    if match is None or former is None:
        return None
    return next(((word.text, match[2].rstrip(".")) for word in pair.older.words if word.form == former.form), None)


def _is_gone(pair: _Pair) -> Values | None:
    """It says that a value is gone: `Jenkins is gone`, `nas2 was retired`."""
    for match in w.GONE.finditer(pair.newer.text):
        clause = re.split(r"[,;]|\.\s", pair.newer.text[: match.start()])[-1]
        for named in _read(clause).words[-2:]:
            for value in pair.older.words[0 if is_verb(pair.older.words[0].form) else 1 :]:
                form = _same(named.form, value.form) or named.form in _INSIDE.split(value.form)
                if form and (value.name or is_number(value)) and any(word is not value for word in pair.both if _says(word)):
                    fresh = [word for word in pair.fresh if word.form != named.form]
                    return value.text, _text(_names(fresh) or _numbers(fresh))
    return None


def _says(word: Word) -> bool:
    return word.form not in COMMON and not is_number(word)


def _number(pair: _Pair) -> Values | None:
    """Another number of the same thing."""
    gone, fresh = _numbers(pair.gone), _numbers(pair.fresh)
    if not (gone and fresh) or pair.lacking or not pair.common or len(gone) < len(_numbers(pair.older.words)):
        return None
    if are_of_two_things(pair.older.every, gone[-1], pair.newer.every, fresh[0]) or _of_others(pair, gone[0], fresh[0]):
        return None
    if _is_another(pair):
        return None
    return (gone[-1].text, fresh[0].text) if pair.newer.news or _is_plain(pair, gone, fresh) else None


def _of_others(pair: _Pair, was: Word, now: Word) -> bool:
    """Whether each text begins with a number: `db-01 has 64 GB`, `db-02 has 128 GB`."""
    return was in pair.older.every[:2] and now in pair.newer.every[:2] and len(_numbers(pair.fresh)) > 1


def _is_another(pair: _Pair) -> bool:
    """Whether what both speak of is another one in each: the read timeout, and the connect timeout."""
    before, after = _qualified(pair.older), _qualified(pair.newer)
    return any(form in after and after[form] not in pair.older.forms and before[form] not in pair.newer.forms for form in before)


def _qualified(read: _Read) -> dict[str, str]:
    """By the form of each telling word the form of the word right before it; words that any sentence has are left out."""
    return {word.form: before.form for before, word in pairwise(read.every) if _tells(word) and _qualifies(before)}


def _qualifies(word: Word) -> bool:
    return not (is_number(word) or any(word.form in words for words in (w.FILLERS, w.COPULAS, COMMON)))


def _is_plain(pair: _Pair, gone: Sequence[Word], fresh: Sequence[Word]) -> bool:
    """Whether a text that does not say that it is news has one number in the place of one, and little else."""
    beside = [word for word in pair.fresh if _tells(word)]
    timed = w.ONCE.search(pair.newer.text) or any(word.form in w.DAYS for word in (*pair.fresh, *pair.older.words))
    alone = len(gone) == len(fresh) == 1 and len(beside) <= _MOST_BESIDE and not _names(beside)
    return alone and not timed and pair.older.stated and len(pair.common) > 1


def _state(pair: _Pair) -> Values | None:
    """On where the other says off, and the other opposites."""
    if not pair.common or _numbers(pair.gone) or (_numbers(pair.fresh) and not pair.newer.news):
        return None
    for on, off in ((w.ON, w.OFF), (w.OFF, w.ON)):
        was, now = on.search(pair.older.text), off.search(pair.newer.text)
        both = off.search(pair.older.text) or on.search(pair.newer.text)
        if was and now and not both and all(word.text in was[0] for word in pair.lacking):
            return was[0], now[0]
    for value in pair.older.words:
        for word in pair.fresh:
            if frozenset((value.form, word.form)) in w.OPPOSITES and all(lack is value for lack in pair.lacking):
                return value.text, word.text
    return None


def _name(pair: _Pair) -> Values | None:
    """Another name of the same thing, or another holder of the same role."""
    if not pair.newer.news or not pair.common or _numbers(pair.gone):
        return None
    first = pair.older.words[0]
    gone, fresh = _names(pair.gone, first), _names(pair.fresh)
    if first in gone:
        # Another person may do the same: of a role there is one at a time.
        newcomer = _read(pair.newer.text).words[0]
        fresh = _names(pair.fresh, newcomer) if w.ROLE.search(pair.newer.text) else []
    if not gone or not fresh or len(gone) > _MOST_BESIDE or any(word not in gone for word in pair.lacking):
        return None
    if _is_split(pair.older.every, gone) or _is_another(pair):
        return None
    was, now = _preposition(pair.older.every, gone[0]), _preposition(pair.newer.every, fresh[0])
    if (was and now and not are_placed_alike(was, now)) or (was != now and now and now[0] in w.OF_ANOTHER):
        return None
    return _text(gone), _text(fresh[:1])


def _is_split(words: Sequence[Word], values: Sequence[Word]) -> bool:
    """Whether a verb stands between the values: the one before it is of whom it is said."""
    at = [at for at, word in enumerate(words) if word in values]
    return any(is_verb(word.form) for word in words[at[0] : at[-1]])


def _preposition(words: Sequence[Word], value: Word) -> tuple[str, ...]:
    """The preposition before a value, with at most an article between."""
    at = next((at for at, word in enumerate(words) if word is value), 0)
    return tuple(word.form for word in words[max(0, at - 2) : at] if word.form in w.PREPOSITIONS)[-1:]


def _key(pair: _Pair) -> Values | None:
    """Another value of a key that is written as programs write it: `LOG_LEVEL=warn`."""
    fresh = [word for word in pair.fresh if _tells(word)]
    if (
        _numbers(pair.gone)
        or _numbers(pair.fresh)
        or len(pair.lacking) != 1
        or len(fresh) != 1
        or len(pair.common) < _LEAST_WORDS
    ):
        return None
    value = pair.lacking[0]
    keyed = any(_KEY.search(word.form) for word in pair.common)
    return (value.text, fresh[0].text) if keyed and value is not pair.older.words[0] and not _names((value, *fresh)) else None


def _text(words: Sequence[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in words))


_RULES = (_renamed, _in_place, _is_gone, _number, _state, _name, _key)
