"""What a session wrote, judged and was shown."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.statuses import said
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.util.clock import FixedClock
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.seen import note_seen

pytestmark = pytest.mark.without_git


@pytest.fixture
def agent(vault: Vault) -> Vault:
    return vault.as_(session="s1")


def test_what_was_written_is_known_by_its_provenance(agent: Vault, clock: FixedClock) -> None:
    other = agent.as_(session="s10")
    first = agent.remember("Redis drops idle connections", ["Redis", "Homelab"])
    other.remember("Something else", ["Pump"])
    clock.advance(timedelta(minutes=1))
    second = agent.create_understanding(["Redis"], "Redis drops what is idle.", "It drops.")
    found = agent.get_session_context()
    assert [(one.id, one.record_class) for one in found.written] == [(second.id, "understanding"), (first.id, "observation")]
    assert (found.session, found.written_count, found.subjects) == ("s1", 2, ("Redis", "Homelab"))
    assert (found.shown, found.judged, found.notice) == ((), (), HYPOTHESIS_NOTICE)
    # Writing keeps no state: only what is shown does.
    assert (found.began, found.last_call, found.compactions) == (None, None, 0)


def test_what_was_shown_is_known_by_what_this_machine_keeps(agent: Vault, clock: FixedClock) -> None:
    one = agent.as_(session="s2").remember("Redis drops idle connections", ["Redis"])
    agent.bring_to_mind("redis idle connections")
    clock.advance(timedelta(minutes=1))
    note_seen(agent, [one.id], "recall")
    agent.bring_to_mind("redis idle connections")
    agent.mark_useful(one.id, "It named the cause.")
    found = agent.get_session_context()
    (shown,) = (item for item in found.shown if item.id == one.id)
    assert (shown.first_shown, shown.last_shown) == ("2026-11-20T10:00:00+00:00", "2026-11-20T10:01:00+00:00")
    assert (shown.how, shown.in_seen_log, shown.title, shown.scope) == (("bring_to_mind", "recall"), True, one.title, "repo")
    assert (found.began, found.last_call) == (shown.first_shown, shown.last_shown)
    assert found.compactions == 1
    assert [(mark.id, mark.mark, mark.reason) for mark in found.judged] == [(one.id, "useful", "It named the cause.")]
    assert agent.as_(session="s2").get_session_context().shown == ()


def test_it_shows_nothing_new_itself(agent: Vault) -> None:
    one = agent.as_(session="s2").remember("Redis drops idle connections", ["Redis"])
    agent.get_session_context()
    assert one.id in {result.id for result in agent.bring_to_mind("redis idle connections").results}


def test_the_newest_come_first_and_counts_are_of_all(agent: Vault, clock: FixedClock) -> None:
    made = []
    for number in range(5):
        clock.advance(timedelta(minutes=1))
        made.append(agent.remember(f"Thing {number} happened").id)
    note_seen(agent, made, "recall")
    found = agent.get_session_context(limit=2)
    assert [one.id for one in found.written] == made[:2:-1]
    assert [one.id for one in found.shown] == made[:2:-1]
    assert (found.written_count, found.shown_count) == (5, 5)


def test_what_is_gone_or_replaced_is_said(agent: Vault) -> None:
    old = agent.create_understanding(["Redis"], "Redis drops what is idle.", "It drops.")
    note_seen(agent, [old.id, "no such memory"], "recall")
    new = agent.update_understanding(old.id, "Redis drops what is idle for 300 s.", "It drops after 300 s.")
    found = agent.get_session_context()
    assert [(one.id, said(one, "superseded")) for one in found.shown] == [(old.id, (new.new_understanding_id,))]


def test_a_session_must_be_named(vault: Vault) -> None:
    with pytest.raises(UsageError, match="no session"):
        vault.get_session_context()


@pytest.mark.parametrize("session", ['s"1', "s\\1", "größe", "\U0001f600", "s'1", "%"])
def test_any_id_of_a_session_is_found(vault: Vault, session: str) -> None:
    agent = vault.as_(session=session)
    agent.remember("Something")
    assert agent.get_session_context().written_count == 1
    assert vault.as_(session="s").get_session_context().written_count == 0
