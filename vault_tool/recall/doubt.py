"""Why a memory is not sure to answer: in words, the same at every door."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vault_tool.recall.question import frames

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s_-]+")
_BEGINS = re.compile(r"(?:^|[.?!:;…\n•>])[\s\"'“‘(\[*_]*$")
_MONTHS = "january february march april june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_OF_TIME = frozenset(f"{_MONTHS} {_DAYS}".split())

# Words by which a text is German, where every noun has a capital.
_GERMAN_WORDS = "der das dem den ein eine einen ist sind und wo wie wer wann im zum zur für von mit ich wir nicht"
_GERMAN = frozenset(_GERMAN_WORDS.split())

NOTHING_STANDS_OUT = "nothing stands out"


def proper_names(text: str) -> tuple[str, ...]:
    """The words of a question that only names are written like: with a capital that no beginning of a sentence asks for."""
    words = [(match.start(), match[0]) for match in _WORD.finditer(text) if not match[0][0].isdigit()]
    if 2 * sum(word[0].isupper() for _, word in words) > len(words) + 1 or _GERMAN & {word.casefold() for _, word in words}:
        # A heading, or one who shouts: capitals say nothing.
        return ()
    named = (
        _POSSESSIVE.sub("", word) for at, word in words if word[0].isupper() and not _BEGINS.search(text[max(0, at - 40) : at])
    )
    return tuple(
        dict.fromkeys(name for word in named if len(name := word.casefold()) > 1 and name not in _OF_TIME and not frames(name))
    )


def lacking(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of these words (case folded) that stand nowhere in a text, not even written apart or in the singular."""
    folded = text.casefold()
    missing = [name for name in names if name not in folded]
    joined = _BETWEEN.sub("", folded) if missing else ""
    return tuple(name for name in missing if name.replace("-", "").removesuffix("s") not in joined)


def reason(missing: Sequence[str], matched: int, asked: int, *, crowded: bool) -> str:
    """Why a memory is weak: what is `missing` of the names and codes that are asked for, else how many of the words that are
    `asked` it has, where it would not be sure for being `crowded` by others that fit as well.
    """
    if missing:
        return f"no word of {', '.join(f'*{name}*' for name in missing)}"
    if crowded or matched >= asked:
        return NOTHING_STANDS_OUT
    return f"only {matched} of {asked} words" if matched else "no word of the question"
