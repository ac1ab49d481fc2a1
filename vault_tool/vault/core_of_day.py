"""CORE.md with the first write of a day: where it is of an earlier day, it is made anew in that write's own commit."""

from __future__ import annotations

import re
from datetime import UTC
from pathlib import Path

from vault_tool.errors import VaultError
from vault_tool.files import git
from vault_tool.files.layout import CORE_FILE
from vault_tool.vault import page_at_start
from vault_tool.vault.context import Context

_HEAD = 400
_HEADER = re.compile(rb"^> Last updated: (\d{4}-\d\d-\d\d) \| Active memories: (\d+)(?:/(\d+))?", re.MULTILINE)


def made(root: Path) -> tuple[str, int] | None:
    """The day of the file, and of how many memories it was made; None where there is none that says so."""
    try:
        with (root / CORE_FILE).open("rb") as page:
            header = _HEADER.search(page.read(_HEAD))
    except OSError:
        return None
    return (header[1].decode(), int(header[3] or header[2])) if header else None


def is_due(vault: Context) -> bool:
    """Whether the file is of an earlier day (UTC)."""
    known = made(vault.root)
    return known is not None and known[0] < vault.clock.now().astimezone(UTC).date().isoformat()


def text_of_day(vault: Context) -> str | None:
    """The text that the file has from now on; None where it cannot be told at once, or not as long as git is in the middle of
    something: the next write asks again.
    """
    try:
        if vault.fresh().held_back or (vault.repo is not None and git.obstacle(vault.repo)):
            return None
        return page_at_start.tracked_page(vault)
    except VaultError:
        # No write fails for it.
        return None
