"""The head of a Hugo page that is no YAML: TOML between two lines `+++`, or a JSON object; read and left where it is."""

from __future__ import annotations

import json
import re
from datetime import date, datetime

from vault_tool.config import toml_table
from vault_tool.files.frontmatter import Plain, Raw

_LONGEST_HEAD = 16_384
_FENCED = re.compile(r"\ufeff?\s*\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t\r]*$", re.DOTALL | re.MULTILINE)


def toml_head(text: str) -> tuple[dict[str, Raw], str]:
    """The texts, dates and lists of texts of a `+++` head, and the prose after it; nothing and `text` where there is none."""
    match = _FENCED.match(text) if "+++" in text[:200] else None
    if match is None:
        return {}, text
    try:
        values = toml_table(match[1].replace("\r\n", "\n"))
    except ValueError:
        return {}, text[match.end() :]
    return {key: raw for key, value in values.items() if (raw := _raw(value)) is not None}, text[match.end() :]


def json_head(text: str) -> tuple[dict[str, Raw], str]:
    """The same of a JSON object that a text begins with."""
    begun = text.lstrip("\ufeff \t\r\n")
    if not begun.startswith("{") or '"' not in begun[:200]:
        return {}, text
    try:
        values, end = json.JSONDecoder().raw_decode(begun[:_LONGEST_HEAD])
    except (ValueError, RecursionError):
        return {}, text
    # Text that goes on in its line is no head.
    if not isinstance(values, dict) or begun[end:].partition("\n")[0].strip():
        return {}, text
    return {key: raw for key, value in values.items() if (raw := _raw(value)) is not None}, begun[end:]


def _raw(value: object) -> Raw:
    if isinstance(value, str):
        return value
    if isinstance(value, (datetime, date)):
        return Plain(value.isoformat())
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str)]
    return None
