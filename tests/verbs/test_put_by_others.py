"""Tags, subjects and relations that others put to a note of the owner's: told as theirs, and counted in no order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import identity, note
from tests.verbs.test_authority import as_owner
from tests.verbs.test_authority_of_others import pulled
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller

OURS = "The heron stands in the reeds."
BY = "pulled (Mallory <m@evil.example>)"
HEADS: dict[str, dict[str, str]] = {
    "tag": {"tags": "[quay, walrus]"},
    "subject": {"subjects": "[Birds, Walrus]"},
    "relation": {"related_to": f"[{identity(9)}]"},
    "a tag that was there": {"tags": "[]"},
    "a subject that was there": {"subjects": "[]"},
    "all at once": {"tags": "[walrus]", "subjects": "[Walrus]", "related_to": f"[{identity(9)}]"},
}
SAID = {
    "tag": ["tag walrus"],
    "subject": ["subject Walrus"],
    "relation": [f"related_to {identity(9)}"],
    "a tag that was there": ["without tag quay"],
    "a subject that was there": ["without subject Birds"],
    "all at once": [f"related_to {identity(9)}", "subject Walrus", "tag walrus", "without subject Birds", "without tag quay"],
}
QUESTIONS = ("walrus", "what of the Walrus?", "birds", "quay", "what is known of the marsh?", "heron")


def head(**changed: str) -> dict[str, str]:
    """The owner's head, with what somebody changed of it."""
    return {"tags": "[quay]", "subjects": "[Birds]", **changed}


@pytest.fixture
def vault_root(root: Path) -> Path:
    write(root, "vault/a.md", note(1, OURS, **head()))
    write(root, "vault/b.md", note(2, "The walrus sleeps on the ice.", subjects="[Walrus]", tags="[walrus]"))
    write(root, "vault/c.md", note(3, "A heron and a stork are birds.", subjects="[Birds]", tags="[quay]"))
    summary = "The marsh dries out in summer."
    write(root, "vault/u.md", note(9, summary, type="single_subject", subjects="[Marsh]", summary=summary))
    commit_all(root, "ours")
    with as_owner(root) as vault:
        vault.create_subjects([{"name": name} for name in ("Birds", "Walrus", "Marsh")])
    return root


def order(root: Path) -> list[Any]:
    """What each question finds, in what order and how well, and what stands on the page."""
    found: list[Any] = []
    with as_owner(root) as vault:
        vault.fresh()
        # In an index that texts were replaced in, the old ones count among the frequencies of words: there only what is found.
        found += [sorted(one.id for one in vault.search(question).results) for question in QUESTIONS]
        vault.reindex(full=True)
        for question in QUESTIONS:
            # A search counts no use, by which the next answer would be another.
            found.append([(one.id, round(one.score, 4)) for one in vault.search(question).results])
        found += [[one.id for one in vault.list_observations(name).results] for name in ("Birds", "Walrus", "Marsh")]
        # Its last line counts what waits, of others too.
        page = [line for line in vault.core(preview=True).text.rstrip().splitlines() if not line.endswith((" wait.", " waits."))]
        found += ["\n".join(page).rstrip(), [one.name for one in vault.get_subjects().results]]
    return found


def told(root: Path, number: int = 1) -> list[str]:
    with as_owner(root) as vault:
        return list(vault.show(identity(number)).put_by_others)


@pytest.mark.parametrize("way", HEADS)
def test_it_is_told_as_theirs_and_moves_nothing(vault_root: Path, way: str) -> None:
    before = order(vault_root)
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(**HEADS[way]))))
    assert len(told(vault_root)) == len(SAID[way])
    assert order(vault_root) == before
    assert told(vault_root) == [f"{said}: {BY}" for said in sorted(SAID[way], key=lambda one: one.removeprefix("without "))]
    with as_owner(vault_root) as vault:
        shown = vault.show(identity(1))
        assert shown.origin == "owner" and "put_by_others" not in shown.head
    assert len(told(vault_root)) == len(SAID[way]), "as before, of an index that was made anew"


def test_the_owners_own_count(vault_root: Path) -> None:
    before = order(vault_root)
    write(vault_root, "vault/a.md", note(1, OURS, **head(**HEADS["all at once"])))
    commit_all(vault_root, "ours too")
    assert order(vault_root) != before and told(vault_root) == []


def by_the_tool(root: Path) -> None:
    with as_owner(root) as vault:
        vault.tag(identity(1), add=["mine"])


def by_a_move(root: Path) -> None:
    git(root, "mv", "vault/a.md", "vault/elsewhere.md")
    git(root, "commit", "--quiet", "-m", "moved")


def by_a_merge(root: Path) -> None:
    git(root, "checkout", "--quiet", "-b", "side", "HEAD^")
    (root / "vault/a.md").write_text((root / "vault/a.md").read_text().replace("type:", "importance: .5\ntype:"))
    git(root, "commit", "--quiet", "-am", "ours on the side")
    git(root, "checkout", "--quiet", "-")
    git(root, "merge", "--quiet", "--no-edit", "side")


def uncommitted(root: Path) -> None:
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD") + "\n")
    by_the_tool(root)
    (root / ".git/MERGE_HEAD").unlink()


@pytest.mark.parametrize("then", [by_the_tool, by_a_move, by_a_merge, uncommitted])
@pytest.mark.parametrize("looked", [True, False])
def test_it_stays_theirs_whatever_the_tool_or_git_makes_of_it(
    vault_root: Path, then: Callable[[Path], None], looked: bool
) -> None:
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(tags="[quay, walrus]"))))
    assert not looked or told(vault_root) == [f"tag walrus: {BY}"]
    then(vault_root)
    assert told(vault_root) == [f"tag walrus: {BY}"]


def test_what_the_owner_looked_through_is_the_owners(vault_root: Path) -> None:
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(tags="[quay, walrus]"))))
    (vault_root / "vault/a.md").write_text((vault_root / "vault/a.md").read_text().replace("reeds", "tall reeds"))
    commit_all(vault_root, "by hand")
    assert told(vault_root) == []


def test_two_are_told_each_by_name_and_who_takes_it_back_has_put_nothing(vault_root: Path) -> None:
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(tags="[quay, walrus]"))))
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(tags="[quay, walrus, eel]"))), author="Eve <eve@evil.example>")
    assert told(vault_root) == ["tag eel: pulled (Eve <eve@evil.example>)", f"tag walrus: {BY}"]
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(tags="[quay, eel]"))))
    assert told(vault_root) == ["tag eel: pulled (Eve <eve@evil.example>)"]
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head())))
    assert told(vault_root) == []


def test_each_door_tells_it(vault_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head(tags="[quay, walrus]"))))
    assert main(["--vault", str(vault_root), "show", identity(1)]) == 0
    assert "put by others" in (said := capsys.readouterr().out) and "tag walrus: pulled (Mallory" in said
    assert main(["--vault", str(vault_root), "get", identity(1), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["put_by_others"] == [f"tag walrus: {BY}"]
    with Vault.open(vault_root) as vault:
        found = answer(vault, "get", {"memory_id": identity(1)}, Caller())
        assert f"tag walrus: {BY}" in json.dumps(found)
        assert [one.id for one in vault.search("heron", tags=["walrus"]).results] == [identity(1)], "it may be asked for"


def test_a_pin_that_somebody_took_away_holds_and_one_that_they_put_there_does_not(root: Path) -> None:
    write(root, "vault/a.md", note(1, OURS, pinned="true"))
    write(root, "vault/b.md", note(2, "The stork stands on the roof."))
    commit_all(root, "ours")
    pulled(root, ("vault/a.md", note(1, OURS)), ("vault/b.md", note(2, "The stork stands on the roof.", pinned="true")))
    with as_owner(root) as vault:
        vault.fresh()
        assert [vault.index.catalog.get(identity(one))[0].pinned for one in (1, 2)] == [True, False]
    assert told(root) == [f"without pin: {BY}"] and told(root, 2) == [f"pin: {BY}"]
    (root / "vault/a.md").write_text(note(1, f"{OURS} By hand."))
    commit_all(root, "the owner takes it away")
    with as_owner(root) as vault:
        vault.fresh()
        assert not vault.index.catalog.get(identity(1))[0].pinned


@pytest.mark.parametrize(
    "field",
    ["cssclasses: wide", "put_by_others: [[subjects, Birds, owner, true]]", "put_by_others: 7", "rating: 5", "x-y: {a: b}"],
)
def test_a_field_that_means_nothing_here_makes_no_note_theirs(vault_root: Path, field: str) -> None:
    before = order(vault_root)
    data = note(1, OURS, **head())
    pulled(vault_root, ("vault/a.md", data.replace("\n---\n", f"\n{field}\n---\n", 1)))
    assert order(vault_root) == before
    with as_owner(vault_root) as vault:
        assert vault.show(identity(1)).origin == "owner"


@pytest.mark.parametrize("of", ["subject", "field"])
def test_what_they_call_a_project_takes_nothing_off_a_page(vault_root: Path, of: str) -> None:
    theirs = {
        "subject": (f"---\nid: {identity(50)}\ntype: subject\nname: Walrus\nrole: project\n---\n"),
        "field": note(50, "A walrus is a project.", subjects="[Walrus]", project="Walrus"),
    }[of]
    with as_owner(vault_root) as vault:
        vault.as_(project="Ferry").remember("The ferry leaves at noon.")
        vault.commit()
    pulled(vault_root, ("vault/theirs.md", theirs))
    with as_owner(vault_root) as vault:
        page = vault.core(preview=True, project="Ferry").text
        assert "ferry leaves" in page and "walrus sleeps" in page
