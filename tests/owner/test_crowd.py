from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN, eventually
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.owner.clients import ALLOWED, Client, Record, crowded, memory_of, owners_of
from vault_tool.files import watcher_presence
from vault_tool.owner.spawning import answers, make_way

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

RELAY_KB = 25_000


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with crowded(tmp_path) as found:
        yield found


@contextmanager
def _crowd(root: Path, count: int, goes_on: Callable[[int], bool]) -> Iterator[tuple[Record, list[Client]]]:
    """So many clients at work; at the end each has closed its relay, and all that was acknowledged is there once."""
    record = Record()
    clients = [Client(root, number, record, goes_on, ALLOWED) for number in range(count)]
    for one in clients:
        one.start()
    try:
        yield record, clients
        said = [one.close() for one in clients]
    finally:
        for one in clients:
            one.lines.process.kill()
    assert set(record.wrong) == set() and set(said) == {b""}
    assert min(one.turns for one in clients) >= 1
    _assert_each_is_there_once(root, record)


def _assert_each_is_there_once(root: Path, record: Record) -> None:
    while make_way(root):
        pass
    texts = [path.read_text() for path in root.rglob("observations/**/*.md")]
    words = [word for text in texts for word in set(text.split()) if word in record.acknowledged]
    assert sorted(words) == sorted(record.acknowledged), "nothing acknowledged is lost or doubled"
    assert_git_is_sound(root)
    assert_as_built_anew(root, [*record.acknowledged][:3])


def _owner(root: Path, other_than: int = 0) -> int:
    """The process that owns and answers, once there is one that is not the last."""

    def stands() -> bool:
        found = watcher_presence.owner(root)
        return found is not None and found.pid != other_than and answers(root)

    eventually(stands)
    found = watcher_presence.owner(root)
    assert found is not None
    return found.pid


def _report(*lines: str) -> None:
    """For whoever runs a campaign with `-s`."""
    sys.stdout.write("\n" + "\n".join(lines) + "\n")


def _spread(figures: Iterable[float]) -> str:
    found = sorted(figures)
    some = (found[0], statistics.median(found), found[len(found) * 95 // 100], found[-1])
    return " / ".join(f"{one:.2f}" for one in some)


def test_an_owner_that_is_killed_again_and_again_takes_nothing_with_it(root: Path) -> None:
    chance = random.Random(40)
    over: list[bool] = []
    first: list[float] = []
    fourth: list[float] = []
    stands: list[float] = []
    with _crowd(root, 4, lambda _: not over) as (record, clients):
        killed = _owner(root)
        for _ in range(CAMPAIGN or 2):
            _until_answered(record, clients, len(record.answers))
            time.sleep(chance.uniform(0, 0.3))
            assert len(owners_of(root)) <= 1
            at = time.monotonic()
            os.kill(killed, signal.SIGKILL)
            killed = _owner(root, other_than=killed)
            stands.append(time.monotonic() - at)
            assert len(owners_of(root)) <= 1
            _until_answered(record, clients, len(record.answers))
            answered = sorted(end - max(at, began) for began, end in _after(record, at)[: len(clients)])
            assert answered, record.wrong
            first.append(answered[0])
            fourth.append(answered[-1])
        over.append(True)
    _report(
        f"{len(first)} kills, {len(record.acknowledged)} acknowledged, {len(record.answers)} answers",
        f"writes refused, for they waited too long for their turn: {len(record.refused)}",
        "seconds from the kill, min / median / 95 % / max",
        f"a new owner answers {_spread(stands)}; first answer {_spread(first)}; the fourth {_spread(fourth)}",
    )


def _until_answered(record: Record, clients: list[Client], so_far: int) -> None:
    """Wait for as many more answers as there are clients, or for one that has ended."""
    eventually(lambda: len(record.answers) >= so_far + len(clients) or not all(one.is_alive() for one in clients))


def _after(record: Record, at: float) -> list[tuple[float, float]]:
    """What was answered after a moment, in the order of the answers."""
    return [one for one in [*record.answers] if one[1] > at]


def test_many_clients_at_once_have_one_owner_and_every_read_sees_every_write(root: Path) -> None:
    until = time.monotonic() + CAMPAIGN
    count = 20 if CAMPAIGN else 5
    relays = [0]
    memory: list[tuple[int, int]] = []
    with _crowd(root, count, lambda turns: time.monotonic() < until if CAMPAIGN else turns < 2) as (record, clients):
        owner = _owner(root)
        while any(one.is_alive() for one in clients):
            assert owners_of(root) == [owner]
            memory.append((len(record.acknowledged), memory_of(owner)))
            relays.append(max(memory_of(one.lines.process.pid) for one in clients))
            time.sleep(min(CAMPAIGN / 40, 10) or 0.1)
        assert owners_of(root) == [owner], "the first is the last"
    assert max(relays) <= RELAY_KB
    _report(
        f"{count} clients, {len(record.acknowledged)} writes of {len(record.answers)} answers, relays {max(relays)} KB at most",
        f"writes refused, for they waited too long for their turn: {len(record.refused)}",
        f"seconds for an answer, min / median / 95 % / max: {_spread(end - began for began, end in record.answers)}",
        f"the owner's memory (notes, KB): {memory[:: max(1, len(memory) // 12)]}",
    )
