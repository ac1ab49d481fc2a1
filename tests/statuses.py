"""What a result's status says of a memory, by one word of it."""

from __future__ import annotations

from vault_tool.vault.answers import HasStatus


def said(one: HasStatus, word: str) -> tuple[str, ...]:
    """The ids of what makes a memory so, as its status or as a mark; nothing where it is not so."""
    if one.status == word:
        return one.status_by or ("it is",)
    return next((mark.by or ("it is",) for mark in one.marks if mark.mark == word), ())


def why(one: HasStatus, word: str) -> str:
    """The words for that; empty where it is not so."""
    return one.status_why if one.status == word else next((mark.why for mark in one.marks if mark.mark == word), "")


def overtaken_by(one: HasStatus) -> str | None:
    """The newest change of what a memory says."""
    return next(iter(said(one, "overtaken")), None)
