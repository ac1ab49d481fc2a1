"""The guaranteed order of results: a change before the memory it overtook, an understanding before its sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.candidate import Candidate, Key
from vault_tool.recall.question import telling_words
from vault_tool.util.text import normal_name

CHANGE = "change"

_BEFORE = 1.001
# An understanding that matches less than this is not put before its sources.
MIN_SYNTHESIS_MATCH = 0.2

# A change in one project, or for one user, overtakes nothing of another.
_OF = ("project", "user")

# A change restates an older memory if it has at least so many of its telling words, and at least this part of them.
_SAME_WORDS = {2: 0.6, 3: 0.5}


def superseded_by_change(candidates: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """Each observation with each later change of the same thing in the same words, even if no link joins them."""
    changes = [candidate for candidate in candidates if candidate.entry.type == CHANGE]
    if not changes:
        return []
    words = {candidate.key: telling_words(candidate.entry.preview) for candidate in candidates}
    return [
        (candidate, change)
        for change in changes
        for candidate in candidates
        if candidate.key[0] == change.key[0]
        and _is_later(change.entry, candidate.entry)
        and _same(change.entry, candidate.entry, words[change.key], words[candidate.key])
    ]


def newest_changes(pairs: Iterable[tuple[Candidate, Candidate]]) -> Mapping[Key, Candidate]:
    """The newest change that overtook each candidate, by the candidate's key."""
    newest: dict[Key, Candidate] = {}
    for candidate, change in pairs:
        known = newest.get(candidate.key)
        if known is None or change.entry.observed_sort_key > known.entry.observed_sort_key:
            newest[candidate.key] = change
    return newest


def before(candidates: Sequence[Candidate], changed: Iterable[tuple[Candidate, Candidate]]) -> list[tuple[Candidate, Candidate]]:
    """Pairs whose first must precede the second: each change before what it overtook (`changed`), the newest first, and each
    understanding that bears on the question before the observations that it was made from.
    """
    pairs = [(change, candidate) for candidate, change in sorted(changed, key=lambda pair: pair[1].entry.observed_sort_key)]
    by_id = {candidate.entry.id: candidate for candidate in candidates if candidate.entry.record_class is RecordClass.OBSERVATION}
    for candidate in candidates:
        if candidate.entry.record_class is RecordClass.UNDERSTANDING and candidate.match >= MIN_SYNTHESIS_MATCH:
            covered = [by_id[source] for source in candidate.entry.texts("sources") if source in by_id]
            pairs += [(candidate, other) for other in covered if other.entry.pulled or not candidate.entry.pulled]
    return pairs


def put_before(candidate: Candidate, other: Candidate) -> None:
    """Raise the score and match of `candidate`, if needed, so that it stands before `other`."""
    candidate.score = max(candidate.score, _BEFORE * other.score)
    candidate.match = max(candidate.match, other.match)


def put_behind(candidate: Candidate, other: Candidate) -> None:
    """Lower the score of `candidate`, if needed, so that it stands behind `other`."""
    candidate.score = min(candidate.score, other.score / _BEFORE)


def _is_later(change: Entry, entry: Entry) -> bool:
    if entry.record_class is not RecordClass.OBSERVATION or entry.id == change.id:
        return False
    if entry.type == CHANGE:
        return change.observed_sort_key > entry.observed_sort_key
    # At equal times the change counts as later, because it says that something was different before.
    return change.observed_sort_key[0] >= entry.observed_sort_key[0]


def _same(change: Entry, entry: Entry, words: frozenset[str], others: frozenset[str]) -> bool:
    if any((ours := change.text(name)) and (theirs := entry.text(name)) and ours != theirs for name in _OF):
        return False
    common = len(words & others)
    if not any(common >= max(fewest, part * len(others)) for fewest, part in _SAME_WORDS.items()):
        return False
    return not _subjects(change).isdisjoint(_subjects(entry)) or not (change.subjects or entry.subjects)


def _subjects(entry: Entry) -> frozenset[str]:
    return frozenset(map(normal_name, entry.subjects))
