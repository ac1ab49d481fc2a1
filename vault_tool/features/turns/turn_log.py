"""The log of turns: what was said, judged and recalled in each, on this machine alone and within a bound; a file a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from vault_tool.features.turns.turns import TURNS, TurnSource, unescaped
from vault_tool.files.local_trust import place
from vault_tool.util.atomic import PRIVATE_FILE, PrivateFolder, temporary_hashes, write_in
from vault_tool.util.clock import parse_time
from vault_tool.util.folder import Folder
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct

LOG = f"{TURNS}/log"

# When, which turn, and how many bytes it had when it was kept: a look at each file would cost more than the turn.
_NAME = re.compile(r"\d{20}-([0-9a-f-]{36})\.(\d{1,12})\.json", re.ASCII)


class LoggedCandidate(Struct, kw_only=True):
    """One candidate of a turn: the id that its memory has or would have, and what it says."""

    id: str
    kind: str
    content: str


class LoggedBeat(Struct, kw_only=True):
    """One memory that a turn recalled, by its id alone, how well it fitted then, and whether it was not sure to."""

    id: str
    why: str
    match: float | None
    weak: bool | None = None


class LoggedTurn(TurnSource, kw_only=True, rename={"absence": "withheld"}):
    """One turn as it went: the judge's five fields, what was recalled within which bounds, and what was extracted.

    `absence` says why what was said is not here: nothing of it is kept then but ids.
    """

    mode: str
    risk: str
    flags: tuple[str, ...]
    note: str
    extractMemory: bool
    limit: int
    budget: int
    recalled: tuple[LoggedBeat, ...]
    candidates: tuple[LoggedCandidate, ...]
    absence: str = ""

    def without_text(self, why: str) -> LoggedTurn:
        """The same turn without any of its texts."""
        silent = tuple(replace(candidate, content="") for candidate in self.candidates)
        return replace(self, text="", note="", candidates=silent, absence=why)


class TurnLog:
    """The folder `_local/turns/log/` of the vault at `root`."""

    def __init__(self, root: Path) -> None:
        self._kept = PrivateFolder(partial(place, root), LOG)

    def keep(self, turn: LoggedTurn, most: int, most_bytes: int) -> None:
        """Keep a turn, in place of an earlier log of the same, and drop the oldest over the bounds. Not waited for."""
        data = _line(turn)
        # One so long would push out all the others.
        data = data if len(data) <= most_bytes else _line(turn.without_text("longer than the log may be"))
        if most < 1 and not self._kept.names():
            return
        with self._kept.writing() as folder:
            name = f"{re.sub(r'[^0-9]', '', turn.at)[:20]}-{turn.id}.{len(data)}.json"
            if most > 0:
                write_in(folder, name, data, durable=False, mode=PRIVATE_FILE)
            names = folder.names()
            for old in (other for other in names if turn.id in other and other != name):
                folder.discard(old)
                names.remove(old)
            _trim(folder, names, most, most_bytes)

    def turns(self) -> list[LoggedTurn]:
        """The logged turns, the newest first; unreadable ones are passed over."""
        turns = (_turn(name, self._kept.read(name)) for name in sorted(self._kept.names(), reverse=True))
        return [turn for turn in turns if turn is not None]

    def turns_of(self, user: str) -> list[LoggedTurn]:
        """The kept turns of one user, the newest first."""
        return [turn for turn in self.turns() if turn.user == user]

    def erase(self, user: str) -> int:
        """Drop every kept turn of one user; returns how many there were."""
        turns = {turn.id for turn in self.turns_of(user)}
        names = [name for name in self._kept.names() if (match := _NAME.fullmatch(name)) and match[1] in turns]
        if names:
            with self._kept.writing() as folder:
                _discard_temporaries(folder)
                for name in names:
                    folder.discard(name)
                folder.sync()
        return len(names)

    def size(self) -> tuple[int, int]:
        """How many turns are kept, and in how many bytes."""
        sizes = [size for name, size in self._kept.sizes().items() if _NAME.fullmatch(name)]
        return len(sizes), sum(sizes)

    def unreadable(self) -> list[str]:
        """The paths of files in the log that are no turn: torn, or put there by another program."""
        names = (name for name in sorted(self._kept.names()) if temporary_hashes(name) is None)
        return [f"{LOG}/{name}" for name in names if (data := self._kept.read(name)) is not None and _turn(name, data) is None]

    def forget(self, ids: Collection[str], tells: Callable[[str], bool]) -> int:
        """Take away what was said in each turn that wrote one of these, or whose text `tells` of one; the turns' ids stay.

        What cannot be read and tells of one goes. On the disk when this returns; returns how many turns that were.
        """
        names = self._kept.names()
        if not names:
            return 0
        blanked = 0
        with self._kept.writing() as folder:
            _discard_temporaries(folder)
            for name in names:
                data = self._kept.read(name)
                turn = _turn(name, data)
                if data is not None and turn is None and tells(unescaped(data)):
                    folder.discard(name)
                    blanked += 1
                elif turn is not None and not turn.absence and _is_about(turn, ids, tells):
                    # Not of a turn that left meanwhile: it would come back.
                    if folder.exists(name):
                        write_in(folder, name, _line(turn.without_text("forgotten")), mode=PRIVATE_FILE)
                    blanked += 1
            folder.sync()
        return blanked


def _line(turn: LoggedTurn) -> bytes:
    return json.dumps(to_builtins(turn), ensure_ascii=True).encode()


def _is_about(turn: LoggedTurn, ids: Collection[str], tells: Callable[[str], bool]) -> bool:
    if any(candidate.id in ids for candidate in turn.candidates):
        return True
    # Ids of what was recalled are no words of it.
    return tells(" ".join((turn.text, turn.note, *(candidate.content for candidate in turn.candidates))))


def _trim(folder: Folder, names: list[str], most: int, room: int) -> None:
    """Drop the oldest until the rest keeps to both bounds; what a kill left half named leaves with those of its time."""
    count = 0
    for name in sorted(names, key=lambda entry_name: entry_name.lstrip("."), reverse=True):
        if named := _NAME.fullmatch(name):
            count, room = count + 1, room - int(named[2])
        if (count > most or room < 0) and (named or temporary_hashes(name) is not None):
            folder.discard(name)


def _discard_temporaries(folder: Folder) -> None:
    """Take away what a kill left, or another process is about to name: the log may lack a turn, and keeps no forgotten word."""
    for name in folder.names():
        if temporary_hashes(name) is not None:
            folder.discard(name)


def _turn(name: str, data: bytes | None) -> LoggedTurn | None:
    named = _NAME.fullmatch(name)
    try:
        stored: dict[str, Any] = read_own(data) if data and named else {}
        turn = LoggedTurn(
            **{name: _text(stored[name]) for name in ("id", "at", "session", "user", "world", "turn", "text")},
            **{name: _text(stored[name]) for name in ("mode", "risk", "note")},
            absence=_text(stored["withheld"]),
            flags=tuple(map(_text, stored["flags"])),
            extractMemory=stored["extractMemory"] is True, limit=int(stored["limit"]), budget=int(stored["budget"]),
            recalled=tuple(LoggedBeat(**beat) for beat in stored["recalled"]),
            candidates=tuple(LoggedCandidate(**candidate) for candidate in stored["candidates"]),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    texts = (
        *((beat.id, beat.why) for beat in turn.recalled),
        *((candidate.id, candidate.kind, candidate.content) for candidate in turn.candidates),
    )
    sound = all(isinstance(text, str) for each in texts for text in each) and all(
        beat.match is None or isinstance(beat.match, (int, float)) for beat in turn.recalled
    )
    return turn if sound and named and named[1] == turn.id and parse_time(turn.at) else None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
