"""Keys and values that the lines of an unreadable head still hold, as a person would read them."""

from __future__ import annotations

import re

from vault_tool.files.frontmatter.lists import form_of, given
from vault_tool.files.frontmatter.split import split

# Of a head that is longer, as of one that was never closed, no more is read.
_MOST_BYTES = 16_384
_FIELD = re.compile(r"""(["']?)([^\s:"'#\-\[\]{}][^:"'\n]{0,80}?)\1[ \t]*:(?:[ \t]+(.*?))?[ \t]*""")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*?)[ \t]*")
_OTHER = "text"


def read_loosely(data: bytes) -> dict[str, str | list[str]]:
    """The fields of a head, line by line: what follows the first colon is the value, whatever YAML makes of it.

    Lines that are no field go on with the field before; of a key that stands twice both values are kept.
    """
    parts = split(data)
    text = data[parts.start : min(parts.end, parts.start + _MOST_BYTES)].decode("utf-8", "replace")
    fields: dict[str, list[str]] = {}
    last = _OTHER
    for line in text.splitlines():
        field = _FIELD.fullmatch(line)
        if field:
            last = field[2]
            value = _bare(field[3] or "")
        else:
            item = _ITEM.fullmatch(line)
            value = _bare(item[1] if item else line)
        if value:
            fields.setdefault(last, []).append(value)
    return {key: _value(key, values) for key, values in fields.items()}


def _value(key: str, values: list[str]) -> str | list[str]:
    if form_of(key) is None:
        return values[0] if len(values) == 1 else values
    items: list[str] = []
    for value in values:
        try:
            items += given(key, value)
        except ValueError:
            items.append(value.strip("[] "))
    return items


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
