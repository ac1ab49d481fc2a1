"""The clients that can be told of a vault: where their settings are, what stands there of a server, and by which command."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vault_tool.hooks.clients import EVENTS, NATIVE, SECONDS
from vault_tool.util.structs import Struct

# Milliseconds that a client may wait for the first answer of a server, where that can be said.
PATIENCE = 30_000


class UserMachine(Struct):
    """One person's machine: what the environment and the platform say of where settings are."""

    environ: Mapping[str, str]
    platform: str = "linux"

    @property
    def home(self) -> Path:
        """The person's folder."""
        return Path(self.environ.get("HOME") or self.environ.get("USERPROFILE") or Path.home())

    @property
    def applications(self) -> Path:
        """Where programs with windows keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        return self.settings

    @property
    def settings(self) -> Path:
        """Where programs of the command line keep theirs."""
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")

    @property
    def state(self) -> Path:
        """Where this tool keeps what it did to them."""
        return Path(self.environ.get("XDG_STATE_HOME") or self.home / ".local" / "state") / "vault"

    def folder(self, variable: str, name: str) -> Path:
        """A client's own folder: what its variable says, else by its name in the person's."""
        return Path(self.environ.get(variable) or self.home / name)


class Client(Struct, kw_only=True):
    """One client: the file that lists its servers, the path of names in it, and what stands there of one.

    `add` and `remove` are its own commands (`NAME` and `COMMAND` stand for these); `hooks` is the file of its hooks.
    `after` is what a person should know or do.
    """

    title: str
    file: Callable[[UserMachine], Path]
    under: tuple[str, ...]
    entry: Callable[[list[str]], dict[str, Any]]
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    hooks: Callable[[UserMachine], Path] | None = None
    after: str = ""
    comments: bool = False
    """Whether it is known to read JSON with comments and trailing commas; else it would read none of such a file."""


def _plain(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


def _typed(kind: str, **more: Any) -> Callable[[list[str]], dict[str, Any]]:
    return lambda command: {"type": kind, **_plain(command), **more}


def _claude(place: UserMachine) -> Path:
    return place.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json"


def _opencode(place: UserMachine) -> Path:
    folder = place.settings / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        title="Claude Code",
        file=_claude,
        under=("mcpServers",),
        entry=_typed("stdio", env={}),
        # It writes the file while it runs: only its own command is sure not to be overwritten.
        add=("claude", "mcp", "add", "--scope", "user", "NAME", "--", "COMMAND"),
        remove=("claude", "mcp", "remove", "--scope", "user", "NAME"),
        hooks=lambda place: place.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        after="a session that runs sees it once it is begun anew",
    ),
    "codex": Client(
        title="Codex",
        file=lambda place: place.folder("CODEX_HOME", ".codex") / "config.toml",
        under=("mcp_servers",),
        entry=_plain,
        add=("codex", "mcp", "add", "NAME", "--", "COMMAND"),
        remove=("codex", "mcp", "remove", "NAME"),
        hooks=lambda place: place.folder("CODEX_HOME", ".codex") / "hooks.json",
        after="Codex runs hooks once you trusted them: `/hooks` in a session",
    ),
    "gemini": Client(
        title="Gemini CLI",
        file=lambda place: place.folder("GEMINI_CLI_HOME", "") / ".gemini" / "settings.json",
        under=("mcpServers",),
        entry=lambda command: {**_plain(command), "timeout": PATIENCE},
        hooks=lambda place: place.folder("GEMINI_CLI_HOME", "") / ".gemini" / "settings.json",
        after="its hooks run in folders that you trust",
        comments=True,
    ),
    "opencode": Client(
        title="OpenCode",
        file=_opencode,
        under=("mcp",),
        entry=lambda command: {"type": "local", "command": command, "enabled": True},
        comments=True,
    ),
    "copilot": Client(
        title="Copilot CLI",
        file=lambda place: place.folder("COPILOT_HOME", ".copilot") / "mcp-config.json",
        under=("mcpServers",),
        entry=_typed("local", tools=["*"]),
    ),
    "openclaw": Client(
        title="OpenClaw",
        file=lambda place: Path(
            place.environ.get("OPENCLAW_CONFIG_PATH") or place.folder("OPENCLAW_STATE_DIR", ".openclaw") / "openclaw.json"
        ),
        under=("mcp", "servers"),
        entry=_plain,
        comments=True,
    ),
    "cursor": Client(
        title="Cursor",
        file=lambda place: place.home / ".cursor" / "mcp.json",
        under=("mcpServers",),
        entry=_plain,
        hooks=lambda place: place.home / ".cursor" / "hooks.json",
    ),
    "vscode": Client(
        title="VS Code",
        file=lambda place: place.applications / "Code" / "User" / "mcp.json",
        under=("servers",),
        entry=_typed("stdio"),
        comments=True,
    ),
    "zed": Client(
        title="Zed",
        file=lambda place: (place.applications if place.platform == "win32" else place.settings) / "zed" / "settings.json",
        under=("context_servers",),
        entry=lambda command: {**_plain(command), "env": {}},
        comments=True,
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        file=lambda place: place.applications / "Claude" / "claude_desktop_config.json",
        under=("mcpServers",),
        entry=_plain,
        after="quit it and start it again",
    ),
}


def hook_items(name: str, command: Sequence[str], platform: str) -> dict[str, dict[str, Any]]:
    """The entries of a client's file of hooks, by the client's own names of the events; `command` is how `vt` is called."""
    items: dict[str, dict[str, Any]] = {}
    for event in EVENTS:
        words = [command[0], *_module(command), "hook", event, "--client", name, *_vault(command)]
        line = subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words)
        seconds = SECONDS[event] + 1
        if name == "cursor":
            hook: dict[str, Any] = {"command": line, "timeout": int(seconds)}
        else:
            inner: dict[str, Any] = {"type": "command", "command": line}
            inner |= {"name": f"vault {event}"} if name == "gemini" else {}
            hook = {"hooks": [inner | {"timeout": int(seconds * 1000 if name == "gemini" else seconds)}]}
        items[NATIVE[name][event]] = hook
    return items


def _module(command: Sequence[str]) -> list[str]:
    return ["-m", "vault_tool"] if list(command[1:3]) == ["-m", "vault_tool"] else []


def _vault(command: Sequence[str]) -> list[str]:
    at = list(command).index("--vault") if "--vault" in command else len(command)
    return list(command[at : at + 2])
