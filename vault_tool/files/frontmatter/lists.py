"""A list field in any form that people write: a list, one text with commas, or JSON; the one reader of list fields.

Heads of records, served notes and imports, arguments of programs and agents, and the command line read by it, and what
changes a list begins from what it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from vault_tool.files.frontmatter.values import Plain, Raw
from vault_tool.model.fields import LISTS, SCHEMA
from vault_tool.util.deferred import deferred_pattern, orjson
from vault_tool.util.text import unwrap_link

NULLS = frozenset({"null", "Null", "NULL", "~"})


class Form(Enum):
    """The kind of a list's items: words without spaces, names that may have some, or texts of any kind."""

    WORDS = "words"
    NAMES = "names"
    TEXTS = "texts"


class Item(NamedTuple):
    """One item as it is written, and as it reads: `[[redis|Redis]]` and `Redis`."""

    written: str
    text: str


# The list fields that go by several spellings, case aside.
SPELLINGS: Mapping[str, str] = {
    "tag": "tags", "tags": "tags", "alias": "aliases", "aliases": "aliases", "subject": "subjects", "subjects": "subjects",
}  # fmt: skip

# What the items of a list are by its name: a field of a head, or a parameter.
_FORMS: Mapping[str, Form] = {
    **{name: Form.TEXTS for fields in SCHEMA.values() for name, field in fields.items() if field.kind in LISTS},
    **dict.fromkeys(("tags", "not_tags", "add", "remove", "kinds", "vaults"), Form.WORDS),
    **dict.fromkeys(("aliases", "subjects", "subject_names", "names", "categories", "category", "keywords"), Form.NAMES),
}

# Commas between items, but for those within a link.
_COMMAS = deferred_pattern(r",(?![^\[\]]*\]\])")
# References and ids have no spaces and no commas: several in one text are told from a text by that.
_REFERENCE = re.compile(r"[a-z_]+:\S+|[0-9a-fA-F-]{4,36}", re.ASCII)


def form_of(name: str) -> Form | None:
    """The kind of items of the list field or parameter called `name`; None for a name that we do not know as a list."""
    return _FORMS.get(SPELLINGS.get(name.lower(), name.lower()))


def items(raw: Raw, form: Form | None) -> list[Item] | None:
    """The items of a head's value, in their order; None where it can be no list of texts.

    A text has several where it has commas, and of words without quotes where it has spaces.
    """
    if isinstance(raw, Plain):
        written = [] if raw in NULLS else _in_text(raw, form)
    elif isinstance(raw, str):
        written = _quoted(raw, form)
    elif isinstance(raw, list):
        written = []
        for value in raw:
            if isinstance(value, str):
                written.append(str(value) if not isinstance(value, Plain) or value not in NULLS else "")
            elif isinstance(value, list) and (linked := _linked(value)):
                written.append(linked)
            elif value is not None:
                return None
    else:
        return None if isinstance(raw, dict) else []
    return [item for text in written if (item := item_of(text, form)).text]


def texts(raw: Raw, form: Form | None) -> list[str] | None:
    """The texts of a head's value as a list, each once; None where it can be no list of texts."""
    # Nearly every list of a vault is of this kind, and a rebuild reads each.
    if isinstance(raw, list):
        for value in raw:
            if value.__class__ is not Plain or value in NULLS or value[0] == "[":
                break
        else:
            return list(dict.fromkeys(map(str, raw)))
    read = items(raw, form)
    return None if read is None else list(dict.fromkeys(item.text for item in read))


def given(name: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """The list that a program or an agent gave for `name`: one text is read as a list, an item that is one in JSON as its items.

    Raises ValueError for a text that begins as a list and is none.
    """
    form = form_of(name) or Form.TEXTS
    if not isinstance(value, str):
        return tuple(text for part in value for text in (_of_json(part) or (part,)))
    text = value.strip()
    parsed = _of_json(text)
    if parsed is not None:
        return tuple(parsed)
    if form is Form.TEXTS:
        parts = [part.strip() for part in text.split(",")]
        return tuple(parts) if len(parts) > 1 and all(map(_REFERENCE.fullmatch, parts)) else (value,)
    if text.startswith("[") and not text.startswith("[["):
        if not text.endswith("]"):
            raise ValueError("begins as a list and has no end")
        if "{" in text:
            raise ValueError("is a list of other things than texts")
        text = ", ".join(part.strip().strip("\"'") for part in _COMMAS.split(text[1:-1]))
        return tuple(filter(None, _in_text(text, form) if "," in text else [text]))
    return tuple(dict.fromkeys(part for written in _in_text(text, form) if (part := item_of(written, form).text)))


def typed(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """The list that options of a command line are: a tag has no comma, and an item that is a list in JSON is its items."""
    words = form_of(name) is Form.WORDS
    parts = (part for text in given(name, tuple(values)) for part in (text.split(",") if words else [text]))
    return tuple(part.strip() if words else part for part in parts if part.strip() or not words)


def spelled(values: Mapping[str, Any], name: str) -> Iterator[str]:
    """The keys of a head that mean the list called `name`, its own first."""
    if name in values:
        yield name
    if name in SPELLINGS.values():
        yield from (key for key in values if key != name and SPELLINGS.get(key.lower()) == name)


def _in_text(text: str, form: Form | None) -> list[str]:
    words = form is Form.WORDS
    if "," in text:
        parts = [part.strip() for part in _COMMAS.split(text)]
    else:
        parts = text.split() if words and "[[" not in text else [text.strip()]
    return [part.lstrip("#").strip() for part in parts] if words else parts


def _quoted(text: str, form: Form | None) -> list[str]:
    """A text in quotes is split as one without, for quotes say nothing in YAML, but not at spaces, and texts of any kind are one.

    A list in JSON is that list, words that each have their `#` are told by it, and lines under `|` by the lines.
    """
    if form is Form.WORDS and text.startswith("#") and all(part.startswith("#") for part in text.replace(",", " ").split()):
        return _in_text(text.replace(",", " "), form)
    if "\n" in text and form in (Form.WORDS, Form.NAMES):
        return [line.strip().removeprefix("- ") for line in text.splitlines()]
    if parts := _of_json(text):
        return parts
    if "," in text and form in (Form.WORDS, Form.NAMES):
        return _in_text(text, form)
    return [text]


def _of_json(text: str) -> list[str] | None:
    """The texts of a list in JSON; None for any other text."""
    text = text.strip()
    if text[:1] != "[" or text[-1:] != "]" or text[1:2] == "[":
        return None
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    simple = all(isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)) for value in parsed)
    return [str(value) for value in parsed] if simple else None


def _linked(raw: list[Raw]) -> str:
    """An unquoted link in a list, `[[[Redis]]]` or `- [[Doe, John]]`, which is a list in a list to YAML."""
    while len(raw) == 1 and isinstance(raw[0], list):
        raw = raw[0]
    parts = [str(value) for value in raw if isinstance(value, str)]
    return f"[[{', '.join(parts)}]]" if parts and len(parts) == len(raw) else ""


def item_of(written: str, form: Form | None) -> Item:
    """One item of a list from what stands in its place."""
    if form in (Form.TEXTS, None):
        return Item(written, written)
    return Item(written, unwrap_link(written))
