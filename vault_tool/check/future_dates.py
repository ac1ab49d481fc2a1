"""Dates ahead of the clock: one line for all the notes that have one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vault_tool.model.problems import DATED_AHEAD, Problem, note
from vault_tool.util.hints import step
from vault_tool.util.text import counted

_NAMED = 5


def gathered(problems: Collection[Problem]) -> Iterator[Problem]:
    """The problems, where those of dates ahead are one: a clock that was wrong for a day dates everything of that day."""
    ahead = sorted(one for one in problems if one.code == DATED_AHEAD)
    yield from (one for one in problems if one.code != DATED_AHEAD)
    if ahead:
        places = [f"{one.path}{f':{one.line}' if one.line else ''} ({one.message})" for one in ahead[:_NAMED]]
        more = f" and {len(ahead) - _NAMED} more" if len(ahead) > _NAMED else ""
        count = f"{counted(len(ahead), 'note is', 'notes are')} dated ahead of this machine's clock"
        message = f"{count}, and counted as of its commit or of now: {', '.join(places)}{more}"
        hint = "if the clock was wrong that day, put the right date there in an editor"
        ours = any(not one.path.startswith("../") for one in ahead)
        yield note("vault", 0, DATED_AHEAD, message, f"{hint}, then {step('commit')}" if ours else hint)
