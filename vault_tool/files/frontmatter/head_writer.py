"""Values as YAML that reads back as exactly what was meant, here and by other readers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from vault_tool.errors import EditRefused
from vault_tool.files.frontmatter.simple import PLAIN, PLAIN_ITEM
from vault_tool.files.frontmatter.values import Plain, Quoted, Raw, Value
from vault_tool.util.deferred import deferred_pattern

LINE_WIDTH = 100
BLOCK_INDENT = 2

_PLAIN_TEXT = deferred_pattern(PLAIN)
_PLAIN_ITEM = deferred_pattern(PLAIN_ITEM)
# What YAML 1.1 or 1.2 readers take for a null, a truth value, a number or a date: as text it needs quotes.
_WORDS = frozenset({"", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<", ".inf", ".nan", "+.inf"})
_NUMBER = deferred_pattern(
    r"""[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?
    |[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?)""",
    re.VERBOSE | re.ASCII,
)
_DATE = deferred_pattern(
    r"\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?", re.ASCII
)
_WHOLE_TIME = deferred_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)", re.ASCII)
# Control characters, line ends of other standards, and characters that hide or turn the direction of text.
_UNSEEN = "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff\ud800-\udfff]"
UNSEEN = deferred_pattern(_UNSEEN)
_ESCAPED = deferred_pattern(rf'["\\]|{_UNSEEN}')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def render_head(fields: Sequence[tuple[str, Value]]) -> str:
    """A whole head, fences included: the fields in the order given, one line each but for long lists."""
    return "---\n" + "".join(field(key, value) for key, value in fields) + "---\n"


def field(key: str, value: Value, newline: str = "\n", indent: int = 0) -> str:
    """One field as lines: lists on one line where they fit, else an item a line; nothing at all for None."""
    margin = " " * indent
    name = margin + scalar(key)
    if is_list(value) and (items := tuple(value)) and not fits(name, value):
        dashes = [f"{margin}{' ' * BLOCK_INDENT}- {inline(item)}{newline}" for item in items]
        return f"{name}:{newline}" + "".join(dashes)
    return f"{name}:{newline}" if value is None else f"{name}: {inline(value)}{newline}"


def is_list(value: Value) -> TypeGuard[Sequence[Value]]:
    """Whether `value` is written as a list."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def fits(name: str, value: Value) -> bool:
    """Whether `name: value` is short enough for one line."""
    return len(name) + 2 + len(inline(value)) <= LINE_WIDTH


def inline(value: Value, style: str = "", *, flow: bool = False) -> str:
    """A value on one line; `style` is the quote that a text had (`'` or `"`), kept if it can be; `flow`: within brackets."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, str):
        return scalar(value, style, flow=flow)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key, flow=True)}: {inline(item, flow=True)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(inline(item, flow=True) for item in value) + "]"


def scalar(text: str, style: str = "", *, flow: bool = False) -> str:
    """A text: plain where that reads back as the same text everywhere, else quoted; `Quoted` ones always."""
    if style == "'" and not UNSEEN.search(text):
        return "'" + text.replace("'", "''") + "'"
    if style or isinstance(text, Quoted) or not _can_be_plain(text, flow):
        return '"' + _ESCAPED.sub(_escape, text) + '"'
    return str(text)


def as_raw(value: Value) -> Raw:
    """The raw value that reading `value` back must give."""
    if value is None:
        return Plain("null")
    if isinstance(value, bool | int | float):
        return Plain(inline(value))
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_raw(item) for key, item in value.items()}
    return [as_raw(item) for item in value]


def _can_be_plain(text: str, flow: bool) -> bool:
    pattern = _PLAIN_ITEM if flow else _PLAIN_TEXT
    if not pattern.fullmatch(text) or " #" in text or UNSEEN.search(text):
        return False
    if _DATE.fullmatch(text):
        # A date alone may be a title; a whole time never is, and reads better without quotes.
        return bool(_WHOLE_TIME.fullmatch(text)) and not flow
    return text.lower() not in _WORDS and not _NUMBER.fullmatch(text)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise EditRefused(f"{value} is not a number that a head can hold", "give a finite number")
    mantissa, mark, exponent = repr(value).partition("e")
    # YAML 1.1 takes `1e-07` for text: its numbers need the point.
    return f"{mantissa}.0e{exponent}" if mark and "." not in mantissa else repr(value)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if "\ud800" <= char <= "\udfff":
        raise EditRefused("a text holds half of a surrogate pair, which no file can", "give the whole character")
    return _ESCAPES.get(char) or f"\\u{ord(char):04x}"
