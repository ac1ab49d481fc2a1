"""A vault written from a story's `[known.*]` tables, without git: who asks it needs no history."""

from __future__ import annotations

import tomllib
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vault_tool.files import layout
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.model.records import Edge, Observation, Record, Subject, Understanding, Workspace
from vault_tool.util.text import first_sentence

_STORIES = Path(__file__).parent
_NAMESPACE = uuid.UUID(int=20)
_BEGUN = datetime(2026, 8, 3, 9, tzinfo=UTC)


def read(name: str) -> dict[str, Any]:
    """A story as it is written: what is known, and what is asked."""
    return tomllib.loads((_STORIES / f"{name}.toml").read_text(encoding="utf-8"))


def identity(name: str) -> str:
    """The id of what a story calls by this name."""
    return str(uuid.uuid5(_NAMESPACE, name))


def write(root: Path, story: dict[str, Any]) -> None:
    """Write what a story knows as a vault, one memory a day in its order."""
    root.mkdir(parents=True)
    (root / layout.SETTINGS_FILE).write_text("", encoding="utf-8")
    known: dict[str, dict[str, Any]] = story["known"]
    day = _BEGUN.isoformat()
    records: list[Record] = [Workspace(id=identity("workspace"), type="workspace", name="story", created=day)]
    names = dict.fromkeys(name for one in known.values() for name in one["subjects"])
    records += [Subject(id=identity(f"subject {name}"), type="subject", name=name, created=day) for name in names]
    records += [_memory(name, one, _BEGUN + timedelta(days=at)) for at, (name, one) in enumerate(known.items())]
    records += [_link(number, link, day) for number, link in enumerate(story.get("links", ()))]
    used: set[str] = set()
    for record in records:
        path = place(record, {}, lambda place: place.casefold() in used)
        used.add(path.casefold())
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(render(record))


def _memory(name: str, one: dict[str, Any], day: datetime) -> Record:
    text, subjects, created = one["text"], tuple(one["subjects"]), day.isoformat()
    if "understanding" in one:
        return Understanding(
            id=identity(name), type=one["understanding"], title=first_sentence(one.get("summary", text)), body=text,
            subjects=subjects, created=created, summary=one.get("summary", ""), origin="agent",
            sources=tuple(map(identity, one.get("sources", ()))),
        )  # fmt: skip
    return Observation(
        id=identity(name), type=one["kind"], title=first_sentence(text), body=text, subjects=subjects, created=created,
        origin="agent", problem=identity(one["problem"]) if "problem" in one else "", failure_mode=one.get("failure_mode", ""),
        change_targets=tuple(map(identity, one.get("changes", ()))),
    )  # fmt: skip


def _link(number: int, link: dict[str, str], day: str) -> Edge:
    return Edge(
        id=identity(f"link {number}"), type=link["type"], body=f"{link['why']}\n", from_id=identity(link["from"]),
        to_id=identity(link["to"]), created=day, origin="agent",
    )  # fmt: skip
