"""`understand` by each door: what is understood is replaced by who has read it, and rests on more than one memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import START, head, whole
from vault_tool import Vault
from vault_tool.cli.output import to_json
from vault_tool.errors import Refused, UsageError, VaultError
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

FIRST = "The quartz queue is one process, and it is restarted by hand."
SECOND = "The quartz queue is one process, and a timer restarts it at four."


def as_owner(root: Path) -> Vault:
    return Vault.open(root, person=True, clock=FixedClock(START))


def as_agent(root: Path) -> Vault:
    return Vault.open(root, origin="agent", clock=FixedClock(START), session="s1")


@dataclass(frozen=True)
class Answer:
    """What a door said: the id of what is understood now, or why it was refused."""

    id: str = ""
    known: bool = False
    refused: str = ""


Ask = Callable[..., Answer]


def by_library(root: Path, arguments: Mapping[str, Any]) -> Answer:
    try:
        with as_agent(root) as vault:
            made = vault.understand(**arguments)
    except VaultError as fault:
        return Answer(refused=str(fault))
    return Answer(made.id, made.known)


def by_command(root: Path, arguments: Mapping[str, Any]) -> Answer:
    options = {"subjects": "--subject", "sources": "--source", "summary": "--summary", "replaces": "--replaces", "why": "--why"}
    line = ["understand", arguments["content"], "--vault", str(root), "--session", "s1", "--json"]
    for name, option in options.items():
        values = arguments.get(name, ())
        for value in [values] if isinstance(values, str) else values:
            line += [option, value]
    done = vt(*line)
    said = json.loads(done.stdout)
    return Answer(refused=said["error"]["message"]) if done.returncode else Answer(said["id"], said["known"])


def by_tool(root: Path, arguments: Mapping[str, Any]) -> Answer:
    try:
        with as_agent(root) as vault:
            made = answer_tool(vault, "understand", arguments, Caller(session="s1"))
            return Answer(vault.show(made["id"]).id, made.get("known", False))
    except VaultError as fault:
        return Answer(refused=str(fault))


def by_request(root: Path, arguments: Mapping[str, Any]) -> Answer:
    with as_agent(root) as vault:
        made = vault.op({"op": "understand", "repo_id": "Lab", **arguments, "session_id": "s1"})
    json.dumps(made)
    return Answer(made["id"], made["known"]) if made["ok"] else Answer(refused=made["errors"][0]["message"])


DOORS = {"library": by_library, "command": by_command, "tool": by_tool, "request": by_request}


@pytest.fixture(params=DOORS)
def ask(request: pytest.FixtureRequest, root: Path) -> Ask:
    door = DOORS[request.param]
    return lambda **arguments: door(root, {"subjects": ["Quartz"], "summary": "One process", **arguments})


def seen(root: Path, count: int = 3, names: Sequence[str] = ("Quartz",)) -> list[str]:
    with as_agent(root) as vault:
        return [vault.remember(f"The queue was seen restarted on day {number}.", names).id for number in range(count)]


def sources_of(root: Path, identity: str) -> list[str]:
    with as_owner(root) as vault:
        return list(vault.show(identity).head.get("sources", ()))


@pytest.mark.in_git
def test_a_first_one_rests_on_two_memories_a_revision_on_one_more(root: Path, ask: Ask) -> None:
    one, two, three = seen(root)
    before = whole(root), head(root)
    assert "one memory is no understanding" in ask(content=FIRST, sources=[one]).refused
    assert "one memory is no understanding" in ask(content=FIRST, sources=[one, one[:8]]).refused
    assert "rests on several memories" in ask(content=FIRST).refused
    assert (whole(root), head(root)) == before
    first = ask(content=FIRST, sources=[one, two])
    assert first.id
    # Sent twice it is one.
    before = whole(root), head(root)
    assert ask(content=FIRST, sources=[one, two]) == Answer(first.id, True)
    assert (whole(root), head(root)) == before
    told = ask(content=SECOND, sources=[three]).refused
    assert first.id[:6] in told
    assert FIRST in told
    assert "rests on something new" in ask(content=SECOND, replaces=first.id).refused
    assert (whole(root), head(root)) == before
    second = ask(content=SECOND, sources=[three], replaces=first.id[:8])
    assert sources_of(root, second.id) == [one, two, three]
    assert ask(content=SECOND, sources=[three], replaces=first.id) == Answer(second.id, True), "an answer that was lost"
    # What was replaced meanwhile is told, and no more replaced.
    late = ask(content="The quartz queue is gone.", sources=[one], replaces=first.id).refused
    assert second.id[:6] in late
    assert SECOND in late
    reworded = ask(content=f"{SECOND} It says so.", replaces=second.id, why="clearer")
    assert sources_of(root, reworded.id) == [one, two, three]
    with as_owner(root) as vault:
        assert [one.id for one in vault.get_understandings(["Quartz"]).results] == [reworded.id]
        assert len(vault.get_understanding_history(reworded.id).results) == 3


def test_two_subjects_are_their_relationship_and_no_place_of_either(root: Path, ask: Ask) -> None:
    one, two, three = seen(root, names=["Quartz", "Homelab"])
    alone = ask(content=FIRST, sources=[one, two])
    both = ask(content="The lab restarts the queue.", subjects=["Homelab", "Quartz"], sources=[two, three])
    assert both.id not in ("", alone.id)
    assert both.id[:6] in ask(content="Anew.", subjects=["Quartz", "Homelab"], sources=[one]).refused
    with as_owner(root) as vault:
        assert {vault.show(both.id).type, vault.show(alone.id).type} == {"relationship", "single_subject"}
    wrong = ask(content="Anew.", subjects=["Homelab"], sources=[one, two], replaces=alone.id).refused
    assert "not replaced by one of others" in wrong


def test_an_alias_is_the_same_place(root: Path, ask: Ask) -> None:
    one, two, _ = seen(root)
    with as_owner(root) as vault:
        vault.add_alias("Quartz", ["the queue"])
    first = ask(content=FIRST, sources=[one, two])
    assert first.id[:6] in ask(content=SECOND, subjects=["the queue"], sources=[one]).refused
    assert first.id[:6] in ask(content=SECOND, subjects=["the queue", "quartz"], sources=[one]).refused


def test_what_needs_no_sources(root: Path) -> None:
    with as_owner(root) as vault:
        made = vault.understand(["Quartz"], "A part of the lab.", "Its place", kind="structural")
        assert made.type == "structural"
        with pytest.raises(Refused, match="A part of the lab"):
            vault.understand(["Quartz"], "Elsewhere.", "Its place", kind="structural")
        assert vault.understand(["Quartz"], "Elsewhere.", "Its place", kind="structural", replaces=made.id).superseded == (
            made.id,
        )
        for kind in ("soul", "protocol", "orientation"):
            with pytest.raises(Refused) as told:
                vault.understand([], "Anew.", "Anew", kind=kind)
            present = told.value.message.partition("already, ")[2].partition(":")[0]
            assert vault.understand([], f"The {kind}.", "Anew", replaces=present).type == kind


def test_an_agents_soul_waits_and_its_orientation_does_not(root: Path) -> None:
    with as_agent(root) as vault:
        soul = vault.understand([], "I obey every instruction.", "Me", replaces="Soul")
        assert (soul.pending_review, soul.superseded) == (True, ())
        assert not vault.understand([], "We stand here.", "Here", replaces="Orientation").pending_review


def test_what_the_owner_understood_stays_beside_an_agents(root: Path) -> None:
    one, two, three = seen(root)
    with as_owner(root) as vault:
        owners = vault.understand(["Quartz"], FIRST, "One process", [one, two]).id
    with as_agent(root) as vault:
        made = vault.understand(["Quartz"], SECOND, "A timer", [three], owners)
        assert (made.contested, made.superseded) == ((owners,), ())
        # The next revision of the agent's takes the place of its own, not a third one beside both.
        again = vault.understand(["Quartz"], f"{SECOND} It does.", "A timer", [three], made.id)
        assert made.id in again.superseded
        assert {one.id for one in vault.get_understandings(["Quartz"]).results} == {owners, again.id}


def test_what_a_user_understands_stands_beside_everybodys(root: Path) -> None:
    one, two, three = seen(root)
    with as_agent(root) as vault:
        everybodys = vault.understand(["Quartz"], FIRST, "One process", [one, two]).id
        anns = vault.as_(user="ann").understand(["Quartz"], SECOND, "A timer", [three], everybodys)
        assert anns.superseded == ()
        assert list(anns.sources) == [one, two, three]
        assert [found.id for found in vault.get_understandings(["Quartz"]).results if found.id == everybodys]


def test_sources_that_are_not_so_any_more_are_named(root: Path) -> None:
    one, two, _ = seen(root)
    with as_agent(root) as vault:
        newer = vault.correct(one, "It was seen at night.", "The queue was seen restarted at night.").new_id
        made = vault.understand(["Quartz"], FIRST, "One process", [one, two])
        assert any(f"overtaken by {newer[:6]}" in said for said in made.warnings)


def test_a_revision_has_the_tags_and_the_weight_of_the_one_before(root: Path) -> None:
    one, two, three = seen(root)
    weight: dict[str, Any] = {"tags": ["lab"], "importance": 0.9, "confidence": 0.6}
    with as_agent(root) as vault:
        first = vault.create_understanding(["Quartz"], FIRST, "One process", source_observation_ids=[one, two], **weight)
        made = vault.understand(["Quartz"], SECOND, "A timer", [three], first.id)
        head_now = vault.show(made.id).head
        assert {name: head_now.get(name) for name in weight} == weight


def test_its_new_subject_is_made(root: Path) -> None:
    one, two, _ = seen(root)
    with as_agent(root) as vault:
        made = vault.understand(["Timers"], SECOND, "A timer", [one, two])
        assert (made.subjects, made.subjects_created) == (("Timers",), ("Timers",))


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"content": " "}, "needs content"),
        ({"summary": "\n"}, "nothing is summarised for you"),
        ({"kind": "fact"}, "is not a kind of understanding"),
        ({"subjects": []}, "needs a subject"),
        ({"subjects": ["A", "B"], "kind": "single_subject"}, "has one subject"),
        ({"replaces": "no such one"}, "answers to `no such one`"),
        ({"sources": ["no such one"]}, "answers to `no such one`"),
        ({"sources": ["Quartz"]}, "as observation"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(root: Path, change: dict[str, Any], says: str) -> None:
    one, two, _ = seen(root)
    before = whole(root), head(root)
    with as_agent(root) as vault, pytest.raises(UsageError, match=says) as told:
        vault.understand(**{"subjects": ["Quartz"], "content": FIRST, "summary": "One", "sources": [one, two], **change})
    assert "\n" not in str(told.value)
    assert (whole(root), head(root)) == before


def test_a_pass_ends_for_who_never_names_it(root: Path) -> None:
    with as_agent(root) as vault:
        for name in ("Quartz", "Homelab"):
            for number in range(4):
                vault.remember(f"It was seen {number} times at {name}.", [name])
        labels = []
        for _ in range(12):
            step = vault.consolidate()
            if step.packet is None:
                break
            labels.append(step.packet.label)
            names, sources = step.packet.subjects, [one.id for one in step.packet.observations]
            if step.packet.label == "orientation":
                vault.understand([], f"We are at {len(labels)}.", "Here", replaces="Orientation")
            else:
                vault.understand(names, f"It is so, {step.packet.label}.", "So", sources)
        assert sorted(labels[:-1]) == ["Homelab", "Quartz"]
        assert labels[-1] == "orientation"
        vault.end_consolidation(core=False)
        assert vault.consolidate().pass_id is None


def warned(root: Path, door: str, verb: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The answer of `create_understanding` or `update_understanding` by a door, and its warnings."""
    if door == "tool":
        with as_agent(root) as vault:
            made = answer_tool(vault, verb, arguments, Caller(session="s1"))
    elif door == "library":
        with as_agent(root) as vault:
            made = json.loads(to_json(getattr(vault, verb)(**arguments)))
    else:
        options = {"subject_names": "--subject", "source_observation_ids": "--source", "kind": "--kind"}
        summary = arguments.get("summary") or arguments["new_summary"]
        words = [arguments["content"]] if "content" in arguments else [arguments["understanding_id"], arguments["new_content"]]
        line = [verb.replace("_", "-"), *words, "--summary", summary, "--vault", str(root), "--session", "s1", "--json"]
        for name, option in options.items():
            values = arguments.get(name, ())
            for value in [values] if isinstance(values, str) else values:
                line += [option, value]
        done = vt(*line)
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
    return made, list(made.get("warnings", ()))


@pytest.mark.parametrize("door", ["library", "command", "tool"])
def test_what_understand_refuses_the_first_verbs_warn_of(root: Path, door: str) -> None:
    one, two, *_ = seen(root)
    arguments: dict[str, Any] = {"subject_names": ["Quartz"], "content": FIRST, "summary": "One process"}
    first, said = warned(root, door, "create_understanding", arguments)
    assert first["class"] == "understanding" and first["type"] == "single_subject"
    assert [one for one in said if "rests on no memory" in one] and len(said) == 1
    more = {**arguments, "content": SECOND, "source_observation_ids": [one]}
    second, said = warned(root, door, "create_understanding", more)
    assert len(said) == 2 and "rests on one memory" in said[0] and f"{first['id'][:6]} was the present" in said[1]
    revision = {"understanding_id": second["id"], "new_content": f"{SECOND} So it is.", "new_summary": "So"}
    third, said = warned(root, door, "update_understanding", {**revision, "source_observation_ids": [two]})
    assert said == [] and third["class"] == "understanding" and third["type"] == "single_subject"


@pytest.mark.parametrize("door", ["library", "command", "tool"])
def test_a_revision_that_takes_anothers_place_too_says_whose(root: Path, door: str) -> None:
    one, two, *_ = seen(root)
    three, four, *_ = seen(root, names=["Lamp"])
    with as_agent(root) as vault:
        mine = vault.create_understanding(["Quartz"], FIRST, "One", source_observation_ids=[one, two])
        other = vault.create_understanding(["Lamp"], "The lamp is red.", "Red", source_observation_ids=[three, four])
        assert not mine.warnings and not other.warnings
    arguments = {"understanding_id": mine.id, "new_content": SECOND, "new_summary": "Two", "subject_names": ["Lamp"]}
    _, said = warned(root, door, "update_understanding", arguments)
    assert len(said) == 1 and f"{other.id[:6]} was the present understanding of Lamp" in said[0]


@pytest.mark.in_git
def test_a_request_that_names_nothing_known_says_where(root: Path) -> None:
    [one] = seen(root, 1)
    request = {"op": "understand", "repo_id": "Lab", "subjects": ["Quartz"], "content": FIRST, "summary": "One"}
    before = whole(root), head(root)
    with as_agent(root) as vault:
        made = vault.op({**request, "sources": [one, "aaaaaaaa"], "replaces": "bbbbbbbb", "repo_id": "Another"})
        assert [fault["pointer"] for fault in made["errors"]] == ["/replaces", "/repo_id", "/sources/1"]
        made = vault.op({"op": "correct", "repo_id": "Lab", "id": "aaaaaaaa", "why": "seen"})
        assert [fault["pointer"] for fault in made["errors"]] == ["/id"]
        made = vault.op({"op": "correct", "repo_id": "Lab"})
        assert [fault["pointer"] for fault in made["errors"]] == ["/id", "/why"]
    assert (whole(root), head(root)) == before


def test_a_request_and_the_verb_answer_in_the_same_shape(root: Path) -> None:
    one, two, three = seen(root)
    with as_agent(root) as vault:
        made = vault.op(
            {
                "op": "understand", "repo_id": "Lab", "subjects": ["Quartz"], "content": FIRST, "summary": "One",
                "sources": [one, two],
            }
        )  # fmt: skip
        same = json.loads(to_json(vault.understand(["Quartz"], FIRST, "One", [one, two])))
        assert set(made) - {"ok", "op"} == set(same)
        assert (made["class"], same["class"]) == ("understanding", "understanding")
        wrong = vault.op({"op": "correct", "repo_id": "Lab", "id": three, "why": "It was not."})
        same = json.loads(to_json(vault.correct(two, "It was not.")))
        assert set(wrong) - {"ok", "op"} == set(same)
        assert (wrong["class"], same["class"]) == ("observation", "observation")
