"""Turns of people and models in a session, read from the file that its client keeps.

What tools put out (but for the last line of an error), what a model thought, images and what is marked private are not read;
nor what the client, a hook or a program said in a person's place. Each shape is checked: of a line that is not as expected
nothing is taken.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault_tool.errors import NotFound, Refused, UsageError, VaultError
from vault_tool.files.secrets import scan
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

CLIENTS = ("claude-code", "codex")

# What is kept beside a draft from a session: its file, and the memory that it would take the place of.
SESSION_FILE, INSTEAD = "session file", "instead of"

# At most so many bytes are read, from the end.
MOST_BYTES = 4 * 2**20

# The most characters kept of a turn.
MOST_OF_A_TURN = 400

# Fewer turns of a person than this are no session that anything would be kept of.
FEWEST_TURNS = 3

# Beside what the rules for secrets find: a turn that speaks of one is not repeated.
_OF_SECRETS = ("password", "passwort", "passphrase", "secret", "token", "api key", "api-key", "apikey", "credential")

# A file of more lines than this that gives no turn is of a form that is not known.
_SHORT = 20

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
# Text that a client adds to a person's turns: its own blocks, commands and remarks.
_FRAME = re.compile(r"<([a-z][a-z0-9]{0,20}[-_][\w-]{0,40})>.*?(?:</\1>|\Z)", re.DOTALL)
_REMARKS = (
    "[Request interrupted", "Caveat: The messages below", "This session is being continued from a previous conversation",
    "Stop hook feedback", "# AGENTS.md instructions", "<user_instructions>", "<environment_context>",
)  # fmt: skip
_COMMAND = re.compile(r"[/!#$@][\w:.-]*(?=\s|$)")
_SPACE = re.compile(r"\s+")


class SessionTurn(Struct):
    """One turn at a line of the file; `line` counts from 1, or from where reading began in a large one.

    `error` is said of the last line of what a tool failed with, which nobody said.
    """

    line: int
    by_person: bool
    text: str
    error: bool = False

    @property
    def by(self) -> str:
        """The speaker, in a word."""
        return "error" if self.error else "user" if self.by_person else "model"


class ReadSoFar(Struct):
    """How far a session's file was read before: so many bytes, of so many lines."""

    bytes: int = 0
    lines: int = 0


class SessionText(Struct):
    """The turns of a session; `fault` is set where the client's file format is not known, `read` is how far it was read."""

    turns: tuple[SessionTurn, ...]
    fault: str = ""
    read: ReadSoFar = ReadSoFar()

    @property
    def of_person(self) -> int:
        """How often a person spoke."""
        return sum(turn.by_person for turn in self.turns)


def folders_of(client: str, environ: Mapping[str, str]) -> Path:
    """The folder below which a client keeps its sessions. UsageError for a client whose sessions are not read."""
    home = Path(environ.get("HOME") or "~").expanduser()
    if client == "claude-code":
        return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    if client == "codex":
        return Path(environ.get("CODEX_HOME") or home / ".codex") / "sessions"
    raise UsageError(f"sessions of `{one_line(client, 30)}` are not read", f"one of {', '.join(CLIENTS)}")


def read_session(
    path: str,
    client: str,
    environ: Mapping[str, str],
    *,
    since: ReadSoFar | None = None,
    errors: bool = False,
    ended: bool = True,
) -> SessionText:
    """Read the turns of a session's file, after what was read before. With `errors` what tools failed with is among them;
    with `ended` what came before the session's own `end_session` is not.

    Refused for a file that is not its client's own, or is another user's.
    """
    before = since or ReadSoFar()
    data, begins = _data(path, folders_of(client, environ), before.bytes)
    data = data[: data.rfind(b"\n") + 1]  # what comes after the last break is not whole yet
    lines = data.decode("utf-8", "replace").split("\n")[:-1]
    first = (before.lines if begins >= before.bytes else 0) + 1
    read = ReadSoFar(begins + len(data), first - 1 + len(lines))
    turns: list[SessionTurn] = []
    version = ""
    for number, line in enumerate(lines, first):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(record, dict):
            continue
        if client == "claude-code":
            version = version or _text(record.get("version"))
            if ended and _calls_the_end(record):
                turns.clear()
            turns += [SessionTurn(number, *spoken) for spoken in _of_claude(record)]
            turns += [SessionTurn(number, False, text, error=True) for text in _errors_of_claude(record) if errors]
        else:
            payload = record.get("payload")
            if not isinstance(payload, dict):
                continue
            if record.get("type") == "session_meta":
                version = version or _text(payload.get("cli_version"))
                if _is_a_programs(payload.get("source")):
                    return SessionText((), read=read)
            if ended and payload.get("type") == "function_call" and _text(payload.get("name")).endswith("end_session"):
                turns.clear()
            turns += [SessionTurn(number, *spoken) for spoken in _of_codex(record, payload)]
            turns += [SessionTurn(number, False, text, error=True) for text in _errors_of_codex(payload) if errors]
    if not turns and len(lines) > _SHORT and not _is_known(lines, client):
        name = {"claude-code": "Claude Code", "codex": "Codex"}[client]
        return SessionText((), one_line(f"cannot read sessions of {name} {version}", 80).rstrip(), read)
    return SessionText(tuple(turns), read=read)


def is_secret(text: str) -> bool:
    """Whether a text looks like a secret, or speaks of one."""
    return bool(scan(text)) or any(word in text.casefold() for word in _OF_SECRETS)


def turn_at(path: str, client: str, environ: Mapping[str, str], line: int) -> str:
    """The words said at a line of a session's file, as it is read; empty where the file is gone or says nothing there."""
    try:
        turns = read_session(path, client, environ, ended=False).turns
    except VaultError:
        return ""
    return " ".join(turn.text for turn in turns if turn.line == line)


def _data(path: str, folder: Path, since: int) -> tuple[bytes, int]:
    """The end of a file after a byte, at most `MOST_BYTES` of it, from a line's beginning on; and where it begins."""
    shown = one_line(path, 200)
    real = os.path.realpath(path)
    if not real.startswith(f"{os.path.realpath(folder)}{os.sep}"):
        raise Refused(f"{shown} is not in {one_line(str(folder), 200)}, where its client keeps sessions", "name one that is")
    try:
        # A link's target or a pipe would be another file, or none that ends.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as fault:
        if Path(path).is_symlink():
            raise Refused(f"{shown} is a link", "name the file itself") from fault
        raise NotFound(f"{shown} cannot be read: {fault.strerror}", "name a session's file") from fault
    try:
        file_stat = os.fstat(file)
        if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_uid != os.getuid():
            raise Refused(f"{shown} is no file of yours", "name a session's file")
        # A file that is shorter than it was is another one.
        whole = since if since <= file_stat.st_size else 0
        begins = max(whole, file_stat.st_size - MOST_BYTES)
        data = bytearray()
        while len(data) < MOST_BYTES and (part := os.pread(file, MOST_BYTES - len(data), begins + len(data))):
            data += part
    finally:
        os.close(file)
    cut = data.find(b"\n") + 1 if begins > whole else 0
    return bytes(data[cut:]), begins + cut


def _of_claude(record: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """The texts of a line of Claude Code's file, each with whether a person said it."""
    kind, message = record.get("type"), record.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return
    if (
        record.get("isSidechain")
        or record.get("isMeta")
        or record.get("isCompactSummary")
        or record.get("entrypoint") == "sdk-cli"
    ):
        return
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text":
            yield from _said(_text(block.get("text")), by_person=kind == "user")


def _errors_of_claude(record: Mapping[str, Any]) -> Iterator[str]:
    """The last line of each error that a tool gave back, of which no more is read."""
    message = record.get("message")
    if record.get("type") != "user" or record.get("isSidechain") or not isinstance(message, dict):
        return
    blocks = message.get("content")
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result" and block.get("is_error") is True:
            parts = block.get("content")
            texts = [parts] if isinstance(parts, str) else parts if isinstance(parts, list) else []
            yield from _last_line("\n".join(_text(text.get("text")) if isinstance(text, dict) else _text(text) for text in texts))


def _errors_of_codex(payload: Mapping[str, Any]) -> Iterator[str]:
    """The same of a call that ended with another code than 0."""
    if payload.get("type") != "function_call_output":
        return
    with suppress(ValueError, RecursionError):
        values = json.loads(_text(payload.get("output")))
        about = values.get("metadata") if isinstance(values, dict) else None
        if isinstance(about, dict) and about.get("exit_code") not in (0, None):
            yield from _last_line(_text(values.get("output")))


def _last_line(text: str) -> Iterator[str]:
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    yield from (text for _, text in _said(last, by_person=False))


def _calls_the_end(record: Mapping[str, Any]) -> bool:
    """Whether a line of Claude Code's calls `end_session`: what came before is kept as far as it was worth it."""
    message = record.get("message")
    blocks = message.get("content") if isinstance(message, dict) and record.get("type") == "assistant" else None
    return isinstance(blocks, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_use" and _text(block.get("name")).endswith("end_session")
        for block in blocks
    )


def _of_codex(record: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """The same of a line of Codex'."""
    kind = payload.get("type")
    if record.get("type") == "event_msg" and kind in ("user_message", "agent_message"):
        yield from _said(_text(payload.get("message")), by_person=kind == "user_message")


def _is_a_programs(source: object) -> bool:
    """Whether a program or another agent began a session of Codex'."""
    return source == "exec" or (isinstance(source, (dict, str)) and "subagent" in json.dumps(source).replace("_", ""))


def _is_known(lines: list[str], client: str) -> bool:
    """Whether anything of a file without a turn is as its client writes it: then nothing was said."""
    mark = '"isSidechain"' if client == "claude-code" else '"payload"'
    return any(mark in line for line in lines)


def _said(text: str, *, by_person: bool) -> Iterator[tuple[bool, str]]:
    # A lone surrogate, as JSON can have it, is no character.
    text = _PRIVATE.sub(" ", text.encode("utf-8", "replace").decode())
    if by_person:
        text = _FRAME.sub(" ", text).strip()
        if text.startswith(_REMARKS) or _COMMAND.match(text):
            return
    text = _SPACE.sub(" ", _CODE.sub("[code]", text)).strip()
    if text:
        yield by_person, text[:MOST_OF_A_TURN]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
