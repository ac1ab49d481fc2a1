"""Modules that are loaded, and patterns that are compiled, at their first use: who never needs them does not pay for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, AnyStr


class Deferred(ModuleType):
    """A module by its name; it is loaded when a name in it is first asked for. Once asked, a name costs a plain lookup.

    What Python itself has as `importlib.util.LazyLoader` looks for the module's file at once, which a cold command
    would pay for each; the statement `lazy import` (PEP 810) comes with Python 3.15.
    """

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        value = getattr(module, name, None)
        if value is None:
            value = import_module(f"{self.__name__}.{name}") if hasattr(module, "__path__") else getattr(module, name)
        setattr(self, name, value)
        return value


def deferred(name: str) -> Any:
    """The module called `name`, to be loaded at its first use. Beside it stands what it costs to load.

    Declared as `if TYPE_CHECKING: import name`, `else: name = deferred("name")`, so that types are known.
    """
    return Deferred(name)


class _Late(ModuleType):
    """A module of a package by its name; it is loaded when a name in it is first asked for, or set."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self.__name__), name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """The module's names: a test that replaces one reads here what it was."""
        return vars(import_module(self.__name__))


def late_modules(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package of which these modules are loaded by their first use, each with what that spares.

    `from package import module` loads none of them then, wherever it stands; `from package.module import name` does.
    """

    def named(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _Late(f"{package}.{name}")

    return named


def load(*modules: ModuleType) -> None:
    """Load modules that are loaded late at once: what is to be ready before it is asked for."""
    for module in modules:
        import_module(module.__name__)


def deferred_names(
    package: str, modules: Mapping[str, str], whole: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], Any]:
    """The `__getattr__` of a package: each of these names is in one of its modules, which is loaded when it is first asked for.

    The modules that are loaded late as a `whole` are as `late_modules` has them: a package has one `__getattr__` for both.
    No module may be called as what it has: once it is loaded, its name in the package is the module's.
    """

    late = late_modules(package, whole)

    def named(name: str) -> Any:
        if name not in modules:
            return late(name)
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return named


class _Uncompiled:
    """A regular expression by its text and flags. Once asked, a method of the compiled one costs a plain lookup."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._given), name)
        setattr(self, name, value)
        return value


def deferred_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern like `re.compile`'s, compiled at its first use: those of a module take from half a millisecond to three."""
    uncompiled: Any = _Uncompiled(text, flags)
    return uncompiled  # type: ignore[no-any-return]


LIBRARIES = {
    "difflib": "5 ms",
    "filelock": "33 ms",
    "numpy": "0.2 s",
    "orjson": "15 ms",
    "shutil": "2 ms",
    "tempfile": "8 ms",
    "tomlkit": "50 ms",
    "uuid": "5 ms with platform, and only a new id needs it",
}
"""Libraries that many modules have from here: each is loaded by its first use, which few commands come to."""

if TYPE_CHECKING:
    import difflib as difflib
    import shutil as shutil
    import tempfile as tempfile
    import uuid as uuid

    import filelock as filelock
    import numpy as numpy
    import orjson as orjson
    import tomlkit as tomlkit
else:

    def __getattr__(name: str) -> Any:
        """One of `LIBRARIES`."""
        if name not in LIBRARIES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        library = globals()[name] = deferred(name)
        return library
