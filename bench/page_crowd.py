"""Other memories beside a story: of ten projects, of ten months, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

OTHERS = ("Brine", "Cobble", "Drumlin", "Elver", "Fathom", "Gannet", "Hollow", "Inlet", "Juniper")
"""Nine projects beside the story's own."""

_PARTS = (
    "orders", "invoices", "accounts", "alerts", "reports", "exports", "labels", "zones", "billing", "search", "login", "cache",
    "uploads", "audit", "quotas",
)  # fmt: skip
_LIBRARIES = ("attrs", "httpx", "lxml", "numpy", "pillow", "redis-py", "structlog", "tenacity", "typer", "uvloop")

# Of the story's own project as many as of two others.
_OWN = 0.2
# So many of the own project's memories name only the part of it that they are about.
_UNNAMED = 0.5
_LAST = date(2026, 8, 30)
_DAYS = 300


class Other(NamedTuple):
    """A memory of the crowd."""

    kind: str
    text: str
    about: tuple[str, ...]
    day: date


def crowd(count: int, own: str, seed: int = 7) -> Iterator[Other]:
    """So many different memories, a share of them of the project `own`, the oldest first."""
    chance = random.Random(seed)
    told: dict[str, tuple[str, tuple[str, ...]]] = {}
    about: tuple[str, ...]
    while len(told) < count:
        project = own if chance.random() < _OWN else chance.choice(OTHERS)
        part = chance.choice(_PARTS)
        kind, text = chance.choice(_FORMS)(chance, project, part)
        about = (part,) if project == own and chance.random() < _UNNAMED else (project, part)
        told.setdefault(text, (kind, about))
    for at, (text, (kind, about)) in enumerate(told.items()):
        yield Other(kind, text, about, _LAST - timedelta(days=_DAYS - _DAYS * at // count))


_Form = Callable[[random.Random, str, str], tuple[str, str]]


def _form(kind: str, text: str) -> _Form:
    """Makes memories of a kind by a text with `{project}`, `{part}`, `{library}`, another part `{other}`, `{n}` and `{m}`."""

    def made(chance: random.Random, project: str, part: str) -> tuple[str, str]:
        values = {"library": chance.choice(_LIBRARIES), "other": chance.choice(_PARTS), "n": chance.randint(2, 900)}
        return kind, text.format(project=project, part=part, m=chance.randint(2, 90), **values)

    return made


_FORMS = (
    _form("fact", "The {part} table of {project} has about {n} thousand rows and is vacuumed on day {m}."),
    _form("fact", "{project} reads {part} with {library}; the schema is in packages/{part}/schema{n}.py."),
    _form("fact", "{project}'s {part} has {n} unit checks, of which {m} need a network."),
    _form("decision", "{project} pages its {part} by cursor with {n} items, since {other} did so with {m}."),
    _form("decision", "In {project} the state of {part} is kept in a file of {n} KB for at most {m} hours."),
    _form("preference", "In {project}, log lines of {part} are under {n} characters and name the request."),
    _form("problem", "{project}: the page of {part} takes {n} ms too long when there is no {other} within {m} days."),
    _form("solution", "{project}: an index on {part}.{other}_id brought its list to {n} ms on {m} rows."),
    _form("failed_tactic", "{project}: keeping {part} in the browser gave stale rows after {n} seconds, {m} times."),
    _form("insight", "Faults in {project}'s {part} come mostly from {other}, seen {n} times in {m} weeks."),
    _form("procedure", "Rebuild {part} of {project} with `make {part}-{n}` and start it anew after {m} seconds."),
    _form("task_state", "The move of {project}'s {part} to {library} is at step {m} of {n}."),
    _form("change", "{project} compresses its {part} by level {m} now, which made {n} KB of them."),
)
