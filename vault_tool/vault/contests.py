"""Contested memories: pairs of which one claims to change or replace the other, by a writer without authority for that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vault_tool.belief.gates import doubtful
from vault_tool.index import claims
from vault_tool.index.catalog import Catalog
from vault_tool.index.relations import beside, contesting_among, forked, successors
from vault_tool.index.visibility import Request, visible, waits
from vault_tool.model.authority import OWNER, Act, Effect, authority, by_origin, writer_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CHANGES, MEMORIES, RecordClass
from vault_tool.util.hints import step
from vault_tool.util.text import one_line
from vault_tool.vault import resolve
from vault_tool.vault.answers import Rival
from vault_tool.vault.context import Context
from vault_tool.vault.viewer import request_of

if TYPE_CHECKING:
    from vault_tool.model.records import Observation, Remembered  # 25 ms, and whoever only looks makes none

Pointed = Mapping[str, Sequence[tuple[str, Entry]]]
"""By id, what points at a memory, with the field that does."""

_POINTING = (*claims.ON, "from_id")
_LINE = 160


def rival(entry: Entry) -> Rival:
    """A memory as the one that contests another is told of it."""
    text = entry.text("summary") or entry.preview or entry.title
    return Rival(entry.id, one_line(text, _LINE), entry.origin)


def out_of_reach(vault: Context, origin: str, act: Act, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The memories that a writer without authority claims to have changed or replaced: they stay, and are contested."""
    entry_list = list(entries)
    party = by_origin(vault.counted_origin(origin))
    if not entry_list or party is OWNER:
        return ()
    seen = vault.index.catalog.reviewed_at(entry_list)
    return tuple(
        entry for entry in entry_list if authority(act, party, writer_of(entry, entry.path in seen)) is not Effect.ALLOWED
    )


def foremost(vault: Context, entries: Iterable[Entry]) -> Entry | None:
    """The first to tell of several present understandings of one place: the newest that contests none of the others."""
    entry_list = list(entries)
    contesting = contesting_among(vault.index.catalog, entry_list)
    return max(entry_list, key=lambda entry: (entry.id not in contesting, entry.created_sort_key), default=None)


def pending_revisions(vault: Context, origin: str, replaced: Collection[str]) -> tuple[str, ...]:
    """The present understandings of agents that contest some of these: a further revision by an agent takes their place."""
    if by_origin(vault.counted_origin(origin)) is OWNER or not (barred := vault.index.catalog.barred()):
        return ()
    revisions = [entry for newer, older in sorted(barred) if older in replaced for entry in vault.index.catalog.get(newer)]
    out = {entry.id for entry in out_of_reach(vault, origin, Act.OVERTAKE, revisions)}
    ids = (entry.id for entry in revisions if entry.id not in out and entry.id not in replaced)
    return tuple(dict.fromkeys(identity for identity in ids if not successors(vault.index.catalog, identity)))


def remarks(vault: Context, stay: Iterable[Entry]) -> Iterator[str]:
    """The remarks to the writer of a record that contests these."""
    for entry in stay:
        yield f"{resolve.short(vault, entry.id)} is its owner's, so both stay, contested, until the owner has settled it"


def unchanged_by(vault: Context, record: Observation) -> tuple[Entry, ...]:
    """The memories that a new observation claims to change and its writer has no authority to change."""
    targets = [entry for identity in record.change_targets for entry in vault.index.catalog.get(identity)]
    return out_of_reach(vault, record.origin, Act.OVERTAKE, targets)


def without_effect(vault: Context, record: Remembered) -> tuple[str, ...]:
    """The fields of a new record that have no effect until its owner has seen it: its pin, an importance above its type's."""
    if authority(Act.WEIGHT, by_origin(vault.counted_origin(record.origin))) is Effect.ALLOWED:
        return ()
    above = (record.importance or 0.0) > vault.settings.types.spec(record.type).importance
    return tuple(name for name, holds in (("pinned", record.pinned), ("importance", above)) if holds)


def waiting_remarks(waits: Sequence[str]) -> Iterator[str]:
    """The remarks to the writer of a record that waits."""
    if "pinned" in waits:
        yield "an agent's pin waits: it has no effect until the owner has reviewed the memory"


def all_contested(vault: Context) -> dict[str, tuple[Rival, ...]]:
    """The same as `contested`, of the whole vault."""
    ids = {identity for group in (*_said(vault), *forked(vault.index.catalog)) for identity in group}
    return contested(vault, [entry for identity in sorted(ids) for entry in vault.index.catalog.get(identity)]) if ids else {}


def changes_of(vault: Context, targets: Sequence[Entry], pointed: Pointed | None = None) -> dict[str, list[Entry]]:
    """By path, what overtook each of these as far as that holds now: neither expired nor doubted, the newest first.

    `pointed` is what points at them, where it was looked up; those that nothing overtook are left out.
    """
    catalog, request = vault.index.catalog, Request(now=vault.clock.now())
    if pointed is None:
        pointed = catalog.pointing_at_each({target.id for target in targets}, claims.ON) if targets else {}
    held = claims.let_through(catalog, claims.claims_on(catalog, targets, pointed))[0]
    believed = vault.standings.beliefs(claim.change for claim in held) if held else {}
    changes: dict[str, dict[str, Entry]] = {}
    for claim in held:
        if visible(claim.change, request, "observed") is None and not doubtful(believed[claim.change.id]):
            changes.setdefault(claim.target.path, {})[claim.change.id] = claim.change
    return {
        path: sorted(by_id.values(), key=lambda change: change.observed_sort_key, reverse=True) for path, by_id in changes.items()
    }


def all_overtaken(vault: Context) -> set[str]:
    """The paths of all memories of the vault that something overtook."""
    catalog = vault.index.catalog
    return set(changes_of(vault, catalog.of_ids({older for _, older in _changing(catalog)})))


def _changing(catalog: Catalog) -> set[tuple[str, str]]:
    """The claims of change, by a memory's own head or by an edge."""
    edges = catalog.of_class(RecordClass.EDGE, CHANGES)
    return {*catalog.pairs("change_targets"), *((edge.text("from_id"), edge.text("to_id")) for edge in edges)}


def _said(vault: Context) -> set[tuple[str, str]]:
    """The pairs of claimant and claimed that may be contested."""
    catalog = vault.index.catalog
    heads = {head for pair in catalog.barred() for identity in pair for head in _heads(vault, identity)}
    return {*_changing(catalog), *catalog.barred(), *((head, head) for head in heads)}


def _forks(vault: Context, memories: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """The understandings that nothing replaces and that have one place: two who revised one at a time left them."""
    for entry in memories:
        if entry.record_class is RecordClass.UNDERSTANDING:
            for other in beside(vault.index.catalog, entry):
                yield (entry, other) if entry.created_sort_key > other.created_sort_key else (other, entry)


def unsettled(vault: Context) -> Iterator[str]:
    """Each memory that says that it changed or replaced what it had no authority to, and understandings of one place."""
    makers = {newer for newer, _ in _said(vault)}
    contested_ids = all_contested(vault)
    for group in forked(vault.index.catalog):
        if not makers.intersection(group) and contested_ids.keys() & group:
            short, *rest = (resolve.short(vault, head) for head in group)
            both = " and ".join((short, *rest))
            one_text = step("update_understanding", understanding_id=short, new_content=..., join=True)
            yield f"{both} are of one subject: {one_text} puts one text in the place of all"
    for identity, others in contested_ids.items():
        if identity in makers:
            names = ", ".join(resolve.short(vault, other.id) for other in others)
            short = resolve.short(vault, identity)
            alone, away = step("review", accept=short), step("forget", memory_id=short)
            yield f"{short} contests {names}: {alone} lets it stand alone, {away} takes it away"


def contested(
    vault: Context,
    entries: Sequence[Entry],
    pointed: Pointed | None = None,
    alike: Iterable[tuple[Entry, Entry]] = (),
) -> dict[str, tuple[Rival, ...]]:
    """By id, what contests each of these, the newest first; those that nothing contests are left out.

    `pointed` is what points at them, where it was looked up, `alike` are further pairs that contest each other.
    """
    catalog = vault.index.catalog
    memories = [entry for entry in entries if entry.record_class in MEMORIES]
    if pointed is None:
        pointed = catalog.pointing_at_each({entry.id for entry in memories}, _POINTING) if memories else {}
    on, by = claims.claims_on(catalog, memories, pointed), claims.claims_by(catalog, memories, pointed)
    pairs = [(claim.change, claim.target) for claim in claims.let_through(catalog, [*on, *by])[1]] if on or by else []
    pairs += [*alike, *_replacing(vault, memories), *_forks(vault, memories)]
    # A page that its owner has to see first contests nothing until then.
    pairs = [pair for pair in pairs if not any(waits(entry, vault.standings.reviewed) for entry in pair)]
    if not pairs:
        return {}
    present = _present(vault, [entry for pair in pairs for entry in pair])
    asked = {entry.id for entry in memories}
    rivals_of: dict[str, dict[str, Entry]] = {}
    for newer, older in pairs:
        if newer.path in present and older.path in present and not vault.standings.doubted(newer):
            for entry, other in ((newer, older), (older, newer)):
                if entry.id in asked:
                    rivals_of.setdefault(entry.id, {})[other.id] = other
    return {
        identity: tuple(map(rival, sorted(others.values(), key=lambda other: other.created_sort_key, reverse=True)))
        for identity, others in rivals_of.items()
    }


def _replacing(vault: Context, memories: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """The present understandings of which one was to take the place of the other."""
    catalog = vault.index.catalog
    if not (barred := catalog.barred()) or not any(memory.record_class is RecordClass.UNDERSTANDING for memory in memories):
        return []
    heads = [(_heads(vault, newer), _heads(vault, older)) for newer, older in sorted(barred)]
    ids = [(newer, other) for ones, others in heads for newer in ones for other in others if newer != other]
    return [(newer, other) for a, b in ids for newer in catalog.cached_by_id(a) for other in catalog.cached_by_id(b)]


def _heads(vault: Context, identity: str) -> list[str]:
    """The understandings that stand in the place of an understanding now: itself, if there are none."""
    seen, waiting, heads = {identity}, [identity], []
    while waiting:
        current = waiting.pop()
        newer = successors(vault.index.catalog, current)
        heads += [] if newer else [current]
        waiting += [other for other in newer if other not in seen]
        seen.update(newer)
    return heads


def _present(vault: Context, entries: Sequence[Entry]) -> set[str]:
    """The paths of those that are neither superseded nor expired, and that nothing overtook."""
    request = request_of(vault)
    gone = {target.path for target, _ in claims.changes_of(vault.index.catalog, entries)}
    return {entry.path for entry in entries if entry.path not in gone and visible(entry, request, "present") is None}
