"""The one engine behind every reading verb: it weighs the candidates of this vault and the global one into one answer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from vault_tool.belief.gates import doubtful
from vault_tool.errors import UsageError, VaultError
from vault_tool.index import claims
from vault_tool.index.catalog import Catalog
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import GENERAL
from vault_tool.recall import fusion, order, question, select, update_pairs
from vault_tool.recall.candidate import Candidate, Key
from vault_tool.recall.match import BESIDE, CONVERSATION_BASELINE, baseline, certainty, match, touched
from vault_tool.recall.update_pairs import Update
from vault_tool.recall.weights import LEAST, PROFILES, Weights
from vault_tool.recall.wishes import INSTRUCTION, MOST_INSTRUCTIONS
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.hints import option
from vault_tool.util.text import normal_name, tokens
from vault_tool.vault import resolve, shortened
from vault_tool.vault.answers import HasStatus, bodies_of
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.lean import lean_tokens
from vault_tool.vault.parameters import require_limit
from vault_tool.vault.perhaps_changed import holding
from vault_tool.vault.retrieval import chaining, explanation, retrievers, several, weighing
from vault_tool.vault.retrieval.chaining import Link
from vault_tool.vault.retrieval.doubts import Doubts
from vault_tool.vault.retrieval.filters import require_kinds, unknown
from vault_tool.vault.retrieval.query import Explanation, Fit, Part, Query, RecallAnswer, Recalled
from vault_tool.vault.retrieval.retrievers import Pool, Scope
from vault_tool.vault.retrieval.vector_scores import degraded_reasons
from vault_tool.vault.retrieval.weighing import Ranked, threshold
from vault_tool.vault.standing import FAILED_TACTIC, caution_of
from vault_tool.vault.statuses import statuses

__all__ = ["LEAST", "Query", "RecallAnswer", "Recalled", "gather"]

MOST_HOPS = 3
_WEIGHED = 3
# Three times the limit, but at least so many candidates, are weighed by belief and prior; these move a rank by less than that.
_WEIGHED_LEAST = 40

# The most tokens of all standing instructions that are shown at once.
MOST_TOKENS = 120
# The usual length of a file's head in letters, and the letters of a token.
_HEAD_LETTERS, _LETTERS_A_TOKEN = 400, 4

_AFTER = 0.99


class _BackgroundScores(NamedTuple):
    """The scores from which an answer has to stand out: among visible candidates, and among hidden ones too.

    `page` says that they are for a conversation.
    """

    visible: float
    with_hidden: float
    page: bool = False


_Fits: TypeAlias = Callable[[Sequence[str]], Mapping[str, Fit]]
_Pair: TypeAlias = tuple[Candidate, Candidate]
# A result, with the ids of the exact copies that it stands for.
_Chosen: TypeAlias = tuple[Ranked, tuple[str, ...]]
_Changes: TypeAlias = Mapping[Key, Candidate]
_Perhaps: TypeAlias = Mapping[str, Mapping[str, Update]]
"""The supposed updates, by scope and by the path of the older memory."""


def gather(vault: Context, asked: Query, weights: Weights | None = None) -> RecallAnswer:
    """The memories that bear on a question, best first; `limit` bounds all results, companions included.

    Of the two numbers of a result, `score` orders and `match` is compared with the profile's thresholds. `weights` replaces the
    profile's own, for measurements. If other `vaults` are named, each answers for itself, and the answers are merged. The caller
    has compared this vault's files with the indexes; those of other vaults are compared here.
    Raises UsageError for an invalid profile, time or limit.
    """
    require_limit(asked.limit)
    if asked.vaults:
        return several.gathered(vault, asked, gather)
    used = weights or _profile(asked)
    read = question.parse_question(asked.query, conversational=asked.profile == "ambient", today=vault.clock.now().date())
    places = scopes(vault, include_global=asked.include_global)
    require_kinds([place for place, _ in places], asked.kinds)
    if not asked.query.strip():
        return RecallAnswer(query=asked.query, results=(), degraded=())
    # In a large process one collection takes longer than the whole answer.
    with no_collection(), vault.consistent_read():
        results, degraded, fate, fits = _answered(places, read, asked, used)
    hints = () if results else tuple(unknown([place for place, _ in places], asked))
    return RecallAnswer(query=asked.query, results=results, degraded=degraded, warnings=hints, why_not=fate, fits=fits)


def scopes(vault: Context, *, include_global: bool) -> list[tuple[Context, Scope]]:
    """The vaults that answer: this one, and with `include_global` this user's global one."""
    places: list[tuple[Context, Scope]] = [(vault, "repo")]
    if include_global and vault.global_vault is not None:
        places.append((vault.global_vault, "global"))
    return places


def _answered(
    scopes: Sequence[tuple[Context, Scope]], read: question.Question, asked: Query, weights: Weights
) -> tuple[tuple[Recalled, ...], tuple[str, ...], Explanation | None, _Fits]:
    """The results, the reasons why they are degraded, the explanation for `why_not`, and the fits of this vault's memories."""
    until = time.monotonic() + scopes[0][0].settings.embedding_wait
    pools, unread = _searched(scopes, read, asked, weights, until)
    background = _rank(pools, read, weights)
    ranked = [hit for pool in pools for hit in _weighed(pool, background, read, asked, weights, until)]
    perhaps: _Perhaps = {str(pool.scope): _perhaps(pool, ranked) for pool in pools}
    changes, alike = _ordered(ranked, pools, perhaps, asked, weights)
    fitting = _fitting(ranked, weights)
    if read.conversational:
        fitting = list(_within_bounds(fitting))
    chosen = [_for_copies(selected) for selected in select.pick(_copy_texts(fitting, changes), asked.limit, weights)]
    doubts = Doubts(read, partial(_bar, weights=weights))
    results = tuple(_within(pools, chosen, changes, alike, perhaps, asked, doubts))
    degraded = (*degraded_reasons(_missing_sources(pool) for pool in pools), *unread)
    own = {each.candidate.entry.path: each for each in ranked if each.pool.scope == "repo"}

    def fits(paths: Sequence[str]) -> Mapping[str, Fit]:
        entries = [own[path] for path in paths if path in own]
        doubts.note(entries, _bodies(entries))
        return {each.candidate.entry.path: Fit(round(each.candidate.match, 4), each.weak, each.weak_why) for each in entries}

    if not asked.why_not:
        return results, degraded, None, fits
    named = [each for each in ranked if each.candidate.entry.id == asked.why_not]
    doubts.note(named, _bodies(named))
    texts = list(_copy_texts(fitting, changes))
    return results, degraded, explanation.why_not(asked.why_not, pools, ranked, texts, results, read, asked, weights), fits


def _profile(asked: Query) -> Weights:
    if not 0 <= asked.hops <= MOST_HOPS:
        raise UsageError(f"hops must be from 0 to {MOST_HOPS}, not {asked.hops}", f"for example {option('hops', 2)}")
    profile = PROFILES.get(asked.profile)
    if profile is None:
        raise UsageError(f"`{asked.profile}` is no profile", f"one of {', '.join(PROFILES)}")
    return profile


def _searched(
    scopes: Sequence[tuple[Context, Scope]], read: question.Question, asked: Query, weights: Weights, until: float
) -> tuple[list[Pool], tuple[str, ...]]:
    """The pools of the vaults that can be read, and the reason if the global one cannot."""
    pools = []
    for vault, scope in scopes:
        try:
            if scope == "global":
                resolve.global_beside(scopes[0][0])
            pools.append(retrievers.search(vault, scope, read, asked, weights, until))
        except VaultError as fault:
            if scope == "repo":
                raise
            return pools, (f"the global vault could not be read: {fault.message}",)
    return pools, ()


def _missing_sources(pool: Pool) -> tuple[str, ...]:
    """The reasons why the answer of one vault is degraded; they are complete only after its last query."""
    return (*pool.degraded, *(pool.meaning.missing_sources if pool.meaning is not None else ()))


def _rank(pools: Sequence[Pool], read: question.Question, weights: Weights) -> _BackgroundScores:
    """Set strength and rank of every candidate; returns the background scores for match and certainty."""
    everything = [candidate for pool in pools for candidate in pool.candidates.values()]
    hidden = [candidate for pool in pools for candidate in pool.bridges.values()]
    fusion.fuse([*everything, *hidden], weights)
    fusion.favour_named(everything, weights)
    fusion.favour_timely(everything, weights)
    fusion.favour_wishes(everything, weights)
    for pool in pools:
        fusion.boost_neighbours(pool.lines, weights)
        fusion.lift_sessions(pool.candidates.values(), weights)
        best = chaining.strongest(list(pool.candidates.values()), _WEIGHED_LEAST)
        retrievers.count_links(pool, best)
        fusion.favour_linked(best, weights)
    if read.page and read.conversational:
        return _BackgroundScores(CONVERSATION_BASELINE, CONVERSATION_BASELINE, page=True)
    shown = baseline(everything)
    return _BackgroundScores(shown, baseline([*everything, *hidden]) if hidden else shown)


def _weighed(
    pool: Pool, background: _BackgroundScores, read: question.Question, asked: Query, weights: Weights, until: float
) -> list[Ranked]:
    """The best candidates of one vault and their companions, scored."""
    count = max(_WEIGHED_LEAST, _WEIGHED * asked.limit)
    best = chaining.strongest(list(pool.candidates.values()), count)
    links = chaining.implicit(pool, best, asked, weights)
    leading = chaining.strongest(list(pool.bridges.values()), asked.limit)
    # The strongest first: a memory that several hits lead to comes with the first of them.
    leads = (
        sorted([*best[: asked.limit], *leading], key=lambda candidate: candidate.rank, reverse=True)
        if leading
        else best[: asked.limit]
    )
    for key, link in chaining.explicit(pool, leads, asked, weights).items():
        links[key] = link
    strongest = chaining.strongest(list(pool.candidates.values()), count + len(links))
    # Only these candidates get a match; four in five do not need one.
    retrievers.hear(pool, read, strongest, until)
    _fit(strongest, background.visible, background.page)
    _raise_beside(pool, strongest)
    _raise_linked(pool, links, background)
    believed = weighing.weigh(pool, strongest, asked, weights)
    return [
        Ranked(candidate, pool, links.get(candidate.key), believed[candidate.entry.id])
        for candidate in strongest
        if candidate.score >= 0
    ]


def _fit(candidates: Iterable[Candidate], others: float, page: bool) -> None:
    """Set match and certainty."""
    for candidate in candidates:
        candidate.match, candidate.certainty = match(candidate), certainty(candidate, others, page=page)


def _raise_beside(pool: Pool, candidates: Iterable[Candidate]) -> None:
    """Raise the match of memories said just before and after one that fits, by a part of its match.

    A memory of a specific type is raised only if it has something of the question itself.
    """
    own = {candidate.key: candidate.match for candidate in candidates}
    for line in pool.lines:
        for place, neighbour in line.items():
            if neighbour.key in own and (neighbour.entry.type == GENERAL or touched(neighbour)):
                beside = (line[near].key for near in (place - 2, place - 1, place + 1, place + 2) if near in line)
                neighbour.match = max(neighbour.match, BESIDE * max((own.get(key, 0.0) for key in beside), default=0.0))


def _raise_linked(pool: Pool, links: dict[Key, Link], background: _BackgroundScores) -> None:
    """Raise the match of linked memories to the part of the hit's match that their link carries over."""
    if not links:
        return
    by_id = {candidate.entry.id: candidate for candidate in (*pool.bridges.values(), *pool.candidates.values())}
    hits = [by_id[link.of] for link in links.values()]
    _fit((pool.candidates[key] for key in links), background.visible, background.page)
    _fit((hit for hit in hits if hit.key in pool.candidates), background.visible, background.page)
    _fit((hit for hit in hits if hit.key not in pool.candidates), background.with_hidden, background.page)
    for key, link in links.items():
        candidate, hit = pool.candidates[key], by_id[link.of]
        keeps = min(1.0, link.keeps)
        candidate.match, candidate.certainty = (
            max(match(candidate), hit.match * keeps),
            max(candidate.certainty, hit.certainty * keeps),
        )
        candidate.factors["link"] = link.keeps


def _perhaps(pool: Pool, ranked: Sequence[Ranked]) -> Mapping[str, Update]:
    """The supposed updates in one vault among all candidates, hidden ones included."""
    shown = [each.candidate.entry for each in ranked if each.pool is pool]
    hidden = [bridge.entry for bridge in pool.bridges.values()]
    updates = update_pairs.among([*shown, *hidden], {entry.path for entry in shown})
    return update_pairs.newest(holding(pool.vault, updates))


def _ordered(
    ranked: Sequence[Ranked], pools: Sequence[Pool], perhaps: _Perhaps, asked: Query, weights: Weights
) -> tuple[_Changes, list[_Pair]]:
    """Adjust the scores of results that must stand above others; returns the newest change that overtook each result.

    Such a change may be hidden by a filter of kinds. The second value are changes without the authority to overtake a result
    that they are like.
    """
    hidden = _hidden_changes(pools)
    by_key = {each.candidate.key: each for each in ranked}
    believed = [each.candidate for each in ranked if not (each.candidate.entry.type == order.CHANGE and doubtful(each.belief))]
    by_id = {hit.entry.id: hit for hit in believed}
    changed, alike = _let_through(pools, order.superseded_by_change(believed))
    unseen = _let_through(pools, order.superseded_by_change([*believed, *hidden]))[0] if hidden else []
    for each in ranked:
        if each.link is not None and each.link.role == "update" and each.link.of in by_id and each.candidate.entry.id in by_id:
            changed.append((by_id[each.link.of], each.candidate))
    for each in ranked:
        each.weak = each.candidate.certainty < _bar(each, weights)
    for first, other in (
        *_newer_first(by_key, perhaps),
        *order.before([each.candidate for each in ranked], _said(changed, asked)),
    ):
        order.put_before(first, other)
        by_key[first.key].weak = by_key[first.key].weak and by_key[other.key].weak
    for first, other in retrievers.listed_by(pools, [each.candidate for each in ranked]):
        order.put_behind(other, first)
        by_key[other.key].weak = by_key[first.key].weak or by_key[other.key].weak
    return order.newest_changes([*changed, *unseen]), alike


def _said(changed: list[_Pair], asked: Query) -> Sequence[_Pair]:
    return changed if asked.update_links else ()


def _newer_first(by_key: Mapping[Key, Ranked], perhaps: _Perhaps) -> Iterator[_Pair]:
    """Each that seems to have changed another before it, the newest last."""
    pairs = [(scope, update) for scope, updates in perhaps.items() for update in updates.values() if update_pairs.rises(update)]
    for scope, update in sorted(pairs, key=lambda pair: update_pairs.when(pair[1].newer)):
        first, other = by_key.get((scope, update.newer.path)), by_key.get((scope, update.older.path))
        if first is not None and other is not None:
            yield first.candidate, other.candidate


def _let_through(pools: Sequence[Pool], pairs: list[_Pair]) -> tuple[list[_Pair], list[_Pair]]:
    """The pairs whose change may overtake the memory that it is like, and the pairs whose change may not."""
    catalogs: dict[str, Catalog] = {pool.scope: pool.catalog for pool in pools}
    holding: list[_Pair] = []
    contested: list[_Pair] = []
    for hit, change in pairs:
        holds = claims.let_through(catalogs[hit.key[0]], [claims.Claim(change.entry, hit.entry)])[0]
        (holding if holds else contested).append((hit, change))
    return holding, contested


def _hidden_changes(pools: Sequence[Pool]) -> list[Candidate]:
    """The believed changes that a filter of kinds hides."""
    hidden = ((pool.vault, bridge) for pool in pools for bridge in pool.bridges.values() if bridge.entry.type == order.CHANGE)
    return [bridge for vault, bridge in hidden if not vault.standings.doubted(bridge.entry)]


def _fitting(ranked: Sequence[Ranked], weights: Weights) -> list[Ranked]:
    """The candidates that match well enough, best first."""
    fitting = [each for each in ranked if each.candidate.score > 0 and each.candidate.match >= _least(each, weights)]
    _solutions_first(fitting)
    fitting.sort(key=lambda each: (each.weak, -each.candidate.score, each.candidate.key))
    return fitting


def _within_bounds(fitting: Iterable[Ranked]) -> Iterator[Ranked]:
    """The memories to show without a question; of standing instructions, only a few that the owner wrote or reviewed."""
    count = spent = 0
    for each in fitting:
        entry = each.candidate.entry
        if entry.type == INSTRUCTION:
            count, spent = count + 1, spent + _about_tokens(entry)
            if not (each.belief.reviewed or entry.origin == "owner") or count > MOST_INSTRUCTIONS or spent > MOST_TOKENS:
                continue
        yield each


def _about_tokens(entry: Entry) -> int:
    """The approximate number of tokens of a memory's text, computed without reading its file."""
    return max(tokens(entry.preview), (entry.size - _HEAD_LETTERS) // _LETTERS_A_TOKEN)


def _copy_texts(fitting: Sequence[Ranked], changes: Mapping[Key, Candidate]) -> Iterator[select.CopyText[Ranked]]:
    """The results, each with the values by which its copies are recognised if another result has the same text."""
    overtook = {key: change.key for key, change in changes.items()}
    counts = Counter(each.candidate.entry.body_hash for each in fitting)
    for each in fitting:
        entry, source = each.candidate.entry, _source(each)
        if entry.body_hash and counts[entry.body_hash] > 1:
            # The same text from another time is not a copy if the question names one of the two times.
            same = (entry.body_hash, *_own(entry), overtook.get(each.candidate.key), each.candidate.timely > 0)
            yield select.CopyText(each, entry.preview, source, same, _stands(each, source))
        else:
            yield select.CopyText(each, entry.preview, source)


def _stands(each: Ranked, source: str) -> tuple[Any, ...]:
    """A sort key for copies: a believed one before a doubted one, the owner's before others, then the newest."""
    entry = each.candidate.entry
    return not doubtful(each.belief), not entry.pulled, not source, entry.observed_sort_key


def _for_copies(selected: select.Selected[Ranked]) -> tuple[Ranked, tuple[str, ...]]:
    """The copy that represents the others, with their ids; it gets the best score, match and certainty among them."""
    each = selected.of
    for copy in selected.folded:
        each.candidate.score, each.candidate.match = (
            max(each.candidate.score, copy.candidate.score),
            max(each.candidate.match, copy.candidate.match),
        )
        each.weak = each.weak and copy.weak
    return each, tuple(dict.fromkeys(copy.candidate.entry.id for copy in selected.folded))


def _solutions_first(fitting: Sequence[Ranked]) -> None:
    """Lower the score of each failed tactic below the solutions of its problem, so that a solution comes first."""
    solved: dict[str, float] = {}
    for each in fitting:
        problem = each.candidate.entry.text("problem")
        if problem and each.candidate.entry.type != FAILED_TACTIC:
            solved[problem] = min(each.candidate.score, solved.get(problem, each.candidate.score))
    tactics = [
        each for each in fitting if each.candidate.entry.type == FAILED_TACTIC and each.candidate.entry.text("problem") in solved
    ]
    # The best tactic first; each later one goes below the one before.
    for each in sorted(tactics, key=lambda each: (each.candidate.score, each.candidate.match, each.candidate.key), reverse=True):
        problem = each.candidate.entry.text("problem")
        each.candidate.score = solved[problem] = min(each.candidate.score, _AFTER * solved[problem])


# The fields by which two memories with the same words differ: those beside the words, and those that say what they are about.
_BESIDE = ("steps", "preconditions", "postconditions", "change_targets")
_ABOUT = ("problem", "project", "user", "failure_mode", "rationale")


def _own(entry: Entry) -> tuple[object, ...]:
    """The values that keep a memory from being a copy of another with the same words."""
    subjects = frozenset(map(normal_name, entry.subjects))
    texts = (*map(entry.text, _ABOUT), *map(entry.texts, _BESIDE))
    return entry.type, normal_name(entry.title), subjects, *texts


def _source(each: Ranked) -> str:
    """The source of an unreviewed memory; empty for a memory that its owner wrote or reviewed."""
    entry = each.candidate.entry
    if each.belief.reviewed or entry.text("origin") in ("", "owner"):
        return ""
    return "\n".join((entry.text("origin"), entry.text("session"), entry.text("model")))


def _within(
    pools: Sequence[Pool],
    chosen: Sequence[_Chosen],
    changes: _Changes,
    alike: Sequence[_Pair],
    perhaps: _Perhaps,
    asked: Query,
    doubts: Doubts,
) -> list[Recalled]:
    """The results with their texts, as many as fit the budget; results whose files are gone are left out."""
    newest = {key: change.entry for key, change in changes.items()}
    standing = _standing(pools, [each for each, _ in chosen], newest, alike, perhaps)
    companions: list[tuple[Ranked, Ranked]] = []
    if asked.with_changes:
        companions = list(_companions(chosen, standing))
        chosen_keys = {each.candidate.key for each, _ in chosen}
        standing |= _standing(
            pools,
            [companion for _, companion in companions if companion.candidate.key not in chosen_keys],
            newest,
            alike,
            perhaps,
        )
        chosen = _accompanied(chosen, companions)[: asked.limit]
    bodies = _bodies([each for each, _ in chosen])
    solved: dict[str, Entry] = {}
    for pool in pools:
        solved.update(pool.vault.standings.solved_since([each.candidate.entry for each, _ in chosen if each.pool is pool]))
    doubts.note([each for each, _ in chosen], bodies)
    if not companions:
        # Results that turned out weak by their texts move down; with companions the order is kept, so that a change stays first.
        chosen = sorted(chosen, key=lambda pair: pair[0].weak)
    chosen = _directly_below(_after_solutions(chosen), perhaps)
    results = [
        _recalled(
            each, bodies[each.candidate.key], like_it, standing[each.candidate.key], solved.get(each.candidate.entry.id), asked
        )
        for each, like_it in chosen
        if each.candidate.key in bodies
    ]
    return select.within_budget(results, asked.budget, lean_tokens, lambda long, most: shortened.within(long, most, asked.query))


def _after_solutions(chosen: Sequence[_Chosen]) -> list[_Chosen]:
    """The results, each failed tactic after the solutions of its problem, even weak ones."""
    problems = [(each.candidate.entry.text("problem"), each.candidate.entry.type == FAILED_TACTIC) for each, _ in chosen]
    last = {problem: place for place, (problem, failed) in enumerate(problems) if problem and not failed}
    places = [max(place, last.get(problem, 0)) if failed else place for place, (problem, failed) in enumerate(problems)]
    # A tactic gets the place of the last solution, and at the same place the solution comes first.
    return [chosen[place] for place in sorted(range(len(chosen)), key=lambda place: (places[place], problems[place][1], place))]


def _directly_below(chosen: Sequence[_Chosen], perhaps: _Perhaps) -> list[_Chosen]:
    """The results, each directly below the result that seems to have changed it, if there is one."""
    by_key = {pair[0].candidate.key: pair for pair in chosen}
    over = {
        key: (key[0], update.newer.path)
        for key in by_key
        if (update := perhaps[key[0]].get(key[1])) is not None and update_pairs.rises(update)
    }
    return [by_key[key] for key in update_pairs.directly_below(by_key, over)] if over else list(chosen)


def _bodies(hits: Sequence[Ranked]) -> dict[Key, str]:
    """The texts of memories, except those whose files are gone."""
    bodies: dict[Key, str] = {}
    for pool in {id(each.pool): each.pool for each in hits}.values():
        entries = [each.candidate.entry for each in hits if each.pool is pool]
        bodies.update(((pool.scope, path), body) for path, body in bodies_of(pool.vault, entries).items())
    return bodies


def _standing(
    pools: Sequence[Pool], hits: Sequence[Ranked], newest: Mapping[Key, Entry], alike: Sequence[_Pair], perhaps: _Perhaps
) -> dict[Key, HasStatus]:
    """The status of each result; `newest` are changes without a link, `alike` changes without the authority to overtake."""
    known: dict[Key, HasStatus] = {}
    for pool in pools:
        several = [each for each in hits if each.pool is pool]
        entries = [each.candidate.entry for each in several]
        known_here = statuses(
            pool.vault,
            entries,
            pointed=chaining.pointing_at(pool, {entry.id for entry in entries}),
            believed={each.candidate.entry.id: each.belief for each in several},
            alike=[(change.entry, hit.entry) for hit, change in alike if hit.key[0] == pool.scope],
            overtaken={path: entry for (scope, path), entry in newest.items() if scope == pool.scope},
            perhaps=perhaps[pool.scope],
        )
        known.update(((pool.scope, path), status) for path, status in known_here.items())
    return known


def _companions(chosen: Sequence[_Chosen], standing: Mapping[Key, HasStatus]) -> Iterator[tuple[Ranked, Ranked]]:
    """Each overtaken result with its newest change.

    The change comes along whatever the limit, the kinds and the session's seen memories are, so that an outdated result never
    stands alone or first.
    """
    by_id = {(each.pool.scope, each.candidate.entry.id): each for each, _ in chosen}
    for each, _ in chosen:
        status, pool = standing[each.candidate.key], each.pool
        if status.status != "overtaken":
            continue
        name = (pool.scope, status.status_by[0])
        if name not in by_id:
            change = next((entry for entry in pool.catalog.cached_by_id(name[1]) if pool.filters.comes_along(entry)), None)
            if change is None:
                continue
            belief = pool.vault.standings.beliefs([change])[change.id]
            link = Link("update", each.candidate.entry.id, f"changes {each.candidate.entry.title}", 1.0)
            candidate = Candidate((pool.scope, change.path), change, change.text("session"))
            by_id[name] = Ranked(candidate, pool, link, belief, each.weak)
        order.put_before(by_id[name].candidate, each.candidate)
        yield each, by_id[name]


def _accompanied(chosen: Sequence[_Chosen], companions: Sequence[tuple[Ranked, Ranked]]) -> list[_Chosen]:
    """The results, each after the change that overtook it."""
    before = {each.candidate.key: change for each, change in companions}
    folded = {each.candidate.key: copies for each, copies in chosen}
    placed: dict[Key, Ranked] = {}
    for each, _ in chosen:
        line = [each]
        while (change := before.get(line[-1].candidate.key)) is not None and change not in line:
            line.append(change)
        for hit in reversed(line):
            placed.setdefault(hit.candidate.key, hit)
    return [(hit, folded.get(key, ())) for key, hit in placed.items()]


def _recalled(
    each: Ranked, content: str, like_it: tuple[str, ...], status: HasStatus, solution: Entry | None, asked: Query
) -> Recalled:
    candidate, entry, belief = each.candidate, each.candidate.entry, each.belief
    return Memory(each.pool.vault, entry, status, belief).told(
        Recalled, content=content, score=round(candidate.score, 4), match=round(candidate.match, 4), weak=each.weak,
        weak_why=each.weak_why, why=_why(each),
        truth=round(belief.truth, 4), utility=round(belief.utility, 4), scope=each.pool.scope,
        matched_perspective=candidate.perspective, role=_role(each), of=each.link.of if each.link else None,
        caution=caution_of(entry), solved_by=solution.id if solution else None, like_it=like_it,
        factors=each.factors if asked.explain else None,
    )  # fmt: skip


def _bar(each: Ranked, weights: Weights) -> float:
    """The least certainty for a result that is not weak; a companion needs the part that its link carries over."""
    return threshold(weights.weak, each.candidate.entry, weights) * (each.link.keeps if each.link else 1.0)


def _least(each: Ranked, weights: Weights) -> float:
    """The least match of a result; evidence for an understanding needs only the part that its link carries over."""
    least = threshold(weights.least, each.candidate.entry, weights)
    return least * each.link.keeps if each.link is not None and each.link.evidence else least


def _role(each: Ranked) -> Part:
    """The role in the answer: a memory found for itself is an answer, even if an association leads to it too."""
    if each.link is None or (each.link.role in ("chain", "related") and each.candidate.why):
        return "answer"
    return each.link.role


def _why(each: Ranked) -> tuple[str, ...]:
    candidate = each.candidate
    meant = f"meaning ({candidate.perspective})" if candidate.perspective not in (None, "general") else "meaning"
    words = [meant if why == "meaning" else why for why in candidate.why]
    if candidate.named:
        words.append("names its subject")
    if candidate.timely:
        words.append("of a time that is named")
    return tuple(dict.fromkeys([*words, *([each.link.why] if each.link else [])]))
