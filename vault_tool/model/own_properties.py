"""The properties of a note's own head: fields that no schema knows, as people and other tools write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vault_tool.model.fields import SCHEMA
from vault_tool.model.types import RecordClass

# So much of one head is searched: what is longer is data and no description.
LONGEST = 4_000

# What an import wrote, and what is searched in a place of its own.
_OURS = frozenset(
    {"id", "type", "title", "created", "origin", "tags", "subjects", "aliases", "imported_from", "source_hash", "copy_hash",
     "put_by_others", "also", "unsettled", "source_id", "summary", "description"}
)  # fmt: skip
# Other spellings of our lists, and how a note is to look.
_NO_WORDS = frozenset({"tag", "alias", "subject", "cssclass", "cssclasses"})


def own_properties(record_class: RecordClass | None, head: Mapping[str, object]) -> str:
    """The keys and values of a head that are its writer's own, one a line; flags are for tools and say nothing.

    An imported note has no fields of ours but what the import gave it: `model: T4` there is the model of something.
    """
    known = SCHEMA[record_class] if record_class is not None and head.get("origin") != "import" else ()
    lines = [line for key, value in head.items() if key not in known and key not in _OURS for line in _lines(str(key), value)]
    return "\n".join(lines)[:LONGEST] if lines else ""


def _lines(key: str, value: object) -> Iterator[str]:
    if key.lower() in _NO_WORDS:
        return
    text = " ".join(_words(value))
    if text:
        yield f"{key}: {text}"


def _words(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _words(inner)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _words(item)
    elif not isinstance(value, bool) and value is not None and str(value):
        yield str(value)
