"""Supposed updates among memories: pairs of one project, person and subject, recognised by their words."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.question import telling_words
from vault_tool.util.clock import moment
from vault_tool.util.deferred import deferred
from vault_tool.util.text import normal_name

if TYPE_CHECKING:
    from vault_tool.recall import updates
else:
    updates = deferred("vault_tool.recall.updates")  # 8 ms, where two memories are alike

_Key = TypeVar("_Key", bound=Hashable)
_Thing: TypeAlias = tuple[str, str, str | None]
"""The project, person and subject (normalised name, or None) that a memory is about."""

# Memories of these types update no other: a second one is another event, or is linked by its problem.
EVENTS = frozenset(
    {"problem", "solution", "failed_tactic", "fix", "error", "relationship_beat", "world_discovery", "reflection", "procedure"}
)

# The least common words, or the least share of the shorter text's words, for two texts to be compared word by word.
_COMMON, _SHARE = 3, 0.3

_BEGINNING, _LIKEST = 400, 5

# Among more memories than this, only pairs with a rare common word are compared: at most so many memories have it.
_ALL_PAIRS, _RARE = 64, 12


class Update(NamedTuple):
    """A supposed change of one memory by another, with the values: `900`, `950`."""

    older: Entry
    newer: Entry
    before: str
    after: str


def among(memories: Iterable[Entry], paths: Collection[str]) -> list[Update]:
    """The supposed updates among some memories whose older or newer memory is at one of `paths`."""
    entries = {entry.path: entry for entry in memories if _may(entry)}
    things = {path: things_of(entry) for path, entry in entries.items()}
    words = {path: telling_words(entry.preview) for path, entry in entries.items()}
    supposed: list[Update] = []
    for path, other in _pairs(words):
        if things[path].isdisjoint(things[other]) or not (path in paths or other in paths):
            continue
        common = len(words[path] & words[other])
        if common >= _COMMON or common > _SHARE * min(len(words[path]), len(words[other])):
            supposed += filter(None, [_between(entries[path], entries[other])])
    return supposed


def _between(entry: Entry, other: Entry) -> Update | None:
    """The supposed update between two memories of one thing, in either order."""
    together = bool(entry.text("session")) and entry.text("session") == other.text("session")
    older, newer = sorted((entry, other), key=_when_in_session if together else when)
    change = updates.changed(older.preview, newer.preview)
    return None if change is None else Update(older, newer, change.before, change.after)


def changed_by(text: str, entries: Sequence[Entry]) -> list[tuple[Entry, str, str]]:
    """The memories that a text seems to change, each with the old value and the new one."""
    words = telling_words(text[:_BEGINNING])
    changes = []
    shared = {entry.id: len(words & telling_words(entry.preview)) for entry in entries if _may(entry)}
    likest = sorted((entry for entry in entries if shared.get(entry.id)), key=lambda entry: shared[entry.id], reverse=True)
    for entry in likest[:_LIKEST]:
        if shared[entry.id] > _SHARE * min(len(words), len(telling_words(entry.preview))):
            change = updates.changed(entry.preview, text)
            changes += [(entry, change.before, change.after)] if change is not None else []
    return changes


def newest(pairs: Iterable[Update]) -> Mapping[str, Update]:
    """The newest supposed update of each memory, by the path of the older memory."""
    latest: dict[str, Update] = {}
    for update in sorted(pairs, key=lambda pair: when(pair.newer)):
        latest[update.older.path] = update
    return latest


def things_of(entry: Entry) -> frozenset[_Thing]:
    """The things that a memory may be about: see `things`."""
    return things(entry.text("project"), entry.text("user"), entry.subjects, of_folder=entry.of_folder)


def things(project: str, user: str, subjects: Iterable[str], *, of_folder: bool = False) -> frozenset[_Thing]:
    """The things that a memory may be about: each of its subjects, within its project and person.

    Memories without a subject share one thing, but notes of a folder do not: they have to name the same subject.
    """
    names: set[str | None] = set(map(normal_name, subjects))
    return frozenset((project, user, name) for name in names or (() if of_folder else (None,)))


def when(entry: Entry) -> tuple[datetime, datetime, int, str]:
    """A sort key: by the time that a memory is about, then by the time of writing; within a second by the file's time."""
    created, identity = entry.created_sort_key
    return moment(entry.observed), created, entry.mtime_ns, identity


def _when_in_session(entry: Entry) -> tuple[datetime, datetime, int, int, str]:
    turn = entry.text("turn")
    observed, created, written, identity = when(entry)
    return observed, created, int(turn) if turn.isdecimal() else 0, written, identity


def _may(entry: Entry) -> bool:
    return entry.record_class is RecordClass.OBSERVATION and entry.type not in EVENTS and bool(entry.preview)


def _pairs(words: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    if len(words) <= _ALL_PAIRS:
        yield from combinations(words, 2)
        return
    having: dict[str, list[str]] = {}
    for path, several in words.items():
        for word in several:
            having.setdefault(word, []).append(path)
    yield from {pair for paths in having.values() if len(paths) <= _RARE for pair in combinations(paths, 2)}


def words_to_find(entry: Entry, most: int) -> Sequence[str]:
    """The first telling words of a memory, for a search for similar ones."""
    telling = telling_words(entry.preview)
    return [word for word in dict.fromkeys(entry.preview.casefold().split()) if word.strip(".,:;!?\"'()") in telling][:most]


def rises(update: Update) -> bool:
    """Whether the newer memory is put above the older: words alone never put another person's memory above our own."""
    return update.older.pulled or not update.newer.pulled


def directly_below(all_keys: Iterable[_Key], over: Mapping[_Key, _Key]) -> list[_Key]:
    """The keys in their order, but each directly below the key that is to stand over it, if there is one among them."""
    keys = list(all_keys)
    below: dict[_Key, list[_Key]] = {}
    for key in keys:
        if key in over:
            below.setdefault(over[key], []).append(key)
    waiting = [key for key in reversed(keys) if over.get(key) not in keys]
    placed: dict[_Key, None] = {}
    while waiting:
        placed[waiting[-1]] = None
        waiting.extend(reversed(below.pop(waiting.pop(), [])))
    # Keys that stand over each other in a circle keep their places at the end.
    return list(dict.fromkeys((*placed, *keys)))
