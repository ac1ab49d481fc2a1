"""What small vaults and long days are about: a small vault beside a large one, a busy day, a full month, a result to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from bench.bed import Bed
from bench.figure import Figure
from bench.machine import child

_FEWEST = 20
_STEADY = 25
"""Runs of a call that takes milliseconds, of which the middle one is taken."""
_PARTS = 20
"""One note in so many of the vault that the full month is held against is of this month."""


def beside_a_large_one(bed: Bed) -> Iterator[Figure]:
    """Calls in a small vault, by turns with the same in a large one."""
    if bed.notes >= bed.extent.beside:
        return
    large = bed.beds.of(bed.extent.beside)
    found = child("small", bed.root, bed.identity, large.root, large.identity, max(bed.runs, _STEADY))
    more = {"floor_is": f"the same at {bed.extent.beside:,} notes"}
    for name, what in (("get", "get, warm process"), ("recall", "recall that is counted, warm process")):
        yield bed.figure(f"{name}-small", what, found[name], floor=tuple(found[f"{name}-large"]), **more)


def results(bed: Bed) -> Iterator[Figure]:
    """What ten results cost beside none, as an agent's tool tells them: processor time."""
    found = child("results", bed.root, max(bed.runs, _STEADY))
    what = "recall with ten results as a tool tells it, processor time"
    yield bed.figure("recall-ten", what, found["ten"], floor_is="one without results", floor=tuple(found["none"]))


def day(bed: Bed) -> Iterator[Figure]:
    """A memory more on a day that has none yet, some and many, by turns in three vaults."""
    many = bed.extent.day
    some = max(1, many // 5)
    roots = [bed.beds.vault(f"day-{bed.notes}-{count}", bed.notes) for count in (0, some, many)]
    found = child("day", *roots, some, many, max(bed.runs, _STEADY))
    bed.beds.discard(*roots)
    more = {"floor_is": "the first of a day", "floor": tuple(found["first"])}
    yield bed.figure("day-second", f"one memory after {some:,} of the same day, warm process", found["second"], **more)
    yield bed.figure("day-last", f"one memory after {many:,} of the same day", found["last"], **more)


def month(bed: Bed) -> Iterator[Figure]:
    """A memory more in a month that has many notes, by turns with one in a vault as large whose month has few."""
    many, now = bed.extent.month, datetime.now(UTC)
    beginning = datetime(now.year, now.month, 1, tzinfo=UTC)
    days = max(1, (now - beginning).days)
    full = bed.beds.vault(f"month-{many}", many, beginning, days)
    spread = bed.beds.vault(f"months-{many}", many, beginning - timedelta(days=days * (_PARTS - 1)), days * _PARTS)
    found = child("month", full, spread, max(bed.runs, _STEADY))
    bed.beds.discard(full, spread)
    more = {"floor_is": f"in a month of {max(_FEWEST, many // _PARTS):,}", "floor": tuple(found["few"])}
    yield bed.figure("month", f"one memory in a month of {many:,} notes, warm process", found["many"], **more)


MEASURES: Mapping[Callable[[Bed], Iterator[Figure]], tuple[str, ...]] = {
    beside_a_large_one: ("get-small", "recall-small"),
    results: ("recall-ten",),
    day: ("day-second", "day-last"),
    month: ("month",),
}
