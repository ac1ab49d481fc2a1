"""`snapshot`: the present state as one replaceable document, every memory with what changed it since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from vault_tool.belief.decay import standing
from vault_tool.errors import VaultError
from vault_tool.files import git
from vault_tool.index.catalog import Catalog
from vault_tool.index.claims import Claim, let_through
from vault_tool.index.slight import slight
from vault_tool.index.visibility import Request, visible
from vault_tool.model.details import Details, details_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CHANGES, KEPT_TYPES, RecordClass
from vault_tool.util.structs import Struct
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus, Headline, body_of
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.core_understandings import core_kinds
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, in_envelope, in_time, looks, verb
from vault_tool.vault.standing import Weighed, best_first
from vault_tool.vault.statuses import statuses

# Changes whenever the same notes and signals would come to another snapshot.
PROJECTION_VERSION = 1

_DIGITS = 4
# So many are looked up together.
_EVERY = 500


class LaterChange(Struct):
    """One memory that changed another, and how far that itself is believed."""

    id: str
    title: str
    content: str
    details: Details
    truth: float
    created: str


class PresentMemory(Headline, kw_only=True):
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


class PresentState(Answer, kw_only=True):
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
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
@in_time
def snapshot(vault: Context, *, as_of: str | None = None, progress: Progress | None = None) -> PresentState:
    """Every active memory as it stands now, best first. It is printed, not kept: the files stay the truth."""
    state, memories = present_state(vault, progress=progress)
    present = tuple(memories)
    return replace(state, count=len(present), memories=present)


def present_state(vault: Context, *, progress: Progress | None = None) -> tuple[PresentState, Iterator[PresentMemory]]:
    """The same without its memories, and these one after the other: of a large vault they take a gigabyte together."""
    now = vault.clock.now()
    request = Request(now=now)
    present = vault.standings.each_present()
    weighed = [_Place.of(candidate, expired=visible(candidate.entry, request, "observed") == "expired") for candidate in present]
    weighed.sort(key=lambda place: place.order)
    valid = [place for place in weighed if not place.expired]
    chains = _Chains(vault, weighed)
    served = _served(vault, valid)
    ids = dict.fromkeys(i for place in served for i in (place.id, *chains.replaces(place.id), *chains.later_ids(place.id)))
    state = PresentState(
        version=PROJECTION_VERSION, as_of=vault.now(), commit=git.head(vault.repo).commit if vault.repo else None,
        generation=vault.index.catalog.generation(), count=len(served), expired=len(weighed) - len(valid),
        memories=(), made_from=tuple(ids),
    )  # fmt: skip
    return in_envelope(vault, state), _present_memories(vault, served, chains, now, progress or _unwatched)


class _Place(NamedTuple):
    """Where a memory stands among the others, and what is asked of it before it is told."""

    order: tuple[float, str, str, str]
    type: str
    truth: float
    expired: bool

    @classmethod
    def of(cls, weighed: Weighed, *, expired: bool) -> _Place:
        return cls(best_first(weighed), weighed.entry.type, weighed.belief.truth, expired)

    @property
    def id(self) -> str:
        return self.order[2]

    @property
    def path(self) -> str:
        return self.order[3]


def _served(vault: Context, valid: Sequence[_Place]) -> list[_Place]:
    """The same without a soul, protocol or orientation that is not served; what is served in its place is `orient`'s to give."""
    good = {(entry.path, entry.hash) for kind in core_kinds(vault).values() for entry in kind.good}
    entries = vault.index.catalog.by_paths([place.path for place in valid if place.type in KEPT_TYPES])
    unserved = {path for path, entry in entries.items() if (path, entry.hash) not in good}
    return [place for place in valid if place.path not in unserved]


def _present_memories(
    vault: Context, places: Sequence[_Place], chains: _Chains, now: datetime, progress: Progress
) -> Iterator[PresentMemory]:
    for start in range(0, len(places), _EVERY):
        progress(start, len(places))
        paths = [place.path for place in places[start : start + _EVERY]]
        entries = vault.index.catalog.by_paths(paths)
        # What left since is told no more.
        listed = [entries[path] for path in paths if path in entries]
        weighed = vault.standings.weigh(listed, live=True, as_of=now, few=True)
        known = statuses(vault, listed, believed={candidate.entry.id: candidate.belief for candidate in weighed})
        yield from (_present(vault, candidate, chains, known[candidate.entry.path]) for candidate in weighed)


def _unwatched(done: int, total: int) -> None:
    """A progress callback that does nothing."""


class _Chains:
    """The supersedes and changes relations of the whole vault, looked up once."""

    def __init__(self, vault: Context, weighed: Iterable[_Place]) -> None:
        self._vault = vault
        self._catalog = vault.index.catalog
        self._truth = {place.id: place.truth for place in weighed}
        self._supersedes: dict[str, list[str]] = {}
        barred, changing = self._catalog.barred(), []
        # Once for all of them: a query for each memory would take minutes for a large vault.
        for entry in slight(self._catalog, *RecordClass):
            if entry.record_class is RecordClass.UNDERSTANDING and (older := entry.texts("supersedes")):
                self._supersedes[entry.id] = [old for old in older if (entry.id, old) not in barred]
            if entry.texts("change_targets") or (entry.record_class is RecordClass.EDGE and entry.type == CHANGES):
                changing.append(entry)
        self._changes: Mapping[str, list[str]] = _changers(self._catalog, sorted(changing, key=attrgetter("path")))

    def replaces(self, identity: str) -> tuple[str, ...]:
        """All that a memory supersedes, directly or not, the nearest first."""
        return tuple(_reach(identity, self._supersedes)) if identity in self._supersedes else ()

    def later_ids(self, identity: str) -> list[str]:
        """The ids of all that changed a memory, or what it replaced, or changed such a change; the oldest first."""
        return [entry.id for entry in self._later(identity)]

    def later(self, identity: str) -> tuple[LaterChange, ...]:
        """The same with what they say."""
        return tuple(self._change(entry) for entry in self._later(identity))

    def _later(self, identity: str) -> list[Entry]:
        later: dict[str, None] = {}
        for target in (identity, *self.replaces(identity)):
            if target in self._changes:
                later.update(dict.fromkeys(_reach(target, self._changes)))
        entries = [entry for identifier in later if identifier != identity for entry in self._catalog.get(identifier)[:1]]
        return sorted(entries, key=lambda e: e.created_sort_key)

    def _change(self, entry: Entry) -> LaterChange:
        truth = self._truth.get(entry.id, 0.0)
        text, details = _text(self._vault, entry), details_of(entry.head)
        return LaterChange(entry.id, entry.title, text, details, round(truth, _DIGITS), entry.text("created"))


def _changers(catalog: Catalog, changing: Iterable[Entry]) -> Mapping[str, list[str]]:
    """For each memory the ids of what changes it: by the field of a change, or by an edge."""
    assertions = []
    for entry in changing:
        for identity in entry.texts("change_targets"):
            assertions += [Claim(entry, target) for target in catalog.get(identity)]
        if entry.record_class is RecordClass.EDGE and entry.type == CHANGES:
            ends = (catalog.get(entry.text(name)) for name in ("from_id", "to_id"))
            assertions += [Claim(change, target, entry) for change, target in product(*ends)]
    changers: dict[str, list[str]] = defaultdict(list)
    for claim in let_through(catalog, assertions)[0]:
        changers[claim.target.id].append(claim.change.id)
    return changers


def _reach(start: str, edges: Mapping[str, Sequence[str]]) -> list[str]:
    """Everything that can be reached from `start`, itself aside, the nearest first; circles end."""
    reached: dict[str, None] = {start: None}
    waiting = [start]
    while waiting:
        following = [other for node in waiting for other in edges.get(node, ()) if other not in reached]
        reached.update(dict.fromkeys(following))
        waiting = list(dict.fromkeys(following))
    return [node for node in reached if node != start]


def _present(vault: Context, weighed: Weighed, chains: _Chains, status: HasStatus) -> PresentMemory:
    entry, belief = weighed.entry, weighed.belief
    return Memory(vault, entry, status, belief).told(
        PresentMemory, content=_text(vault, entry), truth=round(belief.truth, _DIGITS), utility=round(belief.utility, _DIGITS),
        decay_score=round(weighed.score, _DIGITS), standing=standing(weighed.score).value, questionable=len(belief.questionable),
        replaces=chains.replaces(entry.id), later=chains.later(entry.id),
    )  # fmt: skip


def _text(vault: Context, entry: Entry) -> str:
    """A memory's text; its beginning where the file left while we looked."""
    try:
        return body_of(vault, entry)
    except VaultError:
        return entry.preview
