"""Supposed updates: of two memories that are near alike in words, whether the newer one gives another value of the same thing.

It is told by their words alone, so it is a guess: whoever uses it marks and proposes, and takes nothing away.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

from msgspec.structs import replace

from vault_tool.recall import update_words as w
from vault_tool.recall.question import COMMON
from vault_tool.recall.retold import retold
from vault_tool.recall.word_forms import Word, are_of_two_things, are_placed_alike, is_event, is_number, is_verb, words_of
from vault_tool.util.structs import Struct
from vault_tool.util.text import NEGATIONS

# Longer texts are compared by their beginnings; a long message says its news among the first clauses.
_LETTERS = 2400
_CLAUSES = 24
# A text of more words, or of more sentences, is talk: there only a number, a name or a day may differ, and more must be alike.
_BRIEF, _SENTENCES = 24, 2
_ALIKE, _MOSTLY = 2, 0.5
# A value of more words is another sentence.
_LONGEST = 4
# The part of the shorter clause's words that both must have before they are compared word for word.
_SHARE = 0.2

_CLAUSE = re.compile(
    # Not after `Dr.` and its like.
    r"(?<=[^.\s][^.\s][^.\s][.!?;])(?<!\bMrs\.)\s+|(?<=[。！？])|\n+|;|,\s+|\s[-–—]\s|"
    r"\s(?:but|and so|so that|because|although)\s",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=\w{3})[.!?](?=\s|$)")


class Changed(Struct):
    """The value in a newer text and the one it replaces, both as they are read; `""` where a text only denies."""

    before: str
    after: str


class _Clause(Struct):
    words: tuple[Word, ...]
    denied: bool
    moved: bool
    placed: bool
    """Whether it moved in space, or may have."""
    mover: frozenset[str]
    """The telling words before that it moved or changed: what did."""
    news: bool
    telling: frozenset[str]


class _Text(Struct):
    """A text in its clauses, without any where it lists things, or tells what happened once; `beside` says that what it tells
    holds beside all else: one more thing, a plan, an opinion, an exception.
    """

    clauses: tuple[_Clause, ...]
    beside: bool
    brief: bool


@lru_cache(1024)
def changed(older: str, newer: str) -> Changed | None:
    """The change a newer text seems to make to an older one; None where they are not of one thing, or both may hold."""
    change = _in_order(older, newer)
    if change is None and (values := retold(older, newer)) is not None:
        change = Changed(*values)
    return change


def _in_order(older: str, newer: str) -> Changed | None:
    """The change that two texts tell which are much alike, word for word."""
    after = _read(newer[:_LETTERS])
    if after.beside or not after.clauses:
        return None
    before = _read(older[:_LETTERS])
    brief = before.brief and after.brief
    for place, ours in enumerate(after.clauses):
        for other, theirs in enumerate(before.clauses):
            if place and other and brief and _of_others(before.clauses[other - 1], after.clauses[place - 1]):
                continue
            least, both = min(len(ours.telling), len(theirs.telling)), ours.telling & theirs.telling
            if brief:
                several = len(both) > _SHARE * least
                change = (_between if both - COMMON else _in_talk)(theirs, ours) if several else None
            else:
                several = len(both - COMMON) >= _ALIKE and len(both) >= _MOSTLY * least
                change = _in_talk(theirs, ours) if several else None
            if change is not None:
                return change
    return None


def _of_others(older: _Clause, newer: _Clause) -> bool:
    """Whether what stands before two clauses says that they are of two things: `on the dev server, the log level is DEBUG`."""
    both = older.telling & newer.telling
    return bool(both) and not newer.news and bool(older.telling - both) and bool(newer.telling - both)


@lru_cache(512)
def _read(text: str) -> _Text:
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    beside = bool(w.ALSO.search(text) or w.NOT_YET.search(text))
    if w.LISTED.search(text) or is_event(text):
        return _Text((), beside, False)
    clauses = tuple(filter(None, map(_clause, [part for part in _CLAUSE.split(text) if part and part.strip()][:_CLAUSES])))
    count = sum(len(clause.words) for clause in clauses)
    brief = count <= _BRIEF and len(_END.findall(text)) <= _SENTENCES and "?" not in text
    if brief and any(clause.news for clause in clauses):
        clauses = tuple(replace(clause, news=True) for clause in clauses)
    return _Text(clauses, beside, brief)


def _clause(text: str) -> _Clause | None:
    match = w.MOVED.search(text)
    moved, placed = match is not None, match is not None and w.PLACES.search(match[0]) is not None
    mover = (
        frozenset(word.form for word in words_of(text[: match.start()]) if _is_of_the_mover(word)) if match else frozenset[str]()
    )
    stopped = bool(w.STOPPED.search(text))
    news = moved or stopped or any(words.search(text) for words in (w.SAID_NOW, w.INSTEAD, w.NOT_THAT))
    no_longer = bool(w.NO_LONGER.search(text))
    text = w.SINCE.sub("", w.INSTEAD.sub("", text))
    text = w.STOPPED.sub(" ", w.FILLER.sub(" ", w.MOVED.sub(" ", text)))
    words = list(words_of(text))
    if words and words[-1].form in ("on", "off"):
        words[-1] = replace(words[-1], form=f"{words[-1].form}!")
    denials = sum(word.form in NEGATIONS for word in words)
    remaining = tuple(word for word in words if word.form not in NEGATIONS and word.form not in w.NEWS)
    denied = stopped or no_longer or bool(denials % 2)
    telling = frozenset(word.form for word in remaining if word.form not in w.FUNCTION)
    return _Clause(remaining, denied, moved, placed, mover, news, telling) if remaining else None


def _is_of_the_mover(word: Word) -> bool:
    return not any(word.form in words for words in (w.FUNCTION, w.NEWS, w.DAYS, w.GENERIC, w.QUANTIFIERS)) and not is_number(word)


def _in_talk(older: _Clause, newer: _Clause) -> Changed | None:
    """The change a clause of a long text makes to one of another: a value that can be told by its form."""
    if older.denied != newer.denied:
        return None
    regions, common = _compared(older, newer)
    swapped = _swap(older, newer, common, regions)
    swaps = [region for region in regions if region.before and region.after]
    certain = swapped is not None and _formed(swaps[0].before) and _formed(swaps[0].after)
    return swapped if certain else None


def _formed(words: Sequence[Word]) -> bool:
    return all(word.name or _dated(word) for word in words)


def _between(older: _Clause, newer: _Clause) -> Changed | None:
    regions, common = _compared(older, newer)
    if not common:
        return None
    if older.denied != newer.denied:
        return _denial(older, newer, common, regions)
    return _swap(older, newer, common, regions)


def _compared(older: _Clause, newer: _Clause) -> tuple[list[_Region], list[str]]:
    """Where two clauses differ, and the telling words that both have in one order."""
    ours, theirs = newer.words, older.words
    a, b = [word.form for word in theirs], [word.form for word in ours]
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    common = [form for tag, i, j, _, _ in blocks if tag == "equal" for form in a[i:j] if form not in w.FUNCTION]
    return list(_regions(blocks, theirs, ours, newer.moved)), common


class _Region(Struct):
    """A place where two clauses differ: the telling words there of the older and of the newer one; and all words of the older,
    in which the place goes from `first` to `last`.
    """

    before: tuple[Word, ...]
    after: tuple[Word, ...]
    words: tuple[Word, ...]
    first: int
    last: int
    led: bool
    """Whether words that both have stand before it, of which one is a verb."""
    subject: bool
    """Whether no telling word that both have stands before it."""
    was: tuple[Word, ...]
    """All words that stand there in the older clause, and `now` in the newer one."""
    now: tuple[Word, ...]

    @property
    def lead(self) -> tuple[Word, ...]:
        """The words of the older clause before the place."""
        return self.words[: self.first]

    @property
    def rest(self) -> tuple[Word, ...]:
        """The words of the older clause behind it."""
        return self.words[self.last + 1 :]


def _regions(
    blocks: Sequence[tuple[str, int, int, int, int]], theirs: tuple[Word, ...], ours: tuple[Word, ...], moved: bool
) -> Iterator[_Region]:
    parts: list[tuple[int, int, int, int]] = []
    for tag, i, j, k, m in blocks:
        if tag == "equal":
            continue
        # A day and an hour are one value; what stands on the two sides of a verb is not: `the bill for May is 300`.
        joined = (*theirs[parts[-1][0] : j], *ours[k:m]) if parts else ()
        if parts and all(map(_joins, joined)):
            parts[-1] = (parts[-1][0], j, parts[-1][2], m)
        else:
            parts.append((i, j, k, m))
    verbs, our_verbs = (_verbs_of(theirs), _verbs_of(ours)) if moved else (frozenset[int](), frozenset[int]())
    for i, j, k, m in parts:
        before, after = _telling(theirs, i, j, verbs), _telling(ours, k, m, our_verbs)
        if not before and not after:
            continue
        head = theirs[:i]
        telling = [word for word in head if word.form not in w.FUNCTION]
        verb = any(word.leads or (is_verb(word.form) and not word.text.endswith("ing")) for word in head)
        places = [at for at in range(i, j) if any(theirs[at] is word for word in before)] or [i, j - 1]
        yield _Region(before, after, theirs, places[0], places[-1], verb, not telling, theirs[i:j], ours[k:m])


def _joins(word: Word) -> bool:
    """Whether what stands before and behind a word may be one value."""
    return not word.leads and ((word.form in w.FUNCTION and word.form not in w.COPULAS) or _dated(word))


def _telling(words: Sequence[Word], start: int, stop: int, left: Container[int]) -> tuple[Word, ...]:
    return tuple(words[at] for at in range(start, stop) if words[at].form not in w.FUNCTION and at not in left)


def _verbs_of(words: Sequence[Word]) -> frozenset[int]:
    """The places of the verbs: what stands behind `my` or `the` is none, as in `my work laptop`."""
    behind = ("", *(word.form for word in words))
    return frozenset(at for at, word in enumerate(words) if is_verb(word.form) and behind[at] not in w.DETERMINERS)


def _dated(word: Word) -> bool:
    return word.form in w.DAYS or is_number(word)


def _denial(older: _Clause, newer: _Clause, common: Sequence[str], regions: Sequence[_Region]) -> Changed | None:
    """A text that says no where the other says yes."""
    if any(region.before and region.after for region in regions):
        return None
    spare = sum(len(region.before) + len(region.after) for region in regions)
    if any(region.subject for region in regions) or spare > max(1, len(common) // 2):
        return None
    return Changed(_said(older.words), _said(newer.words))


def _swap(older: _Clause, newer: _Clause, common: Sequence[str], regions: Sequence[_Region]) -> Changed | None:
    """A text that says one thing where the other says another."""
    swaps = [region for region in regions if region.before and region.after]
    if len(swaps) != 1:
        return None
    region = swaps[0]
    # What one of them alone says before the value is of what it speaks.
    earlier = regions[: regions.index(region)]
    ours, theirs = any(place.after for place in earlier), any(place.before for place in earlier)
    if (ours and theirs) or (not newer.news and (ours or theirs)):
        return None
    if _value(region.before) == _value(region.after) or max(len(region.before), len(region.after)) > _LONGEST:
        return None
    return Changed(_said(region.before), _said(region.after)) if _same_thing(older, newer, common, region) else None


def _same_thing(older: _Clause, newer: _Clause, common: Sequence[str], region: _Region) -> bool:
    """Whether what differs is a value of what both speak of, and of such there is one at a time."""
    numbers = any(map(is_number, region.before)) and any(map(is_number, region.after))
    alike = numbers or _alike(region.before, region.after)
    if numbers and are_of_two_things(older.words, _first_number(region.before), newer.words, _first_number(region.after)):
        return False
    if not numbers and not _in_one_place(older, newer, region, alike):
        return False
    if any(word.form in w.READING for word in older.words) and any(word.form in w.DAYS for word in region.before):
        return False
    if numbers and (
        _also_of_another(region) or (not region.led and (_numbered(region) or (not newer.news and _is_reading(region))))
    ):
        return False
    if not (numbers or newer.news) and (_is_counted(region) or _is_had(region)):
        return False
    if region.subject:
        placed = newer.news or _opposite(region.before, region.after) or _one_role(region)
    else:
        placed = region.led or newer.news or numbers or (alike and not _more_after(region))
    if not placed or not (
        alike or newer.news or (len(common) > 1 and len(common) >= _MOSTLY * len(older.telling & newer.telling))
    ):
        return False
    return numbers or newer.news or not any(word.form in w.MANY for word in older.words)


def _alike(before: Sequence[Word], after: Sequence[Word]) -> bool:
    """Whether two values are of one kind: names, days, or each other's opposites."""
    names = all(any(word.name and word.form not in w.DAYS for word in side) for side in (before, after))
    return names or _opposite(before, after) or all(map(_dated, (*before, *after)))


def _first_number(words: Sequence[Word]) -> Word:
    return next(filter(is_number, words))


def _in_one_place(older: _Clause, newer: _Clause, region: _Region, alike: bool) -> bool:
    """Whether two clauses tell of the same: the backup that runs at two, and now runs on the NAS, does both."""
    was, now = _prepositions(region.was), _prepositions(region.now)
    if not newer.news:
        was, now = _prepositions(_leading(region.was)), _prepositions(_leading(region.now))
        return not (was and now) or are_placed_alike(was, now)
    before, after = _kind(region.before), _kind(region.after)
    if before != after and _DATED in (before, after):
        return False
    if len(region.before) > 1 and _settles(region.before[0]) and _settles(region.after[0]):
        return region.before[0].form == region.after[0].form
    if newer.moved:
        return _moves_to_another(older, newer, region, alike)
    if (was != now and not (alike and are_placed_alike(was, now))) or _is_split(region.was) or _is_split(region.now):
        return False
    if any(map(_settles, region.before[:-1])) != any(map(_settles, region.after[:-1])):
        return False
    if _is_said_otherwise(region):
        return False
    copula = bool(region.lead) and region.lead[-1].form in w.COPULAS
    return alike or not ((copula and before != after) or _is_had(region))


def _moves_to_another(older: _Clause, newer: _Clause, region: _Region, alike: bool) -> bool:
    """Whether what a clause says has moved or changed is what the older one tells of: not its keys, who are with Tom."""
    thing = next((word.form for word in older.words if word.form not in w.FUNCTION), "")
    if _is_split(region.was) or newer.mover - older.telling or (newer.mover and thing not in newer.mover):
        return False
    if alike:
        return True
    placed = bool(_prepositions([*region.lead[-2:], *_leading(region.was)]))
    if not placed and (newer.placed or (len(region.before) > 1 and _kind(region.before) == _PLAIN)):
        return False
    return not _is_of_a_person(region) or any(word.form in newer.telling for word in region.rest)


def _is_said_otherwise(region: _Region) -> bool:
    """Whether another verb says it, or one has what the other is: what stands in the hall now has a new toner."""
    having = [any(word.form in w.HAVING for word in words) for words in (region.was, region.now)]
    verbs = [
        next((word.form for word in words[:2] if is_verb(word.form) and not word.name), "") for words in (region.was, region.now)
    ]
    return having[0] != having[1] or (bool(verbs[0]) and verbs[0] != verbs[1])


def _is_split(words: Sequence[Word]) -> bool:
    """Whether a verb stands within the words, telling words on both its sides."""
    at = next((at for at, word in enumerate(words) if is_verb(word.form)), 0)
    return all(any(word.form not in w.FUNCTION for word in side) for side in (words[:at], words[at + 1 :]))


def _leading(words: Sequence[Word]) -> list[Word]:
    """The words before the first that tells something."""
    return list(takewhile(lambda word: word.form in w.FUNCTION or word.form in w.PREPOSITIONS, words))


def _prepositions(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.form for word in words if word.form in w.PREPOSITIONS)


_NAMED, _DATED, _PLAIN = "named", "dated", "plain"


def _kind(words: Sequence[Word]) -> str:
    """The kind of a value by its form: a name, a day or number, or other words."""
    if any(not _dated(word) and not word.text.islower() for word in words):
        return _NAMED
    return _DATED if any(_dated(word) or word.text.casefold() in w.PARTS_OF_DAY for word in words) else _PLAIN


def _settles(word: Word) -> bool:
    return word.form.endswith("ed") and word.form not in w.SETTLED


def _is_of_a_person(region: _Region) -> bool:
    """Whether it is said of names alone: who works at the bakery and changes to oat milk works there all the same."""
    telling = [word for word in region.lead if word.form not in w.FUNCTION and not is_verb(word.form)]
    return bool(telling) and all(word.text[:1].isupper() for word in telling)


def _opposite(before: Sequence[Word], after: Sequence[Word]) -> bool:
    return any(frozenset((x.form, y.form)) in w.OPPOSITES for x in before for y in after)


def _also_of_another(region: _Region) -> bool:
    """Whether beside the numbers other words differ that are no name: then it is another thing that has another number."""
    words = [[word for word in side if not _dated(word)] for side in (region.before, region.after)]
    if all(words):
        return not all(word.name for side in words for word in side)
    days = [[word for word in side if word.form in w.DAYS] for side in (region.before, region.after)]
    # `on Mondays at nine, on Thursdays at ten`: both hold.
    return all(days) and all(side[-1].text.casefold().endswith("s") for side in days)


def _numbered(region: _Region) -> bool:
    """Whether the number is a name: a verb stands after it, or nothing that it could count (`ticket 4411 is open`)."""
    if not region.rest:
        return False
    numbered = region.last > 0 and region.words[region.last - 1].form in w.NUMBERED
    return numbered or (is_verb(region.rest[0].form) and not _one_role(region))


def _is_reading(region: _Region) -> bool:
    """Whether a number without a verb was read at a time: `21.3 at noon`, `at 9 on 3 March`; weekly days are no such time."""
    days = [word for word in (*region.before, *region.rest) if word.form in w.DAYS]
    return any(not word.text.casefold().endswith("s") for word in days)


def _is_had(region: _Region) -> bool:
    """Whether it is one of those that a person may have several of: `has a cat called Biscuit`, `an account at that bank`."""
    pairs = zip(region.lead, region.lead[1:], strict=False)
    return any(verb.form in w.HAVING and article.form in w.ONE_OF for verb, article in pairs)


def _is_counted(region: _Region) -> bool:
    """Whether a number that both have counts what differs: `two cats` and `two dogs`; of units it is one value."""
    counted = bool(region.lead) and region.lead[-1].form.isdigit()
    return counted and not all(word.form in w.MEASURES or word.form in w.UNITS for word in region.before)


def _more_after(region: _Region) -> bool:
    """Whether telling words stand after the place, so that what stands there may be of what is spoken."""
    return any(word.form not in w.FUNCTION for word in region.rest)


def _one_role(region: _Region) -> bool:
    """Whether a name is followed by `is the` or `leads the`: of such there is one at a time."""
    rest = [word.form for word in region.rest[:2]]
    has_a_role = len(rest) == 2 and (rest[0] in ("is", "ist", "es") or rest[0] in w.ROLES)
    return has_a_role and rest[1] in ("the", "our", "my", "der", "die", "el", "la")


def _value(words: Sequence[Word]) -> list[str]:
    values: list[str] = []
    for word in words:
        times, unit = w.UNITS.get(word.form, ("", word.form))
        if times and values and values[-1].isdigit():
            values[-1] = str(int(values[-1]) * int(times))
        values.append(unit)
    return sorted(values)


def _said(words: Sequence[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in words))
