"""A result made to fit a budget of tokens: the passage of its text that was asked for, and that it is one."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from vault_tool.model.details import Details
from vault_tool.recall.passage import part_of, passage
from vault_tool.util.text import BYTES_A_TOKEN
from vault_tool.vault.lean import Leans, lean_tokens

# What is said of a result of which more is left out than room has to be told.
NO_DETAILS, NO_TEXT = "without its details", "without its text"

# Fewer tokens of a text than these tell nothing.
_LEAST = 8
# So many times it is cut a little shorter, where what JSON has to escape made it longer than it was counted.
_ATTEMPTS = 8


class Long(Leans, Protocol):
    """A result with a text that can be cut; `cut` says what is left out."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def details(self) -> Details:
        """The details beside its text."""

    @property
    def cut(self) -> str:
        """The parts of it that are left out, in words; empty where nothing is."""


_Result = TypeVar("_Result", bound=Long)


def within(result: _Result, budget: int, question: str) -> _Result | None:
    """The result in at most `budget` tokens: its text is cut to the passage that the question asks for, before its details go;
    None where not even its name has room.
    """
    if lean_tokens(result) <= budget:
        return result
    for details, without in ((result.details, ""), ({}, NO_DETAILS if result.details else "")):
        room = budget - lean_tokens(_with(result, "", details, without))
        if (
            room >= min(_LEAST, len(result.content))
            and (cut := _cut(result, details, without, budget, room, question)) is not None
        ):
            return cut
    named = _with(result, "", {}, NO_TEXT)
    return named if lean_tokens(named) <= budget else None


def cut_text(text: str, question: str, limit: int) -> tuple[str, str]:
    """A text in at most `limit` characters, and what of it that is; the whole of one that fits, and nothing."""
    shown = passage(text, question, limit)
    return (shown.text, part_of(text, shown)) if len(text) > limit else (text, "")


def less(text: str, over: int, question: str = "") -> tuple[str, str]:
    """A text by so many tokens shorter, and which part that is; empty where too little would be left."""
    letter = len(text.encode("utf-8", "replace")) / len(text)
    letters = len(text) - int(over * BYTES_A_TOKEN / letter) - 1
    return cut_text(text, question, letters) if letters > _LEAST * BYTES_A_TOKEN else ("", "")


def _cut(result: _Result, details: Details, without: str, budget: int, room: int, question: str) -> _Result | None:
    text = result.content
    letter = len(text.encode("utf-8", "replace")) / max(1, len(text))
    letters = int(room * BYTES_A_TOKEN / letter)
    for _ in range(_ATTEMPTS):
        shown, where = cut_text(text, question, max(letters, 1))
        shorter = _with(result, shown, details, ", ".join(filter(None, (where, without))))
        over = lean_tokens(shorter) - budget
        if over <= 0:
            return shorter
        if letters <= 1:
            break
        letters = min(letters, len(text)) - int(over * BYTES_A_TOKEN / letter) - 1
    return None


def _with(result: _Result, content: str, details: Details, cut: str) -> _Result:
    changed: Any = {"content": content, "details": details, "cut": cut}
    return replace(result, **changed)  # type: ignore[type-var]  # results are structs
