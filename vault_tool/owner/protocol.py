"""Messages on the owner's socket: JSON, one object a line; the owner speaks first and says which owner it is.

An empty line means that work goes on. Standard library alone: each command looks here before it loads anything.
"""

from __future__ import annotations

import json
import socket
import time

from vault_tool.owner.digest import blake2b
from vault_tool.owner.starting import OF_A_CALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROTOCOL = 1
# Seconds of silence after which an owner counts as hanging.
GRACE = 0.2
# The same of one that has said who it is: it lives, and what it loads for a first answer may hold the interpreter.
AT_WORK = 1.0

# Seconds between two empty lines of an owner that is at work.
BEAT = 0.05

# Most bytes of one line: what standard input may hold, in JSON, and more.
LONGEST_LINE = 16 * 2**20

_DECIDING = ("VAULT_", "OPENAI_", "OLLAMA_", "GIT_")
_BY_NAME = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
            "XDG_CACHE_HOME", "XDG_STATE_HOME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")  # fmt: skip
_ELSEWHERE = ("VAULT_ROOT", "VAULT_OWNER")


class ProtocolError(Exception):
    """The other end is gone, hangs, or does not speak this protocol."""


class Lines:
    """A connection, read line by line within bounds."""

    def __init__(self, line: socket.socket) -> None:
        self.socket = line
        self.unread = b""

    def send(self, message: Mapping[str, Any] | None = None) -> None:
        """One object, or with none an empty line; raises ProtocolError."""
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n" if message is not None else b"\n")
        except OSError as fault:
            raise ProtocolError(str(fault)) from fault

    def receive(self, until: float | None = None) -> dict[str, Any]:
        """The next object, by `until` (monotonic) and each piece within the socket's own patience; raises ProtocolError."""
        while True:
            end = self.unread.find(b"\n")
            if end >= 0:
                text, self.unread = self.unread[:end], self.unread[end + 1 :]
                if text.strip():
                    return _object(text)
                continue
            if len(self.unread) > LONGEST_LINE:
                raise ProtocolError("a line without an end")
            if until is not None and time.monotonic() >= until:
                raise ProtocolError("it took too long")
            try:
                piece = self.socket.recv(2**16)
            except OSError as fault:
                raise ProtocolError(str(fault)) from fault
            if not piece:
                raise ProtocolError("the connection was closed")
            self.unread += piece


def settings_print(nonce: str, environ: Mapping[str, str]) -> str:
    """A fingerprint of the settings that may lead to different answers; their values cannot be read from it."""
    names = sorted(
        name
        for name in environ
        if (name.startswith(_DECIDING) or name.upper() in _BY_NAME) and name not in OF_A_CALL and name not in _ELSEWHERE
    )
    settings = json.dumps([[name, environ[name]] for name in names]).encode()
    return blake2b(settings, digest_size=16, key=nonce.encode()[:64]).hexdigest()


def of_a_call(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that says who is asking."""
    return {name: environ[name] for name in OF_A_CALL if environ.get(name)}


def age_of(version: str) -> tuple[int, ...]:
    """A version as what can be compared."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ProtocolError("this is not JSON") from fault
    if not isinstance(value, dict):
        raise ProtocolError("this is no object")
    return value
