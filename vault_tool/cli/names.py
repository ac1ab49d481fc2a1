"""How memories and subjects are named on a command line, and which names a shell offers on TAB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from vault_tool.cli.options import Call, Decorated
from vault_tool.errors import VaultError
from vault_tool.model import parameter_table
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
        """The completions that the vault's index offers as it stands; empty where there is no vault."""
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
    entries = vault.index.catalog.by_prefix(prefix, limit=MOST_OFFERED)
    return [(entry.id, one_line(entry.title, 60)) for entry in entries]


def _subjects(vault: Context, typed: str) -> Iterable[tuple[str, str]]:
    beginning = normal_name(typed)
    subjects = [
        entry for entry in vault.index.catalog.of_class(RecordClass.SUBJECT) if normal_name(entry.title).startswith(beginning)
    ]
    return sorted((one_line(entry.title), one_line(entry.text("summary"), 60)) for entry in subjects)[:MOST_OFFERED]


def takes(verb: Callable[..., Any], *names: str, **differs: Mapping[str, Any]) -> Callable[[Decorated], Decorated]:
    """The options of a command that are these parameters of its verb, each as its signature and `MEANINGS` have it.

    What a verb means otherwise is said by the parameter's name (`limit={"help": ...}`), as click has it; `flags` are its own.
    """

    called = parameter_table.NAMES_OF_VERBS.get(verb.__name__, verb.__name__)

    def with_options(function: Decorated) -> Decorated:
        for name in reversed(names):
            settings = {
                **_said(called, name, *_kind_and_default(verb, name)),
                **differs.get(name, {}),
            }
            function = click.option(*settings.pop("flags").split(), name, **settings)(function)
        return function

    return with_options


def _kind_and_default(verb: Callable[..., Any], name: str) -> tuple[str, Any]:
    """The annotation of a parameter and its default, `...` where it must be given."""
    if signature := vars(verb).get("__signature__"):
        parameter = signature.parameters[name]
        return parameter.annotation, ... if parameter.default is parameter.empty else parameter.default
    # Not by `inspect`: a command that begins reads some ten of them.
    function: Any = vars(verb)["__wrapped__"]
    named = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    defaults_by_name = {
        **dict(zip(named[len(named) - len(defaults) :], defaults, strict=True)),
        **(function.__kwdefaults__ or {}),
    }
    return function.__annotations__[name], defaults_by_name.get(name, ...)


def _said(verb: str, name: str, kind: str, default: Any) -> dict[str, Any]:
    """The arguments with which click makes an option, with its `flags`."""
    meaning = parameter_table.MEANINGS[name]
    values = {"memory": MEMORY, "subject": SUBJECT, "share": SHARE, "count": COUNT}
    settings: dict[str, Any] = {"help": parameter_table.MEANINGS_OF.get(verb, {}).get(name) or meaning.help}
    settings |= {"metavar": meaning.metavar or None, "type": values.get(meaning.value)}
    settings["flags"] = meaning.flags or f"--{name.replace('_', '-')}"
    if kind.startswith("Sequence[str]"):
        return {**settings, "multiple": True}
    if default is ...:
        return {**settings, "required": True}
    if kind == "bool":
        return {**settings, "is_flag": True, **({"flag_value": False, "default": True, "help": meaning.off} if default else {})}
    return {**settings, "default": default, "show_default": default != ""} if default is not None else settings


# A share of one.
SHARE = click.FloatRange(0, 1)

# One or more.
COUNT = click.IntRange(1)

# An id, an unambiguous prefix of one (4 characters or more), a path in the vault, or a subject's name.
MEMORY = Name("memory", _memories)

# A subject's name or alias.
SUBJECT = Name("subject", _subjects)
