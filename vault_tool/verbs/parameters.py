"""Checks of parameters that several verbs share: each says in one line what is wrong and what would be right."""

from __future__ import annotations

from vault_tool.errors import UsageError


def require_units(**values: float | None) -> None:
    """UsageError naming the first of `values` that is given and not in 0..1."""
    for name, value in values.items():
        if value is not None and not 0 <= value <= 1:
            raise UsageError(f"{name} must be from 0 to 1, not {value:g}", f"for example {name} 0.8")


def require_limit(limit: int | None) -> None:
    """UsageError for a limit under which nothing could be returned; None is no limit."""
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, not {limit}", "for example --limit 5")
