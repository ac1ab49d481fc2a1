"""The port to a model that is asked what of a session is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from vault_tool.util.structs import Struct

OLLAMA, CLAUDE = "ollama", "claude"
CLIENTS = (CLAUDE,)
"""Clients that are started without a window."""

# Seconds that an answer may take.
SECONDS = 120.0

# Bytes of an answer that are read.
MOST_BYTES = 2**18

_STOPPING = re.compile(
    r"(?i)\b(?:quota|credits?|billing|usage limit|rate[ -]?limit\w*|limit reached|too many requests|insufficient|overdue|log ?in|"
    r"sign(?:ed)?[ -]?in|unauthori[sz]ed|authentication|api key|oauth)\b|/login\b"
)
_MOST_TOKENS = 1_000_000


class JudgeFault(Exception):
    """No answer that can be used; `stops` says that asking again the same day is of no use."""

    def __init__(self, reason: str, *, stops: bool = False) -> None:
        super().__init__(reason)
        self.stops = stops


class Judgement(Struct):
    """A model's answer, as it is, and how many tokens it says that it read and wrote; 0 where it does not say."""

    text: str
    tokens: int = 0


class Judge(Protocol):
    """A model that answers with JSON."""

    def ask(self, rules: str, question: str, schema: Mapping[str, Any]) -> Judgement:
        """Ask once. Raises JudgeFault."""


def stops_for(reason: str) -> bool:
    """Whether a fault speaks of a quota or a sign-in: asking again will not help before a person did something."""
    return bool(_STOPPING.search(reason))


def counted_by(answer: Mapping[str, Any], *names: str) -> int:
    """The tokens that an answer says it took, by these fields; what cannot be a count adds nothing."""
    counts = (answer.get(name) for name in names)
    return sum(count for count in counts if type(count) is int and 0 <= count < _MOST_TOKENS)
