"""By how much CORE.md is behind: what `status` and `doctor` tell of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date

from vault_tool.files.layout import CORE_FILE
from vault_tool.index.page_choice import present_count
from vault_tool.index.relations import supersession
from vault_tool.model.problems import Problem, note
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.contests import all_overtaken
from vault_tool.vault.context import Context
from vault_tool.vault.core_of_day import made


class CoreAge(Struct):
    """By how many memories and days CORE.md is behind."""

    memories: int = 0
    days: int = 0

    def __str__(self) -> str:
        parts = [counted(self.memories, "memory", "memories"), *([counted(self.days, "day")] if self.days else [])]
        return f"{' and '.join(parts)} behind"


def behind(vault: Context) -> CoreAge:
    """By how much the file is behind: as many memories more or fewer than it was made of, and the days since, where it is."""
    known = made(vault.root)
    if known is None:
        return CoreAge()
    vault = vault.seen_by("")
    catalog = vault.index.catalog
    memories = abs(present_count(catalog, supersession(catalog), all_overtaken(vault)) - known[1])
    today = vault.clock.now().astimezone(UTC).date()
    return CoreAge(memories, max(0, (today - date.fromisoformat(known[0])).days)) if memories else CoreAge()


def found_behind(vault: Context) -> Iterator[Problem]:
    """A note that the file is behind since an earlier day: on the same day it always is."""
    age = behind(vault)
    if age.days:
        yield note(
            CORE_FILE, 0, "core-behind", f"{age}: the next day's first write makes it anew", f"{step('core')} makes it now"
        )
