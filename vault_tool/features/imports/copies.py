"""The copies that earlier runs of an import made: found by where their source lay, or by what it held once it has moved."""

from __future__ import annotations

from collections.abc import Callable

from vault_tool.importing.notes import FROM, SOURCE_HASH
from vault_tool.index.catalog import Catalog
from vault_tool.util.structs import Struct


class Copy(Struct):
    """One copy: its id, where its source lay in the imported folder, and the hash that the source had."""

    id: str
    source: str
    digest: str


class ImportedCopies:
    """The copies of the import called `name`; those whose source `exists` no more are lost until a note turns out to be it."""

    def __init__(self, catalog: Catalog, name: str, exists: Callable[[str], bool] | None) -> None:
        rows = catalog.heads_with(FROM, f"{name}/", SOURCE_HASH)
        every = [Copy(identity, label[len(name) + 1 :], digest) for identity, label, digest in rows]
        self._by_source = {copy.source: copy for copy in every}
        self.lost = {copy.id: copy for copy in every if exists is not None and not exists(copy.source)}
        self._by_digest: dict[str, list[Copy]] = {}
        for copy in self.lost.values():
            self._by_digest.setdefault(copy.digest, []).append(copy)

    def __bool__(self) -> bool:
        return bool(self._by_source)

    def of(self, source: str) -> str:
        """The id of the copy of the note at `source`, or nothing."""
        copy = self._by_source.get(source)
        return copy.id if copy else ""

    def moved(self, own: str, digest: str) -> Copy | None:
        """The one lost copy that a note must be of: by the note's `own` id, else by its hash where only one has it."""
        same = [copy for copy in self._by_digest.get(digest, ()) if copy.id in self.lost]
        copy = self.lost.get(own) or (same[0] if len(same) == 1 else None)
        return self.lost.pop(copy.id) if copy else None
