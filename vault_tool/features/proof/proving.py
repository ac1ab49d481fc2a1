"""`prove`: figures that show whether the memory helps, from this vault's own memories and sessions; no model, nothing written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

from vault_tool.errors import UsageError
from vault_tool.features.proof import asked_models
from vault_tool.features.proof.asked_models import AskedModel, PlannedAsking
from vault_tool.files.sessions import AgentSession
from vault_tool.index import timeline
from vault_tool.index.schema import relations_of
from vault_tool.model.signals import SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, MEMORIES, RecordClass
from vault_tool.recall.proof_questions import (
    ProofQuestion,
    question_of,
    stand_together,
    unrelated_question,
    words_of,
)
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.util.text import tokens
from vault_tool.vault import seen
from vault_tool.vault.answers import bodies_of
from vault_tool.vault.context import Context
from vault_tool.vault.generated_pages import core_preview
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.retrieval.engine import Query, gather
from vault_tool.vault.retrieval.query import RecallAnswer
from vault_tool.vault.statuses import statuses

QUESTIONS = 60
LEAST_QUESTIONS = 20
"""Fewer questions than this give counts and no percentages."""

_AMONG = 3
_BEHIND = 10
_AT_ONCE = 2000
# So many memories are tried for each question that is wanted: many have too few words, or words that others have too.
_CANDIDATES = 4
_ROWS = 20
_ID = re.compile(r"\b[0-9a-f]{6,36}\b")
_OVERTAKEN = ("overtaken", "superseded")

NOT_MEASURED = (
    "whether an answer was right for the question that a person had in mind",
    "whether work went faster or better with the memory than without it",
    "use by sessions of other machines, and by sessions older than 30 days",
)


class MemoryUse(Struct, kw_only=True):
    """One memory in the sessions of this machine: in how many it was shown, used afterwards, and called questionable."""

    id: str
    title: str
    shown: int
    used: int
    misled: int


class Use(Struct, kw_only=True):
    """Shown, used and misled: counts of memories and sessions, with the memories that were shown most.

    A memory was used where a session that was shown it marked it as useful, cited it or named it in a later write.
    """

    sessions: int
    shown: int
    used: int
    misled: int
    results: tuple[MemoryUse, ...]


class Found(Struct, kw_only=True):
    """Questions made of memories: how many were asked, how often their memory came first, and how often among three.

    Before how many of those that are not first nothing stands but understandings that rest on them says
    `behind_understandings`: an answer begins with what its memories come to. `shares` are the two as shares of `asked`; None
    below 20 questions.
    """

    asked: int
    first: int
    among_three: int
    behind_understandings: int
    shares: tuple[float, float] | None


class Silent(Struct, kw_only=True):
    """Questions of words that never stand together: how many were asked, and how many had no sure answer (`share`: see Found)."""

    asked: int
    silent: int
    share: float | None


class OnPage(Struct, kw_only=True):
    """The page at a session's start: the current memories that stand on it, of how many, and its tokens."""

    shown: int
    current: int
    tokens: int


class Proof(Answer, kw_only=True):
    """The figures of `prove`. `overtaken_alone` are memories that an answer showed as if they still held: it must be empty.

    `asked` is the outcome of asking a model, where one was to be asked.
    """

    use: Use
    found_again: Found
    silent: Silent
    overtaken_asked: int
    overtaken_alone: tuple[str, ...]
    page: OnPage
    not_measured: tuple[str, ...]
    asked: AskedModel | None = None


@verb
@of_the_whole
@looks
def prove(
    vault: Context, *, questions: int = QUESTIONS, project: str | None = None, ask_with: str = "", program: str = ""
) -> Proof:
    """Measure whether this memory helps: what sessions used of it, and whether its index finds again and keeps silent.

    At most so many `questions` of each kind are made of current memories (of one `project`, if given): the two rarest words of a
    memory are left out and the rest is asked, if no other memory has all of them. The same vault gives the same questions.
    Nothing is written and no use is counted. With `ask_with` (ollama:MODEL, ollama:MODEL@HOST, or claude with the whole path of
    its `program`) a person has a model asked 10 of these questions, once without this memory and once with what it finds.
    """
    if questions < 1:
        raise UsageError(f"questions must be 1 or more, not {questions}", f"for example {option('questions', QUESTIONS)}")
    with vault.consistent_read():
        entries = _memories(vault, project)
        standing = statuses(vault, entries)
        asked_for = [entry for entry in entries if entry.type not in KEPT_TYPES]
        current = [entry for entry in asked_for if standing[entry.path].status == "current"]
        overtaken = [entry for entry in entries if standing[entry.path].status in _OVERTAKEN]
        fair, unrelated = _questions(vault, current, questions)
    answers = {question.identity: _ask(vault, question.text) for question in fair}
    silent = sum(_is_silent(_ask(vault, question.text)) for question in unrelated)
    looked_at = [*answers.values(), *(_ask(vault, entry.title) for entry in _spread(overtaken)[:questions])]
    alone = dict.fromkeys(identity for answer in looked_at for identity in _alone(answer))
    asked = asked_models.asked(vault, plan_asking(vault, ask_with, program, project)) if ask_with or program else None
    return Proof(
        use=_use(vault, {entry.id: entry for entry in entries}),
        found_again=_found(vault, answers, fair),
        silent=Silent(asked=len(unrelated), silent=silent, share=_share(silent, len(unrelated))),
        overtaken_asked=min(len(overtaken), questions),
        overtaken_alone=tuple(alone),
        page=_page(vault, {entry.id for entry in current}, project),
        not_measured=NOT_MEASURED,
        asked=asked,
    )


def plan_asking(vault: Context, by: str, program: str = "", project: str | None = None) -> PlannedAsking:
    """The plan of asking a model: what, where, and the tokens that it would take; nothing is asked by this.

    What is known of one user is not sent. Raises UsageError, and Refused where no person asks.
    """
    vault = vault.seen_by("")
    with vault.consistent_read():
        entries = _memories(vault, project)
        standing = statuses(vault, entries)
        current = [entry for entry in entries if entry.type not in KEPT_TYPES and standing[entry.path].status == "current"]
        fair, _ = _questions(vault, [entry for entry in current if not entry.text("user")], asked_models.ASKED)
    return asked_models.planned(vault, by, program, fair, {question.identity: _ask(vault, question.text) for question in fair})


def _memories(vault: Context, project: str | None) -> list[Entry]:
    entries = [entry for entry in vault.index.catalog.snapshot().entries if entry.record_class in MEMORIES]
    return [entry for entry in entries if project is None or entry.text("project") == project]


def _spread(entries: Iterable[Entry]) -> list[Entry]:
    """The entries in an order that has nothing to do with what they say, and is the same each time."""
    return sorted(entries, key=lambda entry: blake2b(entry.id.encode(), digest_size=8).digest())


def _questions(vault: Context, entries: list[Entry], most: int) -> tuple[list[ProofQuestion], list[ProofQuestion]]:
    """Fair questions of memories, and unrelated ones, each at most `most`."""
    count_of: Counter[str] = Counter()
    for _, words in _words(vault, entries):
        count_of.update(words)
    candidates: list[ProofQuestion] = []
    for entry, words in _words(vault, _spread(entries)[: _CANDIDATES * most]):
        if (question := question_of(entry.id, words, count_of)) is not None:
            candidates.append(question)
    half = len(candidates) // 2
    pairs = [unrelated_question(first, second, count_of) for first, second in zip(candidates, candidates[half:], strict=False)]
    doubled: set[int] = set()
    together: set[int] = set()
    for entry, words in _words(vault, entries):
        text = frozenset(words)
        doubled.update(
            n for n, each in enumerate(candidates) if each.identity != entry.id and n not in doubled and each.fits(text)
        )
        together.update(n for n, pair in enumerate(pairs) if n not in together and stand_together(pair, text))
    fair = [question for n, question in enumerate(candidates) if n not in doubled]
    return fair[:most], [pair for n, pair in enumerate(pairs) if n not in together][:most]


def _words(vault: Context, entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """Each memory with the words of its title and body, read some thousands at a time."""
    for start in range(0, len(entries), _AT_ONCE):
        batch = entries[start : start + _AT_ONCE]
        bodies = bodies_of(vault, batch)
        for entry in batch:
            yield entry, words_of(f"{entry.title} {bodies.get(entry.path, '')}")


def _ask(vault: Context, text: str, limit: int = _AMONG) -> RecallAnswer:
    return gather(vault, Query(query=text, limit=limit, include_global=False))


def _is_silent(answer: RecallAnswer) -> bool:
    """Whether an answer claims nothing: it is empty, or unsure of all that it shows."""
    return all(result.weak for result in answer.results)


def _alone(answer: RecallAnswer) -> Iterator[str]:
    """The memories of an answer that no longer hold, with no mark and without the memory that took their place."""
    ids = {result.id for result in answer.results}
    for result in answer.results:
        if result.status in _OVERTAKEN and ids.isdisjoint(result.status_by) and not result.said_beside:
            yield result.id


def _found(vault: Context, answers: Mapping[str, RecallAnswer], fair: Sequence[ProofQuestion]) -> Found:
    first = {identity for identity, answer in answers.items() if answer.results and answer.results[0].id == identity}
    among = sum(any(result.id == identity for result in answer.results[:_AMONG]) for identity, answer in answers.items())
    shares = (_share(len(first), len(answers)), _share(among, len(answers)))
    known = None if shares[0] is None or shares[1] is None else (shares[0], shares[1])
    behind = sum(_is_behind_its_own(vault, question) for question in fair if question.identity not in first)
    return Found(asked=len(answers), first=len(first), among_three=among, behind_understandings=behind, shares=known)


def _is_behind_its_own(vault: Context, question: ProofQuestion) -> bool:
    """Whether a question finds its memory with nothing before it but understandings that rest on it."""
    ids = [result.id for result in _ask(vault, question.text, _BEHIND).results]
    if question.identity not in ids:
        return False
    before = ids[: ids.index(question.identity)]
    entries = vault.index.catalog.of_ids(before)
    return all(
        entry.record_class is RecordClass.UNDERSTANDING and question.identity in dict(relations_of(entry)) for entry in entries
    )


def _share(count: int, asked: int) -> float | None:
    return round(count / asked, 3) if asked >= LEAST_QUESTIONS else None


def _page(vault: Context, current: set[str], project: str | None) -> OnPage:
    # In a large vault the questions before it take minutes.
    vault.fresh()
    text = core_preview(vault, project=project or vault.who.project).text
    catalog = vault.index.catalog
    named = {entry.id for prefix in dict.fromkeys(_ID.findall(text)) for entry in catalog.by_prefix(prefix, 2)}
    return OnPage(shown=len(named & current), current=len(current), tokens=tokens(text))


def _use(vault: Context, by_id: Mapping[str, Entry]) -> Use:
    shown: Counter[str] = Counter()
    used: Counter[str] = Counter()
    misled: Counter[str] = Counter()
    sessions = seen.all_known(vault)
    for session in sessions:
        known = {identity for identity in session.shown if identity in by_id}
        shown.update(known)
        useful, questioned = _judged(vault, session, known)
        used.update(useful | _taken_up(vault, session, {identity: by_id[identity] for identity in known}))
        misled.update(questioned)
    order = sorted(shown, key=lambda identity: (-shown[identity], -used[identity], by_id[identity].title))
    rows = tuple(
        MemoryUse(id=each, title=by_id[each].title, shown=shown[each], used=used[each], misled=misled[each])
        for each in order[:_ROWS]
    )
    return Use(sessions=len(sessions), shown=len(shown), used=len(used), misled=len(misled), results=rows)


def _judged(vault: Context, session: AgentSession, known: set[str]) -> tuple[set[str], set[str]]:
    """The memories that a session marked as useful, and as questionable, of those that it was shown."""
    signals = [signal for signal in timeline.signals_in(vault.index.catalog, session.id) if signal.target in known]
    kinds = (SignalKind.USEFUL, SignalKind.QUESTIONABLE)
    useful, questioned = ({signal.target for signal in signals if signal.kind is kind} for kind in kinds)
    return useful, questioned


def _taken_up(vault: Context, session: AgentSession, known: Mapping[str, Entry]) -> set[str]:
    """The memories that a later write of the session cites by id, or names by their title."""
    written = [entry for entry in timeline.written_in(vault.index.catalog, session.id) if entry.id not in known]
    bodies = bodies_of(vault, written)
    taken: set[str] = set()
    for entry in written:
        cited = {target for target, _ in relations_of(entry)}
        text = f"{entry.title} {bodies.get(entry.path, '')}".casefold()
        for identity, shown in known.items():
            # Shown first and written afterwards: what was shown of its own write was not used by it.
            if _second(session.shown[identity].first) <= _second(entry.text("created")) and (
                identity in cited or shown.title.casefold() in text
            ):
                taken.add(identity)
    return taken


def _second(moment: str) -> str:
    """A moment of UTC to the second, which is as far as a note tells when it was made."""
    return moment[:19]
