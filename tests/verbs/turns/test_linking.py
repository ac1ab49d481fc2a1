from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.looking import head
from vault_tool import Vault
from vault_tool.features.turns.linking import link_beats
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git


class Life:
    """Beats written one after the other, and the links between them by the first word of each text."""

    def __init__(self, vault: Vault, clock: FixedClock) -> None:
        self.vault = vault
        self.clock = clock

    def beat(self, content: str, session: str = "s1", turn: str = "", user: str = "u1", **more: Any) -> None:
        """One beat of one turn; a second of the same turn comes at the same moment."""
        self.clock.advance(timedelta(minutes=1))
        self.vault.turn(
            session, user, "w", "x", turn=turn, extractMemory=True, write="later", candidates=[{"content": content, **more}]
        )
        self.vault.drain(link=False)

    def links(self) -> Counter[tuple[str, str, str]]:
        """The type and the ends of every link."""
        edges = self.vault.index.catalog.of_class(RecordClass.EDGE)
        return Counter((edge.type, edge.text("from_title").split()[0], edge.text("to_title").split()[0]) for edge in edges)


@pytest.fixture
def life(vault: Vault, clock: FixedClock) -> Life:
    return Life(vault, clock)


def test_what_followed_what_is_kept_by_user_through_sessions(life: Life) -> None:
    life.beat("One.")
    life.beat("Two.")
    life.beat("Stranger.", session="t1", user="u2")
    life.beat("Three.", session="s2")
    link_beats(life.vault)
    assert life.links() == Counter([("TEMPORAL_FOLLOWS", "Two", "One"), ("TEMPORAL_FOLLOWS", "Three", "Two")])


def test_beats_of_one_turn_share_a_scene_and_follow_the_same(life: Life) -> None:
    life.beat("One.", turn="1")
    life.beat("Two.", turn="2")
    life.beat("Twin.", turn="2")
    link_beats(life.vault)
    assert life.links() == Counter(
        [("TEMPORAL_FOLLOWS", "Two", "One"), ("TEMPORAL_FOLLOWS", "Twin", "One"), ("SHARED_SCENE_WITH", "Twin", "Two")]
    )


def test_places_finders_and_threads(life: Life) -> None:
    player = {"name": "Ada", "role": "player"}
    life.beat("Arrived.", location="Pier", anchors=[player])
    life.beat("Found.", location="Pier", anchors=[player], kind="world_discovery", thread="The bell")
    life.beat("Elsewhere.", anchors=[player])
    life.beat("Rang.", anchors=[player], thread="the-bell", session="s2")
    link_beats(life.vault)
    found = life.links()
    assert found[("AT_LOCATION", "Arrived", "Pier")] == found[("AT_LOCATION", "Found", "Pier")] == 1
    assert found[("SHARED_SCENE_WITH", "Found", "Arrived")] == 1
    assert found[("DISCOVERED", "Ada", "Found")] == 1
    assert found[("CONTINUES_THREAD", "Rang", "Found")] == 1
    assert sum(found.values()) == 5 + 3, "and what followed what"


@pytest.mark.in_git
def test_a_second_pass_writes_nothing_and_a_later_one_only_what_is_new(life: Life, root: Path) -> None:
    life.beat("One.")
    life.beat("Two.")
    assert link_beats(life.vault).linked == 1
    tip = head(root)
    again = link_beats(life.vault)
    assert (again.linked, again.beats) == (0, 2) and head(root) == tip
    life.beat("Three.")
    assert link_beats(life.vault).linked == 1
    assert life.vault.doctor().problems == ()


def test_two_machines_make_the_same_links(life: Life, root: Path) -> None:
    life.beat("One.")
    life.beat("Two.")
    link_beats(life.vault)
    first = {edge.id: edge.path for edge in life.vault.index.catalog.of_class(RecordClass.EDGE)}
    for path in first.values():
        (root / path).unlink()
    link_beats(life.vault)
    assert {edge.id: edge.path for edge in life.vault.index.catalog.of_class(RecordClass.EDGE)} == first


def test_a_link_says_from_what_it_was_read_and_how_surely(life: Life) -> None:
    life.beat("One.", turn="t1", confidence=0.9)
    life.beat("Two.", turn="t2", confidence=0.6)
    link_beats(life.vault)
    (edge,) = life.vault.index.catalog.of_class(RecordClass.EDGE)
    two, one = edge.text("from_id"), edge.text("to_id")
    assert edge.texts("evidence") == ("session:t2", f"memory:{two}", f"memory:{one}")
    assert (edge.number("confidence"), edge.text("turn"), edge.text("user")) == (0.6, "t2", "u1")
    assert edge.preview == "“Two” came after “One”, in the same session."
