"""Progress of a pass walked packet by packet from this machine: the packets given so far, and their outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from vault_tool.files.layout import LOCAL
from vault_tool.files.local_trust import place
from vault_tool.util import atomic
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct

_FILE = "packets.json"
_PRIVATE_FOLDER = 0o700


class Given(Struct):
    """A packet as it was given: its id, what it is about, what was new in it, what of that it showed, and the id of the
    understanding that it showed ("" for none).
    """

    id: str
    keys: tuple[str, ...]
    new: tuple[str, ...]
    shown: tuple[str, ...]
    understanding: str
    settled: bool = False


class Walk(Struct):
    """A pass and what was given of it, the last one at hand; `at` is when. `again` says that what was settled by nothing to say
    is asked again in it.
    """

    pass_id: str
    at: str
    budget: int
    spent: int = 0
    again: bool = False
    given: tuple[Given, ...] = ()

    def shown(self, keys: tuple[str, ...]) -> tuple[str, ...] | None:
        """The ids that the packet of these keys showed; None where none was given."""
        shown = [packet.shown for packet in self.given if packet.keys == keys]
        return shown[-1] if shown else None


def walk(root: Path, pass_id: str = "") -> Walk | None:
    """The stored walk, of this pass if one is named; None where nothing readable is stored."""
    try:
        stored = read_own((place(root) / LOCAL / _FILE).read_bytes())
        restored = _walk(stored)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None if pass_id and restored.pass_id != pass_id else restored


def keep(root: Path, kept_walk: Walk) -> None:
    """Store the progress of a pass, in place of that of another. Raises StorageError."""
    folder = place(root) / LOCAL
    with atomic.storage(f"{LOCAL}/{_FILE}"):
        folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    atomic.write(folder / _FILE, json.dumps(to_builtins(kept_walk)).encode() + b"\n", mode=0o600)


def _walk(stored: Mapping[str, Any]) -> Walk:
    packets = tuple(
        Given(
            str(packet["id"]), _texts(packet["keys"]), _texts(packet["new"]), _texts(packet["shown"]),
            str(packet["understanding"]), packet["settled"] is True,
        )
        for packet in stored["given"]
    )  # fmt: skip
    return Walk(
        str(stored["pass_id"]), str(stored["at"]), int(stored["budget"]), int(stored["spent"]), stored["again"] is True, packets
    )


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("this is no list")
    return tuple(map(str, value))
