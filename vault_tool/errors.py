"""The errors of the tool: each has a sentence, a hint and an exit code."""

from __future__ import annotations

from enum import IntEnum
from typing import Self

# Marks in hints (`util/hints.py`): one begins a step, two enclose a clause that only some doors show. They are variation
# selectors, which are invisible.
MARK = "\ufe00"
OPEN_CLAUSE, CLOSE_CLAUSE = f"\ufe01{MARK}", f"\ufe02{MARK}"


def bare(text: str) -> str:
    """A text without the marks of hints, worded for the library."""
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
    """An error for a person: one sentence that names the item, and a hint with the next step.

    `exit_code` belongs to the class; `hint` may be empty. Nothing was changed unless the sentence says so. `str()` gives the text
    for programs that use the library; a door words `message` and `hint`, or `marked`, which is both with their marks.
    """

    exit_code: Exit = Exit.USAGE

    lists_choices = False
    """Whether the sentence or the hint lists all choices, so that no door shortens it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(bare(message))
        self.message = message
        self.hint = hint

    def listing(self) -> Self:
        """The error, marked as one that lists all choices."""
        self.lists_choices = True
        return self

    @property
    def marked(self) -> str:
        """The sentence and the hint with their marks, for a door to word later."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __str__(self) -> str:
        return bare(self.marked)


class UsageError(VaultError):
    """The request is invalid: a parameter is missing, contradictory or malformed."""


class NotFound(UsageError):
    """No record, subject, file or vault has the given name."""


class Ambiguous(UsageError):
    """More than one record has the given name; the sentence lists them."""


class ConfigError(UsageError):
    """`vault.toml` or `_config.json` cannot be used as it is; the sentence lists every fault in it."""


class Busy(VaultError):
    """Another process holds a lock for longer than the bounded wait; nothing was changed."""

    exit_code = Exit.BUSY


class StorageError(VaultError):
    """The operating system refused or failed a read or a write; the earlier contents are still there."""

    exit_code = Exit.IO


class VaultGone(StorageError):
    """The vault that a process opened is no longer at its place; nothing was read from or written to that place since."""


class Refused(VaultError):
    """The request was understood and declined, because it could lose or leak something."""

    exit_code = Exit.REFUSED


class EditRefused(Refused):
    """A head cannot be edited without touching bytes outside of the request."""


class GitError(VaultError):
    """A git command failed; the sentence contains git's own first line."""

    exit_code = Exit.ATTENTION


class StaleEdit(VaultError):
    """A file changed between our read and our write; both texts were kept, and the sentence says where."""

    exit_code = Exit.ATTENTION


class EmbeddingUnavailable(VaultError):
    """No embedder works at the moment; notes stay as they are and are embedded later."""

    exit_code = Exit.IO
