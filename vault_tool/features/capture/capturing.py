"""`capture`: whether sessions of agents' clients are read on this machine, which a person sets, and what would be read of one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vault_tool.errors import NotFound, UsageError
from vault_tool.features.capture.capture_settings import (
    MODES,
    CaptureSettings,
    LastReading,
    keep_settings,
    last_reading,
    own_folders,
    settings_of,
)  # fmt: skip
from vault_tool.features.capture.pointing import FEWEST_TURNS, worth_keeping
from vault_tool.features.capture.session_files import CLIENTS, folders_of, read_session
from vault_tool.files import layout
from vault_tool.files.local_trust import place
from vault_tool.util.hints import option, step
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.person import require_person
from vault_tool.vault.request import of_the_whole, verb

_SESSION = re.compile(r"[\w.-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTurn:
    """A turn of a session as it is read; `pointed` says that the next session would be shown it."""

    line: int
    by: str
    text: str
    pointed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """The state of capture: `mode` is `off` or `point` (no model; the next session in the folder is shown some turns).

    `folders` are those whose sessions are read, `but` those that never are; `ended` counts the sessions that wait to be shown.
    `last_read` is when a session was read last, `last_turns` how many of its turns were pointed at, and `last_fault` why none
    could be read. With a session, `file` and `turns` are what would be read of it, and `fault` why nothing can be.
    """

    mode: str
    folders: tuple[str, ...]
    but: tuple[str, ...]
    ended: int
    last_read: str = ""
    last_turns: int = 0
    last_fault: str = ""
    file: str = ""
    turns: tuple[ReadTurn, ...] = ()
    fault: str = ""


@verb
@of_the_whole
def capture(
    vault: Context, session: str = "", *, mode: str | None = None, folders: Sequence[str] = (), but: Sequence[str] = ()
) -> Capture:
    """Show whether sessions of agents' clients are read on this machine, or set it (`mode`), which only a person may.

    `off` reads nothing. `point` asks no model: the next session in the same folder is shown up to 6 turns of one that ended,
    once. It is for sessions in the `folders`, by default in the repository that holds the vault, and never for those in `but`.
    With a `session`, by its id or file, it is told what would be read of it, and nothing is kept.
    """
    if mode is None and (folders or but):
        raise UsageError("folders are set together with what is read", f"add {option('mode', 'point')}")
    if session and mode is not None:
        raise UsageError("either a session is shown or something is set", "leave out one of them")
    if mode is not None:
        keep_settings(vault.root, _wanted(vault, mode, folders, but))
    now = settings_of(vault.root)
    last = last_reading(vault.root) or LastReading("")
    state = Capture(
        mode=now.mode, folders=now.folders or own_folders(vault.root), but=now.but, ended=_ended(vault.root),
        last_read=last.at, last_turns=last.turns, last_fault=last.fault,
    )  # fmt: skip
    return _shown(vault, state, session) if session else state


def _wanted(vault: Context, mode: str, folders: Sequence[str], but: Sequence[str]) -> CaptureSettings:
    require_person(vault, "say that sessions are read")
    if mode == "draft":
        point = step("capture", mode="point")
        raise UsageError(
            "`draft`, by which a model proposes memories, is not there yet: nothing was set", f"{point} needs no model"
        )
    if mode not in MODES:
        raise UsageError(f"`{one_line(mode, 30)}` is no way to read sessions", f"one of {', '.join(MODES)}")
    chosen = CaptureSettings(mode, tuple(map(_folder, folders)), tuple(map(_folder, but)))
    if mode != "off" and not (chosen.folders or own_folders(vault.root)):
        raise UsageError(
            "this vault is by itself, in no repository whose sessions would be meant", f"name folders: {option('folders')}"
        )
    return chosen


def _folder(name: str) -> str:
    path = Path(name).expanduser()
    if not path.is_dir():
        raise UsageError(f"there is no folder {one_line(str(path), 200)}", "name one that is there")
    return os.path.realpath(path)


def _ended(root: Path) -> int:
    try:
        names = os.listdir(place(root) / layout.LOCAL / "ended")
    except OSError:
        return 0
    return sum(not name.startswith(".") for name in names)


def _shown(vault: Context, state: Capture, session: str) -> Capture:
    path, client = _file_of(vault, session)
    text = read_session(path, client, vault.environ)
    chosen = set(worth_keeping(text.turns)) if text.of_person >= FEWEST_TURNS else set()
    turns = tuple(
        ReadTurn(line=turn.line, by="user" if turn.by_person else "model", text=turn.text, pointed=turn in chosen)
        for turn in text.turns
    )
    return replace(state, file=path, turns=turns, fault=text.fault)


def _file_of(vault: Context, session: str) -> tuple[str, str]:
    """The file of a session, named by that or by its id, and its client."""
    places = {client: folders_of(client, vault.environ) for client in CLIENTS}
    if os.sep in session or session.endswith(".jsonl"):
        real = os.path.realpath(Path(session).expanduser())
        for client, folder in places.items():
            if real.startswith(f"{os.path.realpath(folder)}{os.sep}"):
                return str(Path(session).expanduser().absolute()), client
        client_folders = " and ".join(str(folder) for folder in places.values())
        raise UsageError(f"{one_line(session, 100)} is no session's file", f"clients keep them in {client_folders}")
    if _SESSION.fullmatch(session):
        for path, client in _candidates(session, places["claude-code"], places["codex"]):
            return path, client
    raise NotFound(f"no client keeps a session {one_line(session, 60)}", "name its file, or its whole id")


def _candidates(session: str, claude: Path, codex: Path) -> Iterator[tuple[str, str]]:
    yield from ((str(path), "claude-code") for path in sorted(claude.glob(f"*/{session}.jsonl")))
    yield from ((str(path), "codex") for path in sorted(codex.glob(f"*/*/*/rollout-*{session}.jsonl")))
