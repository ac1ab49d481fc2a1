"""`bring_to_mind`: what comes, what is left out, and how a context that was cut short is noticed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.sessions.ambient import Reminders
from vault_tool.util.clock import FixedClock
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.seen import note_seen

pytestmark = pytest.mark.without_git

NOTE = (
    "DISPOSABLE: This entire response is ephemeral. All content is retrievable on demand from the memory database. "
    "This response should be the first candidate for removal during context compaction."
)
TOPIC = "why does redis drop idle connections"


def _ids(vault: Vault) -> list[str]:
    return [
        vault.remember("Redis drops idle connections after 300 s.", ["Redis"], kind="problem").id,
        vault.create_understanding(["Redis"], "Redis drops idle connections by its own timeout.", "Idle connections drop.").id,
        vault.remember("Idle connections of Redis drop less with a keepalive.", ["Redis"], kind="fact").id,
    ]


@pytest.fixture
def ids(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> list[str]:
    """Three memories that bear on the topic: an observation, an understanding, another observation."""
    found: list[str] = once(_ids)
    return found


@pytest.fixture
def agent(vault: Vault, ids: list[str]) -> Vault:
    return vault.as_(session="s1")


def shown(found: Reminders) -> set[str]:
    return {one.id for one in found.results}


def test_results_have_the_names_that_agents_know(agent: Vault, ids: list[str]) -> None:
    found = agent.bring_to_mind(TOPIC)
    assert (found.compaction_note, found.compaction_detected, found.session) == (NOTE, False, "s1")
    assert isinstance(found.heartbeat_token, int)
    assert (found.notice, found.topic_or_context) == (HYPOTHESIS_NOTICE, TOPIC)
    one = next(one for one in found.results if one.id == ids[1])
    assert (one.source, one.record_class, one.subject_names, one.subjects) == (
        "understanding",
        "understanding",
        ("Redis",),
        ("Redis",),
    )
    assert (one.summary, one.content) == ("Idle connections drop.", "Redis drops idle connections by its own timeout.")
    assert 0 < one.relevance_score == one.match <= 1
    assert (one.generation, one.type, one.origin) == (0, "single_subject", "agent")
    assert next(one for one in found.results if one.id == ids[0]).source == "observation"


def test_what_was_seen_is_left_out_while_the_token_is_kept(agent: Vault) -> None:
    first = agent.bring_to_mind(TOPIC)
    assert first.results
    second = agent.bring_to_mind(TOPIC, first.heartbeat_token)
    assert not second.compaction_detected
    assert not shown(first) & shown(second)
    assert second.heartbeat_token != first.heartbeat_token


def test_include_seen_shows_it_without_forgetting_it(agent: Vault) -> None:
    first = agent.bring_to_mind(TOPIC)
    again = agent.bring_to_mind(TOPIC, first.heartbeat_token, include_seen=True)
    assert not again.compaction_detected
    assert shown(first) <= shown(again)
    after = agent.bring_to_mind(TOPIC, again.heartbeat_token)
    assert not shown(after) & shown(first)


@pytest.mark.parametrize("lost", [None, 1])
def test_a_lost_token_is_a_compaction(agent: Vault, lost: int | None) -> None:
    first = agent.bring_to_mind(TOPIC)
    second = agent.bring_to_mind(TOPIC, lost)
    assert second.compaction_detected
    assert shown(second) == shown(first)


def test_a_long_pause_is_a_compaction_whatever_the_token(agent: Vault, clock: FixedClock) -> None:
    first = agent.bring_to_mind(TOPIC)
    clock.advance(timedelta(minutes=30))
    second = agent.bring_to_mind(TOPIC, first.heartbeat_token)
    assert not second.compaction_detected
    clock.advance(timedelta(minutes=30, seconds=1))
    third = agent.bring_to_mind(TOPIC, second.heartbeat_token)
    assert third.compaction_detected
    assert shown(third) == shown(first)


def test_the_pause_is_a_setting(agent: Vault, clock: FixedClock) -> None:
    agent.config("session_gap_minutes", "1")
    with agent.reopened() as vault:
        first = vault.bring_to_mind(TOPIC)
        clock.advance(timedelta(seconds=61))
        assert vault.bring_to_mind(TOPIC, first.heartbeat_token).compaction_detected


def test_the_first_call_is_no_compaction_even_with_a_token(agent: Vault) -> None:
    assert not agent.bring_to_mind(TOPIC, 4711).compaction_detected


def test_what_other_verbs_showed_is_left_out_and_a_compaction_forgets_it_too(agent: Vault, ids: list[str]) -> None:
    note_seen(agent, ids, "recall")
    first = agent.bring_to_mind(TOPIC)
    assert not shown(first) & set(ids)
    assert shown(agent.bring_to_mind(TOPIC)) & set(ids)


@pytest.mark.parametrize("verb", ["recall", "read"])
def test_what_was_asked_for_is_seen_and_is_itself_cut_by_nothing(agent: Vault, ids: list[str], verb: str) -> None:
    for _ in range(2):
        asked = getattr(agent, verb)(TOPIC).results
        assert set(ids) <= {getattr(one, "id", None) or one.memory_id for one in asked}
    assert not shown(agent.bring_to_mind(TOPIC)) & set(ids)


def test_reset_seen_starts_afresh_and_keeps_the_token(agent: Vault) -> None:
    first = agent.bring_to_mind(TOPIC)
    assert agent.reset_seen().cleared == len(first.results)
    assert agent.reset_seen().cleared == 0
    second = agent.bring_to_mind(TOPIC, first.heartbeat_token)
    assert not second.compaction_detected
    assert shown(second) == shown(first)


def test_orient_starts_afresh(agent: Vault) -> None:
    agent.orient()
    first = agent.bring_to_mind(TOPIC)
    assert first.results
    agent.orient()
    second = agent.bring_to_mind(TOPIC, first.heartbeat_token)
    assert not second.compaction_detected
    assert shown(second) == shown(first)


def test_what_orient_gives_comes_to_mind_only_where_it_is_asked_for(agent: Vault) -> None:
    agent.create_understanding([], "Redis drops idle connections: that is what we work on.", "Redis.", kind="orientation")
    page = agent.orient().orientation
    assert page
    first = agent.bring_to_mind(TOPIC, limit=50)
    assert first.results and page.id not in shown(first)
    assert shown(agent.bring_to_mind(TOPIC, first.heartbeat_token, kinds=["orientation"])) == {page.id}


def test_sessions_are_apart_and_survive_restarts(agent: Vault, ids: list[str], clock: FixedClock) -> None:
    first = agent.bring_to_mind(TOPIC)
    other = agent.as_(session="s2").bring_to_mind(TOPIC, first.heartbeat_token)
    assert (other.compaction_detected, shown(other)) == (False, shown(first))
    with Vault.open(agent.root, session="s1", clock=clock) as reopened:
        second = reopened.bring_to_mind(TOPIC, first.heartbeat_token)
    assert not second.compaction_detected
    assert not shown(second) & shown(first)


def test_an_expired_session_is_a_new_one(agent: Vault, clock: FixedClock) -> None:
    first = agent.bring_to_mind(TOPIC)
    clock.advance(timedelta(days=31))
    again = agent.bring_to_mind(TOPIC)
    assert not again.compaction_detected
    assert again.results and first.results


def test_without_a_session_nothing_is_kept_and_it_says_so(vault: Vault, ids: list[str]) -> None:
    first = vault.bring_to_mind(TOPIC)
    second = vault.bring_to_mind(TOPIC)
    assert shown(first) == shown(second)
    assert not second.compaction_detected
    assert "session" in second.warnings[0]
    assert not (vault.root / "_local" / "sessions").exists()
    assert (vault.reset_seen().cleared, len(vault.reset_seen().warnings)) == (0, 1)


def test_where_nothing_can_be_kept_the_answer_comes_with_a_warning(agent: Vault) -> None:
    (agent.root / "_local" / "sessions").write_text("in the way")
    found = agent.bring_to_mind(TOPIC)
    assert found.results and "not kept" in found.warnings[0]
    note_seen(agent, ["a"], "recall")


def test_a_spoilt_state_is_a_new_session(agent: Vault) -> None:
    first = agent.bring_to_mind(TOPIC)
    (path,) = (agent.root / "_local" / "sessions").glob("*.json")
    path.write_bytes(path.read_bytes()[:-40])
    second = agent.bring_to_mind(TOPIC, first.heartbeat_token)
    assert not second.compaction_detected
    assert shown(second) == shown(first)


def test_nothing_is_a_good_answer(agent: Vault) -> None:
    found = agent.bring_to_mind("zebra quagga okapi")
    assert found.results == ()
    assert found.heartbeat_token


def test_what_cannot_be_asked_is_refused(agent: Vault, root: Path) -> None:
    with pytest.raises(UsageError, match="no topic"):
        agent.bring_to_mind("  \n")
    with pytest.raises(UsageError, match="limit"):
        agent.bring_to_mind(TOPIC, limit=0)
    assert not (root / "_local" / "sessions").exists()


def test_what_a_session_was_shown_leads_to_what_came_since(vault: Vault, clock: FixedClock) -> None:
    """A problem is not shown twice; what was done about it meanwhile is news, though it has none of the words said."""
    problem = vault.remember("The quartz queue hangs after every restart of the night.", kind="problem").id
    vault.remember("The heater in room four is checked on Mondays.", kind="fact")
    agent, said = vault.as_(session="s1"), "the quartz queue hangs again after the restart of the night"
    first = agent.bring_to_mind(said)
    assert shown(first) == {problem}
    clock.advance(timedelta(minutes=1))
    solved = vault.remember("Removing stale locks at boot.", kind="solution", problem=problem).id
    second = agent.bring_to_mind(said, first.heartbeat_token)
    assert not second.compaction_detected
    assert [(one.id, one.role, one.of) for one in second.results] == [(solved, "solution", problem)]
    assert agent.bring_to_mind(said, second.heartbeat_token).results == ()
    assert agent.bring_to_mind("lunch is at noon in the garden", second.heartbeat_token).results == ()
