"""Supposed updates: the newer memory first, the older directly below it and marked, alike at every door; nothing is written."""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.git_repos import write
from tests.verbs.looking import START
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.hooks.answers import answer
from vault_tool.hooks.clients import PROMPT
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock
from vault_tool.vault.retrieval.engine import Query, gather

MINUTE = timedelta(minutes=1)
PAIRS = [
    ("The office in Lyon is at Hall Street 5.", "The office in Lyon is at Mill Lane 9.", "where is the office in Lyon?"),
    ("The quartz queue listens on port 6379.", "The quartz queue listens on port 6380.", "which port has the quartz queue?"),
    ("Our repo is hosted on GitLab.", "Our repo moved to Codeberg.", "where is our repo hosted?"),
    ("We use Chroma for the vectors.", "We no longer use Chroma for the vectors.", "do we use Chroma for the vectors?"),
]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def root(tmp_path: Path, clock: FixedClock) -> Path:
    Vault.init(tmp_path / "v", name="lab", clock=clock)
    return tmp_path / "v"


def _kept(root: Path, clock: FixedClock, *texts: str, **more: Any) -> list[str]:
    ids = []
    with Vault.open(root, person=True, clock=clock) as vault:
        for text in texts:
            ids.append(vault.remember(text, ["Lab"], kind="fact", **more).id)
            clock.advance(MINUTE)
    return ids


def _perhaps(one: Any) -> tuple[str, ...]:
    return tuple(by for mark in one.marks if mark.mark == "perhaps_changed_by" for by in mark.by)


@pytest.mark.parametrize(("older", "newer", "question"), PAIRS)
def test_every_verb_of_the_library_tells_it_alike(root: Path, clock: FixedClock, older: str, newer: str, question: str) -> None:
    old, new = _kept(root, clock, older, newer)
    with Vault.open(root, session="reader") as vault:
        lists: dict[str, Any] = {
            "recall": vault.recall(question).results,  # type: ignore[union-attr]
            "search": vault.search(question).results,
            "search by words": vault.search(" ".join(older.split()[:3]), mode="text").results,
            "search_observations": vault.search_observations(["Lab"], older).results,
            "bring_to_mind": vault.as_(session="asked by nobody").bring_to_mind(question).results,
            "list": vault.list().results,
            "list_observations": vault.list_observations("Lab").results,
            "activity": vault.activity(START.date().isoformat()).written,
        }
        for name, results in lists.items():
            found = {one.id: one for one in results}
            assert _perhaps(found[old]) == (new,), name
            assert _perhaps(found[new]) == (), name
            assert (found[old].status, found[new].status) == ("current", "current"), name
        for name in ("recall", "search", "search by words", "search_observations", "bring_to_mind"):
            ids = [one.id for one in lists[name]]
            assert ids.index(old) == ids.index(new) + 1, name
        for door in (vault.get, vault.show):
            assert _perhaps(door(old)) == (new,)
            assert _perhaps(door(new)) == ()
        core = vault.core(preview=True).text
        assert re.search(rf"{old[:6]} .*\(perhaps changed by {new[:6]}\)", core)


def test_the_command_line_the_hook_the_tools_and_the_page_tell_it(root: Path, clock: FixedClock) -> None:
    older, newer, question = PAIRS[0]
    old, new = _kept(root, clock, older, newer)
    words = f"{old[:6]} is perhaps changed by {new[:6]}: Mill Lane 9 there, Hall Street 5 here"
    for command in (["recall", question, "--no-count"], ["search", *question.split()], ["show", old], ["list"]):
        assert words in vt("--vault", str(root), *command).stdout, command
    document = json.loads(vt("--vault", str(root), "show", old, "--json").stdout)
    assert {"perhaps_changed_by": [new]}.items() <= {one["mark"]: one["by"] for one in document["marks"]}.items()
    with Vault.open(root, origin="agent", session="hooked") as vault:
        text = answer(vault, PROMPT, question, "")
        assert text.index(f"\n{new[:6]} ") < text.index(f"\n{old[:6]} ") < text.index(f"perhaps changed by {new[:6]}")
        given = answer_tool(vault, "recall", {"query": question}, Caller())["results"]
        assert [one["id"] for one in given][:2] == [new[:6], old[:6]]
        mark = {"mark": "perhaps_changed_by", "by": [new[:6]], "why": "Mill Lane 9 there, Hall Street 5 here"}
        assert mark in next(one for one in given if one["id"] == old[:6])["marks"]
    with serving_pages(root) as served:
        day = START.date().isoformat()
        for page in (served.get(f"/memory/{old}"), served.get("/ask", q=question), served.get(f"/time/{day}")):
            assert "perhaps changed" in page.casefold()


def test_asking_for_the_old_fact_does_not_make_it_the_newer_one(root: Path, clock: FixedClock) -> None:
    older, newer, question = PAIRS[0]
    old = _kept(root, clock, older, observed_at="2025-01-02")[0]
    new = _kept(root, clock, newer, observed_at="2026-01-02")[0]
    with Vault.open(root, session="asking") as vault:
        for _ in range(3):
            vault.recall("Hall Street office in Lyon")
            vault.mark_useful(old, "it was the one that was asked for")
        for results in (vault.recall(question).results, vault.search(question).results):  # type: ignore[union-attr]
            assert [one.id for one in results][:2] == [new, old]
        found = vault.as_(session="another").bring_to_mind(question).results
        assert [one.id for one in found][:2] == [new, old]


def test_the_answer_to_a_write_proposes_the_change_and_an_edge_confirms_it(root: Path, clock: FixedClock) -> None:
    older, newer, question = PAIRS[1]
    [old] = _kept(root, clock, older)
    with Vault.open(root, person=True, clock=clock) as vault:
        made = vault.remember(newer, ["Lab"], kind="fact")
        assert made.seems_to_change == (old,)
        assert any(f"this seems to change {old[:6]}: '{older}'" in one for one in made.next_steps)
        before = vault.get(old)
        assert _perhaps(before) == (made.id,)
        vault.link(made.id, "CHANGES", old)
        after = vault.get(old)
        assert (after.status, after.status_by, _perhaps(after)) == ("overtaken", (made.id,), ())
        assert (after.content, after.type) == (before.content, before.type)
        assert [one.id for one in vault.recall(question).results][:2] == [made.id, old]  # type: ignore[union-attr]


def test_each_door_puts_the_proposal_in_its_own_words(root: Path, clock: FixedClock) -> None:
    older, newer, _ = PAIRS[1]
    [old] = _kept(root, clock, older)
    typed = vt("--vault", str(root), "remember", newer, "-s", "Lab", "-k", "fact")
    assert f"`--changes {old[:6]}`" in typed.stdout + typed.stderr
    with Vault.open(root, origin="agent", session="client") as vault:
        told = str(answer_tool(vault, "remember", {"content": f"{newer[:-1]} now.", "subject_names": ["Lab"]}, Caller()))
    assert f"`change_targets`: [{old[:6]}]" in told
    assert "--changes" not in told
    assert "vt link" not in told


def test_a_change_that_is_named_is_not_proposed(root: Path, clock: FixedClock) -> None:
    older, newer, _ = PAIRS[1]
    [old] = _kept(root, clock, older)
    with Vault.open(root, person=True, clock=clock) as vault:
        assert vault.remember(newer, ["Lab"], kind="fact", change_targets=[old]).seems_to_change == ()


@pytest.mark.parametrize("other", [{"subject_names": ["Paris"]}, {"project": "atlas"}, {"user": "ann"}])
def test_never_across_subjects_projects_or_users(root: Path, clock: FixedClock, other: dict[str, Any]) -> None:
    older, newer, question = PAIRS[1]
    [old] = _kept(root, clock, older)
    subjects = other.pop("subject_names", ["Lab"])
    with Vault.open(root, person=True, clock=clock, **other) as vault:
        made = vault.remember(newer, subjects, kind="fact")
        assert made.seems_to_change == ()
    with Vault.open(root, person=True) as vault:
        assert _perhaps(vault.get(old)) == ()
        results = vault.recall(question).results  # type: ignore[union-attr]
        assert not any(map(_perhaps, results))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ran 5 km along the river this morning.", "Ran 8 km along the river this morning."),
        ("Redis listens on port 6379.", "Postgres listens on port 5432."),
        ("The rent of the flat is 900 euros a month.", "We pay 900 euros a month for the flat."),
    ],
)
def test_what_happens_again_another_thing_and_the_same_again_are_no_updates(
    root: Path, clock: FixedClock, first: str, second: str
) -> None:
    old, new = _kept(root, clock, first, second)
    with Vault.open(root) as vault:
        assert _perhaps(vault.get(old)) == _perhaps(vault.get(new)) == ()
        assert not any(map(_perhaps, vault.search(first).results))


def test_of_three_values_the_newest_is_named_and_stands_first(root: Path, clock: FixedClock) -> None:
    ids = _kept(root, clock, *(f"The rent of the flat is {euros} euros." for euros in (900, 950, 1000)))
    with Vault.open(root) as vault:
        results = vault.recall("how much is the rent of the flat?").results  # type: ignore[union-attr]
        assert results[0].id == ids[2]
        assert {one.id: _perhaps(one) for one in results[:3]} == {ids[2]: (), ids[1]: (ids[2],), ids[0]: (ids[2],)}


def test_what_is_seen_already_is_still_named(root: Path, clock: FixedClock) -> None:
    older, newer, question = PAIRS[1]
    old, new = _kept(root, clock, older, newer)
    with Vault.open(root) as vault:
        found = gather(vault, Query(query=question, profile="ambient", exclude=frozenset({new}))).results
        assert [(one.id, _perhaps(one)) for one in found] == [(old, (new,))]


def test_in_a_large_vault_a_memory_that_is_looked_at_alone_still_says_so(
    root: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer, _ = PAIRS[0]
    old, new = _kept(root, clock, older, newer)
    monkeypatch.setattr("vault_tool.vault.perhaps_changed._SMALL", 0)
    with Vault.open(root) as vault:
        assert _perhaps(vault.get(old)) == (new,)


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize(("older", "newer", "question"), PAIRS[:2])
def test_notes_of_a_folder_are_no_dated_claims(
    tmp_path: Path, clock: FixedClock, served: bool, older: str, newer: str, question: str
) -> None:
    notes, named = tmp_path / "Notes", "---\nsubjects: [Lyon]\n---\n"
    for name, text in (("Old", older), ("New", newer), ("Old of it", named + older), ("New of it", named + newer)):
        write(notes, f"{name}.md", text + "\n")
        os.utime(notes / f"{name}.md", ns=(0, 10**9 * (2 if "New" in name else 1)))
    top = notes if served else tmp_path / "kept"
    made = Vault.init(top, notes="here", no_git=True, clock=clock) if served else Vault.init(top, no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, person=True) as vault:
        if not served:
            vault.import_markdown(notes)
        for results in (vault.search(question).results, gather(vault, Query(query=question)).results):
            marked = {one.title: _perhaps(one) for one in results}
            assert (marked["Old"], marked["New"], marked["New of it"]) == ((), (), ())
            assert len(marked["Old of it"]) == 1
        assert not any("seems to change" in one for one in vault.remember(newer, kind="fact").warnings)


@pytest.mark.parametrize(("older", "newer", "question"), PAIRS)
def test_what_merely_supports_an_answer_is_not_used(root: Path, clock: FixedClock, older: str, newer: str, question: str) -> None:
    old, new = _kept(root, clock, older, newer)
    with Vault.open(root, session="asks", clock=clock) as vault:
        vault.recall(question)
    with Vault.open(root, session="looks", clock=clock) as vault:
        assert (vault.show(new).access_count, vault.show(old).access_count) == (1, 0)
        assert [one.id for one in vault.search(question).results[:2]] == [new, old]
