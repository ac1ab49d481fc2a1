"""Evidence references: what a memory or a judgement rests on, as one short text each (`docs/contracts.md`)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from datetime import date
from enum import StrEnum

from vault_tool.model.ids import as_prefix
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.structs import Struct

# How references are written, for hints.
FORMS = (
    "session:<turn>, file:<path>[#Lx-Ly][@<commit>], commit:<sha>, test:<name>, url:<address>, memory:<id>, episode:<date>[#<n>]"
)

_FILE = deferred_pattern(
    r"(?P<path>.+?)(?:#L(?P<first>[0-9]{1,9})(?:-L?(?P<last>[0-9]{1,9}))?)?(?:@(?P<commit>[0-9a-fA-F]{4,64}))?"
)
_COMMIT = deferred_pattern(r"[0-9a-fA-F]{4,64}")
_EPISODE = deferred_pattern(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:#(?:(?P<number>[1-9][0-9]{0,5})|(?P<time>(?:[01][0-9]|2[0-3]):[0-5][0-9])))?"
)
_DRIVE = deferred_pattern(r"[A-Za-z]:")


class EvidenceKind(StrEnum):
    """The kinds of things that a reference points at: the word before its colon."""

    SESSION = "session"
    FILE = "file"
    COMMIT = "commit"
    TEST = "test"
    URL = "url"
    MEMORY = "memory"
    EPISODE = "episode"


class Reference(Struct):
    """One reference taken apart.

    `target` is a file's path relative to its work tree, a commit, an id or a prefix of one, a date, or plain text.
    `lines` are a file's first and last line from 1, `commit` (lower case) is the one that it was seen at, `number`
    counts a day's entries of the log from 1, `time` is one's `HH:MM`; each is empty where the reference does not say.
    """

    kind: EvidenceKind
    target: str
    lines: tuple[int, int] | None = None
    commit: str = ""
    time: str = ""
    number: int | None = None


def read_reference(text: str) -> Reference:
    """The reference that `text` is; ValueError says in words what is wrong with it."""
    word, colon, rest = text.strip().partition(":")
    reader = _READERS.get(word)
    if not colon or reader is None:
        raise ValueError(f"it does not begin with {', '.join(f'{kind.value}:' for kind in EvidenceKind)}")
    if not rest.strip() or any(not char.isprintable() for char in rest):
        raise ValueError(f"nothing printable follows `{word}:`")
    return reader(rest.strip())


def fault_in(text: str) -> str:
    """The fault of a reference, in words; the empty string for a good one."""
    try:
        read_reference(text)
    except ValueError as fault:
        return str(fault)
    return ""


def _file(rest: str) -> Reference:
    match = _FILE.fullmatch(rest)
    path = posixpath.normpath(match["path"]) if match else ""
    if not match or path.startswith(("/", "~", "../")) or path in (".", "..") or _DRIVE.match(path):
        raise ValueError("its path must stay inside the work tree: relative, with `/`")
    first, last = int(match["first"] or 0), int(match["last"] or match["first"] or 0)
    if match["first"] and not 1 <= first <= last:
        raise ValueError("its lines must count from 1, the first before the last")
    return Reference(EvidenceKind.FILE, path, (first, last) if first else None, (match["commit"] or "").lower())


def _commit(rest: str) -> Reference:
    if not _COMMIT.fullmatch(rest):
        raise ValueError("a commit is 4 to 64 hexadecimal digits")
    return Reference(EvidenceKind.COMMIT, rest.lower())


def _memory(rest: str) -> Reference:
    prefix = as_prefix(rest)
    if prefix is None:
        raise ValueError("a memory is named by its id, or by at least 4 characters of it")
    return Reference(EvidenceKind.MEMORY, prefix)


def _url(rest: str) -> Reference:
    if any(char.isspace() for char in rest):
        raise ValueError("an address has no spaces")
    return Reference(EvidenceKind.URL, rest)


def _episode(rest: str) -> Reference:
    match = _EPISODE.fullmatch(rest)
    if not match:
        raise ValueError("an entry of the log is a date and its number, or its time: episode:2026-11-20#3")
    try:
        date.fromisoformat(match["day"])
    except ValueError:
        raise ValueError(f"{match['day']} is no date") from None
    return Reference(EvidenceKind.EPISODE, match["day"], time=match["time"] or "", number=int(match["number"] or 0) or None)


_READERS: Mapping[str, Callable[[str], Reference]] = {
    EvidenceKind.SESSION: lambda rest: Reference(EvidenceKind.SESSION, rest),
    EvidenceKind.FILE: _file,
    EvidenceKind.COMMIT: _commit,
    EvidenceKind.TEST: lambda rest: Reference(EvidenceKind.TEST, rest),
    EvidenceKind.URL: _url,
    EvidenceKind.MEMORY: _memory,
    EvidenceKind.EPISODE: _episode,
}
