"""Sets of conversations with questions, in a neutral form, and the vaults that they are asked of."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_tool.files import layout
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.model.records import Observation, Record, Subject, Workspace
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.text import first_sentence

FORM = """
DIR holds corpus.jsonl and queries.jsonl, or folders that do. A row of the corpus: id, conv (what is searched together),
text, time (ISO 8601), speaker, subjects, session. A query: id, conv, question, evidence_ids (none: its answer is not there),
category. A conversation becomes a vault of its own, a row an observation: what was said and by whom, tagged with the
speaker, with its session and time.
"""

_NAMESPACE = uuid.UUID("6f1c5a52-8a5e-4a58-9d4b-6d3c8c0f1a77")
_SLUG = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was said."""

    id: str
    conv: str
    text: str
    time: str
    speaker: str
    subjects: tuple[str, ...]
    session: str


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One question and the rows that answer it."""

    id: str
    conv: str
    question: str
    evidence: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Conversations by name, and the questions asked of them."""

    name: str
    conversations: dict[str, list[Row]]
    queries: tuple[JudgedQuery, ...]


def sets_in(folder: Path) -> Iterator[QuestionSet]:
    """The set of a folder, or of each folder in it."""
    found = [folder] if (folder / "corpus.jsonl").is_file() else sorted(one.parent for one in folder.glob("*/corpus.jsonl"))
    for one in found:
        conversations: dict[str, list[Row]] = {}
        for line in _lines(one / "corpus.jsonl"):
            row = Row(
                str(line["id"]), str(line["conv"]), str(line["text"]), str(line.get("time") or ""),
                str(line.get("speaker") or ""), tuple(map(str, line.get("subjects") or ())), str(line.get("session") or ""),
            )  # fmt: skip
            conversations.setdefault(row.conv, []).append(row)
        queries = tuple(
            JudgedQuery(
                str(line["id"]), str(line["conv"]), str(line["question"]), tuple(dict.fromkeys(map(str, line["evidence_ids"]))),
                str(line.get("category") or ""),
            )
            for line in _lines(one / "queries.jsonl")
        )  # fmt: skip
        yield QuestionSet(one.name, conversations, queries)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def identity(row_id: str) -> str:
    """The id of the observation that a row becomes: the same every time."""
    return str(uuid.uuid5(_NAMESPACE, row_id))


def make_vault(root: Path, name: str, rows: list[Row]) -> None:
    """Write a conversation as a vault: a subject a speaker, an observation a row."""
    root.mkdir(parents=True, exist_ok=True)
    used: set[str] = set()
    for record in _records(name, rows):
        path = place(record, {}, lambda place: place.casefold() in used)
        used.add(path.casefold())
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(render(record))
    # Last, so that a vault which was not finished is none.
    (root / layout.SETTINGS_FILE).write_text("", encoding="utf-8")


def _records(name: str, rows: list[Row]) -> Iterator[Record]:
    begun = _time(rows[0]) or "2024-01-01T00:00:00+00:00"
    yield Workspace(id=identity(name), type="workspace", name=name, created=begun)
    for speaker in dict.fromkeys(row.speaker for row in rows if row.speaker):
        yield Subject(id=identity(f"{name} {speaker}"), type="subject", name=speaker, created=begun)
    for number, row in enumerate(rows):
        observed = _time(row)
        yield Observation(
            id=identity(row.id), type="general", body=row.text, title=first_sentence(row.text),
            subjects=(row.speaker,) if row.speaker else (), observed=observed, created=observed or begun, session=row.session,
            turn=str(number), origin="import", confidence=0.8,
        )  # fmt: skip


def said(row: Row) -> str:
    """A row as plain rankers are given it: who, and what was said."""
    return f"{row.speaker}: {row.text}" if row.speaker else row.text


def vault_folder(folder: Path, name: str, conv: str) -> Path:
    """Where a conversation's vault is made."""
    return folder / f"{_SLUG.sub('-', name)}-{_SLUG.sub('-', conv)}"


def _time(row: Row) -> str | None:
    moment = parse_time(row.time)
    return stamp(moment) if moment else None
