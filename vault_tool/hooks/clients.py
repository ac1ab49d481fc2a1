"""The clients that call hooks: what each calls the events, what it says of them, and the shape in which it takes a text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

START, PROMPT, COMPACTION, END = "session-start", "prompt", "pre-compact", "session-end"
EVENTS = (START, PROMPT, COMPACTION, END)

_CLAUDE = ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd")
# What each client calls our events.
NATIVE: Mapping[str, Mapping[str, str]] = {
    client: dict(zip(EVENTS, names, strict=True))
    for client, names in (
        ("claude-code", _CLAUDE),
        ("codex", _CLAUDE),
        ("gemini", ("SessionStart", "BeforeAgent", "PreCompress", "SessionEnd")),
        ("cursor", ("sessionStart", "beforeSubmitPrompt", "preCompact", "sessionEnd")),
    )
}

# After so long nothing is said: the client waits for it.
SECONDS: Mapping[str, float] = {START: 10, PROMPT: 5, COMPACTION: 5, END: 1}


_LONGEST_PROMPT = 20_000
_COMMAND = re.compile(r"[/!#$@][\w:.-]*(?=\s|$)")
_HARNESS_BLOCK = re.compile(r"<([a-z][a-z0-9]{0,20}[-_][\w-]{0,40})>.*?(?:</\1>|\Z)", re.S)
_HARNESS_BEGINNINGS = (
    "[Request interrupted", "Caveat: The messages below", "This session is being continued from a previous conversation",
    "Stop hook feedback",
)  # fmt: skip


def event_of(name: str, client: str) -> str:
    """Our name of an event, given by that or by the client's own; empty for none that we know."""
    if name in EVENTS:
        return name
    return next((ours for ours, theirs in NATIVE.get(client, {}).items() if theirs == name), "")


def session_of(event: Mapping[str, Any]) -> str:
    """The id of the conversation, as the client says it; empty where it says none."""
    return next((value for key in ("session_id", "conversation_id") if isinstance(value := event.get(key), str) and value), "")


def user_of(event: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The user of a conversation: `$VAULT_USER`, else the user that the client names (Cursor by address); may be empty."""
    named = (environ.get("VAULT_USER"), event.get("user_id"), event.get("user_email"))
    return next((name for name in named if isinstance(name, str) and name), "")


def prompt_of(event: Mapping[str, Any]) -> str:
    """The question of a person; empty for a command of the client, and for the client's own messages."""
    prompt = event.get("prompt")
    text = prompt.strip() if isinstance(prompt, str) else ""
    if _COMMAND.match(text) or text.startswith(_HARNESS_BEGINNINGS):
        return ""
    return _HARNESS_BLOCK.sub(" ", text[:_LONGEST_PROMPT]).strip()


def folder_of(event: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The folder that the conversation is about; empty where the client names none."""
    roots = event.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    folders = (event.get("cwd"), first, environ.get("CLAUDE_PROJECT_DIR"), environ.get("GEMINI_PROJECT_DIR"))
    return next((folder for folder in folders if isinstance(folder, str) and folder), "")


def shaped(client: str, event: str, text: str) -> bytes:
    """A text as the client takes it into the conversation: these keys and no others, for Codex refuses what it does not know."""
    if client == "cursor":
        fields: dict[str, Any] = {"additional_context": text}
    else:
        fields = {"hookSpecificOutput": {"hookEventName": NATIVE[client][event], "additionalContext": text}}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
