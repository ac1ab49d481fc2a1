"""The lanes of recall over one vault: words, meaning, named subjects, and neighbours of these in a session."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Literal

import msgspec
from msgspec import field

from vault_tool.generate.core_forms import MOST_STATES
from vault_tool.index import timeline
from vault_tool.index.catalog import Catalog
from vault_tool.index.fulltext.documents import handle_names
from vault_tool.index.schema import linked_as, links_of, path_name
from vault_tool.index.text_search import TermMatch
from vault_tool.index.trusted_authors import unverified_authors
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import GENERAL, MEMORIES, RecordClass
from vault_tool.recall import times as read_times
from vault_tool.recall.candidate import Candidate, Key, Line
from vault_tool.recall.match import BREADTH, NAMED_ALONE, NO_WORDS, beyond, mentioned
from vault_tool.recall.question import COMMON, SELF, Question, telling_words, without, word_count
from vault_tool.recall.weights import Weights
from vault_tool.recall.wishes import INSTRUCTION, PREFERENCE, wish_in
from vault_tool.util.clock import parse_time
from vault_tool.util.text import normal_name
from vault_tool.vault.context import Context
from vault_tool.vault.retrieval import vector_scores
from vault_tool.vault.retrieval.filters import Filters
from vault_tool.vault.retrieval.named import OF_ONE, Named, named_subjects
from vault_tool.vault.retrieval.query import Query
from vault_tool.vault.retrieval.vector_scores import VectorScores
from vault_tool.vault.work_left import is_of, task_states

Scope = Literal["repo", "global"]

# The hits of each lane that are weighed; with 96 no further question of the measured ones was answered.
_LANE = 64

# The factor by which more hits are scored by words, because the neighbours of a hit may be among them.
_SCORED = 3

# The factor by which more hits are looked at with filters, because filters refuse most of them.
_FILTERED = 4

_TAGGED = 24
# The best hidden hits of each lane whose links are followed.
_BRIDGES = 24
# The best hits for each sentence of a conversation that are looked at.
_MENTIONED = 12
_ENDS = "?!. "
# The first letters by which words are compared, and the least letters of such a word.
_STEM, _SHORTEST = 5, 3

# A time of at most so many days brings in everything observed then, whatever its words.
_FEW_DAYS = 10

# The best hits of either lane that bring in their neighbours in the session.
_IN_SESSION = 8
_REACH = 2
_LETTERS_A_WORD = 6
_HEAD_LETTERS = 320
_WHOLE_PREVIEW = 190
_SPEAKER = re.compile(r'[*_]{0,2}([^:\n"*_]{1,60})[*_]{0,2}(?::[*_]{0,2} | said, ["“])')
# Speakers in the log of a conversation with a model, tagged or not.
_PARTS = frozenset((*SELF, "assistant", "agent", "ai", "bot", "model", "system"))

# A note with at least so many links, which make at least this part of it, is a list. It stands just behind a listed note that is
# nearly as good, unless the question is the name of the list.
_FEW_LINKS, _MOSTLY_LINKS = 5, 0.3
_LISTED, _NAMED = 0.5, 0.999


class Pool(msgspec.Struct):
    """The candidates of one vault for one question, by scope and path.

    `bridges` are memories that a filter of kinds hides, or that the session has seen: they are no answers, but memories that
    they link to may be.
    """

    vault: Context
    catalog: Catalog
    scope: Scope
    filters: Filters
    candidates: dict[Key, Candidate] = field(default_factory=dict)
    bridges: dict[Key, Candidate] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    meaning: VectorScores | None = None
    degraded: tuple[str, ...] = ()
    pointed: dict[str, list[tuple[str, Entry]]] = field(default_factory=dict)
    named: Named = field(default_factory=lambda: Named([], []))

    def candidate(self, entry: Entry, *why: str) -> Candidate:
        """The candidate for an entry; a new one is added to the pool."""
        key = (self.scope, entry.path)
        known = self.candidates.get(key)
        if known is None:
            known = self.candidates[key] = Candidate(key, entry, entry.text("session"), why=why)
        return known


def _beside_the_words(pool: Pool, question: Question, asked: Query, states: Sequence[Entry], *, heard: bool) -> Iterator[str]:
    """Paths of memories that a question means by its subjects, session, days or kind, whatever their words are.

    `states` are the memories that say where the work was left, if the question asks that.
    """
    catalog, named = pool.catalog, pool.named
    for group in named.groups or pool.filters.subjects:
        yield from catalog.newest_tagged(group, _TAGGED)
    for group in named.groups if named.whole or heard else ():
        yield from catalog.newest_tagged(group, _TAGGED, OF_ONE)
    yield from named.paths(catalog)
    yield from _in_session(pool, asked)
    yield from _of_days(pool, question)
    yield from (entry.path for entry in states)
    if question.advice:
        yield from catalog.newest_of_types((PREFERENCE, INSTRUCTION), _LANE)
    if question.conversational:
        yield from catalog.newest_of_types((INSTRUCTION,), _LANE)


def search(vault: Context, scope: Scope, question: Question, asked: Query, weights: Weights, until: float) -> Pool:
    """The candidates of all retrievers; indexes must be fresh. It waits for an embedder until the time `until` (monotonic)."""
    catalog = vault.index.catalog
    filters = Filters(vault, asked)
    pool = Pool(vault, catalog, scope, filters)
    reach = _LANE * (_FILTERED if filters.narrow else 1)
    classes = [record_class.value for record_class in (*MEMORIES, RecordClass.EDGE)]
    named = pool.named = named_subjects(catalog, question)
    names = named.groups
    pool.meaning, reasons = vector_scores.ask(vault, _query_variants(question, names), weights, until)
    pool.degraded = (*reasons, *filter(None, [unverified_authors(vault.index.catalog)]))
    if pool.meaning is not None:
        pool.meaning.begin()
    heard = question.conversational and bool(named.told)
    mentions = _mentions(pool, question, classes, _MENTIONED * (_FILTERED if filters.narrow else 1), until)
    called = {entry.path: entry for entry in catalog.titled(normal_name(question.text.rstrip(_ENDS)))}
    states = task_states(vault) if question.left else []
    others = dict.fromkeys([*called, *mentions, *_beside_the_words(pool, question, asked, states, heard=heard)])
    while True:
        words = {} if question.page else vault.index.term_match(question.words, _SCORED * reach, classes, question.text)
        near = pool.meaning.top(reach) if pool.meaning else []
        paths = dict.fromkeys([*list(words)[:reach], *near, *others])
        _take(pool, catalog.cached_by_paths(paths).values(), words, mentions, near, question.text)
        # Filters may refuse all of the best hits: the wanted ones can be far below.
        if not filters.narrow or len(pool.candidates) >= asked.limit or len(words) <= reach:
            break
        reach *= _FILTERED
    for path in called:
        if (pool.scope, path) in pool.candidates:
            pool.candidates[pool.scope, path].exact = True
    if (asked.kinds or asked.exclude) and (asked.problem_links or asked.update_links):
        best = dict.fromkeys([*list(words)[:_BRIDGES], *near[:_BRIDGES], *list(mentions)[:_BRIDGES], *called])
        _lead(pool, catalog.cached_by_paths(best).values(), words, mentions)
    _add_session_neighbours(pool, words)
    _measure(pool)
    for candidate in pool.candidates.values() if names else ():
        candidate.named = named.part(_about(candidate.entry))
        candidate.related = named.relates(candidate.entry)
        if candidate.related or (heard and named.told_of(candidate.entry)):
            _raise(candidate, NAMED_ALONE)
    _date(pool, question)
    if question.advice or question.conversational:
        _note_wishes(pool, question)
    for candidate in named.known(pool.candidates.values()):
        candidate.exact = True
    _note_left(pool, states)
    return pool


def _note_left(pool: Pool, states: Sequence[Entry]) -> None:
    """Mark the candidates that say where the work was left: the last ones of the present project, as many as a page shows."""
    project = pool.vault.who.project
    here = [entry for entry in states if not project or is_of(entry, project)]
    for entry in sorted(here, key=lambda entry: entry.observed_sort_key)[-MOST_STATES:]:
        candidate = pool.candidates.get((pool.scope, entry.path))
        if candidate is not None:
            candidate.exact = True
            candidate.why += ("where the work was left",)


def _of_days(pool: Pool, question: Question) -> list[str]:
    """Memories observed on the few days that a question names, or titled with such a day, whatever their words are.

    If the question asks for nothing but a time, that time may be of any length.
    """
    if question.times is None:
        return []
    paths: dict[str, None] = {}
    for span in question.times.spans:
        if not span.yearly and (question.times.alone or span.days <= _FEW_DAYS):
            paths.update((entry.path, None) for entry in pool.catalog.titled(span.first.isoformat()))
            paths.update(dict.fromkeys(pool.catalog.observed_between(span.first.isoformat(), span.over.isoformat(), _LANE)))
    return list(paths)


def _date(pool: Pool, question: Question) -> None:
    """Set how well each candidate fits a time that the question names: it was observed then, or is about that time."""
    times = question.times
    if times is None:
        return
    about = read_times.about
    for candidate in pool.candidates.values():
        observed = parse_time(candidate.entry.observed)
        days = (observed.date(),) if observed else ()
        candidate.timely = times.holds(
            days, about(candidate.entry.title, candidate.entry.preview, candidate.entry.text("as_of"), *days)
        )
        candidate.dated = times.share if candidate.timely >= times.most else 0.0
        # If only a time is asked for, every memory of that time is an answer, whatever it says.
        candidate.exact = candidate.exact or (times.alone and not question.conversational and candidate.timely >= times.most)


def _note_wishes(pool: Pool, question: Question) -> None:
    """Mark the candidates that state a general wish: by their type, or by their words if they have no specific type.

    In a conversation, a standing instruction is raised if it shares a word or a subject.
    """
    stems = _stems(word for words in question.sentences for word in words) if question.conversational else frozenset[str]()
    for candidate in pool.candidates.values():
        kind, entry = candidate.entry.type, candidate.entry
        if question.conversational:
            if kind == INSTRUCTION and (candidate.named or stems & _stems(telling_words(f"{entry.title} {entry.preview}"))):
                _raise(candidate, NAMED_ALONE)
        else:
            candidate.wished = kind in (PREFERENCE, INSTRUCTION) or (kind == GENERAL and bool(wish_in(entry.preview)))


def _stems(words: Iterable[str]) -> frozenset[str]:
    """The first letters of words, to compare them without their endings; words common in all talk are left out."""
    return frozenset(word[:_STEM] for word in words if len(word) >= _SHORTEST and word not in COMMON)


def add(pool: Pool, entries: Iterable[Entry], updates: Collection[str] = ()) -> list[Candidate]:
    """The candidates for further memories of the pool's vault, without those that may not answer.

    A memory that updates another one (`updates`, by id) may answer whatever kinds were asked for.
    """
    filters = pool.filters
    admitted = (
        entry
        for entry in entries
        if (pool.scope, entry.path) in pool.candidates
        or filters.admits(entry)
        or (entry.id in updates and filters.hides(entry, unseen=True))
    )
    candidates = [pool.candidate(entry) for entry in admitted]
    _measure(pool, [candidate for candidate in candidates if candidate.cosine is None])
    return candidates


def _mentions(pool: Pool, question: Question, classes: Collection[str], reach: int, until: float) -> dict[str, float]:
    """Memories a conversation mentions by more than chance, each with its share of a question's words."""
    if not question.conversational:
        return {}
    mentions = pool.vault.index.mentioned(question.sentences, reach, classes)
    if pool.meaning is not None:
        pool.meaning.read(question.windows, until)
        mentions = pool.meaning.beyond(mentions, reach)
    return {path: mentioned(by_chance) for path, by_chance in mentions.items() if by_chance > 0}


def hear(pool: Pool, question: Question, candidates: Collection[Candidate], until: float) -> None:
    """Set how strongly a question mentions each candidate, read like a line of a conversation.

    So a memory fits the same words equally well, whether they are asked or said.
    """
    if not question.sentences:
        return
    # The weight of a name may be higher than its rarity.
    named = any(part > 1 for words in question.sentences for part in words.values())
    heard = [
        candidate for candidate in candidates if pool.meaning is not None or candidate.rare >= 1 or (named and candidate.rare)
    ]
    if heard:
        paths = [candidate.entry.path for candidate in heard]
        classes = [record_class.value for record_class in MEMORIES]
        mentions = pool.vault.index.mentioned(question.sentences, len(paths), classes, paths)
        near = pool.meaning.nearest_sentence(paths, question.windows, until) if pool.meaning is not None else {}
        for candidate in heard:
            candidate.nearest = near.get(candidate.entry.path)
            words = mentions.get(candidate.entry.path, NO_WORDS)
            by_chance = words if candidate.nearest is None else beyond(words, candidate.nearest)
            candidate.heard = mentioned(by_chance) if by_chance > 0 else 0.0
    for candidate in candidates if pool.named.told else ():
        if pool.named.told_of(candidate.entry):
            candidate.heard = max(candidate.heard, NAMED_ALONE)


def _take(
    pool: Pool, entries: Collection[Entry], words: Mapping[str, TermMatch], mentions: Mapping[str, float], near: Collection[str],
    question: str,
) -> None:  # fmt: skip
    nearest, filters = frozenset(near), pool.filters
    telling = telling_words(question) if any(entry.record_class is RecordClass.EDGE for entry in entries) else frozenset[str]()
    for entry in entries:
        if entry.record_class is RecordClass.EDGE:
            _take_ends(pool, entry, words.get(entry.path), mentions.get(entry.path, 0.0), telling)
            continue
        for current in _current(pool, entry) if filters.replaced_by(entry.id) else (entry,):
            if not filters.admits(current):
                continue
            candidate = pool.candidate(current)
            wording = words.get(entry.path)
            if wording is not None:
                _give(candidate, wording)
                candidate.why += () if "words" in candidate.why else ("words",)
            if entry.path in mentions:
                _raise(candidate, mentions[entry.path])
            if entry.path in nearest and "meaning" not in candidate.why:
                candidate.why += ("meaning",)
            if current is not entry:
                candidate.why += (f"replaces {entry.title}",)


def _take_ends(pool: Pool, edge: Entry, wording: TermMatch | None, mention: float, telling: frozenset[str]) -> None:
    """Take in both ends of a link whose prose has a word of the question that neither end has.

    An end that has the word is found by itself, and leads to the other one.
    """
    shared = telling & telling_words(edge.preview) if pool.filters.tells(edge) else frozenset[str]()
    if not shared:
        return
    ends = [end for name in ("from_id", "to_id") for end in pool.catalog.cached_by_id(edge.text(name))]
    if shared <= telling_words(" ".join(f"{end.title} {end.preview}" for end in ends)):
        return
    for current in (current for end in ends for current in _current(pool, end) if pool.filters.admits(current)):
        candidate = pool.candidate(current)
        if wording is not None and wording.share > candidate.words:
            # The title of the link does not count, because it is made from the names of both ends.
            candidate.words, candidate.covered = wording.share, wording.covered
            candidate.why += (f"{edge.type}: {edge.preview}",)
        _raise(candidate, mention)


def _lead(pool: Pool, entries: Iterable[Entry], words: Mapping[str, TermMatch], mentions: Mapping[str, float]) -> None:
    """Take in hidden memories as bridges, to follow their links: only their type, or having been seen, keeps them out."""
    for entry in entries:
        if pool.filters.hides(entry):
            bridge = pool.bridges[pool.scope, entry.path] = Candidate((pool.scope, entry.path), entry)
            if entry.path in words:
                _give(bridge, words[entry.path])
            _raise(bridge, mentions.get(entry.path, 0.0))
    _measure(pool, pool.bridges.values())


def _give(candidate: Candidate, wording: TermMatch) -> None:
    """Set a candidate's scores by words; if several texts lead to it, the best one counts."""
    if wording.share > candidate.words:
        candidate.words, candidate.covered, candidate.rare = wording.share, wording.covered, wording.rare
        candidate.handle, candidate.heading, candidate.tag = wording.called


def _raise(candidate: Candidate, share: float) -> None:
    """Raise the weight of a candidate's words to `share`, unless it is higher already."""
    candidate.mention = max(candidate.mention, share)
    if share > candidate.worded(BREADTH):
        candidate.asked = candidate.asked or (candidate.words, candidate.covered)
        candidate.words, candidate.covered = share, None
        candidate.why += () if "words" in candidate.why else ("words",)


def _current(pool: Pool, entry: Entry) -> Sequence[Entry]:
    """The present entries that replaced an entry: a question that finds an old text is answered with the new one."""
    replaced_by = pool.filters.replaced_by
    seen: set[str] = set()
    heads: list[Entry] = []
    waiting = [entry.id]
    while waiting:
        identity = waiting.pop()
        if identity not in seen:
            seen.add(identity)
            newer = replaced_by(identity)
            waiting.extend(newer)
            heads.extend(() if newer else pool.catalog.cached_by_id(identity))
    return heads


def _add_session_neighbours(pool: Pool, words: Mapping[str, TermMatch]) -> None:
    """Take in the memories recorded just before and after the best hits in their sessions, and keep the order of each session."""
    best = [candidate for candidate in _best(pool, _IN_SESSION) if candidate.session]
    sessions = timeline.sessions(pool.catalog, {candidate.session for candidate in best})
    neighbours: dict[str, None] = {}
    for candidate in best:
        around = sessions[candidate.session].around(candidate.entry.path, _REACH)
        neighbours.update((path, None) for path in around if (pool.scope, path) not in pool.candidates)
    for entry in pool.catalog.cached_by_paths(neighbours).values():
        if pool.filters.admits(entry):
            candidate = pool.candidate(entry, "session")
            if entry.path in words:
                _give(candidate, words[entry.path])
    lines: dict[str, dict[int, Candidate]] = {name: {} for name in sessions}
    for candidate in pool.candidates.values():
        line = lines.get(candidate.session)
        if line is not None and (place := sessions[candidate.session].places.get(candidate.entry.path)) is not None:
            line[place] = candidate
            candidate.length = _length(candidate.entry)
    pool.lines.extend(lines.values())


def _best(pool: Pool, count: int) -> list[Candidate]:
    """The first candidates of each lane."""
    worded = [candidate for candidate in pool.candidates.values() if candidate.words]
    by_words = sorted(worded, key=attrgetter("words"), reverse=True)[:count]
    near = [candidate for candidate in pool.candidates.values() if "meaning" in candidate.why][:count]
    return list({candidate.key: candidate for candidate in (*by_words, *near)}.values())


def _measure(pool: Pool, candidates: Iterable[Candidate] | None = None) -> None:
    """Set the nearness in meaning of each candidate by its vectors."""
    measured = list(pool.candidates.values() if candidates is None else candidates)
    if pool.meaning is None or not measured:
        return
    likenesses = pool.meaning.of([candidate.entry.path for candidate in measured])
    for candidate in measured:
        likeness = likenesses.get(candidate.entry.path)
        if likeness is not None:
            candidate.cosine, candidate.perspective = likeness.value, likeness.perspective


def _query_variants(question: Question, names: Sequence[frozenset[str]]) -> tuple[str, ...]:
    """The question, and the question without its names: a name alone is near to every text about its bearer.

    Both are without the times that the question names, because a memory has its time as a date, not as words.
    """
    times = question.times
    text = times.rest if times is not None and not times.alone else question.text
    rest = without(text, frozenset[str]().union(*names).intersection(question.names).difference(SELF))
    return (text, rest) if rest else (text,)


def count_links(pool: Pool, candidates: Iterable[Candidate]) -> None:
    """Set the number of notes that link to each candidate, by any of its names."""
    if not pool.catalog.has_links():
        return
    names = {candidate.key: handle_names(candidate.entry) | {path_name(candidate.entry.path)} for candidate in candidates}
    linked = pool.catalog.link_counts(set().union(*names.values()))
    if not linked:
        return
    for key, several in names.items():
        pool.candidates[key].links = sum(linked.get(name, 0) for name in several)


def listed_by(pools: Iterable[Pool], ranked: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Pairs of a listed note and a list of links that must stand behind it: a list has the words of all its notes."""
    if not any(pool.catalog.has_links() for pool in pools):
        return
    for candidate in [hit for hit in ranked if _is_list(hit.entry) and not (hit.exact or hit.handle > _NAMED)]:
        linked = links_of(candidate.entry)
        # A note with less than this part of the list's score is no better answer than the list.
        near = [
            other
            for other in ranked
            if other is not candidate and other.key[0] == candidate.key[0] and other.score >= _LISTED * candidate.score
        ]
        listed = [other for other in near if not linked.isdisjoint(linked_as(other.entry))]
        if listed:
            yield max(listed, key=lambda other: other.score), candidate


def _is_list(entry: Entry) -> bool:
    """Whether a note is mostly links."""
    return len(entry.links) >= _FEW_LINKS and sum(map(len, entry.links)) >= _MOSTLY_LINKS * entry.size


def _in_session(pool: Pool, asked: Query) -> tuple[str, ...]:
    if not asked.session:
        return ()
    return timeline.sessions(pool.catalog, [asked.session])[asked.session].order


def _about(entry: Entry) -> set[str]:
    """The speaker, if the text begins like a line of a conversation (`Name: `); else all its subjects."""
    tagged = {normal_name(name) for name in entry.subjects}
    begins = _SPEAKER.match(entry.preview)
    speaker = normal_name(begins[1]) if begins else ""
    return {speaker} if speaker in tagged or speaker in _PARTS else tagged


def _length(entry: Entry) -> int:
    """The approximate number of words of a memory, computed without reading its file."""
    if len(entry.preview) < _WHOLE_PREVIEW:
        return word_count(entry.preview)
    return max(len(entry.preview), entry.size - _HEAD_LETTERS - len(entry.title)) // _LETTERS_A_WORD
