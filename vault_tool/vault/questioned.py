"""The memories that are questioned now, in the memory of a process that stays: what was judged or written since is taken in."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from vault_tool.index import judgements, timeline
from vault_tool.index.catalog import Catalog
from vault_tool.index.relations import supersession
from vault_tool.index.since import MANY, highest, ids_above, paths_present
from vault_tool.model.snapshot import Entry
from vault_tool.vault.context import Context

# Of so many journals that changed at once all are asked anew.
_JOURNALS = 20


class Questioned:
    """Each memory with an open question, by its path; and what is needed to follow a change of the journals or of the notes."""

    def __init__(self, vault: Context) -> None:
        catalog = vault.index.catalog
        self._newest = highest(catalog)
        self._journals = judgements.progress(catalog)
        # A memory of which a question was taken back stays among them: the belief about it says that none is open.
        self._asked = set(timeline.questioned(catalog))
        self._judged_in: dict[str, set[str]] = {}
        self._note(catalog, self._asked)
        self._open = _open_among(vault, self._asked)

    @classmethod
    def of(cls, vault: Context) -> Questioned:
        """Those of a vault as it is."""
        questioned: Questioned = vault.index.catalog.derived(
            "questioned", lambda: cls(vault), lambda known, _: known._followed(vault)
        )
        return questioned

    @property
    def ids(self) -> Collection[str]:
        """The ids of these memories."""
        return frozenset(self._open.values())

    def unsettled(self, catalog: Catalog) -> list[str]:
        """The paths of those that nothing supersedes."""
        gone = supersession(catalog)
        return [path for path, identity in self._open.items() if identity not in gone]

    def _followed(self, vault: Context) -> Questioned:
        """The same with what changed since, by whatever process."""
        catalog = vault.index.catalog
        before, self._newest = self._newest, highest(catalog)
        written, journals = ids_above(catalog, before), judgements.progress(catalog)
        changed = {path for path in journals.keys() | self._journals if journals.get(path) != self._journals.get(path)}
        if self._newest < before or len(written) > MANY or len(changed) > _JOURNALS:
            return Questioned(vault)
        self._journals = journals
        affected = set(written) & self._asked
        for path in changed:
            affected |= self._judged_in.pop(path, set())
        asked = set(timeline.questioned(catalog, changed)) if changed else set()
        came, self._asked = asked - self._asked, self._asked | asked
        judged = judgements.judged_in(catalog, changed) & self._asked
        affected |= judged
        self._note(catalog, came | judged)
        present = paths_present(catalog, self._open)
        still_open = {path: identity for path, identity in self._open.items() if path in present and identity not in affected}
        self._open = {**still_open, **_open_among(vault, affected)}
        return self

    def _note(self, catalog: Catalog, ids: Iterable[str]) -> None:
        """Note in which journals memories were judged."""
        for path, target in judgements.journals_of(catalog, ids):
            self._judged_in.setdefault(path, set()).add(target)


def _open_among(vault: Context, ids: Collection[str]) -> dict[str, str]:
    """The memories of these ids about which a question is open: path and id."""
    entries: list[Entry] = timeline.entries_of(vault.index.catalog, ids)
    judged = vault.standings.judged_each(entries)
    return {entry.path: entry.id for entry, belief in judged if belief.questionable or belief.told}
