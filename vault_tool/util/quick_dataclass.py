"""Dataclasses whose methods are made when they are first needed: a command loads a hundred classes and uses few of them.

The standard library writes and compiles six methods a class, a quarter of a cold command's time. Here fields and slots are
still its work; equality, hash and `repr` are not compiled, and `__init__` is so with the first instance.
"""

from __future__ import annotations

import dataclasses
import operator
from dataclasses import MISSING, FrozenInstanceError, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, order=False):
        """`dataclasses.dataclass`, with the same results for what is told here; see above."""
        if cls is None:
            return lambda plain: dataclass(plain, frozen=frozen, slots=slots, kw_only=kw_only, order=order)
        own = set(cls.__dict__)
        # Frozen for the standard library only where it asks for that, or it would compile what refuses to set and to delete.
        derives = frozen and any("__dataclass_params__" in vars(base) for base in cls.__mro__[1:])
        made = dataclasses.dataclass(cls, init=False, repr=False, eq=False, frozen=derives, slots=slots, kw_only=kw_only)
        made.__dataclass_params__.frozen = frozen
        _complete(made, own, frozen, order)
        return made


def _complete(made: type, own: set[str], frozen: bool, order: bool) -> None:
    """Give a class the methods that it does not have of its own."""
    values = _values_of(tuple(field.name for field in fields(made) if field.compare))

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    methods: dict[str, Any] = {"__init__": _first_init(made, frozen), "__repr__": _repr, "__eq__": __eq__}
    # What is compared by its values and may change has no hash, as elsewhere.
    methods["__hash__"] = __hash__ if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        methods |= {"__getstate__": _state_of, "__setstate__": _set_state}
    if order:
        methods |= {f"__{name}__": _ordering(getattr(operator, name), values) for name in ("lt", "le", "gt", "ge")}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)


def _values_of(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """From an instance to the values of these attributes."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


def _ordering(compare: Callable[[Any, Any], bool], values: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def ordered(self: Any, other: object) -> Any:
        return compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

    return ordered


def _first_init(made: type, frozen: bool) -> Callable[..., None]:
    """An `__init__` that puts the real one in its place."""

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        real = _init_of(made, frozen)
        made.__init__ = real  # type: ignore[misc]
        real(self, *arguments, **named)

    return __init__


def _init_of(made: type, frozen: bool) -> Callable[..., None]:
    """The `__init__` of a class, compiled: a parameter for each field, with its default."""
    known: dict[str, Any] = {"MISSING": MISSING, "set_": object.__setattr__}
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for field in fields(made):
        name, value, parameter = field.name, field.name, field.name
        if field.default is not MISSING:
            known[f"of_{name}"] = field.default
            parameter = f"{name}=of_{name}"
        elif field.default_factory is not MISSING:
            known[f"make_{name}"] = field.default_factory
            parameter, value = f"{name}=MISSING", f"make_{name}() if {name} is MISSING else {name}"
        if not field.init:
            if field.default is MISSING and field.default_factory is MISSING:
                continue  # `__post_init__` sets it
            parameter, value = "", f"of_{name}" if field.default is not MISSING else f"make_{name}()"
        (named if field.kw_only else positional).append(parameter)
        body.append(f"set_(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    positional, named = list(filter(None, positional)), list(filter(None, named))
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    text = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
    exec(compile(text, f"<the fields of {made.__qualname__}>", "exec"), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state_of(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
