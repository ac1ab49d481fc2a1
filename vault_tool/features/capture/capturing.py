"""`capture`: whether sessions of agents' clients are read on this machine, which a person sets, and what would be read of one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from vault_tool.errors import NotFound, UsageError
from vault_tool.features.capture import session_drafts
from vault_tool.features.capture.capture_log import Reading, readings, state_of
from vault_tool.features.capture.capture_settings import (
    CALLS_A_DAY,
    DRAFT,
    MODES,
    TOKENS_A_DAY,
    CaptureSettings,
    LastReading,
    keep_settings,
    last_reading,
    own_folders,
    settings_of,
)  # fmt: skip
from vault_tool.features.capture.ended_sessions import count
from vault_tool.features.capture.headless import environment, require_trusted
from vault_tool.features.capture.judge import CLIENTS as CLIENTS_ASKED
from vault_tool.features.capture.judges import chosen, where_of
from vault_tool.features.capture.pointing import worth_keeping
from vault_tool.features.capture.session_digest import RULES
from vault_tool.features.capture.session_files import CLIENTS, FEWEST_TURNS, folders_of, read_session
from vault_tool.util.hints import option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import review_policy
from vault_tool.vault.context import Context
from vault_tool.vault.person import require_person
from vault_tool.vault.request import of_the_whole, verb

_SESSION = re.compile(r"[\w.-]{1,100}")


class ReadTurn(Struct, kw_only=True):
    """A turn of a session as it is read; `pointed` says that the next session would be shown it."""

    line: int
    by: str
    text: str
    pointed: bool


class Capture(Struct, kw_only=True):
    """The state of capture: `mode` is `off`, `point` (no model; the next session in the folder is shown turns) or `draft`.

    `folders` are those whose sessions are read, `but` those that never are; `ended` counts the sessions that wait to be shown
    or read. `last_read` is when a session was read last, `last_turns` how many of its turns were pointed at, and `last_fault` why
    none could be read. With `draft`, `by` is the model, `where` the host or program that is asked, `environ` the names of what
    that program is told, `calls` and `tokens` what was spent today of what may be (`calls_a_day`, `tokens_a_day`), `drafts` how
    many were made today, `waiting` how many memories wait for review, and `paused` why nothing is asked now. `log` is each
    reading. With a session, `file` and `turns` are what would be read of it, `rules` and `sent` what a model would be sent,
    and `fault` why nothing can be read.
    """

    mode: str
    folders: tuple[str, ...]
    but: tuple[str, ...]
    ended: int
    last_read: str = ""
    last_turns: int = 0
    last_fault: str = ""
    by: str = ""
    where: str = ""
    environ: tuple[str, ...] = ()
    calls: int = 0
    calls_a_day: int = 0
    tokens: int = 0
    tokens_a_day: int = 0
    drafts: int = 0
    waiting: int = 0
    paused: str = ""
    log: tuple[Reading, ...] = ()
    file: str = ""
    turns: tuple[ReadTurn, ...] = ()
    rules: str = ""
    sent: str = ""
    fault: str = ""


@verb
@of_the_whole
def capture(
    vault: Context,
    session: str = "",
    *,
    mode: str | None = None,
    folders: Sequence[str] = (),
    but: Sequence[str] = (),
    by: str = "",
    program: str = "",
    calls_a_day: int | None = None,
    tokens_a_day: int | None = None,
    log: bool = False,
) -> Capture:
    """Show whether sessions of agents' clients are read on this machine, or set it (`mode`), which only a person may.

    `off` reads nothing. `point` asks no model: the next session in the same folder is shown up to 6 turns of one that ended,
    once. `draft` has a model (`by`: ollama:MODEL, claude) propose memories of a session that ended, which wait for review, at
    most so many calls and tokens a day; `program` is the whole path of the client that is started for it. It is for sessions in
    the `folders`, by default in the repository that holds the vault, and never for those in `but`. With a `session`, by its id or
    file, it is told what would be read of it and sent, and nothing is kept. With `log` each reading by a model is told.
    """
    if mode is None and (folders or but or by or program or calls_a_day is not None or tokens_a_day is not None):
        raise UsageError("folders, models and bounds are set together with what is read", f"add {option('mode', 'point')}")
    if session and mode is not None:
        raise UsageError("either a session is shown or something is set", "leave out one of them")
    if mode is not None:
        keep_settings(vault.root, _wanted(vault, mode, folders, but, _Asked(by, program, calls_a_day, tokens_a_day)))
    now = settings_of(vault.root)
    state = _pointing(vault, now) if now.mode != DRAFT else _drafting(vault, now)
    if log:
        state = replace(state, log=tuple(readings(vault.root)))
    return _shown(vault, now, state, session) if session else state


def _pointing(vault: Context, now: CaptureSettings) -> Capture:
    last = last_reading(vault.root) or LastReading("")
    return Capture(
        mode=now.mode, folders=now.folders or own_folders(vault.root), but=now.but, ended=count(vault.root),
        last_read=last.at, last_turns=last.turns, last_fault=last.fault,
    )  # fmt: skip


def _drafting(vault: Context, now: CaptureSettings) -> Capture:
    log = readings(vault.root)
    state = state_of(log, vault.clock.now())
    last = log[-1] if log else None
    fault = (last.why if last.what != "begun" else "") if last is not None else ""
    return Capture(
        mode=now.mode, folders=now.folders or own_folders(vault.root), but=now.but, ended=session_drafts.unread(vault, now),
        last_read=last.at if last else "", last_fault=fault, by=now.by, where=where_of(now, vault.machine),
        environ=tuple(sorted(now.environ)), calls=state.calls, calls_a_day=now.calls, tokens=state.tokens,
        tokens_a_day=now.tokens, drafts=state.drafts,
        waiting=review_policy.waiting(vault), paused=session_drafts.why_not(vault, now, state),
    )  # fmt: skip


class _Asked(Struct):
    """The model and the bounds that are asked for."""

    by: str
    program: str
    calls: int | None
    tokens: int | None


def _wanted(vault: Context, mode: str, folders: Sequence[str], but: Sequence[str], asked: _Asked) -> CaptureSettings:
    require_person(vault, "say that sessions are read")
    if mode not in MODES:
        raise UsageError(f"`{one_line(mode, 30)}` is no way to read sessions", f"one of {', '.join(MODES)}")
    settings = CaptureSettings(mode, tuple(map(_folder, folders)), tuple(map(_folder, but)))
    if mode != "off" and not (settings.folders or own_folders(vault.root)):
        raise UsageError(
            "this vault is by itself, in no repository whose sessions would be meant", f"name folders: {option('folders')}"
        )
    if mode != DRAFT:
        if asked != _Asked("", "", None, None):
            raise UsageError(f"`{mode}` asks no model", f"leave {option('by')} and bounds away, or say {option('mode', DRAFT)}")
        return settings
    before = settings_of(vault.root)
    if not (by := asked.by or before.by):
        raise UsageError("`draft` needs a model that proposes memories", f"name one: {option('by', 'ollama:MODEL')}")
    calls, tokens = (
        _bound(bound, before_bound, name)
        for bound, before_bound, name in (
            (asked.calls, before.calls if before.mode == DRAFT else CALLS_A_DAY, "calls_a_day"),
            (asked.tokens, before.tokens if before.mode == DRAFT else TOKENS_A_DAY, "tokens_a_day"),
        )
    )
    settings = replace(settings, calls=calls, tokens=tokens)
    if not asked.by and before.mode == DRAFT:
        return replace(settings, by=by, host=before.host, program=before.program, environ=before.environ)
    named, host = chosen(by, vault.machine)
    settings = replace(settings, by=named, host=host)
    if named not in CLIENTS_ASKED:
        if asked.program:
            raise UsageError(f"{named} is asked over the network, by no program", f"leave {option('program')} away")
        return settings
    program = asked.program or shutil.which(named, path=vault.environ.get("PATH")) or ""
    if not program:
        raise UsageError(f"no program `{named}` is in PATH", f"name its whole path: {option('program')}")
    return replace(
        settings, program=require_trusted(str(Path(program).expanduser().absolute())), environ=environment(vault.environ)
    )


def _bound(bound: int | None, otherwise: int, name: str) -> int:
    if bound is not None and bound < 1:
        raise UsageError(f"{option(name)} is at least 1", f"{step('capture', mode='off')} reads nothing")
    return otherwise if bound is None else bound


def _folder(name: str) -> str:
    path = Path(name).expanduser()
    if not path.is_dir():
        raise UsageError(f"there is no folder {one_line(str(path), 200)}", "name one that is there")
    return os.path.realpath(path)


def _shown(vault: Context, settings: CaptureSettings, state: Capture, session: str) -> Capture:
    path, client = _file_of(vault, session)
    text = read_session(path, client, vault.environ)
    points = settings.mode != DRAFT and text.of_person >= FEWEST_TURNS
    pointed = set(worth_keeping(text.turns)) if points else set()
    turns = tuple(ReadTurn(line=turn.line, by=turn.by, text=turn.text, pointed=turn in pointed) for turn in text.turns)
    shown = replace(state, file=path, turns=turns, fault=text.fault)
    if settings.mode != DRAFT or text.fault:
        return shown
    digest, whole = session_drafts.preview(vault, path, client)
    if whole.of_person < FEWEST_TURNS:
        return replace(shown, fault=f"fewer than {FEWEST_TURNS} turns of a person: no model is asked of it")
    return replace(shown, rules=RULES, sent=digest.text)


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
