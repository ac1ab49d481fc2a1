"""The line of a note's head that says its title, and when it goes: with the text that it was made of."""

from __future__ import annotations

from vault_tool.errors import EditRefused
from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import Remove
from vault_tool.files.parse import Parsed, parse
from vault_tool.model.made_titles import is_made_of
from vault_tool.model.types import Registry


def with_title_of_text(path: str, before: bytes, after: bytes, registry: Registry, *, was_made: bool = False) -> bytes:
    """An edited note without a title that was made of an earlier text of it, where the edit left that title as it was.

    `was_made` says so for a title that its words do not tell. A title that a person gave it, before or by this edit, stays;
    so does a head that cannot be edited.
    """
    old, new = parse(path, before, registry), parse(path, after, registry)
    title = stored_title(new)
    if not title or title != stored_title(old) or says_itself(new, title) or not (was_made or says_itself(old, title)):
        return after
    try:
        return frontmatter.edit(after, [Remove("title")])
    except EditRefused:
        return after


def stored_title(parsed: Parsed) -> str:
    """The title that stands in a note's head."""
    title = parsed.head.get("title")
    return title if isinstance(title, str) else ""


def says_itself(parsed: Parsed, title: str) -> bool:
    """Whether the note's own text makes this title."""
    if parsed.record_class is None:
        return False
    return is_made_of(title, parsed.record_class, str(parsed.head.get("summary") or ""), parsed.body)
