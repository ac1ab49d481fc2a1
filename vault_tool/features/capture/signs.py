"""Signs that a turn of a session is worth keeping: what people and models say when something is to last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vault_tool.features.capture.session_files import SessionTurn

# So many signs point at a turn; at a question one more.
ENOUGH = 2

# So many turns are pointed at in one session.
MOST = 6

_SIGNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(patterns), re.IGNORECASE)
    for name, patterns in {
        "correction": (
            r"^(?:no|nope|wait|stop)\b", r"\bdon'?t\b", r"\bdo not\b", r"\binstead\b",
            r"\brather than\b", r"\bthat'?s (?:not|wrong)\b",
        ),
        "rule": (
            r"\b(?:always|never|from now on|every time|in future)\b", r"\bi (?:prefer|want|like|hate)\b", r"\bmust(?: not)?\b",
        ),
        "decision": (
            r"\b(?:we|i|let'?s|they|team)\b.{0,30}\b(?:decid|chose|agree|settl|go(?:ing)? with|stay with|use)\w*",
            r"\bdecision\b",
        ),
        "state": (
            r"\b(?:since|now|moved|no longer|anymore|switched|until)\b", r"\bback (?:at|to|on)\b", r"\bchanged to\b",
        ),
        "cause": (
            r"\b(?:because|means|root cause|caused by|due to)\b", r"\bturns? out\b",
            r"\bthe (?:reason|problem|cause) (?:is|was)\b",
        ),
        "fix": (r"\bfix(?:ed|es)?\b", r"\b(?:solved|resolved|helped|ended)\b", r"\bworks? (?:again|now)\b"),
        "failure": (
            r"\bdid(?: not|n'?t) (?:help|work)\b", r"\b(?:tried|fails?|failed)\b", r"\bstill (?:breaks|fails|broken)\b",
        ),
        "left": (
            r"\b(?:left to do|todo|tomorrow|remains?)\b", r"\bstill (?:to do|open|missing|need\w*)\b",
            r"\bnext(?: step| time| up|,|:)",
        ),
        "to do": (r"\b(?:left|still) to do\b", r"\btodo\b", r"\bnext step\b"),
        "number": (r"\b\d+(?:[.,]\d+)?\b",),
        "date": (
            r"\b20\d\d-\d\d-\d\d\b", r"\b(?:yesterday|today|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
        ),
    }.items()
}  # fmt: skip
# A name: capitals within a sentence, an identifier, a file.
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]+|\b[A-Z]{2,}[\w-]*\b|\b\w+[_./]\w+\b|\b[A-Z][a-z]+[A-Z]\w*")
_WORDS = re.compile(r"\w+")
_FEWEST_WORDS = 4


def signs_of(turn: SessionTurn) -> frozenset[str]:
    """The signs that a turn bears."""
    signs = {name for name, pattern in _SIGNS.items() if pattern.search(turn.text)}
    return frozenset({*signs, *(("name",) if _NAME.search(turn.text) else ())})


def pointed(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """The turns that bear enough signs, those with most first chosen, in the order in which they were said."""
    weighed = []
    for turn in turns:
        signs = signs_of(turn)
        # A number, a date or a name alone says nothing of what was meant.
        says = len(signs - {"number", "date", "name"})
        enough = ENOUGH + turn.text.rstrip().endswith("?")
        if says and len(signs) >= enough and len(_WORDS.findall(turn.text)) >= _FEWEST_WORDS:
            weighed.append((-len(signs) - turn.by_person, turn.line, turn))
    return sorted((turn for _, _, turn in sorted(weighed, key=lambda ranked: ranked[:2])[:MOST]), key=lambda turn: turn.line)
