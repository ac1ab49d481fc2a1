"""Values that understandings and subjects alone decide: kept while observations come, which most writes are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vault_tool.index.catalog import Catalog
from vault_tool.index.database import marks
from vault_tool.index.since import Mark, added_only, mark_of
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct

T = TypeVar("T")

_OTHERS = "SELECT 1 FROM entries WHERE n IN ({}) AND class <> ? LIMIT 1"


class _Kept(Struct):
    """A value, with how far the catalogue was and which supersessions had no authority then."""

    mark: Mark
    barred: frozenset[tuple[str, str]]
    value: Any


def unless_observations(catalog: Catalog, name: str, make: Callable[[], T], carried: Callable[[T], T] = lambda value: value) -> T:
    """The value of `make`, which no observation changes: made anew where anything else came, went or was replaced, and else
    `carried` on.
    """

    def follow(state: _Kept, _: object) -> _Kept:
        now, barred = mark_of(catalog), catalog.barred()
        came = added_only(catalog, state.mark, now)
        if came is None or barred != state.barred:
            return _Kept(now, barred, make())
        others = came and catalog.rows(_OTHERS.format(marks(came)), (*came, RecordClass.OBSERVATION.value))
        return _Kept(now, barred, make() if others else carried(state.value))

    state: _Kept = catalog.derived(name, lambda: _Kept(mark_of(catalog), catalog.barred(), make()), follow)
    value: T = state.value
    return value
