"""Two subjects of one name that became one: what names the id that went means the one that stayed, by every door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import codes, identity, note
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.files.merging.note_merge import merge
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller

STAYS, WENT = identity(1), identity(2)
FILE = "vault/subjects/redis.md"


def subject(number: int, **more: str) -> str:
    return note(number, "", type="subject", name="Redis", **more)


@pytest.fixture(params=["merged", "a list", "a text", "a link"])
def lab(root: Path, request: pytest.FixtureRequest) -> Path:
    merged = merge(None, subject(2).encode(), subject(1).encode())
    assert merged is not None
    written = {
        "merged": merged.data.decode(),
        "a list": subject(1, also=f"[{WENT}]"),
        "a text": subject(1, also=WENT.upper()),
        "a link": subject(1, also=f'["[[{WENT}|Redis]]"]'),
    }[request.param]
    assert f"id: {STAYS}" in written and WENT in written.lower()
    write(root, FILE, written)
    write(root, "vault/n.md", note(3, "It drops idle connections.", subjects="[Redis]"))
    write(root, "vault/m.md", note(4, "It keeps all in memory.", subjects=f"[{WENT}]"))
    write(root, "vault/e.md", note(5, "In the lab.", type="AT_LOCATION", from_id=identity(3), to_id=WENT))
    commit_all(root, "one subject")
    return root


@pytest.mark.parametrize("named", [WENT, WENT.upper(), WENT[:13], f"[[{WENT}]]"])
def test_the_library(lab: Path, named: str) -> None:
    with Vault.open(lab, person=True) as vault:
        if "[[" not in named:
            assert vault.show(named).id == vault.get(named).id == STAYS
            assert [one.id for one in vault.get_subjects([named]).results] == [STAYS]
            assert {one.id for one in vault.list_observations(named).results} == {identity(3), identity(4)}
        assert {one.id for one in vault.list_observations("Redis").results} == {identity(3), identity(4)}
        assert [one.id for one in vault.related(STAYS).results] == [identity(3)]
        assert {one.id for one in vault.search("it keeps drops", subject_names=["Redis"]).results} == {identity(3), identity(4)}
        assert [one.name for one in vault.get_subjects().results] == ["Redis"]
        assert "dangling-reference" not in codes(vault) and "missing-subject-file" not in codes(vault)


def test_what_writes_goes_to_the_one_that_stayed(lab: Path) -> None:
    with Vault.open(lab, person=True) as vault:
        assert vault.add_alias(WENT, ["Cache"]).id == STAYS
        made = vault.remember("It forks to save.", [WENT])
        assert vault.show(made.id).subjects == ("Redis",)
        assert {one.id for one in vault.list_observations("Cache").results} == {identity(3), identity(4), made.id}
        understood = vault.create_understanding([WENT], "A cache that forgets.", "A cache")
        assert [one.id for one in vault.get_understandings(["Redis"]).results] == [understood.id]
        assert [one.name for one in vault.get_subjects().results] == ["Redis"]
    assert "also" in (lab / FILE).read_text() and git(lab, "status", "--porcelain") == ""


def test_the_command_line_agents_and_the_page_of_a_subject(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["show", WENT], ["get-subjects", WENT], ["log", WENT], ["list-observations", WENT[:10]]):
        assert main(["--vault", str(lab), *command, "--json"]) == 0, command
        assert json.loads(capsys.readouterr().out)
    with Vault.open(lab) as vault:
        assert answer(vault, "get", {"memory_id": WENT}, Caller())["id"] == STAYS[:8]
        assert "drops idle" in json.dumps(answer(vault, "recall", {"query": WENT}, Caller()))


def test_an_id_that_is_there_is_nobody_elses(lab: Path) -> None:
    """Whoever says `also` of another memory's id takes nothing away."""
    write(lab, "vault/subjects/other.md", note(6, "", type="subject", name="Other", also=f"[{identity(3)}, {WENT}]"))
    with Vault.open(lab) as vault:
        assert vault.show(identity(3)).content == "It drops idle connections."
        assert vault.show(WENT[:20]).id in (STAYS, identity(6))


def test_ids_that_are_there_are_nobody_elses_however_many_are_said(lab: Path) -> None:
    said = f"[{identity(3)}, {identity(4)}, {identity(5)}]"
    write(lab, "vault/subjects/other.md", note(6, "", type="subject", name="Other", also=said))
    with Vault.open(lab) as vault:
        assert [dict(vault.index.catalog.also()).get(identity(number)) for number in (3, 4, 5)] == [None, None, None]
        assert WENT in vault.index.catalog.also()
        assert {entry.id for entry in vault.index.catalog.by_prefix(identity(4)[:-1])} >= {identity(4)}
        assert [entry.id for entry in vault.index.catalog.by_prefix(identity(4))] == [identity(4)]
