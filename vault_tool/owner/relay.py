"""`vt mcp` as bytes passed on to the owner, who serves the client; by the standard library alone, for each client starts one.

It outlives the owner: it finds or starts the next, opens the conversation there as the client opened it, and asks again
what was asked and not answered, unless asking twice could do it twice.
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
# What clients say of themselves to the programs that they start.
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"

LOST = "the process that was at it ended: it may have been done or not. Look whether it was (recall, get) before you say it again"

_OPTIONS = ("vault", "session", "user", "project", "model", "preset")
_SILENCE = 1.0
_PIECE = 2**16


def relayed(arguments: Sequence[str]) -> int | None:
    """Serve the client at standard input and output by way of an owner; None where this process has to serve it itself."""
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
    # Whoever serves this client later serves it this vault, and no other that lies there by then.
    relay = Relay(root, {"do": "mcp", "preset": options["preset"] or PRESETS[0], "identity": identity_at(root), **caller})
    return relay.run() if relay.open() else None


def session_of(environ: Mapping[str, str]) -> str:
    """The session that a client names to what it starts; nothing where it names none."""
    return next(filter(None, map(environ.get, SESSION_VARIABLES)), "")


def folder_of(environ: Mapping[str, str]) -> str:
    """The whole path of the folder that a client says it works in; nothing where it names none."""
    folder = environ.get(PROJECT_VARIABLE, "")
    return os.path.realpath(folder) if folder else ""


class Relay:
    """One client, and whoever serves it now."""

    def __init__(self, root: str, request: Mapping[str, Any]) -> None:
        self._root = root
        self._request = request
        self._line: socket.socket | None = None
        self._unread = b""
        self._alone = False
        self._sending = threading.Lock()
        self._ended = False
        self._opening: list[bytes] = []
        """What opens a conversation of old: `initialize`, and that the client is ready."""

        self._subscribed: dict[str, bytes] = {}
        self._asked: dict[str, bytes] = {}
        """What was asked and is not answered, by its id."""

        self._unsent: set[str] = set()
        """Which of these whoever served certainly did not read whole: asking again does nothing twice."""

        self._own_id_prefix = f"again-{os.getpid()}-"
        """What the ids of our own questions begin with."""

        self._own = 0
        self._beginning: Opening | None = None
        """What is answered here, while the first owner comes up."""

        self._held: list[tuple[bytes, str | None]] = []
        """What the client said meanwhile and is not answered, in its order, each with its key."""

    def open(self) -> bool:
        """Reach an owner, or start one; whether there is one that serves, or the client was begun to be answered."""
        self._line = self._connect(self._begin)
        return self._line is not None or self._beginning is not None

    def run(self) -> int:
        """Pass on until the client is gone."""
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
        # Whoever still reads our input would keep the interpreter from ending.
        os._exit(0)

    def _begin(self) -> None:
        """Answer the client what is always the same, while an owner comes up."""
        self._beginning = Opening(self._request["preset"], self._request.get("vaults", ""))
        threading.Thread(target=self._pump_client, daemon=True).start()

    def _hand_over(self) -> None:
        """Bring whoever serves now to where the client is, and give it what was said meanwhile."""
        with self._sending:
            beginning, self._beginning = self._beginning, None
            assert beginning is not None
            held, self._held = self._held, []
            self._unsent.update(key for _, key in held if key is not None)
            self._alone = self._line is None
            self._line = self._line or _spawn_private_server(self._root, self._request)
            for line in self._opening if beginning.is_open else ():
                if not self._repeat_initialize(line):
                    # The next one is brought there by whoever notices that this line is dead.
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
        """Pass on what the client says."""
        for line in _lines_of(0):
            # Noted and sent at once: what is noted while another line is opened is sent there with what waits.
            with self._sending:
                key = self._remember(line)
                if self._beginning is not None:
                    self._hold(line, key, self._beginning)
                    continue
                # What cannot be sent now is sent again by whoever notices that the line is dead.
                self._send(line, key)
        self._ended = True
        with self._sending, suppress(OSError):
            if self._line is not None and self._beginning is None:
                self._line.shutdown(socket.SHUT_WR)

    def _hold(self, line: bytes, key: str | None, beginning: Opening) -> None:
        """Answer a line that can be answered here; any other waits for whoever will serve."""
        message = _object(line)
        # What comes after something that waits is not answered before it.
        answer = beginning.answer(message) if not self._held else None
        if answer is not None:
            self._asked.pop(key or "", None)
            _write(answer)
        elif not beginning.is_settled(message):
            self._held.append((line, key))

    def _pump_server(self) -> None:
        """Pass on what is answered, until whoever serves is gone or hangs."""
        while (lines := self._received()) is not None:
            for line in lines:
                if self._is_the_clients(line):
                    _write(line + b"\n")

    def _received(self, *, awaited: bool = False) -> list[bytes] | None:
        """The next whole lines; None from one that is gone, or that says nothing though asked and cannot be reached.

        `awaited` is whether it was asked by us, and not by the client.
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
        """Whether whoever serves is alive: one of the client's own is, as long as its end of the line is open."""
        if self._alone:
            return True
        from vault_tool.owner.spawning import answers

        return answers(self._root)

    def _remember(self, line: bytes) -> str | None:
        """Remember what would have to be said again to another; the key of what waits for an answer."""
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
        """Give a line to whoever serves, as long as it is there; what it certainly did not get whole is noted by its `key`."""
        rest = memoryview(line)
        try:
            while rest and self._line is not None:
                try:
                    rest = rest[self._line.send(rest) :]
                except TimeoutError:
                    # It reads slowly; a part of a line followed by the next one would be neither.
                    if not self._is_there():
                        raise
        except OSError:
            # An owner takes no line without its end.
            if key is not None and not self._alone:
                self._unsent.add(key)

    def _is_the_clients(self, line: bytes) -> bool:
        """Whether a line is for the client: not an empty one, nor a late answer to us; what it answers is no longer open."""
        message = _object(line)
        if "method" in message or message.get("id") is None:
            return bool(line.strip())
        if str(message["id"]).startswith(self._own_id_prefix):
            return False
        self._asked.pop(_key(message["id"]), None)
        return True

    def _reconnect(self) -> None:
        """Find or start another to serve, and bring it to where the last one was."""
        with self._sending:
            if self._line is not None:
                self._line.close()
            connection = self._connect()
            self._alone = connection is None
            self._line, self._unread = connection or _spawn_private_server(self._root, self._request), b""
            waiting = dict(self._asked)
            # Where the opening itself was not answered it is asked again as the client asked it.
            opening = [line for line in self._opening if line not in waiting.values()]
            for line in (*opening, *self._subscribed.values()):
                # One after the other, as a client does: what comes before the conversation is open is refused.
                if not self._repeat_initialize(line):
                    # Not to be listened to any further: the conversation is not open there.
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
        """Say what the client once said under an id of our own, and take the answer; whether whoever serves is still there."""
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
        """A stream to an owner that serves as this process would; one is started where there is none.

        None where another vault lies there by now: an owner of that would make its indexes.
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
    """A server for this client alone, in a process of its own: where no owner comes up any more."""
    import subprocess

    ours, its = socket.socketpair()
    named = [f"--{name}={request[name]}" for name in (*_OPTIONS, "identity") if request.get(name)]
    command = [sys.executable, "-P", "-m", "vault_tool", "mcp", "--vault", root, *named]
    environ = {**os.environ, "VAULT_OWNER": "off"}
    with its:
        subprocess.Popen(command, stdin=its.fileno(), stdout=its.fileno(), env=environ)
    return ours


def _may_be_asked_again(line: bytes) -> bool:
    """Whether asking twice does nothing twice."""
    message = _object(line)
    if message.get("method") != "tools/call":
        return True
    from importlib.resources import files

    tools = json.loads(files("vault_tool.mcp").joinpath("tools.json").read_bytes())["full"]
    notes = {tool["name"]: tool.get("annotations", {}) for tool in tools}.get(_text(message, "params", "name"), {})
    return bool(notes.get("readOnlyHint") or notes.get("idempotentHint"))


def _lost(line: bytes) -> bytes:
    """The answer to a call that may or may not have been done."""
    message = _object(line)
    result: dict[str, Any] = {"content": [{"type": "text", "text": LOST}], "isError": True}
    if "_meta" in (message.get("params") or {}):  # as the stateless era has it
        result["resultType"] = "complete"
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode() + b"\n"


def _serving_options(arguments: Sequence[str]) -> dict[str, str] | None:
    """The options of a command line that serves; None where it says anything else."""
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
    """Give it to the client; one that is gone ends this process."""
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
    """An id as a key: 1 and "1" are two."""
    return json.dumps(identity)


def _text(message: Mapping[str, Any], *names: str) -> str:
    value: Any = message
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
