"""Where a new record goes: its class's folder, and a file name of its title and id."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from vault_tool.files.layout import NAME_BYTES, VAULT, cut
from vault_tool.model.records import Consolidation, Edge, Observation, Record, Subject, Understanding, Workspace
from vault_tool.util.clock import parse_time
from vault_tool.util.text import slug

# With so many files in the folder of a month the next note of it goes to a folder of its day, and with so many in that to a
# numbered one below: git writes a folder's list anew with each commit, and so do our indexes. Where a note lies means nothing.
FULL_MONTH = 1000
FULL_DAY = 250
# Git writes the lists of all folders above a note: a month that is so much too long keeps its days beside it, and not below.
LONG_MONTH = 4000

# So many characters of what a note is called stand before its id: where a note lies is said beside its title again and again.
NAME_LENGTH = 40

_END_BYTES = 56
_NOT_TYPE = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)


def _no_files(_: str) -> int:
    return 0


def place(record: Record, names: Mapping[str, str], taken: Callable[[str], bool], files: Callable[[str], int] = _no_files) -> str:
    """The path for a new record: its class's folder, a file name of at most 200 bytes made of its title and id.

    `names` gives the names of an edge's ends by id (its own `from_title` and `to_title` are asked next). `taken`
    says whether a path exists, comparing without case; while it does, more of the id and then a number is added.
    `files` says how many there are in a folder: observations go to where there is room.
    """
    folder, stem = _folder_and_stem(record, names)
    if isinstance(record, Observation):
        folder = _with_room(folder, _made(record), files)
    named_by_title = isinstance(record, (Subject, Workspace))
    for suffix in _suffixes(record.id, bare=named_by_title):
        path = f"{folder}/{_fit(stem, suffix)}{suffix}.md"
        if not taken(path):
            return path
    raise AssertionError("unreachable: the suffixes never end")


def _folder_and_stem(record: Record, names: Mapping[str, str]) -> tuple[str, str]:
    match record:
        case Subject():
            return f"{VAULT}/subjects", slug(record.name, "subject")
        case Observation():
            moment = _made(record)
            months = f"/{moment:%Y/%m}" if moment else ""
            return f"{VAULT}/observations{months}", _named(record.label)
        case Understanding():
            return f"{VAULT}/understandings", _named(record.label)
        case Edge():
            ends = (names.get(record.from_id) or record.from_title, names.get(record.to_id) or record.to_title)
            start, end = (cut(slug(name, "memory"), _END_BYTES) for name in ends)
            return f"{VAULT}/edges", f"{start}--{cut(_NOT_TYPE.sub('_', record.type), _END_BYTES) or 'LINK'}--{end}"
        case Consolidation():
            moment = parse_time(record.created or "")
            return f"{VAULT}/consolidations", f"{moment:%Y%m%dT%H%M%SZ}" if moment else "pass"
        case Workspace():
            return VAULT, "workspace"
    return VAULT, _named(record.label)


def _named(title: str) -> str:
    """A file name's beginning for a title, cut where a word ends, if not much is lost by that."""
    whole = slug(title)
    if len(whole) <= NAME_LENGTH:
        return whole
    begun = whole[: NAME_LENGTH + 1]
    at = begun.rfind("-")
    return begun[:at] if at > NAME_LENGTH // 2 else begun[:NAME_LENGTH].rstrip("-")


def _made(record: Observation) -> datetime | None:
    return parse_time(record.created or "") or parse_time(record.observed or "")


def _with_room(month: str, moment: datetime | None, files: Callable[[str], int]) -> str:
    if moment is None or files(month) < FULL_MONTH:
        return month
    day = f"{month}{'/' if files(month) < LONG_MONTH else '-'}{moment:%d}"
    numbered = (f"{day}/{number}" for number in itertools.count(2))
    return next(folder for folder in itertools.chain((day,), numbered) if files(folder) < FULL_DAY)


def _suffixes(record_id: str, bare: bool) -> Iterator[str]:
    letters = slug(record_id, "note")
    if bare:
        yield ""
    yield from (f"-{letters[:length]}".rstrip("-") for length in (6, 8, 13, 36))
    yield from (f"-{letters[:6].rstrip('-')}-{number}" for number in itertools.count(2))


def _fit(stem: str, suffix: str) -> str:
    return cut(stem, NAME_BYTES - len(suffix.encode()) - len(".md"))
