"""Memories that a person had an assistant list and pasted: a line each, with its date where one is given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_tool.errors import Refused
from vault_tool.files.export_files import ExportFile, ExportFiles
from vault_tool.files.reader import LARGEST
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    Item,
    LeftOut,
    Wanted,
    key_of,
    kind_of,
    moment_of,
    names_of,
    text_of,
)

_POINT = r"\s*(?:(?:[-*+•–—]|\d{1,3}[.)])\s+)?"
# A date in brackets, or one that the line begins with.
_DATED = re.compile(
    rf"{_POINT}(?:\[([^\]\n]{{0,40}})\]|\(([^)\n]{{0,40}})\)|(\d{{4}}-\d\d(?:-\d\d)?(?=\s*[-–—:]\s)))\s*(?:[-–—:]\s*)?(\S.*)"
)
_LABELLED = re.compile(rf"{_POINT}\[[^\]\n]{{1,40}}\]\s*[-–—:]\s+\S.*")
_BULLET = re.compile(r"\s*(?:[-*+•–—]|\d{1,3}[.)])\s+(\S.*)")
_FENCE = ("```", "~~~")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+(.+?)|\*\*([^*]+)\*\*:?)\s*")
_UNKNOWN = frozenset({"unknown", "n/a", "none", "?", "", "date unknown", "undated"})


def fits(files: ExportFiles) -> bool:
    """Whether it is one text of which at least half the lines are `[date] - memory`."""
    if len(files.files) != 1 or files.files[0].name.lower().endswith((".json", ".jsonl", ".db")):
        return False
    try:
        lines = _lines(files.files[0])
    except (Refused, UnicodeDecodeError):
        return False
    texts = [line for line in lines if not _is_fence(line)]
    dated = [line for line in texts if _dated(line) is not None]
    return bool(dated) and 2 * len(dated) >= len([line for line in texts if not _HEADING.fullmatch(line)])


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """A memory for each line; a line without a date or a point goes on with the one above, to the end of a fence around them."""
    for file in files.files:
        try:
            lines = _lines(file)
        except (Refused, UnicodeDecodeError) as fault:
            yield LeftOut(reason="not-text", place=file.path, message=f"it cannot be read: {fault}")
            continue
        for above, date, text in _memories(lines):
            yield ForeignMemory(
                key=f"memories/{key_of(text)}", text=text_of(text), type=kind_of(text, above), observed=_moment(date),
                tags=names_of([above.strip().lower().replace(" ", "-")]),
            )  # fmt: skip


def _memories(lines: list[str]) -> list[tuple[str, str, str]]:
    """The memories of a list: the heading above each, its date as it is written, and its text."""
    heading, memories, goes_on = "", [("", "", "")], False
    marked = any(_dated(line) or _BULLET.fullmatch(line) or _LABELLED.fullmatch(line) for line in lines)
    for line in lines:
        if _is_fence(line):
            # What stands behind a fence is the assistant's own sentence.
            goes_on = False
        elif match := _HEADING.fullmatch(line):
            heading = match[1] or match[2]
        elif dated := _dated(line):
            memories.append((heading, *dated))
            goes_on = True
        elif match := _BULLET.fullmatch(line):
            memories.append((heading, "", match[1]))
            goes_on = True
        elif not marked or _LABELLED.fullmatch(line):
            memories.append((heading, "", line.strip()))
            goes_on = True
        elif goes_on:
            memories[-1] = (*memories[-1][:2], f"{memories[-1][2]}\n{line.strip()}")
    return memories[1:]


def _lines(file: ExportFile) -> list[str]:
    text = file.read(LARGEST).decode("utf-8-sig")
    return [line for line in text.splitlines() if line.strip()]


def _is_fence(line: str) -> bool:
    return line.strip().startswith(_FENCE)


def _dated(line: str) -> tuple[str, str] | None:
    """The date with which a line begins, as it is written, and the text after it."""
    match = _DATED.fullmatch(line)
    if match is None:
        return None
    date = next((group for group in match.groups()[:3] if group is not None), "")
    is_date = bool(_moment(date)) or (match[1] is not None and date.strip().lower() in _UNKNOWN)
    return (date, match[4]) if is_date else None


def _moment(date: str) -> str:
    """The moment of a date; of a month or a year alone its beginning."""
    bare = date.strip()
    if re.fullmatch(r"\d{4}(?:-\d\d)?", bare):
        return moment_of(f"{bare}-01" if "-" in bare else f"{bare}-01-01")
    return moment_of(bare) or moment_of(f"1 {bare}")
