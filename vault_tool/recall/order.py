"""The order that can be relied on: a change before what it overtook, a synthesis before what it was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.candidate import Candidate, Key
from vault_tool.recall.question import telling_words
from vault_tool.util.text import normal_name

CHANGE = "change"

_BEFORE = 1.001
# An understanding that matches less than this does not speak for what it was made of.
SPEAKS = 0.2

# What is of one project or person says nothing of another's.
_OF = ("project", "user")

# A change says an older memory anew where it has at least so many of its telling words, and this part of them.
_SAME_WORDS = {2: 0.6, 3: 0.5}


def overtaken(some: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """Each observation with each later change that is about the same in the same words, though nobody linked the two."""
    changes = [one for one in some if one.entry.type == CHANGE]
    if not changes:
        return []
    words = {one.key: telling_words(one.entry.preview) for one in some}
    return [
        (one, change)
        for change in changes
        for one in some
        if one.key[0] == change.key[0]
        and _is_later(change.entry, one.entry)
        and _same(change.entry, one.entry, words[change.key], words[one.key])
    ]


def newest_changes(pairs: Iterable[tuple[Candidate, Candidate]]) -> Mapping[Key, Candidate]:
    """For each that was overtaken the newest of what did."""
    found: dict[Key, Candidate] = {}
    for one, change in pairs:
        known = found.get(one.key)
        if known is None or change.entry.by_observed > known.entry.by_observed:
            found[one.key] = change
    return found


def before(some: Sequence[Candidate], changed: Iterable[tuple[Candidate, Candidate]]) -> list[tuple[Candidate, Candidate]]:
    """What is to stand before what: each change before what it overtook (`changed`), the newest before all, and each
    understanding that bears on the question before the observations that it was made from.
    """
    pairs = [(change, one) for one, change in sorted(changed, key=lambda pair: pair[1].entry.by_observed)]
    by_id = {one.entry.id: one for one in some if one.entry.record_class is RecordClass.OBSERVATION}
    for one in some:
        if one.entry.record_class is RecordClass.UNDERSTANDING and one.match >= SPEAKS:
            covered = [by_id[source] for source in one.entry.texts("sources") if source in by_id]
            pairs += [(one, other) for other in covered if other.entry.pulled or not one.entry.pulled]
    return pairs


def put_before(one: Candidate, other: Candidate) -> None:
    """Let one score and match at least like another, so that it stands before it."""
    one.score = max(one.score, _BEFORE * other.score)
    one.match = max(one.match, other.match)


def put_behind(one: Candidate, other: Candidate) -> None:
    """Let one score no more than just below another."""
    one.score = min(one.score, other.score / _BEFORE)


def _is_later(change: Entry, one: Entry) -> bool:
    if one.record_class is not RecordClass.OBSERVATION or one.id == change.id:
        return False
    if one.type == CHANGE:
        return change.by_observed > one.by_observed
    # Of one moment the change is the later one: it says that something was otherwise before.
    return change.by_observed[0] >= one.by_observed[0]


def _same(change: Entry, one: Entry, words: frozenset[str], others: frozenset[str]) -> bool:
    if any((ours := change.text(name)) and (theirs := one.text(name)) and ours != theirs for name in _OF):
        return False
    common = len(words & others)
    if not any(common >= max(fewest, part * len(others)) for fewest, part in _SAME_WORDS.items()):
        return False
    return not _subjects(change).isdisjoint(_subjects(one)) or not (change.subjects or one.subjects)


def _subjects(entry: Entry) -> frozenset[str]:
    return frozenset(map(normal_name, entry.subjects))
