"""JSON that a person or a program gives on the command line or on standard input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vault_tool.errors import UsageError
from vault_tool.util.deferred import deferred

if TYPE_CHECKING:
    from vault_tool.util import json_text
else:
    json_text = deferred("vault_tool.util.json_text")  # 20 ms, and few commands need it


def objects(text: str | None, field: str) -> list[Mapping[str, Any]]:
    """The objects of a JSON list; `field` is one that each has, for the hint. Nothing given is an empty list."""
    example = f"""write it like '[{{"{field}": "..."}}]'"""
    try:
        values = json_text.read_given(text) if text else []
    except ValueError as fault:
        raise UsageError(f"this is not JSON: {fault}", example) from fault
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise UsageError("this is JSON, but not a list of objects", example)
    if (flaw := json_text.flaw_in(values)) is not None:
        raise UsageError(f"{json_text.shown_place(flaw.place)} {flaw.message}", flaw.hint)
    return values
