"""The relay of `vt mcp`: it passes a client's bytes to the owner, which serves the client.

It uses the standard library alone, because every client starts a relay. It outlives the owner: it finds or starts the next one,
opens the conversation there as the client opened it, and repeats calls without an answer, unless a repeat could do them twice.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from contextlib import suppress

from vault_tool.owner import front
from vault_tool.owner.opening import Opening
from vault_tool.owner.protocol import ProtocolError
from vault_tool.owner.starting import allowed, is_forbidden
from vault_tool.util.location import identity_at
from vault_tool.util.vault_names import names_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from vault_tool.owner.protocol import Lines

PRESETS = ("lean", "full")
SESSION_VARIABLES = ("VAULT_SESSION", "CLAUDE_CODE_SESSION_ID")
# The variable in which clients name their folder to the programs that they start.
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"

LOST = "the process that was at it ended: it may have been done or not. Look whether it was (recall, get) before you say it again"

_OPTIONS = ("vault", "session", "user", "project", "model", "preset")
_SILENCE = 1.0
_PIECE = 2**16


def relayed(arguments: Sequence[str]) -> int | None:
    """Serve the client at standard input and output through an owner; None if this process has to serve the client itself."""
    options = _serving_options(arguments)
    root = front.find(options["vault"]) if options is not None and allowed() else None
    if options is None or root is None or is_forbidden(root):
        return None
    session = options["session"] or session_of(os.environ)
    model = options["model"] or os.environ.get("VAULT_MODEL", "")
    caller = {
        "session": session,
        "project": options["project"],
        "folder": folder_of(os.environ),
        "user": options["user"],
        "model": model,
        "vaults": ",".join(names_at(root)),
    }
    # A later server of this client must serve this vault, and no other vault that lies there by then.
    relay = Relay(root, {"do": "mcp", "preset": options["preset"] or PRESETS[0], "identity": identity_at(root), **caller})
    return relay.run() if relay.open() else None


def session_of(environ: Mapping[str, str]) -> str:
    """The session that a client names to the programs that it starts; empty if it names none."""
    return next(filter(None, map(environ.get, SESSION_VARIABLES)), "")


def folder_of(environ: Mapping[str, str]) -> str:
    """The whole path of the folder that a client names as its own; empty if it names none."""
    folder = environ.get(PROJECT_VARIABLE, "")
    return os.path.realpath(folder) if folder else ""


class Relay:
    """One client and its present server: an owner, or a process for this client alone."""

    def __init__(self, root: str, request: Mapping[str, Any]) -> None:
        self._root = root
        self._request = request
        self._line: socket.socket | None = None
        self._unread = b""
        self._alone = False
        self._sending = threading.Lock()
        self._ended = False
        self._opening: list[bytes] = []
        """The lines that open a conversation in stateful protocol versions: `initialize`, and the notice of a ready client."""

        self._subscribed: dict[str, bytes] = {}
        self._asked: dict[str, bytes] = {}
        """The requests without an answer, by their ids."""

        self._unsent: set[str] = set()
        """The keys of those requests that the server cannot have read whole: to repeat them does nothing twice."""

        self._own_id_prefix = f"again-{os.getpid()}-"
        """The prefix of the ids of the relay's own requests."""

        self._own = 0
        self._beginning: Opening | None = None
        """The answers given by the relay itself while the first owner starts; None after that."""

        self._held: list[tuple[bytes, str | None]] = []
        """The client's lines that wait for that owner, in their order, each with its key."""

    def open(self) -> bool:
        """Reach an owner, or start one. True if it serves, or if the relay itself began to answer the client."""
        self._line = self._connect(self._begin)
        return self._line is not None or self._beginning is not None

    def run(self) -> int:
        """Pass lines in both directions until the client is gone."""
        if self._beginning is None:
            threading.Thread(target=self._pump_client, daemon=True).start()
        with suppress(KeyboardInterrupt):
            if self._beginning is not None:
                self._hand_over()
            while True:
                self._pump_server()
                if self._ended:
                    break
                self._reconnect()
        # A thread that still reads the input would keep the interpreter from ending.
        os._exit(0)

    def _begin(self) -> None:
        """Answer requests whose answers are always the same, while an owner starts."""
        self._beginning = Opening(self._request["preset"], self._request.get("vaults", ""))
        threading.Thread(target=self._pump_client, daemon=True).start()

    def _hand_over(self) -> None:
        """Open the client's conversation at the new server, and send it the lines that waited."""
        with self._sending:
            beginning, self._beginning = self._beginning, None
            assert beginning is not None
            held, self._held = self._held, []
            self._unsent.update(key for _, key in held if key is not None)
            self._alone = self._line is None
            self._line = self._line or _spawn_private_server(self._root, self._request)
            for line in self._opening if beginning.is_open else ():
                if not self._repeat_initialize(line):
                    # The thread that notices the dead connection opens the conversation at the next server.
                    with suppress(OSError):
                        self._line.shutdown(socket.SHUT_RDWR)
                    return
            for line, key in held:
                self._unsent.discard(key or "")
                self._send(line, key)
            if self._ended:
                with suppress(OSError):
                    self._line.shutdown(socket.SHUT_WR)

    def _pump_client(self) -> None:
        """Pass the client's lines to the server."""
        for line in _lines_of(0):
            # A line is noted and sent under one lock, so that `_reconnect` sends each noted line exactly once.
            with self._sending:
                key = self._remember(line)
                if self._beginning is not None:
                    self._hold(line, key, self._beginning)
                    continue
                # A line that cannot be sent now is sent again by the thread that notices the dead connection.
                self._send(line, key)
        self._ended = True
        with self._sending, suppress(OSError):
            if self._line is not None and self._beginning is None:
                self._line.shutdown(socket.SHUT_WR)

    def _hold(self, line: bytes, key: str | None, beginning: Opening) -> None:
        """Answer a line that the relay can answer itself; any other line waits for the server."""
        message = _object(line)
        # Once a line waits, later ones wait too, so that answers keep their order.
        answer = beginning.answer(message) if not self._held else None
        if answer is not None:
            self._asked.pop(key or "", None)
            _write(answer)
        elif not beginning.is_settled(message):
            self._held.append((line, key))

    def _pump_server(self) -> None:
        """Pass the server's lines to the client, until the server is gone or hangs."""
        while (lines := self._received()) is not None:
            for line in lines:
                if self._is_the_clients(line):
                    _write(line + b"\n")

    def _received(self, *, awaited: bool = False) -> list[bytes] | None:
        """The next whole lines; None if the server is gone, or if it owes an answer, is silent and cannot be reached.

        `awaited` says that the relay itself waits for an answer, not only the client.
        """
        assert self._line is not None
        self._line.settimeout(_SILENCE)
        doubts = 0
        while True:
            try:
                piece = self._line.recv(_PIECE)
            except TimeoutError:
                doubts = doubts + 1 if (awaited or self._asked) and not self._is_there() else 0
                if doubts > 1:
                    return None
                continue
            except OSError:
                return None
            if not piece:
                return None
            *whole, self._unread = (self._unread + piece).split(b"\n")
            if whole:
                return whole

    def _is_there(self) -> bool:
        """Whether the server is alive. A server for this client alone counts as alive while its end of the socket is open."""
        if self._alone:
            return True
        from vault_tool.owner.spawning import answers

        return answers(self._root)

    def _remember(self, line: bytes) -> str | None:
        """Remember lines that a later server has to get again; returns the key of a request that waits for an answer."""
        message = _object(line)
        method, asked = message.get("method"), message.get("id")
        if method == "initialize":
            self._opening = [line]
        elif method == "notifications/initialized":
            self._opening.append(line)
        elif method in ("resources/subscribe", "resources/unsubscribe"):
            uri = _text(message, "params", "uri")
            self._subscribed.pop(uri, None)
            if method == "resources/subscribe":
                self._subscribed[uri] = line
        elif method == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self._asked.pop(_key(message["params"].get("requestId")), None)
        if asked is None or method is None:
            return None
        key = _key(asked)
        self._asked[key] = line
        self._unsent.discard(key)
        return key

    def _send(self, line: bytes, key: str | None) -> None:
        """Send a line to the server while it is there; if it cannot have got the whole line, note the line's `key`."""
        rest = memoryview(line)
        try:
            while rest and self._line is not None:
                try:
                    rest = rest[self._line.send(rest) :]
                except TimeoutError:
                    # The server reads slowly; the rest of a line must follow before the next line.
                    if not self._is_there():
                        raise
        except OSError:
            # An owner ignores a line without its end.
            if key is not None and not self._alone:
                self._unsent.add(key)

    def _is_the_clients(self, line: bytes) -> bool:
        """Whether a line is for the client, and not empty or an answer to the relay. A request that it answers is closed."""
        message = _object(line)
        if "method" in message or message.get("id") is None:
            return bool(line.strip())
        if str(message["id"]).startswith(self._own_id_prefix):
            return False
        self._asked.pop(_key(message["id"]), None)
        return True

    def _reconnect(self) -> None:
        """Find or start another server, and open the client's conversation there."""
        with self._sending:
            if self._line is not None:
                self._line.close()
            connection = self._connect()
            self._alone = connection is None
            self._line, self._unread = connection or _spawn_private_server(self._root, self._request), b""
            waiting = dict(self._asked)
            # An opening request without an answer is repeated below as one of the client's own requests.
            opening = [line for line in self._opening if line not in waiting.values()]
            for line in (*opening, *self._subscribed.values()):
                # One after another, as a client does: a server refuses requests before the conversation is open.
                if not self._repeat_initialize(line):
                    # The conversation is not open there, so this connection is given up.
                    with suppress(OSError):
                        self._line.shutdown(socket.SHUT_RDWR)
                    return
            unsent, self._unsent = self._unsent, set()
            for key, line in waiting.items():
                if key in unsent or _may_be_asked_again(line):
                    self._send(line, key)
                else:
                    self._asked.pop(key, None)
                    _write(_lost(line))
            if self._ended:
                with suppress(OSError):
                    self._line.shutdown(socket.SHUT_WR)

    def _repeat_initialize(self, line: bytes) -> bool:
        """Repeat a line of the client under an id of the relay's own, and receive the answer; False if the server is gone."""
        assert self._line is not None
        message = _object(line)
        key = ""
        if "id" in message:
            self._own += 1
            message["id"] = f"{self._own_id_prefix}{self._own}"
            key = _key(message["id"])
        try:
            self._line.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        while key:
            lines = self._received(awaited=True)
            if lines is None:
                return False
            for row in lines:
                if _key(_object(row).get("id")) == key:
                    key = ""
                elif self._is_the_clients(row):
                    _write(row + b"\n")
        return True

    def _connect(self, starting: Callable[[], None] | None = None) -> socket.socket | None:
        """A stream to an owner that can serve this client; an owner is started if there is none.

        None if another vault lies at the place now: an owner started for it would make its indexes.
        """
        if identity_at(self._root) != self._request["identity"]:
            return None
        from vault_tool.owner import spawning

        lines = spawning.reached(self._root, lambda lines: _becomes_a_stream(lines, self._request), starting)
        return None if lines is None else lines.socket


def _becomes_a_stream(lines: Lines, request: Mapping[str, Any]) -> bool:
    try:
        lines.send(request)
        lines.socket.settimeout(_SILENCE)
        return lines.receive().get("stream") == request["do"] and not lines.unread
    except ProtocolError:
        return False
    finally:
        lines.socket.settimeout(None)


def _spawn_private_server(root: str, request: Mapping[str, Any]) -> socket.socket:
    """Start a server for this client alone, in a process of its own, because no owner can be started."""
    import subprocess

    ours, its = socket.socketpair()
    named = [f"--{name}={request[name]}" for name in (*_OPTIONS, "identity") if request.get(name)]
    command = [sys.executable, "-P", "-m", "vault_tool", "mcp", "--vault", root, *named]
    environ = {**os.environ, "VAULT_OWNER": "off"}
    with its:
        subprocess.Popen(command, stdin=its.fileno(), stdout=its.fileno(), env=environ)
    return ours


def _may_be_asked_again(line: bytes) -> bool:
    """Whether a repeated request has no second effect."""
    message = _object(line)
    if message.get("method") != "tools/call":
        return True
    from importlib.resources import files

    tools = json.loads(files("vault_tool.mcp").joinpath("tools.json").read_bytes())["full"]
    notes = {tool["name"]: tool.get("annotations", {}) for tool in tools}.get(_text(message, "params", "name"), {})
    return bool(notes.get("readOnlyHint") or notes.get("idempotentHint"))


def _lost(line: bytes) -> bytes:
    """The answer to a call that may or may not have been carried out."""
    message = _object(line)
    result: dict[str, Any] = {"content": [{"type": "text", "text": LOST}], "isError": True}
    if "_meta" in (message.get("params") or {}):  # as the stateless protocol version has it
        result["resultType"] = "complete"
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode() + b"\n"


def _serving_options(arguments: Sequence[str]) -> dict[str, str] | None:
    """The options of a command line of `vt mcp`; None for any other command line."""
    options = dict.fromkeys(_OPTIONS, "")
    rest = [*arguments]
    commands = 0
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if option == "mcp" and not equals:
            commands += 1
        elif option.startswith("--") and option[2:] in options and (equals or rest):
            options[option[2:]] = value if equals else rest.pop(0)
        else:
            return None
    plain = all(value.isascii() or front.is_text(value) for value in options.values())
    return options if commands == 1 and plain and options["preset"] in ("", *PRESETS) else None


def _lines_of(descriptor: int) -> Iterator[bytes]:
    """Whole lines, as they come."""
    unread: list[bytes] = []
    while True:
        try:
            piece = os.read(descriptor, _PIECE)
        except OSError:
            return
        if not piece:
            return
        first, *more = piece.split(b"\n")
        unread.append(first)
        for chunk in more:
            yield b"".join(unread) + b"\n"
            unread = [chunk]


def _write(data: bytes) -> None:
    """Write to the client; if the client is gone, end this process."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        os._exit(0)


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _key(identity: object) -> str:
    """An id as a key: 1 and "1" are different keys."""
    return json.dumps(identity)


def _text(message: Mapping[str, Any], *names: str) -> str:
    value: Any = message
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
