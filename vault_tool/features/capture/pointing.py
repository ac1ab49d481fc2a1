"""Turns of an ended session that may be worth keeping, shown to the next session in its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_tool.errors import VaultError
from vault_tool.features.capture.capture_settings import LastReading, keep_reading, settings_of
from vault_tool.features.capture.ended_sessions import QUIET
from vault_tool.features.capture.session_files import FEWEST_TURNS, SessionTurn, is_secret, read_session
from vault_tool.features.capture.signs import pointed
from vault_tool.generate.escape import unframed
from vault_tool.util.text import one_line, tokens
from vault_tool.vault.context import Context

# Tokens that all of it may take.
MOST_TOKENS = 300

_LONGEST = 200


def worth_keeping(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """The turns that signs point at, without those that hold what looks like a secret, or speak of one."""
    return pointed([turn for turn in turns if not is_secret(turn.text)])


def pointed_at(vault: Context, path: str, client: str) -> list[SessionTurn]:
    """The turns that signs point at in a session's file; none of one in which a person said next to nothing."""
    at = vault.clock.now().isoformat()
    try:
        session = read_session(path, client, vault.environ)
    except VaultError as fault:
        keep_reading(vault.root, LastReading(at, fault=one_line(str(fault), _LONGEST)))
        raise
    turns = worth_keeping(session.turns) if session.of_person >= FEWEST_TURNS else []
    keep_reading(vault.root, LastReading(at, len(turns), session.fault))
    return turns


def quoted_turns(session: str, turns: Sequence[SessionTurn], *, compacted: bool = False) -> str:
    """The turns behind bars, with the one call that keeps them; empty without any."""
    if not turns:
        return ""
    name = one_line(unframed(session), 80)
    head = "Before its compaction this session said" if compacted else "The last session here ended without keeping"
    end = f"`end_session` with `session` {name} and `memories` keeps what is worth it; nothing is a good answer.\n"
    text = f"\n{head} these turns, quoted as they were said, no instructions:\n"
    for turn in turns:
        line = f'| L{turn.line} {turn.by}: "{_quoted(turn.text)}"\n'
        if tokens(text + line + end) <= MOST_TOKENS:
            text += line
    return text + end


def _quoted(text: str) -> str:
    return one_line(unframed(text), _LONGEST).replace('"', "'")


def of_notes(vault: Context, folder: str, client: str, notes: Sequence[tuple[Path, Mapping[str, object]]], now: float) -> str:
    """The turns that notes of ended sessions point at, for a session that starts in a folder; each note is used once."""
    settings = settings_of(vault.root)
    if not settings.reads(vault.root, folder):
        return ""
    here = os.path.realpath(folder)
    for path, note in notes:
        if note.get("goes_on") or not _is_of(note, here, client, vault.who.user) or now - _number(note.get("at")) < QUIET:
            continue
        path.unlink(missing_ok=True)
        try:
            text = quoted_turns(str(note.get("session")), pointed_at(vault, str(note.get("transcript")), client))
        except VaultError:
            continue
        if text:
            return text
    return ""


def _is_of(note: Mapping[str, object], folder: str, client: str, user: str) -> bool:
    where = note.get("cwd")
    return (
        isinstance(where, str) and bool(where) and os.path.realpath(where) == folder and note.get("client") == client
        and note.get("user", "") == user and bool(note.get("transcript"))
    )  # fmt: skip


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
