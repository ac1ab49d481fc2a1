"""Ends that lie before their beginning: a memory that is over before its own time is found by no question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vault_tool.check.scope import Scope
from vault_tool.model.fields import OF_ENDS
from vault_tool.model.problems import Problem, warning
from vault_tool.model.types import MEMORIES
from vault_tool.util.clock import end_of, parse_time
from vault_tool.util.text import one_line

CODE = "ends-before-its-time"


def too_early(head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields of a head that say an end no later than the memory's own time, each with what is to be told of it."""
    if not any(name in head for name in OF_ENDS):
        return
    own = str(head.get("observed") or head.get("created") or "")
    begins = parse_time(own)
    for name in OF_ENDS:
        end = head.get(name)
        over = end_of(end) if begins and isinstance(end, str) else None
        if over is not None and begins is not None and over <= begins:
            yield name, f"{name} `{one_line(str(end), 40)}` is no later than the memory itself, which is of {own}"


def ends_before_its_time(scope: Scope) -> Iterable[Problem]:
    """Memories whose end is no later than their own time."""
    for entry in scope.snapshot.entries:
        if entry.record_class in MEMORIES:
            for _, message in too_early(entry.head):
                yield warning(entry.path, 0, CODE, message, "put the right date there in an editor")
