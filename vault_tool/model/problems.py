"""A problem: what is wrong in a person's file, as a value that travels in reports."""

from __future__ import annotations

from enum import StrEnum

from vault_tool.util.structs import Struct

# The code of a date ahead of the clock: known of each note, and told in one line of all.
DATED_AHEAD = "dated-ahead"


class Severity(StrEnum):
    """How much a problem matters: errors hide something, warnings mislead, notes inform."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(Struct, order=True):
    """One thing wrong in one file; `path` is relative to the vault's root, `line` counts from 1 (0: the whole file)."""

    path: str
    line: int
    code: str
    severity: Severity
    message: str
    hint: str = ""


def error(path: str, line: int, code: str, message: str, hint: str = "") -> Problem:
    """A problem that keeps something from being read."""
    return Problem(path, line, code, Severity.ERROR, message, hint)


def warning(path: str, line: int, code: str, message: str, hint: str = "") -> Problem:
    """A problem that lets the file be read, but not as its writer meant it."""
    return Problem(path, line, code, Severity.WARNING, message, hint)


def note(path: str, line: int, code: str, message: str, hint: str = "") -> Problem:
    """Something worth knowing that needs no repair."""
    return Problem(path, line, code, Severity.NOTE, message, hint)
