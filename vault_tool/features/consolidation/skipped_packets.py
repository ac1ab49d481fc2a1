"""Packets of an open pass that were passed over on this machine: kept so that a walk can be left and taken up again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from vault_tool.files.layout import LOCAL
from vault_tool.files.local_trust import place
from vault_tool.util import atomic
from vault_tool.util.json_text import read_own

_FILE = "consolidation.json"
_PRIVATE_FOLDER = 0o700

# The key of a packet: the keys of its subjects; none for the orientation.
Keys = tuple[str, ...]


def skipped(root: Path, pass_id: str) -> frozenset[Keys]:
    """The packets of one pass that were passed over; none where nothing readable says so."""
    try:
        stored = read_own((place(root) / LOCAL / _FILE).read_bytes())
    except (OSError, ValueError):
        return frozenset()
    if not isinstance(stored, dict) or stored.get("pass") != pass_id or not isinstance(stored.get("skipped"), list):
        return frozenset()
    return frozenset(tuple(map(str, keys)) for keys in stored["skipped"] if isinstance(keys, list))


def pass_over(root: Path, pass_id: str, packets: Iterable[Keys]) -> None:
    """Pass over more packets of a pass; what was kept of another pass is dropped. Raises StorageError."""
    keys = skipped(root, pass_id) | frozenset(packets)
    folder = place(root) / LOCAL
    with atomic.storage(f"{LOCAL}/{_FILE}"):
        folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
    stored = {"pass": pass_id, "skipped": sorted(keys)}
    atomic.write(folder / _FILE, json.dumps(stored).encode() + b"\n", mode=0o600)
