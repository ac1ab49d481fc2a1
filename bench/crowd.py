"""Several clients of one owner at once: how many recalls and writes a second they get between them."""

from __future__ import annotations

import itertools
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.bed import Bed
from bench.doors import OPENING, client, exchange, owner_of
from bench.figure import Figure
from bench.prose import Prose


class Crowd:
    """So many clients, each with a conversation of its own that is open."""

    def __init__(self, bed: Bed, stack: ExitStack, count: int) -> None:
        self._clients = [stack.enter_context(client(bed.root)) for _ in range(count)]
        for one in self._clients:
            exchange(one, OPENING)
        self.refused = 0
        self.answered = 0

    def rate(self, seconds: float, call: Callable[[], tuple[str, Mapping[str, Any]]]) -> float:
        """Answers a second that all get between them, each asking again once it has its answer."""
        until = time.monotonic() + seconds
        answered = [0] * len(self._clients)
        begun = time.monotonic()

        def ask(number: int) -> None:
            for turn in itertools.count(10):
                tool, arguments = call()
                message = {"id": turn, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
                if exchange(self._clients[number], (message,)).get("result", {"isError": True}).get("isError"):
                    self.refused += 1
                answered[number] += 1
                if time.monotonic() > until:
                    return

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(self._clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.answered = sum(answered)
        return self.answered / (time.monotonic() - begun)


def crowds(bed: Bed) -> Iterator[Figure]:
    """One client and many, by turns; refused answers are counted and not left out."""
    prose = Prose(13)
    words = [" ".join(prose.words(4)) for _ in range(500)]
    numbers = itertools.count()

    def recall() -> tuple[str, dict[str, Any]]:
        return "recall", {"query": f"what about {words[next(numbers) % len(words)]}?"}

    def remember() -> tuple[str, dict[str, Any]]:
        return "remember", {"content": f"Crowded memory {uuid.uuid4()}. It is of the usual length.", "kind": "fact"}

    rates: dict[tuple[str, int], list[float]] = {}
    works: dict[tuple[str, int], list[float]] = {}
    refused = 0
    few = bed.extent.clients[0]
    with owner_of(bed.root) as owner:
        for _ in range(bed.rebuilds):
            for count in bed.extent.clients:
                with ExitStack() as stack:
                    crowd = Crowd(bed, stack, count)
                    for name, call in (("recall", recall), ("write", remember)):
                        crowd.rate(bed.extent.seconds / 10, call)
                        before = work_of(owner)
                        rates.setdefault((name, count), []).append(crowd.rate(bed.extent.seconds, call))
                        works.setdefault((name, count), []).append((work_of(owner) - before) / crowd.answered)
                    refused += crowd.refused
    for name, what in (("recall", "recalls"), ("write", "memories written")):
        yield bed.figure(f"crowd-{name}-one", f"{what} a second, {few} client of the owner", rates[name, few], unit="/s")
        for count in bed.extent.clients[1:]:
            last = count == bed.extent.clients[-1]
            more = {"floor_is": f"{few} client", "floor": tuple(rates[name, few]), "unit": "/s"}
            kind = f"crowd-{name}" if last else f"crowd-{name}-some"
            yield bed.figure(kind, f"{what} a second, {count} clients of the owner", rates[name, count], **more)
        if all(works[name, few]):
            most, floor = bed.extent.clients[-1], tuple(one * 1000 for one in works[name, few])
            values = [one * 1000 for one in works[name, most]]
            of_what = f"processor time of the owner, its readers and git, one of the {what} by {most} clients"
            more = {"floor_is": f"{few} client", "floor": floor, "unit": "ms"}
            yield bed.figure(f"crowd-{name}-work", of_what, values, **more)
    yield bed.figure("crowd-refused", "of all these: refused or failed", [refused], unit="answers")


def work_of(pid: int) -> float:
    """The seconds of processor time that a process, what it started and what that left have had; 0 where no system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task").glob("*/children")
        below = sum(work_of(int(child)) for one in children for child in one.read_text().split())
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + below


MEASURES: Mapping[Callable[[Bed], Iterator[Figure]], tuple[str, ...]] = {
    crowds: (
        "crowd-recall-one",
        "crowd-recall-some",
        "crowd-recall",
        "crowd-recall-work",
        "crowd-write-one",
        "crowd-write-some",
        "crowd-write",
        "crowd-write-work",
        "crowd-refused",
    ),
}
