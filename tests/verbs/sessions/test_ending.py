"""The offer at the end of a conversation: what to vote on, what was tried, and what is done with both."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.looking import head, whole
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.sessions.session_attempts import Attempt
from vault_tool.util.clock import FixedClock
from vault_tool.vault.seen import note_seen

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


@pytest.fixture
def agent(vault: Vault, clock: FixedClock) -> Vault:
    """An agent whose session has begun, by a look around."""
    session = vault.as_(session="s1")
    session.orient()
    clock.advance(timedelta(minutes=1))
    return session


@pytest.fixture
def known(agent: Vault) -> str:
    """What another session wrote."""
    return agent.as_(session="s0").remember("The pool is capped at 50 connections.", ["Redis"], kind="fact").id


@pytest.fixture
def problem(agent: Vault, clock: FixedClock) -> str:
    made = agent.remember("Redis drops idle connections after 300 s.", ["Redis"], kind="problem").id
    clock.advance(timedelta(minutes=1))
    return made


def offered(agent: Vault) -> list[Attempt]:
    return list(agent.end_session().attempts)


def test_what_was_shown_is_offered_until_it_is_voted_on(agent: Vault, known: str) -> None:
    agent.bring_to_mind("pool connections")
    (one,) = agent.end_session().surfaced
    assert (one.id, one.how, one.title) == (known, ("bring_to_mind",), agent.show(known).title)
    done = agent.end_session(votes=[{"id": known[:8], "value": "useful", "reason": "It named the cap."}])
    assert [(v.id, v.value, v.reason, v.already) for v in done.votes] == [(known, "useful", "It named the cap.", False)]
    assert done.votes[0].utility and done.votes[0].utility > 0.5
    assert done.surfaced == ()
    assert agent.show(known).utility == pytest.approx(done.votes[0].utility)
    signal = agent.index.catalog.signals(known)[-1]
    assert (signal.session, signal.rationale) == ("s1", "It named the cap.")


def test_each_of_several_is_offered_once(agent: Vault) -> None:
    ids = [agent.as_(session="s0").remember(f"Valve {letter} is shut at night.").id for letter in "ABC"]
    note_seen(agent, ids, "recall")
    assert sorted(one.id for one in agent.end_session().surfaced) == sorted(ids)
    assert [one.id in ids for one in agent.end_session(limit=2).surfaced] == [True, True]


def test_what_the_log_tells_of_a_problem_is_an_attempt_at_it(agent: Vault, problem: str) -> None:
    agent.remember("Something else drops the connections.", ["Net"], kind="problem")
    agent.episode("Tried raising the pool size", "It did not help.", memory=problem)
    agent.pin(problem)
    (one,) = offered(agent)
    assert (one.text, one.outcome) == ("Tried raising the pool size. It did not help.", "failed")
    assert (one.problem_id, one.tied_by, one.memory_id) == (problem, "said", None)
    done = agent.end_session(attempts=[{"key": one.key}])
    assert done.attempts == ()
    (kept,) = done.recorded
    assert agent.show(kept.id).head["problem"] == problem


def test_the_same_vote_sent_again_is_one_vote(agent: Vault, known: str, root: Path) -> None:
    vote = {"id": known, "value": "questionable", "reason": "It is 80 now."}
    agent.end_session(votes=[vote])
    before = whole(root)
    (again,) = agent.end_session(votes=[vote]).votes
    assert again.already
    assert whole(root) == before


def test_what_the_global_vault_showed_is_judged_there(root: Path, tmp_path: Path, clock: FixedClock) -> None:
    shared = tmp_path / "shared"
    Vault.init(shared, clock=clock)
    with Vault.open(shared, clock=clock) as vault:
        one = vault.remember("The owner prefers short answers.", kind="preference").id
    environ = {"VAULT_GLOBAL": str(shared)}
    with Vault.open(root, session="s1", clock=clock, environ=environ) as agent:
        note_seen(agent, [one], "recall")
        (offer,) = agent.end_session().surfaced
        assert (offer.id, offer.scope, offer.title) == (one, "global", "The owner prefers short answers")
        done = agent.end_session(votes=[{"id": one, "value": "useful", "reason": "It was so."}])
        assert (done.votes[0].id, done.surfaced) == (one, ())
        assert [mark.id for mark in agent.get_session_context().judged] == [one]
        assert agent.index.catalog.signals(one) == []
    with Vault.open(shared, clock=clock) as vault:
        vault.fresh()
        assert [(signal.session, signal.rationale) for signal in vault.index.catalog.signals(one)] == [("s1", "It was so.")]


def test_pages_own_writings_and_what_is_gone_are_not_voted_on(agent: Vault) -> None:
    own = agent.remember("Redis is on port 6379.", ["Redis"]).id
    note_seen(agent, [own, "00000000-0000-4000-8000-000000000000"], "recall")
    found = agent.end_session()
    assert found.surfaced == ()
    assert found.warnings == ()


def test_attempts_are_found_in_the_log_and_tied_to_their_problem(agent: Vault, problem: str, clock: FixedClock) -> None:
    agent.episode("Larger pool", "Tried 50 connections in the pool; it did not help.", tags=["redis"])
    clock.advance(timedelta(minutes=1))
    agent.episode("Lunch")
    other = agent.remember("Pinned the driver, which fixed nothing; dead end.", ["Driver"])
    clock.advance(timedelta(minutes=1))
    agent.episode("Keepalive", "Switched socket_keepalive on and the idle connections stay: solved.")
    tried = offered(agent)
    assert [(one.outcome, one.problem_id, one.tied_by) for one in tried] == [
        ("failed", problem, "subjects"),
        ("unclear", problem, "order"),
        ("worked", problem, "words"),
    ]
    assert tried[0].text == "Larger pool. Tried 50 connections in the pool; it did not help."
    assert tried[0].evidence == ("episode:2026-11-20#2",)
    assert (tried[1].memory_id, tried[1].certain, tried[0].certain) == (other.id, True, True)
    assert tried[1].evidence == ("episode:2026-11-20#4", f"memory:{other.id}")
    assert tried[0].problem_title == "Redis drops idle connections after 300 s"


@pytest.mark.in_git
def test_an_attempt_becomes_a_memory_tied_to_its_problem(agent: Vault, problem: str, clock: FixedClock) -> None:
    agent.episode("Larger pool", "Tried 50 connections; it did not help.")
    agent.episode("Keepalive", "Tried socket_keepalive=True; the drops are gone.")
    first, second = offered(agent)
    attempts: list[dict[str, Any]] = [
        {"key": first.key, "outcome": "failed", "failure_mode": "the server closes them, not the pool"},
        {"key": second.key, "content": "socket_keepalive=True keeps connections open.", "subject_names": ["Redis", "Pool"]},
    ]
    done = agent.end_session(attempts=attempts)
    assert [(one.key, one.type, one.problem_id) for one in done.recorded] == [
        (first.key, "failed_tactic", problem),
        (second.key, "solution", problem),
    ]
    assert done.attempts == ()
    tactic, solution = (agent.show(one.id) for one in done.recorded)
    assert tactic.content == "Larger pool. Tried 50 connections; it did not help."
    assert tactic.head["failure_mode"] == "the server closes them, not the pool"
    assert tactic.head["evidence"] == ["episode:2026-11-20#2"]
    assert (tactic.subjects, solution.subjects) == (("Redis",), ("Redis", "Pool"))
    assert solution.content == "socket_keepalive=True keeps connections open."
    assert {one.id for one in agent.related(problem).results} == {tactic.id, solution.id}
    commit = head(agent.root)
    again = agent.end_session(attempts=attempts)
    assert [(one.id, one.already) for one in again.recorded] == [(tactic.id, True), (solution.id, True)]
    assert head(agent.root) == commit
    clock.advance(timedelta(days=1))
    assert offered(agent) == []


def test_an_attempt_that_was_recorded_by_hand_is_not_offered(agent: Vault, problem: str, clock: FixedClock) -> None:
    agent.episode("Larger pool", "Tried 50 connections; it did not help.")
    clock.advance(timedelta(minutes=5))
    agent.remember(
        "A larger pool changes nothing.", ["Redis"], kind="failed_tactic", problem=problem, evidence=["episode:2026-11-20#10:02"]
    )
    assert offered(agent) == []


def test_a_solution_without_its_problem_is_offered_and_only_tied(agent: Vault, problem: str) -> None:
    loose = agent.remember("Keepalive keeps connections open.", ["Redis"], kind="solution")
    (one,) = offered(agent)
    assert (one.memory_id, one.memory_type, one.outcome) == (loose.id, "solution", "worked")
    (done,) = agent.end_session(attempts=[{"key": one.key}]).recorded
    assert (done.id, done.linked, done.problem_id) == (loose.id, True, problem)
    assert [(r.relation, r.id) for r in agent.related(loose.id).results] == [("SOLVES", problem)]
    assert offered(agent) == []
    (again,) = agent.end_session(attempts=[{"key": one.key}]).recorded
    assert (again.id, again.already, again.problem_id) == (loose.id, True, problem)


def test_an_attempt_that_the_log_does_not_know_is_recorded_by_its_text(agent: Vault, problem: str) -> None:
    done = agent.end_session(attempts=[{"content": "Restarting helps for an hour.", "outcome": "failed", "problem": problem[:8]}])
    (one,) = done.recorded
    assert (one.key, one.type, one.duplicate_of) == (None, "failed_tactic", None)
    again = agent.end_session(attempts=[{"content": "Restarting helps for an hour.", "outcome": "failed", "problem": problem}])
    assert again.recorded[0].duplicate_of == one.id


def test_a_problem_that_was_shown_is_on_the_table_too(agent: Vault) -> None:
    other = agent.as_(session="s0").remember("The backup disk fills up.", ["Backup"], kind="problem").id
    note_seen(agent, [other], "recall")
    agent.episode("Pruning", "Tried to prune old archives: the disk has room again, solved.")
    (one,) = offered(agent)
    assert one.problem_id == other


def test_sessions_do_not_take_each_others_attempts(agent: Vault, problem: str, clock: FixedClock) -> None:
    agent.remember("Tried a larger pool; no luck.", ["Redis"])
    clock.advance(timedelta(minutes=1))
    late = agent.as_(session="s2")
    late.orient()
    late.remember("Tried another disk; no luck.", ["Backup"])
    late.episode("Tried the other tape", "It did not help.")
    agent.episode("Tried a longer timeout", "It did not help.")
    assert [one.text for one in offered(agent)] == [
        "Tried a larger pool; no luck.",
        "Tried a longer timeout. It did not help.",
    ]
    assert [(one.text, one.problem_id) for one in offered(late)] == [
        ("Tried another disk; no luck.", None),
        ("Tried the other tape. It did not help.", None),
    ]


def test_what_a_session_says_of_anothers_memory_is_an_attempt_of_its_own(agent: Vault, known: str, problem: str) -> None:
    agent.episode("Tried 100 connections", "It did not help.", memory=known)
    assert [(one.text, one.problem_id, one.certain) for one in offered(agent)] == [
        ("Tried 100 connections. It did not help.", problem, True)
    ]


def test_a_log_that_names_no_session_is_this_ones_where_this_machine_wrote_it_meanwhile(agent: Vault, problem: str) -> None:
    log = agent.root / "vault/episodes/2026-11-20.another1.md"
    log.write_text("# 2026-11-20\n\n## 10:02 - Tried the other cable\n- **Summary:** It did not help.\n")
    agent.as_(session="").episode("Tried to wait", "It did not help.")
    assert [(one.text, one.certain) for one in offered(agent)] == [("Tried to wait. It did not help.", False)]


@pytest.mark.in_git
def test_all_faults_are_named_and_nothing_is_written(agent: Vault, known: str, problem: str, root: Path) -> None:
    before, commit = whole(root), head(root)
    with pytest.raises(UsageError) as fault:
        agent.end_session(
            votes=[
                {"id": known, "value": "useful", "reason": "fine"},
                {"id": known, "value": "good"},
                {"id": "ffffffff", "value": "useful"},
                {"id": known, "value": "useful", "because": "?"},
                {"id": 7, "value": "useful"},
            ],
            attempts=[
                {"key": "nope", "outcome": "failed"},
                {"content": "x", "outcome": "perhaps", "problem": problem},
                {"content": " ", "outcome": "failed", "problem": problem},
                {"content": "x", "outcome": "failed"},
                {"content": "x", "outcome": "failed", "problem": known},
            ],
        )
    said = fault.value.message
    assert [f"votes[{number}]" in said for number in range(5)] == [False, True, True, True, True]
    assert all(f"attempts[{number}]" in said for number in range(5))
    assert "not a problem" in said and "useful nor questionable" in said
    assert (whole(root), head(root)) == (before, commit)


def test_it_closes_nothing(agent: Vault, known: str) -> None:
    first = agent.bring_to_mind("pool connections")
    agent.end_session()
    second = agent.bring_to_mind("pool connections", first.heartbeat_token)
    assert not second.compaction_detected
    assert known not in {one.id for one in second.results}


def test_a_session_of_which_nothing_is_known_has_nothing_to_offer(vault: Vault) -> None:
    found = vault.as_(session="never").end_session()
    assert (found.surfaced, found.attempts) == ((), ())
    assert "keeps no state" in found.warnings[0]
    with pytest.raises(UsageError, match="no session"):
        vault.end_session()


def test_a_session_that_only_wrote_is_known(vault: Vault) -> None:
    agent = vault.as_(session="writes")
    agent.remember("The pool is checked before use.", ["Redis"])
    assert agent.end_session(left_to_do="The pool's size is open.").warnings == ()


def test_a_vote_says_for_which_problem_and_on_what_it_rests(agent: Vault, known: str, problem: str) -> None:
    vote = {"id": known, "value": "useful", "reason": "Yes.", "problem": problem[:8], "evidence": ["test:test_pool"]}
    agent.end_session(votes=[vote])
    signal = agent.index.catalog.signals(known)[-1]
    assert (signal.problem, signal.evidence) == (problem, ("test:test_pool",))
    (other,) = agent.end_session(votes=[{**vote, "problem": ""}]).votes
    assert not other.already
    with pytest.raises(UsageError, match="no evidence reference"):
        agent.end_session(votes=[{**vote, "evidence": ["hearsay"]}])


def test_a_global_memory_is_judged_for_a_problem_of_this_vault(root: Path, tmp_path: Path, clock: FixedClock) -> None:
    shared = tmp_path / "shared"
    Vault.init(shared, clock=clock)
    with Vault.open(shared, clock=clock) as vault:
        one = vault.remember("The owner prefers short answers.", kind="preference").id
    with Vault.open(root, session="s1", clock=clock, environ={"VAULT_GLOBAL": str(shared)}) as agent:
        problem = agent.remember("Answers are too long.", kind="problem").id
        agent.end_session(votes=[{"id": one, "value": "useful", "reason": "It was so.", "problem": problem[:8]}])
        assert agent.index.catalog.signals(one) == []
    with Vault.open(shared, clock=clock) as vault:
        vault.fresh()
        assert [signal.problem for signal in vault.index.catalog.signals(one)] == [problem]
