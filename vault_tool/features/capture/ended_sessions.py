"""Sessions that ended and may be read: their notes in `_local/ended/`, as hooks wrote them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from vault_tool.features.capture.capture_settings import CaptureSettings
from vault_tool.files import layout
from vault_tool.files.local_trust import place
from vault_tool.util.structs import Struct

# Seconds that a session must have ended before its file is read: its client may still write it.
QUIET = 60

# Notes of sessions that nobody read are kept for so many seconds.
KEPT_SECONDS = 30 * 86400

_FOLDER = "ended"
_TOLD = ".told"
_LONGEST = 2**16
_MOST = 1000


class EndedSession(Struct):
    """A session that ended (or compacts) at a time, in a folder; `file` is where its client keeps it.

    `is_told` says that the next session was told of it: then the note is the reader's to take away. One that `goes_on` was
    compacted, and had not ended.
    """

    note: Path
    session: str
    client: str
    file: str
    folder: str
    user: str
    at: float
    is_told: bool
    goes_on: bool


def ended_sessions(root: Path, settings: CaptureSettings, user: str, now: float) -> Iterator[EndedSession]:
    """The sessions that may be read now, the one that ended first before all others; notes that are too old are taken away."""
    ready = []
    for path in _notes(place(root) / layout.LOCAL / _FOLDER):
        ended = _session(path)
        if ended is None or now - ended.at >= KEPT_SECONDS:
            if path.suffix == _TOLD:
                with suppress(OSError):  # on a disk that cannot be written it lies on
                    path.unlink()
            continue
        if now - ended.at >= QUIET and ended.user == user and settings.reads(root, ended.folder):
            ready.append(ended)
    yield from sorted(ready, key=lambda ended: (ended.at, ended.session))


def count(root: Path) -> int:
    """How many notes there are."""
    return len(_notes(place(root) / layout.LOCAL / _FOLDER))


def _notes(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder))[:_MOST] if not name.startswith(".")]
    except OSError:
        return []


def _session(path: Path) -> EndedSession | None:
    note: Mapping[str, object] = {}
    with suppress(OSError, ValueError, RecursionError), open(path, encoding="utf-8") as file:
        values = json.loads(file.read(_LONGEST))
        note = values if isinstance(values, dict) else {}
    texts = {
        name: value if isinstance(value := note.get(name), str) else "" for name in ("session", "client", "transcript", "cwd")
    }
    at, user = note.get("at"), note.get("user", "")
    if not isinstance(at, (int, float)) or isinstance(at, bool) or not isinstance(user, str) or not all(texts.values()):
        return None
    return EndedSession(
        path, texts["session"], texts["client"], texts["transcript"], texts["cwd"], user, float(at), path.suffix == _TOLD,
        bool(note.get("goes_on")),
    )  # fmt: skip
