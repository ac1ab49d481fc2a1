"""The passes of consolidation as far as whoever writes must know them: which is open, and what was new to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_tool.consolidation import ledger
from vault_tool.index.relations import Region, Regions, active, regions_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import moment
from vault_tool.util.structs import Struct
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context


class Passes(Struct):
    """The passes of consolidation: the newest ones, the one that is not ended, and when the last one began ("" for never)."""

    generation: int
    heads: tuple[Entry, ...]
    all: tuple[Entry, ...]
    open: Entry | None

    @property
    def last(self) -> str:
        """When the last pass began."""
        return max((entry.text("created") for entry in self.heads), default="", key=moment)


def passes(vault: Context) -> Passes:
    """The passes as the catalogue has them, kept until it changes. Indexes must be fresh."""
    return vault.index.catalog.derived("passes", lambda: _read(vault))


def _read(vault: Context) -> Passes:
    ledgers = vault.index.catalog.of_class(RecordClass.CONSOLIDATION)
    named = {parent for entry in ledgers for parent in entry.texts("parents")}
    # Parents that name each other in a circle, as a merge by hand may leave them, leave no head: then all are.
    heads = tuple(entry for entry in ledgers if entry.id not in named) or ledgers
    unended = [entry for entry in heads if not ledger.read(body_of(vault, entry)).ended]
    newest = max(unended, key=lambda e: (e.generation or 0, e.created_sort_key), default=None)
    return Passes(vault.index.catalog.generation(), heads, ledgers, newest)


def items_of(vault: Context, ledger_entry: Entry) -> list[Entry]:
    """The memories that were new to a pass and are still there, from its ledger."""
    catalog = vault.index.catalog
    items: list[Entry] = []
    for start in ledger.lines(body_of(vault, ledger_entry)):
        # Two where another id has the same beginning by now: better one too many than one lost.
        items.extend(catalog.by_prefix(start, limit=2))
    return active(catalog, items)


def spoken_of(vault: Context, entry: Entry, regions: Regions) -> Iterator[Sequence[Region]]:
    """The subjects of each understanding that an observation was related to: it makes these due, whatever it is tagged with."""
    for target in entry.texts("related_to") if entry.record_class is RecordClass.OBSERVATION else ():
        yield from (
            regions.of(view) for view in vault.index.catalog.get(target) if view.record_class is RecordClass.UNDERSTANDING
        )


def settled_by(vault: Context, kind: str, names: Sequence[str]) -> str:
    """The id of the open pass to which an understanding of these subjects belongs, for it settles or concerns a packet of it;
    empty where none does. An orientation does, and counts where it comes last. Indexes must be fresh.
    """
    open_ledger = passes(vault).open
    if open_ledger is None:
        return ""
    if kind == "orientation":
        return open_ledger.id
    new = frozenset(ledger.lines(body_of(vault, open_ledger)))
    return open_ledger.id if any(ledger.known(entry.id) in new for entry in _concerning(vault, names)) else ""


def _concerning(vault: Context, names: Sequence[str]) -> list[Entry]:
    """The active memories that are tagged with all of these subjects, or were related to an understanding that is."""
    catalog = vault.index.catalog
    regions = regions_of(catalog)
    tagged = catalog.tagged([regions.called(name).names for name in names])
    views = [entry.id for entry in tagged if entry.record_class is RecordClass.UNDERSTANDING]
    pointing = catalog.pointing_at_each(views, ("related_to",)).values() if views else ()
    related = [entry for references in pointing for _, entry in references if entry.record_class is RecordClass.OBSERVATION]
    return active(catalog, [*tagged, *related])
