"""Parsing of a question: the words that carry its meaning, the names in it, and whether it is about the asker."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from vault_tool.recall import time_words, times
from vault_tool.recall.wishes import asks_for_advice, asks_what_is_left
from vault_tool.util.seamless import RUN, frames_only, names_within
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

if TYPE_CHECKING:
    from vault_tool.recall.times import Times

# The most words of a name that is looked for in a question.
LONGEST_NAME = 5

# A text of more words is read sentence by sentence: as one question its words would be compared as a whole.
PAGE_WORDS = 60

# The last sentences of a page that are searched for, at most; a page of 400 words has about 25.
MOST_SENTENCES = 40

# Names in a vault for the person who asks with `I` or `my`.
SELF = ("user", "me", "owner", "human")

# English words that frame a question and tell nothing of its answer. `I` and `our` are not among them, because a question about
# the asker looks for texts with these words; nor are `before` and `after`. Other languages rely on rarity alone.
_FRAMING = (
    "a about all also an and any anyone are as at be because been being both but by can cannot could did "
    "do does doing done each else ever every never few for from had has have having he her here hers him his how if "
    "in into is it its itself just kind like many may might more most much must no nor not now of off on once "
    "one only or other out over own please same shall she should since so some such tell than that the their "
    "theirs them then there these they this those through to too under until up upon very was were what when "
    "where whether which while who whom whose why will with within without would you your yours"
)

_FUNCTION = frozenset(_FRAMING.split())

# Words that ask what is known of the names beside them, and tell nothing of these.
_ASKED = (
    "actually again anything brief catch current currently describe detail details everything explain find general "
    "give go goes going got hear heard hello help hey hi how's i i'd i'm info information introduce knew know known "
    "knows last latest leave left let's look matter me mean meant mind need new news notes off ok okay our overview "
    "pick picture progress quick quickly read recall refresh remember remembered remind said say says short show so "
    "something sort stand stands state status stood story sum summarise summarize summary talk talked talking thing "
    "things think today touch update updates us want wanted we were what's where's who's "
)

_ASKING = _FUNCTION.union(_ASKED.split())

# Words that ask for the relation of the names beside them.
_RELATING = (
    "affect affected affects among belong belongs between bind binds common compare compared comparison concern "
    "concerns connect connected connecting connection connections connects depend depends difference differ differs "
    "influence influences interact interacts involve involved involves join joined joins link linked links relate "
    "related relates relation relations relationship relationships share shared shares tie tied ties together "
    "versus vs work works"
)
_ASKING_OF_SEVERAL = _ASKING.union(_RELATING.split())

# Function words that begin a question, or that may be a person's name: `Will it rain?`, `Will plays the bassoon.`
_CAN_BE_CALLED = "can could do does did had has have is are was were may might must shall should will would"
_AUXILIARIES = frozenset(_CAN_BE_CALLED.split())

# Words that ask what happened at a time, and tell nothing else.
_HAPPENED = frozenset("happen happened happening happens event events i my geschah passiert war paso hicimos fait passe".split())  # noqa: SIM905

_OFTEN_SAID = (
    "able after again ago alone already always amazing answer around ask away awesome back bad because before begin best "
    "better big bit both bring call came care change check close come cool day days decide different early easy end enough "
    "even evening excited far favorite feel feeling few fine finally finish first friend friends full fun get good got "
    "great guess guy half happen happy hard hear help here high home hope hour house idea important interesting job keep "
    "kid kids kind know last late later learn let life line little live long look looking lot love made make many may "
    "maybe meet minute moment money month morning much name near nearly never nice night number often once open own part "
    "past pay people person place plan play point pretty problem put question quite reach ready real really reason right "
    "room run second see seem send set share short side since sit small soon sorry sound special start stay still stop "
    "stuff super support sure take talk team thank thanks thing three time together tomorrow tonight took top totally try "
    "turn two use used wait walk want watch way week weekend weeks well went whole win wish wonder word work working world "
    "worry worth write wrong year years yesterday young"
)
# English words that are frequent in conversation: two of them in a memory are chance more often than their rarity suggests.
COMMON = frozenset(_OFTEN_SAID.split())

# The weight of such a word.
_COMMONLY = 0.5

# The weight of a word that is written like a name (`CRDTs`, `SQLite`, `v2`): it is rarer than a few notes can show.
_NAMELY = 1.7

_SIGN = re.compile(r"[A-Z].*[A-Z]|[A-Za-z][0-9]")

_CODE = re.compile(r"[^\W_]{3,}")

_SELF = re.compile(r"\b(?:i|me|my|mine|myself|i'm|i've|i'd|i'll)\b|我(?!们|們)|私の?(?=[はがをにも])", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;:…])[\"')\]”’]*\s+|(?<=[。！？；])|\n(?=[^\Wa-z]|[-*>•\n])")
_PART = re.compile(r'"[^"]*"|\S+')
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_AROUND = ".,;:!?()[]{}…'’“”‘\""
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_ENDS = re.compile(r"[.?!…,;\n]")


class Question(Struct):
    """A question prepared for the search: `words` for full text, `text` for vectors, and the `names` that may be in it.

    `own` says that the question is about the asker. `spelled` are its words without the first, if all of them are framing words:
    `what is now?` may ask for a thing called `now`. `sentences` has the telling words of each sentence with their weights, and
    `windows` the sentences themselves. A `page` of conversation and a `conversational` text are searched by these; for a
    question they only measure the match. `times` are the times that it names, `advice` says that it asks what to do, or how,
    and `left` that it asks where the work was left.
    """

    text: str
    words: str
    names: tuple[str, ...]
    own: bool
    page: bool = False
    conversational: bool = False
    sentences: tuple[Mapping[str, float], ...] = ()
    windows: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    times: Times | None = None
    advice: bool = False
    left: bool = False

    @property
    def asked(self) -> str:
        """The question without its times."""
        return self.text if self.times is None else self.times.rest

    @property
    def codes(self) -> tuple[str, ...]:
        """Its numbers and codes of three signs or more, without its times: a memory with none of them is no answer."""
        return tuple(dict.fromkeys(code.casefold() for code in _CODE.findall(self.asked) if any(map(str.isdigit, code))))


def parse_question(text: str, conversational: bool = False, today: date | None = None) -> Question:
    """Parse a person's question, or a line of a conversation (`conversational`); never fails on its text.

    `today` is the day of the question; without it no times are read.
    """
    # Bytes from a shell that are not UTF-8 arrive as half characters, which no index accepts.
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
    whole = " ".join(text.split())
    page = word_count(whole) > PAGE_WORDS
    names: Iterator[str] = chain.from_iterable(map(_names, _bounded(text) if page else [whole]))
    names = chain(names, _capital_names(text))
    if not whole.isascii():
        names = chain(names, names_within(whole[:_MOST_RUN]))
    if conversational:
        # `let's release it` speaks of the subject `releases`.
        names = (other for name in names for other in (name, name[:-1] if name.endswith("s") else f"{name}s"))
    parts = sentences(text)
    spelled = tuple(map(_bare_word, whole.split()[1:])) if all(map(frames, _PART.findall(whole))) else ()
    return Question(
        whole, without_framing(whole), tuple(dict.fromkeys(names)), bool(_SELF.search(whole)), page,
        bool(parts) and (page or conversational), tuple(parts.values()), tuple(parts), spelled,
        None if page or today is None else _times(whole, today),
        not page and today is not None and asks_for_advice(whole), not page and asks_what_is_left(whole),
    )  # fmt: skip


def _times(text: str, today: date) -> Times | None:
    """The times that a question names, if any; the full parser runs only if a word for a time is found."""
    if not time_words.names_some(text):
        return None
    spans, rest = times.read(text, today)
    left = (part.strip(_AROUND).casefold() for part in rest.split())
    share = 1 - len(without_framing(rest).split()) / max(1, len(without_framing(text).split()))
    return (
        times.Times(spans, rest, max(0.0, share), all(word in _HAPPENED or word in _ASKING or not word for word in left))
        if spans
        else None
    )


def without_framing(text: str) -> str:
    """The text without framing words; the whole text if nothing else is left."""
    parts = [part for part in _PART.findall(text) if part.startswith('"') or not frames(part)]
    return " ".join(parts) or text


def frames(part: str) -> bool:
    """Whether a word only frames a question, and tells nothing of its answer."""
    word = part.strip(_AROUND).casefold().replace("’", "'")
    return word in _FUNCTION or word.partition("'")[0] in _FUNCTION


def _names(text: str) -> Iterator[str]:
    """Every run of up to `LONGEST_NAME` words, normalised like a name."""
    words = [_POSSESSIVE.sub("", word) for word in re.findall(r"[^\s,;:!?()\[\]\"“”]+", text)]
    words = [word.rstrip(".'’") for word in words[:_MOST_WORDS]]
    for start in range(len(words)):
        for stop in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            name = normal_name(" ".join(words[start:stop]))
            if name and (stop - start > 1 or name not in _FUNCTION):
                yield name


def _capital_names(text: str) -> Iterator[str]:
    """The function words that a text writes like names: with a capital although they do not begin a sentence."""
    words = [match for match in _WORD.finditer(text) if not match[0].isdigit()]
    if all(match[0][0].isupper() for match in words):
        # In a heading, or a text in capitals, a capital says nothing.
        return
    for at, match in enumerate(words):
        word = _POSSESSIVE.sub("", match[0])
        name = word.casefold()
        if (
            word[0].isupper()
            and name in _FUNCTION
            and (_goes_on(text[max(0, match.start() - 40) : match.start()]) or _is_called(text, words, at))
        ):
            yield name


def _goes_on(before: str) -> bool:
    """Whether the sentence has begun before this place."""
    before = before.rstrip(" \t\"'“‘([*_")
    return bool(before) and before[-1] not in ".?!:;…\n-•>"


def _is_called(text: str, words: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a function word at the beginning of a sentence is a name: `Will's bassoon`, `Will plays the bassoon.`"""
    word = words[at]
    if _POSSESSIVE.search(word[0]):
        return True
    ends = _ENDS.search(text, word.end())
    asks = ends is not None and ends[0] == "?"
    follows = text[word.end() : words[at + 1].start()] if at + 1 < len(words) else ""
    return word[0].casefold() in _AUXILIARIES and not asks and follows.isspace() and words[at + 1][0].casefold() not in _FUNCTION


def is_last_name(word: str) -> bool:
    """Whether the last word of a longer name can stand for the whole name; a common word cannot."""
    return " " not in word and word not in _ASKING_OF_SEVERAL and word not in COMMON and not word.isdigit()


def without(text: str, names: Collection[str]) -> str:
    """The text without these names (compared in normal form); empty if it has none of them, or only framing words beside them."""
    parts = text.split()
    remaining: list[str] = []
    start = 0
    while start < len(parts):
        stops = range(min(start + LONGEST_NAME, len(parts)), start, -1)
        stop = next((stop for stop in stops if _bare(parts[start:stop]) in names), None)
        if stop is None:
            remaining.append(parts[start])
        start = stop or start + 1
    return " ".join(remaining) if len(remaining) < len(parts) and not all(map(frames, remaining)) else ""


def asks_of(text: str, names: Collection[str], *, several: bool = False) -> bool:
    """Whether a text has these names and only asks what is known of them: `where did we leave off with the Julia port?`.

    With `several` it may also ask for their relation: `how is Marta connected with the Julia port?`.
    """
    asking = _ASKING_OF_SEVERAL if several else _ASKING
    parts = text.split()
    asks, start = False, 0
    while start < len(parts):
        stops = range(min(start + LONGEST_NAME, len(parts)), start, -1)
        stop = next((stop for stop in stops if _bare(parts[start:stop]) in names), None)
        within = stop is None and _asks_within(parts[start], names)
        if stop is None and not within and not asking.issuperset(_bare_words(parts[start])):
            return False
        asks = asks or within or stop is not None
        start = stop or start + 1
    return asks


def _asks_within(part: str, names: Collection[str]) -> bool:
    """Whether a run without spaces has some of these names and only framing words beside them: `小雨是谁？`"""
    rest = part.casefold()
    for name in sorted(filter(RUN.fullmatch, names), key=len, reverse=True):
        rest = rest.replace(name, " ")
    return len(rest) < len(part) and not _bare_words(RUN.sub("", rest)) and all(map(frames_only, RUN.findall(rest)))


def _bare_words(part: str) -> list[str]:
    """A word without the signs around it; `and/or` gives two words, a mere sign like `&` or `<->` gives none."""
    bare = part.strip(_AROUND).casefold().replace("’", "'")
    return [word for word in bare.split("/") if any(map(str.isalnum, word))]


def _bare_word(part: str) -> str:
    return _POSSESSIVE.sub("", part.strip(_AROUND))


def _bare(parts: Sequence[str]) -> str:
    return normal_name(_POSSESSIVE.sub("", " ".join(parts).strip(_AROUND)).rstrip(_AROUND))


def word_count(text: str) -> int:
    """The number of words in a text; approximate for scripts without spaces."""
    return max(len(text.split()), len(text) // 12)


def words_of(text: str) -> frozenset[str]:
    """The words of a text, to compare texts by; runs without spaces count by pairs of letters."""
    # The `…` at the end of a shortened text becomes ASCII by normalisation.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    if plain.isascii():
        # This gives the same words in a third of the time.
        return frozenset(_WORD.findall(plain.lower()))
    words: set[str] = set()
    for word in _WORD.findall(plain.casefold()):
        if word.isascii() or len(word) < _LONG_RUN:
            words.add(word)
        else:
            words.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(words)


def sentences(text: str) -> dict[str, dict[str, float]]:
    """The sentences of a conversation (of a long one, the last), each with its telling words and their weights."""
    counted = {sentence: words for sentence in _bounded(text) if (words := _telling_words(sentence))}
    return dict(list(counted.items())[-MOST_SENTENCES:])


def _bounded(text: str) -> Iterator[str]:
    """The sentences of a text in parts of bounded length, because a text without punctuation is one endless sentence."""
    for sentence in _SENTENCE.split(text):
        words = sentence.split()
        yield from (" ".join(words[at : at + _MOST_SAID]) for at in range(0, len(words), _MOST_SAID))


def _telling_words(sentence: str) -> dict[str, float]:
    """The telling words of a sentence, with their weights."""
    weights: dict[str, float] = {}
    for part in sentence.split():
        word = _POSSESSIVE.sub("", part.strip(_AROUND)).casefold().replace("’", "'")
        frames = word in _ASKING or word.partition("'")[0] in _ASKING or word.endswith("n't") or _SELF.fullmatch(word)
        if any(map(str.isalnum, word)) and not frames:
            # In a sentence in capitals, capitals do not mark a name.
            name = _SIGN.search(part) and not sentence.isupper()
            weights[word] = _COMMONLY if word in COMMON else _NAMELY if name else 1.0
    return weights


def telling_words(text: str) -> frozenset[str]:
    """The words of a text that are not function words."""
    return frozenset(words_of(text) - _FUNCTION)


_LONG_RUN = 12
_MOST_RUN = 400
_MOST_WORDS = 64
_MOST_SAID = 40
