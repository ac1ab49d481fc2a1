"""`recall`: a question answered with its best memory and what supports it, or a subject with what is understood of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias, Unpack

from msgspec.structs import replace

from vault_tool.belief.fold import Belief
from vault_tool.belief.gates import disbelieved
from vault_tool.errors import UsageError
from vault_tool.features.recall import found_chats
from vault_tool.index.relations import names_of
from vault_tool.index.visibility import Request, visible
from vault_tool.model.details import Details
from vault_tool.model.fields import Narrowing
from vault_tool.model.signals import Use
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.select import within_budget
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault import resolve, screening, seen, shortened
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus
from vault_tool.vault.contests import changes_of, foremost
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory, copied
from vault_tool.vault.lean import Short, lean_details, lean_tokens, leaned, without_empty
from vault_tool.vault.lean import answer as lean_answer
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.request import Answer, for_user, in_time, looks, verb
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Explanation, ProfileName, Query, RecallAnswer, Recalled, narrowed
from vault_tool.vault.statuses import statuses
from vault_tool.vault.viewer import request_of

_Statuses: TypeAlias = Mapping[str, HasStatus]

# Tokens of what stands around the results: names, commas, and that they are to be checked.
_FRAME = 20

# At most so many results stand beside the best answer as its support.
SUPPORTING = 5


class BestAnswer(Struct, kw_only=True):
    """The memory that answers best."""

    id: str
    subject_names: tuple[str, ...]
    content: str
    details: Details
    confidence: float | None
    kind: str
    source: str
    cut: str = ""


class Support(Struct, kw_only=True):
    """A memory that stands beside the best answer."""

    id: str
    subject_names: tuple[str, ...]
    content: str
    details: Details
    score: float


class Origin(Struct, kw_only=True):
    """Where the best answer comes from."""

    session_id: str | None
    model_tier: str | None
    created_at: str


class Bundle(Answer, kw_only=True):
    """The answer to a question. `best_answer` is None where nothing fits well enough: an empty answer is a good answer."""

    stands_before = "degraded"

    mode: Literal["question"] = "question"
    query: str
    best_answer: BestAnswer | None
    supporting: tuple[Support, ...]
    provenance: Origin | None
    results: tuple[Recalled, ...]
    degraded: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    why_not: Explanation | None = None
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The results alone: the best answer and its support are among them, and what is weak says so."""
        fate = {"why_not": self.why_not.lean(short)} if self.why_not else {}
        return lean_answer(leaned(self.results, short), self.degraded, **fate)


class BundleWithChats(Bundle, kw_only=True):
    """An answer with imported conversations beside it, the best first."""

    chats: tuple[found_chats.FoundChat, ...]


class AboutSubject(Struct, kw_only=True):
    """A subject as it is introduced."""

    id: str
    name: str
    summary: str | None
    tags: tuple[str, ...]


class Understood(HasStatus, kw_only=True):
    """An active understanding."""

    id: str
    content: str
    summary: str
    generation: int | None
    updated_at: str
    cut: str = ""


class Observed(HasStatus, kw_only=True):
    """A recent observation of a subject."""

    id: str
    content: str
    details: Details
    kind: str
    observed_at: str
    cut: str = ""

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that an agent needs."""
        text = {"content": self.content, "cut": self.cut}
        fields = {"id": short(self.id), "type": self.kind, **text, **lean_details(self.details, short)}
        return without_empty({**fields, "observed": self.observed_at[:10], **self.lean_status(short)})


class SubjectView(Answer, kw_only=True):
    """A subject's understandings and its most recent observations."""

    stands_before = "degraded"

    mode: Literal["subject"] = "subject"
    query: str
    subject: AboutSubject
    single_subject_understanding: Understood | None
    structural_understanding: Understood | None
    recent_observations: tuple[Observed, ...]
    degraded: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The subject, what is understood of it, and what was seen of it last."""
        understood = (("understanding", self.single_subject_understanding), ("structural", self.structural_understanding))
        whole = {
            name: without_empty(
                {
                    "id": short(understanding.id),
                    "content": understanding.content or understanding.summary,
                    "cut": understanding.cut,
                    "updated": understanding.updated_at[:10],
                    **understanding.lean_status(short),
                }
            )
            for name, understanding in understood
            if understanding is not None
        }
        seen = [observation.lean(short) for observation in self.recent_observations]
        subject = without_empty({"name": self.subject.name, "summary": self.subject.summary, "tags": self.subject.tags})
        return lean_answer(seen, self.degraded, subject=subject, **whole)


@verb
@looks
@for_user
@in_time
@spelled_out
def recall(
    vault: Context,
    query: str,
    limit: int = 10,
    *,
    profile: ProfileName = "targeted",
    session: str | None = None,
    user: str | None = None,
    hops: int = 0,
    problem: str = "",
    budget: int | None = None,
    include_global: bool = True,
    doubtful: bool = False,
    explain: bool = False,
    why_not: str = "",
    count: bool = True,
    vaults: Sequence[str] = (),
    as_of: str | None = None,
    chats: bool = False,
    **narrowing: Unpack[Narrowing],
) -> Bundle | SubjectView:
    """The memories that answer a question, best first; for an exact subject name or alias, its understandings.

    `kinds` are types or classes, `tags` all of which it has and `not_tags` none, `project` the only one that it may be of,
    a field of one word the word that it has there,
    `since` and `until` (`2026-11-20`, `2026-11`, `7d`) bound when it was observed, `session` is the conversation that
    wrote it, `user` who asks: another's memories are not there for them,
    `hops` (0..3) how far what is merely alike is followed, beside the links that always are, `problem` the problem that it
    is to help with, `budget` a bound in tokens, `doubtful` shows what is believed to be false too, `explain` gives every
    factor of every score, `why_not` names a memory of which it is told at which stage it fell out. Without `count` the answer
    is not counted as used, nor as seen by the session: for who looks at how it is made. `vaults` names other vaults of this
    machine's settings that are asked too (`all`: each of them) and that then say where each result is from; without it this one
    and the global one answer. `as_of` asks what was known at a time, of this vault alone.
    With `chats` imported conversations that hold the words are named beside the memories, which alone answer.
    """
    asked = Query(
        query=query, profile=profile, session=session, limit=limit, hops=hops, budget=budget, include_global=include_global,
        doubtful=doubtful, explain=explain, vaults=tuple(vaults), **narrowed(narrowing),
    )  # fmt: skip
    subject = None if chats or _narrowed(asked) else resolve.subject(vault, query)
    # A name alone asks who or what that is; any filter makes it a question.
    if subject is not None and why_not:
        hint = f"put it as a question, or narrow it: {step('recall', query='what of ...?', why_not=...)}"
        raise UsageError(f"`{one_line(query, 40)}` is a subject, whose own page answers: nothing is ranked", hint)
    if subject is not None:
        view = _of_subject(vault, query, subject, asked)
        if count:
            _note_subject(vault, view)
        return view
    if problem:
        asked = replace(asked, problem=resolve.find(vault, problem, (RecordClass.OBSERVATION,), begun=True).id)
    if why_not:
        asked = replace(asked, why_not=resolve.find(resolve.vault_holding(vault, why_not, begun=True), why_not, begun=True).id)
    answer = gather(vault, asked)
    bundle = copied(BundleWithChats, _bundle(answer), chats=found_chats.found(vault, asked)) if chats else _bundle(answer)
    if count:
        note_answer(vault, answer.results, "recall")
    return bundle


def _narrowed(asked: Query) -> bool:
    """Whether the asker wants part of the memories only: then no subject's own page answers, which knows all of them."""
    named = (asked.kinds, asked.subject_names, asked.tags, asked.not_tags, asked.project, asked.since, asked.until)
    return any((*named, asked.words, asked.session, asked.vaults))


def _bundle(answer: RecallAnswer) -> Bundle:
    results = answer.results
    best = results[0] if results and not results[0].weak else None
    supporting = results[1 : 1 + SUPPORTING] if best else ()
    return Bundle(
        query=answer.query,
        best_answer=copied(BestAnswer, best) if best else None,
        supporting=tuple(copied(Support, result) for result in supporting if not result.weak),
        provenance=copied(Origin, best) if best else None,
        results=results,
        degraded=answer.degraded,
        warnings=answer.warnings,
        why_not=answer.why_not,
    )


def note_answer(vault: Context, results: Sequence[Recalled], how: str, *, used: bool = True) -> None:
    """Remember that the best answer was used, and what the session has seen of it: what is weak was only offered.

    What merely supports an answer was not asked for, and what was overtaken is no answer. Nothing is written to other vaults.
    """
    best = results[0] if results else None
    if used and best is not None and not best.weak and best.answers:
        home = vault if best.scope == "repo" else vault.global_vault if best.scope == "global" else None
        if home is not None:
            count_use(home, [best.id], vault.who.session)
    seen.note_seen(vault, [result.id for result in results if not result.weak], how)


def _note_subject(vault: Context, view: SubjectView) -> None:
    """The same of a subject's page: what is understood of it is its answer, what was seen of it last is listed."""
    shown = [
        understanding.id
        for understanding in (view.single_subject_understanding, view.structural_understanding)
        if understanding is not None
    ]
    if view.single_subject_understanding:
        count_use(vault, [view.single_subject_understanding.id], vault.who.session)
    seen.note_seen(vault, [*shown, *(observation.id for observation in view.recent_observations)], "recall")


def count_use(home: Context, ids: Sequence[str], session: str) -> None:
    """Count each as used, once a session, without one once a day; an answer is not worth less where that fails."""
    now = home.now()
    if session:
        session = screening.shareable(session)
    with suppress(*seen.UNKEPT):
        known = {use.target for use in home.uses.of(ids) if use.session == session and (session or use.at[:10] == now[:10])}
        new = [identity for identity in ids if identity not in known]
        for identity in new:
            home.local.note_use(Use(at=now, target=identity, session=session))


def _of_subject(vault: Context, query: str, subject: Entry, asked: Query) -> SubjectView:
    names = names_of(subject)
    request = request_of(vault)
    tagged = [entry for entry in vault.index.catalog.tagged([names]) if visible(entry, request, "observed") is None]
    observations = [entry for entry in tagged if entry.record_class is RecordClass.OBSERVATION]
    observations.sort(key=lambda entry: entry.observed_sort_key, reverse=True)
    shown = _after_what_overtook_them(vault, _believed(vault, observations, asked.limit))[: asked.limit]
    understood = {kind: _understanding(vault, tagged, kind, names) for kind in ("single_subject", "structural")}
    known = statuses(vault, [*shown, *(entry for entry in understood.values() if entry is not None)])
    recent = [_observed(vault, entry, known) for entry in shown]
    view = SubjectView(
        query=query,
        subject=Memory(vault, subject).told(AboutSubject, name=subject.text("name")),
        single_subject_understanding=_understood(vault, understood["single_subject"], known),
        structural_understanding=_understood(vault, understood["structural"], known),
        recent_observations=(),
    )
    if asked.budget is None:
        return replace(view, recent_observations=tuple(recent))
    # What is understood comes first: observations have what that leaves of the budget.
    view = _bounded(view, asked.budget - _FRAME)
    left = asked.budget - lean_tokens(view) - _FRAME
    fitting = within_budget(recent, left, lean_tokens, lambda long, most: shortened.within(long, most, query))
    return replace(view, recent_observations=tuple(fitting))


def _bounded(view: SubjectView, budget: int) -> SubjectView:
    """A subject whose understandings have no more room than the budget: the beginning of each, or its summary in its place."""
    for name in ("structural_understanding", "single_subject_understanding"):
        while (long := getattr(view, name)) is not None and long.content and (over := lean_tokens(view) - budget) > 0:
            content, cut = shortened.less(long.content, over)
            changed: Any = {name: replace(long, content=content, cut=cut if content else shortened.NO_TEXT)}
            view = replace(view, **changed)
    return view


def _observed(vault: Context, entry: Entry, known: _Statuses) -> Observed:
    return Memory(vault, entry, known[entry.path]).told_first(Observed)


def _believed(vault: Context, entries: Sequence[Entry], limit: int) -> list[Entry]:
    """The first of these that are not held to be false; only as many are judged as it takes."""
    believed: list[Entry] = []
    for start in range(0, len(entries), 4 * limit):
        page = entries[start : start + 4 * limit]
        request = _disbelieving(vault.standings.beliefs(page))
        believed.extend(entry for entry in page if visible(entry, request, "ranked") is None)
        if len(believed) >= limit:
            break
    return believed[:limit]


def _after_what_overtook_them(vault: Context, entries: Sequence[Entry]) -> list[Entry]:
    """These in their order, each that was overtaken behind the newest of what overtook it, whatever that is tagged with."""
    changes = changes_of(vault, entries)
    ordered: dict[str, Entry] = {}
    for entry in entries:
        if changes.get(entry.path):
            ordered.setdefault(changes[entry.path][0].path, changes[entry.path][0])
        ordered.setdefault(entry.path, entry)
    return list(ordered.values())


def _disbelieving(believed: Mapping[str, Belief]) -> Request:
    return Request(disbelieved=lambda entry: disbelieved(believed[entry.id]))


def _understanding(vault: Context, tagged: Sequence[Entry], kind: str, names: Sequence[str]) -> Entry | None:
    """The newest active understanding of a kind that is of exactly this subject; what contests another comes after that."""
    known, request = set(names), request_of(vault)
    heads = [
        entry
        for entry in tagged
        if entry.type == kind
        and visible(entry, request, "present") is None
        and {normal_name(name) for name in entry.subjects} <= known
    ]
    return foremost(vault, heads)


def _understood(vault: Context, entry: Entry | None, known: _Statuses) -> Understood | None:
    if entry is None:
        return None
    return Memory(vault, entry, known[entry.path]).told_first(Understood)
