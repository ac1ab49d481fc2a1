"""The queue of turns: what was accepted and is not written yet, and for a while the turns that wrote nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from vault_tool.files.layout import LOCAL
from vault_tool.files.local_trust import place
from vault_tool.files.redaction import blank
from vault_tool.model.types import is_type_name
from vault_tool.util.atomic import PRIVATE_FILE, PrivateFolder, write_in
from vault_tool.util.clock import parse_time
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct

TURNS = f"{LOCAL}/turns"

_QUEUE = "queue"
_SKIPPED = "skipped"
_SPOILT = ".spoilt"
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.jsonl", re.ASCII)
_CANDIDATE_TEXTS = ("content", "kind", "title", "thread", "rationale")
_CANDIDATE_LISTS = ("tags", "evidence")


class TurnSource(Struct, kw_only=True):
    """The source of a turn: speaker, text, time (ISO 8601, UTC), world and turn number."""

    id: str
    at: str
    session: str
    user: str
    world: str
    turn: str
    text: str


class QueuedTurn(TurnSource, kw_only=True):
    """One turn whose candidates were accepted; `held` says that they go to the inbox and not into the vault."""

    note: str = ""
    mode: str = ""
    risk: str = ""
    held: bool = False
    reason: str = ""
    origin: str = "agent"
    model: str = ""
    candidates: tuple[Mapping[str, Any], ...] = ()


class SkippedTurn(TurnSource, kw_only=True):
    """One turn that wrote nothing, and why."""

    reason: str = ""
    flags: tuple[str, ...] = ()


class Turns:
    """The folder `_local/turns/` of the vault at `root`."""

    def __init__(self, root: Path) -> None:
        self._kept = PrivateFolder(partial(place, root), TURNS)

    def accept(self, turn: QueuedTurn) -> None:
        """Put a turn into the queue, on the disk when this returns; one that is in it already is left as it is."""
        with self._kept.writing(_QUEUE) as folder:
            known = next((other for other in folder.names() if other.endswith(f"-{turn.id}.json")), "")
            name = known or _entry_name(turn)
            if not known:
                data = json.dumps(to_builtins(turn), ensure_ascii=True).encode()
                write_in(folder, name, data, durable=False, mode=PRIVATE_FILE)
            # Bytes and name wait for the disk together, which is half the time of one after the other. What a power cut
            # tears in between was not acknowledged.
            try:
                folder.sync_file(name)
                folder.sync()
            except FileNotFoundError:
                return  # written into the vault meanwhile, by whoever empties the queue
            except OSError:
                if not known:
                    folder.discard(name)
                raise

    def count(self) -> int:
        """How many accepted turns wait to be written."""
        return len(self._entries())

    def waits(self, identity: str) -> bool:
        """Whether a turn was accepted and is not written yet."""
        return any(name.endswith(f"-{identity}.json") for name in self._entries())

    def waiting(self, limit: int | None = None) -> list[QueuedTurn]:
        """The turns that wait, in the order in which they were accepted; what cannot be read is set aside, never deleted."""
        turns = []
        for name in self._entries()[:limit]:
            turn = _queued(self._kept.read(name, _QUEUE))
            # Under another name it could not be struck off, and would be written for ever.
            if turn is not None and name == _entry_name(turn):
                turns.append(turn)
            else:
                with self._kept.writing(_QUEUE) as folder, suppress(FileNotFoundError):
                    folder.rename(name, f"{name}{_SPOILT}")
        return turns

    def strike_off(self, turns: Sequence[QueuedTurn]) -> None:
        """Take turns off the queue: what they carried is in the vault or in the inbox."""
        with self._kept.writing(_QUEUE) as folder:
            for turn in turns:
                folder.discard(_entry_name(turn))
            folder.sync()

    def skip(self, turn: SkippedTurn, keep_from: str) -> None:
        """Keep a turn that wrote nothing, and drop those of days before `keep_from` (`2026-11-20`). Not waited for."""
        line = json.dumps(to_builtins(turn), ensure_ascii=True)
        with self._kept.writing(_SKIPPED) as folder:
            name = f"{turn.at[:10]}.jsonl"
            new = not folder.exists(name)
            folder.append(name, f"{line}\n".encode(), durable=False, mode=PRIVATE_FILE)
            for old in folder.names() if new else ():
                if (day := _DAY.fullmatch(old)) and day[1] < keep_from:
                    folder.discard(old)

    def skipped(self, keep_from: str) -> Iterator[SkippedTurn]:
        """The kept turns since that day, oldest first; a torn line is passed over."""
        for name in sorted(self._kept.names(_SKIPPED)):
            if (day := _DAY.fullmatch(name)) and day[1] >= keep_from:
                for line in (self._kept.read(name, _SKIPPED) or b"").split(b"\n"):
                    if (turn := _skipped(line)) is not None:
                        yield turn

    def skipped_stamp(self) -> str:
        """A stamp that changes when a turn is kept or dropped; empty where none is kept."""
        return " ".join(f"{name}:{len(self._kept.read(name, _SKIPPED) or b'')}" for name in sorted(self._kept.names(_SKIPPED)))

    def drop(self, identities: Sequence[str]) -> int:
        """Drop kept turns by their ids: they were judged a second time. Returns how many there were."""
        judged = frozenset(identities)
        return self._blank(lambda line: (turn := _skipped(line)) is not None and turn.id in judged)

    def forget(self, tells: Callable[[str], bool]) -> int:
        """Drop every kept turn, and every waiting one, whose text `tells`; returns how many there were."""
        dropped = self._blank(lambda line: tells(unescaped(line)))
        for name in self._kept.names(_QUEUE):
            if tells(unescaped(self._kept.read(name, _QUEUE) or b"")):
                dropped += 1
                with self._kept.writing(_QUEUE) as folder:
                    folder.discard(name)
        return dropped

    def of_user(self, user: str) -> list[QueuedTurn | SkippedTurn]:
        """The turns of one user that wait or are kept, the oldest first."""
        read = (_queued(self._kept.read(name, _QUEUE)) for name in self._entries())
        queued: Iterator[QueuedTurn | SkippedTurn] = filter(None, read)
        theirs = [turn for turn in (*queued, *self.skipped("")) if turn.user == user]
        return sorted(theirs, key=lambda turn: (turn.at, turn.id))

    def forget_user(self, user: str) -> int:
        """Drop all turns of one user, kept and waiting; returns how many there were."""
        dropped = self._blank(lambda line: (turn := _skipped(line)) is not None and turn.user == user)
        for name in self._entries():
            if (turn := _queued(self._kept.read(name, _QUEUE))) is not None and turn.user == user:
                dropped += 1
                with self._kept.writing(_QUEUE) as folder:
                    folder.discard(name)
        return dropped

    def _blank(self, drops: Callable[[bytes], bool]) -> int:
        names = self._kept.names(_SKIPPED)
        if not names:
            return 0
        with self._kept.writing(_SKIPPED) as folder:
            return sum(blank(folder, name, drops) for name in names)

    def _entries(self) -> list[str]:
        return sorted(name for name in self._kept.names(_QUEUE) if name.endswith(".json") and not name.startswith("."))


def _entry_name(turn: QueuedTurn) -> str:
    """A name under which turns sort in the order in which they came."""
    return f"{re.sub(r'[^0-9]', '', turn.at)[:20]}-{turn.id}.json"


def unescaped(line: bytes) -> str:
    """All texts of a line of JSON, unescaped."""
    try:
        return json.dumps(read_own(line), ensure_ascii=False).replace("\\n", " ").replace('\\"', '"')
    except ValueError:
        return line.decode("utf-8", "replace")


def _queued(data: bytes | None) -> QueuedTurn | None:
    stored = _json(data)
    candidates = stored.get("candidates") if stored else None
    if not isinstance(candidates, list) or not all(map(_is_candidate, candidates)):
        return None
    try:
        texts = {name: str(stored[name]) for name in QueuedTurn.__struct_fields__ if name not in ("held", "candidates")}
    except KeyError:
        return None
    queued = QueuedTurn(**texts, held=stored.get("held") is True, candidates=tuple(candidates))
    return queued if parse_time(queued.at) else None


def _is_candidate(candidate: object) -> bool:
    """Whether a value is a candidate in the one form that this queue keeps: it is not checked again when written."""
    if not isinstance(candidate, dict):
        return False
    texts, lists = ([candidate.get(name) for name in names] for names in (_CANDIDATE_TEXTS, _CANDIDATE_LISTS))
    anchors = candidate.get("anchors")
    named = isinstance(anchors, list) and all(
        isinstance(anchor, dict) and all(isinstance(anchor.get(name), str) for name in ("name", "key", "role"))
        for anchor in anchors
    )
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(items, list) and all(isinstance(text, str) for text in items) for items in lists)
        and all(candidate.get(name, -1) is None or _is_share(candidate.get(name)) for name in ("importance", "confidence"))
        and named
        and is_type_name(candidate["kind"])
    )


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _skipped(data: bytes) -> SkippedTurn | None:
    stored = _json(data)
    try:
        texts = {name: str(stored[name]) for name in SkippedTurn.__struct_fields__ if name != "flags"}
    except KeyError:
        return None
    flags = stored.get("flags")
    return SkippedTurn(**texts, flags=tuple(map(str, flags)) if isinstance(flags, list) else ())


def _json(data: bytes | None) -> dict[str, Any]:
    try:
        stored = read_own(data) if data else None
    except ValueError:
        return {}
    return stored if isinstance(stored, dict) else {}
