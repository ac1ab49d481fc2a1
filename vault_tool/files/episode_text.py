"""A day's log as markdown: `## HH:MM - title` entries with their lines, and back.

A second entry of one minute is headed `## 10:30 #2 - title`. Texts are put on one line each, so that nothing in
them can begin another entry; what a person wrote between the lines is kept: files are added to, and only `forget` rewrites one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection
from datetime import datetime
from urllib.parse import quote, unquote

import msgspec
from msgspec import field

from vault_tool.files.layout import journal_date
from vault_tool.model.problems import Problem, warning
from vault_tool.model.signals import EpisodeEntry
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.text import one_line

_HEADING = deferred_pattern(r"## (\d{2}:\d{2})(?: ?#(\d+))? - (.*)", re.ASCII)
_MINUTE = deferred_pattern(r"^## (\d{2}:\d{2})(?: ?#\d+)? - ", re.ASCII | re.MULTILINE)
_HEADINGS = deferred_pattern(rb"^## [^\n]*", re.MULTILINE)
_LINE = deferred_pattern(r"- \*\*(Type|Tags|Memory|Session|Summary):\*\* (.*)")
_LINK = deferred_pattern(r"\[.*\]\(([^)\s]+)\)")
_NOT_IN_LINK = deferred_pattern(r"[\s()<>%\\\[\]#?]")
_NOT_IN_LABEL = deferred_pattern(r"[\[\]\\]")
_COMMA = deferred_pattern(r"(?<!\\),")


# Most bytes of a line: an entry is a sentence or a few, and an answer tells it whole.
LONGEST_LINE = 2**16

_LONG_LINES = deferred_pattern(rb"^[^\n]{%d,}" % (LONGEST_LINE + 1), re.MULTILINE)


class _Open(msgspec.Struct):
    """An entry whose lines are still being read."""

    at: str
    title: str
    lines: dict[str, str] = field(default_factory=dict)


def day_heading(day: str) -> str:
    """The first line of a new file."""
    return f"# {day}\n"


def entry_text(entry: EpisodeEntry, path: str, before: str) -> str:
    """The lines of one entry for the file at `path`, which holds `before` so far."""
    minute = entry.at[11:16]
    number = 1 + sum(1 for stamp in _MINUTE.findall(before) if stamp == minute)
    repeat = f" #{number}" if number > 1 else ""
    lines = [f"## {minute}{repeat} - {one_line(entry.title) or 'untitled'}"]
    if entry.type:
        lines.append(f"- **Type:** {one_line(entry.type)}")
    if entry.tags:
        lines.append(f"- **Tags:** {', '.join(_tag(tag) for tag in entry.tags)}")
    if entry.path:
        lines.append(f"- **Memory:** {_link(entry.path, path)}")
    if entry.session.strip():
        lines.append(f"- **Session:** {one_line(entry.session)}")
    if entry.summary.strip():
        lines.append(f"- **Summary:** {one_line(entry.summary)}")
    return "\n" + "\n".join(lines) + "\n"


def read_episode(path: str, data: bytes) -> tuple[list[EpisodeEntry], list[Problem]]:
    """The entries of one file in its order, and a problem for each line that looks like a heading and is not one."""
    day = journal_date(path)
    entries: list[_Open] = []
    for raw in data.split(b"\n"):
        if len(raw) > LONGEST_LINE:
            continue
        line = raw.decode("utf-8", "replace").rstrip("\r")
        if line.startswith("## "):
            heading, moment = _heading(line, day)
            if heading is not None and moment is not None:
                entries.append(_Open(stamp(moment), heading[3].strip()))
        elif entries and (match := _LINE.fullmatch(line)):
            entries[-1].lines.setdefault(match[1], match[2].strip())
    return [_entry(block, path) for block in entries], episode_problems(path, data)


def episode_problems(path: str, data: bytes) -> list[Problem]:
    """The problems of one file: headings without an entry, lines that are too long, and an end that was cut short."""
    day = journal_date(path)
    problems: list[Problem] = []
    if data and not data.endswith(b"\n"):
        message = "the last line has no newline: a write was cut short"
        problems.append(warning(path, data.count(b"\n") + 1, "torn-line", message, "mend the end of the file in an editor"))
    for match in _LONG_LINES.finditer(data):
        message = f"a line of more than {LONGEST_LINE // 2**10} KiB, which is passed over"
        number = data.count(b"\n", 0, match.start()) + 1
        problems.append(warning(path, number, "bad-entry", message, "mend the line in an editor"))
    for match in _HEADINGS.finditer(data):
        if match.end() - match.start() > LONGEST_LINE:
            continue
        line = match[0].decode("utf-8", "replace").rstrip("\r")
        if None in _heading(line, day):
            message = "a heading that is no entry: `## HH:MM - title` is one"
            number = data.count(b"\n", 0, match.start()) + 1
            problems.append(warning(path, number, "bad-entry", message, "mend the line in an editor"))
    return problems


def redacted_episode(
    path: str, data: bytes, paths: Collection[str], is_told: Callable[[str], bool], others: Collection[str] = ()
) -> bytes:
    """A log without what a forgotten memory was called and said: its entries keep their hour alone.

    An entry is about it where it links to one of `paths` or is `told`, unless it links to one of the `others`, which say the
    same; what a person wrote between our lines stays.
    """
    remaining: list[bytes] = []
    for block in re.split(rb"^(?=## )", data, flags=re.MULTILINE):
        lines = block.split(b"\n")
        texts = [line.decode("utf-8", "replace").rstrip("\r") for line in lines]
        about = any(_links_to(text, path, paths) for text in texts)
        anothers = not about and any(_links_to(text, path, others) for text in texts)
        if _HEADING.fullmatch(texts[0]) and (about or (not anothers and is_told("\n".join(texts)))):
            rest = (line for line, text in zip(lines[1:], texts[1:], strict=True) if not (_LINE.fullmatch(text) or is_told(text)))
            lines = [texts[0].partition(" - ")[0].encode() + b" - forgotten", *rest]
        remaining.append(b"\n".join(lines))
    return b"".join(remaining)


def _links_to(line: str, path: str, paths: Collection[str]) -> bool:
    match = _LINE.fullmatch(line)
    link = _LINK.fullmatch(match[2].strip()) if match and match[1] == "Memory" else None
    return link is not None and _absolute(unquote(link[1]), path) in paths


def _heading(line: str, day: str) -> tuple[re.Match[str] | None, datetime | None]:
    """The parts of an entry's heading and its moment; something is None where it is no entry's."""
    heading = _HEADING.fullmatch(line)
    return heading, parse_time(f"{day}T{heading[1]}:00+00:00") if heading else None


def _entry(block: _Open, path: str) -> EpisodeEntry:
    link = _LINK.fullmatch(block.lines.get("Memory", ""))
    tags = block.lines.get("Tags", "")
    return EpisodeEntry(
        at=block.at,
        title=block.title,
        type=block.lines.get("Type", ""),
        tags=tuple(tag.strip().replace("\\,", ",") for tag in _COMMA.split(tags) if tag.strip()),
        path=_absolute(unquote(link[1]), path) if link else "",
        session=block.lines.get("Session", ""),
        summary=block.lines.get("Summary", ""),
    )


def _tag(tag: str) -> str:
    return one_line(tag).replace(",", "\\,")


def _link(target: str, path: str) -> str:
    label = _NOT_IN_LABEL.sub("", posixpath.basename(target).removesuffix(".md"))
    # Below a folder that nobody has: a relative path would ask for this process's own, which may be gone.
    relative = posixpath.relpath(f"/_/_/{target}", f"/_/_/{posixpath.dirname(path)}")
    return f"[{one_line(label)}]({_NOT_IN_LINK.sub(lambda match: quote(match[0], safe=''), relative)})"


def _absolute(relative: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))
