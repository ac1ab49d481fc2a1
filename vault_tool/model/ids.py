"""Identities: UUIDs, and the prefixes that people type instead of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault_tool.util.deferred import uuid

SHORTEST_PREFIX = 4
SHOWN_PREFIX = 6

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.ASCII)
_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]{3,35}", re.ASCII)


def new_id() -> str:
    """A random (version 4) UUID in its canonical, lower-case form."""
    return str(uuid.uuid4())


def derived_id(space: str, label: str) -> str:
    """The id of what has none of its own: the same for the same label in the same vault (`space` is the vault's id)."""
    return str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID, space), label))


def is_derived(identity: str) -> bool:
    """Whether an id was made from what it names, and is not a random one."""
    return canonical(identity) is not None and uuid.UUID(identity).version == 5


def canonical(text: str) -> str | None:
    """The canonical form of any UUID written with hyphens (of any version, in any case), or None."""
    lowered = text.strip().lower()
    return lowered if _UUID.fullmatch(lowered) else None


def as_prefix(text: str) -> str | None:
    """`text` as something that can begin a UUID (at least 4 characters), or None."""
    lowered = text.strip().lower()
    return lowered if _PREFIX.fullmatch(lowered) else None


def shortest_unambiguous(identity: str, neighbours: Iterable[str]) -> str:
    """The shortest prefix of `one`, at least 6 characters long, that none of `neighbours` shares.

    In a sorted list of ids only the two neighbours of an id can share its longest common prefix.
    """
    need = SHOWN_PREFIX
    for other in neighbours:
        if other == identity:
            continue
        common = 0
        while common < len(identity) and identity[common : common + 1] == other[common : common + 1]:
            common += 1
        need = max(need, common + 1)
    return identity[:need]
