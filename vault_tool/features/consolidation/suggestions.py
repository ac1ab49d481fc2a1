"""Links that seem to be missing between memories: a solution that names no problem, a problem that nothing answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from heapq import nlargest

from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

# The types that point at a problem, each with its edge.
ANSWERS = {"solution": "SOLVES", "failed_tactic": "ATTEMPTED"}

ANSWERS_READ = 200
PROBLEMS_READ = 30

# So much two memories must have in common (a subject counts two, a tag or the same session one).
_LEAST = 2


class Suggestion(Struct):
    """An edge that a person or agent might write after looking at both ends."""

    start: Entry
    type: str
    end: Entry
    why: str
    score: int


def edge_suggestions(answers: Iterable[Entry], problems: Sequence[Entry], linked: Collection[str]) -> list[Suggestion]:
    """For each solution and failed tactic that is linked to no problem (its id is not in `linked`) the nearest problem.

    Nearest is what shares most subjects and tags and the session; of equals the problem written last before it. Only the
    newest answers, and of each subject the newest problems, are looked at: old ones were passed over before.
    """
    normal = cache(normal_name)
    by_subject: dict[str, list[Entry]] = defaultdict(list)
    for problem in sorted(problems, key=_age, reverse=True):
        for name in problem.subjects:
            by_subject[normal(name)].append(problem)
    suggestions = []
    loose = (a for a in answers if a.type in ANSWERS and not a.text("problem") and a.id not in linked)
    for answer in nlargest(ANSWERS_READ, loose, key=_age):
        near = {p.path: p for name in answer.subjects for p in by_subject[normal(name)][:PROBLEMS_READ]}.values()
        common = {p.path: _common(answer, p, normal) for p in near}
        best = max(near, key=lambda p: (len(common[p.path]), *_before(answer, p)), default=None)
        shared = common[best.path] if best else []
        if best is not None and len(shared) >= _LEAST:
            why = f"both are about {', '.join(dict.fromkeys(shared))}"
            suggestions.append(Suggestion(answer, ANSWERS[answer.type], best, why, len(shared)))
    return sorted(
        suggestions, key=lambda suggestion: (-suggestion.score, suggestion.start.text("created"), suggestion.start.path)
    )


def _age(entry: Entry) -> tuple[str, str]:
    return entry.text("created"), entry.path


def _before(answer: Entry, problem: Entry) -> tuple[bool, str, str]:
    written = problem.text("created")
    return written <= answer.text("created"), written, problem.path


def _common(entry: Entry, other: Entry, normal: Callable[[str], str]) -> list[str]:
    subjects = _shared(entry.subjects, other.subjects, normal)
    tags = _shared(entry.own("tags"), other.own("tags"), normal)
    session = ["the same session"] if entry.text("session") and entry.text("session") == other.text("session") else []
    return [*subjects, *subjects, *tags, *session]


def _shared(names: Iterable[str], theirs: Iterable[str], normal: Callable[[str], str]) -> list[str]:
    known = set(map(normal, theirs))
    return [name for name in names if normal(name) in known]
