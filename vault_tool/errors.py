"""Everything that can fail, each class with its sentence, its hint and its exit code."""

from __future__ import annotations

from enum import IntEnum
from typing import Self

# What begins a step of a hint, and stands around what only some doors say (`util/hints.py`): variation selectors, which nobody
# sees.
MARK = "\ufe00"
OPEN_CLAUSE, CLOSE_CLAUSE = f"\ufe01{MARK}", f"\ufe02{MARK}"


def bare(text: str) -> str:
    """A text without the marks of its hints: in the words of the library."""
    if MARK not in text:
        return text
    return text.replace(OPEN_CLAUSE, "").replace(CLOSE_CLAUSE, "").replace(f"`{MARK}", "`")


class Exit(IntEnum):
    """Exit codes of the command line; a caller that is a program branches on them."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    BUSY = 3
    ATTENTION = 4
    IO = 5
    REFUSED = 6
    INTERRUPTED = 130


class VaultError(Exception):
    """An error for a person: one sentence that names the item, and what to type next.

    `exit_code` is the class's own; `hint` may be empty. Nothing was changed unless the sentence says so. As a text it is what a
    program of the library reads; a door words `message` and `hint`, or `marked`, which is both with the marks of their steps.
    """

    exit_code: Exit = Exit.USAGE

    lists_choices = False
    """Whether the sentence or the hint lists all that there is to choose from, so that no door shortens it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(bare(message))
        self.message = message
        self.hint = hint

    def listing(self) -> Self:
        """The error, with what there is to choose from told whole."""
        self.lists_choices = True
        return self

    @property
    def marked(self) -> str:
        """The sentence and the hint, for what a door puts in its words later."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __str__(self) -> str:
        return bare(self.marked)


class UsageError(VaultError):
    """The request cannot be meant as it stands: a missing, contradictory or malformed parameter."""


class NotFound(UsageError):
    """No record, subject, file or vault answers to what was named."""


class Ambiguous(UsageError):
    """More than one record answers to what was named; the sentence lists them."""


class ConfigError(UsageError):
    """`vault.toml` or `_config.json` cannot be used as it is; the sentence lists every fault in it."""


class Busy(VaultError):
    """Another process holds a lock for longer than the bounded wait; nothing was changed."""

    exit_code = Exit.BUSY


class StorageError(VaultError):
    """The operating system refused or failed a read or a write; what was there before is still there."""

    exit_code = Exit.IO


class VaultGone(StorageError):
    """The vault that a process opened is not at its place any more; nothing was read or written in what is there now."""


class Refused(VaultError):
    """Doing it could lose or leak something: the request was understood and declined."""

    exit_code = Exit.REFUSED


class EditRefused(Refused):
    """A head cannot be edited without touching bytes outside of the request."""


class GitError(VaultError):
    """Git could not do what was asked of it; the sentence carries git's own first line."""

    exit_code = Exit.ATTENTION


class StaleEdit(VaultError):
    """A file changed between our read and our write; both texts were kept, and the sentence says where."""

    exit_code = Exit.ATTENTION


class EmbeddingUnavailable(VaultError):
    """No embedder answers as it should now; notes stay as they are and are caught up later."""

    exit_code = Exit.IO
