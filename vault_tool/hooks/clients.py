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


def session_of(told: Mapping[str, Any]) -> str:
    """The id of the conversation, as the client says it; empty where it says none."""
    return next((said for key in ("session_id", "conversation_id") if isinstance(said := told.get(key), str) and said), "")


def user_of(told: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Whose conversation it is: `$VAULT_USER`, else whom the client names (Cursor by address); empty for nobody in particular."""
    named = (environ.get("VAULT_USER"), told.get("user_id"), told.get("user_email"))
    return next((one for one in named if isinstance(one, str) and one), "")


def prompt_of(told: Mapping[str, Any]) -> str:
    """What a person asked; empty for a command of the client, and for what the client itself says."""
    prompt = told.get("prompt")
    text = prompt.strip() if isinstance(prompt, str) else ""
    if _COMMAND.match(text) or text.startswith(_HARNESS_BEGINNINGS):
        return ""
    return _HARNESS_BLOCK.sub(" ", text[:_LONGEST_PROMPT]).strip()


def folder_of(told: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The folder that the conversation is about; empty where the client names none."""
    roots = told.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    said = (told.get("cwd"), first, environ.get("CLAUDE_PROJECT_DIR"), environ.get("GEMINI_PROJECT_DIR"))
    return next((one for one in said if isinstance(one, str) and one), "")


def shaped(client: str, event: str, text: str) -> bytes:
    """A text as the client takes it into the conversation: these keys and no others, for Codex refuses what it does not know."""
    if client == "cursor":
        found: dict[str, Any] = {"additional_context": text}
    else:
        found = {"hookSpecificOutput": {"hookEventName": NATIVE[client][event], "additionalContext": text}}
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
