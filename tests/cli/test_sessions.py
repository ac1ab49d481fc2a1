"""A conversation on the command line: each answer as a person and as a program gets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import Person
from tests.founding import found_at
from vault_tool.errors import Exit
from vault_tool.features.consolidation.consolidating import RecentActivity
from vault_tool.features.sessions.ambient import Reminder, Reminders
from vault_tool.features.sessions.ending import SessionEnd
from vault_tool.features.sessions.orient import CoreUnderstanding, GuardedPage, Orientation
from vault_tool.features.sessions.session_context import SessionContext
from vault_tool.util.json_text import json_name, seldom_told
from vault_tool.util.structs import Struct
from vault_tool.vault.seen import Cleared

TOPIC = "redis idle connections"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    """Somebody in a session, in a vault with one memory of another."""
    root = found_at(tmp_path / "notes", git=True)
    person = Person(root, capsys)
    monkeypatch.chdir(root)
    person.types("remember", "Redis drops idle connections after 300 s.", "-s", "Redis", "-k", "problem", "--session", "s0")
    monkeypatch.setenv("VAULT_SESSION", "s1")
    return person


def names(kind: type[Struct]) -> set[str]:
    """The names of a result's fields where nothing is said that is seldom said."""
    return set(map(json_name, kind.__struct_fields__)) - {*seldom_told(kind)}


def test_orient_is_readable_and_whole(agent: Person) -> None:
    # A subject is due from three memories on.
    for text in ("Redis runs on port 6379.", "Redis keeps its snapshots on the second disk."):
        agent.types("remember", text, "-s", "Redis", "-k", "fact")
    said = agent.types("orient")
    assert [line for line in said.split("\n") if line in ("Soul", "Protocol", "Orientation")] == [
        "Soul",
        "Protocol",
        "Orientation",
    ]
    assert "to consolidate:    3 observations in 1 packet" in said and "templates/content-policy.md" in said
    assert "never secrets" in said and said.count("nobody has rewritten it yet") == 4
    found = agent.gets("orient")
    assert found.keys() == names(Orientation)
    assert found["soul"].keys() == found["protocol"].keys() == names(GuardedPage)
    assert found["orientation"].keys() == names(CoreUnderstanding)
    assert found["pending_consolidation_count"] == 3
    assert found["recent_activity"].keys() == names(RecentActivity)


def test_bring_to_mind_carries_its_token_from_call_to_call(agent: Person) -> None:
    first = agent.gets("bring-to-mind", TOPIC)
    assert first.keys() == names(Reminders)
    assert first["results"][0].keys() == names(Reminder)
    assert first["results"][0]["source"] == "observation"
    said = agent.types("bring-to-mind", TOPIC, "--last-token", str(first["heartbeat_token"]))
    assert said.startswith("nothing comes to mind\n") and "heartbeat token: " in said
    lost = agent.types("bring-to-mind", TOPIC)
    assert lost.startswith("the context was cut short") and "Redis drops idle connections" in lost
    assert agent.types("reset-seen") == "1 memory may be shown again\n"
    assert agent.gets("reset-seen") == {"cleared": 0, "session": "s1", "warnings": []}
    assert agent.gets("reset-seen").keys() == names(Cleared)


def test_without_a_session_it_answers_and_warns(agent: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAULT_SESSION")
    assert "no session is named" in agent.warned("bring-to-mind", TOPIC, code=Exit.DONE)
    assert "no session is named" in agent.warned("reset-seen", code=Exit.DONE)
    for command in ("get-session-context", "end-session"):
        assert "pass `--session ID`" in agent.fails(command, code=Exit.USAGE)


def test_the_end_takes_votes_and_attempts_by_option_and_as_json(agent: Person) -> None:
    shown = agent.gets("bring-to-mind", TOPIC)["results"][0]["id"]
    agent.types("episode", "Keepalive", "Tried socket_keepalive=True for the idle connections; they stay open, solved.")
    agent.types("episode", "Larger pool", "Tried 50 connections; no effect.")
    found = agent.gets("end-session")
    assert found.keys() == names(SessionEnd)
    assert [one["id"] for one in found["surfaced"]] == [shown]
    worked, failed = (one["key"] for one in found["attempts"])
    said = agent.types("end-session", "--useful", shown, "--reason", "it is the one", "--worked", worked)
    assert "Redis drops idle connections after 300 s: useful" in said
    assert f": solution for {shown[:6]}" in said
    assert failed in said and worked not in said
    done = agent.gets(
        "end-session",
        "--attempts", f'[{{"key": "{failed}", "outcome": "failed", "failure_mode": "not the pool"}}]',
        "--votes", f'[{{"id": "{shown}", "value": "useful", "reason": "it is the one"}}]',
    )  # fmt: skip
    assert ([one["type"] for one in done["recorded"]], done["votes"][0]["already"]) == (["failed_tactic"], True)
    assert (done["attempts"], done["surfaced"]) == ([], [])
    context = agent.gets("get-session-context")
    assert context.keys() == names(SessionContext)
    assert [one["type"] for one in context["written"]] == ["failed_tactic", "solution"]
    told = agent.types("get-session-context")
    assert "was shown" in told and "it is the one" in told


def test_votes_say_for_which_problem_they_are_through_every_door(agent: Person) -> None:
    agent.gets("orient")
    problem = agent.gets("remember", "The pump stops.", "--kind", "problem")["id"]
    doors: dict[str, list[str]] = {
        "mark-useful": ["mark-useful", "{}", "So.", "--problem", problem],
        "mark-questionable": ["mark-questionable", "{}", "So.", "--problem", problem],
        "an option": ["end-session", "--useful", "{}", "--reason", "So.", "--problem", problem],
        "JSON": ["end-session", "--votes", f'[{{{{"id": "{{}}", "value": "useful", "reason": "So.", "problem": "{problem}"}}}}]'],
        "update": ["update", "{}", "--utility", "0.9", "--confidence", "1", "--why", "So.", "--problem", problem],
    }
    for door, typed in doors.items():
        one = agent.gets("remember", f"Thing {door} was done.")["id"]
        agent.gets(*(part.format(one) for part in typed))
        belief = agent.gets("show", one, "--belief")["belief"]
        assert list(belief["by_problem"]) == [problem], door


def test_json_that_is_none_is_refused(agent: Person) -> None:
    assert "not JSON" in agent.fails("end-session", "--votes", "{", code=Exit.USAGE)
    assert "not a list" in agent.fails("end-session", "--attempts", '"x"', code=Exit.USAGE)
    assert "neither useful nor questionable" in agent.fails("end-session", "--votes", '[{"id": "x"}]', code=Exit.USAGE)
