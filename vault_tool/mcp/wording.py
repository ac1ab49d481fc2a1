"""Hints in the words of an agent's client: tools and their parameters; what it has no tool for, as what is to be done."""

from __future__ import annotations

from typing import Any

from vault_tool.mcp.lean_table import VERBS
from vault_tool.mcp.tools import named, plain_names
from vault_tool.util import hints
from vault_tool.util.hints import Step, Value
from vault_tool.util.text import one_line
from vault_tool.vault.plain_words import PlainWords

# The small preset's tools by their verbs, where they are called otherwise.
_TOOLS = {verb: tool for tool, verb in VERBS.items()}


class ForClient(PlainWords):
    """The words for a client that has a preset's tools (all of them for none), and called one of them, or none yet."""

    def __init__(self, preset: str = "", tool: str = "") -> None:
        self._preset = preset or "full"
        self._tools = named(self._preset)
        self._tool = tool

    def step(self, step: Step) -> str | None:
        """A tool with its arguments; None where the client lacks one of them."""
        called = _TOOLS.get(step.verb, step.verb) if self._preset == "lean" else step.verb
        if called not in self._tools:
            return None
        arguments = [self._given(called, name, value) for name, value in step.arguments.items()]
        arguments_known = [argument for argument in arguments if argument is not None]
        if len(arguments_known) < len(arguments):
            return None
        return f"`{called}` ({', '.join(arguments_known)})" if arguments_known else f"`{called}`"

    def option(self, name: str, value: Value) -> str | None:
        """An argument of the tool that was called; None where it takes none of that name."""
        argument = self._given(self._tool, name, value) if self._tool in self._tools else None
        if argument is None:
            return None
        name, colon, rest = argument.partition(": ")
        return f"`{name}`{colon}{rest}"

    def _given(self, tool: str, name: str, value: Value) -> str | None:
        known = plain_names(self._preset, tool).get(name, name)
        if known not in self._tools[tool]["inputSchema"]["properties"]:
            return None
        return known if value is hints.OPEN else f"{known}: {_shown(value)}"


def in_words(value: Any, wording: ForClient) -> Any:
    """Plain values with each text in them in the words of a client."""
    if isinstance(value, str):
        return hints.worded(value, wording)
    if isinstance(value, dict):
        return {name: in_words(part, wording) for name, part in value.items()}
    if isinstance(value, list):
        return [in_words(part, wording) for part in value]
    return value


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return one_line(str(value), 80)
