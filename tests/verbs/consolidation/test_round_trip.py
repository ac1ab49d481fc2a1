"""A pass in one round trip a packet: each answer gives the next packet, and what is refused spends nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import START, fails
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.features.consolidation.passes import IDLE, due
from vault_tool.features.consolidation.round_trip import BUDGET, PACKET, NextPacket
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import tokens
from vault_tool.vault.open_pass import passes

pytestmark = pytest.mark.without_git


@pytest.fixture
def agent(root: Path, clock: FixedClock) -> Iterator[Vault]:
    with Vault.open(root, origin="agent", clock=clock, session="s1") as vault:
        yield vault


def told(vault: Vault, name: str, count: int = 3, said: str = "part") -> list[str]:
    return [vault.remember(f"{name}, {said} {number}.", [name], kind="fact").id for number in range(count)]


def answer(vault: Vault, step: NextPacket, **more: Any) -> NextPacket:
    """Answer the packet at hand with a text of its subject."""
    assert step.packet is not None
    given = {"content": f"What {step.packet.subject} comes to.", "summary": f"{step.packet.subject} in short.", **more}
    return vault.consolidate_next(packet=step.packet.id, **given)


def to_the_end(vault: Vault, step: NextPacket) -> list[str]:
    subjects = []
    while step.packet is not None:
        subjects.append(step.packet.subject)
        step = answer(vault, step)
    return subjects


def texts(vault: Vault, step: NextPacket) -> Iterator[str]:
    while step.packet is not None:
        yield step.packet.text
        step = answer(vault, step)


def test_each_call_answers_one_packet_and_gives_the_next_until_the_pass_is_ended(agent: Vault) -> None:
    redis, lab = told(agent, "Redis", 4), told(agent, "Homelab")
    first = agent.consolidate_next()
    assert first.packet is not None and (first.packet.subject, first.left, first.budget) == ("Redis", 1, BUDGET)
    lines = first.packet.text.splitlines()
    assert lines[0] == "Redis: 4 new."
    assert sorted(lines[1:]) == sorted(f"{one[:6]} fact 2026-11-20 Redis, part {number}." for number, one in enumerate(redis))
    assert first.packet.tokens == tokens(first.packet.text) == first.spent
    second = answer(agent, first)
    assert second.written is not None and second.packet is not None and second.packet.subject == "Homelab"
    assert set(agent.show(second.written.id).head["sources"]) == set(redis)
    third = answer(agent, second, sources=lab[:2])
    assert third.written is not None and third.packet is not None and third.packet.subject == "orientation"
    assert agent.show(third.written.id).head["sources"] == lab[:2]
    assert "Redis in short." in third.packet.text
    last = answer(agent, third)
    assert (last.packet, last.left) == (None, 0) and last.written is not None
    assert last.spent == sum(step.packet.tokens for step in (first, second, third) if step.packet)
    assert passes(agent).open is None
    assert agent.consolidate_next().packet is None, "what was shown and not cited is settled too"


def test_only_what_is_new_comes_beside_what_is_understood(agent: Vault) -> None:
    told(agent, "Redis")
    to_the_end(agent, agent.consolidate_next())
    told(agent, "Redis", 1, "later")
    assert agent.consolidate_next().packet is None
    told(agent, "Redis", 2, "later still")
    packet = agent.consolidate_next().packet
    assert packet is not None
    assert packet.text.startswith("Redis: 3 new.\nSo far (") and "What Redis comes to." in packet.text
    assert ", part " not in packet.text


def test_what_is_overtaken_is_told_as_what_was_and_is_no_source(agent: Vault) -> None:
    old, *_ = told(agent, "Redis")
    new = agent.remember("Redis moved.", ["Redis"], kind="change", change_targets=[old]).id
    step = agent.consolidate_next()
    assert step.packet is not None
    assert f"{old[:6]} was: fact" in step.packet.text
    written = answer(agent, step).written
    assert written is not None
    sources = agent.show(written.id).head["sources"]
    assert new in sources and old not in sources


REFUSED: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "no summary": ({"summary": " "}, UsageError),
    "a foreign source": ({"sources": ["FOREIGN"]}, UsageError),
    "an unknown source": ({"sources": ["ffffffff"]}, NotFound),
    "a small budget": ({"budget": 20}, UsageError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_spends_nothing_and_the_same_packet_stays_at_hand(agent: Vault, case: str) -> None:
    told(agent, "Redis", 4)
    foreign = told(agent, "Garden", 1)[0]
    step = agent.consolidate_next()
    given, fault = REFUSED[case]
    given = {**given, **({"sources": [foreign]} if given.get("sources") == ["FOREIGN"] else {})}
    with pytest.raises(fault):
        answer(agent, step, **given)
    assert step.packet is not None
    with fails(NotFound, step.packet.id):
        agent.consolidate_next(packet="abcdef-9", content="A text.", summary="A line.")
    again = agent.consolidate_next()
    assert (again.packet, again.spent) == (step.packet, step.spent)
    assert to_the_end(agent, again) == ["Redis", "orientation"]


def test_without_a_packet_at_hand_an_answer_is_refused(agent: Vault) -> None:
    with fails(NotFound, "no packet is at hand"):
        agent.consolidate_next(packet="abcdef-1", content="A text.", summary="A line.")
    assert agent.consolidate_next().packet is None


def test_new_evidence_since_the_packet_was_given_brings_it_again(agent: Vault) -> None:
    told(agent, "Redis")
    step = agent.consolidate_next()
    told(agent, "Redis", 1, "meanwhile")
    again = answer(agent, step)
    assert again.written is None and again.packet is not None and "came meanwhile" in again.said
    assert again.packet.id != step.packet.id and "meanwhile 0" in again.packet.text  # type: ignore[union-attr]
    assert to_the_end(agent, again) == ["Redis", "orientation"]


def test_a_present_text_that_was_replaced_meanwhile_brings_the_packet_again(agent: Vault) -> None:
    told(agent, "Redis")
    view = agent.create_understanding(["Redis"], "It is so.", "So.").id
    told(agent, "Redis", 2, "later")
    step = agent.consolidate_next()
    with Vault.open(agent.root, origin="owner", clock=FixedClock(START)) as owner:
        owner.update_understanding(view, "It is otherwise.", "Otherwise.")
    after = answer(agent, step)
    assert after.written is None
    assert [one.summary for one in agent.get_understandings(["Redis"]).results] == ["Otherwise."]


def test_nothing_to_say_settles_a_packet_until_two_more_come_or_it_is_asked_again(agent: Vault) -> None:
    told(agent, "Redis")
    end = answer(agent, agent.consolidate_next(), content="None.", summary="")
    assert (end.packet, end.written) == (None, None)
    assert passes(agent).open is None and agent.consolidate_next().packet is None
    asked = agent.consolidate_next(again=True)
    assert asked.packet is not None and asked.packet.subject == "Redis"
    assert answer(agent, asked, content="none").packet is None
    told(agent, "Redis", 1, "later")
    assert agent.consolidate_next().packet is None
    told(agent, "Redis", 1, "later still")
    packet = agent.consolidate_next().packet
    assert packet is not None and packet.text.startswith("Redis: 2 new.")


def test_the_budget_bounds_all_packets_and_what_is_left_comes_in_the_next_pass(agent: Vault) -> None:
    for number in range(6):
        told(agent, f"Subject {number}", 4, "with words enough that each of its packets takes some tokens, " * 2)
    step = agent.consolidate_next(budget=700)
    done = to_the_end(agent, step)
    assert 1 < len(done) < 7
    vault_says = due(agent)
    assert vault_says.packets == 6 - len([one for one in done if one != "orientation"])
    rest = to_the_end(agent, agent.consolidate_next())
    assert sorted({*done, *rest} - {"orientation"}) == [f"Subject {number}" for number in range(6)]


def test_a_packet_takes_at_most_so_many_tokens_and_what_is_cut_stays_new(agent: Vault) -> None:
    ids = told(agent, "Redis", 30, "word " * 40)
    step = agent.consolidate_next()
    assert step.packet is not None and step.packet.tokens <= PACKET
    more = re.search(r"\((\d+) more did not fit", step.packet.text)
    assert more is not None
    seen: set[str] = set()
    for _ in range(9):
        for text in texts(agent, agent.consolidate_next()):
            seen |= set(re.findall(r"^([0-9a-f]{6}) fact", text, re.MULTILINE))
    assert len(ids) - len(seen) <= 1, "one that is left is too little for a packet"


def test_what_the_orientations_packet_has_no_room_for_is_understood_and_not_new(agent: Vault) -> None:
    for number in range(12):
        told(agent, f"Subject {number}")
    step = agent.consolidate_next(budget=20_000)
    while step.packet is not None and step.packet.subject != "orientation":
        step = answer(agent, step, summary=f"{step.packet.subject} is told at length. " + "It goes on and on. " * 12)
    assert step.packet is not None and step.packet.tokens <= PACKET
    assert step.packet.text.endswith("more of this pass are not shown.)") and "stay new" not in step.packet.text


def test_an_idle_pass_is_ended_by_the_next_call(agent: Vault, clock: FixedClock) -> None:
    told(agent, "Redis")
    told(agent, "Homelab", 4)
    first = agent.consolidate_next()
    one = passes(agent).open
    clock.advance(IDLE + timedelta(minutes=1))
    second = agent.consolidate_next()
    assert second.packet is not None and second.pass_id != first.pass_id and "idle" in second.said
    assert one is not None and "Ended " in agent.show(one.id).content
    assert second.packet.subject == "Homelab"


@pytest.mark.parametrize("answered", [0, 1, 2, 3])
def test_an_idle_pass_counts_as_ended_before_the_next_call_ends_it(agent: Vault, clock: FixedClock, answered: int) -> None:
    for number in range(24):
        agent.remember(f"Part {number} of it.", [f"Side {number % 5}", f"Part {number // 6}"], kind="fact")
    step = agent.consolidate_next()
    for number in range(answered):
        step = answer(agent, step) if number else answer(agent, step, content="none")
    clock.advance(IDLE + timedelta(minutes=1))
    waits, listed = due(agent), agent.get_pending_consolidation()
    assert (listed.pass_id, listed.due_packets) == (None, waits.packets)
    after = agent.consolidate_next()
    assert after.packet is not None and waits.packets == after.left + 1
    assert due(agent) == waits, "a pass that begins changes no count"


def test_a_pass_that_is_begun_by_name_ends_an_idle_one_too(agent: Vault, clock: FixedClock) -> None:
    told(agent, "Redis")
    first = agent.consolidate_next()
    assert agent.begin_consolidation().id == first.pass_id, "what is walked now is taken up"
    clock.advance(IDLE + timedelta(minutes=1))
    begun = agent.begin_consolidation()
    assert begun.began and begun.id != first.pass_id


def test_what_is_no_longer_so_is_not_counted_as_new(agent: Vault) -> None:
    old = told(agent, "Redis", 4)[0]
    agent.remember("Redis has another part now.", ["Redis"], kind="change", change_targets=[old])
    assert due(agent).observations == 4
    [head] = agent.get_pending_consolidation().subjects
    step = agent.consolidate_next()
    assert step.packet is not None and step.packet.text.startswith("Redis: 4 new.\n") and head.new_count == 4
    assert f"{old[:6]} was: fact" in step.packet.text


def test_another_session_goes_on_with_the_packet_at_hand(agent: Vault, root: Path) -> None:
    told(agent, "Redis")
    step = agent.consolidate_next()
    with Vault.open(root, origin="agent", clock=FixedClock(START), session="s2") as other:
        assert other.consolidate_next().packet == step.packet
        assert to_the_end(other, step) == ["Redis", "orientation"]


def test_what_was_kept_on_this_machine_may_be_lost(agent: Vault, root: Path) -> None:
    told(agent, "Redis")
    step = agent.consolidate_next()
    (root / "_local/packets.json").write_text('{"pass_id": 3')
    assert step.packet is not None
    with pytest.raises(NotFound):
        answer(agent, step)
    assert to_the_end(agent, agent.consolidate_next()) == ["Redis", "orientation"]


def test_the_command_walks_it_by_requests(agent: Vault, root: Path) -> None:
    told(agent, "Redis")
    agent.close()
    first = json.loads(vt("consolidate", "--next", "--budget", "900", "--json", "--vault", str(root)).stdout)
    assert (first["packet"]["subject"], first["budget"]) == ("Redis", 900)
    request = {"packet": first["packet"]["id"], "content": "It caches.", "summary": "A cache."}
    (root.parent / "answer.json").write_text(json.dumps(request))
    second = json.loads(vt("consolidate", "--next", str(root.parent / "answer.json"), "--json", "--vault", str(root)).stdout)
    assert second["written"]["id"] and second["packet"]["subject"] == "orientation"
    said = json.dumps({"packet": second["packet"]["id"], "content": "none"})
    last = vt("consolidate", "--next", "-", "--vault", str(root), input=said)
    assert "the pass is ended" in last.stdout, last.stderr
    bad = vt("consolidate", "--next", "-", "--vault", str(root), input='{"words": 1}')
    assert bad.returncode == 2 and "no part of an answer" in bad.stderr


@pytest.mark.parametrize("unfit", [{"sources": [1]}, {"sources": ["5f0c2d", None]}, {"content": 5}, {"budget": True}])
def test_a_part_of_an_answer_that_is_of_another_kind_is_named(agent: Vault, root: Path, unfit: dict[str, object]) -> None:
    told(agent, "Redis")
    packet = agent.consolidate_next().packet
    agent.close()
    assert packet is not None
    request = {"packet": packet.id, "content": "It caches.", "summary": "A cache.", **unfit}
    bad = vt("consolidate", "--next", "-", "--vault", str(root), input=json.dumps(request))
    assert bad.returncode == 2 and f"`{next(iter(unfit))}` must be a" in bad.stderr
