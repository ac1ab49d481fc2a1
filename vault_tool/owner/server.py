"""The owner's side of the socket: who it is, then one request a connection, each on a thread of its own."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from vault_tool import __version__
from vault_tool.errors import VaultError
from vault_tool.owner import address
from vault_tool.owner.protocol import BEAT, PROTOCOL, Lines, ProtocolError, age_of, settings_print

# Seconds in which a request must have come whole.
REQUEST_SECONDS = 5.0

MOST_CONNECTIONS = 256
# Seconds that what is under way gets to finish when the owner leaves.
FINISHING = 5.0

_LONGEST_PAUSE = 30.0

# From a request to its answer; a VaultError or OSError is a request declined.
Answer: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]

# Serves a connection that became a stream of bytes, the first of them read already, until its end.
Stream: TypeAlias = Callable[[socket.socket, bytes, Mapping[str, Any]], None]


class OwnerServer:
    """Listens for one vault until it is closed. `leave` is called, with the reason, when a client asks the owner to go.

    `welcomed` is set once an agent's client uses the owner; until then one that a command started is only passing.
    """

    def __init__(
        self,
        root: Path,
        nonce: str,
        answers: Mapping[str, Answer],
        streams: Mapping[str, Stream],
        leave: Callable[[str], None],
        environ: Mapping[str, str],
        welcomed: threading.Event,
    ) -> None:
        self._answers = {**answers, "drain": self._drained}
        self._streams = streams
        self._leave = leave
        self._welcomed = welcomed
        settings = settings_print(nonce, environ)
        who = {"protocol": PROTOCOL, "version": __version__, "pid": os.getpid(), "nonce": nonce}
        self._hello = {**who, "root": str(root), "settings": settings}
        self._connections: set[socket.socket] = set()
        self._served = 0
        self._changed = threading.Condition()
        self._idle_since = time.monotonic()
        self._leaving = False
        self._listening = address.Listening(str(root))
        self._thread = threading.Thread(target=self._accept, name="owner's socket", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    @property
    def idle(self) -> float:
        """Seconds since the last client left."""
        with self._changed:
            return 0.0 if self._connections else time.monotonic() - self._idle_since

    def counts(self) -> dict[str, int]:
        """How many requests were answered, and how many are connected."""
        with self._changed:
            return {"served": self._served, "connected": len(self._connections)}

    def close(self) -> None:
        """Listen no more, let what is under way finish within `FINISHING` seconds, then end every connection."""
        with self._changed:
            self._leaving = True
        # A thread that waits in accept is not woken by closing everywhere.
        with suppress(OSError):
            self._listening.line.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        # Who reads no more ends by itself once its last answer is out.
        for how in (socket.SHUT_RD, socket.SHUT_RDWR):
            with self._changed:
                for line in self._connections:
                    with suppress(OSError):
                        line.shutdown(how)
                self._changed.wait_for(lambda: not self._connections, FINISHING)

    def _accept(self) -> None:
        pause = BEAT
        while not self._leaving:
            try:
                line, _ = self._listening.line.accept()
            except OSError:
                # No descriptor is left, or we leave: the first passes.
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            pause = BEAT
            with self._changed:
                if self._leaving or len(self._connections) >= MOST_CONNECTIONS:
                    line.close()
                    continue
                self._connections.add(line)
            threading.Thread(target=self._serve, args=(line,), name="owner's connection", daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        try:
            # Errors of single connections are not reported.
            with suppress(ProtocolError, OSError):
                self._converse(line)
        finally:
            line.close()
            with self._changed:
                self._connections.discard(line)
                self._idle_since = time.monotonic()
                self._changed.notify_all()

    def _converse(self, line: socket.socket) -> None:
        line.settimeout(REQUEST_SECONDS)
        address.require_own_peer(line)
        lines = Lines(line)
        until = time.monotonic() + REQUEST_SECONDS
        if self._listening.token:
            _require_token(lines, self._listening.token)
        lines.send({**self._hello, "passing": not self._welcomed.is_set()})
        request = lines.receive(until)
        action = request.get("do")
        stream = self._streams.get(action) if isinstance(action, str) else None
        answer = self._answers.get(action) if isinstance(action, str) else None
        if stream is not None:
            self._welcomed.set()
            lines.send({"stream": action})
            line.settimeout(None)
            stream(line, lines.unread, request)
        elif answer is None:
            lines.send({"declined": "no such request"})
        else:
            lines.send(self._answered(lines, answer, request))

    def _answered(self, lines: Lines, answer: Answer, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer, worked out on a thread of its own while this one tells that work goes on."""
        replies: list[Mapping[str, Any]] = []
        done = threading.Event()

        def work() -> None:
            try:
                replies.append(answer(request))
            except (VaultError, OSError, ValueError, TypeError, KeyError) as fault:
                replies.append({"declined": f"{type(fault).__name__}: {fault}"})
            finally:
                with self._changed:
                    self._served += 1
                done.set()

        with self._changed:
            if self._leaving:
                return {"declined": "the owner is leaving"}
        threading.Thread(target=work, name="owner's answer", daemon=True).start()
        while not done.wait(BEAT):
            lines.send()
        return replies[0] if replies else {"declined": "it failed"}

    def _drained(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Leave for a client that is as new as we are, or newer."""
        version = request.get("version")
        if not isinstance(version, str) or age_of(version) < age_of(__version__):
            return {"declined": "the owner is newer"}
        self._leave(f"version {version} asked for its place" if version != __version__ else "another owner asked for its place")
        return {"leaving": True}


def _require_token(lines: Lines, token: str) -> None:
    """Raise ProtocolError where a connection by port does not begin with the token."""
    received = lines.socket.recv(2 * len(token))
    if not secrets.compare_digest(received[: len(token)], token.encode()):
        raise ProtocolError("a wrong token")
    lines.unread = received[len(token) + 1 :]
