"""The dates of memories that come next: when one is over, and by when a person is to look at one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from vault_tool.index.catalog import Catalog
from vault_tool.index.since import highest, present_of
from vault_tool.index.slight import with_any_field
from vault_tool.index.visibility import visible
from vault_tool.model.fields import OF_ENDS
from vault_tool.model.snapshot import ENDS, Entry
from vault_tool.util.clock import end_of
from vault_tool.util.text import counted, one_line
from vault_tool.vault.answers import NO_ANSWER, HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.resolve import short
from vault_tool.vault.review_dates import review_due
from vault_tool.vault.statuses import statuses
from vault_tool.vault.viewer import request_of

REVIEW_BY = "review_by"
SPAN = timedelta(days=14)
_TITLE = 60


class Coming(NamedTuple):
    """A date of a memory: the moment, which of `OF_ENDS` says it, and how the memory stands now."""

    at: datetime
    field: str
    entry: Entry
    status: HasStatus

    @property
    def words(self) -> str:
        """`expires 2026-11-28`, `holds until 2026-11-28`, `to be looked at by 2026-11-28`."""
        return f"{WORDS[self.field]} {self.entry.text(self.field)[:10]}"


WORDS = {"expires": "expires", "until": "holds until", REVIEW_BY: "to be looked at by"}


def coming(vault: Context, within: timedelta = SPAN) -> list[Coming]:
    """The dates within this span of the memories that are told now, the nearest first, with each look that was missed."""
    now = vault.clock.now()
    last = now + within
    near = [
        (at, field, entry)
        for entry in _Dated.of(vault.index.catalog).memories
        for field, at in _dates(vault, entry, now)
        if at <= last
    ]
    if not near:
        return []
    request = request_of(vault)
    listed = [date for date in near if visible(date[2], request, "listed") is None]
    known = statuses(vault, list({entry.path: entry for _, _, entry in listed}.values()))
    rows = [Coming(at, field, entry, known[entry.path]) for at, field, entry in listed]
    return sorted((row for row in rows if row.status.status not in NO_ANSWER), key=lambda row: (row.at, row.entry.id, row.field))


class _Dated:
    """The memories whose heads say an end or a look, in the memory of a process that stays: what changed is taken in."""

    def __init__(self) -> None:
        self._newest = 0
        self._by_number: dict[int, Entry] = {}

    @classmethod
    def of(cls, catalog: Catalog) -> _Dated:
        """Those of a catalogue as it is."""
        dated: _Dated = catalog.derived("dated", lambda: cls()._followed(catalog), lambda known, _: known._followed(catalog))
        return dated

    @property
    def memories(self) -> Collection[Entry]:
        """These memories, in no order."""
        return self._by_number.values()

    def _followed(self, catalog: Catalog) -> _Dated:
        before, self._newest = self._newest, highest(catalog)
        # A record that is written anew has another number.
        present = present_of(catalog, self._by_number)
        self._by_number = {number: entry for number, entry in self._by_number.items() if number in present}
        self._by_number.update(with_any_field(catalog, *OF_ENDS, above=before))
        return self


def _dates(vault: Context, entry: Entry, now: datetime) -> Iterator[tuple[str, datetime]]:
    for name in ENDS:
        at = end_of(entry.text(name)) if name in entry.head else None
        if at is not None and at > now:
            yield name, at
    if REVIEW_BY in entry.head and (due := review_due(entry, vault.standings.belief_of(entry).reviewed_at)) is not None:
        yield REVIEW_BY, due


def in_a_line(vault: Context) -> str | None:
    """The nearest of them in a line, with how many more there are; None where there is none."""
    rows = coming(vault)
    if not rows:
        return None
    first = rows[0]
    more = f", and {counted(len(rows) - 1, 'more date')} within {SPAN.days} days" if len(rows) > 1 else ""
    return f"{short(vault, first.entry.id)} {one_line(first.entry.title, _TITLE)}: {first.words}{more}"
