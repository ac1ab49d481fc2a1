"""The starter texts of a new vault: soul, protocol, orientation and content policy; a person rewrites them."""

from __future__ import annotations

from pathlib import Path

from vault_tool.util.structs import Struct

# In place of a text that every new vault has: it says nothing of this one, and would be read at each session's start.
UNTOUCHED = "This is as every new vault has it: nobody has rewritten it yet."

_TEXTS = Path(__file__).parent / "texts"


class Starter(Struct):
    """The first understanding of one of the kept types."""

    type: str
    title: str
    summary: str
    body: str


def starters() -> tuple[Starter, ...]:
    """Soul, protocol and orientation, in the order in which they are read."""
    return (
        Starter("soul", "Soul", "The state from which the rest follows: care for what is so, and for the person.", _text("soul")),
        Starter("protocol", "Protocol", "How this memory is used well: naming, tagging, evidence, revision.", _text("protocol")),
        Starter("orientation", "Orientation", "A new vault: nothing is known yet.", _text("orientation")),
    )


def is_starter(type: str, body: str) -> bool:
    """Whether a text is still the one that every new vault has."""
    return any(starter.type == type and starter.body.strip() == body.strip() for starter in starters())


def content_policy() -> str:
    """The text of `templates/content-policy.md`."""
    return _text("content-policy")


def _text(name: str) -> str:
    return (_TEXTS / f"{name}.md").read_text(encoding="utf-8")
