"""The checks of a model's answer: each proposal is held against the turns that the model was sent, before it is a draft."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from vault_tool.features.capture.session_digest import KINDS, MOST_KEPT, Digest
from vault_tool.features.capture.session_files import SessionTurn
from vault_tool.files.secrets import scan
from vault_tool.util.structs import Struct
from vault_tool.util.text import is_unicode, one_line

# Characters that a memory has.
SHORTEST, LONGEST = 12, 300

# A proposal's words are looked for in so many turns before and after its line, and this share of them must be there.
_NEAR_TURNS = 4
_LEAST_SHARE = 1 / 3
_LONGER = 5
# Words that orders and turns have in common, whatever they are about.
_COMMON = frozenset(
    [
        "after",
        "again",
        "always",
        "because",
        "before",
        "decided",
        "decision",
        "every",
        "instead",
        "later",
        "never",
        "please",
        "prefer",
        "prefers",
        "remember",
        "session",
        "should",
        "since",
        "there",
        "these",
        "those",
        "tomorrow",
        "under",
        "using",
        "wants",
        "where",
        "which",
        "while",
        "would",
        "yesterday",
    ]
)
_MOST_SUBJECTS = 3
_LONGEST_SUBJECT = 60
_FIELDS = frozenset({"kind", "content", "subjects", "line", "confidence", "replaces"})

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n\s*```\s*", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_SECRET = re.compile(
    r"(?i:\b(?:pass(?:word|wort|phrase|code)s?|secret(?: key)?|api[ -]?key|(?:access |auth )?token|credentials?|pin)\b"
    r"(?:\s+\w+){0,3}?\s*(?:\bis\b|\bare\b|=|:)\s*\S)"
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_MONTH_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b\d{1,3}(?:,\d{3})+\b")
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)\d[\d ()/.-]{6,18}\d\b|(?<![\w.-])\(?0\d{1,5}\)?[ /-]\d[\d /-]{3,12}\d\b"
                    r"|(?<![\w.-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b")  # fmt: skip
_CALLED = re.compile(r"(?i:\b(?:phone|telephone|tel\.?|mobile|cell|call|dial)\b[^\d+]{0,25}\+?\d[\d ()/-]{5,})")
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?,?\s+(?:[A-Z][\w'.-]*\s+){1,3}(?:Street|St\b|Avenue|Ave\b|Road|Rd\b|Lane|Ln\b|Drive|Dr\b|Boulevard|Blvd|Way|Court|"
    r"Square|Terrace|Close|Crescent)|\b[A-ZÄÖÜ][\wäöüß-]*(?:stra(?:ß|ss)e|str\.|gasse|allee|weg|platz|ring|damm)\s+\d{1,4}\b"
    r"|\b(?:rue|avenue|via|calle|ulica|ul\.)\s+(?:\w+\s+){1,3}\d{1,4}\b"
)


class NotAsAsked(Exception):
    """An answer that is no JSON of the form that was asked for."""


class Proposal(Struct):
    """A memory that a model proposes, which passed all checks; `replaces` is the short id of a memory that it was sent."""

    kind: str
    content: str
    subjects: tuple[str, ...]
    turn: SessionTurn
    confidence: float | None = None
    replaces: str = ""


class CheckedAnswer(Struct):
    """The proposals of an answer that may become drafts, and how many were refused, by reason."""

    proposals: tuple[Proposal, ...]
    refused: Mapping[str, int]


def checked(answer: str, digest: Digest, owners: Sequence[str] = ()) -> CheckedAnswer:
    """Check an answer; `owners` are the e-mail addresses of the owner. Raises NotAsAsked."""
    proposals: list[Proposal] = []
    refused: Counter[str] = Counter()
    for entry in _items(answer):
        outcome = _proposal(entry, digest, {address.casefold() for address in owners})
        if isinstance(outcome, str):
            refused[outcome] += 1
        else:
            proposals.append(outcome)
    return CheckedAnswer(tuple(proposals), dict(refused))


def _items(answer: str) -> list[Mapping[str, Any]]:
    fenced = _FENCE.fullmatch(answer)
    try:
        answered = json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError) as fault:
        raise NotAsAsked("the answer is no JSON") from fault
    items = answered.get("keep") if isinstance(answered, dict) and set(answered) == {"keep"} else None
    if not isinstance(items, list) or len(items) > MOST_KEPT or not all(isinstance(entry, dict) for entry in items):
        raise NotAsAsked("the answer is not of the form that was asked for")
    return items


def _proposal(entry: Mapping[str, Any], digest: Digest, owners: set[str]) -> Proposal | str:
    """A proposal that passed, or why it is refused, in a few words without its own."""
    kind, content, names = entry.get("kind"), entry.get("content"), entry.get("subjects", [])
    if set(entry) - _FIELDS or not isinstance(content, str) or not isinstance(names, list):
        return "not of the form"
    if not isinstance(kind, str) or kind not in KINDS:
        return "unknown kind"
    if not all(isinstance(name, str) and name.strip() for name in names):
        return "not of the form"
    if not is_unicode(content) or not all(map(is_unicode, names)):
        return "not of the form"
    content = one_line(content)
    if not SHORTEST <= len(content) <= LONGEST:
        return "too short or too long"
    subjects = tuple(dict.fromkeys(one_line(name) for name in names))[:_MOST_SUBJECTS]
    if any(len(subject) > _LONGEST_SUBJECT for subject in subjects):
        return "not of the form"
    at = next((place for place, turn in enumerate(digest.said) if _is_number(entry.get("line"), turn.line)), None)
    if at is None:
        return "its line was not sent"
    if not _is_said(content, digest.said[max(0, at - _NEAR_TURNS) : at + _NEAR_TURNS + 1]):
        return "its line says nothing of it"
    texts = "\n".join((content, *subjects))
    if scan(texts) or _SECRET.search(texts):
        return "looks like a secret"
    if _names_a_person(texts, owners):
        return "how a person is reached"
    replaces = entry.get("replaces")
    return Proposal(
        kind, content, subjects, digest.said[at], _unit(entry.get("confidence")),
        replaces if isinstance(replaces, str) and replaces in digest.known else "",
    )  # fmt: skip


def _unit(value: object) -> float | None:
    """A number from 0 to 1; None for anything else."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[operator,arg-type]


def _is_number(named: object, line: int) -> bool:
    """Whether a line is meant: by its number, or as it is written (`L12`)."""
    return (type(named) is int and named == line) or named in (str(line), f"L{line}")


def _is_said(content: str, turns: Sequence[SessionTurn]) -> bool:
    """Whether enough of the longer words of a text stand in turns."""
    words = {word for word in _words(content) if len(word) >= _LONGER and word not in _COMMON} or set(_words(content))
    spoken = {word for turn in turns for word in _words(turn.text)}
    return bool(words) and len(words & spoken) >= len(words) * _LEAST_SHARE


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _names_a_person(text: str, owners: set[str]) -> bool:
    """Whether a text has an e-mail address, a telephone number or a street address; the owner's own address may stand."""
    if any(address.casefold().rstrip(".") not in owners for address in _MAIL.findall(text)):
        return True
    plain = _MONTH_DAY.sub(" ", text)
    return any(pattern.search(plain) for pattern in (_PHONE, _CALLED, _STREET))
