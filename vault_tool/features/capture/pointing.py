"""Turns of an ended session that may be worth keeping, shown to the next session in its folder."""

from __future__ import annotations

import os
from collections.abc import Sequence

from vault_tool.errors import VaultError
from vault_tool.features.capture.capture_settings import CaptureSettings, LastReading, keep_reading
from vault_tool.features.capture.ended_sessions import ended_sessions
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


def of_ended(vault: Context, settings: CaptureSettings, folder: str, client: str) -> str:
    """The turns that sessions which ended in a folder point at, for one that starts there; the note of each is used once."""
    here = os.path.realpath(folder)
    for ended in reversed(list(ended_sessions(vault.root, settings, vault.who.user, vault.clock.now().timestamp()))):
        if ended.goes_on or not ended.is_told or ended.client != client or os.path.realpath(ended.folder) != here:
            continue
        ended.note.unlink(missing_ok=True)
        try:
            text = quoted_turns(ended.session, pointed_at(vault, ended.file, client))
        except VaultError:
            continue
        if text:
            return text
    return ""
