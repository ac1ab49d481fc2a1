"""Which observations an understanding speaks for, so that the synthesis is shown before what it was made of."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.text import normal_name


def covers(understanding: Entry, observation: Entry) -> bool:
    """Whether an understanding covers an observation: names it as a source, or is of the same subjects and written later."""
    if observation.record_class is not RecordClass.OBSERVATION:
        return False
    if observation.id in understanding.texts("sources"):
        return True
    tagged = _subjects(observation)
    return bool(tagged) and tagged == _subjects(understanding) and _written(observation) < _written(understanding)


def covered(observation: Entry, understandings: Iterable[Entry]) -> bool:
    """Whether any of the understandings covers it."""
    return any(covers(understanding, observation) for understanding in understandings)


def _subjects(entry: Entry) -> frozenset[str]:
    return frozenset(normal_name(name) for name in entry.subjects)


def _written(entry: Entry) -> str:
    return entry.text("created") or entry.text("observed")
