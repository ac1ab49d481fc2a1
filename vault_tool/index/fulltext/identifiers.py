"""Identifiers as words: `camelCase`, `Get-ADUser`, `plug-in`, `utf-8` and `python3`, by their parts and whole; emoji by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from vault_tool.util.deferred import deferred_pattern

_UPPER, _LOWER = "A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ", "a-zß-öø-ÿα-ωа-яё"
_JOINT = "-_\u2010\u2011"

# What is joined by dashes or underscores, and what may have parts without any: a small letter before a capital, two capitals
# before a small one, letters beside digits.
_IDENTIFIER = deferred_pattern(rf"[^\W_]+(?:[{_JOINT}][^\W_]+)*")
# Of digits behind letters one or two, or any behind capitals or a short word: a long word with a long number is a name.
_COMPOUND = deferred_pattern(
    rf"[^\W_][{_JOINT}]+[^\W_]|[{_LOWER}][{_UPPER}]|[{_UPPER}]{{2}}[{_LOWER}\d]|[{_UPPER}{_LOWER}]{{2}}\d{{1,2}}(?!\d)"
    rf"|\b[{_UPPER}{_LOWER}]{{2,4}}\d|\d[{_UPPER}{_LOWER}]{{2}}"
)
_JOINTS = re.compile(f"[{_JOINT}]")
# `APIs` and `URLs` are plurals, not `AP` and `Is`.
_PARTS = deferred_pattern(rf"[{_UPPER}]+s?(?![{_LOWER}])|[{_UPPER}]?[{_LOWER}]+|\d+|[^\W\d_]+?")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)

# What is joined of more pieces is a sentence, as in a page's address; its pieces in their order are found as a phrase.
_MOST_PIECES = 4
# A piece of more parts is a key or a hash.
_MOST_PARTS = 6
_LONGEST = 60
_KNOWN_WORDS = 2**14
_PLAIN_WORDS = 2**16
# By so many digits a word of more letters than these is no identifier: see `_COMPOUND`.
_FEW_DIGITS, _SHORT = 2, 4
_DIGITS = "0123456789"
# What stands around words in prose.
_MARKS = ".,;:!?()[]{}\"'`*#>|"

_PICTURE = deferred_pattern(
    "[\U0001f000-\U0001faff\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299]"
)


class Compound(NamedTuple):
    """An identifier: its pieces joined (empty: too many, or one alone), and the parts of each piece that has some."""

    whole: str
    parts: tuple[tuple[str, ...], ...]


# Words that look like no identifier: one look tells a whole text of them. Filled once, for the usual words come first.
_plain: set[str] = set()


def compounds(text: str) -> Iterator[Compound]:
    """The identifiers of a text that have parts or could be written as one word, each once."""
    words = text.split()
    if _plain.issuperset(words):
        return
    for word in dict.fromkeys([word for word in words if word not in _plain]):
        yield from _of_word(word)


# Words come again from note to note.
@lru_cache(maxsize=_KNOWN_WORDS)
def _of_word(word: str) -> tuple[Compound, ...]:
    """The identifiers of what stands between spaces."""
    bare = word.strip(_MARKS)
    if _is_plain(bare) or _COMPOUND.search(bare) is None:
        if len(_plain) < _PLAIN_WORDS:
            _plain.add(word)
        return ()
    parts = (_compound(each.group()) for each in _IDENTIFIER.finditer(bare.partition("://")[0]))
    return tuple(compound for compound in parts if compound is not None)


def _is_plain(word: str) -> bool:
    """Whether this is a plain word, or a long one with a long number: told at the cost of a few looks, for most words are one."""
    name = word.rstrip(_DIGITS)
    digits = len(word) - len(name)
    return name.isalpha() and (name.islower() or name.istitle()) and (not digits or (digits > _FEW_DIGITS and len(name) > _SHORT))


def extra_words(text: str) -> str:
    """The words to index beside a text: its identifiers whole and by their parts."""
    words = (
        word
        for compound in compounds(text)
        for word in (compound.whole, *(part for parts in compound.parts for part in parts))
        if word
    )
    return " ".join(dict.fromkeys(words))


def spellings(name: str) -> tuple[str, ...]:
    """How else a name may be typed: with its identifiers by their parts, joined, and in all these ways at once."""
    words = name.split()
    if _plain.issuperset(words) or _COMPOUND.search(name) is None:
        return ()
    apart, joined, is_compound = [], [], False
    for word in words:
        compound = _compound(word) if len(word) <= _LONGEST else None
        is_compound = is_compound or compound is not None
        pieces = _JOINTS.split(word)
        apart.append(" ".join([" ".join(_parts(piece) or (piece,)) for piece in pieces]))
        joined.append(compound.whole if compound is not None and compound.whole else word)
    if not is_compound:
        return ()
    return tuple(dict.fromkeys([" ".join(apart), " ".join(joined), f"{name} {extra_words(name)}"]))


def with_pictures(text: str) -> str:
    """A text in which each emoji is a word of its own."""
    return text if text.isascii() else _PICTURE.sub(_named, text)


def _named(match: re.Match[str]) -> str:
    return f" \u02d0{ord(match.group()):x} "


def _compound(word: str) -> Compound | None:
    pieces = [piece for piece in _JOINTS.split(word) if piece]
    whole = "".join(pieces) if 1 < len(pieces) <= _MOST_PIECES and len(word) <= _LONGEST else ""
    if whole.isdigit():  # a date, a number of a telephone: its pieces are enough
        whole = ""
    parts = tuple(names for piece in pieces if (names := _parts(piece)))
    return Compound(whole, parts) if whole or parts else None


def _parts(piece: str) -> tuple[str, ...]:
    """The parts of what is written without a dash, none where it has one alone or says nothing by parts."""
    if len(piece) > _LONGEST or (piece.isalpha() and (piece.islower() or piece.istitle())) or _COMPOUND.search(piece) is None:
        return ()
    if _ORDINAL.fullmatch(piece):
        return ()
    names = _PARTS.findall(piece)
    return tuple(part for part in names if len(part) > 1 or part.isdigit()) if 1 < len(names) <= _MOST_PARTS else ()
