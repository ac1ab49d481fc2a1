"""How truth and utility limit the use of a memory in answers: the gate on truth, doubt, and the utility for a question."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.belief.fold import Belief

WITHHELD = 0.15
DOUBTFUL = 0.4
# The confidence of a memory whose writer gave none.
USUAL = 0.8

PRIOR_VOTES = 1.0

VOTED_DOWN = 0.1
VOTED_DOWN_SESSIONS = 3


def truth_gate(truth: float) -> float:
    """A factor in 0..1 that falls smoothly with truth: `truth^2 (3 - 2 truth)`. Near-certain memories get almost the same one."""
    return truth * truth * (3.0 - 2.0 * truth)


def truth_asked_for(truth: float, start: float) -> float:
    """The truth that counts in an answer: the result of judgements, as if the writer had had the usual confidence.

    The writer's real confidence is shown beside the answer and counts a little in another factor. It alone does not rank an
    exact answer below a vague one.
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
    """Whether a memory stays away unless it is asked for: enough sessions found it useless, and no later one useful."""
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
