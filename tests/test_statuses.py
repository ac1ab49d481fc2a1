"""One vault for each status: every door that returns the memory tells the same of it, in the same words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import START
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.features.consolidation.packet_texts import Packet
from vault_tool.features.recall.recall import Bundle
from vault_tool.hooks.answers import answer
from vault_tool.hooks.clients import PROMPT
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

MINUTE = timedelta(minutes=1)
QUESTION = "which port does the quartz queue listen on?"
TEXT = "The quartz queue listens on port 6379."


@dataclass(frozen=True)
class Case:
    """A vault in which one memory has a status: its id, and the ids of what makes it so."""

    root: Path
    id: str
    status: str
    by: tuple[str, ...] = ()


Make = Callable[[Path, FixedClock], tuple[str, tuple[str, ...]]]


def _owner(root: Path, clock: FixedClock) -> Vault:
    return Vault.open(root, person=True, clock=clock)


def _agent(root: Path, clock: FixedClock) -> Vault:
    return Vault.open(root, origin="agent", session="writer", clock=clock)


def current(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        return vault.remember(TEXT, ["Quartz"], kind="fact").id, ()


def overtaken_by_a_field(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        fact = vault.remember(TEXT, ["Quartz"], kind="fact").id
        clock.advance(MINUTE)
        return fact, (vault.remember("It was moved to 6380 in May.", ["Quartz"], kind="change", change_targets=[fact]).id,)


def overtaken_by_an_edge(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        fact = vault.remember(TEXT, ["Quartz"], kind="fact").id
        clock.advance(MINUTE)
        new = vault.remember("Since May 6380 is what the quartz queue is bound to.", ["Quartz"], kind="fact").id
        vault.link(new, "CHANGES", fact, "It was moved.")
        return fact, (new,)


def overtaken_by_a_correction(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        rule = vault.remember(TEXT, ["Quartz"], kind="preference").id
        clock.advance(MINUTE)
        return rule, (vault.correct(rule, "It was moved.", "It was moved to 6380 in May.").new_id,)


def contested_by_a_correction(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    fact, _ = current(root, clock)
    clock.advance(MINUTE)
    with _agent(root, clock) as vault:
        return fact, (vault.correct(fact, "It was moved.", "It was moved to 6380 in May.").new_id,)


def questioned_by_a_correction(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    fact, _ = current(root, clock)
    with _agent(root, clock) as vault:
        vault.correct(fact, "The firewall says otherwise.")
    return fact, ()


def contested(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    fact, _ = current(root, clock)
    clock.advance(MINUTE)
    with _agent(root, clock) as vault:
        change = vault.remember("It was moved to 6380 in May.", ["Quartz"], kind="change", change_targets=[fact])
        return fact, (change.id,)


def questioned(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    fact, _ = current(root, clock)
    with _owner(root, clock) as vault:
        vault.mark_questionable(fact, "The firewall says otherwise.")
    return fact, ()


def doubtful(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        return vault.remember(TEXT, ["Quartz"], kind="fact", confidence=0.3).id, ()


def failed(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        problem = vault.remember("The quartz queue does not answer on its port.", ["Quartz"], kind="problem").id
        tried = vault.remember(
            "Restarting the quartz queue to free the port it listens on.", ["Quartz"], kind="failed_tactic", problem=problem,
            failure_mode="it came back the same",
        )  # fmt: skip
        return tried.id, (problem,)


def solved(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        problem = vault.remember("Nobody knows which port the quartz queue listens on.", ["Quartz"], kind="problem").id
        clock.advance(MINUTE)
        return problem, (vault.remember("It is in the unit's file.", ["Quartz"], kind="solution", problem=problem).id,)


def to_be_reviewed(root: Path, clock: FixedClock) -> tuple[str, tuple[str, ...]]:
    with _owner(root, clock) as vault:
        made = vault.remember(TEXT, ["Quartz"], kind="fact", review_by=START.date().isoformat()).id
    clock.advance(timedelta(days=1))
    return made, ()


MAKES: Mapping[str, tuple[str, Make]] = {
    make.__name__: (status, make)
    for status, make in (
        ("current", current), ("current", to_be_reviewed),
        ("overtaken", overtaken_by_a_field), ("overtaken", overtaken_by_an_edge), ("overtaken", overtaken_by_a_correction),
        ("contested", contested), ("contested", contested_by_a_correction),
        ("questioned", questioned), ("questioned", questioned_by_a_correction),
        ("doubtful", doubtful), ("failed", failed), ("solved", solved),
    )
}  # fmt: skip


@pytest.fixture(params=MAKES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    status, make = MAKES[request.param]
    root, clock = tmp_path / "v", FixedClock(START)
    Vault.init(root, name="lab", clock=clock)
    identity, by = make(root, clock)
    yield Case(root, identity, status, by)


def _told(one: Any) -> tuple[str, tuple[str, ...]]:
    return one.status, one.status_by


def _packet_of(vault: Vault) -> Packet:
    """The packet of Quartz, of which three more are remembered first: of fewer nothing is made."""
    for hue in ("white", "pink", "grey"):
        vault.remember(f"Some of it is {hue}.", ["Quartz"], kind="fact")
    packet = vault.consolidate().packet
    assert packet is not None
    return packet


def test_every_verb_of_the_library_tells_it_alike(case: Case) -> None:
    wanted = (case.status, case.by)
    with Vault.open(case.root, session="reader") as vault:
        bundle = vault.recall(QUESTION, doubtful=True)
        assert isinstance(bundle, Bundle)
        lists: dict[str, Any] = {
            "recall": bundle.results,
            "search": vault.search(QUESTION).results,
            "search by words": vault.search("quartz port", mode="text").results,
            "search_observations": vault.search_observations(["Quartz"], "port").results,
            "bring_to_mind": vault.as_(session="asked by nobody").bring_to_mind(QUESTION).results,
            "list_observations": vault.list_observations("Quartz").results,
            "snapshot": vault.snapshot().memories,
            "activity": vault.activity(START.date().isoformat()).written,
            "session_context": vault.as_(session="asked by nobody").get_session_context().shown,
            "recall of the subject": vault.recall("Quartz").recent_observations,  # type: ignore[union-attr]
        }
        lists["packet"] = _packet_of(vault).observations
        read = {one.memory_id: one for one in vault.read(QUESTION, include_doubtful=True).results}
        assert _told(read[case.id]) == wanted
        for door in (vault.get, vault.show, vault.related):
            assert _told(door(case.id)) == wanted
        pointer = vault.remember("Ask the one who runs the lab.", kind="fact").id
        vault.link(pointer, "RELATED_TO", case.id)
        lists |= {"related of another": vault.related(pointer).results, "history": vault.history(case.id).results}
    unasked = case.status in ("doubtful",)
    for name, results in lists.items():
        found = {one.id: one for one in results}
        if case.id not in found and unasked and name in ("bring_to_mind", "session_context", "recall of the subject", "packet"):
            continue
        assert _told(found[case.id]) == wanted, name
        if case.status == "overtaken" and name not in ("session_context", "related of another", "history"):
            assert case.by[0] in found, f"{name}: it never stands alone"


def test_what_was_overtaken_comes_after_what_overtook_it_and_is_not_counted(case: Case) -> None:
    if case.status != "overtaken":
        return
    with Vault.open(case.root, session="reader") as vault:
        for results in (vault.recall(QUESTION).results, vault.search(QUESTION).results):  # type: ignore[union-attr]
            assert [one.id for one in results][:2] == [*case.by, case.id]
        vault.recall(QUESTION, kinds=["fact"], limit=1)
        assert vault.show(case.id).access_count == 0
        assert {one.id: one.answers for one in _packet_of(vault).observations}[case.id] is False
        core = vault.core(preview=True).text
        assert TEXT not in core


def test_the_page_of_reflections_marks_what_was_used(case: Case) -> None:
    with Vault.open(case.root, session="reader") as vault:
        vault.get(case.id)
        title = vault.show(case.id).title
        line = next(line for line in vault.reflection(preview=True).text.splitlines() if line.startswith(f"1. [{title}]"))
        others = [vault.show(other).title for other in case.by]
    word = {"current": "1 access", "failed": "1 access", "doubtful": "believed to be false"}.get(case.status, case.status)
    assert word in line
    if case.status in ("overtaken", "solved", "contested"):
        assert all(f"[{other}](" in line for other in others)


def test_the_hook_tells_it_too(case: Case) -> None:
    with Vault.open(case.root, origin="agent", session="hooked") as vault:
        text = answer(vault, PROMPT, QUESTION, "")
    if case.status == "doubtful" and not text:
        return
    block = next(part for part in text.split("\n\n") if part.startswith(case.id[:6]) or f"\n{case.id[:6]}" in part)
    if case.status not in ("current", "failed"):
        word = {"doubtful": "believed to be false"}.get(case.status, case.status)
        assert word in text[text.index(case.id[:6]) :], block
    if case.status == "failed":
        assert "did not work" in text
    for other in case.by if case.status == "overtaken" else ():
        assert text.index(f"\n{other[:6]} ") < text.index(f"\n{case.id[:6]} ")


def test_the_command_line_prints_it_in_the_same_words(case: Case) -> None:
    words = {"current": "", "failed": "did not work", "doubtful": "believed to be false"}.get(case.status, case.status)
    for command in (["recall", QUESTION, "--doubtful", "--no-count"], ["search", *QUESTION.split()], ["show", case.id]):
        printed = vt("--vault", str(case.root), *command).stdout
        if command[0] != "recall" and case.status == "failed":
            continue
        assert words in printed, command
        if case.status == "overtaken":
            assert f"{case.id[:6]} is overtaken by {case.by[0][:6]}" in printed, command
    document = json.loads(vt("--vault", str(case.root), "show", case.id, "--json").stdout)
    assert (document["status"], tuple(document["status_by"])) == (case.status, case.by)


def test_a_clients_tools_give_it_alike(case: Case) -> None:
    with Vault.open(case.root, origin="agent", session="client") as vault:
        found = {}
        for tool, arguments in (
            ("recall", {"query": QUESTION, "doubtful": True}), ("search", {"query": QUESTION}), ("get", {"memory_id": case.id}),
        ):  # fmt: skip
            given = answer_tool(vault, tool, arguments, Caller())
            results = given.get("results", [given])
            found[tool] = next(one for one in results if one["id"] == case.id[:6])
    for tool, one in found.items():
        assert one.get("status", "failed" if "caution" in one else "current") == case.status, tool
        # Which problem a tactic failed at stands among its details.
        by = one.get("status_by") or [one[name] for name in ("problem",) if case.status == "failed"]
        assert by == [other[:6] for other in case.by], tool


def test_the_page_shows_it_on_every_list(case: Case) -> None:
    with serving_pages(case.root) as served:
        pages = {
            "memory": served.get(f"/memory/{case.id}"), "subject": served.get("/subject/Quartz"),
            "ask": served.get("/ask", q=QUESTION),
            "day": served.get(f"/time/{START.date().isoformat()}"),
        }  # fmt: skip
    if case.status in ("current", "failed"):
        return
    for name, text in pages.items():
        assert case.status in text.casefold() or "believed to be false" in text.casefold(), name


@pytest.mark.parametrize("field", ["expires", "until"])
def test_what_is_over_has_one_status_whichever_field_says_so(tmp_path: Path, field: str) -> None:
    root, clock = tmp_path / "v", FixedClock(START)
    Vault.init(root, name="lab", clock=clock)
    with _owner(root, clock) as vault:
        end = {"expires": START.date().isoformat(), "until": None} if field == "expires" else {"until": START.date().isoformat()}
        over = vault.remember(TEXT, ["Quartz"], kind="fact", **end).id
    clock.advance(timedelta(days=1))
    with Vault.open(root, origin="agent", clock=clock) as vault:
        assert vault.show(over).status == vault.get(over).status == "expired"
        assert [one.id for one in vault.list(status="expired").results] == [over]
        assert over not in [one.id for one in vault.search(QUESTION).results]
        assert TEXT not in vault.core(preview=True).text
        assert answer_tool(vault, "get", {"memory_id": over}, Caller())["status"] == "expired"
        assert answer_tool(vault, "list", {"status": "expired"}, Caller())["results"][0]["id"] == over[:6]
        assert QUESTION not in answer(vault, PROMPT, QUESTION, "")
    assert over[:6] in vt("--vault", str(root), "list", "--status", "expired").stdout
    assert "expired" in vt("--vault", str(root), "show", over).stdout
    with serving_pages(root) as served:
        assert "expired" in served.get(f"/memory/{over}").casefold()


NOT_LOOKED = f"nobody looked since {START.date().isoformat()}"


def test_each_door_says_that_nobody_looked_since_its_date(tmp_path: Path) -> None:
    root, clock = tmp_path / "v", FixedClock(START)
    Vault.init(root, name="lab", clock=clock)
    made, _ = to_be_reviewed(root, clock)
    with Vault.open(root, origin="agent", clock=clock) as vault:
        lists: Mapping[str, Any] = {
            "recall": vault.recall(QUESTION), "search": vault.search(QUESTION), "list": vault.list(),
            "list_observations": vault.list_observations("Quartz"),
            "bring_to_mind": vault.as_(session="s").bring_to_mind(QUESTION),
        }  # fmt: skip
        for name, one in lists.items():
            marks = {mark.mark: mark.why for each in one.results if each.id == made for mark in each.marks}
            assert marks.get("review_due") == NOT_LOOKED, name
        assert NOT_LOOKED in json.dumps(answer_tool(vault, "recall", {"query": QUESTION}, Caller()))
        assert NOT_LOOKED in json.dumps(answer_tool(vault, "get", {"memory_id": made}, Caller()))
        assert NOT_LOOKED in answer(vault, PROMPT, QUESTION, "")
    for command in (["recall", QUESTION, "--no-count"], ["search", *QUESTION.split()], ["get", made], ["list"]):
        assert NOT_LOOKED in vt("--vault", str(root), *command).stdout, command
    with serving_pages(root) as served:
        assert NOT_LOOKED in served.get(f"/memory/{made}") and NOT_LOOKED in served.get("/memories")
