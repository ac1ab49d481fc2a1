"""In which order memories stand in a section of CORE.md: by what each is worth to a session, the subjects in turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from math import exp, log, sqrt
from operator import attrgetter, itemgetter
from typing import NamedTuple, Protocol, TypeAlias

from vault_tool.generate.budget import interleaved
from vault_tool.generate.core_project import CoreProject
from vault_tool.model.authority import weights
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import ENDS, Entry, end_of_all
from vault_tool.model.types import MEMORIES, CoreSection, RecordClass, Registry
from vault_tool.util.clock import moment
from vault_tool.util.text import normal_name

LEAST_TRUTH = 0.3

# What somebody wants of whoever works here: it holds until it is taken back, however long ago it was said.
STANDING = frozenset({"preference", "instruction", "procedure"})

# Days after which it no longer matters where work was left.
LEFT_DAYS = 30

# A share of the worth is left however old a memory is, and as many days take all but a third of the rest. What stands loses
# nothing, but what was wanted lately comes first: it is worth up to twice as much. On a page for one project less is left, for
# its next session goes on with what was done last; over all projects an old subject's first word is worth a new one's third.
_LASTING, _LASTING_OF_ONE = 0.55, 0.1
_AGE_DAYS = 45.0
_PER_USE = 0.25

# What of its worth a memory keeps that is of no project, where the page is for one; a rule of none holds in all.
_UNTIED = 0.55

# As precise as worth is, and the least that anything is worth.
_DIGITS = 6
_LEAST = 1e-6
# Days after which nothing is lost any more that could be told.
_OLDEST = 1000
_DAY, _STAMP = len("2026-11-20"), len("2026-11-20T10:00:00+00:00")

_ORDER_OF = attrgetter("order")
_PLACE = itemgetter(0)

# The sections of which an understanding of the same subject says it all; what came after it stands beside it.
COVERED = frozenset(
    {
        CoreSection.UNDERSTANDINGS, CoreSection.ACTIVE_DECISIONS, CoreSection.CONFIGURATIONS, CoreSection.PATTERNS,
        CoreSection.WORTH_KNOWING,
    }
)  # fmt: skip


class Believed(Protocol):
    """The belief about a memory, as far as a page needs it."""

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


# What orders memories of one place: what is worth most first, then what was observed last, then by id.
Order: TypeAlias = tuple[float, float, str, str]


class Claim(NamedTuple):
    """A memory's place on the page, without a word of it.

    `rank` has first what a person stands behind, of that what is pinned, and of these the understandings; `source` is who could
    flood the page, empty for whoever works here; the `order` is by worth, by when it was observed, by id and path.
    """

    section: CoreSection
    rank: tuple[bool, bool, bool]
    source: str
    order: Order
    subjects: tuple[str, ...]
    standing: bool

    @property
    def vouched(self) -> bool:
        """Whether a person stands behind it."""
        return not self.rank[0]

    @property
    def seen(self) -> float:
        """When it was observed."""
        return -self.order[1]

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.order[2]

    @property
    def path(self) -> str:
        """Its file."""
        return self.order[3]


class _Kind(NamedTuple):
    """The settings of a type that decide its place on the page."""

    section: CoreSection
    weight: float
    importance: float
    standing: bool
    listed: bool


class Claims:
    """Says of memories where on the page of one day they stand, for one project or for all: asked of each memory of a vault, so
    each look at a head is counted.
    """

    def __init__(self, registry: Registry, as_of: date, project: CoreProject | None = None) -> None:
        self._registry = registry
        self._as_of = as_of
        self._project = project
        self._kinds: dict[str, _Kind] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._days: dict[str, int] = {}
        least = _LASTING if project is None else _LASTING_OF_ONE
        fading = [exp(-age / _AGE_DAYS) for age in range(_OLDEST)]
        self._lasting = [least + (1 - least) * share for share in fading]
        self._standing = [1 + share for share in fading]

    def of(self, entry: Entry, belief: Believed) -> Claim | None:
        """The claim of a memory, None for one that may not stand on the page."""
        section, weight, usual, standing, listed = self._kinds.get(entry.type) or self._kind(entry.type)
        if not listed or self._is_barred(entry, belief):
            return None
        head = entry.head
        pinned, importance = (
            weights(entry, usual, belief.reviewed) if "pinned" in head or "importance" in head else (False, usual)
        )
        if not pinned and (not importance or head.get("not_at_start") is True):
            return None  # a person took it off the page
        seen, age = self._seen(entry.observed)
        if section is CoreSection.WHERE_LEFT:
            if age > LEFT_DAYS:
                return None
            # Of what was left it does not matter how it is called.
            worth = 1.0
        else:
            worth = weight if importance == usual else weight * importance / (usual or 1.0)
        standing = standing or pinned
        worth *= (self._standing if standing else self._lasting)[min(age, _OLDEST - 1)]
        if belief.useful:
            worth *= 1 + _PER_USE * log(1 + belief.useful)
        if self._project is not None and not standing and not self._project.has(entry):
            worth *= _UNTIED
        origin = entry.origin
        by_person = belief.reviewed or origin == "owner"
        source = "" if by_person or origin == "agent" else f"{origin} {entry.text('model')}"
        rank = not by_person, not pinned, entry.record_class is not RecordClass.UNDERSTANDING
        order = -round(max(worth, _LEAST), _DIGITS), -seen, entry.id, entry.path
        return Claim(section, rank, source, order, self._subjects(entry), standing)

    def _is_barred(self, entry: Entry, belief: Believed) -> bool:
        head = entry.head
        doubted = belief.set_aside or belief.truth < LEAST_TRUTH
        ends = "expires" in head or "until" in head
        asks = doubted or entry.stale or "user" in head or ends or entry.record_class not in MEMORIES
        return asks and bool(barred(entry, belief, self._as_of))

    def _kind(self, name: str) -> _Kind:
        spec = self._registry.spec(name)
        section = spec.section or CoreSection.WORTH_KNOWING
        standing = name in STANDING or section is CoreSection.PREFERENCES
        kind = self._kinds[name] = _Kind(section, spec.weight, spec.importance, standing, not spec.always_kept)
        return kind

    def _seen(self, observed: str) -> tuple[float, int]:
        """When a memory was observed, and how many days ago."""
        if observed.endswith("+00:00") and len(observed) == _STAMP:
            try:
                seen, day = datetime.fromisoformat(observed), observed[:_DAY]
            except ValueError:
                seen, day = moment(observed), ""
        else:
            seen, day = moment(observed), ""
        age = self._days.get(day)
        if age is None:
            age = max(0, self._as_of.toordinal() - seen.date().toordinal())
            if day:
                self._days[day] = age
        return seen.timestamp(), age

    def _subjects(self, entry: Entry) -> tuple[str, ...]:
        """The subjects of a memory in the form in which they are compared; its first tag where it has none."""
        names = entry.subjects or entry.own("tags")[:1]
        keys = self._names.get(names)
        if keys is None:
            keys = self._names[names] = tuple(dict.fromkeys(map(normal_name, names))) or ("",)
        return keys


def barred(entry: Entry, belief: Believed, as_of: date) -> str:
    """Why a memory may not stand on the page by what is known of it alone, or the empty string."""
    if entry.record_class not in MEMORIES:
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
    over = end_of_all(map(entry.head.get, ENDS))
    return over is not None and over.date() <= as_of


def in_order(claims: Iterable[Claim]) -> dict[CoreSection, list[Claim]]:
    """The claims of each section, first that which comes first.

    In a section the ranks follow one another. Of one rank what is worth most comes first, but the first of each subject before
    the second of any that is worth as much; and no source that nobody vouches for makes more than half while others wait. A
    beginning of this order is in the same order by itself.
    """
    groups: dict[CoreSection, dict[tuple[bool, bool, bool], dict[str, list[Claim]]]] = {}
    for claim in claims:
        ranks = groups.setdefault(claim.section, {})
        ranks.setdefault(claim.rank, {}).setdefault(claim.source, []).append(claim)
    return {
        section: [claim for rank in sorted(ranks) for claim in _of_a_rank(ranks[rank])]
        for section, ranks in sorted(groups.items(), key=lambda pair: _ORDER[pair[0]])
    }


_ORDER: Mapping[CoreSection, int] = {section: place for place, section in enumerate(CoreSection)}


def _of_a_rank(sources: Mapping[str, list[Claim]]) -> list[Claim]:
    placed = [pair for claims in sources.values() for pair in _by_subject(claims)]
    placed.sort(key=_PLACE)
    ordered = [claim for _, claim in placed]
    return interleaved(ordered, lambda claim: claim.source) if len(sources) > 1 else ordered


def _by_subject(claims: list[Claim]) -> Iterator[tuple[tuple[float, Order], Claim]]:
    """Each with its place: a memory of several subjects takes that of the one in which it comes first."""
    places: dict[str, int] = defaultdict(int)
    claims.sort(key=_ORDER_OF)
    for claim in claims:
        subjects, order = claim.subjects, claim.order
        subject = subjects[0] if len(subjects) == 1 else min(subjects, key=places.__getitem__)
        place = places[subject] = places[subject] + 1
        yield (round(sqrt(place) / -order[0], _DIGITS), order), claim
