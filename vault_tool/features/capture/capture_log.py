"""Each reading of a session by a model, on this machine: noted before it is asked, and what came of it, without words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import field, to_builtins

from vault_tool.errors import VaultError
from vault_tool.features.capture.session_files import ReadSoFar
from vault_tool.files import layout
from vault_tool.files.local_trust import place
from vault_tool.util.atomic import PRIVATE_FILE, PrivateFolder, write_in
from vault_tool.util.clock import parse_time
from vault_tool.util.folder import Folder
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# After a failure nothing is asked for so long.
PAUSE = timedelta(hours=1)

# So many failures in a row stop it until the next day.
IN_A_ROW = 3

_FILE = "capture-log.jsonl"
_KEPT = timedelta(days=90)
_LONGEST = 2**22
_LONGEST_WHY = 200
_MANY = 2000
_WHAT = ("begun", "read", "failed")

What = Literal["begun", "read", "failed"]


class Reading(Struct, kw_only=True):
    """One line of the log: when which session was read, by which model, and what came of it.

    `begun` is noted before a model is asked, with the tokens that this may take at least. `read` says how many drafts were made,
    how many proposals were known already, and why others were refused; `failed` says why there was no answer, and whether that
    `stops` it for the day. `ended` is when the session had ended, `bytes` and `lines` how far its file was read.
    """

    at: str
    session: str
    by: str
    what: What = "begun"
    tokens: int = 0
    drafts: int = 0
    known: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    stops: bool = False
    ended: float = 0.0
    bytes: int = 0
    lines: int = 0
    asked: bool = True
    """Whether a model was asked: a session with next to nothing in it costs nothing."""


def note(root: Path, reading: Reading, now: datetime) -> None:
    """Append a line, on the disk when this returns. Raises StorageError: what cannot be noted is not asked."""
    fields = {name: value for name, value in to_builtins(reading).items() if value or name == "asked"}
    with _kept(root).writing() as folder:
        if (folder.size(_FILE) or 0) > _LONGEST // 4:
            _shorten(folder, now)
        size = folder.size(_FILE) or 0
        # A line that a kill cut short is ended first.
        cut = size > 0 and folder.read_end(_FILE, size - 1)[0] != b"\n"
        folder.append(_FILE, (b"\n" if cut else b"") + json.dumps(fields, ensure_ascii=True).encode() + b"\n", mode=PRIVATE_FILE)


def readings(root: Path) -> list[Reading]:
    """The log, the oldest first; a line that is not whole is left out."""
    with suppress(VaultError):
        return list(_read(_kept(root).read(_FILE) or b""))
    return []


class State(Struct):
    """The state that follows from the log now: what was spent today, and until when nothing is asked, and why."""

    calls: int
    tokens: int
    drafts: int
    until: datetime | None = None
    why: str = ""


def state_of(log: Sequence[Reading], now: datetime) -> State:
    """The state at a moment; a day begins at midnight where this machine is."""
    today = [reading for reading in log if _day(reading.at) == now.astimezone().date() and reading.asked]
    attempts = list(_attempts(today))
    tokens = sum(max(begun.tokens, end.tokens if end else 0) for begun, end in attempts)
    drafts = sum(end.drafts for _, end in attempts if end)
    row: list[tuple[Reading, Reading | None]] = []
    for begun, end in reversed(attempts):
        if end is not None and end.what == "read":
            break
        row.append((begun, end))
    until, why = None, ""
    if row:
        begun, end = row[0]
        reason = end.why if end else "the process that asked was ended"
        at = parse_time((end or begun).at) or now
        stopped = len(row) >= IN_A_ROW or any(last.stops for _, last in row if last)
        until = _next_day(now) if stopped else at + PAUSE
        why = f"{reason}; {'not asked again before tomorrow' if stopped else f'asked again after {until.astimezone():%H:%M}'}"
    return State(len(attempts), tokens, drafts, until if until and until > now else None, why if until and until > now else "")


def of_session(log: Sequence[Reading], session: str, ended: float) -> tuple[ReadSoFar, bool]:
    """How far a session was read, and whether it is done with as it had ended then: read, given up after three failures, or
    begun by a process that was ended.
    """
    own = [reading for reading in log if reading.session == session]
    read = next((ReadSoFar(reading.bytes, reading.lines) for reading in reversed(own) if reading.what == "read"), ReadSoFar())
    late = [reading for reading in own if reading.ended >= ended]
    attempts = list(_attempts(late))
    failures = sum(end is not None and end.what == "failed" for _, end in attempts)
    is_cut = any(end is None for _, end in attempts)
    return read, is_cut or failures >= IN_A_ROW or any(reading.what == "read" for reading in late)


def _attempts(log: Sequence[Reading]) -> Iterator[tuple[Reading, Reading | None]]:
    """Each beginning with its end; None where there was none."""
    for number, reading in enumerate(log):
        if reading.what == "begun":
            following = log[number + 1] if number + 1 < len(log) else None
            ended = following is not None and following.what != "begun" and following.session == reading.session
            yield reading, following if ended else None


def _next_day(now: datetime) -> datetime:
    local = now.astimezone()
    return (local + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)


def _day(at: str) -> date | None:
    moment = parse_time(at)
    return moment.astimezone().date() if moment else None


def _read(data: bytes) -> Iterator[Reading]:
    names = frozenset(Reading.__struct_fields__)
    for line in data[-_LONGEST:].decode("utf-8", "replace").split("\n"):
        with suppress(ValueError, TypeError, RecursionError):
            values = json.loads(line)
            if not isinstance(values, dict) or values.get("what") not in _WHAT or parse_time(str(values.get("at"))) is None:
                continue
            reading = Reading(**{name: value for name, value in values.items() if name in names})
            if _is_sound(reading):
                yield reading


def _is_sound(reading: Reading) -> bool:
    counts = (reading.tokens, reading.drafts, reading.known, reading.bytes, reading.lines)
    return (
        all(type(count) is int and count >= 0 for count in counts)
        and isinstance(reading.ended, (int, float)) and isinstance(reading.refused, dict)
        and all(isinstance(text, str) for text in (reading.session, reading.by, reading.why))
    )  # fmt: skip


def _shorten(folder: Folder, now: datetime) -> None:
    log = _read(folder.read(_FILE) or b"")
    recent = [reading for reading in log if (at := parse_time(reading.at)) and now - at < _KEPT][-_MANY:]
    lines = (json.dumps(to_builtins(reading), ensure_ascii=True) for reading in recent)
    write_in(folder, _FILE, "".join(f"{line}\n" for line in lines).encode(), mode=PRIVATE_FILE)


def why_text(text: str) -> str:
    """A reason as the log keeps it."""
    return one_line(text, _LONGEST_WHY)


def _kept(root: Path) -> PrivateFolder:
    return PrivateFolder(partial(place, root), layout.LOCAL)
