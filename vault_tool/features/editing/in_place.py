"""A note's whole file with another text, and perhaps another title, in their places: for an editor that shows these alone."""

from __future__ import annotations

import re

from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import Change, Remove, Set

_END = re.compile(r"\r\n|\r|\n")


def with_text(base: str, text: str, *, field: str = "", title: str = "") -> str:
    """The file `base` with the text below its head replaced, and the `field` of its title set (taken out where `title` is empty).

    Every other line stays as it is; all end with a line feed.
    """
    start = frontmatter.split(base.encode("utf-8")).body_start
    head = _END.sub("\n", base.encode("utf-8")[:start].decode("utf-8"))
    body = _END.sub("\n", base.encode("utf-8")[start:].decode("utf-8"))
    before, after = body[: len(body) - len(body.lstrip("\n"))], body[len(body.rstrip("\n")) :] or "\n"
    whole = head + before + text.strip("\n") + after
    if not field:
        return whole
    change: Change = Set(field, title) if title else Remove(field)
    return frontmatter.edit(whole.encode("utf-8"), [change]).decode("utf-8")
