"""SIGKILL of the owner while it is at a pass, at the end of a session, or at reading one: nothing is lost, nothing done twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import CAMPAIGN, PATIENCE, eventually
from tests.capture.drafted import drafting_at, kept
from tests.fakes.loopback import Request
from tests.git_repos import git
from tests.mcp.served import Lines
from tests.mcp.test_streams import INITIALIZE
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.owner.clients import ALLOWED, crowded
from tests.owner.owned import Owned
from vault_tool import Vault
from vault_tool.files import watcher_presence
from vault_tool.owner.relay import LOST
from vault_tool.owner.spawning import answers, make_way
from vault_tool.util.clock import FixedClock
from vault_tool.vault.context import Context
from vault_tool.vault.resolve import find

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an owner is killed by its number"),
]

ROUNDS = CAMPAIGN or 1


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with crowded(tmp_path) as made:
        yield made


class Agent:
    """A client with the lean tools, by the owner of a vault."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lines = Lines("mcp", "--preset", "lean", "--session", "s-1", cwd=root, env=ALLOWED)
        self.lines.send(INITIALIZE)
        assert self.lines.receive()["id"] == 1
        self.lines.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.number = 10
        self.lost = 0

    def call(self, tool: str, killed_after: float | None = None, **arguments: Any) -> dict[str, Any] | None:
        """The answer of a tool, while its owner is killed so long after it was asked; None where it says that nobody knows."""
        self.number += 1
        owner = self.owner() if killed_after is not None else 0
        params = {"name": tool, "arguments": arguments}
        self.lines.send({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params})
        if killed_after is not None:
            time.sleep(killed_after)
            os.kill(owner, signal.SIGKILL)
        answer = self.lines.receive()
        assert answer["id"] == self.number, answer
        text = answer["result"]["content"][0]["text"]
        if answer["result"].get("isError"):
            assert text == LOST, text
            self.lost += 1
            return None
        values = answer["result"].get("structuredContent") or json.loads(text)
        assert isinstance(values, dict)
        return values

    def owner(self) -> int:
        """The process that owns the vault and answers."""
        eventually(lambda: watcher_presence.owner(self.root) is not None and answers(self.root))
        found = watcher_presence.owner(self.root)
        assert found is not None
        return found.pid


@contextmanager
def agent_of(root: Path) -> Iterator[Agent]:
    """An agent, and after it no owner."""
    agent = Agent(root)
    try:
        yield agent
        assert agent.lines.end()[1] == b""
    finally:
        agent.lines.process.kill()
    while make_way(root):
        pass


def assert_whole(root: Path, words: Sequence[str]) -> None:
    """What a kill left is finished by the next write, and each word is the work of one commit."""
    with Vault.open(root) as vault:
        assert vault.remember("The last one is written after all of them.", ["Crowd"]).committed
        assert vault.local.pending() == ()
    assert git(root, "status", "--porcelain", "vault") == ""
    assert_git_is_sound(root)
    assert_as_built_anew(root, [*words[:2]])


def notes_with(root: Path, *words: str) -> Counter[str]:
    """How many notes have each of these words in their text."""
    texts = [path.read_text("utf-8") for path in (root / "vault").rglob("*.md") if "episodes" not in path.parts]
    return Counter({word: sum(word in text.rpartition("---\n")[2] for text in texts) for word in words})


def test_a_pass_whose_owner_is_killed_in_an_answer_writes_each_text_once(root: Path) -> None:
    chance = random.Random(36)
    words: list[str] = []
    with agent_of(root) as agent:
        usual = 0.0
        for number in range(ROUNDS + 1):
            for part in range(3):
                agent.call(
                    "remember", content=f"Canal {number} has a lock, part {part}.", kind="fact", subjects=[f"Canal {number}"]
                )
            step = agent.call("consolidate")
            while step is not None and step["packet"]:
                word = f"zq{len(words)}x"
                words.append(word)
                subject = step["packet"]["subject"]
                answer: dict[str, Any] = {
                    "content": f"The {word} is what {subject} comes to.",
                    "summary": f"In short {number}.",
                }
                given = step["packet"]["id"]
                # The first round says how long an answer takes.
                after = chance.uniform(0, usual) if number else None
                began = time.monotonic()
                step = agent.call("consolidate", killed_after=after, packet=given, **answer)
                usual = max(usual, time.monotonic() - began) if after is None else usual
                if step is None:
                    step = agent.call("consolidate")
                    assert step is not None
                    if step["packet"] and step["packet"]["id"] == given:
                        step = agent.call("consolidate", packet=given, **answer)
                        assert step is not None and (step.get("written") or not step["packet"]), step
        sys.stdout.write(f"{ROUNDS} rounds, {len(words)} answers, {agent.lost} of them cut short\n")
    assert set(notes_with(root, *words).values()) == {1}
    with Vault.open(root) as vault:
        assert vault.consolidate_next().packet is None, "nothing is left of any pass"
    assert_whole(root, words)


def test_an_end_of_a_session_whose_owner_is_killed_keeps_each_memory_once(root: Path) -> None:
    chance = random.Random(37)
    words, works = [], []
    with agent_of(root) as agent:
        marked = agent.call("remember", content="Sluices are opened by hand.", kind="fact", subjects=["Sluice"])
        assert marked is not None
        usual = 0.0
        for number in range(ROUNDS + 1):
            words += (new := [f"zq{number}a", f"zq{number}b"])
            works.append(f"zq{number}w")
            texts = [f"The {word} is a barge on the canal." for word in new]
            memories = [{"content": text, "kind": "fact", "subjects": ["Barge"]} for text in texts]
            told: dict[str, Any] = {
                "memories": memories,
                "left_to_do": f"The {works[-1]} comes next.",
                "useful": [marked["id"]],
                "session": f"s-{number}",
            }  # fmt: skip
            after = chance.uniform(0, usual) if number else None
            began = time.monotonic()
            ended = agent.call("end_session", killed_after=after, **told)
            usual = usual or time.monotonic() - began
            if ended is None:
                ended = agent.call("end_session", **told)
            assert ended is not None
    assert set(notes_with(root, *words, *works).values()) == {1}
    with Context.open(root) as vault:
        vault.fresh()
        entry = find(vault, marked["id"])
        assert vault.standings.belief_of(entry).useful == ROUNDS + 1, "a mark a session"
    assert_whole(root, [*words, *works])


@pytest.mark.parametrize("moment", ["while the model is asked", "after it answered"])
def test_an_owner_that_is_killed_while_it_reads_a_session_asks_once_and_drafts_once(root: Path, moment: str) -> None:
    chance = random.Random(38)
    held = threading.Event()

    def answer(request: Request) -> object:
        if moment == "while the model is asked":
            held.wait(PATIENCE)
        return kept({})

    with drafting_at(root) as drafting:
        drafting.clock = FixedClock(datetime.now(UTC))
        drafting.answers(answer)
        drafting.ended()
        environ = {**os.environ, "HOME": str(root.parent)}
        with Owned(root, command="watch", environ=environ) as owner:
            eventually(lambda: drafting.asked() == 1)
            time.sleep(chance.uniform(0, 0.2))
            owner.process.send_signal(signal.SIGKILL)
            owner.end()
        held.set()
        with Owned(root, command="watch", environ=environ):
            pass
        drafting.clock.advance(timedelta(days=2))
        drafting.read()
        assert drafting.asked() == 1, "whoever was killed may have been killed for it"
        assert [line["what"] for line in drafting.log()] in (["begun"], ["begun", "read"])
        assert len(drafting.drafts()) <= 1 and not list((root / "vault").rglob("*pump*"))
