"""Processes of an owner that answer beside it once several clients ask at the same time: it hands conversations on to them.

Each has the vault open for itself. Before each answer it asks the owner whether the indexes are up to date; what writes
it has the owner do. It ends with the owner, however that ends: its end of the line between them is closed.
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

# So many calls at the same time are a crowd, of which that many seconds later something is left.
_CROWD = 3
_RECENTLY = 5.0
# Readers, and never more than there are processors.
_MOST = 2
# How many may die before no more are started.
_DEATHS = 3
# Seconds without a word after which one hangs; it says something every two.
SILENCE = 20.0
_ENDING = 3.0
# Most bytes of one message between them: what is unread of a client that says more stays with the owner.
LONGEST = 2**16

IS_POSSIBLE = sys.platform.startswith("linux")


class Readers:
    """The readers of one owner. `fresh` is whether the indexes are up to date; `leave` is told why the owner should leave."""

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
        """Count a call as long as it lasts: where several ask at the same time, readers are started."""
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
        # Once all of them are there, or the first would get all that are asking now.
        return bool(readers) and self._crowded_at > time.monotonic() - _RECENTLY and all(reader.is_ready for reader in readers)

    def serve(self, line: socket.socket, request: Mapping[str, Any], standing: Standing) -> Standing | None:
        """Have a reader go on with a conversation; returns where it stands once it comes back, None at its end."""
        with self._guard:
            ready = [reader for reader in self._readers if reader.is_ready]
            reader = min(ready, key=lambda reader: len(reader.waiting), default=None)
            answer = reader.give(line, request, standing) if reader is not None else None
        return answer.get() if answer is not None else standing

    def close(self) -> None:
        """Have all of them end; those that do not are killed."""
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
        """The answer to a reader that asks whether all is fresh, or noticed that the owner should leave."""
        if "leave" in message:
            self._leave(str(message["leave"]))
        return {"fresh": self._fresh()} if "fresh" in message else None

    def _gone(self, reader: _Reader, is_death: bool) -> None:
        with self._guard:
            self._deaths += is_death
            if reader in self._readers:
                self._readers.remove(reader)


class _Reader:
    """One reader, and the conversations that it has: what each waits for, by its number."""

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
            # As an owner is started; -P: nothing of the folder that it stands in is taken for a module.
            command = [sys.executable, "-P", "-m", "vault_tool.cli.reading", str(root), str(its.fileno())]
            nothing = subprocess.DEVNULL
            self._process = subprocess.Popen(
                command, stdin=nothing, stdout=nothing, stderr=nothing, cwd=root, pass_fds=(its.fileno(),)
            )
        threading.Thread(target=self._hear, name="reader", daemon=True).start()

    def give(self, line: socket.socket, request: Mapping[str, Any], standing: Standing) -> SimpleQueue[Standing | None] | None:
        """Give it a conversation; returns where its end will be told, None where it could not be given."""
        self._number += 1
        message = {"serve": self._number, "request": dict(request), **packed(standing)}
        answer = self.waiting[self._number] = SimpleQueue()
        if not self._send(message, line.fileno()):
            del self.waiting[self._number]
            return None
        return answer

    def end(self) -> None:
        """Have it end: its conversations end with it."""
        self.is_ready = False
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds: float) -> None:
        """Wait for its end, and kill it where that does not come."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _hear(self) -> None:
        """Hear it until it is gone, or silent for too long; then its conversations are over."""
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
    """Say something at one end of the line between an owner and a reader; whether it could be said, and is not too long.

    `guard` keeps two threads of one end apart.
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
    """Where a conversation stands, for a message."""
    return {"opening": [line.decode("latin-1") for line in standing.opening], "unread": standing.unread.decode("latin-1")}


def unpacked(message: Mapping[str, Any]) -> Standing:
    """The same, out of one."""
    return Standing(tuple(line.encode("latin-1") for line in message["opening"]), message["unread"].encode("latin-1"))
