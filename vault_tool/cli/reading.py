"""A reader: a process that an owner starts to answer calls in parallel, on connections that the owner passes to it.

The owner's side is in `readers`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from msgspec import to_builtins

from vault_tool.cli.answering import SharedVault
from vault_tool.cli.conversation import Conversation
from vault_tool.cli.readers import LONGEST, SILENCE, packed, send, unpacked
from vault_tool.errors import Busy
from vault_tool.mcp import answering, server
from vault_tool.mcp.backends import Answer, Call
from vault_tool.owner.client import fitting
from vault_tool.owner.relay import LOST
from vault_tool.owner.upstream import Exchange, LostCall, answer_of, call_of, may_be_called_again
from vault_tool.util.deferred import load
from vault_tool.util.heap import share_one_heap
from vault_tool.verbs.vault import Vault

_HEARTBEAT = 2.0
# Seconds without a call after which a reader returns its conversations to the owner and ends.
_IDLE = 60.0
# Seconds to wait for the owner's word whether the index is fresh; after that, the reader compares the files itself.
_FRESH = 2.0


class Reader:
    """Answers calls about the vault at `root`; `owner` is the socket to the process that started this one."""

    def __init__(self, root: str, owner: socket.socket) -> None:
        self._root = root
        self._owner = owner
        self._sending = threading.Lock()
        self._said: SimpleQueue[bool] = SimpleQueue()
        self._conversations: dict[int, Conversation] = {}
        self._last_call = time.monotonic()
        self._answers = SharedVault(Vault.open(root), self._is_fresh, self._say_why)

    def _say_why(self, reason: str) -> None:
        """Tell the owner that it should leave."""
        self._tell(leave=reason)

    def run(self) -> None:
        """Serve the connections that the owner passes, until the owner ends."""
        # The owner handles a terminal's Ctrl-C, and ends this process once every call is answered.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._answers.warm()
        # The modules that serve a conversation are loaded before the first one comes.
        load(server, answering)
        self._tell(ready=True)
        threading.Thread(target=self._heartbeat, daemon=True).start()
        with suppress(OSError, ValueError):
            while True:
                data, descriptors, _, _ = socket.recv_fds(self._owner, LONGEST * 2, 1)
                if not data:
                    break
                message = json.loads(data)
                if "serve" in message:
                    threading.Thread(target=self._serve, args=(message, descriptors[0]), daemon=True).start()
                elif "fresh" in message:
                    self._said.put(bool(message["fresh"]))
        # The owner is gone: this process ends at once.
        os._exit(0)

    def _serve(self, message: Mapping[str, Any], descriptor: int) -> None:
        number, back = int(message["serve"]), None
        with socket.socket(fileno=descriptor) as line:
            conversation = Conversation(line, message["request"], unpacked(message), self._used, lambda: False)
            self._conversations[number] = conversation
            try:
                with suppress(OSError):
                    back = asyncio.run(conversation.serve())
            finally:
                del self._conversations[number]
                # A conversation that cannot be returned to the owner is closed, and its client connects again.
                if back is None or not self._tell(ended=number, **packed(back)):
                    self._tell(ended=number)

    def _used(self, use: Callable[[Any], Any], identity: str) -> Any:
        """Call `use` with the vault; a call that writes is forwarded to the owner."""
        self._last_call = time.monotonic()
        if isinstance(use, Call) and use.writes:
            self._answers.run(lambda vault: None, identity)  # raises where another vault is meant
            return self._forwarded(use)
        return self._answers.run(use, identity)

    def _forwarded(self, call: Call) -> Answer:
        # Only this owner is asked: this process ends when its owner does.
        connect = partial(fitting, self._root, SILENCE / 4)
        request = {**call_of(call.tool, call.arguments), **to_builtins(call.caller)}
        exchange = Exchange(connect, request, may_repeat=may_be_called_again(call.tool), progress=call.progress)
        try:
            answer = exchange.run()
        except LostCall:
            return Answer(LOST, None)
        if answer is None:
            raise Busy("the owner of the vault does not answer")
        return answer_of(answer)

    def _is_fresh(self) -> bool:
        """Ask the owner whether the index is fresh. Only the thread that holds the vault asks."""
        with suppress(Empty):
            while True:
                self._said.get_nowait()  # an answer that came too late
        if not self._tell(fresh=True):
            return False
        try:
            return self._said.get(timeout=_FRESH)
        except Empty:
            return False

    def _heartbeat(self) -> None:
        """Send heartbeats; after a long time without a call, return the conversations to the owner."""
        while self._tell(alive=True):
            time.sleep(_HEARTBEAT)
            if time.monotonic() - self._last_call < _IDLE:
                continue
            if not self._conversations:
                self._tell(leaves=True)
                os._exit(0)
            for conversation in [*self._conversations.values()]:
                conversation.leave()

    def _tell(self, **message: Any) -> bool:
        return send(self._owner, self._sending, message)


def main() -> None:
    """Run a reader. The first argument is the vault's folder, the second the descriptor of the socket to the owner."""
    share_one_heap()
    Reader(sys.argv[1], socket.socket(fileno=int(sys.argv[2]))).run()


if __name__ == "__main__":
    main()
