"""The words of a note, apart from fields that others may put to it: they decide the text's author."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from vault_tool.files.parse import parse
from vault_tool.model.fields import SCHEMA
from vault_tool.model.snapshot import ENDS, is_from_others
from vault_tool.model.types import Registry
from vault_tool.util.structs import Struct

# What may be put to a note, or taken from it, without a word of it being another's.
ADDED = frozenset({"tags", "pinned", "not_at_start", "subjects", "related_to", "updated"})

# What is there or not, as a list of one.
FLAGS = ("pinned", "not_at_start")
# The lists among them, and the flags as such: what others put there, or took away, is told as theirs.
LISTS = ("tags", "subjects", "related_to", *FLAGS)
# What keeps a note from being told: when it is over, whom alone it is about, and that no session is given it.
HIDING = (*ENDS, "user", "not_at_start")
_ALIASES = "aliases"

_REGISTRY = Registry()


class Evidence(Struct):
    """A digest of a note's body and fields, its origin apart; empty for a text that cannot be read, which is like no other.

    `label` says that the head names a contributor, as older versions of the tool wrote it there.
    """

    digest: str = ""
    origin: str = ""
    label: bool = False
    pinned: bool = False
    id: str = ""
    lists: tuple[tuple[str, ...], ...] = ()
    """The items of each of `LISTS`."""
    hiding: tuple[str, ...] = ("",) * len(HIDING)
    """The values of `HIDING`, as texts."""

    def same_as(self, before: Evidence, *, own: bool) -> bool:
        """Whether these are the words that stood there before; in a commit of the owner's a label changes nothing either."""
        return bool(self.digest) and self.digest == before.digest and (self.origin == before.origin or (own and self.label))


def items_of(head: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The items of one of `LISTS` in a head."""
    return ("true",) * (head.get(name) is True) if name in FLAGS else tuple(map(str, head.get(name) or ()))


def evidence_of(path: str, data: bytes) -> Evidence:
    """The words of a note's bytes."""
    parsed = parse(path, data, _REGISTRY)
    if not parsed.readable:
        return Evidence()
    origin = str(parsed.head.get("origin") or "")
    # A field that means nothing here says no word of it: other tools put many there.
    known = SCHEMA.get(parsed.record_class) if parsed.record_class is not None else None
    fields = parsed.head if known is None else {*known, _ALIASES}
    values = {name: value for name, value in parsed.head.items() if name in fields and name not in ADDED and name != "origin"}
    body = parsed.body.replace("\r\n", "\n").strip("\n")
    serialized = orjson.dumps([values, body], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    plain = "" if origin == "owner" or is_from_others(origin) else origin
    digest = hashlib.blake2b(serialized, digest_size=16).hexdigest()
    identity = str(parsed.head.get("id") or "")
    pinned = parsed.head.get("pinned") is True
    lists = [items_of(parsed.head, name) for name in LISTS]
    hiding = tuple(str(parsed.head.get(name) or "") for name in HIDING)
    return Evidence(digest, plain, is_from_others(origin), pinned, identity, tuple(lists), hiding)
