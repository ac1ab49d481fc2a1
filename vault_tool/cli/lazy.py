"""The table of commands, and the group that imports a command's module only when that command is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vault_tool.errors import UsageError
from vault_tool.util.deferred import deferred

if TYPE_CHECKING:
    import difflib

    from click import shell_completion
else:
    shell_completion = deferred("click.shell_completion")  # 4 ms, for a shell that completes
    difflib = deferred("difflib")  # 5 ms


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
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections
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
        if command is None and not ctx.resilient_parsing and not name.startswith("-"):
            raise UsageError(f"there is no command `{name}`", _suggestion(name, self.listed, self.elsewhere))
        if command is None:
            return super().resolve_command(ctx, args)
        return command.name, command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, with the table's lines."""
        broadest = max(map(len, self.listed), default=0)
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(listed.name.ljust(broadest), listed.help) for listed in commands])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[shell_completion.CompletionItem]:
        """Names from the table and the group's own options."""
        found = (listed for listed in self.listed.values() if listed.name.startswith(incomplete))
        names = [shell_completion.CompletionItem(listed.name, help=listed.help) for listed in found]
        # Past Group, whose own completion would import every command.
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _suggestion(name: str, known: Mapping[str, Listed], elsewhere: Mapping[str, Sequence[str]]) -> str:
    near = elsewhere.get(name.casefold()) or difflib.get_close_matches(name.replace("_", "-"), known)
    return f"did you mean `vt {'` or `vt '.join(near)}`?" if near else "`vt --help` lists them"


def each(sections: Mapping[str, Sequence[Listed]]) -> Iterator[tuple[str, Listed]]:
    """Every command of a table with its section."""
    for title, commands in sections.items():
        for listed in commands:
            yield title, listed
