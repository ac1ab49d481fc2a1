"""Which observations an understanding speaks for, so that the synthesis is shown before what it was made of."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.text import normal_name


class SourceCoverage:
    """The observations some understandings cover: those they name as sources, and those of the same subjects that were
    written before them.
    """

    def __init__(self, understandings: Iterable[Entry]) -> None:
        self._sources: set[str] = set()
        self._latest: dict[frozenset[str], str] = {}
        for understanding in understandings:
            self._sources.update(understanding.texts("sources"))
            tagged = _subjects(understanding)
            self._latest[tagged] = max(_written(understanding), self._latest.get(tagged, ""))
        self._latest.pop(frozenset(), None)

    def has(self, entry: Entry) -> bool:
        """Whether one of them covers it."""
        if entry.record_class is not RecordClass.OBSERVATION:
            return False
        if entry.id in self._sources:
            return True
        return bool(self._latest) and _written(entry) < self._latest.get(_subjects(entry), "")


def _subjects(entry: Entry) -> frozenset[str]:
    return frozenset(normal_name(name) for name in entry.subjects)


def _written(entry: Entry) -> str:
    return entry.text("created") or entry.text("observed")
