"""Each verb after each other one, by an agent's lean tools and a person's library at once: every door tells one state."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from tests.mcp.served import client_of, client_of_process
from tests.mcp.test_lean import call
from tests.verbs.consolidation.test_due_count import of_due, of_orient, of_pending, of_report, of_status, typed
from vault_tool import Vault
from vault_tool.errors import NotFound
from vault_tool.mcp.tools import Caller
from vault_tool.owner.spawning import make_way

SUBJECTS = ("Kiln", "Glaze", "Shelf")
COUNTS = {"due": of_due, "orient": of_orient, "pending": of_pending, "report": of_report, "status": of_status}
TYPED = {"vt orient": typed("orient"), "vt consolidate --list": typed("consolidate", "--list"), "vt status": typed("status")}


@dataclass
class Walk:
    """A walk by an agent and a person through one vault, with what each memory must be told as."""

    root: Path
    agent: Client
    number: int = 0
    packet: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)
    corrected: dict[str, str] = field(default_factory=dict)

    @property
    def live(self) -> list[str]:
        """The memories that count, the oldest first."""
        return [identity for identity in self.texts if identity not in self.gone | self.wrong]

    def person(self) -> Vault:
        return Vault.open(self.root, person=True)

    def text(self) -> str:
        self.number += 1
        return f"Firing {self.number} of the {SUBJECTS[self.number % 3].lower()} took {self.number + 100} minutes."

    @property
    def subject(self) -> str:
        return SUBJECTS[self.number % 3]


async def remember(walk: Walk) -> None:
    text = walk.text()
    written = await call(walk.agent, "remember", content=text, kind="fact", subjects=[walk.subject])
    walk.texts[written["id"]] = text


async def correct(walk: Walk) -> None:
    text, old = walk.text(), walk.live[0]
    written = await call(walk.agent, "correct", id=old, why="It was measured again.", content=text)
    walk.texts[written["new_id"]] = text
    walk.corrected[written["new_id"]] = old
    walk.wrong.add(old)


async def understand(walk: Walk) -> None:
    subject = SUBJECTS[walk.number % 3]
    present = (await call(walk.agent, "recall", query=subject)).get("understanding") or {}
    with walk.person() as vault:
        lines = vault.list_observations(subject).results
        sources = [line.id for line in lines if line.id.startswith(tuple(walk.live))][:3]
    text = f"Firings of the {subject.lower()} are timed, seen after {walk.number}."
    replaces = {"replaces": present["id"]} if present.get("id") else {}
    if len(sources) > 1:
        await call(
            walk.agent, "understand", subjects=[subject], content=text, summary=text, sources=sources, why="Wording.", **replaces
        )


async def link(walk: Walk) -> None:
    first, last = walk.live[0], walk.live[-1]
    await call(walk.agent, "link", **{"from": last, "type": "RELATED_TO", "to": first, "why": "Both were timed."})


async def forget(walk: Walk) -> None:
    """The last memory goes; what it corrected holds again."""
    last = walk.live[-1]
    with walk.person() as vault:
        vault.forget(last)
    walk.gone.add(last)
    walk.wrong.discard(walk.corrected.pop(last, ""))


async def undo(walk: Walk) -> None:
    """The last memory is written by the person and undone at once."""
    with walk.person() as vault:
        written = vault.remember(walk.text(), [walk.subject])
        vault.undo()
    walk.texts[written.id] = f"Firing {walk.number} "
    walk.gone.add(written.id)


async def take(walk: Walk) -> None:
    packet = (await call(walk.agent, "consolidate")).get("packet") or {}
    walk.packet = packet.get("id", "")


async def answer(walk: Walk) -> None:
    if walk.packet:
        text = f"Firings are timed in minutes, told after {walk.number}."
        told = await walk.agent.call_tool("consolidate", {"packet": walk.packet, "content": text, "summary": text})
        walk.packet = ((told.structured_content or {}).get("packet") or {}).get("id", "")


async def none(walk: Walk) -> None:
    if walk.packet:
        told = await walk.agent.call_tool("consolidate", {"packet": walk.packet, "content": "none"})
        walk.packet = ((told.structured_content or {}).get("packet") or {}).get("id", "")


async def review(walk: Walk) -> None:
    """An agent's words about itself wait, and the person accepts them."""
    with Vault.open(walk.root, origin="agent") as vault:
        waits = vault.remember(walk.text(), [walk.subject], ask=True)
    with walk.person() as vault:
        assert vault.status().for_review == 1
        vault.review(accept=[waits.id])
        assert vault.status().for_review == 0
        lines = vault.list_observations(walk.subject).results
        accepted = [line.id for line in lines if f"Firing {walk.number} " in line.title]
    walk.texts[accepted[0]] = f"Firing {walk.number} "


async def end_session(walk: Walk) -> None:
    text = walk.text()
    memories = [{"content": text, "kind": "fact", "subjects": [walk.subject]}]
    left = f"Shelf {walk.number} is half fired; the rest comes next."
    told = await call(walk.agent, "end_session", memories=memories, useful=[walk.live[0]], left_to_do=left)
    written = [item for item in told["items"] if item["place"].startswith("memories")]
    walk.texts[written[0]["id"]] = text


async def capture(walk: Walk) -> None:
    """On, off, and on: nothing of it changes what is known."""
    with walk.person() as vault:
        for mode in ("point", "off", "point"):
            told = vault.capture(mode=mode, folders=[str(walk.root)] if mode != "off" else ())
            assert told.mode == mode == vault.capture().mode


Step = Callable[[Walk], Awaitable[None]]

VERBS: Sequence[Step] = (
    remember, correct, understand, link, forget, undo, take, answer, none, review, end_session, capture,
)  # fmt: skip
BESIDE = (remember, correct, forget, take, answer, review, end_session)
"""The verbs that walk beside an owner, where each person's word is one of another process."""


def pairs(verbs: Sequence[Step]) -> list[Step]:
    """A walk in which each verb comes once after each, itself too."""
    walk = [
        step for at, verb in enumerate(verbs) for step in (verb, *(both for later in verbs[at + 1 :] for both in (verb, later)))
    ]
    return [*walk, verbs[0]]


def test_a_walk_has_each_pair_once() -> None:
    steps = pairs(VERBS)
    assert len({*pairwise(steps)}) == len(VERBS) ** 2 == len(steps) - 1


async def told(walk: Walk) -> list[str]:
    """What is wrong with what the doors tell after a step."""
    wrong = []
    page = (await call(walk.agent, "recall"))["page"]
    with walk.person() as vault:
        vault.fresh()
        counts = {door: count(vault) for door, count in COUNTS.items()}
        if len({*counts.values()}) > 1:
            wrong.append(f"counts {counts}")
        waits = re.search(r"(\d+) packets? waits?", page)
        if (int(waits[1]) if waits else 0) != counts["due"][1]:
            wrong.append(f"page {waits and waits[0]}, due {counts['due']}")
        for identity in [*walk.live[:2], *walk.live[-3:], *[*walk.wrong][-2:]]:
            by_tool, by_library = (
                (await call(walk.agent, "get", id=identity)).get("status", "current"),
                vault.get(identity).status,
            )
            expected = {"overtaken"} if identity in walk.wrong else {"current"}
            if {by_tool, by_library} != expected:
                wrong.append(f"{walk.texts[identity]} is {by_tool} by the tool and {by_library} by the library")
        everything = [line.id for name in SUBJECTS for line in vault.list_observations(name, limit=500).results]
        listed = {identity for identity in walk.texts if any(line.startswith(identity) for line in everything)}
        for identity in walk.gone:
            if identity in listed or walk.texts[identity] in page:
                wrong.append(f"{walk.texts[identity]} was taken away and is told")
            try:
                vault.get(identity)
            except NotFound:
                continue
            wrong.append(f"{walk.texts[identity]} was taken away and is given")
        wrong += [
            f"{walk.texts[one]} is overtaken and on the page" for one in walk.wrong if f"- {one[:6]} {walk.texts[one]}" in page
        ]
        missing = [identity for identity in walk.live if identity not in listed]
        if missing:
            wrong.append(f"{[walk.texts[one] for one in missing]} are in no list")
    return wrong


def parts(verbs: Sequence[Step], count: int) -> list[list[Step]]:
    """The walk in parts of a vault each, which meet in one step."""
    steps = pairs(verbs)
    size = -(-len(steps) // count)
    return [steps[at : at + size + 1] for at in range(0, len(steps), size)]


async def walked(walk: Walk, steps: Sequence[Step]) -> None:
    for _ in range(9):
        await remember(walk)
    before = "the beginning"
    for verb in steps:
        while len(walk.live) < 4:
            await remember(walk)
        await verb(walk)
        assert await told(walk) == [], f"{verb.__name__} after {before}"
        before = verb.__name__
    with walk.person() as vault:
        expected = of_due(vault)
    for door, count in TYPED.items():
        with walk.person() as vault:
            assert (door, count(vault)) == (door, expected)


@pytest.mark.parametrize("steps", parts(VERBS, 6))
def test_each_verb_after_each_other(root: Path, steps: list[Step]) -> None:
    async def walking() -> None:
        async with client_of(root, "auto", preset="lean", caller=Caller(session="s1")) as agent:
            await walked(Walk(root, agent), steps)

    anyio.run(walking)


@asynccontextmanager
async def beside_an_owner(root: Path) -> AsyncIterator[Client]:
    """A client of `vt mcp` that an owner serves, which leaves once the client did."""
    env: dict[str, Any] = {"VAULT_OWNER": "on"}
    try:
        async with client_of_process("--vault", str(root), "--session", "s1", era="auto", cwd=root.parent, env=env) as agent:
            yield agent
    finally:
        while make_way(root):
            pass


@pytest.mark.parametrize("steps", parts(BESIDE, 5))
def test_each_verb_after_each_other_beside_an_owner(root: Path, steps: list[Step]) -> None:
    async def walking() -> None:
        async with beside_an_owner(root) as agent:
            await remember(Walk(root, agent))
            with Vault.open(root) as vault:
                assert vault.status().owner.pid, "an owner serves"
            await walked(Walk(root, agent, number=1), steps)

    anyio.run(walking)
