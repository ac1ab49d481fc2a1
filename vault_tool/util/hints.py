"""Hints: what to do next, as a value that every door puts in its own words.

A hint is a text in which each next step stands as a value: a verb with its arguments, one parameter of the call that was
made, or a command of git. The text reads as a program of the library would write it, and each step in it begins with `MARK`,
which nobody sees and no note's text has: so a step goes along wherever the text goes (into a longer sentence, a table of the
catalogue, another process), and a door finds it again (`worded`). A text without a step is the same at every door.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import field

from vault_tool.errors import CLOSE_CLAUSE, OPEN_CLAUSE
from vault_tool.errors import MARK as MARK
from vault_tool.errors import bare as bare
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.structs import Struct

# `MARK` stands at the beginning of a step; a variation selector, which is shown as nothing, and passes for a printable
# character. `OPEN_CLAUSE` and `CLOSE_CLAUSE` stand around what is said only where the door has all that it names. Two selectors
# in a row, and one behind a backtick, are in no language: those of a note's own text, behind the letters that they select, stay.

# A value that whoever follows the hint has to find.
Value: TypeAlias = object
OPEN = ...

_FOUND = deferred_pattern(f"`{MARK}(?:Vault\\.(\\w+)\\(([^`]*)\\)|(\\w+)=([^`]*)|([^`]*))`|`{MARK}[^`]*(?:…|$)")
_CLAUSE = deferred_pattern(f"{OPEN_CLAUSE}((?:(?!{OPEN_CLAUSE}|{CLOSE_CLAUSE}).)*){CLOSE_CLAUSE}", re.DOTALL)
# An argument that needs no parser, and the values that are words.
_PLAIN = deferred_pattern(r"(\w+)=(\.\.\.|True|False|'([^'\\\n]*)')(?:, |$)")
_VALUES: Mapping[str, Value] = {"...": OPEN, "True": True, "False": False}
_STRAY = deferred_pattern(f"(?<=`){MARK}|{OPEN_CLAUSE}|{CLOSE_CLAUSE}")


class Step(Struct):
    """A next step: a verb, and the arguments that are known; those that are to be found are `...`."""

    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


class Wording(Protocol):
    """How a door says a step; what it cannot do is None, and said in plain words by `plainly`."""

    def step(self, step: Step) -> str | None:
        """A step by a verb."""

    def option(self, name: str, value: Value) -> str | None:
        """A parameter of the call that was made."""

    def shell(self, command: str) -> str | None:
        """A command of git."""

    def plainly(self, step: Step) -> str:
        """The next step for a person, without a command."""


def step(verb: str, **arguments: Value) -> str:
    """A next step within a hint: a verb with its arguments, `...` for what is to be found."""
    return f"`{MARK}Vault.{verb}({', '.join(f'{name}={_written(value)}' for name, value in arguments.items())})`"


def option(name: str, value: Value = OPEN) -> str:
    """A parameter within a hint: of the verb that was called, by its name."""
    return f"`{MARK}{name}={_written(value)}`"


def shell(command: str) -> str:
    """A command of git within a hint."""
    return f"`{MARK}{command.replace('`', chr(39))}`"


def if_there(clause: str) -> str:
    """A part of a hint that only those doors say that have what it names."""
    return f"{OPEN_CLAUSE}{clause}{CLOSE_CLAUSE}"


def worded(text: str, wording: Wording) -> str:
    """A text in the words of a door."""
    if MARK not in text:
        return text
    text = _CLAUSE.sub(lambda clause: clause[1] if _all_there(clause[1], wording) else "", text)
    return _STRAY.sub("", _FOUND.sub(lambda match: _said(match, wording), text))


def next_step(text: str) -> Step | None:
    """The first step by a verb that a hint names."""
    return next(_steps(text), None) if MARK in text else None


def around(text: str, change: Callable[[str], str]) -> str:
    """A text with all but its steps changed, as by a function that spells out invisible characters."""
    if MARK not in text:
        return change(text)
    pieces, last = "", 0
    for match in _FOUND.finditer(text):
        pieces += change(text[last : match.start()]) + match[0]
        last = match.end()
    return pieces + change(text[last:])


def _steps(text: str) -> Iterator[Step]:
    for match in _FOUND.finditer(text):
        if match[1]:
            yield Step(match[1], _read(match[2]))


def _all_there(clause: str, wording: Wording) -> bool:
    return all(_there(match, wording) is not None for match in _FOUND.finditer(clause))


def _said(match: re.Match[str], wording: Wording) -> str:
    words = _there(match, wording)
    if words is not None:
        return words
    if match[1]:
        return wording.plainly(Step(match[1], _read(match[2])))
    if match[3]:
        return match[3].replace("_", " ")
    name = (match[5] or "").split()
    return wording.plainly(Step(" ".join(name[:2])))


def _there(match: re.Match[str], wording: Wording) -> str | None:
    if match[1]:
        return wording.step(Step(match[1], _read(match[2])))
    if match[3]:
        return wording.option(match[3], _read(f"value={match[4]}").get("value", OPEN))
    if match[5]:
        return wording.shell(match[5])
    return "…"  # the text was cut within it


def _written(value: Value) -> str:
    if value is OPEN:
        return "..."
    plain = value if isinstance(value, (str, bool, int, float, list, tuple)) else str(value)
    return repr(plain).replace("`", "\\x60")


def _read(arguments: str) -> dict[str, Any]:
    """The arguments of a step as they were written; none where it was cut."""
    values: dict[str, Any] = {}
    at = 0
    while plain := _PLAIN.match(arguments, at):
        values[plain[1]] = _VALUES[plain[2]] if plain[2] in _VALUES else plain[3]
        at = plain.end()
    if at == len(arguments):
        return values
    import ast  # 5 ms, for numbers, lists and what is quoted in a text

    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        return {}
