"""`_state.json`: each memory's use, decay, truth and utility, as verbs computed them; written whole, read only when intact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from vault_tool.files.layout import CACHE, STATE_FILE
from vault_tool.files.local_trust import place
from vault_tool.index.seals import IndexState, SealedFile, lock

VERSION = 1

# How we write the file: an id, and numbers that hold no braces.
_BEGINNING = b'{"version":%d,' % VERSION
_ENTRY = rb'("(?:[^"\\]|\\.)*"):(\{[^{}]*\})'


@dataclass(frozen=True, slots=True)
class StateRow:
    """One memory's derived numbers; `last_accessed` is empty for one that was never used."""

    access_count: int = 0
    last_accessed: str = ""
    decay_score: float = 0.0
    truth: float = 0.0
    utility: float = 0.0


@dataclass(frozen=True, slots=True)
class StateFile:
    """`_state.json` of one vault."""

    root: Path

    @contextmanager
    def alone(self, wait: float = 10.0) -> Iterator[None]:
        """Keep other processes from writing the file: who computes outside may replace what is newer. Raises Busy."""
        with lock(place(self.root) / CACHE / "state.lock", wait, STATE_FILE):
            yield

    def write(self, entries: Mapping[str, StateRow], updated: str, *, of: str = "") -> None:
        """Replace the file and vouch for it as made `of` a state of what is read for it; while `alone`. Raises StorageError."""
        frame = orjson.dumps({"version": VERSION, "updated": updated, "entries": {}}).removesuffix(b"}}")
        # One by one: as a whole a hundred thousand take 100 MB more.
        rows = b",".join(b"%s:%s" % (orjson.dumps(record_id), orjson.dumps(row)) for record_id, row in sorted(entries.items()))
        self._file.replace(b"%s%s}}\n" % (frame, rows), of)

    def of(self) -> str:
        """What it was written of."""
        return self._file.nonce()

    def intact(self) -> bool:
        """Whether the file is as we left it: else its entries must be computed again."""
        return self._file.state() is IndexState.INTACT

    def read(self) -> dict[str, StateRow] | None:
        """The entries by id, or None for a file that is missing, torn, foreign or of another version."""
        said = self._file.json()
        try:
            if said["version"] != VERSION:
                return None
            return {record_id: StateRow(**values) for record_id, values in said["entries"].items()}
        except (KeyError, TypeError, AttributeError):
            return None

    def each(self) -> Iterator[tuple[str, StateRow]]:
        """The entries one by one, none where `read` gives None: as a whole a hundred thousand take 190 MB."""
        if not self.intact():
            return
        try:
            data = self._file.path.read_bytes()
            if data.startswith(_BEGINNING):
                for found in re.finditer(_ENTRY, data):
                    yield orjson.loads(found[1]), StateRow(**orjson.loads(found[2]))
        except (OSError, ValueError, TypeError):
            return

    @property
    def _file(self) -> SealedFile:
        return SealedFile(self.root / STATE_FILE, place(self.root) / CACHE / "state.seal")
