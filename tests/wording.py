"""Hints as tests read them: as they are typed, and as a program of the library has them."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.cli.wording import CommandLine
from vault_tool.util.hints import OPEN, Value, bare, worded

__all__ = ["all_typed", "bare", "typed"]


class _Typed(CommandLine):
    """The words of the command line, of a call that no command made: parameters are flags of their own names."""

    def option(self, name: str, value: Value) -> str | None:
        said = "" if value is OPEN or value is True else f" {value}"
        return f"`--{name.replace('_', '-')}{said}`"


def typed(text: str) -> str:
    """A text as the command line says it."""
    return worded(text, _Typed())


def all_typed(texts: Iterable[str]) -> list[str]:
    """Several of them."""
    return [typed(one) for one in texts]
