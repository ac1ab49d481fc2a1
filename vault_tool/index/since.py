"""The records that were written to a catalogue since a process looked at it, for what follows a change and is not made anew."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.index.database import Database
from vault_tool.util.structs import Struct

# After more changes at once all is read anew.
MANY = 500


class Mark(Struct):
    """How far a catalogue was when it was looked at: the highest number of a record, and how many records it had."""

    number: int
    records: int


def mark_of(catalog: Database) -> Mark:
    """How far a catalogue is."""
    return Mark(highest(catalog), int(catalog.rows("SELECT count(*) FROM entries")[0][0]))


def highest(catalog: Database) -> int:
    """The highest number of a record: each row that is written has a higher one than all before it, those that went too."""
    return int(catalog.rows("SELECT coalesce(max(n), 0) FROM entries")[0][0])


def added_only(catalog: Database, before: Mark, now: Mark) -> list[int] | None:
    """The numbers of the records that came since; None where others went or were replaced, or where too many came."""
    if not 0 <= now.records - before.records <= MANY:
        return None
    numbers = [row[0] for row in catalog.rows("SELECT n FROM entries WHERE n > ?", (before.number,))]
    return numbers if len(numbers) == now.records - before.records else None


def present_of(catalog: Database, numbers: Iterable[int]) -> set[int]:
    """Those of the numbers that records still have."""
    return {row[0] for row in catalog.rows_in("SELECT n FROM entries WHERE n IN ({})", numbers)}


def paths_present(catalog: Database, paths: Iterable[str]) -> set[str]:
    """Those of the paths that records still have."""
    return {row[0] for row in catalog.rows_in("SELECT path FROM entries WHERE path IN ({})", paths)}


def ids_above(catalog: Database, number: int) -> list[str]:
    """The ids of the records whose number is above one: at most one more than `MANY`."""
    return [row[0] for row in catalog.rows("SELECT id FROM entries WHERE n > ? LIMIT ?", (number, MANY + 1))]
