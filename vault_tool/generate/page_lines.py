"""The parts that the lines of generated pages are made of: link, tags, and where a memory comes from."""

from __future__ import annotations

from functools import lru_cache

from vault_tool.generate.escape import inline, link_path, words
from vault_tool.model.snapshot import Entry, from_trusted, is_from_others, is_trusted
from vault_tool.util.clock import parse_time

TITLE_LENGTH = 160
TAG_LENGTH = 30
MOST_TAGS = 6
MODEL_LENGTH = 40
PULLED_LENGTH = 120

_ORIGINS = frozenset({"owner", "agent", "import"})


def origin(entry: Entry) -> str:
    """The origin of a memory: `owner` (also a file that does not say), `agent`, `import`, `pulled` and by whom, or `unknown`
    for any other word."""
    return _in_words(entry.origin)


@lru_cache(maxsize=64)  # a large vault is by few
def _in_words(text: str) -> str:
    if is_trusted(text):
        return words(from_trusted(text), PULLED_LENGTH)
    if is_from_others(text):
        return words(text, PULLED_LENGTH)
    return text if text in _ORIGINS else "unknown"


def vouched(entry: Entry, reviewed: bool) -> bool:
    """Whether a person stands behind it: its owner wrote or reviewed it."""
    return reviewed or origin(entry) == "owner"


def named(entry: Entry, limit: int = TITLE_LENGTH) -> str:
    """Its title, or its id where that says nothing."""
    return inline(entry.title, limit) or entry.id


def link(entry: Entry, limit: int = TITLE_LENGTH) -> str:
    """`[title](path)`."""
    return f"[{named(entry, limit)}]({link_path(entry.path)})"


def tags(entry: Entry) -> str:
    """` (one, two)` or nothing."""
    shown = [tag for tag in (words(tag, TAG_LENGTH) for tag in entry.own("tags")[:MOST_TAGS]) if tag]
    return f" ({', '.join(shown)})" if shown else ""


def trust(entry: Entry, reviewed: bool) -> str:
    """`agent claude-opus, not reviewed`: origin, model, and the mark of what no person vouches for."""
    return _writer(entry) if _without_mark(entry, reviewed) else f"{_writer(entry)}, not reviewed"


def provenance(entry: Entry, reviewed: bool) -> str:
    """`agent claude-opus, 2026-11-20 (not reviewed)`: as `trust`, with the day on which it was observed."""
    return f"{_writer(entry)}, {_day(entry)}{'' if _without_mark(entry, reviewed) else ' (not reviewed)'}"


def _without_mark(entry: Entry, reviewed: bool) -> bool:
    """Whether a line needs no mark of trust: a person vouches for it, or a trusted person brought it."""
    return vouched(entry, reviewed) or is_trusted(entry.origin)


def _writer(entry: Entry) -> str:
    model = entry.text("model")
    return f"{origin(entry)} {named}" if model and (named := _model(model)) else origin(entry)


@lru_cache(maxsize=64)
def _model(text: str) -> str:
    return words(text, MODEL_LENGTH)


def _day(entry: Entry) -> str:
    moments = (parse_time(entry.text("observed")), parse_time(entry.text("created")))
    return next((moment.date().isoformat() for moment in moments if moment), "undated")
