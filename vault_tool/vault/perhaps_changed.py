"""Supposed updates: memories that seem to change another one, found by words among the results of a call and notes like them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from vault_tool.belief.gates import doubtful
from vault_tool.errors import Busy, StorageError
from vault_tool.index import claims
from vault_tool.index.visibility import visible
from vault_tool.model.snapshot import Entry, is_from_others
from vault_tool.model.types import CHANGES, RecordClass
from vault_tool.recall import update_pairs
from vault_tool.recall.update_pairs import Update
from vault_tool.util.clock import moment
from vault_tool.util.deferred import deferred
from vault_tool.util.hints import option, step
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault import resolve
from vault_tool.vault.answers import Mark
from vault_tool.vault.context import Context
from vault_tool.vault.viewer import request_of

if TYPE_CHECKING:
    from vault_tool.model.records import Observation  # 25 ms, and a call that only reads makes none
    from vault_tool.vault import similar

else:
    similar = deferred("vault_tool.vault.similar")  # needed only by writes

PERHAPS = "perhaps_changed_by"

# For at most so many memories, similar notes are searched for each of them; more memories are compared only with each other, up
# to `_TOGETHER`.
_ONE_BY_ONE = 50
_TOGETHER = 400

# In a vault with more records, similar notes are found by the beginning of the title: a search by words would cost more than
# the call itself.
_SMALL = 2000
_LIKE_IT, _OF_SUBJECT, _WORDS, _BEGINNING = 8, 24, 8, 2
_VALUE = 60
_NAMED, _SHORT, _LINE = 3, 8, 100


def told_as(update: Update) -> str:
    """A supposed update in words: the new value, and the old one."""
    if not update.before or not update.after:
        return ""
    return f"{one_line(update.after, _VALUE)} there, {one_line(update.before, _VALUE)} here"


def perhaps_changed(vault: Context, memories: Sequence[Entry]) -> Mapping[str, Update]:
    """The newest supposed update of each memory, by the memory's path."""
    if len(memories) > _TOGETHER:
        return {}
    paths = {entry.path for entry in memories}
    others = _like_them(vault, memories) if len(memories) <= _ONE_BY_ONE else ()
    return update_pairs.newest(holding(vault, update_pairs.among((*memories, *others), paths)))


def holding(vault: Context, updates: Iterable[Update]) -> list[Update]:
    """The updates whose newer memory may be shown now, and that no link contradicts."""
    update_list = list(updates)
    if not update_list:
        return []
    request = request_of(vault)
    newer = {update.newer.id: update.newer for update in update_list}
    believed = vault.standings.beliefs(newer.values())
    present = [
        update
        for update in update_list
        if visible(update.newer, request, "present") is None and not doubtful(believed[update.newer.id])
    ]
    pointed = vault.index.catalog.pointing_at_each({update.newer.id for update in present}, claims.ON) if present else {}
    claimed = {(claim.change.id, claim.target.id) for claim in claims.claims_on(vault.index.catalog, newer.values(), pointed)}
    # An explicit link in the other direction, from the older to the newer memory, outweighs the guess.
    return [update for update in present if (update.older.id, update.newer.id) not in claimed]


def seems_to_change(vault: Context, record: Observation) -> tuple[Entry, ...]:
    """The memories that a new observation seems to change without naming them, newest first."""
    observed = moment(record.observed or record.created or "")
    named = {record.id, *record.change_targets}
    things = update_pairs.things(record.project or "", record.user or "", record.subjects)
    asked = [
        entry
        for entry in similar.sharing_words(vault, record.body)
        if entry.id not in named and not things.isdisjoint(update_pairs.things_of(entry)) and moment(entry.observed) <= observed
    ]
    if not asked or record.type in update_pairs.EVENTS:
        return ()
    older = [entry for entry, _, _ in update_pairs.changed_by(record.body, asked)]
    if not older:
        # The check below, what this caller may see, takes longer than all the steps above.
        return ()
    request = request_of(vault)
    present = [entry for entry in older if visible(entry, request, "present") is None]
    gone = {target.id for target, _ in claims.changes_of(vault.index.catalog, present)} if present else frozenset()
    return tuple(sorted((entry for entry in present if entry.id not in gone), key=update_pairs.when, reverse=True)[:_NAMED])


def proposals(vault: Context, record: Observation, changed: Sequence[Entry]) -> Iterator[str]:
    """The proposals to the writer of such an observation: each memory that it seems to change, and the call that states it."""
    for entry in changed:
        short = resolve.short(vault, entry.id)
        joined = step("link", from_id=record.id[:_SHORT], type=CHANGES, to_id=short)
        line = one_line(entry.preview or entry.title, _LINE)
        yield f"this seems to change {short}: '{line}'; if it does, {option('change_targets', [short])} beside it, or {joined}"


class _Told(Protocol):
    """A result in any list."""

    @property
    def id(self) -> str | None:
        """The id of its memory, if it is one."""

    @property
    def origin(self) -> str:
        """The channel of its writer."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks beside its status."""


_Result = TypeVar("_Result", bound=_Told)


def newer_first(results: Iterable[_Result]) -> list[_Result]:
    """Results in their order, but each directly below the result that seems to have changed it, if there is one."""
    result_list = list(results)
    place_of = {result.id: at for at, result in enumerate(result_list) if result.id}
    over = {
        at: place_of[newer]
        for at, result in enumerate(result_list)
        for mark in result.marks
        if mark.mark == PERHAPS
        for newer in mark.by
        if newer in place_of and (is_from_others(result.origin) or not is_from_others(result_list[place_of[newer]].origin))
    }
    return [result_list[at] for at in update_pairs.directly_below(range(len(result_list)), over)] if over else result_list


def _like_them(vault: Context, memories: Sequence[Entry]) -> Iterator[Entry]:
    catalog = vault.index.catalog
    small = catalog.counts().documents <= _SMALL
    for entry in memories:
        if entry.record_class is RecordClass.OBSERVATION:
            # Memories with subjects are searched without the full-text index, which a command like `get` does not open.
            find = _by_words if small and not entry.subjects else _by_beginning
            yield from catalog.derived(("like it", entry.path), partial(find, vault, entry))


def _by_words(vault: Context, entry: Entry) -> Collection[Entry]:
    words = " ".join(update_pairs.words_to_find(entry, _WORDS))
    try:
        hits = vault.index.search(words, _LIKE_IT, (RecordClass.OBSERVATION.value,), waiting=True) if words else []
    except (Busy, StorageError):
        return ()
    return tuple(vault.index.catalog.cached_by_paths([hit.path for hit in hits]).values())


def _by_beginning(vault: Context, entry: Entry) -> Collection[Entry]:
    catalog, words = vault.index.catalog, normal_name(entry.title).split()[:_BEGINNING]
    begun = catalog.titled_from(" ".join(words), _LIKE_IT) if len(words) == _BEGINNING else ()
    tagged = catalog.newest_tagged(set(map(normal_name, entry.subjects)), _OF_SUBJECT) if entry.subjects else []
    return (*begun, *catalog.cached_by_paths(tagged).values())
