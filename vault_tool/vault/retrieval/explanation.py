"""Why a memory is not among the results of a recall: the stage at which it fell out, read off what was weighed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from vault_tool.errors import VaultError
from vault_tool.index.visibility import visible
from vault_tool.model.snapshot import Entry
from vault_tool.recall import select
from vault_tool.recall.candidate import Candidate
from vault_tool.recall.question import Question
from vault_tool.recall.weights import Weights
from vault_tool.vault.answers import body_of
from vault_tool.vault.retrieval.query import Explanation, Query, Recalled, Stage
from vault_tool.vault.retrieval.retrievers import Pool
from vault_tool.vault.retrieval.weighing import Ranked, judging, ranked_for, threshold

# So far down the full text's own order a memory is looked for.
_FAR = 2000


def why_not(
    identity: str, pools: Sequence[Pool], ranked: Sequence[Ranked], fitting: Sequence[select.CopyText[Ranked]],
    results: Sequence[Recalled], question: Question, asked: Query, weights: Weights,
) -> Explanation:  # fmt: skip
    """Explain why the memory of this id is or is not in an answer; `fitting` is all that matched well enough, best first."""
    place_of = next(((pool, entry) for pool in pools for entry in pool.catalog.get(identity)), None)
    if place_of is None:
        return Explanation(
            id=identity, title="", type="", stage="filtered", reason="it is of the global vault, which was not asked"
        )
    pool, entry = place_of
    each = next((hit for hit in ranked if hit.pool is pool and hit.candidate.entry.id == identity), None)
    stage, reason, place, of = _stage(pool, entry, each, fitting, results, question, asked, weights)
    explained = Explanation(id=identity, title=entry.title, type=entry.type, stage=stage, reason=reason, place=place, of=of)
    if each is None:
        return explained
    least = round(threshold(weights.least, entry, weights), 4)
    return replace(
        explained, match=round(each.candidate.match, 4), weak=each.weak, weak_why=each.weak_why, least=least, factors=each.factors
    )


_Found = tuple[Stage, str, int | None, int | None]


def _stage(
    pool: Pool, entry: Entry, each: Ranked | None, fitting: Sequence[select.CopyText[Ranked]], results: Sequence[Recalled],
    question: Question, asked: Query, weights: Weights,
) -> _Found:  # fmt: skip
    """The stage, the reason, and the place among how many."""
    at = next((n for n, result in enumerate(results, 1) if result.id == entry.id and result.scope == pool.scope), None)
    if at is not None:
        return "answered", f"it is result {at}", at, len(results)
    if each is None:
        return _before_ranking(pool, entry, question, asked)
    candidate = each.candidate
    least = threshold(weights.least, entry, weights)
    if candidate.match < least or candidate.score <= 0:
        reason = f"its match is {candidate.match:.2f}, and {asked.profile} recall asks for {least:.2f}"
        return "no match", reason if candidate.match < least else "its score is 0: nothing of the question is in it", None, None
    place = next(n for n, text in enumerate(fitting, 1) if text.of is each)
    return _among_fitting(pool, entry, place, fitting, results, asked, weights)


def _before_ranking(pool: Pool, entry: Entry, question: Question, asked: Query) -> _Found:
    """Why a memory was not so much as ranked."""
    if refusal := pool.filters.refusal(entry):
        return "filtered", refusal, None, None
    candidate = pool.candidates.get((pool.scope, entry.path))
    if candidate is None:
        return "not found", _unfound(pool, entry, question), None, None
    if candidate.score < 0:
        believed = pool.vault.standings.beliefs([entry])
        belief = believed[entry.id]
        if visible(entry, judging(believed, asked), ranked_for(asked)) == "disbelieved":
            return (
                "disbelieved",
                f"its truth is {belief.truth:.2f}: `doubtful` shows also what is believed to be false",
                None,
                None,
            )
        return "disbelieved", f"{belief.opposed} sessions voted it down: it does not come unasked", None, None
    place = _rank_of(candidate, list(pool.candidates.values()))
    reason = f"{place - 1} others share more with the question, too many to be weighed; a larger limit weighs more"
    return "not weighed", reason, place, len(pool.candidates)


def _rank_of(candidate: Candidate, among: Sequence[Candidate]) -> int:
    return 1 + sum((other.rank, other.key) > (candidate.rank, candidate.key) for other in among)


def _unfound(pool: Pool, entry: Entry, question: Question) -> str:
    """Why no lane found a memory that may answer."""
    worded = list(pool.vault.index.term_match(question.words, _FAR, [entry.record_class.value], question.text))
    place = worded.index(entry.path) + 1 if entry.path in worded else 0
    words = f"by words it is only number {place}" if place else "it has no word of the question"
    near = pool.meaning.of([entry.path]).get(entry.path) if pool.meaning is not None else None
    if near is not None:
        return f"{words}, and its meaning is {near.value:.1f} deviations from chance: others are nearer"
    return f"{words}, and it was not compared by meaning"


def _among_fitting(
    pool: Pool, entry: Entry, place: int, fitting: Sequence[select.CopyText[Ranked]], results: Sequence[Recalled],
    asked: Query, weights: Weights,
) -> _Found:  # fmt: skip
    """Why a memory that fits well enough was not chosen, or was chosen and not given."""
    ours, among = fitting[place - 1], len(fitting)
    answered = {(result.scope, result.id) for result in results}
    for other in fitting:
        twin = other.of.candidate.entry
        if (other.of.pool.scope, twin.id) in answered and select.is_copy(ours, other):
            return "folded", f"`{twin.title}` ({twin.id[:8]}) says the same and stands for it", place, among
    if place > asked.limit:
        return "limit", f"it is number {place} of {among} that fit, and the limit is {asked.limit}", place, among
    try:
        body_of(pool.vault, entry)
    except VaultError as fault:
        return "unreadable", fault.message, place, among
    if asked.budget is not None and len(results) < min(asked.limit, place):
        return "budget", f"what stands before it fills the budget of {asked.budget} tokens", place, among
    return "crowded out", "its source says much the same in results before it, and others come first", place, among
