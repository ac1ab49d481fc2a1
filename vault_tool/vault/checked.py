"""The boundary of a program's calls: parameters of the wrong kind and faults of the system are each said in a line."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar

from vault_tool.errors import UsageError
from vault_tool.util.json_text import flaw_in, shown_place
from vault_tool.vault.leniency import listed
from vault_tool.vault.parameters import require_limit

Checked = TypeVar("Checked", bound=type)

_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = MappingProxyType(
    {
        "str": (lambda value: isinstance(value, str), "a text"),
        "int": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
        "float": (lambda value: isinstance(value, (int, float)) and not isinstance(value, bool), "a number"),
        "bool": (lambda value: isinstance(value, bool), "true or false"),
        "Path": (lambda value: isinstance(value, Path), "a path"),
        "None": (lambda value: value is None, "nothing"),
        "Mapping[str, Any]": (lambda value: isinstance(value, Mapping), "an object"),
        "Sequence[Mapping[str, Any]]": (
            lambda value: isinstance(value, Collection) and not isinstance(value, str),
            "a list of objects",
        ),
        "Sequence[str]": (lambda value: _is_texts(value), "a list of texts"),
    }
)

TEXTS = ("Sequence[str]",)

# The verbs whose contract says itself what each argument may be, and names all faults at once.
_BY_CONTRACT = frozenset({"read", "write", "update"})

_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "str": '"a text"', "int": "5", "float": "0.5", "bool": "true", "Path": '"a/path"',
        "Mapping[str, Any]": '{"name": "value"}',
        "Sequence[Mapping[str, Any]]": '[{"name": "value"}]', "Sequence[str]": '["one", "two"]',
    }
)  # fmt: skip


def checked_parameters(vault: Checked) -> Checked:
    """Make the methods that a class names itself raise UsageError for a parameter of another kind than its annotation's.

    One text where a list of texts belongs is the list that it reads as (`files.frontmatter.lists`): letter by letter is never
    meant. 5.0 is 5 where a whole number belongs. None for a parameter that has a default is that default, as JSON says null
    for what is left out.

    So does a text, number or nested value that no note could hold: half an emoji of a cut JSON would end every command
    that reads it again. Kinds that are not among texts, numbers, paths and lists of texts are the verbs' own to check. A
    vault that came along by a fork is refused whole: neither SQLite nor locks of files can be shared in that way.
    """
    for name, verb in list(vars(vault).items()):
        if isinstance(verb, FunctionType) and not name.startswith("_"):
            setattr(vault, name, _checked(verb))
        asked: object = getattr(verb, "__wrapped__", None)
        if isinstance(verb, staticmethod) and isinstance(asked, DeferredVerb):
            asked.is_static = True
            asked.__set_name__(vault, name)
            setattr(vault, name, asked)
    return vault


class DeferredVerb:
    """A verb of a class, by its module and name: loaded, and checked as the others, when it is first asked for."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._owner: type | None = None
        self._attribute = name
        self.is_static = False
        """Whether it is asked of no vault: then it is as its module has it."""

    def __set_name__(self, owner: type, attribute: str) -> None:
        self._owner, self._attribute = owner, attribute

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        function = getattr(import_module(self._module), self._name)
        verb: Any = staticmethod(function) if self.is_static else _checked(function)
        if self._owner is not None:
            setattr(self._owner, self._attribute, verb)
        return verb.__get__(instance, owner)


class _VerbsOf:
    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> DeferredVerb:
        return DeferredVerb(self._module, name)


def deferred_verbs(module: str) -> Any:
    """A module of verbs by its name: what a class takes from it is loaded when it is first asked for.

    Declared as `if TYPE_CHECKING: import name`, `else: name = deferred_verbs("name")`, so that types are known.
    """
    return _VerbsOf(module)


def asked_as_checked(vault: Any, verb: str, arguments: Mapping[str, Any]) -> Any:
    """The answer of an open vault's verb to arguments that a schema made of the verb has checked."""
    as_checked = vars(getattr(type(vault), verb))["as_checked"]
    return as_checked(vault, arguments)


def _checked(verb: FunctionType) -> Callable[..., Any]:
    @wraps(verb)
    def with_checks(*positional: Any, **named: Any) -> Any:
        if positional:
            _require_here(positional[0])
        try:
            bound = _signature(verb)[0].bind(*positional, **named)
        except TypeError:
            return verb(*positional, **named)  # Python's own words for too many, too few and unknown ones
        _check(verb, bound)
        return verb(*bound.args, **bound.kwargs)

    def as_checked(vault: Any, arguments: Mapping[str, Any]) -> Any:
        _require_here(vault)
        return verb(vault, **arguments)

    vars(with_checks)["as_checked"] = as_checked
    return with_checks


def _require_here(vault: Any) -> None:
    """Refuse a vault that came along by a fork, or that is not at its place any more."""
    if vault.process != os.getpid():
        message = "this vault was opened before a fork, and its files belong to the process that opened it"
        raise UsageError(message, "open it again here: Vault.open(path)")
    vault.require_present()


def _check(verb: FunctionType, bound: inspect.BoundArguments) -> None:
    """Refuse arguments that a verb does not take, and put in their place what was plainly meant."""
    signature, kinds, unchecked, leaves_out = _signature(verb)
    for name, value in bound.arguments.items():
        default = signature.parameters[name].default
        if value is None and default is not inspect.Parameter.empty and name in leaves_out:
            # What JSON calls null is what was not said.
            bound.arguments[name] = default
            continue
        kind = kinds.get(name)
        if kind == TEXTS and (isinstance(value, str) or _is_texts(value)):
            bound.arguments[name] = listed(name, value) if isinstance(value, str) or _holds_a_list(value) else value
        elif kind is not None and "float" not in kind and isinstance(value, float) and value.is_integer() and "int" in kind:
            bound.arguments[name] = value = int(value)
        elif kind_wanted := type_error(kind, value):
            raise UsageError(f"{name} must be {kind_wanted}, not {_shown(value)}", _example(name, kind or ()))
        if name not in unchecked and (flaw := flaw_in(value)) is not None:
            raise UsageError(f"{name}{shown_place(flaw.place)} {flaw.message}", flaw.hint)
        if name == "limit" and verb.__name__ not in _BY_CONTRACT:
            require_limit(value)


def kinds_of(function: Callable[..., Any]) -> dict[str, tuple[str, ...]]:
    """The possible kinds of each parameter of a function, by its annotation, if they can be checked (see `type_error`)."""
    return {
        name: kinds for name, kinds in _annotated(inspect.signature(function)).items() if all(map(_KINDS.__contains__, kinds))
    }


def type_error(kinds: Sequence[str] | None, value: object) -> str:
    """The kind that a value must have if it has none of these; empty if it fits, or if no kinds are known."""
    if not kinds or any(_KINDS[kind][0](value) for kind in kinds):
        return ""
    return " or ".join(_KINDS[kind][1] for kind in kinds if kind != "None")


@cache
def _signature(verb: FunctionType) -> tuple[inspect.Signature, dict[str, tuple[str, ...]], frozenset[str], frozenset[str]]:
    """A verb's signature, for each parameter that can be checked what it may be, those whose faults are answers, and those for
    which None is no value of its own.
    """
    signature = inspect.signature(verb)
    unchecked = (name for name, kinds in _annotated(signature).items() if kinds in (("object",), ("Context",)))
    leaves_out = (name for name, kinds in _annotated(signature).items() if "None" not in kinds)
    return signature, kinds_of(verb), frozenset(unchecked), frozenset(leaves_out)


def _annotated(signature: inspect.Signature) -> dict[str, tuple[str, ...]]:
    return {name: tuple(str(parameter.annotation).split(" | ")) for name, parameter in signature.parameters.items()}


def _example(name: str, kinds: Sequence[str]) -> str:
    """A value of the right kind, in no door's own words."""
    shown = next((_EXAMPLES[kind] for kind in kinds if kind in _EXAMPLES), "another value")
    return f"for example {name}: {shown}"


def _holds_a_list(value: object) -> bool:
    """Whether an item of a list of texts may be a list in JSON itself."""
    return isinstance(value, Collection) and any(isinstance(text, str) and text[:1] == "[" for text in value)


def _is_texts(value: object) -> bool:
    if not isinstance(value, Collection) or isinstance(value, (str, bytes, Mapping)):
        return False
    return all(isinstance(text, str) for text in value)


def _shown(value: object) -> str:
    return "one text" if isinstance(value, str) else "None" if value is None else f"a value of type {type(value).__name__}"
