"""Which texts were searched for secrets and held none: a search is made once a text, not once a `doctor`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import orjson

from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import CACHE
from vault_tool.files.local_trust import place
from vault_tool.index.seals import SealedFile, lock
from vault_tool.util.structs import Struct


class Screened(Struct):
    """The content hashes of clean files under one set of rules (`rules`, any text that changes when they do)."""

    root: Path
    rules: str

    def clean(self) -> frozenset[str]:
        """The hashes of what held nothing; none of them where the list is missing, spoilt or of other rules."""
        try:
            return frozenset(self._file.json(self.rules) or ())
        except TypeError:
            return frozenset()

    def keep(self, hashes: Iterable[str], wait: float = 1.0) -> None:
        """Replace the list; what cannot be written now is searched again the next time."""
        with suppress(Busy, StorageError), lock(place(self.root) / CACHE / "screened.lock", wait, "screened.json"):
            self._file.replace(orjson.dumps(sorted(hashes)), self.rules, synced=False)

    @property
    def _file(self) -> SealedFile:
        return SealedFile(place(self.root) / CACHE / "screened.json", place(self.root) / CACHE / "screened.seal")
