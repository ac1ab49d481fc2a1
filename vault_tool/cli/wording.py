"""Hints in the words of the command line: commands and their flags, from the table that makes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

import click
import orjson

from vault_tool.cli import typed
from vault_tool.cli.lazy import RUNNING
from vault_tool.cli.table import PARTS, command_of
from vault_tool.util import hints
from vault_tool.util.hints import OPEN, Step, Value

# The types of values that are names of things in the vault.
_NAMES = ("memory", "subject")

# A verb that is an option of another's command and takes its arguments from a file, with the option.
BY_FILE = {"consolidate_next": "--next"}


def in_words(text: str) -> str:
    """A text with its steps as they are typed."""
    return hints.worded(text, CommandLine())


def in_json(text: str) -> str:
    """JSON with the texts in it in words, and beside each hint that names a verb its `next`: the verb and its arguments."""
    answer = orjson.loads(text)
    indent = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE if text.startswith(("{\n", "[\n")) else 0
    return orjson.dumps(_with_next(answer), option=indent).decode()


def _with_next(value: Any) -> Any:
    if isinstance(value, str):
        return in_words(value)
    if isinstance(value, list):
        return [_with_next(part) for part in value]
    if not isinstance(value, dict):
        return value
    worded: dict[str, Any] = {}
    for name, part in value.items():
        worded[name] = _with_next(part)
        if name == "hint" and isinstance(part, str) and (step := hints.next_step(part)) is not None:
            known = {key: None if argument is OPEN else argument for key, argument in step.arguments.items()}
            worded["next"] = {"verb": step.verb, "arguments": known}
    return worded


class CommandLine:
    """The words for whoever types commands."""

    def step(self, step: Step) -> str | None:
        """A command with its arguments; None where there is no such command."""
        name = command_of(step.verb)
        if name is None:
            return None
        if step.verb in BY_FILE:
            return f"`vt {name} {BY_FILE[step.verb]}{' FILE' if step.arguments else ''}`"
        if name == step.verb.replace("_", "-") and not step.arguments:
            return f"`vt {name}`"
        words = [] if step.verb not in PARTS else [f"--{step.verb.replace('_', '-')}"]
        part = f"{name} {step.verb.removeprefix('import_').replace('_', '-')}"
        command = part if part in typed.PARAMETERS else name
        return f"`{' '.join(('vt', command, *_typed(parameters_of(command), step, words)))}`"

    def option(self, name: str, value: Value) -> str | None:
        """A flag of the command that runs; None where it has none of that name."""
        command = RUNNING.get()
        parameter = next((taken for taken in command.params if taken.name == name), None) if command is not None else None
        if parameter is None:
            return None
        words = typed_as(parameter)
        if not words.flag:
            return words.metavar if value is OPEN else _quoted(value)
        return f"`{' '.join(_flagged(words, value))}`"

    def shell(self, command: str) -> str | None:
        """A command of git, as it is typed."""
        return f"`{command}`"

    def plainly(self, step: Step) -> str:
        """The step as plain text, for a step without a command."""
        return step.verb.replace("_", " ")


class Typed(NamedTuple):
    """How a parameter is typed: its flag (an argument has none), the flag that turns it off, what stands for its value.

    A switch has no value.
    """

    name: str
    flag: str
    off: str
    metavar: str


def typed_as(parameter: click.Parameter) -> Typed:
    """How a parameter of a command is typed."""
    name = str(parameter.name)
    if not isinstance(parameter, click.Option):
        return Typed(name, "", "", str(parameter.make_metavar(click.Context(click.Command("vt")))).strip("[]."))
    flag = max(parameter.opts, key=len)
    if parameter.is_flag:
        return Typed(name, flag, parameter.secondary_opts[0] if parameter.secondary_opts else "", "")
    # A memory or subject is called what the help calls it; any other value by its flag.
    named = parameter.type.name if parameter.type.name in _NAMES else flag.lstrip("-")
    metavar = parameter.metavar or named.upper()
    # Brackets around all of it say that it may be left out; those within are its own.
    return Typed(name, flag, "", metavar[1:-1] if metavar.startswith("[") and metavar.endswith("]") else metavar)


def parameters_of(command: str) -> list[Typed]:
    """How each parameter of a command is typed, by the table that was made of all commands, so that none need be loaded."""
    return [_read(words) for row in (command, "") for words in filter(None, typed.PARAMETERS[row].split(", "))]


def _read(words: str) -> Typed:
    """A parameter as the table writes it (`typed_table.written`)."""
    called, _, metavar = words.partition("=")
    if "--" not in called:
        return Typed(called, "", "", metavar)
    name, _, flags = called.rpartition(":")
    flag, _, off = flags.partition("/")
    return Typed(name or name_of(flag), flag, off, metavar)


def name_of(flag: str) -> str:
    """The name of an option that is called as its flag."""
    return flag.removeprefix("--").replace("-", "_")


def _typed(parameters: list[Typed], step: Step, part: list[str]) -> Iterator[str]:
    """The words behind a command's name: its arguments in its own order, then its flags.

    What no flag is called by is the argument.
    """
    places = [parameter for parameter in parameters if not parameter.flag]
    by_name = {parameter.name: parameter for parameter in reversed(parameters) if parameter.flag}
    flags = {name: by_name[name] for name in step.arguments if name in by_name}
    words = [value for name, value in step.arguments.items() if name not in (*flags, "add", "remove")]
    if part and len(words) > 1:  # the option takes them all
        yield from (*part, *(("PATH" if word is OPEN else _quoted(word)) for word in words))
    else:
        for place, value in zip(places, words, strict=False):
            yield place.metavar if value is OPEN else _quoted(value)
        for sign, name in (("+", "add"), ("-", "remove")) if "signed" in [place.name for place in places] else ():
            yield from (f"{sign}{_quoted(word)}" for word in step.arguments.get(name, ()))
        yield from part
    for name, option in flags.items():
        yield from _flagged(option, step.arguments[name])


def _flagged(option: Typed, value: Value) -> Iterator[str]:
    if not option.metavar:
        yield option.off if value is False and option.off else option.flag
        return
    for part in value if isinstance(value, (list, tuple)) else (value,):
        yield f"{option.flag} {option.metavar if part is OPEN else _quoted(part)}"


def _quoted(value: Value) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(_quoted, value))
    return shlex.quote(str(value))
