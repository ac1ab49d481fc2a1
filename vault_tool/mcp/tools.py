"""The tools as clients are told of them: which there are, what is checked of their arguments, and what they cost a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from vault_tool.errors import UsageError
from vault_tool.mcp.lean_table import LEAN, NAMES
from vault_tool.mcp.table import RENAMED, TOOLS
from vault_tool.model import served_person
from vault_tool.util.structs import Struct
from vault_tool.util.text import tokens
from vault_tool.util.vault_names import with_vaults

PRESETS = ("lean", "full")

# The tools that change nothing, by all names that they are called by.
READING = frozenset(name for name, tool in TOOLS.items() if not tool.writes)

# Says to clients that look tools up only when they need them that these few are to be there from the start.
ALWAYS = "anthropic/alwaysLoad"

# What of a tool a model is given; the rest is for its client.
_READ = ("name", "description", "inputSchema")

Tool = Mapping[str, Any]


class Caller(Struct):
    """The caller behind a connection, where a call does not say otherwise. It is always an agent."""

    session: str = ""
    project: str = ""
    user: str = ""
    model: str = ""
    preset: str = ""
    """The tools that its client has; all of them, if it does not say."""
    folder: str = ""
    """The folder that its client works in, whose project is meant where none is named."""
    author: str = ""
    """Whose its commits are, `ann <HASH@people.invalid>`, where it shows a token of a person's; else the owner's."""
    scope: str = ""
    """What that token is for: `read`, or `write`, which is both; empty for everything that an agent may."""

    vaults: str = ""
    """The names of the person's other vaults that its client is told of, with commas between them."""

    def may(self, tool: str) -> bool:
        """Whether it may call a tool, by its scope."""
        return not self.scope or self.scope == served_person.WRITE or tool in READING


@cache
def listed(preset: str) -> tuple[Tool, ...]:
    """The tools of a preset as they stand on the wire; always the same, in the same order. UsageError for no preset."""
    if preset not in PRESETS:
        raise UsageError(f"`{preset}` is no preset of tools", f"one of {', '.join(PRESETS)}")
    tools: list[dict[str, Any]] = json.loads(files(__package__).joinpath("tools.json").read_bytes())[preset]
    return tuple({**tool, "_meta": {ALWAYS: True}} if tool["name"] in LEAN else tool for tool in tools)


def listed_for(preset: str, caller: Caller) -> list[Tool]:
    """The same for a caller: where its person named other vaults, with these."""
    return with_vaults(listed(preset), caller.vaults)


@cache
def named(preset: str) -> Mapping[str, Tool]:
    """The same by their names."""
    return {tool["name"]: tool for tool in listed(preset)}


def plain_names(preset: str, tool: str) -> Mapping[str, str]:
    """The parameters that a tool of a preset calls otherwise than its verb: the tool's names by the verb's."""
    takes = named(preset)[tool]["inputSchema"]["properties"]
    names = {**RENAMED.get(tool, {}), **NAMES.get(tool, {})}
    return {ours: theirs for theirs, ours in names.items() if theirs in takes}


class OfferedTool(Struct):
    """A tool with about how many tokens it takes in a model's context, and those of its small form where it has one."""

    name: str
    title: str
    lean: bool
    read_only: bool
    tokens: int
    description: str
    lean_tokens: int = 0


class Preset(Struct):
    """A preset with how many tools it has, and about how many tokens they take."""

    preset: str
    tools: int
    tokens: int


class Offered(Struct):
    """All tools, and both presets. A token is counted as four bytes, which is near for English and JSON."""

    presets: tuple[Preset, ...]
    tools: tuple[OfferedTool, ...]
    notice: str = "tokens: name, description and arguments as compact JSON, four bytes a token"


def offered() -> Offered:
    """The tools and presets for `vt mcp --tools`."""
    small = {tool["name"]: cost([tool]) for tool in listed("lean")}
    tools = tuple(
        OfferedTool(
            tool["name"], tool["title"], tool["name"] in LEAN, tool["annotations"]["readOnlyHint"], cost([tool]),
            tool["description"], small.get(tool["name"], 0),
        )
        for tool in listed("full")
    )  # fmt: skip
    return Offered(tuple(Preset(name, len(listed(name)), cost(listed(name))) for name in PRESETS), tools)


def cost(tools: Iterable[Tool]) -> int:
    """About how many tokens tools take in a model's context: their names, descriptions and arguments as compact JSON."""
    return sum(tokens(_compact({part: tool[part] for part in _READ})) for tool in tools)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
