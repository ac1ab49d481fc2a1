"""A pass ends for whoever writes its understandings without naming it; the orientation comes last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.looking import START
from vault_tool import Vault
from vault_tool.index.relations import regions_of
from vault_tool.util.clock import FixedClock
from vault_tool.vault.open_pass import items_of, passes, settled_by, spoken_of

pytestmark = pytest.mark.without_git


def agent(root: Path, session: str = "s1") -> Vault:
    return Vault.open(root, origin="agent", clock=FixedClock(START), session=session)


def both_seen(root: Path) -> None:
    with agent(root) as vault:
        for number in range(3):
            for name in ("Quartz", "Homelab"):
                vault.remember(f"The {name} hummed on day {number}.", [name])


Write = Callable[[Vault, Any], object]


def plainly(vault: Vault, packet: Any) -> object:
    """As a program writes that knows no more than subjects and texts."""
    if not packet.subjects:
        return vault.create_understanding([], f"Here, after {packet.new_count}.", "Here", kind="orientation")
    return vault.create_understanding(packet.subjects, f"It is so, {packet.label}.", "So")


def with_sources(vault: Vault, packet: Any) -> object:
    if not packet.subjects:
        return plainly(vault, packet)
    ids = [one.id for one in packet.observations]
    return vault.create_understanding(packet.subjects, f"It is so, {packet.label}.", "So", source_observation_ids=ids)


def revising(vault: Vault, packet: Any) -> object:
    if packet.current is None:
        return with_sources(vault, packet)
    return vault.update_understanding(packet.current.id, f"It is so, {packet.label}.", "So")


@pytest.mark.parametrize("write", [plainly, with_sources, revising])
@pytest.mark.parametrize("sessions", [("s1",), ("s1", "s2", "")])
def test_each_packet_comes_once_and_the_orientation_last(root: Path, write: Write, sessions: tuple[str, ...]) -> None:
    both_seen(root)
    labels: list[str] = []
    passes = set()
    for number in range(10):
        # A client that lost its connection goes on in another session.
        with agent(root, sessions[number % len(sessions)]) as vault:
            step = vault.consolidate()
            passes.add(step.pass_id)
            if step.packet is None:
                break
            labels.append(step.packet.label)
            write(vault, step.packet)
    assert sorted(labels[:-1]) == ["Homelab", "Quartz"]
    assert labels[-1] == "orientation"
    assert len(passes) == 1
    with agent(root) as vault:
        ended = vault.end_consolidation(core=False)
        assert (len(ended.written), ended.left) == (3, ())
        assert vault.consolidate().pass_id is None, "what was written in it is new to no other pass"


def test_what_is_about_no_packet_belongs_to_no_pass(root: Path) -> None:
    both_seen(root)
    with agent(root) as vault:
        step = vault.consolidate()
        other = vault.create_understanding(["Elsewhere"], "Far off.", "Far")
        assert "pass" not in vault.show(other.id).head
        noted = vault.set_structural_understanding("Quartz", "A part of the lab.")
        assert vault.show(noted.understanding_id).head["pass"] == step.pass_id


def test_a_pass_is_looked_at_by_the_subjects_that_are_written_of(root: Path) -> None:
    """The same as reading all that was new to it, one by one."""
    with agent(root) as vault:
        vault.create_subjects([{"name": "Homelab", "aliases": ["the lab"]}])
        first = vault.create_understanding(["Quartz", "Redis"], "Both.", "Both.")
        vault.update_understanding(first.id, "Both, anew.", "Both.")
        vault.remember("Before it.", ["Garden"])
        vault.remember("Fast.", ["Host"], related_to=[first.id])
        vault.remember("In the lab.", ["the lab", "Quartz"])
        for name in ("Quartz", "Host", "Homelab", "Garden"):
            vault.add_observations([{"content": f"Of {name}, {number}.", "subject_names": [name]} for number in range(3)])
        vault.begin_consolidation()
        vault.remember("Too late.", ["Late", "Quartz"])
        catalog = vault.index.catalog
        regions, one = regions_of(catalog), passes(vault).open
        assert one is not None
        new = [
            {region.key for region in tagged}
            for entry in items_of(vault, one)
            for tagged in (regions.of(entry), *spoken_of(vault, entry, regions))
        ]
        names = ["Quartz", "Redis", "Homelab", "the lab", "Garden", "Host", "Late", "Nowhere"]
        asked = [*((name,) for name in names), *combinations(names, 2), *combinations(names, 3)]
        belonging = [some for some in asked if settled_by(vault, "relationship", some)]
        assert belonging == [some for some in asked if any({regions.called(name).key for name in some} <= keys for keys in new)]
        assert 8 < len(belonging) < len(asked) / 2


@pytest.mark.parametrize("named", [True, False])
def test_an_orientation_before_the_others_is_asked_for_again_at_the_end(root: Path, named: bool) -> None:
    clock = FixedClock(START)
    both_seen(root)
    with Vault.open(root, origin="agent", clock=clock, session="s1") as vault:
        step = vault.consolidate()
        given = {"pass_id": step.pass_id or ""} if named else {}
        vault.create_understanding([], "Too early.", "Early", kind="orientation", **given)  # type: ignore[arg-type]
        labels = []
        for _ in range(6):
            clock.advance(timedelta(minutes=1))
            step = vault.consolidate()
            if step.packet is None:
                break
            labels.append(step.packet.label)
            plainly(vault, step.packet)
        assert labels[-1] == "orientation"
        assert len(labels) == 3


def test_after_it_ended_an_understanding_is_new_to_the_next(root: Path) -> None:
    both_seen(root)
    with agent(root) as vault:
        step = vault.consolidate()
        while step.packet is not None:
            plainly(vault, step.packet)
            step = vault.consolidate()
        vault.end_consolidation(core=False)
        made = vault.create_understanding(["Quartz"], "Otherwise.", "Otherwise")
        assert "pass" not in vault.show(made.id).head
