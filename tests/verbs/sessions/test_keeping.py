"""The end of a session in one call: each thing is told of by itself, and where the work was left stands on the next page."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.mcp.served import client_of
from tests.mcp.test_lean import call
from tests.verbs.looking import whole
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.sessions.ending import SessionEnd
from vault_tool.hooks.answers import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

GOOD = {"content": "Deploys go out on Tuesdays, since the team is small.", "kind": "decision", "subjects": ["Deploys"]}
LEFT = "The pool is in; the workers still need its settings."


@pytest.fixture
def agent(vault: Vault, clock: FixedClock) -> Vault:
    clock.advance(timedelta(minutes=1))
    return vault.as_(origin="agent", session="s1", project="plum")


def outcomes(found: SessionEnd) -> list[tuple[str, str]]:
    return [(one.place, one.outcome) for one in found.items]


def test_each_is_told_of_by_itself_and_a_bad_one_keeps_back_nothing(agent: Vault) -> None:
    kept = agent.as_(session="s0").remember("The pool is capped at 50.", ["Redis"], kind="fact").id
    stale = agent.as_(session="s0").remember("The pool has no cap.", ["Redis"], kind="insight").id
    found = agent.end_session(
        memories=[
            GOOD,
            {"content": "x", "kind": "solution", "problem": "nothing of the kind"},
            {"content": "The key is AKIAIOSFODNN7EXAMPLF and stays.", "kind": "fact", "subjects": ["Keys"]},
            {"kind": "fact"},
            {"content": "Pool drops end with checks.", "kind": "fact", "subject_names": "Redis", "colour": "red"},
            "only a text",  # type: ignore[list-item]
            {**GOOD, "content": "A seventh."},
        ],
        useful=[kept, "nosuch"], wrong=[stale], left_to_do=LEFT,
    )  # fmt: skip
    refused = [f"memories[{number}]" for number in (1, 2, 3, 4, 5, 6)]
    assert outcomes(found) == [
        ("memories[0]", "written"), *((place, "refused") for place in refused),
        ("useful[0]", "written"), ("useful[1]", "refused"), ("wrong[0]", "written"), ("left_to_do", "written"),
    ]  # fmt: skip
    assert all(one.why for one in found.items if one.outcome == "refused")
    assert "EXAMPLF" not in json.dumps([one.why for one in found.items])
    assert not found.surfaced and not found.attempts
    assert agent.show(found.items[0].id).head["type"] == "decision"
    assert {one.mark for one in agent.get_session_context().judged} == {"useful", "questionable"}


def test_a_solution_may_be_for_a_problem_of_the_same_call(agent: Vault) -> None:
    problem: dict[str, Any] = {"content": "Redis drops idle connections.", "kind": "problem", "subjects": ["Redis"]}
    solution = {
        "content": "A pool ended it.",
        "kind": "solution",
        "subjects": ["Redis"],
        "problem": "Redis drops idle connections",
    }
    made = agent.end_session(memories=[problem, solution]).items
    assert [one.outcome for one in made] == ["written", "written"]
    assert agent.show(made[1].id).head["problem"] == made[0].id


def test_sent_twice_it_is_once(agent: Vault, root: Path) -> None:
    said: dict[str, Any] = {"memories": [GOOD], "left_to_do": LEFT}
    agent.end_session(**said)
    before = whole(root)
    assert outcomes(agent.end_session(**said)) == [("memories[0]", "known"), ("left_to_do", "known")]
    assert whole(root) == before


def test_what_waits_for_a_person_says_so(agent: Vault, root: Path) -> None:
    settings = root / "vault.toml"
    settings.write_text(f'write_policy = "review"\n{settings.read_text()}')
    with Vault.open(root, origin="agent", session="s1") as vault:
        assert outcomes(vault.end_session(memories=[GOOD])) == [("memories[0]", "waits")]


def test_what_is_no_list_is_refused_before_anything_is_written(agent: Vault, root: Path) -> None:
    before = whole(root)
    bad: tuple[dict[str, Any], ...] = ({"memories": {"content": "x"}}, {"useful": 7})
    for wrong in bad:
        with pytest.raises(UsageError):
            agent.end_session(**wrong, left_to_do=LEFT)
    assert whole(root) == before


def test_what_is_left_takes_the_place_of_what_this_session_knew(agent: Vault, clock: FixedClock) -> None:
    def left(vault: Vault, text: str) -> str:
        clock.advance(timedelta(minutes=1))
        (item,) = vault.end_session(left_to_do=text).items
        assert item.outcome == "written"
        return str(item.id)

    others = left(agent.as_(session="s0", project="apple"), "Apples wait for the press.")
    unseen = left(agent.as_(session="s9"), "The index is half built.")
    shown = left(agent.as_(session="s8"), "The pool is half in.")
    agent.bring_to_mind("the pool is half in")
    own = left(agent, "The pool is nearly in.")
    last = left(agent, LEFT)
    standing = {one: agent.get(one).status for one in (others, unseen, shown, own, last)}
    assert standing == {others: "current", unseen: "current", shown: "overtaken", own: "overtaken", last: "current"}
    assert agent.show(last).head["project"] == "plum"


def test_a_page_shows_what_was_left_to_the_next_session_which_takes_its_place(agent: Vault, clock: FixedClock) -> None:
    agent.remember("Plum is the shop.", ["plum"], kind="fact")
    for number in range(5):
        clock.advance(timedelta(minutes=1))
        agent.as_(session=f"s{number}").end_session(left_to_do=f"Part {number} of the shop is half done.")
    clock.advance(timedelta(days=1))
    after = agent.as_(session="next", project="")
    page = answer(after, "session-start", "", "startup")
    shown = [number for number in range(5) if f"Part {number} of the shop" in page]
    assert shown == [2, 3, 4]
    (item,) = after.as_(project="plum").end_session(left_to_do="All parts are done; the sign is left.").items
    standing = [agent.get(f"Part {number} of the shop is half done").status for number in range(5)]
    assert standing == ["current", "current", "overtaken", "overtaken", "overtaken"]
    # What merely stood on the page is nobody's to vote on.
    assert after.end_session().surfaced == ()
    assert item.id


def test_an_agents_client_ends_a_session_in_one_call(root: Path) -> None:
    async def talk() -> None:
        async with client_of(root, "auto", preset="lean", caller=Caller(session="s1", project="plum")) as client:
            found = await call(client, "end_session", memories=[GOOD], left_to_do=LEFT)
            assert [(one["place"], one["outcome"]) for one in found["items"]] == [
                ("memories[0]", "written"),
                ("left_to_do", "written"),
            ]
            assert len(json.dumps(found)) < 600
            page = (await call(client, "recall", session="s2"))["page"]
            assert "## Where It Was Left" in page and LEFT in page

    anyio.run(talk)
