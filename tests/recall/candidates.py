"""Candidates for tests of what recall makes of them."""

from __future__ import annotations

from typing import Any

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.candidate import Candidate


def entry(name: str, record_class: RecordClass = RecordClass.OBSERVATION, type: str = "fact", **head: Any) -> Entry:
    """An entry called `name`."""
    return Entry(f"vault/{name}.md", name, record_class, type, name, head)


def candidate(name: str, words: float = 0.0, cosine: float | None = None, length: int = 10, **head: Any) -> Candidate:
    """A memory in the running."""
    made = entry(name, **head)
    return Candidate(("repo", made.path), made, made.text("session"), words=words, cosine=cosine, length=length)
