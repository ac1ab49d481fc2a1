"""The table of commands, and the group that imports a command's module only when that command is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from importlib import import_module
from keyword import iskeyword
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vault_tool.cli import twins
from vault_tool.errors import UsageError
from vault_tool.util.deferred import deferred, difflib

if TYPE_CHECKING:
    from click import shell_completion
else:
    shell_completion = deferred("click.shell_completion")  # 4 ms, for a shell that completes

# The command that runs, whose flags its hints name.
RUNNING: ContextVar[click.Command | None] = ContextVar("the command that runs", default=None)


# A word that is no command: alone the first screen, with `ALL` every command, with a command all about it.
HELP = "help"
ALL = "all"
_HELPING = "vault_tool.cli.help"


class Listed(NamedTuple):
    """A command as the table has it: the module below `vault_tool.cli` that makes it, and its one line of help.

    In the module the command has its own name with `_` for `-`, and one more at the end of a word that Python has.
    """

    name: str
    module: str
    help: str

    def load(self) -> click.Command:
        """The command itself."""
        name = f"{self.name.replace('-', '_')}{'_' if iskeyword(self.name) or self.name == 'list' else ''}"
        command = getattr(import_module(f"vault_tool.cli.{self.module}"), name)
        assert isinstance(command, click.Command)
        return command


class LazyGroup(click.Group):
    """A group whose help and completion come from a table alone."""

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[Listed]] = MappingProxyType({}),
        elsewhere: Mapping[str, Sequence[str]] = MappingProxyType({}),
        first: Mapping[str, Sequence[str]] = MappingProxyType({}),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.first = first
        self.elsewhere = elsewhere
        self.listed = {listed.name: listed for commands in sections.values() for listed in commands}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the table's order."""
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; the library's own spelling with `_` is understood."""
        listed = self.listed.get(cmd_name) or self.listed.get(cmd_name.replace("_", "-"))
        return listed.load() if listed else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; raises UsageError with the names that come near."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and ctx.resilient_parsing and name == HELP:
            ctx.meta[_HELPING] = True  # a shell completes what stands behind it
        if command is None and not ctx.resilient_parsing and not name.startswith("-"):
            raise UsageError(f"there is no command `{name}`", _suggestion(name, self.listed, self.elsewhere))
        if command is None:
            return super().resolve_command(ctx, args)
        return command.name, command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands of the first screen, with the table's lines."""
        broadest = max((len(name) for names in self.first.values() for name in names), default=0)
        for title, names in self.first.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(broadest), self.listed[name].help) for name in names])

    def all_help(self, ctx: click.Context) -> str:
        """Every command by section; those that have a near twin with the line that tells them apart."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        broadest = max(map(len, self.listed), default=0)
        for title, commands in self.sections.items():
            with formatter.section(title):
                for listed in commands:
                    formatter.write_dl([(listed.name.ljust(broadest), listed.help)])
                    if twin := twins.TWINS.get(listed.name):
                        formatter.write(f"{'':{formatter.current_indent + 4}}{twin}\n")
        self.format_epilog(ctx, formatter)
        return formatter.getvalue()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[shell_completion.CompletionItem]:
        """Names from the table, those of the first screen first, and the group's own options."""
        order = dict.fromkeys([*(name for names in self.first.values() for name in names), *self.listed])
        word = (ALL, "Show every command.") if ctx.meta.get(_HELPING) else (HELP, "Show the first commands, or all about one.")
        offered = [*((name, self.listed[name].help) for name in order), word]
        names = [shell_completion.CompletionItem(name, help=about) for name, about in offered if name.startswith(incomplete)]
        # Past Group, whose own completion would import every command.
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _suggestion(name: str, known: Mapping[str, Listed], elsewhere: Mapping[str, Sequence[str]]) -> str:
    typed = name.replace("_", "-")
    # A verb of a group by its whole name in a program: `import-markdown`.
    group = [typed.partition("-")[0]] if typed.partition("-")[0] in known else []
    near = elsewhere.get(name.casefold()) or difflib.get_close_matches(typed, known) or group
    return f"did you mean `vt {'` or `vt '.join(near)}`?" if near else "`vt help all` lists them"


def each(sections: Mapping[str, Sequence[Listed]]) -> Iterator[tuple[str, Listed]]:
    """Every command of a table with its section."""
    for title, commands in sections.items():
        for listed in commands:
            yield title, listed
