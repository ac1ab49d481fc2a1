"""The one decision whether a person asks, for everything that only a person may do, whichever door it is asked by.

Nothing here is proved: a program that has a person's rights can make itself a terminal. What is promised is that no tool,
default, variable or hint leads there.
"""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from vault_tool.errors import Refused

if TYPE_CHECKING:
    from vault_tool.machine import Machine


class Presence(Enum):
    """The door's knowledge of a person."""

    NOBODY = "nobody"
    """A program asks: a library's caller that says no more, an agent's client, a hook, another process."""
    COMMAND = "command"
    """A command that no person stands at; this machine's settings may say that it answers for one (`unattended`)."""
    PERSON = "person"
    """A person asks: at a terminal, by the page's cookie, or by the word of the program that opened the vault."""


class _Who(Protocol):
    @property
    def origin(self) -> str: ...


class Asked(Protocol):
    """The caller's claim to be a person."""

    @property
    def presence(self) -> Presence:
        """The door's knowledge of a person."""

    @property
    def who(self) -> _Who:
        """In whose name it is asked."""

    @property
    def machine(self) -> Machine:
        """This machine's settings."""

    def as_(self, **changes: str) -> Self:
        """The same vault for another asker."""


V = TypeVar("V", bound=Asked)


def at_terminal() -> bool:
    """Whether both standard input and standard output of this process are a terminal."""
    return all(stream is not None and not stream.closed and stream.isatty() for stream in (sys.stdin, sys.stdout))


def of_command(origin: str) -> Presence:
    """The person at a command line that states `origin`, or nothing: a command of a program is no person's."""
    if origin not in ("", "owner"):
        return Presence.NOBODY
    return Presence.PERSON if at_terminal() else Presence.COMMAND


def is_person(vault: Asked) -> bool:
    """Whether a person asks the vault, or a command that this machine's settings let answer for one."""
    if vault.presence is Presence.COMMAND:
        return vault.machine.unattended == "on"
    return vault.presence is Presence.PERSON


def is_owner(vault: Asked) -> bool:
    """Whether a person asks in the owner's name, who may see withheld memories and whose edit is a review."""
    return vault.who.origin == "owner" and is_person(vault)


def require_person(vault: Asked, act: str) -> None:
    """Raise Refused, naming the act, where no person asks."""
    if not is_person(vault):
        raise Refused(f"only a person may {act}, and a program asks", "whoever keeps this vault does it themselves")


def acting(vault: V, act: str) -> V:
    """The vault for an act that only a person may do, in the owner's name. Raises Refused where no person asks."""
    require_person(vault, act)
    return vault if vault.who.origin == "owner" else vault.as_(origin="owner")
