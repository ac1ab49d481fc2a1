"""Readers: what an owner starts where several clients ask at once, and what is left of them when it, or one of them, dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import eventually
from tests.mcp.test_streams import INITIALIZE
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.owner.clients import ALLOWED, Client, Record, at_work_on, crowded, owners_of
from vault_tool import Vault
from vault_tool.cli.answering import SharedVault
from vault_tool.cli.conversation import Conversation, Standing
from vault_tool.owner.spawning import answers, make_way

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="readers are Linux's, and so is /proc")

READER = "vault_tool.cli.reading"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with crowded(tmp_path) as found:
        yield found


def _readers(root: Path) -> list[int]:
    return [pid for pid, line in at_work_on(root).items() if READER in line]


class Crowd:
    """Clients at work until they are told to stop."""

    def __init__(self, root: Path, count: int) -> None:
        self.record = Record()
        self.over: list[bool] = []
        self.clients = [Client(root, number, self.record, lambda _: not self.over, ALLOWED) for number in range(count)]
        for one in self.clients:
            one.start()

    def go_on(self, answers: int) -> None:
        """Wait for so many more answers."""
        so_far = len(self.record.answers)
        eventually(lambda: len(self.record.answers) >= so_far + answers or not all(one.is_alive() for one in self.clients))

    def end(self) -> None:
        """Have them end; nothing that was said to them was wrong."""
        self.over.append(True)
        said = [one.close() for one in self.clients]
        assert self.record.wrong == [] and set(said) == {b""}


def test_clients_that_ask_at_once_are_answered_by_readers_that_see_what_each_wrote_and_end_with_the_owner(root: Path) -> None:
    crowd = Crowd(root, 4)
    eventually(lambda: len(_readers(root)) == 2)
    owner = owners_of(root)
    crowd.go_on(60)
    os.kill(_readers(root)[0], signal.SIGKILL)
    crowd.go_on(40)
    assert owners_of(root) == owner, "a reader's death is none of the owner's"
    crowd.end()
    while make_way(root):
        pass
    eventually(lambda: not _readers(root))
    texts = [path.read_text() for path in root.rglob("observations/**/*.md")]
    words = [word for text in texts for word in set(text.split()) if word in crowd.record.acknowledged]
    assert sorted(words) == sorted(crowd.record.acknowledged), "nothing acknowledged is lost or doubled"
    assert_git_is_sound(root)
    assert_as_built_anew(root, [*crowd.record.acknowledged][:3])


def test_readers_of_an_owner_that_is_killed_end_and_their_clients_go_on(root: Path) -> None:
    crowd = Crowd(root, 4)
    eventually(lambda: len(_readers(root)) == 2)
    old = _readers(root)
    crowd.go_on(20)
    os.kill(owners_of(root)[0], signal.SIGKILL)
    eventually(lambda: not set(old).intersection(at_work_on(root)))
    crowd.go_on(20)
    crowd.end()


def test_one_client_has_no_reader(root: Path) -> None:
    crowd = Crowd(root, 1)
    crowd.go_on(12)
    crowd.end()
    assert answers(root) and _readers(root) == []


Used = Callable[[Callable[[Any], Any], str], Any]


class _Served:
    """A conversation on a thread of its own."""

    def __init__(
        self, line: socket.socket, vault: SharedVault, standing: Standing, moves: Callable[[], bool], used: Used | None = None
    ) -> None:
        self.conversation = Conversation(line, {"preset": "full"}, standing, used or vault.run, moves)
        self.left: Standing | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.left = asyncio.run(self.conversation.serve())

    def ended(self) -> Standing | None:
        """Where it stands once it is over."""
        self._thread.join()
        return self.left


def _say(line: socket.socket, said: dict[str, Any]) -> None:
    line.sendall(json.dumps(said).encode() + b"\n")


def test_a_conversation_goes_on_elsewhere_between_two_calls_without_a_word_to_its_client(root: Path) -> None:
    ours, its = socket.socketpair()
    heard = ours.makefile("rb")
    moving: list[bool] = []
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "get_subjects", "arguments": {}}}
    with ours, its, heard:
        vault = SharedVault(Vault.open(root), lambda: False, lambda reason: None)
        first = _Served(its, vault, Standing(), lambda: bool(moving))
        _say(ours, INITIALIZE)
        assert json.loads(heard.readline())["id"] == 1
        _say(ours, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        _say(ours, {**call, "id": 2})
        assert json.loads(heard.readline())["id"] == 2
        moving.append(True)
        _say(ours, {**call, "id": 3})
        stands = first.ended()
        assert stands is not None and len(stands.opening) == 2 and b'"id": 3' in stands.unread
        second = _Served(its, vault, stands, lambda: False)
        answer = json.loads(heard.readline())
        assert (answer["id"], answer["result"].get("isError", False)) == (3, False), "the next word is the answer"
        second.conversation.leave()
        stands = second.ended()
        assert stands is not None and len(stands.opening) == 2 and stands.unread == b""
        third = _Served(its, vault, stands, lambda: True)
        # A client that listens to changes stays where it is.
        _say(ours, {"jsonrpc": "2.0", "id": 4, "method": "resources/subscribe", "params": {"uri": "vault://core"}})
        # It moves before that, for until then it listened to nothing.
        stands = third.ended()
        assert stands is not None
        fourth = _Served(its, vault, stands, lambda: b"subscribe" not in stands.unread)
        assert json.loads(heard.readline())["id"] == 4
        fourth.conversation.moves = lambda: True
        _say(ours, {**call, "id": 5})
        assert json.loads(heard.readline())["id"] == 5
        ours.shutdown(socket.SHUT_WR)
        assert fourth.ended() is None
        vault.close()


def test_a_client_that_gave_a_call_up_and_left_is_served_no_longer(root: Path) -> None:
    ours, its = socket.socketpair()
    gave_up = threading.Event()
    with its:
        vault = SharedVault(Vault.open(root), lambda: False, lambda reason: None)

        def slow(use: Callable[[Any], Any], identity: str) -> Any:
            gave_up.wait()
            return vault.run(use, identity)

        served = _Served(its, vault, Standing(), lambda: False, slow)
        with ours, ours.makefile("rb") as heard:
            _say(ours, INITIALIZE)
            heard.readline()
            _say(ours, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            params = {"name": "get_subjects", "arguments": {}}
            _say(ours, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
            _say(ours, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        gave_up.set()
        assert served.ended() is None
        vault.close()
