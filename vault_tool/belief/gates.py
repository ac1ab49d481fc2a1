"""The uses that truth and utility allow a memory when it is asked for: gate, doubt, and the utility that counts here."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.belief.fold import Belief

WITHHELD = 0.15
DOUBTFUL = 0.4
# How sure a writer is who does not say.
USUAL = 0.8

PRIOR_VOTES = 1.0

VOTED_DOWN = 0.1
VOTED_DOWN_SESSIONS = 3


def truth_gate(truth: float) -> float:
    """A factor in 0..1 that falls smoothly with truth: `truth^2 (3 - 2 truth)`, so that near-certain ones are alike."""
    return truth * truth * (3.0 - 2.0 * truth)


def truth_asked_for(truth: float, start: float) -> float:
    """The truth that counts in an answer: the result of judgements, as if its writer had been as sure as usual.

    How sure that was is said beside it and counts a little otherwise; it does not put an exact answer behind a vague one.
    """
    if start >= USUAL:
        return truth
    return min(max(truth, USUAL), USUAL * truth / start) if start > 0 else max(truth, USUAL)


def disbelieved(belief: Belief) -> bool:
    """Whether a memory is left out of answers unless it is asked for."""
    return belief.truth < WITHHELD


def doubtful(belief: Belief) -> bool:
    """Whether a memory is shown as doubtful."""
    return belief.truth < DOUBTFUL


def voted_down(belief: Belief) -> bool:
    """Whether enough sessions found a memory useless, and none since useful, that it no longer comes up unasked."""
    worthless = belief.utility < VOTED_DOWN and belief.against >= VOTED_DOWN_SESSIONS
    return worthless or belief.opposed >= VOTED_DOWN_SESSIONS


def local_utility(belief: Belief, similarity: Mapping[str, float]) -> float:
    """The utility of a memory for what is asked now: the mean over its contexts, weighted by likeness and votes.

    `similarity` says how like the present query or problem each context is (0..1; a missing one is 0). The global
    utility counts as one vote, so that it answers alone where there is no context like this one.
    """
    total, votes = belief.utility * PRIOR_VOTES, PRIOR_VOTES
    for problem, value in belief.by_problem.items():
        weight = max(0.0, similarity.get(problem, 0.0)) * belief.votes.get(problem, 1)
        total, votes = total + value * weight, votes + weight
    return total / votes
