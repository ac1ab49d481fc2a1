"""Bundles of the Open Knowledge Format: which folders are one, and what of them is no memory but a list or a subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import dirname

from vault_tool.errors import Refused
from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import Raw
from vault_tool.model.ids import canonical
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

INDEX, LOG = "index.md", "log.md"
RESERVED = frozenset({INDEX, LOG})
"""Names that the format keeps for lists, which are made of the other files."""

HASH = "hash"
"""The field of a head that holds the hash of the text as an export of a vault wrote it."""


class Exported(Struct):
    """The head of a file that an export of a vault wrote: its record's id, its type and title, and the hash of its text."""

    id: str
    type: str
    title: str
    digest: str


def exported(values: Mapping[str, Raw]) -> Exported | None:
    """The head of a record that an export of a vault wrote into a bundle; None for any other."""
    identity, digest = canonical(_text(values.get("id"))) or "", _text(values.get(HASH))
    if not identity or not digest or not isinstance(values.get("generated"), dict):
        return None
    return Exported(identity, _text(values.get("type")), _text(values.get("title")), digest)


def listings(paths: Sequence[str], read: Callable[[str], bytes]) -> Iterator[str]:
    """The lists of the bundles among these files: index.md and log.md, below an index.md that says the format's version."""
    named = [path for path in paths if path.rpartition("/")[2].casefold() in RESERVED]
    tops = {dirname(path) for path in named if _is_top(path, read)}
    for path in named:
        above = dirname(path)
        if any(not top or above == top or above.startswith(f"{top}/") for top in tops):
            yield path


def _is_top(path: str, read: Callable[[str], bytes]) -> bool:
    if path.rpartition("/")[2].casefold() != INDEX:
        return False
    try:
        head, _, _ = frontmatter.read(read(path))
    except (OSError, Refused):
        return False
    return head is not None and bool(head.values.get("okf_version"))


def _text(raw: Raw) -> str:
    return one_line(raw, 300) if isinstance(raw, str) else ""
