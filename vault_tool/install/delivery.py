"""Whether a client really passes the memory on: its settings, the server that they start, the hooks, and what a model is sent."""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

from vault_tool.errors import NotFound, UsageError
from vault_tool.hooks.clients import NATIVE, PROMPT, START
from vault_tool.install.clients import CLIENTS, Client, UserMachine
from vault_tool.install.settings import SettingsFile, is_ours
from vault_tool.install.stub import Stub, listening
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.finding import find

_PATIENCE = 90
_PROTOCOL = "2025-06-18"
_LABEL = "Memory: notes of earlier sessions"
# What would send a client elsewhere, or tell it that it runs within another.
_HIDDEN = ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID")


class Check(Struct, kw_only=True):
    """One thing that was tried; `ok` is None for what cannot be tried here, `said` what was seen or what to do."""

    what: str
    ok: bool | None
    said: str


class Delivery(Struct, kw_only=True):
    """The checks of one client, in order; `delivered` says that all of it worked that can be tried."""

    client: str
    checks: tuple[Check, ...]
    delivered: bool


def prove(client: str, place: UserMachine, folder: Path, *, name: str = "vault") -> Delivery:
    """Try a client's way to the memory, step by step, as it would be used in `folder`.

    A client whose model can be another address is started once, against a stand-in on this machine that records what it is
    sent; nothing leaves the machine, and the client keeps a session of one prompt.
    """
    known = CLIENTS.get(client)
    if known is None:
        raise UsageError(f"there is no client `{client}`", f"choose from {', '.join(CLIENTS)}")
    checks = tuple(_checks(client, known, place, folder, name))
    return Delivery(client=client, checks=checks, delivered=all(check.ok is not False for check in checks))


def _checks(client: str, known: Client, place: UserMachine, folder: Path, name: str) -> Iterator[Check]:
    for file in (known.file, *filter(None, [known.hooks])):
        why = "" if known.comments else _settings(file(place)).unread()
        if why:
            yield Check(what="settings", ok=False, said=f"{why}: {known.title} reads nothing of such a file; take it out")
            return
    entry = _settings(known.file(place)).value([*known.under, name])
    if not is_ours(entry):
        yield Check(what="settings", ok=False, said=f"{known.file(place)} has no server `{name}` of ours: `vt install {client}`")
        return
    yield Check(what="settings", ok=True, said=f"{known.file(place)} has the server `{name}`")
    commands = _hook_commands(client, _settings(known.hooks(place)).value(["hooks"])) if known.hooks else {}
    for words in (_words(entry), *map(shlex.split, commands.values())):
        if gone := _gone(words, folder):
            message = f"no vault is at {gone}: put it back, or say where it is now: `vt install {client} --vault DIR`"
            yield Check(what="vault", ok=False, said=message)
            return
    yield _started(_words(entry), place, folder)
    if not known.hooks:
        yield Check(what="hooks", ok=None, said="the client has none: an agent has to ask")
        return
    if START not in commands or PROMPT not in commands:
        yield Check(what="hooks", ok=False, said=f"{known.hooks(place)} has none of ours: `vt install {client}`")
        return
    page = _text(_run(commands[START], {"session_id": f"doctor-{os.urandom(4).hex()}", "cwd": str(folder)}, place, folder))
    if not page:
        message = f"`{commands[START]}` says nothing: is there a vault? `vt status` in {folder}"
        yield Check(what="hooks", ok=False, said=message)
        return
    yield Check(what="hooks", ok=True, said=f"a session's start is given {len(page)} characters")
    yield from _delivered(client, page, place, folder)


def _delivered(client: str, page: str, place: UserMachine, folder: Path) -> Iterator[Check]:
    """Whether the page, and what a prompt brings to mind, are in what a model is sent."""
    words = _command(client)
    program = shutil.which(words[0], path=place.environ.get("PATH")) if words else None
    if program is None:
        message = f"`{words[0]}` is not on the PATH" if words else "its model cannot be another address: look in a session of it"
        yield Check(what="delivery", ok=None, said=message)
        return
    memory = next((line[2:].partition(" ")[2] for line in page.splitlines() if line.startswith("- ")), "")
    with listening() as stub:
        called = [program, *(word.replace("URL", stub.url) for word in words[1:]), memory or "What is known here?"]
        _start(called, place, folder, stub)
        asked = "\n".join(stub.asked)
    if not asked:
        yield Check(what="delivery", ok=False, said=f"`{words[0]}` asked its model nothing: start it by hand once")
        return
    first = page.splitlines()[0]
    for what, text in (("page", first), *((("reminders", _LABEL),) if memory else ())):
        delivered = json.dumps(text, ensure_ascii=False)[1:-1] in asked or json.dumps(text)[1:-1] in asked
        message = "is in what the model is sent" if delivered else "is not in what the model is sent"
        if not delivered and CLIENTS[client].after:
            message += f" ({CLIENTS[client].after})"
        yield Check(what=f"delivery of the {what}", ok=delivered, said=message)


def _command(client: str) -> list[str]:
    """How a client is started for one prompt against a model at `URL`."""
    if client == "claude-code":
        return ["claude", "-p"]
    if client == "codex":
        provider = '{name="stub",base_url="URL/v1",wire_api="responses",env_key="VAULT_STUB_KEY"}'
        settings = ("-c", "model_provider=stub", "-c", f"model_providers.stub={provider}", "-m", "stub")
        return ["codex", "exec", "--ephemeral", "--skip-git-repo-check", *settings]
    return []


def _start(called: Sequence[str], place: UserMachine, folder: Path, stub: Stub) -> None:
    environ = {name: value for name, value in place.environ.items() if name not in _HIDDEN}
    environ |= {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": "sk-ant-nobodys", "VAULT_STUB_KEY": "nobodys"}
    environ |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    try:
        subprocess.run(
            called, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # what it asked until then says it


def _started(words: Sequence[str], place: UserMachine, folder: Path) -> Check:
    """Whether the server starts, and which tools it lists, by the protocol that every client speaks."""
    command = f"`{' '.join(words)}`"
    try:
        child = subprocess.Popen(
            words, cwd=folder, env=dict(place.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as fault:
        return Check(what="server", ok=False, said=f"{command} does not start: {fault.strerror or fault}")
    with child:
        try:
            tools = _tools(child)
        except (OSError, ValueError, KeyError, TypeError, queue.Empty):
            return Check(what="server", ok=False, said=f"{command} starts and does not answer")
        finally:
            child.kill()
    return Check(what="server", ok=bool(tools), said=f"{command} lists {counted(len(tools), 'tool')}: {', '.join(tools[:12])}")


def _tools(child: subprocess.Popen[bytes]) -> list[str]:
    lines: queue.Queue[bytes] = queue.Queue()
    Thread(target=_heard, args=(child, lines), daemon=True).start()
    begin = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
    _ask(child, {"id": 1, "method": "initialize", "params": begin})
    _answer(lines, 1)
    _ask(child, {"method": "notifications/initialized"})
    _ask(child, {"id": 2, "method": "tools/list", "params": {}})
    return [str(tool["name"]) for tool in _answer(lines, 2)["tools"]]


def _heard(child: subprocess.Popen[bytes], lines: queue.Queue[bytes]) -> None:
    for line in child.stdout or ():
        lines.put(line)


def _ask(child: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
    assert child.stdin is not None
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    child.stdin.flush()


def _answer(lines: queue.Queue[bytes], number: int) -> Any:
    while True:
        message = json.loads(lines.get(timeout=_PATIENCE))
        if message.get("id") == number:
            return message["result"]


def _hook_commands(client: str, hooks: Any) -> dict[str, str]:
    """The command lines of our hooks by their events."""
    commands: dict[str, str] = {}
    for event in (START, PROMPT):
        items = hooks.get(NATIVE[client][event]) if isinstance(hooks, dict) else None
        for group in items if isinstance(items, list) else ():
            for hook in group.get("hooks", [group]):
                if f"hook {event} --client {client}" in str(hook.get("command")):
                    commands[event] = str(hook["command"])
    return commands


def _run(line: str, event: Mapping[str, str], place: UserMachine, folder: Path) -> bytes:
    words: str | list[str] = line if place.platform == "win32" else shlex.split(line)
    try:
        done = subprocess.run(
            words, cwd=folder, env=dict(place.environ), input=json.dumps(event).encode(), capture_output=True,
            timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout


def _text(answer: bytes) -> str:
    try:
        value = json.loads(answer)
    except ValueError:
        return ""
    return str(value.get("additional_context") or value.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _settings(path: Path) -> SettingsFile:
    return SettingsFile(path, path.read_bytes() if path.is_file() else None)


def _gone(words: Sequence[str], folder: Path) -> Path | None:
    """The folder that a command names as the vault, where none is there."""
    named = next((word for before, word in pairwise(words) if before == "--vault"), "")
    if not named:
        return None
    target = folder / Path(named).expanduser()
    try:
        find(target, {})
    except NotFound:
        return target
    return None


def _words(entry: Mapping[str, Any]) -> list[str]:
    command = entry["command"]
    return list(command) if isinstance(command, list) else [command, *entry.get("args", ())]
