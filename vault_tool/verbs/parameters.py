"""Checks of parameters that several verbs share: each says in one line what is wrong and what would be right."""

from __future__ import annotations

from datetime import datetime, timedelta

from vault_tool.errors import UsageError
from vault_tool.model.types import UNKNOWN_WEIGHT, Registry
from vault_tool.util.clock import parse_time
from vault_tool.util.text import one_line

_DATE_LENGTH = 10


def require_units(**values: float | None) -> None:
    """UsageError naming the first of `values` that is given and not in 0..1."""
    for name, value in values.items():
        if value is not None and not 0 <= value <= 1:
            raise UsageError(f"{name} must be from 0 to 1, not {value:g}", f"for example {name} 0.8")


def require_limit(limit: int | None) -> None:
    """UsageError for a limit under which nothing could be returned; None is no limit."""
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, not {limit}", "for example --limit 5")


def require_moment(text: str, *, ends: bool = False) -> datetime:
    """The moment that a text names; a date that `ends` something is the end of its day. UsageError for what is no time."""
    moment = parse_time(text)
    if moment is None:
        raise UsageError(f"`{one_line(text, 40)}` is not a time", "write it like 2026-11-20 or 2026-11-20T10:00:00+00:00")
    return moment + timedelta(days=1, microseconds=-1) if ends and len(text.strip()) == _DATE_LENGTH else moment


def unknown_type(types: Registry, type: str) -> tuple[str, ...]:
    """What to say of a type that a vault does not know: it may be meant, or mistyped."""
    if types.spec(type).known:
        return ()
    from difflib import get_close_matches  # 3 ms, and only a slip needs it

    near = get_close_matches(type.casefold(), list(types.specs))
    meant = f"; did you mean {', '.join(near)}?" if near else ""
    return (f"`{type}` is not a type of this vault: it is kept as an observation of weight {UNKNOWN_WEIGHT:g}{meant}",)
