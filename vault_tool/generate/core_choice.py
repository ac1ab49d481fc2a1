"""Of many memories those that can come to stand on CORE.md: the best of each type and writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from heapq import heappush, heapreplace
from typing import TypeAlias

from vault_tool.generate.core_forms import CoreItem
from vault_tool.generate.core_page import FILL_UP, LEAST_SCORE, SCORE_DIGITS, Order, barred, order, order_of, source, source_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import Registry

# A type, and the one source whose lines it is about.
_Group: TypeAlias = tuple[str, str]


class _Worst:
    """An item in a heap whose least is the one that comes last on the page."""

    __slots__ = ("item", "key")

    def __init__(self, key: Order, item: CoreItem) -> None:
        self.key, self.item = key, item

    def __lt__(self, other: _Worst) -> bool:
        return self.key > other.key


class CoreChoice:
    """The best `most` of each type and source of all that are offered, and of what has faded as many as fill up a page.

    A page of these is the page of all that were offered, as long as no section of it looks further than `most` (`reach` of
    the page says how far one did): whoever was not kept stands behind so many of its own type and source.
    """

    def __init__(self, registry: Registry, as_of: date, most: int) -> None:
        self._registry = registry
        self._as_of = as_of
        # A section has its sources in turn: those that come after what a person stands behind are reached by as many again.
        self._most = 2 * most
        self._kept: dict[_Group, list[_Worst]] = defaultdict(list)
        self._faded: list[_Worst] = []
        self._fresh = 0
        self.whole = True
        """Whether nothing was left out that could stand on the page."""

    def hopeless(self, entry: Entry, score: float, truth: float, reviewed: bool) -> bool:
        """Whether a memory would be left out, whatever else there is to know of it."""
        if score < LEAST_SCORE:
            return self._fresh >= FILL_UP or _is_behind(self._faded, FILL_UP, entry, score, truth)
        if self._fresh < FILL_UP:
            return False
        kept = self._kept[entry.type, source_of(entry, reviewed)]
        if not _is_behind(kept, self._most, entry, score, truth):
            return False
        self.whole = False
        return True

    def offer(self, item: CoreItem) -> None:
        """Keep an item, where it is among the best."""
        if barred(item, self._registry, self._as_of):
            return
        if item.score >= LEAST_SCORE:
            self._fresh += 1
            self._keep(self._kept[item.entry.type, source(item)], self._most, item)
        elif self._fresh < FILL_UP:
            self._keep(self._faded, FILL_UP, item)

    def chosen(self) -> Iterator[CoreItem]:
        """All that were kept, in no order."""
        for kept in (*self._kept.values(), self._faded):
            yield from (one.item for one in kept)

    def _keep(self, kept: list[_Worst], most: int, item: CoreItem) -> None:
        one = _Worst(order(item), item)
        if len(kept) < most:
            heappush(kept, one)
            return
        if kept is not self._faded:
            self.whole = False
        if one.key < kept[0].key:
            heapreplace(kept, one)


def _is_behind(kept: Sequence[_Worst], most: int, entry: Entry, score: float, truth: float) -> bool:
    """Whether `most` better ones are kept: what is quickly told first, for that is so of nearly all."""
    if len(kept) < most:
        return False
    worst = kept[0].key
    rounded = -round(score, SCORE_DIGITS)
    if rounded != worst[0]:
        return rounded > worst[0]
    return -truth > worst[1] if -truth != worst[1] else order_of(entry, score, truth) > worst
