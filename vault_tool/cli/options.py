"""The common options, the `Call` that holds their values for a command, and texts from standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
from msgspec.structs import replace

from vault_tool.cli import output, twins
from vault_tool.cli.blocks import Block
from vault_tool.cli.lazy import RUNNING
from vault_tool.errors import Exit, UsageError
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.util.structs import Struct
from vault_tool.util.text import HALF_A_CHARACTER, is_unicode, one_line
from vault_tool.vault import lean_values
from vault_tool.vault.person import at_terminal, of_command

if TYPE_CHECKING:
    from vault_tool.vault.context import Context

ORIGINS = ("owner", "agent", "import")
# Most bytes that are taken from standard input: no note may be longer.
LONGEST_INPUT = 10 * 2**20

Result = TypeVar("Result")
Item = TypeVar("Item")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
# A function from a whole id to the prefix that a person may type instead.
Short: TypeAlias = Callable[[str], str]

# A function that makes the text of a result for a person; JSON needs none.
Render: TypeAlias = Callable[[Result, Short], Iterable[Block]]
RenderWith: TypeAlias = Callable[[Result, Iterable[Item], Short], Iterable[Block]]


class Call(Struct):
    """One run of `vt`: the values of the common options, given before or after the command (after wins)."""

    vault: str = ""
    json: bool = False
    lean: bool = False
    origin: str = ""
    session: str = ""
    debug: bool = False
    allow_secret: bool = False
    model: str = ""
    user: str = ""
    project: str = ""

    def open_vault(self) -> Context:
        """The vault that the options name; a context manager that closes it. Raises the errors of `Context.open`."""
        from vault_tool.vault.context import Context  # opens the whole package, which `--help` must not pay for

        borrow = LENT.get()
        if borrow is not None:
            vault = borrow(self)  # for a command of another process, which has a terminal of its own
        else:
            vault = Context.open(
                self.vault or None,
                origin=self.origin or usual_origin(),
                session=self.session or None,
                model=self.model,
                user=self.user,
                project=self.project,
            )
            vault.presence = of_command(self.origin)
        vault.progress = output.indexing()
        vault.allow_secrets = self.allow_secret
        if fault := vault.settings_fault:
            output.warn(fault)
        return vault

    def emit(self, result: Result, render: Render[Result], vault: Context | None = None) -> Exit:
        """Print a verb's result as JSON or as `render` shows it; ids are as short as the `vault` allows."""
        settings_fault = vault.settings_fault if vault is not None else ""
        if self.lean:
            return output.emit_lean(_leaned(result, vault), result, settings_fault)
        return output.emit(result, self.json, lambda: _in_time(result, render(result, _short_in(vault))), settings_fault)

    def emit_with(
        self, result: Result, name: str, items: Iterable[Item], render: RenderWith[Result, Item], vault: Context
    ) -> Exit:
        """Print a result as `emit` does; its list called `name` comes as `items`, which are printed one after another."""
        settings_fault = vault.settings_fault
        if self.lean:
            whole = replace(result, **{name: tuple(items)})  # type: ignore[type-var]  # a result is a struct
            return output.emit_lean(_leaned(whole, vault), result, settings_fault)
        blocks = _in_time(result, render(result, items, _short_in(vault)))
        return output.emit_with(result, name, items, blocks, as_json=self.json, settings_fault=settings_fault)

    def progress(self, title: str) -> AbstractContextManager[Callable[[int, int], None]]:
        """A progress bar for work that lasts longer than a second."""
        return output.progress(title)


# Set while a long-lived process runs a command on the vault that it keeps open.
LENT: ContextVar[Callable[[Call], Context] | None] = ContextVar("who lends the vault", default=None)


class VaultCommand(click.Command):
    """A command with the common options, and with examples at the end of its help."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.params.extend(common_options())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments; raises UsageError that names an argument with bytes that are not UTF-8."""
        RUNNING.set(self)
        rest = super().parse_args(ctx, args)
        for param in self.params:
            require_text(param, ctx.params.get(str(param.name)))
        for param in self.params:
            name, value = str(param.name), ctx.params.get(str(param.name))
            if isinstance(param, click.Option) and param.multiple and value:
                from vault_tool.files.frontmatter import lists  # a command without a list does not need it

                ctx.params[name] = lists.typed(name, value) if all(isinstance(part, str) for part in value) else value
        return rest

    def own_options(self) -> list[click.Option]:
        """The options that this command alone has, in the order of its source."""
        return [p for p in self.params if isinstance(p, click.Option) and p.name not in COMMON]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help text; where the command has a near twin, also the line that tells the two apart."""
        super().format_help_text(ctx, formatter)
        _write_twin(str(self.name), formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, then the ones that all commands have."""
        shared = [p for p in self.get_params(ctx) if isinstance(p, click.Option) and p not in self.own_options()]
        for title, options in (("Options", self.own_options()), ("Common options", shared)):
            records = [record for option in options if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, as they would be typed."""
        if self.examples:
            with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class VaultGroup(click.Group):
    """A group of commands: each has a name of its own after the group's, and the common options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help text of the group; where it has a near twin, also the line that tells the two apart."""
        super().format_help_text(ctx, formatter)
        _write_twin(str(self.name), formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments; raises a usage error that names the commands where none is given."""
        if not args and not ctx.resilient_parsing:
            raise click.UsageError(f"say which: {' or '.join(f'`{ctx.command_path} {name}`' for name in self.commands)}", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; for an unknown name, raises a usage error that lists the commands."""
        if args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            which = " or ".join(f"`{ctx.command_path} {name}`" for name in self.commands)
            raise click.UsageError(f"`{ctx.command_path}` knows no {args[0]!r}: say {which}", ctx)
        return super().resolve_command(ctx, args)

    def members(self) -> list[VaultCommand]:
        """The commands of the group, in the order of its source."""
        return [member for member in self.commands.values() if isinstance(member, VaultCommand)]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the same order."""
        return list(self.commands)


def command(name: str, *examples: str, cls: type[VaultCommand] = VaultCommand) -> Callable[[Callable[..., Exit]], VaultCommand]:
    """Make a command out of a function whose first parameter is the Call; its help is the function's docstring."""

    def decorate(run: Callable[..., Exit]) -> VaultCommand:
        @wraps(run)
        def with_call(**parameters: Any) -> Exit:
            return run(current_call(), **parameters)

        return click.command(name, cls=cls, examples=examples)(with_call)

    return decorate


def current_call() -> Call:
    """The Call of the command that runs or is being completed."""
    return click.get_current_context().find_object(Call) or Call()


def common_options(*, environment: bool = False) -> list[click.Option]:
    """Fresh copies of the common options; with `environment` (the group's) an option may come from its variable.

    Only the group reads variables, so that a variable does not override an option given before the command.
    """
    origin_variable = "VAULT_ORIGIN" if environment else None
    return [
        click.Option(
            ["--vault"],
            metavar="DIR",
            multiple=True,
            expose_value=False,
            callback=_note_vault,
            help="The vault; else VAULT_ROOT, the nearest above, the global one.",
        ),
        _noted("--json", "json", is_flag=True, help="Print JSON, with whole ids."),
        _noted("--lean", "lean", is_flag=True, help="Print the lean form for agents: JSON on one line, nothing empty."),
        _noted(
            "--origin",
            "origin",
            type=click.Choice(ORIGINS),
            metavar="WHO",
            envvar=origin_variable,
            show_envvar=environment,
            help="owner, agent or import; else VAULT_ORIGIN, else owner on a terminal.",
        ),
        _noted("--session", "session", metavar="ID", help="The conversation it belongs to; else VAULT_SESSION."),
        _noted("--user", "user", metavar="ID", help="For whom: no other user's memories are there. Else everybody's."),
        _noted("--debug", "debug", is_flag=True, help="Show where an error came from."),
    ]


COMMON = frozenset({"vault", "json", "lean", "origin", "session", "user", "debug"})


def authored(function: Decorated) -> Decorated:
    """The options of commands that write a memory: who concluded it, about what."""
    for option in (
        click.option("--project", metavar="NAME", expose_value=False, callback=_note, help="The project or world it is about."),
        click.option(
            "--model", metavar="NAME", expose_value=False, callback=_note, help="The model that concluded it; else VAULT_MODEL."
        ),
    ):
        function = option(function)
    return function


def writes(function: Decorated) -> Decorated:
    """The option of commands that write a person's or an agent's text: write it even if it looks like a secret."""
    say = "Write it although it looks like a secret."
    return click.option("--allow-secret", is_flag=True, expose_value=False, callback=_note, help=say)(function)


class TextInput(click.ParamType[str]):
    """A text given as an argument, or `-` for the text of standard input (UTF-8)."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text; raises UsageError where standard input is no text or too much of it."""
        if value != "-" or (ctx is not None and ctx.resilient_parsing):
            return str(value)
        try:
            return standard_input().decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            raise UsageError(f"standard input is not UTF-8 text (byte {fault.start})", "convert it, e.g. with iconv") from fault


TEXT = TextInput()


def require_text(param: click.Parameter, value: object) -> None:
    """Raise UsageError for a value that is not UTF-8, under the name of the option or argument that a person typed."""
    values = value if isinstance(value, (tuple, list)) else (value,)
    if not all(is_unicode(value) for value in values if isinstance(value, str)):
        named = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(click.get_current_context())
        raise UsageError(f"{named} {HALF_A_CHARACTER[0]}", HALF_A_CHARACTER[1])


def usual_origin() -> str:
    """The origin where none is given: the owner where both input and output are a terminal, else an agent."""
    return "owner" if at_terminal() else "agent"


def standard_input(most: int = LONGEST_INPUT) -> bytes:
    """All that standard input holds; UsageError for more than `most` bytes."""
    data = bytearray()
    # In pieces: one read of everything would miss a Ctrl-C between two of its blocks.
    while chunk := sys.stdin.buffer.read(2**16) if sys.stdin else b"":
        data += chunk
        if len(data) > most:
            raise UsageError(f"standard input holds more than {most // 2**20} MiB", "a note is one thought: split it")
    return bytes(data)


def _write_twin(name: str, formatter: click.HelpFormatter) -> None:
    if twin := twins.TWINS.get(name):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"It is {twin}.")


def _noted(flag: str, name: str, **attributes: Any) -> click.Option:
    return click.Option([flag, name], expose_value=False, callback=_note, **attributes)


def _note_vault(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> None:
    """Keep the vault's folder in the call; raises UsageError for two folders, also for one before and one after the command."""
    before = (ctx.find_object(Call) or Call()).vault
    named = [folder for folder in (before, *value) if folder]
    if len(named) > 1:
        several = " and ".join(one_line(folder, 60) for folder in named)
        raise UsageError(f"--vault is given more than once: {several}", "name one; `--with NAMES` has others asked beside it")
    _note(ctx, param, named[0] if named else "")


def _note(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep an option's value in the call of its context; without a value, the one given before the command stays."""
    require_text(param, value)
    if value:
        # The lean form is JSON too: code that checks only for JSON need not know of it.
        also = {"json": True} if param.name == "lean" else {}
        ctx.obj = replace(ctx.find_object(Call) or Call(), **{str(param.name): value, **also})


def _leaned(result: object, vault: Context | None) -> Any:
    """A result in the lean form: its own where it has one, else its fields without what is empty."""
    if hasattr(result, "lean"):
        return result.lean(_short_in(vault))
    return lean_values.lean_values(json.loads(output.to_json(result)), vault)


def _in_time(result: object, blocks: Iterable[Block]) -> Iterator[Block]:
    """The parts of an answer; an answer about the past ends with the time that it is as of."""
    yield from blocks
    if words := getattr(result, "past", ""):
        yield words


def _short_in(vault: Context | None) -> Short:
    if vault is None:
        return lambda identity: identity[:SHOWN_PREFIX]
    from vault_tool.vault.resolve import short  # loaded with the vault already

    return lambda identity: short(vault, identity)
