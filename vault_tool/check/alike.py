"""Findings that say the same of many files, told once: a vault of thousands of notes has thousands of one kind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from vault_tool.model.problems import Problem, Severity
from vault_tool.util.structs import Struct

# Of one kind so many are told one by one; where there are more, these many of their files are named.
FEW = 10
NAMED = 3
# So many lines are told at most.
MOST = 100

# What differs between findings that are alike: what is quoted, ids and paths, and numbers.
_OWN = re.compile(r"`[^`]*`|\S*/\S*|\b[0-9a-f]{6,}\b|\d+")


class LikeFindings(Struct):
    """Several findings of one kind: how many there are, the first of their files, and what the first of them says."""

    code: str
    severity: Severity
    count: int
    paths: tuple[str, ...]
    message: str
    hint: str = ""

    @property
    def as_problem(self) -> Problem:
        """All of them as one line of a table."""
        more = self.count - len(self.paths)
        where = ", ".join(self.paths) + (f" and {more:,} more" if more > 0 else "")
        return Problem(where, 0, self.code, self.severity, f"{self.count:,} alike: {self.message}", self.hint)


class Told(Struct):
    """Findings as they are told: one by one, those that are alike once, and `left_out` not at all."""

    problems: tuple[Problem, ...]
    alike: tuple[LikeFindings, ...] = ()
    left_out: int = 0


def told(problems: Iterable[Problem]) -> Told:
    """Findings in their order, those that are alike once; at most a hundred lines, those that hide something first."""
    kinds: dict[tuple[Severity, str, str], list[Problem]] = defaultdict(list)
    for problem in problems:
        kinds[problem.severity, problem.code, _OWN.sub("…", problem.message)].append(problem)
    lines: list[Problem | LikeFindings] = []
    left_out = 0
    for group in sorted(kinds.values(), key=lambda group: _ORDER.index(group[0].severity)):
        of_kind = [_alike(group)] if len(group) > FEW else group
        shown = of_kind[: MOST - len(lines)]
        left_out += len(of_kind) - len(shown) if len(group) <= FEW or shown else len(group)
        lines += shown
    one_by_one = sorted(line for line in lines if isinstance(line, Problem))
    return Told(tuple(one_by_one), tuple(line for line in lines if isinstance(line, LikeFindings)), left_out)


_ORDER = tuple(Severity)


def _alike(group: Sequence[Problem]) -> LikeFindings:
    first = group[0]
    paths = tuple(dict.fromkeys(problem.path for problem in group))[:NAMED]
    return LikeFindings(first.code, first.severity, len(group), paths, first.message, first.hint)
