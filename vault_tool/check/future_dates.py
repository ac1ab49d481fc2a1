"""Dates ahead of the clock: one line for all the notes that have one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vault_tool.model.problems import DATED_AHEAD, Problem, note
from vault_tool.util.hints import step
from vault_tool.util.text import counted

_NAMED = 5


def gathered(problems: Collection[Problem]) -> Iterator[Problem]:
    """The problems, where those of dates ahead are one: a clock that was wrong for a day dates everything of that day."""
    ahead = sorted(problem for problem in problems if problem.code == DATED_AHEAD)
    yield from (problem for problem in problems if problem.code != DATED_AHEAD)
    if ahead:
        places = [f"{problem.path}{f':{problem.line}' if problem.line else ''} ({problem.message})" for problem in ahead[:_NAMED]]
        more = f" and {len(ahead) - _NAMED} more" if len(ahead) > _NAMED else ""
        count = f"{counted(len(ahead), 'note is', 'notes are')} dated ahead of this machine's clock"
        message = f"{count}, and counted as of its commit or of now: {', '.join(places)}{more}"
        hint = "if the clock was wrong that day, put the right date there in an editor"
        ours = any(not problem.path.startswith("../") for problem in ahead)
        yield note("vault", 0, DATED_AHEAD, message, f"{hint}, then {step('commit')}" if ours else hint)
