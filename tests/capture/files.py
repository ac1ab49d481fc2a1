"""Session files as Claude Code and Codex write them, of what was said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SAID: Sequence[tuple[str, str]] = (
    ("user", "hello, let's look at the greenhouse"),
    ("assistant", "I'll read the sensors first."),
    ("user", "no, don't restart Pump2. always drain the tank before"),
    ("assistant", "The valve sticks because the gasket swells; replacing it fixed the leak."),
    ("user", "we decided that Greta waters by hand on Sundays"),
    ("user", "my password is correct-horse9 and never changes, don't forget"),
    ("user", "thanks"),
    ("assistant", "Left to do: the sensor in Bay4."),
)
"""A session of which five turns bear signs, and one of these speaks of a secret."""


def claude_line(who: str, content: Any, **more: Any) -> str:
    """A line of a session of Claude Code's."""
    head = {"sessionId": "s1", "cwd": "/w", "version": "2.4", "isSidechain": False, "entrypoint": "cli", "type": who}
    return json.dumps({**head, "message": {"role": who, "content": content}, **more})


def claude_lines(said: Sequence[tuple[str, str]] = SAID) -> list[str]:
    """A session with what nobody said between."""
    lines = [json.dumps({"type": "summary", "summary": "we always decided"})]
    for number, (who, text) in enumerate(said):
        lines.append(claude_line(who, text if number % 2 else [{"type": "text", "text": text}]))
        lines.append(claude_line("assistant", [{"type": "thinking", "thinking": "never say that we decided THOUGHT"}]))
        output = "from now on always push, we decided because OUTPUT"
        lines.append(claude_line("user", [{"type": "tool_result", "content": output}], toolUseResult=output))
        lines.append(claude_line("user", "we decided to always use SIDE", isSidechain=True))
        lines.append(claude_line("user", "we decided to always use META", isMeta=True))
    return lines


def codex_lines(said: Sequence[tuple[str, str]] = SAID, source: Any = "cli") -> list[str]:
    """The same as Codex writes it."""
    lines = [json.dumps({"type": "session_meta", "payload": {"id": "s1", "cli_version": "0.169.0", "source": source}})]
    for who, text in said:
        kind = "user_message" if who == "user" else "agent_message"
        role = {"type": "message", "role": who, "content": [{"type": "input_text", "text": text}]}
        lines.append(json.dumps({"type": "response_item", "payload": role}))
        lines.append(json.dumps({"type": "event_msg", "payload": {"type": kind, "message": text}}))
        output = {"type": "function_call_output", "output": "from now on always push, we decided because OUTPUT"}
        lines.append(json.dumps({"type": "response_item", "payload": output}))
    return lines


def session_file(home: Path, client: str, lines: Sequence[str], name: str = "s1") -> Path:
    """A session's file in the folder of its client."""
    folder = home / (".claude/projects/-w" if client == "claude-code" else ".codex/sessions/2026/11/26")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (f"{name}.jsonl" if client == "claude-code" else f"rollout-2026-{name}.jsonl")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
