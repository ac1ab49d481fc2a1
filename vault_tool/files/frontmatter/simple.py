"""The heads that one regular expression can read: a subset of YAML in which every value is what it looks like."""

from __future__ import annotations

import re

from vault_tool.files.frontmatter.values import Head, Plain, Raw
from vault_tool.util.deferred import deferred_pattern

# What the regular expression accepts is a subset of YAML in which every value is what it looks like. Whatever it does
# not accept (comments, tabs, escapes, nesting, mistakes) goes to the parser, so the subset may be as narrow as is fast.
_ODD = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_START = rf"""[^\s\-?:,\[\]{{}}#&*!|>'"%@`{_ODD}]"""
PLAIN = rf"{_START}[^:{_ODD}]*(?::(?![ \n]|\Z)[^:{_ODD}]*)*(?<! )"
_DOUBLE = rf'"[^"\\{_ODD}]*"'
PLAIN_ITEM = rf"""{_START}[^,\[\]{{}}:#?"{_ODD}]*(?<! )"""
_ITEM = rf"(?:{_DOUBLE}|{PLAIN_ITEM})"
_FLOW = rf"\[(?:{_ITEM}(?:, ?{_ITEM})*)?\]"
_LINE = deferred_pattern(
    rf"^(?:([A-Za-z_][A-Za-z0-9_-]{{0,63}}):(?: ({PLAIN}|{_DOUBLE}|{_FLOW}))?|( *)- ({PLAIN}|{_DOUBLE}))\n", re.M
)
_ITEMS = deferred_pattern(_ITEM)
_SIMPLE_LIMIT = 65_536


def read_simple(text: str, first_line: int) -> Head | None:
    """The head if all its lines are simple, else None: then only the parser can tell."""
    # It may begin a comment, or stand in quotes: only the parser can tell which.
    if " #" in text or len(text) > _SIMPLE_LIMIT:
        return None
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    rows: list[tuple[str, str, str, str]] = _LINE.findall(text)
    if len(rows) != text.count("\n") or not (rows and text.endswith("\n")):
        return None
    values: dict[str, Raw] = {}
    lines: dict[str, int] = {}
    block: list[Raw] | None = None
    block_key, block_indent = "", ""
    number = first_line
    for key, source, indent, item in rows:
        if key:
            if key in values:
                # A fault, which the parser names with its line.
                return None
            lines[key] = number
            block_key = ""
            if not source:
                values[key] = None
                block, block_key = None, key
            elif source[0] == '"':
                values[key] = source[1:-1]
            elif source[0] == "[":
                values[key] = _flow_items(source[1:-1])
            else:
                values[key] = Plain(source)
        elif not block_key or (block is not None and indent != block_indent):
            return None
        else:
            if block is None:
                values[block_key] = block = []
                block_indent = indent
            block.append(item[1:-1] if item[0] == '"' else Plain(item))
        number += 1
    return Head(values, lines)


def _flow_items(inner: str) -> list[Raw]:
    if '"' in inner:
        return [item[1:-1] if item[0] == '"' else Plain(item) for item in _ITEMS.findall(inner)]
    return [Plain(item) for item in inner.replace(", ", ",").split(",")] if inner else []
