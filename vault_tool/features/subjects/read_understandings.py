"""Reading understandings: what is held now of some subjects, and how one came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from vault_tool.errors import UsageError
from vault_tool.index.relations import members
from vault_tool.index.visibility import visible
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.vault import resolve
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, in_time, looks, verb
from vault_tool.vault.statuses import statuses
from vault_tool.vault.viewer import request_of


class StoredUnderstanding(HasStatus, kw_only=True):
    """One understanding with its provenance."""

    id: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str
    content: str
    generation: int | None
    created: str
    session: str
    model: str
    origin: str
    reason: str
    truth: float
    utility: float
    sources: tuple[str, ...]
    supersedes: tuple[str, ...]
    path: str


class Understandings(Answer, kw_only=True):
    """The answer of `get_understandings`, newest first."""

    results: tuple[StoredUnderstanding, ...]
    notice: str = HYPOTHESIS_NOTICE


class UnderstandingHistory(Answer, kw_only=True):
    """The answer of `get_understanding_history`: from the one asked for back to the first, newest first."""

    id: str
    results: tuple[StoredUnderstanding, ...]
    notice: str = HYPOTHESIS_NOTICE


class ListedObservation(HasStatus, kw_only=True):
    """One observation of a subject, without its text."""

    id: str
    type: str
    title: str
    observed: str
    session: str
    origin: str


class SubjectObservations(Answer, kw_only=True):
    """The answer of `list_observations`, the newest first, of `total` that there are; `months` counts all of them, in order."""

    subject: str
    results: tuple[ListedObservation, ...]
    total: int
    months: tuple[tuple[str, int], ...]


@verb
@looks
def list_observations(vault: Context, subject_name: str, *, limit: int = 50) -> SubjectObservations:
    """The observations on a subject (by name, alias or id) in time: the newest first, at most `limit`, and how many a month."""
    entry = resolve.existing_subject(vault, subject_name)
    observations = [e for e in members(vault.index.catalog, entry) if e.record_class is RecordClass.OBSERVATION]
    newest = sorted(observations, key=lambda entry: (entry.observed_sort_key, entry.id), reverse=True)
    known = statuses(vault, newest[:limit])
    results = tuple(Memory(vault, e, known[e.path]).told(ListedObservation) for e in newest[:limit])
    months = tuple(sorted(Counter(entry.observed[:7] for entry in observations).items()))
    return SubjectObservations(subject=entry.title, results=results, total=len(observations), months=months)


@verb
@looks
@in_time
def get_understandings(vault: Context, subject_names: Sequence[str], *, as_of: str | None = None) -> Understandings:
    """All active understandings tagged with all of the subjects (names, aliases or ids), newest first; `as_of` a time, those of
    then.
    """
    if not subject_names:
        raise UsageError("no subject was named", "name one or several subjects")
    named = [subject_names] if isinstance(subject_names, str) else subject_names
    groups = [resolve.names_for(vault, resolve.existing_subject(vault, name).title) for name in named]
    tagged = vault.index.catalog.tagged(groups)
    request = request_of(vault)
    active = [e for e in tagged if e.record_class is RecordClass.UNDERSTANDING and visible(e, request, "present") is None]
    newest = sorted(active, key=lambda entry: entry.created_sort_key, reverse=True)
    return Understandings(results=_judged(vault, newest))


@verb
@looks
def get_understanding_history(vault: Context, understanding_id: str) -> UnderstandingHistory:
    """An understanding and all that it replaced, newest first, back to the original."""
    entry = resolve.find(vault, understanding_id, (RecordClass.UNDERSTANDING,), begun=True)
    # Stable: of two of one second the one that replaces the other stays before it.
    older = sorted(_replaced(vault, entry), key=lambda other: other.created_sort_key[0], reverse=True)
    return UnderstandingHistory(id=entry.id, results=_judged(vault, [entry, *older]))


def _replaced(vault: Context, entry: Entry) -> Iterator[Entry]:
    """Everything that an understanding supersedes, directly or not, each once."""
    seen, waiting = {entry.id}, [entry]
    while waiting:
        for identity in waiting.pop(0).texts("supersedes"):
            for older in vault.index.catalog.get(identity):
                if older.id not in seen:
                    seen.add(older.id)
                    waiting.append(older)
                    yield older


def _judged(vault: Context, entries: Sequence[Entry]) -> tuple[StoredUnderstanding, ...]:
    believed = vault.standings.beliefs(entries)
    known = statuses(vault, entries, believed=believed)
    return tuple(Memory(vault, entry, known[entry.path], believed[entry.id]).told(StoredUnderstanding) for entry in entries)
