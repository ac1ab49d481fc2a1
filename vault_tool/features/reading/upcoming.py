"""`upcoming`: what is over soon, and what a person is to look at, the nearest first."""

from __future__ import annotations

from typing import Any

from vault_tool.vault.answers import HYPOTHESIS_NOTICE, Headline
from vault_tool.vault.coming import WORDS, Coming, coming
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.lean import Short, answer, leaned, provenance_note, title_if_new, without_empty
from vault_tool.vault.parameters import require_span
from vault_tool.vault.request import Answer, for_user, looks, verb

WITHIN = "14d"
_LIMIT = 50


class UpcomingDate(Headline, kw_only=True):
    """A memory with a date that comes: `field` (expires, until, review_by) says it and `at` is what it says.

    `days` are those until then, 0 for what is today, below 0 for a look that was missed.
    """

    field: str
    at: str
    days: int
    origin: str
    reviewed: bool
    path: str

    @property
    def words(self) -> str:
        """The date in words: `expires 2026-11-28`."""
        return f"{WORDS[self.field]} {self.at[:10]}"

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that an agent needs."""
        return without_empty({
            "id": short(self.id), "type": self.type, **title_if_new(self.title, self.summary or ""), "subjects": self.subjects,
            self.field: self.at, "days": self.days, **self.lean_status(short), **provenance_note(self.origin, self.reviewed),
        })  # fmt: skip


class Upcoming(Answer, kw_only=True):
    """The dates that come within a span, the nearest first, at most `limit` of `total`."""

    results: tuple[UpcomingDate, ...]
    total: int
    within: str
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The results, and how many there are."""
        return {**answer(leaned(self.results, short), ()), "total": self.total}


@verb
@looks
@for_user
def upcoming(vault: Context, within: str = WITHIN, *, user: str | None = None, limit: int = _LIMIT) -> Upcoming:
    """The memories that are over within a span (`14d`; h, d, w, m, y), and those that a person is to look at by then.

    The nearest first: what was to be looked at before now stands at the beginning until one does.
    """
    rows = coming(vault, require_span(within))
    results = tuple(_told(vault, row) for row in rows[:limit])
    return Upcoming(results=results, total=len(rows), within=within)


def _told(vault: Context, row: Coming) -> UpcomingDate:
    days = (row.at - vault.clock.now()).days
    return Memory(vault, row.entry, row.status).told(UpcomingDate, field=row.field, at=row.entry.text(row.field), days=days)
