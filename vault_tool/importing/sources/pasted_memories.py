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

_DATED = re.compile(r"\s*(?:[-*+•]\s+)?\[([^\]\n]{0,40})\]\s*(?:[-–—:]\s*)?(\S.*)")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(\S.*)")
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
    dated = [match for line in lines if (match := _DATED.fullmatch(line)) and _is_date(match[1])]
    return bool(dated) and 2 * len(dated) >= len([line for line in lines if not _HEADING.fullmatch(line)])


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """A memory for each line; a line without a date or a point goes on with the one above."""
    for file in files.files:
        try:
            lines = _lines(file)
        except (Refused, UnicodeDecodeError) as fault:
            yield LeftOut(reason="not-text", place=file.path, message=f"it cannot be read: {fault}")
            continue
        heading, waiting = "", [("", "", "")]
        marked = any(_DATED.fullmatch(line) or _BULLET.fullmatch(line) for line in lines)
        for line in lines:
            if match := _HEADING.fullmatch(line):
                heading = match[1] or match[2]
            elif (match := _DATED.fullmatch(line)) and _is_date(match[1]):
                waiting.append((heading, match[1], match[2]))
            elif match := _BULLET.fullmatch(line):
                waiting.append((heading, "", match[1]))
            elif marked and waiting[-1][2]:
                waiting[-1] = (*waiting[-1][:2], f"{waiting[-1][2]}\n{line.strip()}")
            elif not marked:
                waiting.append((heading, "", line.strip()))
        for above, date, text in waiting[1:]:
            yield ForeignMemory(
                key=f"memories/{key_of(text)}", text=text_of(text), type=kind_of(text, above), observed=moment_of(date),
                tags=names_of([above.strip().lower().replace(" ", "-")]),
            )  # fmt: skip


def _lines(file: ExportFile) -> list[str]:
    text = file.read(LARGEST).decode("utf-8-sig")
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith(("```", "~~~"))]


def _is_date(text: str) -> bool:
    return text.strip().lower() in _UNKNOWN or bool(moment_of(text))
