"""mem0's history of changes (`history.db`): what a memory said before, and what took the place of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import field

from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    Item,
    LeftOut,
    key_of,
    line_of,
    moment_of,
    safe_key,
    text_of,
)

TABLE = "history"
COLUMNS = ("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted")


class _Life(msgspec.Struct):
    """The texts of one memory in their order, each with its moment; and whether mem0 deleted it."""

    texts: dict[str, str] = field(default_factory=dict)
    is_deleted: bool = False

    def add(self, text: str, moment: str) -> None:
        """A text that it has from now on; one that it had before counts from now."""
        self.texts.pop(text, None)
        self.texts[text] = moment


def items(name: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    """The memories of the rows, which stand in the order in which they were written: earlier texts first, then the last."""
    lives: dict[str, _Life] = {}
    for number, row in enumerate(rows, 1):
        own, event = line_of(row.get("memory_id")), line_of(row.get("event")).upper()
        text = text_of(row.get("new_memory"))
        if not own or not (text or event == "DELETE"):
            place = f"{name}/{TABLE}"
            yield LeftOut(reason="bad-record", place=place, line=number, message="a change without a memory or a text")
            continue
        life = lives.setdefault(own, _Life())
        life.is_deleted = event == "DELETE" or row.get("is_deleted") == 1
        at = moment_of(row.get("updated_at")) or moment_of(row.get("created_at"))
        before = text_of(row.get("old_memory"))
        if before and before not in life.texts:
            life.add(before, moment_of(row.get("created_at")))
        if text and event != "DELETE":
            life.add(text, at)
    for own, life in lives.items():
        if life.is_deleted:
            yield LeftOut(reason="deleted")
        else:
            yield from _memories(own, life)


def _memories(own: str, life: _Life) -> Iterator[Item]:
    current = f"memories/{safe_key(own)}"
    *earlier, last = life.texts.items()
    before: tuple[str, ...] = ()
    for text, at in earlier:
        key = f"history/{safe_key(own)}/{key_of(text)}"
        yield ForeignMemory(
            key=key, text=text, source_id=own, type="fact", created=at, observed=at, earlier_of=current, before=before
        )
        before = (key,)
    text, at = last
    yield ForeignMemory(key=current, text=text, source_id=own, type="fact", created=at, observed=at, before=before, only_new=True)
