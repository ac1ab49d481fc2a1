"""How memories and subjects are named on a command line, and which names a shell offers on TAB."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from vault_tool.cli.options import Call, Decorated
from vault_tool.errors import VaultError
from vault_tool.model.fields import Field, FieldKind
from vault_tool.model.ids import as_prefix
from vault_tool.model.types import RecordClass, Registry
from vault_tool.util.deferred import deferred
from vault_tool.util.text import normal_name, one_line

if TYPE_CHECKING:
    from click import shell_completion

    from vault_tool.vault.context import Context
else:
    shell_completion = deferred("click.shell_completion")  # 4 ms, for a shell that completes

MOST_OFFERED = 50

# The types of what is kept, as every vault has them.
TYPES = ", ".join(Registry().observations())

# From an open vault and what was typed to what may be meant, each with a word of explanation.
Offer: TypeAlias = "Callable[[Context, str], Iterable[tuple[str, str]]]"


class Name(click.ParamType[str]):
    """A text that means something in the vault; verbs resolve it, this offers what it could become."""

    def __init__(self, name: str, offer: Offer) -> None:
        self.name = name
        self._offer = offer

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it is."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[shell_completion.CompletionItem]:
        """What the vault's index offers as it stands; nothing where there is no vault."""
        call = ctx.find_object(Call) or Call()
        try:
            with call.open_vault() as vault:
                return [shell_completion.CompletionItem(value, help=about) for value, about in self._offer(vault, incomplete)]
        except (VaultError, OSError):
            return []


def _memories(vault: Context, typed: str) -> Iterable[tuple[str, str]]:
    prefix = as_prefix(typed)
    if prefix is None:
        return _subjects(vault, typed)
    found = vault.index.catalog.by_prefix(prefix, limit=MOST_OFFERED)
    return [(entry.id, one_line(entry.title, 60)) for entry in found]


def _subjects(vault: Context, typed: str) -> Iterable[tuple[str, str]]:
    wanted = normal_name(typed)
    found = [entry for entry in vault.index.catalog.of_class(RecordClass.SUBJECT) if normal_name(entry.title).startswith(wanted)]
    return sorted((one_line(entry.title), one_line(entry.text("summary"), 60)) for entry in found)[:MOST_OFFERED]


def narrows(function: Decorated) -> Decorated:
    """The options of commands that can answer from part of the memories only, beside `--kind`."""
    for option in (
        click.option("--until", metavar="TIME", help="Only what was observed until then."),
        click.option("--since", metavar="TIME", help="Only what was observed from then on: 2026-11-20, 2026-11, 7d."),
        click.option("--project", metavar="NAME", help="Only what is about this project or world."),
        click.option("--not-tag", "not_tags", multiple=True, metavar="TAG", help="Only what has none of these tags."),
        click.option("--tag", "-t", "tags", multiple=True, metavar="TAG", help="Only what has all of these tags."),
        click.option("--subject", "-s", "subject_names", type=SUBJECT, multiple=True, help="Only what is tagged with it."),
    ):
        function = option(function)
    return function


def says(fields: Iterable[Field], *, contract: bool = False) -> Callable[[Decorated], Decorated]:
    """The options of commands that write an observation, one for each of these fields, by its name in `contract` or as it is."""

    def with_options(function: Decorated) -> Decorated:
        for field in reversed([*fields]):
            function = click.option(*_flags(field), field.contract if contract else field.parameter, **_said(field))(function)
        return function

    return with_options


def _flags(field: Field) -> list[str]:
    return field.given.flags.split() if field.given and field.given.flags else [f"--{field.parameter.replace('_', '-')}"]


def _said(field: Field) -> dict[str, Any]:
    """What an option is beside its name: its help, and what its values are by the kind of the field."""
    assert field.given is not None
    said: dict[str, Any] = {"help": field.given.help, "metavar": field.given.metavar or None}
    match field.kind:
        case FieldKind.FLAG:
            return {**said, "is_flag": True}
        case FieldKind.UNIT:
            return {**said, "type": SHARE}
        case FieldKind.TIME | FieldKind.END:
            return {**said, "metavar": "TIME"}
        case FieldKind.TEXTS:
            return {**said, "multiple": True}
        case FieldKind.IDS:
            return {**said, "multiple": True, "type": MEMORY}
        case FieldKind.ID:
            return {**said, "type": MEMORY, "default": ""}
    return {**said, "default": ""}


# A share of one.
SHARE = click.FloatRange(0, 1)

# An id, an unambiguous prefix of one (4 characters or more), a path in the vault, or a subject's name.
MEMORY = Name("memory", _memories)

# A subject's name or alias.
SUBJECT = Name("subject", _subjects)
