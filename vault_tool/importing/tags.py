"""The tags of a foreign note: in its head, in its prose, and by the folders that it lies in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from vault_tool.files.frontmatter import AddItems, Change, Raw, Set, lists
from vault_tool.files.frontmatter.lists import Form
from vault_tool.util.text import normal_name, one_line, prose_lines, unwrap_link, without_code

_FIELDS = frozenset({"tags", "tag", "keywords", "categories", "category"})
# A tag stands at the beginning of a word, so that anchors in addresses and links are none.
_TAG = re.compile(r"""(?:(?<=\s)|(?<=^)|(?<=[\s(][(])|(?<=^[(]))#([^\s#.,;:!?'"()\[\]{}<>|`~@$%^&*+=\\]+)""")
_COLOUR = re.compile(r"(?=[a-f]*\d)[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3}(?:[0-9a-fA-F]{2})?)?", re.ASCII)
_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3})?(?:[ _)-]+|\.[ ]*)(?=.*[^\W\d_])")
_UNREADABLE = re.compile(r"[^\w.+/]+")


def in_prose(body: str) -> Iterator[str]:
    """The `#tags` of a body, nested ones (`#a/b`) whole; code, headings, colours and numbers are none."""
    if "#" not in body:
        return
    before = ""
    for _, line in prose_lines(_without_comments(body)):
        indented_code = line.startswith(("    ", "\t")) and not before.strip()
        # A block of indented code goes on over its own lines: each is as if it followed a blank one.
        before = "" if indented_code else line
        if "#" not in line or indented_code:
            continue
        for match in _TAG.finditer(without_code(line, "``")):
            tag = match.group(1).strip("/-_")
            if _is_tag(tag):
                yield tag


def _without_comments(body: str) -> str:
    """A body without `%% comments %%` and those of HTML, each replaced by the line ends that it had."""
    for opening, closing in (("%%", "%%"), ("<!--", "-->")):
        if opening not in body:
            continue
        text_left, _, rest = body.partition(opening)
        while rest:
            comment, closed, after = rest.partition(closing)
            text, _, rest = after.partition(opening)
            # One that is never closed is no comment: the mark stands for itself.
            text_left += "\n" * comment.count("\n") + text if closed else comment
        body = text_left
    return body


def in_head(head: Mapping[str, Raw]) -> Iterator[str]:
    """The tags that a head gives under any of the usual names."""
    for key, raw in head.items():
        if normal_name(key) in _FIELDS:
            yield from _named(raw, lists.form_of(key) or Form.NAMES)


def of_folders(path: str) -> Iterator[str]:
    """A tag for each folder above a note, as one reads it (`01 - Projects` is `Projects`); mere numbers (years) give none."""
    for part in PurePosixPath(path).parent.parts:
        name = one_line(part)
        number = _NUMBERED.match(name)
        tag = _UNREADABLE.sub("-", name[number.end() :] if number else name).strip("-_.#")
        if any(c.isalpha() or ord(c) > 127 for c in tag):
            yield tag


def change(head: Mapping[str, Raw], new_tags: Iterable[str]) -> Change | None:
    """The change that adds missing tags to the head's `tags`, case aside; None where none is missing or it holds no tags."""
    keys = list(lists.spelled(head, "tags"))
    if any(isinstance(head[key], dict) for key in keys):
        return None
    present = [tag for key in keys for tag in _named(head[key])]
    known = {tag.casefold() for tag in present}
    lacking = list({tag.casefold(): tag for tag in reversed([*new_tags]) if tag.casefold() not in known}.values())[::-1]
    if not lacking:
        return None
    raw = head.get("tags")
    if isinstance(raw, list) and raw:
        return AddItems("tags", lacking)
    return Set("tags", [*present, *lacking])


def _named(raw: Raw, form: Form = Form.WORDS) -> Iterator[str]:
    for text in lists.texts(raw, form) or _texts_among(raw, form):
        # Categories are often links (`"[[Recipes]]"`): what they are called is the tag.
        if tag := unwrap_link(one_line(text).lstrip("# ")):
            yield tag


def _texts_among(raw: Raw, form: Form) -> list[str]:
    """The texts of a list that holds other things too."""
    return (lists.texts([text for text in raw if isinstance(text, str)], form) or []) if isinstance(raw, list) else []


def _is_tag(tag: str) -> bool:
    return any(c.isalpha() or ord(c) > 127 for c in tag) and not _COLOUR.fullmatch(tag)
