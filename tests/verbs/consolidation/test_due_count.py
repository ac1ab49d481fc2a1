"""One count of what waits for consolidation, told alike by every door in every state of a pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.typed import vt
from tests.git_repos import write
from tests.mcp.served import ERAS, client_of
from tests.verbs.looking import identity, note
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.features.consolidation.passes import due, pending

pytestmark = pytest.mark.without_git

NOTHING = (0, 0)


def nothing(vault: Vault) -> None:
    """A new vault."""


def about_nothing(vault: Vault) -> None:
    """Memories that are tagged with nothing are in no packet."""
    for number in range(3):
        vault.remember(f"Seen, part {number}.")


def new(vault: Vault) -> None:
    """Four about one subject, three about another, two about a third, one about nothing."""
    for number in range(4):
        vault.remember(f"Redis, part {number}.", ["Redis"])
    for number in range(3):
        vault.remember(f"The lab, part {number}.", ["Homelab"])
    for number in range(2):
        vault.remember(f"The shed, part {number}.", ["Shed"])
    vault.remember("About nothing.")


def begun(vault: Vault) -> None:
    """A pass is open, and something came since, of its packets and of others."""
    new(vault)
    vault.begin_consolidation()
    for number in range(3):
        vault.remember(f"The garden, part {number}.", ["Garden"])
    vault.remember("The lab again.", ["Homelab"])


def one_written(vault: Vault) -> None:
    """One packet of the open pass is settled."""
    begun(vault)
    step = vault.consolidate(packet="Homelab")
    assert step.pass_id
    vault.create_understanding(["Homelab"], "At home.", "At home.", pass_id=step.pass_id)


def one_skipped(vault: Vault) -> None:
    """One packet of the open pass is passed over."""
    new(vault)
    vault.consolidate(skip=["Homelab"])


def all_skipped(vault: Vault) -> None:
    """All packets of the open pass are passed over."""
    new(vault)
    vault.consolidate(skip=["Redis", "Homelab"])


def ended(vault: Vault) -> None:
    """The pass in which all was passed over is ended."""
    all_skipped(vault)
    vault.end_consolidation()


def after(vault: Vault) -> None:
    """What came after a pass: of one subject enough, of another too little, of a third the one that makes it enough."""
    ended(vault)
    for number in range(2):
        vault.remember(f"Redis again, part {number}.", ["Redis"])
    vault.remember("The lab again.", ["Homelab"])
    vault.remember("The shed again.", ["Shed"])


def known(vault: Vault) -> None:
    """What an understanding rests on is not new in its packet, and one new one is too little."""
    seen = [vault.remember(f"Redis, part {number}.", ["Redis"]).id for number in range(3)]
    vault.create_understanding(["Redis"], "A cache.", "A cache.", source_observation_ids=seen)
    vault.remember("Redis and the garden.", ["Redis", "Garden"])


def against(vault: Vault) -> None:
    """One is enough that changes what an understanding rests on."""
    known(vault)
    source = vault.remember("Redis, part 0.", ["Redis"]).id
    vault.remember("Redis is otherwise now.", ["Redis"], kind="change", change_targets=[source])


def contradicting(vault: Vault) -> None:
    """Or that an edge says to contradict it."""
    known(vault)
    source = vault.remember("Redis, part 0.", ["Redis"]).id
    other = vault.remember("Redis was never so.", ["Redis"]).id
    vault.link(other, "CONTRADICTS", source)


def overtaken(vault: Vault) -> None:
    """What is overtaken is none of three that make a subject due."""
    old = vault.remember("Redis is here.", ["Redis"]).id
    vault.remember("Redis is there.", ["Redis"], kind="change", change_targets=[old])
    vault.remember("Redis hums.", ["Redis"])


def shared(vault: Vault) -> None:
    """Of two that show the same the smaller is left for the next pass, and no pair comes before both are understood."""
    for number in range(3):
        vault.remember(f"Redis at home, part {number}.", ["Redis", "Homelab"])
    vault.remember("Redis alone.", ["Redis"])


def understood(vault: Vault) -> list[str]:
    """Two subjects with all that is known of them understood, which share three of six each."""
    both = [vault.remember(f"Redis at home, part {number}.", ["Redis", "Homelab"]).id for number in range(3)]
    for name in ("Redis", "Homelab"):
        own = [vault.remember(f"{name} alone, part {number}.", [name]).id for number in range(3)]
        vault.create_understanding([name], f"{name} it is.", f"{name}.", source_observation_ids=[*both, *own])
    return both


def paired(vault: Vault) -> None:
    """A pair of which both sides are understood."""
    understood(vault)


def paired_and_known(vault: Vault) -> None:
    """A pair of which the relation is understood too."""
    both = understood(vault)
    vault.create_understanding(["Homelab", "Redis"], "At home.", "At home.", source_observation_ids=both)


def contained(vault: Vault) -> None:
    """A pair of which one side is a part of the other."""
    both = [vault.remember(f"Redis at home, part {number}.", ["Redis", "Homelab"]).id for number in range(4)]
    alone = vault.remember("The lab alone.", ["Homelab"]).id
    for name, ids in (("Redis", both), ("Homelab", [*both, alone])):
        vault.create_understanding([name], f"{name} it is.", f"{name}.", source_observation_ids=ids)


def related(vault: Vault) -> None:
    """What was related to an understanding is in its packet, whatever it is tagged with."""
    made = vault.create_understanding(["Redis"], "A cache.", "A cache.")
    vault.remember("It is fast.", related_to=[made.id])


def told_to_nobody(vault: Vault) -> None:
    """What consent was refused to is in no packet."""
    ann = vault.as_(user="ann")
    refused = [ann.remember(f"Ann alone, part {number}.", ["Ann"]).id for number in range(3)]
    for number in range(3):
        vault.remember(f"Redis alone, part {number}.", ["Redis"])
    with Vault.open(vault.root, person=True) as owners:
        for one in refused:
            owners.consent(one, "refused")


STATES: dict[Callable[[Vault], None], tuple[int, int]] = {
    nothing: NOTHING, about_nothing: NOTHING, new: (7, 2), begun: (8, 2), one_written: (4, 1), one_skipped: (4, 1),
    all_skipped: NOTHING, ended: NOTHING, after: (5, 2), known: NOTHING, against: (2, 1), contradicting: (2, 1),
    overtaken: NOTHING, shared: (4, 1), paired: (3, 1), paired_and_known: NOTHING, contained: NOTHING, related: (1, 1),
    told_to_nobody: (3, 1),
}  # fmt: skip


def of_plans(vault: Vault) -> tuple[int, int]:
    """What the packets themselves come to."""
    vault.fresh()
    plans = pending(vault).next
    catalog = vault.index.catalog
    new = {one for plan in plans for one in plan.due.new if catalog.get(one)[0].record_class.value == "observation"}
    return len(new), len(plans)


def of_due(vault: Vault) -> tuple[int, int]:
    vault.fresh()
    waits = due(vault)
    return waits.observations, waits.packets


def of_orient(vault: Vault) -> tuple[int, int]:
    found = vault.orient()
    return found.pending_consolidation_count, found.due_packets


def of_pending(vault: Vault) -> tuple[int, int]:
    found = vault.get_pending_consolidation(limit=1)
    listed = len(found.subjects) + len(found.intersections) + found.more
    assert listed == found.due_packets
    return found.pending_consolidation_count, found.due_packets


def of_report(vault: Vault) -> tuple[int, int]:
    found = vault.get_consolidation_report()
    return found.pending_consolidation_count, found.due_packets


def of_status(vault: Vault) -> tuple[int, int]:
    found = vault.status()
    return found.due_observations, found.due_packets


def typed(*command: str) -> Callable[[Vault], tuple[int, int]]:
    """What a command prints for people."""

    def of_words(vault: Vault) -> tuple[int, int]:
        vault.close()
        printed = vt(*command, "--vault", str(vault.root)).stdout
        found = re.search(r"([\d,]+) observations? in ([\d,]+) packets?", printed)
        if command[0] == "consolidate":
            assert ("no packets" in printed) is (found is None)
        if found is None:
            assert re.search(r"to consolidate: +nothing\n|nothing to consolidate", printed), printed
            return NOTHING
        return int(found[1].replace(",", "")), int(found[2].replace(",", ""))

    return of_words


def of_tools(vault: Vault) -> tuple[int, int]:
    """What an agent's client is told."""
    found: dict[str, Any] = {}

    vault.close()

    async def ask() -> None:
        async with client_of(vault.root, ERAS[-1]) as client:
            found.update((await client.call_tool("orient", {})).structured_content or {})

    anyio.run(ask)
    return found["pending_consolidation_count"], found["due_packets"]


def of_pages(vault: Vault) -> dict[str, tuple[int, int]]:
    """What the pages of a server say, by their paths."""
    vault.close()
    with serving_pages(vault.root) as served:
        texts = {path: unescape(served.get(path)) for path in PAGES}
    counts = {path: re.search(r"(\d+) observations? in (\d+) packets?", text) for path, text in texts.items()}
    return {path: (int(count[1]), int(count[2])) if count else NOTHING for path, count in counts.items()}


DOORS: dict[str, Callable[[Vault], tuple[int, int]]] = {
    "plans": of_plans, "due": of_due, "orient": of_orient, "pending": of_pending, "report": of_report, "status": of_status,
    "vt orient": typed("orient"), "vt consolidate --list": typed("consolidate", "--list"), "vt status": typed("status"),
    "vt get-consolidation-report": typed("get-consolidation-report"), "tools": of_tools,
}  # fmt: skip
PAGES = ("/", "/consolidate")


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_door_tells_one_count(vault: Vault, state: Callable[[Vault], None]) -> None:
    state(vault)
    told = {door: count(vault) for door, count in DOORS.items()} | of_pages(vault)
    assert told == dict.fromkeys((*DOORS, *PAGES), STATES[state])


def test_a_walk_tells_what_is_left(vault: Vault) -> None:
    new(vault)
    step = vault.consolidate()
    while step.packet is not None and step.packet.subjects:
        vault.fresh()
        assert step.remaining == due(vault).packets
        step = vault.consolidate(skip=[step.packet.label])
    assert of_due(vault) == NOTHING


def test_many_are_counted_as_few_are(vault: Vault, root: Path) -> None:
    """More than are read one by one; with what is about much, about an alias, about nothing, related and known."""
    vault.create_subjects([{"name": "Redis", "aliases": ["the cache"]}])
    for number in range(1100):
        names = [f"S{number % 7}", *(["the cache"] if number % 3 else ["Redis", "Bare"])] if number % 5 else []
        if number == 17:
            names = [f"Part {place}" for place in range(20, 0, -1)]
        subjects = f"[{', '.join(names)}]"
        text = note(number + 1, f"Part {number}.", subjects=subjects, created="2026-11-20T09:00:00+00:00")
        write(root, f"vault/observations/{number}.md", text)
    sources = [identity(number) for number in range(2, 40)]
    made = vault.create_understanding(["Redis"], "A cache.", "A cache.", source_observation_ids=sources)
    vault.create_understanding(["Redis", "S1"], "Both.", "Both.", source_observation_ids=sources)
    vault.remember("Fast.", related_to=[made.id])
    assert of_due(vault) == of_plans(vault)
    assert due(vault).observations > 800
