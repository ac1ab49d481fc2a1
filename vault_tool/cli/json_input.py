"""JSON that a person or a program gives on the command line or on standard input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault_tool.errors import UsageError


def objects(text: str | None, field: str) -> list[Mapping[str, Any]]:
    """The objects of a JSON list; `field` is one that each has, for the hint. Nothing given is an empty list."""
    from vault_tool.util.json_text import flaw_in, read_given, shown_place  # 20 ms, and few commands need it

    example = f"""write it like '[{{"{field}": "..."}}]'"""
    try:
        found = read_given(text) if text else []
    except ValueError as fault:
        raise UsageError(f"this is not JSON: {fault}", example) from fault
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UsageError("this is JSON, but not a list of objects", example)
    if (flaw := flaw_in(found)) is not None:
        raise UsageError(f"{shown_place(flaw.place)} {flaw.message}", flaw.hint)
    return found
