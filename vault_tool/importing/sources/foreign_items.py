"""The items of an export: memories, subjects and pages, and what is left out of it by a reason."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from vault_tool.errors import Refused
from vault_tool.files.export_files import ExportFile
from vault_tool.files.repository_rules import RepositoryRules
from vault_tool.importing.dates import read_date
from vault_tool.util.clock import stamp, until
from vault_tool.util.json_stream import Piece, pieces
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# Seconds and milliseconds since 1970, from 1990 to 2200.
_SECONDS = (631_152_000, 7_258_118_400)
# How a text begins that says what a person wants.
_WISH = re.compile(
    r"(?:the )?(?:user )?(?:strongly |generally |usually )?"
    r"(?:prefers?|preferred|likes?|loves?|wants?|dislikes?|hates?|always|never|avoids?|don'?t|do not|please|asks? for)\b",
    re.IGNORECASE,
)
_OF_WISHES = re.compile(r"preference|instruction|style|tone|how to respond|likes", re.IGNORECASE)


class ForeignMemory(Struct, kw_only=True):
    """A memory of another tool. `key` is its name in the export, the same in every export of it; `source_id` the tool's own id.

    `created` may be empty, and is then the file's own time; `observed` is when it was so. `before` are keys of memories that this
    one replaces.
    """

    key: str
    text: str
    type: str = "fact"
    title: str = ""
    source_id: str = ""
    tags: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    observed: str = ""
    created: str = ""
    session: str = ""
    user: str = ""
    project: str = ""
    expires: str = ""
    until: str = ""
    review_by: str = ""
    evidence: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    @property
    def moment(self) -> str:
        """The time by which it is asked for."""
        return self.observed or self.created

    # The key of the memory that this is an earlier text of: its user, subjects, project and session are that one's.
    earlier_of: str = ""
    # One that is here already stays as it is: another export says more of it.
    only_new: bool = False

    def source(self) -> bytes:
        """The bytes of its words, whose hash tells whether it changed: without what the next export may say otherwise of it."""
        words = (self.text, self.type, self.title, self.tags, self.session, self.user, self.project, self.expires,
                self.evidence, self.before)  # fmt: skip
        # Only where there is one: what was taken in before there were such fields is the same as then.
        ends = (self.until, self.review_by) if self.until or self.review_by else ()
        return repr((*words, *ends)).encode("utf-8", "replace")


class ForeignSubject(Struct, kw_only=True):
    """A thing that memories of another tool are about."""

    name: str
    role: str = ""
    summary: str = ""


class ForeignPage(Struct, kw_only=True):
    """A text that stays a page: `path` is its place below the import's own folder; a chat's is the same in every export."""

    path: str
    text: str
    title: str = ""
    chat: bool = False
    created: str = ""
    source_id: str = ""
    # The bytes as they are, where the page is to be a copy.
    data: bytes | None = None


class ForeignNote(Struct, kw_only=True):
    """A note of markdown that becomes a record with all its bytes: `path` is its place, `key` its name in the export."""

    key: str
    path: str
    data: bytes
    source_id: str = ""
    subjects: tuple[str, ...] = ()
    written_at: str = ""


class LeftOut(Struct, kw_only=True):
    """A part that is not taken, counted by its reason; without a message it is as it should be and is not named."""

    reason: str
    place: str = ""
    line: int = 0
    message: str = ""
    hint: str = ""
    count: int = 1


class Remark(Struct, kw_only=True):
    """A sentence for a person on the export as a whole."""

    text: str


class ForeignChange(Struct, kw_only=True):
    """The memory of one key took the place of that of another; it comes after both. `text` says why."""

    new: str
    old: str
    text: str = ""
    user: str = ""


Item = ForeignMemory | ForeignSubject | ForeignPage | ForeignNote | ForeignChange | LeftOut | Remark


class Wanted(Struct, kw_only=True):
    """A person's wishes for a reading: chats and all kinds of memories too; `project_of` names the project of a folder, and
    `rules_of` gives the rules of the repository that a folder lies in.
    """

    chats: bool = False
    all_kinds: bool = False
    project_of: Callable[[str], str] = lambda folder: folder.rstrip("/").rpartition("/")[2]
    rules_of: Callable[[str], RepositoryRules | None] = lambda _: None


def values(file: ExportFile) -> Iterator[Piece | LeftOut]:
    """The pieces of a JSON file; each that cannot be read is left out by its number, and so is the rest of a torn file."""
    try:
        with file.opened() as stream:
            for piece in pieces(stream):
                if piece.fault:
                    yield left(file, piece.number, piece.fault)
                else:
                    yield piece
    except Refused as fault:
        yield LeftOut(reason="torn", place=file.path, message=fault.message, hint=fault.hint)


def left(file: ExportFile, number: int, why: str, reason: str = "bad-record") -> LeftOut:
    """An item of a file that cannot be taken, by its number."""
    return LeftOut(reason=reason, place=file.path, line=number, message=why)


def text_of(value: Any) -> str:
    """A value as a text that a note can hold; empty for what is no text."""
    return _UNWRITABLE.sub("", value).replace("\r\n", "\n").replace("\r", "\n").strip() if isinstance(value, str) else ""


def line_of(value: Any, limit: int = 200) -> str:
    """A value as one line; a number is written out."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return one_line(text_of(value), limit)


def names_of(value: Any) -> tuple[str, ...]:
    """A list of texts, or one with commas, as names, each once."""
    parts: Iterable[Any] = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    return tuple(dict.fromkeys(name for part in parts if (name := line_of(part, 80))))


def moment_of(value: Any) -> str:
    """A time as others write it (ISO, a date, seconds or milliseconds since 1970); empty where it is none, or no possible one."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        seconds = value / 1000 if abs(value) > _SECONDS[1] else value
        return stamp(datetime.fromtimestamp(seconds, UTC)) if _SECONDS[0] <= seconds <= _SECONDS[1] else ""
    moment = read_date(value) if isinstance(value, str) else None
    return stamp(moment) if moment is not None and 1990 <= moment.year <= 2200 else ""


def end_moment_of(value: Any) -> str:
    """The moment until which something is so, by a day alone its last second; empty where it is none."""
    return (until(value) or "") if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """A value as an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """A value as a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def key_of(*parts: str) -> str:
    """A name for a text that its tool gave no id: made of what it says, whatever its spaces and case."""
    words = "\0".join(" ".join(part.split()).casefold() for part in parts)
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:24]


def safe_key(text: str) -> str:
    """A tool's own id as part of a path: as it is where it is plain, else its hash."""
    return text if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,79}", text, re.ASCII) and ".." not in text else key_of(text)


def kind_of(text: str, heading: str = "") -> str:
    """`preference` for what a person wants, by the heading that it stands below or by how it begins; else `fact`."""
    return "preference" if _OF_WISHES.search(heading) or _WISH.match(text.lstrip("*_ ")) else "fact"
