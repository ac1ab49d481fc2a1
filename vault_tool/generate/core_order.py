"""In which order memories stand in a section of CORE.md: by what each is worth to a session, the subjects in turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from math import exp, log, sqrt
from typing import NamedTuple, Protocol

from vault_tool.generate.budget import in_turn
from vault_tool.generate.page_lines import vouched
from vault_tool.model.authority import weights
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CoreSection, RecordClass, Registry, TypeSpec
from vault_tool.util.clock import end_of, moment
from vault_tool.util.text import normal_name

LEAST_TRUTH = 0.3

# What somebody wants of whoever works here: it holds until it is taken back, however long ago it was said.
STANDING = frozenset({"preference", "instruction", "procedure"})

# Days after which it no longer matters where work was left.
LEFT_DAYS = 30

# A share of the worth is lost with age, and as many days take all but a third of it.
_LASTING = 0.55
_AGE_DAYS = 45.0
_PER_USE = 0.25

_DIGITS = 6

# The sections of which an understanding of the same subject says it all; what came after it stands beside it.
COVERED = frozenset(
    {
        CoreSection.UNDERSTANDINGS, CoreSection.ACTIVE_DECISIONS, CoreSection.CONFIGURATIONS, CoreSection.PATTERNS,
        CoreSection.WORTH_KNOWING,
    }
)  # fmt: skip


class Believed(Protocol):
    """What is believed of a memory, as far as a page asks."""

    @property
    def truth(self) -> float:
        """How true it is taken to be, in 0..1."""

    @property
    def useful(self) -> int:
        """How often it was called useful."""

    @property
    def reviewed(self) -> bool:
        """Whether a person reviewed it."""

    @property
    def set_aside(self) -> bool:
        """Whether a question keeps it off the page."""

    @property
    def questionable(self) -> Sequence[Signal]:
        """The open questions."""

    @property
    def told(self) -> Sequence[Signal]:
        """The questions of others, which move nothing."""


class Claim(NamedTuple):
    """What says where on the page a memory stands, without a word of it.

    `rank` has first what a person stands behind, of that what is pinned, and of these the understandings; `source` is who could
    flood the page, empty for whoever works here; `worth` and `seen` (when it was observed) order the rest.
    """

    section: CoreSection
    rank: tuple[bool, bool, bool]
    source: str
    worth: float
    seen: float
    id: str
    path: str
    subjects: tuple[str, ...]
    standing: bool

    @property
    def vouched(self) -> bool:
        """Whether a person stands behind it."""
        return not self.rank[0]


class Claims:
    """Says of memories where on the page of one day they stand."""

    def __init__(self, registry: Registry, as_of: date) -> None:
        self._registry = registry
        self._as_of = as_of
        self._specs: dict[str, TypeSpec] = {}
        self._names: dict[str, str] = {}
        self._midnight = as_of.toordinal()

    def of(self, entry: Entry, belief: Believed) -> Claim | None:
        """The claim of a memory, None for one that may not stand on the page."""
        if barred(entry, belief, self._as_of) or (spec := self._spec(entry.type)).always_kept:
            return None
        section = spec.section or CoreSection.WORTH_KNOWING
        pinned, importance = weights(entry, spec.importance, belief.reviewed)
        seen = moment(entry.observed)
        age = max(0, self._midnight - seen.date().toordinal())
        if section is CoreSection.WHERE_LEFT and age > LEFT_DAYS:
            return None
        standing = pinned or entry.type in STANDING or section is CoreSection.PREFERENCES
        # Of what was left it does not matter how it is called.
        worth = 1.0 if section is CoreSection.WHERE_LEFT else spec.weight * importance / (spec.importance or 1.0)
        if not standing:
            worth *= _LASTING + (1 - _LASTING) * exp(-age / _AGE_DAYS)
        if belief.useful:
            worth *= 1 + _PER_USE * log(1 + belief.useful)
        by_person = vouched(entry, belief.reviewed)
        line = entry.record_class is not RecordClass.UNDERSTANDING
        subjects = tuple(self._name(name) for name in entry.subjects or entry.own("tags")[:1]) or ("",)
        return Claim(
            section, (not by_person, not pinned, line), "" if by_person else source_of(entry), round(max(worth, 1e-6), _DIGITS),
            seen.timestamp(), entry.id, entry.path, subjects, standing,
        )  # fmt: skip

    def _spec(self, kind: str) -> TypeSpec:
        found = self._specs.get(kind)
        if found is None:
            found = self._specs[kind] = self._registry.spec(kind)
        return found

    def _name(self, name: str) -> str:
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = normal_name(name)
        return found


def barred(entry: Entry, belief: Believed, as_of: date) -> str:
    """Why a memory may not stand on the page by what is known of it alone, or the empty string."""
    if entry.record_class not in (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING):
        return "not listed"
    if entry.stale:
        return "cannot be read now"
    if entry.text("user"):
        return "about a user"
    if belief.set_aside:
        return "questionable"
    if belief.truth < LEAST_TRUTH:
        return "doubted"
    return "expired" if is_over(entry, as_of) else ""


def is_over(entry: Entry, as_of: date) -> bool:
    """Whether its time is over on that day: the page is read all day long, so its last day counts as over."""
    over = end_of(entry.text("expires")) if entry.text("expires") else None
    return over is not None and over.date() <= as_of


def source_of(entry: Entry) -> str:
    """Who could flood the page, among what no person stands behind: an import, or who else brought it; empty for agents here."""
    return "" if entry.origin == "agent" else f"{entry.origin} {entry.text('model')}"


def in_order(claims: Iterable[Claim]) -> dict[CoreSection, list[Claim]]:
    """The claims of each section, first that which comes first.

    In a section the ranks follow one another. Of one rank what is worth most comes first, but the first of each subject before
    the second of any that is worth as much; and no source that nobody vouches for makes more than half while others wait. A
    beginning of this order is in the same order by itself.
    """
    found: dict[CoreSection, dict[tuple[bool, bool, bool], dict[str, list[Claim]]]] = {}
    for claim in claims:
        ranks = found.setdefault(claim.section, {})
        ranks.setdefault(claim.rank, {}).setdefault(claim.source, []).append(claim)
    return {
        section: [claim for rank in sorted(ranks) for claim in _of_a_rank(ranks[rank])]
        for section, ranks in sorted(found.items(), key=lambda pair: _ORDER[pair[0]])
    }


_ORDER: Mapping[CoreSection, int] = {section: place for place, section in enumerate(CoreSection)}


def _of_a_rank(sources: Mapping[str, list[Claim]]) -> list[Claim]:
    placed = sorted(pair for claims in sources.values() for pair in _by_subject(claims))
    ordered = [claim for _, claim in placed]
    return in_turn(ordered, lambda claim: claim.source) if len(sources) > 1 else ordered


def _by_subject(claims: list[Claim]) -> Iterable[tuple[tuple[float, float, float, str, str], Claim]]:
    """Each with its place: a memory of several subjects takes that of the one in which it comes first."""
    places: dict[str, int] = defaultdict(int)
    for claim in sorted(claims, key=lambda one: (-one.worth, -one.seen, one.id, one.path)):
        subject = claim.subjects[0]
        if len(claim.subjects) > 1:
            subject = min(claim.subjects, key=places.__getitem__)
        places[subject] += 1
        behind = round(sqrt(places[subject]) / claim.worth, _DIGITS)
        yield (behind, -claim.worth, -claim.seen, claim.id, claim.path), claim
