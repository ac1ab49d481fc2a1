"""Scoring of the candidates: the beliefs in them, looked up together, and the scores that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from vault_tool.belief.fold import Belief
from vault_tool.belief.gates import disbelieved, local_utility, truth_asked_for, truth_gate, voted_down
from vault_tool.index.visibility import Purpose, Request, visible
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.candidate import Candidate
from vault_tool.recall.coverage import SourceCoverage
from vault_tool.recall.match import match
from vault_tool.recall.order import MIN_SYNTHESIS_MATCH
from vault_tool.recall.score import ScoreInputs, score
from vault_tool.recall.weights import LEAST, Weights
from vault_tool.recall.wishes import INSTRUCTION, PREFERENCE
from vault_tool.vault.context import Context
from vault_tool.vault.retrieval.chaining import Link
from vault_tool.vault.retrieval.query import Query
from vault_tool.vault.retrieval.retrievers import Pool
from vault_tool.vault.standing import confidence_of


class Ranked(msgspec.Struct):
    """A candidate with the vault that it is of, why it came along if it did, and what is believed of it.

    `weak_why` says why it is `weak`, once somebody is told so.
    """

    candidate: Candidate
    pool: Pool
    link: Link | None
    belief: Belief
    weak: bool = True
    weak_why: str = ""

    @property
    def factors(self) -> dict[str, float]:
        """Everything that made its score, by name."""
        candidate = self.candidate
        measured = {
            "share of words": candidate.words,
            "words covered": candidate.covered or 0.0,
            "deviations of meaning": candidate.cosine or 0.0,
        }
        settled = {"rank": candidate.rank, "score": candidate.score, "match": candidate.match, "certainty": candidate.certainty}
        return {
            name: round(value, 4) for name, value in {**measured, **candidate.parts(), **candidate.factors, **settled}.items()
        }


def threshold(base: float, entry: Entry, weights: Weights) -> float:
    """How well a memory must match, where others must by `base`: preferences are asked for less."""
    return max(min(base, LEAST), base - weights.preference) if entry.type in (PREFERENCE, INSTRUCTION) else base


def judging(believed: Mapping[str, Belief], asked: Query) -> Request:
    """A request that leaves out memories believed to be false, unless the query asks for doubtful ones."""
    return Request(
        disbelieved=lambda entry: not asked.doubtful and disbelieved(believed[entry.id]),
        voted_down=lambda entry: voted_down(believed[entry.id]),
    )


def ranked_for(asked: Query) -> Purpose:
    """The purpose of the ranking: an answer, or memories that are shown unasked."""
    return "ranked_unasked" if asked.profile == "ambient" else "ranked"


def weigh(pool: Pool, candidates: Sequence[Candidate], asked: Query, weights: Weights) -> dict[str, Belief]:
    """Set the score of each candidate of one vault; those that must not be shown are given a score of -1."""
    vault = pool.vault
    believed = vault.standings.beliefs(candidate.entry for candidate in candidates)
    generation = pool.catalog.generation()
    speaking = SourceCoverage(
        candidate.entry
        for candidate in candidates
        # What somebody else brought puts nothing of ours behind it by naming it as its source.
        if candidate.entry.record_class is RecordClass.UNDERSTANDING
        and candidate.match >= MIN_SYNTHESIS_MATCH
        and not candidate.entry.pulled
    )
    likeness = _likeness(vault, pool, believed.values(), asked)
    now, types, strong_models = vault.clock.now(), vault.settings.types, vault.settings.recall.strong_models
    request, purpose = judging(believed, asked), ranked_for(asked)
    for candidate in candidates:
        belief = believed[candidate.entry.id]
        truth, start = belief.truth, confidence_of(candidate.entry)
        if asked.profile == "targeted":
            truth = truth_asked_for(truth, start)
        if visible(candidate.entry, request, purpose):
            candidate.score = -1.0
            continue
        worth = ScoreInputs(
            belief,
            types.spec(candidate.entry.type),
            local_utility(belief, likeness),
            truth_gate(truth) if weights.gate else 1.0,
            generation,
            speaking.has(candidate.entry),
            strong_models,
        )
        candidate.score, factors = score(
            candidate.entry, candidate.rank, candidate.match, worth, now, weights, explain=asked.explain
        )
        candidate.factors.update(factors)
    return believed


def _likeness(vault: Context, pool: Pool, believed: Iterable[Belief], asked: Query) -> Mapping[str, float]:
    """How like the present question each problem is in whose context a memory was judged: 1 for the one asked about."""
    problems = {problem for belief in believed for problem in belief.by_problem}
    if not problems:
        return {}
    # Of those that are not weighed the fit is not known yet; nothing lowers that of the others.
    asked_of = (candidate for candidate in pool.candidates.values() if candidate.entry.id in problems)
    matches = {candidate.entry.id: max(candidate.match, match(candidate)) for candidate in asked_of}
    return {problem: 1.0 if problem == asked.problem else matches.get(problem, 0.0) for problem in problems}
