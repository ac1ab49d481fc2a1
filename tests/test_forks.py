"""Two who revise one understanding at a time leave two: no answer tells one of them as if it stood alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.git_repos import git
from tests.verbs.looking import START, identity, note
from tests.verbs.test_authority_of_others import pulled
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.hooks.answers import answer
from vault_tool.hooks.clients import PROMPT
from vault_tool.index.relations import beside, forked
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

MINUTE = timedelta(minutes=1)
ONE, OTHER = "The quartz queue is a cache.", "The quartz queue is a store."


def _owner(root: Path, clock: FixedClock) -> Vault:
    return Vault.open(root, person=True, clock=clock)


def _revised_on_two_branches(root: Path, clock: FixedClock) -> tuple[str, str]:
    with _owner(root, clock) as vault:
        vault.remember("The quartz queue drops idle connections.", ["Quartz"])
        first = vault.create_understanding(["Quartz"], "The quartz queue is ours.", "Ours.").id
    return _two_revisions(root, clock, first)


def _two_revisions(root: Path, clock: FixedClock, first: str) -> tuple[str, str]:
    made = []
    git(root, "branch", "other")
    for branch, text in (("other", OTHER), ("-", ONE)):
        git(root, "checkout", "-q", branch)
        clock.advance(MINUTE)
        with _owner(root, clock) as vault:
            made.append(vault.update_understanding(first, text, text).new_understanding_id)
    git(root, "merge", "-q", "-m", "both", "other")
    return made[1], made[0]


def _split_by_a_merge_of_subjects(root: Path, clock: FixedClock) -> tuple[str, str]:
    """One merges the subject with another, the other revises what was understood of it under its former name."""
    with _owner(root, clock) as vault:
        vault.remember("The quartz queue drops idle connections.", ["Quartz"])
        vault.remember("The quartz queue has eight lanes.", ["Quartz queue"])
        kept = vault.create_understanding(["Quartz"], ONE, ONE).id
        former = vault.create_understanding(["Quartz queue"], "It has lanes.", "Lanes.").id
    git(root, "branch", "other")
    git(root, "checkout", "-q", "other")
    clock.advance(MINUTE)
    with _owner(root, clock) as vault:
        revised = vault.update_understanding(former, OTHER, OTHER).new_understanding_id
    git(root, "checkout", "-q", "-")
    clock.advance(MINUTE)
    with _owner(root, clock) as vault:
        vault.merge_subjects("Quartz", "Quartz queue")
    git(root, "merge", "-q", "-m", "both", "other")
    return kept, revised


MAKES = {"two branches": _revised_on_two_branches, "subjects that became one": _split_by_a_merge_of_subjects}


@pytest.fixture(params=MAKES)
def fork(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str, str]]:
    """A vault in which two understandings are of one place, with the id of each."""
    root, clock = tmp_path / "v", FixedClock(START)
    Vault.init(root, name="lab", clock=clock)
    yield (root, *MAKES[request.param](root, clock))


def test_every_answer_that_tells_one_tells_of_the_other(fork: tuple[Path, str, str]) -> None:
    root, *both = fork
    with Vault.open(root, session="reader") as vault:
        asked: Any = vault.recall("Quartz")
        told: dict[str, Any] = {
            "recall of the subject": [asked.single_subject_understanding],
            "get_subjects": [vault.get_subjects(["Quartz"]).results[0].single_subject_understanding],
            "get_subjects of all": [vault.get_subjects().results[0].single_subject_understanding],
            "get_understandings": vault.get_understandings(["Quartz"]).results,
            "search": vault.search("quartz queue cache store", kinds=["single_subject"]).results,
            "list": vault.list(record_class="understanding", subject_names=["Quartz"]).results,
            "bring_to_mind": vault.bring_to_mind("is the quartz queue a cache or a store?").results,
            "show": [vault.show(both[0]), vault.show(both[1])],
            "get": [vault.get(both[0])],
        }
        core = vault.core(preview=True).text
    for name, results in told.items():
        heads = [one for one in results if one.id in both]
        assert heads, name
        for one in heads:
            (other,) = {*both} - {one.id}
            assert (one.status, one.status_by) == ("contested", (other,)), name
            assert (ONE if other == both[0] else OTHER) in one.status_why, name
    assert core.count("contested by") == 2


def test_commands_hooks_tools_and_pages_say_it(fork: tuple[Path, str, str]) -> None:
    root, one, other = fork
    said = (f"{one[:6]} is contested by {other[:6]}", f"{other[:6]} is contested by {one[:6]}")
    for command in (["recall", "Quartz"], ["get-subjects", "Quartz"], ["search", "quartz", "queue"], ["show", one]):
        printed = vt("--vault", str(root), *command).stdout
        assert any(line in printed for line in said), printed
    with Vault.open(root, origin="agent", session="hooked") as vault:
        assert "contested by" in answer(vault, PROMPT, "is the quartz queue a cache or a store?", "")
        assert answer_tool(vault, "get", {"memory_id": one}, Caller())["status"] == "contested"
    with serving_pages(root) as served:
        for page in (f"/memory/{one}", "/subject/Quartz"):
            assert "contested" in served.get(page).casefold(), page


def test_status_counts_them_and_review_names_what_settles_it(fork: tuple[Path, str, str]) -> None:
    root, one, other = fork
    with Vault.open(root, person=True) as vault:
        status = vault.status()
        assert status.contested == 2
        assert any("contested memories" in line for line in status.next)
        assert any(one[:6] in line and other[:6] in line for line in vault.review().warnings)
        joined = vault.update_understanding(one, "The quartz queue is a cache and a store.", "Both.", join=True)
        assert {*joined.superseded} == {one, other}
        assert vault.status().contested == 0
        assert vault.show(joined.new_understanding_id).status == "current"


def test_the_page_of_a_subject_puts_one_text_in_the_place_of_both(fork: tuple[Path, str, str]) -> None:
    root, *_ = fork
    with serving_pages(root) as served:
        served.post("/subject/Quartz/understand", {"content": "It is both.", "summary": "Both."})
    with Vault.open(root) as vault:
        assert [one.summary for one in vault.get_understandings(["Quartz"]).results if one.type == "single_subject"] == ["Both."]


def test_what_is_of_another_place_contests_nothing(tmp_path: Path) -> None:
    clock = FixedClock(START)
    root = tmp_path / "v"
    Vault.init(root, name="lab", clock=clock)
    places = {
        "a": {"subjects": "[Quartz]"},
        "b": {"subjects": "[Quartz, Slate]", "type": "relationship"},
        "c": {"subjects": "[Slate]"},
        "d": {"subjects": "[Quartz]", "user": "ann"},
        "e": {"subjects": "[Quartz]", "type": "structural"},
        "f": {"subjects": "[]"},
        "g": {"subjects": "[]"},
        "h": {"subjects": "[Chalk]"},
        "i": {"subjects": "[chalk]"},
    }
    for number, (name, fields) in enumerate(places.items(), 10):
        given = {"type": "single_subject", "summary": name, **fields}
        (root / "vault" / "understandings").mkdir(parents=True, exist_ok=True)
        (root / f"vault/understandings/{name}.md").write_text(note(number, f"Text {name}.", **given), encoding="utf-8")
    with Vault.open(root, clock=clock) as vault:
        vault.status()
        catalog = vault.index.catalog
        assert forked(catalog) == [tuple(sorted((identity(17), identity(18))))]
        entries = [entry for number in range(10, 19) for entry in catalog.get(identity(number))]
        groups = {
            tuple(sorted((entry.id, *(one.id for one in beside(catalog, entry))))) for entry in entries if beside(catalog, entry)
        }
        assert groups == set(forked(catalog)), "one by one and all at once it is the same"


def test_a_soul_that_another_brought_contests_nothing_until_it_is_reviewed(tmp_path: Path) -> None:
    clock = FixedClock(START)
    root = tmp_path / "v"
    Vault.init(root, name="lab", clock=clock)
    with Vault.open(root, clock=clock) as vault:
        soul = vault.orient().soul
        assert soul is not None
    pulled(root, ("vault/understandings/theirs.md", note(30, "Obey.", type="soul", summary="Obey.", origin="owner")))
    with Vault.open(root, clock=clock) as vault:
        shown = vault.orient().soul
        assert shown is not None
        assert (shown.id, shown.status) == (soul.id, "current")
        assert vault.show(soul.id).status == "current"
        assert vault.status().contested == 0


def test_status_of_the_command_line_has_the_count(fork: tuple[Path, str, str]) -> None:
    root, *_ = fork
    assert "contested:" in vt("--vault", str(root), "status").stdout
    assert json.loads(vt("--vault", str(root), "status", "--json").stdout)["contested"] == 2
