"""This tool's own lines of JSON, as another vault gives them: observations, what was understood, subjects, and what took
the place of what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources.foreign_items import (
    ForeignChange,
    ForeignMemory,
    ForeignSubject,
    Item,
    LeftOut,
    Wanted,
    end_moment_of,
    left,
    line_of,
    mapping,
    moment_of,
    names_of,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import first_values
from vault_tool.model.authority import Act, Effect, authority, by_origin
from vault_tool.model.types import CHANGES, KEPT_TYPES, is_type_name
from vault_tool.util.text import unwrap_link

FORMAT = "vault_tool-jsonl"
VERSION = 1


def fits(files: ExportFiles) -> bool:
    """Whether it is one file that begins with the header of the form."""
    if len(files.files) != 1:
        return False
    # A header alone, of an empty vault, is read as an object with its members.
    first = first_values(files.files[0])
    return any(mapping(value).get("format") == FORMAT or (key, value) == ("format", FORMAT) for key, value in first)


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The memories and subjects, and then what took the place of what.

    Judgements, other links and what keeps the other vault's voice are left out and counted.
    """
    changes = _Changes()
    for file in files.files:
        for piece in values(file):
            record = mapping(getattr(piece, "value", None))
            if isinstance(piece, LeftOut):
                yield piece
            elif "format" in record or piece.key in ("format", "version"):
                continue
            elif "class" in record:
                if not changes.note(record):
                    yield _record(record) or left(file, piece.number, "it is no record")
            else:
                kinds = ("journal", "page", "forgotten")
                yield next(
                    (LeftOut(reason=kind) for kind in kinds if kind in record), left(file, piece.number, "it is no record")
                )
    yield from changes.items()


class _Change(NamedTuple):
    """One memory in the place of another: the origin of the writer who says so, the user it is about, and why."""

    origin: str
    user: str = ""
    text: str = ""


class _Changes:
    """The memories of the other vault that took the place of others, by the word of a writer who may say so."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._users: dict[str, str] = {}
        self._changes: dict[tuple[str, str], _Change] = {}

    def note(self, record: Mapping[str, Any]) -> bool:
        """Take in what a record says of it; whether it is a link that says nothing else."""
        head, own = mapping(record.get("head")), line_of(record.get("id"))
        origin, user = line_of(head.get("origin")), line_of(head.get("user"))
        if record["class"] == "edge":
            new, old = unwrap_link(line_of(head.get("from_id"))), unwrap_link(line_of(head.get("to_id")))
            if record.get("type") != CHANGES or not new or not old:
                return False
            self._changes[new, old] = _Change(origin, user, text_of(record.get("content")))
            return True
        self._origins[own], self._users[own] = origin, user
        for old in (*names_of(head.get("change_targets")), *names_of(head.get("supersedes"))):
            self._changes.setdefault((own, unwrap_link(old)), _Change(origin))
        return False

    def items(self) -> Iterator[Item]:
        """Each of them, once all memories are known; what its writer could not decide there is left out here too."""
        for (new, old), change in self._changes.items():
            if new not in self._origins or old not in self._origins:
                continue
            decided = authority(Act.OVERTAKE, by_origin(change.origin), by_origin(self._origins[old])) is Effect.ALLOWED
            user = change.user or self._users[new] or self._users[old]
            text = change.text or "It took the place of this where both came from."
            change_here = ForeignChange(new=_key(new), old=_key(old), text=text, user=user)
            yield change_here if decided else LeftOut(reason="contested-change")


def _key(identity: str) -> str:
    return f"records/{identity}"


def _record(record: Mapping[str, Any]) -> Item | None:
    head, own, kind = mapping(record.get("head")), line_of(record.get("id")), line_of(record.get("type"))
    if record["class"] == "subject" and (name := line_of(head.get("name"))):
        return ForeignSubject(name=name, role=line_of(head.get("role")), summary=line_of(head.get("summary")))
    if record["class"] not in ("observation", "understanding"):
        return LeftOut(reason=line_of(record["class"]) or "bad-record")
    if kind in KEPT_TYPES:
        return LeftOut(reason="kept-text")
    text = text_of(record.get("content"))
    if not text or not own or not is_type_name(kind):
        return None
    return ForeignMemory(
        key=_key(own), text=text, type=kind if record["class"] == "observation" else "insight",
        title=line_of(record.get("title")),
        source_id=own, tags=names_of(record.get("tags")), subjects=names_of(record.get("subjects")),
        created=moment_of(record.get("created")),
        observed=moment_of(head.get("observed")), session=line_of(head.get("session")), user=line_of(head.get("user")),
        project=line_of(head.get("project")), expires=end_moment_of(record.get("expires")),
        until=end_moment_of(head.get("until")), review_by=end_moment_of(head.get("review_by")),
        evidence=names_of(head.get("evidence")),
    )  # fmt: skip
