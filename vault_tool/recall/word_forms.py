"""Words as supposed updates compare them: plain forms, numbers with their units, names; and whether a text tells an event."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
