"""The memory as the graph of the memory server: its subjects as entities, with what was observed of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vault_tool.features.exports.outgoing import OVER, Outgoing
from vault_tool.index.relations import names_of
from vault_tool.model.types import RecordClass
from vault_tool.util.text import normal_name
from vault_tool.vault.context import Context

FORM = "server-memory"


def graph(
    vault: Context, since: str | None, subjects: Sequence[str], *, with_hidden: bool
) -> tuple[list[Mapping[str, Any]], Mapping[str, int], Outgoing]:
    """The entities, how much they hold, and what may leave and what has no place there.

    A subject to which only what is hidden or about a user leads is no entity for its name alone.
    """
    out = Outgoing(vault, since, subjects, (RecordClass.OBSERVATION,), with_hidden=with_hidden)
    catalog = out.seen.index.catalog
    names = {name: entry for entry in catalog.of_class(RecordClass.SUBJECT) for name in names_of(entry)}
    shown = vault.seen_by("").index.catalog.of_class(RecordClass.SUBJECT) if not subjects else ()
    texts: dict[str, list[str]] = {entry.text("name"): [] for entry in shown}
    observations = 0
    for memory in sorted(out.leaving, key=lambda each: each.entry.id):
        tagged = [names[name].text("name") for name in map(normal_name, memory.entry.subjects) if name in names]
        if not tagged:
            out.left_out["without a subject"] += 1
        elif memory.is_over:
            # The form has no field that says so.
            out.left_out[OVER] += 1
        else:
            observations += 1
            for name in tagged:
                texts.setdefault(name, []).append(memory.body.strip())
    lines: list[Mapping[str, Any]] = [
        {"type": "entity", "name": name, "entityType": names[normal_name(name)].text("role") or "subject", "observations": each}
        for name, each in sorted(texts.items())
    ]
    out.lost()
    out.without_place(RecordClass.UNDERSTANDING, "understandings")
    return lines, {"observations": observations, "entities": len(lines)}, out
