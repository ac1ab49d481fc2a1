"""`snapshot`: the present state as one replaceable document, every memory with what changed it since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from vault_tool.belief.decay import standing
from vault_tool.errors import VaultError
from vault_tool.files import git
from vault_tool.index.claims import CHANGES, Claim, let_through
from vault_tool.model.details import Details, details_of
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.vault.answers import EYES_FIRST, Headline, body_of, headline_of
from vault_tool.vault.context import Context, Freshness, Progress
from vault_tool.vault.core_understandings import core_kinds
from vault_tool.vault.standing import Weighed
from vault_tool.vault.statuses import statuses

# Changes whenever the same notes and signals would come to another snapshot.
PROJECTION_VERSION = 1

_DIGITS = 4
_EVERY = 100


@dataclass(frozen=True, slots=True)
class LaterChange:
    """One memory that changed another, and how far that itself is believed."""

    id: str
    title: str
    text: str
    details: Details
    truth: float
    created: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentMemory(Headline):
    """One active memory as it stands: its text, its belief, its use, and its update chain resolved.

    `replaces` are the ids of all that it supersedes, directly or not, `later` what speaks against or about it since, oldest
    first.
    """

    content: str
    truth: float
    utility: float
    access_count: int
    last_accessed: str | None
    decay_score: float
    standing: str
    pinned: bool
    questionable: int
    problem: str | None
    replaces: tuple[str, ...]
    later: tuple[LaterChange, ...]
    created: str
    origin: str
    reviewed: bool
    model: str | None
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentState:
    """The document: made from the notes and signals of one moment, worth nothing once they change.

    `as_of` is when and `commit` at which HEAD; `made_from` are the ids of every memory that it speaks of; `expired` is
    how many were left out because their time is over.
    """

    version: int
    as_of: str
    commit: str | None
    generation: int
    count: int
    expired: int
    memories: tuple[PresentMemory, ...]
    made_from: tuple[str, ...]
    freshness: Freshness
    notice: str = EYES_FIRST


def snapshot(vault: Context, *, progress: Progress | None = None) -> PresentState:
    """Every active memory as it stands now, best first. It is printed, not kept: the files stay the truth."""
    freshness = vault.fresh()
    now = vault.clock.now()
    weighed = vault.standings.present(vault.index.catalog.snapshot())
    valid = [one for one in weighed if not one.entry.expired(now)]
    chains = _Chains(vault, weighed)
    memories = (*_present_memories(vault, _served(vault, valid), chains, progress or _unwatched),)
    ids = dict.fromkeys(i for one in memories for i in (one.id, *one.replaces, *(change.id for change in one.later)))
    return PresentState(
        version=PROJECTION_VERSION, as_of=vault.now(), commit=git.head(vault.repo).commit if vault.repo else None,
        generation=vault.index.catalog.generation(), count=len(memories), expired=len(weighed) - len(valid),
        memories=memories, made_from=tuple(ids), freshness=freshness,
    )  # fmt: skip


def _served(vault: Context, valid: Sequence[Weighed]) -> list[Weighed]:
    """The same without a soul, protocol or orientation that is not served; what is served in its place is `orient`'s to give."""
    good = {(entry.path, entry.hash) for kind in core_kinds(vault).values() for entry in kind.good}
    return [one for one in valid if one.entry.type not in KEPT_TYPES or (one.entry.path, one.entry.hash) in good]


def _present_memories(vault: Context, weighed: Sequence[Weighed], chains: _Chains, progress: Progress) -> Iterator[PresentMemory]:
    for done, one in enumerate(weighed):
        if done % _EVERY == 0:
            progress(done, len(weighed))
        yield _present(vault, one, chains)


def _unwatched(done: int, total: int) -> None:
    """Progress that nobody asked for."""


class _Chains:
    """What replaces and what changes what, over the whole vault, looked up once."""

    def __init__(self, vault: Context, weighed: Sequence[Weighed]) -> None:
        self._vault = vault
        # Once for all of them: a query for each memory would take minutes for a large vault.
        whole = vault.index.catalog.snapshot()
        self._by_id = whole.by_id
        self._truth = {one.entry.id: one.belief.truth for one in weighed}
        self._supersedes = {
            e.id: [old for old in e.texts("supersedes") if (e.id, old) not in whole.barred]
            for e in whole.of_class(RecordClass.UNDERSTANDING)
        }
        self._changes: Mapping[str, list[str]] = _changers(vault, whole)
        self.statuses = statuses(vault, [one.entry for one in weighed], believed={one.entry.id: one.belief for one in weighed})

    def replaces(self, identity: str) -> tuple[str, ...]:
        """All that a memory supersedes, directly or not, the nearest first."""
        return tuple(_reach(identity, self._supersedes))

    def later(self, identity: str) -> tuple[LaterChange, ...]:
        """All that changed a memory, or what it replaced, or changed such a change; the oldest first."""
        found: dict[str, None] = {}
        for one in (identity, *self.replaces(identity)):
            found.update(dict.fromkeys(_reach(one, self._changes)))
        entries = [self._by_id[one][0] for one in found if one != identity and one in self._by_id]
        return tuple(self._change(entry) for entry in sorted(entries, key=lambda e: e.by_created))

    def _change(self, entry: Entry) -> LaterChange:
        truth = self._truth.get(entry.id, 0.0)
        text, details = _text(self._vault, entry), details_of(entry.head)
        return LaterChange(entry.id, entry.title, text, details, round(truth, _DIGITS), entry.text("created"))


def _changers(vault: Context, whole: Snapshot) -> Mapping[str, list[str]]:
    """For each memory the ids of what changes it: by the field of a change, or by an edge."""
    said = []
    for entry in whole.entries:
        for identity in entry.texts("change_targets"):
            said += [Claim(entry, target) for target in whole.by_id.get(identity, ())]
        if entry.record_class is RecordClass.EDGE and entry.type == CHANGES:
            ends = (whole.by_id.get(entry.text(name), ()) for name in ("from_id", "to_id"))
            said += [Claim(change, target, entry) for change, target in product(*ends)]
    found: dict[str, list[str]] = defaultdict(list)
    for one in let_through(vault.index.catalog, said)[0]:
        found[one.target.id].append(one.change.id)
    return found


def _reach(start: str, edges: Mapping[str, Sequence[str]]) -> list[str]:
    """Everything that can be reached from `start`, itself aside, the nearest first; circles end."""
    found: dict[str, None] = {start: None}
    waiting = [start]
    while waiting:
        following = [other for one in waiting for other in edges.get(one, ()) if other not in found]
        found.update(dict.fromkeys(following))
        waiting = list(dict.fromkeys(following))
    return [one for one in found if one != start]


def _present(vault: Context, one: Weighed, chains: _Chains) -> PresentMemory:
    entry, belief = one.entry, one.belief
    return PresentMemory(
        **headline_of(entry), content=_text(vault, entry), truth=round(belief.truth, _DIGITS),
        utility=round(belief.utility, _DIGITS), access_count=belief.access_count, last_accessed=belief.last_accessed,
        decay_score=round(one.score, _DIGITS), standing=standing(one.score).value, pinned=entry.pinned,
        questionable=len(belief.questionable), problem=entry.text("problem") or None,
        replaces=chains.replaces(entry.id), later=chains.later(entry.id),
        **chains.statuses[entry.path].status_fields(), created=entry.text("created"),
        origin=entry.origin, reviewed=belief.reviewed, model=entry.text("model") or None, path=entry.path,
    )  # fmt: skip


def _text(vault: Context, entry: Entry) -> str:
    """A memory's text; its beginning where the file left while we looked."""
    try:
        return body_of(vault, entry)
    except VaultError:
        return entry.preview
