"""Readers: processes that an owner starts once several clients ask at the same time, and that take over their conversations.

Each reader has the vault open for itself. Before each answer it asks the owner whether the indexes are up to date; it forwards
calls that write to the owner. A reader ends with the owner, even if the owner is killed: the socket between them is closed then.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from vault_tool.cli.conversation import Standing

# The number of simultaneous calls from which readers are used, and the seconds for which they are used after that.
_CROWD = 3
_RECENTLY = 5.0
# The number of readers; a machine with fewer processors gets none.
_MOST = 2
# After so many deaths of readers no more are started.
_DEATHS = 3
# Seconds without a message after which a reader counts as hung; it sends a heartbeat every two seconds.
SILENCE = 20.0
_ENDING = 3.0
# Most bytes of one message between owner and reader; a conversation with more unread text stays with the owner.
LONGEST = 2**16

IS_POSSIBLE = sys.platform.startswith("linux")


class Readers:
    """The readers of one owner. `fresh()` says whether the indexes are up to date; `leave(reason)` makes the owner leave."""

    def __init__(self, root: Path, fresh: Callable[[], bool], leave: Callable[[str], None]) -> None:
        self._root = root
        self._fresh = fresh
        self._leave = leave
        self._guard = threading.Lock()
        self._readers: list[_Reader] = []
        self._asking = 0
        self._crowded_at = -_RECENTLY
        self._deaths = 0
        self._is_over = not IS_POSSIBLE or (os.cpu_count() or 1) < _MOST

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call while it lasts; readers are started once enough calls run at the same time."""
        with self._guard:
            self._asking += 1
            if self._asking >= _CROWD:
                self._crowded_at = time.monotonic()
                self._start()
        try:
            yield
        finally:
            with self._guard:
                self._asking -= 1

    def are_wanted(self) -> bool:
        """Whether a conversation should go on in a reader now."""
        readers = self._readers
        # Only once all readers are ready: else the first one would get every conversation.
        return bool(readers) and self._crowded_at > time.monotonic() - _RECENTLY and all(reader.is_ready for reader in readers)

    def serve(self, line: socket.socket, request: Mapping[str, Any], standing: Standing) -> Standing | None:
        """Pass a conversation to a reader; returns its state once the reader gives it back, None once the conversation ended."""
        with self._guard:
            ready = [reader for reader in self._readers if reader.is_ready]
            reader = min(ready, key=lambda reader: len(reader.waiting), default=None)
            answer = reader.give(line, request, standing) if reader is not None else None
        return answer.get() if answer is not None else standing

    def close(self) -> None:
        """End all readers; a reader that does not end in time is killed."""
        with self._guard:
            self._is_over = True
            readers, self._readers = self._readers, []
        for reader in readers:
            reader.end()
        for reader in readers:
            reader.wait(_ENDING)

    def _start(self) -> None:
        if self._is_over or self._readers or self._deaths >= _DEATHS:
            return
        with suppress(OSError):  # no descriptor or no process is left: the owner answers
            for _ in range(_MOST):
                self._readers.append(_Reader(self._root, self._answer, self._gone))

    def _answer(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The answer to a message of a reader: whether the indexes are fresh; None for a notice that the owner should leave."""
        if "leave" in message:
            self._leave(str(message["leave"]))
        return {"fresh": self._fresh()} if "fresh" in message else None

    def _gone(self, reader: _Reader, is_death: bool) -> None:
        with self._guard:
            self._deaths += is_death
            if reader in self._readers:
                self._readers.remove(reader)


class _Reader:
    """One reader; `waiting` has a queue for the end of each of its conversations, by the conversation's number."""

    def __init__(
        self, root: Path, answer: Callable[[Mapping[str, Any]], Mapping[str, Any] | None], gone: Callable[[_Reader, bool], None]
    ) -> None:
        self.waiting: dict[int, SimpleQueue[Standing | None]] = {}
        self.is_ready = False
        self._number = 0
        self._answer = answer
        self._gone = gone
        self._sending = threading.Lock()
        self._line, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            # An owner is started the same way; with -P no file of the working folder is imported as a module.
            command = [sys.executable, "-P", "-m", "vault_tool.cli.reading", str(root), str(its.fileno())]
            nothing = subprocess.DEVNULL
            self._process = subprocess.Popen(
                command, stdin=nothing, stdout=nothing, stderr=nothing, cwd=root, pass_fds=(its.fileno(),)
            )
        threading.Thread(target=self._hear, name="reader", daemon=True).start()

    def give(self, line: socket.socket, request: Mapping[str, Any], standing: Standing) -> SimpleQueue[Standing | None] | None:
        """Pass a conversation to this reader; returns the queue that will get its end, None if it could not be passed."""
        self._number += 1
        message = {"serve": self._number, "request": dict(request), **packed(standing)}
        answer = self.waiting[self._number] = SimpleQueue()
        if not self._send(message, line.fileno()):
            del self.waiting[self._number]
            return None
        return answer

    def end(self) -> None:
        """End this reader, and its conversations with it."""
        self.is_ready = False
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds: float) -> None:
        """Wait until the process ends; kill it after so many seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _hear(self) -> None:
        """Receive messages until the reader is gone or silent for too long; then end its conversations."""
        leaves = False
        self._line.settimeout(SILENCE)
        with suppress(OSError, ValueError):
            while data := self._line.recv(LONGEST * 2):
                message = json.loads(data)
                leaves = leaves or "leaves" in message
                self.is_ready = (self.is_ready or "ready" in message) and not leaves
                if "ended" in message and (answer := self.waiting.pop(message["ended"], None)) is not None:
                    answer.put(unpacked(message) if "unread" in message else None)
                elif (reply := self._answer(message)) is not None:
                    self._send(reply)
        self.is_ready = False
        self._gone(self, not leaves)
        self._line.close()
        self.wait(0.0 if not leaves else _ENDING)
        for number in list(self.waiting):
            self.waiting.pop(number).put(None)

    def _send(self, message: Mapping[str, Any], *descriptors: int) -> bool:
        return send(self._line, self._sending, message, *descriptors)


def send(line: socket.socket, guard: threading.Lock, message: Mapping[str, Any], *descriptors: int) -> bool:
    """Send a message over the socket between an owner and a reader; false if it is too long or the other end is gone.

    `guard` lets only one thread of this process send at a time.
    """
    data = json.dumps(message).encode()
    if len(data) > LONGEST:
        return False
    try:
        with guard:
            socket.send_fds(line, [data], descriptors)
    except OSError:
        return False
    return True


def packed(standing: Standing) -> dict[str, Any]:
    """The state of a conversation as fields of a message."""
    return {"opening": [line.decode("latin-1") for line in standing.opening], "unread": standing.unread.decode("latin-1")}


def unpacked(message: Mapping[str, Any]) -> Standing:
    """The state of a conversation, read from the fields of a message."""
    return Standing(tuple(line.encode("latin-1") for line in message["opening"]), message["unread"].encode("latin-1"))
