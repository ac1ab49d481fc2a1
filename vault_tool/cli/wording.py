"""Hints in the words of the command line: commands and their flags, from the table that makes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import click
import orjson

from vault_tool.cli.lazy import RUNNING
from vault_tool.cli.table import PARTS, SECTIONS, command_of
from vault_tool.util import hints
from vault_tool.util.hints import OPEN, Step, Value

# The argument of a step that most refusals name, and what the command's help calls it.
USUAL = {"search": ("query", "WORDS")}

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
            return f"`vt {name}`"  # nothing of it need be loaded
        if (shown := USUAL.get(step.verb)) and step.arguments == {shown[0]: OPEN}:
            return f"`vt {name} {shown[1]}`"  # nor for the hint of whoever named what is not there
        command = next(row for rows in SECTIONS.values() for row in rows if row.name == name).load()
        words = [] if step.verb not in PARTS else [f"--{step.verb.replace('_', '-')}"]
        group = step.verb.removeprefix("import_").replace("_", "-") if name == "import" else ""
        if isinstance(command, click.Group) and group:
            group = group if group in command.commands else ""
            command = command.commands[group] if group else command
        typed = " ".join(("vt", name, *([group] if group else ()), *_typed(command, step, words)))
        return f"`{typed}`"

    def option(self, name: str, value: Value) -> str | None:
        """A flag of the command that runs; None where it has none of that name."""
        command = RUNNING.get()
        parameter = _option(command, name) if command is not None else None
        if parameter is None:
            return None
        if isinstance(parameter, click.Argument):
            return _metavar(parameter) if value is OPEN else _quoted(value)
        return f"`{' '.join(_flagged(parameter, value))}`"

    def shell(self, command: str) -> str | None:
        """A command of git, as it is typed."""
        return f"`{command}`"

    def plainly(self, step: Step) -> str:
        """The step as plain text, for a step without a command."""
        return step.verb.replace("_", " ")


def _typed(command: click.Command, step: Step, part: list[str]) -> Iterator[str]:
    """The words behind a command's name: its arguments in its own order, then its flags.

    What no flag is called by is the argument.
    """
    places = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    flags = {name: parameter for name in step.arguments if isinstance(parameter := _option(command, name), click.Option)}
    words = [value for name, value in step.arguments.items() if name not in (*flags, "add", "remove")]
    if part and len(words) > 1:  # the option takes them all
        yield from (*part, *(("PATH" if word is OPEN else _quoted(word)) for word in words))
    else:
        for place, value in zip(places, words, strict=False):
            yield _metavar(place) if value is OPEN else _quoted(value)
        for sign, name in (("+", "add"), ("-", "remove")) if "signed" in [place.name for place in places] else ():
            yield from (f"{sign}{_quoted(word)}" for word in step.arguments.get(name, ()))
        yield from part
    for name, option in flags.items():
        yield from _flagged(option, step.arguments[name])


def _option(command: click.Command, name: str) -> click.Parameter | None:
    return next((parameter for parameter in command.params if parameter.name == name), None)


def _flagged(option: click.Parameter, value: Value) -> Iterator[str]:
    flag = max(option.opts, key=len)
    if isinstance(option, click.Option) and option.is_flag:
        if value is False and option.secondary_opts:
            flag = option.secondary_opts[0]
        yield flag
        return
    for part in value if isinstance(value, (list, tuple)) else (value,):
        yield f"{flag} {_metavar(option) if part is OPEN else _quoted(part)}"


def _metavar(option: click.Parameter) -> str:
    if isinstance(option, click.Argument):
        return str(option.make_metavar(click.Context(click.Command("vt")))).strip("[].")
    # A memory or subject is called what the help calls it; any other value by its flag.
    named = option.type.name if option.type.name in _NAMES else max(option.opts, key=len).lstrip("-")
    return (option.metavar or named.upper()).strip("[]")


def _quoted(value: Value) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(_quoted, value))
    return shlex.quote(str(value))
