"""Looking at memories: `get`, `show` and `related`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from msgspec.structs import replace

from vault_tool.belief import posterior as bayes
from vault_tool.belief.decay import standing
from vault_tool.belief.fold import Belief, counting, moving
from vault_tool.errors import Busy, NotFound, Refused, StorageError, UsageError
from vault_tool.features.reading import memory_timeline
from vault_tool.files import frontmatter, reader
from vault_tool.index.catalog import PAGE, Page
from vault_tool.index.relations import references
from vault_tool.model import consent
from vault_tool.model.authority import by_origin
from vault_tool.model.signals import ConsentState, Signal, SignalKind, Use
from vault_tool.model.snapshot import PUT, Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall import passage
from vault_tool.util.hints import option, shell
from vault_tool.util.structs import Struct
from vault_tool.util.text import PART, content_hash, counted
from vault_tool.vault import beside, evidence_state, facts, link_meaning, resolve, screening
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus, Headline
from vault_tool.vault.context import NOT_COMPARED, Context, Freshness
from vault_tool.vault.lean import Short, lean_details, provenance_note, title_if_new, without_empty
from vault_tool.vault.request import Envelope, in_time, looks, verb
from vault_tool.vault.standing import about, confidence_of
from vault_tool.vault.statuses import CURRENT, statuses

if TYPE_CHECKING:
    from vault_tool.belief.posterior import Posterior
    from vault_tool.features.reading.memory_timeline import Timeline
    from vault_tool.model.consent import ConsentRecord
    from vault_tool.vault.evidence_state import EvidenceCheck


class Relation(HasStatus, kw_only=True):
    """One link of a memory, and the other memory with its status: `relation` is the field or the edge's type, `direction` out
    (from it) or in (to it).
    """

    relation: str
    direction: str
    id: str
    title: str
    type: str
    path: str
    edge_id: str | None = None
    why: str = ""
    strength: float | None = None


class Joined(NamedTuple):
    """A link as it was met: what it is called, its direction, the record at the other end, and the edge that says so."""

    relation: str
    direction: str
    other: Entry
    edge: Entry | None = None


class NoteSource(Struct, kw_only=True):
    """A note's whole file, head and all, and the hash by which an edit knows that it is still the same."""

    text: str
    hash: str


class Memory(Headline, Envelope, kw_only=True):
    """One memory, whole: its text, its head, its relations and what is believed of it.

    `evidence` is what it rests on, each reference as it stands now; `evidence_moved` says that one of the files changed.
    `put_by_others` are the tags, subjects and relations that somebody else put to it, or took from it: they count in no order.
    `not_at_start` says that a person keeps it off the page of a session's start; it is found and recalled as any other.
    `consent` is the last answer of whom it is about (None: nobody asked or answered), `consents` all of them; what is
    refused or withdrawn is shown to the vault's owner alone. A page, a file that is no record, has no id (the empty text).
    Of a long text that is read in `parts` the `part` is said that is given; 0 is the whole. `vault` is the name of another vault
    that it was read in.
    """

    told_where_any: ClassVar = ("vault",)

    content: str
    path: str
    head: Mapping[str, Any]
    relations: tuple[Relation, ...]
    solved_by: str | None
    truth: float
    utility: float
    access_count: int
    last_accessed: str | None
    decay_score: float
    standing: str
    generation: int | None
    created: str
    origin: str
    reviewed: bool
    not_at_start: bool = False
    put_by_others: tuple[str, ...] = ()
    consent: ConsentState | None
    consents: tuple[ConsentRecord, ...]
    stale: bool
    evidence: tuple[EvidenceCheck, ...]
    evidence_moved: bool
    notice: str = HYPOTHESIS_NOTICE
    belief: Belief | None = None
    posterior: Mapping[str, Posterior] | None = None
    timeline: Timeline | None = None
    source: NoteSource | None = None
    part: int = 0
    parts: int = 1
    vault: str = ""
    freshness: Freshness = NOT_COMPARED

    def lean(self, short: Short) -> dict[str, Any]:
        """The memory with what links it; scores and head are for who looks into it. Of another vault ids are whole."""
        short = str if self.vault else short
        links = [
            without_empty({
                "relation": relation.relation, "direction": relation.direction, "id": short(relation.id),
                "title": relation.title, "why": relation.why, **relation.lean_status(short),
            }) for relation in self.relations
        ]  # fmt: skip
        return without_empty({
            **({"id": short(self.id)} if self.id else {"path": self.path}), "vault": self.vault,
            "class": self.record_class, "type": self.type,
            **title_if_new(self.title, self.content),
            **(without_empty({"part": self.part, "parts": self.parts}) if self.parts > 1 else {}),
            **lean_details(self.details, short), "subjects": self.subjects,
            "observed": self.observed[:10], **self.lean_status(short),
            "solved_by": self.solved_by and short(self.solved_by),
            "links": links, "evidence_moved": self.evidence_moved, "consent": self.consent, "stale": self.stale,
            "not_at_start": self.not_at_start, "put_by_others": self.put_by_others,
            **provenance_note(self.origin, self.reviewed),
        })  # fmt: skip


class Relations(HasStatus, Envelope, kw_only=True):
    """The answer of `related`: the memory with its status, and what it is linked to."""

    id: str
    title: str
    results: tuple[Relation, ...]
    freshness: Freshness = NOT_COMPARED


@verb
@in_time
def get(vault: Context, memory_id: str, part: int | None = None, *, as_of: str | None = None) -> Memory:
    """One memory by id, prefix, path or name. It counts as an access: what is read is remembered longer.

    Of a long one `part` gives that part alone, from 1 on, and `parts` says how many there are. `team:a1b2c3` is one of the vault
    that is called team. `as_of` gives it as it was known at a time, which is no access.
    """
    if (elsewhere := _elsewhere(vault, memory_id)) is not None:
        name, named = elsewhere
        return _told_here(vault, replace(beside.one(vault, name, lambda place: get(place, named, part)), vault=name))
    memory = show(vault, memory_id)
    if part is not None or len(memory.content) > PART:
        memory = _in_parts(memory, part)
    if not memory.id:
        return memory
    home = resolve.vault_holding(resolve.unrestricted(vault), memory.id)
    with suppress(Busy, StorageError, Refused):  # an answer is not worth less where the disk is full
        home.local.note_use(Use(at=vault.now(), target=memory.id, session=_shared(vault.who.session)))
    return memory


def _in_parts(memory: Memory, part: int | None) -> Memory:
    """A part of a long memory, or all of it; either way with how many parts there are."""
    several = passage.parts(memory.content)
    if part is None:
        return replace(memory, parts=len(several))
    if not 0 < part <= len(several):
        raise UsageError(f"there is no part {part}: it has {counted(len(several), 'part')}", f"for example {option('part', 1)}")
    start, stop = several[part - 1]
    return replace(memory, content=memory.content[start:stop], part=part, parts=len(several))


def _shared(session: str) -> str:
    """The session as other clones may know it."""
    if not session:
        return ""

    return screening.shareable(session)


@verb
@looks
def show(
    vault: Context, memory_id: str, *, belief: bool = False, timeline: bool = False, source: bool = False
) -> Memory:  # fmt: skip
    """The same for a person who looks: not an access. With `belief`, the whole fold of its signals beside it.

    `timeline` gives each signal with what it did, how the memory fades, and which sessions were shown it; `source` the text of
    its file, as `edit` takes it.
    """
    if (elsewhere := _elsewhere(vault, memory_id)) is not None:
        name, named = elsewhere
        looked = beside.one(
            vault, name, lambda place: show(place, named, belief=belief, timeline=timeline, source=source)
        )  # fmt: skip
        return _told_here(vault, replace(looked, vault=name))
    home = resolve.vault_holding(resolve.unrestricted(vault), memory_id, begun=True)
    if page := resolve.page(vault, memory_id, by_name=not resolve.candidates(home, memory_id.strip())):
        memory = _page(vault, page)
        return replace(memory, source=_source(vault, page.path)) if source else memory
    vault = home
    entry = resolve.find(vault, memory_id, begun=True)
    judged = vault.standings.belief_of(entry)
    score = vault.standings.score_of(entry, judged, vault.clock.now())
    evidence = evidence_state.evidence_of(vault, entry) if entry.texts("evidence") else ()
    state, consents = _consent(entry, vault.index.catalog.signals(entry.id))
    return facts.Memory(vault, entry, belief=judged).told(
        Memory, head={name: value for name, value in entry.head.items() if name != PUT},
        relations=_relations(vault, linked(vault, entry)),
        solved_by=solution.id if (solution := vault.standings.solved_since([entry]).get(entry.id)) else None,
        decay_score=score, standing=standing(score).value, put_by_others=_put_by_others(entry), consent=state, consents=consents,
        evidence=evidence, evidence_moved=bool(evidence) and evidence_state.evidence_moved(evidence),
        belief=judged if belief else None, posterior=_posterior(vault, entry, judged) if belief else None,
        timeline=memory_timeline.timeline_of(vault, entry, judged) if timeline else None,
        source=_source(vault, entry.path) if source else None,
    )  # fmt: skip


def _elsewhere(vault: Context, memory_id: str) -> tuple[str, str] | None:
    """Another vault's name and what is named there; None where this one has what is called so, or no vault is."""
    named = beside.split_name(vault, memory_id) if ":" in memory_id else None
    if named is None:
        return None
    vault.fresh()
    return None if resolve.candidates(vault, memory_id.strip()) else named


def _told_here(vault: Context, memory: Memory) -> Memory:
    """A memory of another vault without its relations to what this one keeps to itself; raises what this one says of its id."""
    keeper = resolve.unrestricted(vault)
    withheld = beside.kept_to_itself(keeper, filter(None, (memory.id, *(relation.id for relation in memory.relations))))
    if memory.id in withheld:
        resolve.find(keeper, memory.id)
    return replace(memory, relations=tuple(relation for relation in memory.relations if relation.id not in withheld))


def _put_by_others(entry: Entry) -> tuple[str, ...]:
    """The changes others made to the lists of the owner's memory, a line each; they count in no order."""
    flags = {"pinned": "pin", "not_at_start": "not at a session's start"}
    names = {"tags": "tag ", "subjects": "subject ", "related_to": "related_to "}
    lines = ((flags.get(change.field) or f"{names[change.field]}{change.item}", change) for change in entry.put_by_others)
    return tuple(f"{'without ' if change.taken else ''}{name}: {change.by}" for name, change in lines)


def _source(vault: Context, path: str) -> NoteSource:
    """A note's file; NotFound where it is gone, UsageError where it is no text."""
    try:
        data = reader.read(vault.root, path)
        return NoteSource(text=data.decode("utf-8"), hash=content_hash(data))
    except FileNotFoundError as fault:
        raise NotFound(f"the file {path} is gone", f"{shell(f'git checkout -- {path}')} brings it back") from fault
    except UnicodeDecodeError as fault:
        raise UsageError(f"{path} is not UTF-8 text: {fault.reason}", "save it as UTF-8") from fault


def _consent(entry: Entry, signals: Sequence[Signal]) -> tuple[ConsentState | None, tuple[ConsentRecord, ...]]:
    """The consent to a memory, and all that was asked and answered."""
    if not any(signal.kind is SignalKind.CONSENT for signal in signals):
        return None, ()

    given_consent = consent.consent_of(entry, signals)
    return given_consent.state, given_consent.records


def _page(vault: Context, page: Page) -> Memory:
    """A file that is no record: its text, and nothing that could be believed or fade."""
    data = b""
    with suppress(FileNotFoundError):
        data = reader.read(vault.root, page.path)
    head, body, _ = frontmatter.read(data)
    return Memory(
        id="", record_class=PAGE, type=PAGE, title=page.title, subjects=(), summary=None, observed="",
        confidence=None, details={}, content=body.strip("\r\n"), path=page.path,
        head=head.values if head is not None else {}, relations=(), solved_by=None, truth=0.0, utility=0.0,
        access_count=0, last_accessed=None, decay_score=0.0, standing="", generation=None, created="", origin="owner",
        reviewed=False, consent=None, consents=(), stale=False, evidence=(), evidence_moved=False,
    )  # fmt: skip


def _posterior(vault: Context, entry: Entry, judged: Belief) -> dict[str, Posterior]:
    """A Bayesian posterior of the same signals, to compare with the bounded steps."""
    signals = moving(counting(about(entry, vault.index.catalog.signals(entry.id))), by_origin(entry.origin))[0]
    truth = bayes.truth_posterior(signals, confidence_of(entry))
    local = {f"utility for {problem}": bayes.utility_posterior(signals, problem) for problem in judged.by_problem}
    return {"truth": truth, "utility": bayes.utility_posterior(signals), **local}


def linked(vault: Context, entry: Entry) -> Iterator[Joined]:
    """Everything that the memory points at and everything that points at it, edges with their prose."""
    catalog = vault.index.catalog
    for field, target in references(entry):
        yield from (Joined(field, "out", other) for other in catalog.get(target))
    for field, source in catalog.pointing_at(entry.id):
        if source.record_class is RecordClass.EDGE:
            yield from _across(vault, source, field, entry)
        else:
            yield Joined(field, "in", source)
    yield from (Joined("link", "out", other) for other in link_meaning.meant_by(vault, entry))
    yield from (Joined("link", "in", source) for source in link_meaning.linking(vault, entry))


@verb
@looks
def related(vault: Context, memory_id: str, *, types: Sequence[str] = ()) -> Relations:
    """The links of a memory: edges, supersession, evidence, problems and solutions, weak links; not subjects."""
    entry = resolve.find(vault, memory_id, begun=True)
    asked_types = {kind.casefold() for kind in types}
    links = (link for link in linked(vault, entry) if not asked_types or link.relation.casefold() in asked_types)
    return facts.Memory(vault, entry).told(Relations, results=_relations(vault, links))


def _relations(vault: Context, links: Iterable[Joined]) -> tuple[Relation, ...]:
    """The links as they are told: each with the status of the memory at its other end."""
    met = tuple(links)
    known = statuses(vault, {link.other.path: link.other for link in met}.values())
    return tuple(
        facts.Memory(vault, link.other, known.get(link.other.path, CURRENT)).told(
            Relation, relation=link.relation, direction=link.direction, edge_id=link.edge.id if link.edge else None,
            why=link.edge.preview if link.edge else "", strength=link.edge.number("strength") if link.edge else None,
        )
        for link in met
    )  # fmt: skip


def _across(vault: Context, edge: Entry, field: str, entry: Entry) -> Iterator[Joined]:
    """The memory at the other end of an edge, as a link of this one."""
    direction = "out" if field == "from_id" else "in"
    other_end = edge.text("to_id" if field == "from_id" else "from_id")
    if field not in ("from_id", "to_id"):
        return
    for other in vault.index.catalog.get(other_end):
        yield Joined(edge.type, direction, other, edge)
