"""Attempts made in a session, read from its log: which entries describe one, how it ended, and for which problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

# So many telling words must an attempt share with a problem to be taken as one at it.
FEWEST_WORDS = 2

_FAILED = re.compile(
    r"\b(?:(?:did|does|do|would|could|was|is|were)(?: not|n['’]t) (?:really )?(?:work|help|fix|solve|change|enough|matter)\w*"
    r"|fail(?:s|ed|ing|ure)?|no (?:effect|luck|change|difference|success)|without success|unsuccessful\w*"
    r"|still (?:fail|broke|broken|drop|crash|hang|flak|slow|wrong|happen|there|the same)\w*|in vain|to no avail"
    r"|gave up|given up|dead end|made (?:it|things) worse|roll(?:ed)? back|reverted|backfired|broke)\b",
    re.IGNORECASE,
)
_WORKED = re.compile(
    r"\b(?:works (?:now|again|fine)|worked|fixed|fixes|solved|solves|resolved|cured|that did it|did the trick|no longer|gone"
    r"|went away"
    r"|pass(?:es|ed)? (?:now|again)|succeed(?:s|ed)|success(?:ful(?:ly)?)?)\b",
    re.IGNORECASE,
)
_TRIED = re.compile(r"\b(?:tried|try|tries|trying|attempt(?:s|ed|ing)?|experiment(?:ed|ing)?|tested whether)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]{4,}")
_COMMON = frozenset({
    "after", "again", "also", "because", "been", "before", "both", "could", "didn", "does", "doing", "done", "each",
    "every", "first", "from", "have", "having", "here", "into", "just", "more", "most", "much", "only", "other", "over",
    "same", "should", "some", "still", "such", "than", "that", "their", "them", "then", "there", "these", "they", "thing",
    "this", "those", "tried", "trying", "under", "until", "very", "want", "well", "went", "were", "what", "when", "where",
    "which", "while", "will", "with", "within", "without", "work", "worked", "works", "would", "your", "failed", "fixed",
    "solved", "problem",
})  # fmt: skip


class Outcome(StrEnum):
    """The outcome of an attempt, as far as its words tell; those who were there decide."""

    WORKED = "worked"
    FAILED = "failed"
    UNCLEAR = "unclear"


class Tie(StrEnum):
    """The ground on which an attempt is tied to a problem, from the writer's own word to mere order."""

    SAID = "said"
    SUBJECTS = "subjects"
    WORDS = "words"
    ORDER = "order"


_BY_TYPE = {
    "fix": Outcome.WORKED,
    "solution": Outcome.WORKED,
    "error": Outcome.FAILED,
    "failed_tactic": Outcome.FAILED,
}

# The types of entries that may tell of an attempt; a fact, a preference or a problem that has the words is none.
_TELLING = frozenset({"", "general", "ongoing_task", "task_state", "thread"})


class Event(Struct, kw_only=True):
    """One entry of the log, with what its memory says of it: its subjects (or the entry's tags) and its problem."""

    at: str
    text: str
    type: str = ""
    subjects: tuple[str, ...] = ()
    problem: str = ""


class SessionProblem(Struct, kw_only=True):
    """A problem that the session recorded or was shown; `at` is when."""

    id: str
    text: str
    subjects: tuple[str, ...] = ()
    at: str = ""


class Tried(Struct):
    """An entry that tells of an attempt: how it seems to have ended, and the problem that it seems to be for."""

    event: Event
    outcome: Outcome
    problem: str = ""
    tie: Tie | None = None


def attempts(events: Iterable[Event], problems: Sequence[SessionProblem]) -> Iterator[Tried]:
    """The attempts among the entries of a log, in its order, each tied to the likeliest of the problems.

    Read off English words and the entries' types: an offer to whoever was there, never a finding. What is tied to
    nothing must say that something was tried.
    """
    for event in events:
        outcome = outcome_of(event)
        if outcome is None:
            continue
        tied = _tied(event, problems)
        if tied is not None or event.type in _BY_TYPE or _TRIED.search(event.text):
            yield Tried(event, outcome, *(tied or ("", None)))


def outcome_of(event: Event) -> Outcome | None:
    """The outcome of an entry's attempt, or None for an entry that describes no attempt."""
    if event.type in _BY_TYPE:
        return _BY_TYPE[event.type]
    if event.type not in _TELLING:
        return None
    failed, rest = bool(_FAILED.search(event.text)), _FAILED.sub(" ", event.text)
    worked = bool(_WORKED.search(rest))
    if failed != worked:
        return Outcome.FAILED if failed else Outcome.WORKED
    return Outcome.UNCLEAR if failed or _TRIED.search(event.text) else None


def _tied(event: Event, problems: Sequence[SessionProblem]) -> tuple[str, Tie] | None:
    """The problem that an attempt is for: the one it names, else the one with most in common, else the one at hand."""
    if event.problem:
        return event.problem, Tie.SAID
    telling_words, tags = _words(event.text), {normal_name(name) for name in event.subjects}
    # A log knows minutes: what came in the same one may have come before.
    earlier = [problem for problem in problems if problem.at[:16] <= event.at[:16]] or list(problems)
    if not earlier:
        return None
    shared = [
        (len(telling_words & _words(problem.text)), len(tags & {normal_name(name) for name in problem.subjects}), problem)
        for problem in earlier
    ]
    words, subjects, nearest = max(shared, key=lambda scored: (scored[1] > 0, scored[0], scored[1], scored[2].at, scored[2].id))
    if subjects:
        return nearest.id, Tie.SUBJECTS
    if words >= FEWEST_WORDS:
        return nearest.id, Tie.WORDS
    last = max(earlier, key=lambda problem: (problem.at, problem.id))
    return last.id, Tie.ORDER


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in map(str.casefold, _WORD.findall(text)) if word not in _COMMON)
