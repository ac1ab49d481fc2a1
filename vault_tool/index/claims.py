"""Claims that one memory changed another: by the field of a change or by an edge, and whether the writer had the authority."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vault_tool.index.catalog import Catalog
from vault_tool.model.authority import OWNER, Act, Effect, Party, authority, by_origin, writer_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CHANGES

# The fields by which a memory, or an edge to it, is found to be changed, and those by which it is found to change another.
ON = ("change_targets", "to_id")


class Claim(NamedTuple):
    """A claim that one memory changed another: by its own head, or by an edge."""

    change: Entry
    target: Entry
    edge: Entry | None = None


def claims_on(catalog: Catalog, targets: Iterable[Entry], pointed: Mapping[str, Sequence[tuple[str, Entry]]]) -> list[Claim]:
    """The claims that change these memories; `pointed` holds the references to them, by the fields of `ON` at least."""
    claims = []
    for target in targets:
        for field, entry in pointed.get(target.id, ()):
            if field == "change_targets" and entry.id != target.id:
                claims.append(Claim(entry, target))
            elif field == "to_id" and entry.type == CHANGES:
                claims += [Claim(change, target, entry) for change in _meant(catalog, entry.text("from_id"))]
    return claims


def claims_by(catalog: Catalog, changes: Iterable[Entry], edges: Mapping[str, Sequence[tuple[str, Entry]]]) -> list[Claim]:
    """The claims that these memories make; `edges` holds the references to them, by the field `from_id` at least."""
    claims = []
    for change in changes:
        for identity in change.texts("change_targets"):
            claims += [Claim(change, target) for target in catalog.cached_by_id(identity) if identity != change.id]
        for field, edge in edges.get(change.id, ()):
            if field == "from_id" and edge.type == CHANGES:
                claims += [Claim(change, target, edge) for target in catalog.cached_by_id(edge.text("to_id"))]
    return claims


def _meant(catalog: Catalog, identity: str) -> list[Entry]:
    """The memory of an id: a copy that others brought counts for nothing if its own file is there."""
    entries = catalog.cached_by_id(identity)
    return [entry for entry in entries if not entry.pulled] or list(entries)


def let_through(catalog: Catalog, claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    """The claims that hold, and those for which their writer had no authority: there both memories stay."""
    if all(_owners(claim) for claim in claims):
        return list(claims), []
    asked = {entry.path: entry for claim in claims for entry in claim if entry is not None}
    seen = catalog.reviewed_at(asked.values())
    holding: list[Claim] = []
    contested: list[Claim] = []
    for claim in claims:
        effect = authority(Act.OVERTAKE, _claimant(claim, seen), writer_of(claim.target, claim.target.path in seen))
        (holding if effect is Effect.ALLOWED else contested).append(claim)
    return holding, contested


def changes_of(catalog: Catalog, targets: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Each of these with each memory that changed it."""
    pointed = catalog.pointing_at_each({entry.id for entry in targets}, ON) if targets else {}
    for claim in let_through(catalog, claims_on(catalog, targets, pointed))[0]:
        yield claim.target, claim.change


def _owners(claim: Claim) -> bool:
    return by_origin((claim.edge or claim.change).origin) is OWNER


def _claimant(claim: Claim, seen: Mapping[str, str]) -> Party:
    """The author of a claim: the edge's writer, else the change's.

    An agent's edge from a memory that the owner reviewed later is the owner's: it was there to be seen.
    """
    edge, change = claim.edge, claim.change
    if edge is None:
        return writer_of(change, change.path in seen)
    later = not edge.pulled and bool(edge.text("created")) and seen.get(change.path, "") >= edge.text("created")
    return writer_of(edge, edge.path in seen or later)
