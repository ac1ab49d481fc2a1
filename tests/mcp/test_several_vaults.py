"""Other vaults over MCP: named in the list of tools where a person named any, and asked by the tools that answer questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.bounds import PATIENCE
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller, listed, listed_for, named
from vault_tool.owner.opening import Opening
from vault_tool.util.vault_names import ASKING, names_at
from vault_tool.vault import beside

QUESTION = "how is quartz deployed"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(beside, "LIMIT", PATIENCE)
    for name, text in (("here", "Quartz is deployed on Fridays."), ("team", "Quartz is deployed by Jenkins.")):
        Vault.init(tmp_path / name, no_git=True)
        with Vault.open(tmp_path / name) as vault:
            vault.remember(text, ["Deploy"], kind="fact")
    with Vault.open(tmp_path / "here", person=True) as vault:
        vault.config("vault", "team", folder=str(tmp_path / "team"))
    with Vault.open(tmp_path / "here") as vault:
        yield vault


def test_the_list_names_them_where_there_are_any(here: Vault, tmp_path: Path) -> None:
    assert names_at(str(tmp_path / "here")) == ("global", "team") and names_at(str(tmp_path / "team")) == ()
    for preset in ("lean", "full"):
        tools = listed_for(preset, Caller(vaults="global,team"))
        takes = {tool["name"]: tool["inputSchema"]["properties"].get("vaults") for tool in tools}
        assert {name for name, vaults in takes.items() if vaults} == ASKING & takes.keys()
        assert takes["recall"]["items"]["enum"] == ["all", "global", "team"]
        assert listed_for(preset, Caller()) == list(listed(preset))
        for tool in tools:
            Draft202012Validator.check_schema(tool["inputSchema"])


def test_what_is_said_before_an_owner_is_there_is_the_same(here: Vault, tmp_path: Path) -> None:
    client = {"name": "a", "version": "1"}
    opening = Opening("lean", ",".join(names_at(str(tmp_path / "here"))))
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    version = "2025-06-18"
    assert opening.answer({**asked, "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": client}})
    opening.answer({"jsonrpc": "2.0", "method": "notifications/initialized"})
    line = opening.answer({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    assert line is not None and b'"enum":["all","global","team"]' in line


@pytest.mark.parametrize("preset", ["lean", "full"])
def test_each_tool_asks_them_and_says_whose_each_is(preset: str, here: Vault) -> None:
    for tool in sorted(ASKING & {*named("full")} if preset == "full" else {"recall"}):
        subject = "topic_or_context" if tool == "bring_to_mind" else "query"
        values = answer(here, tool, {subject: QUESTION, "vaults": ["team"]}, Caller(preset=preset))
        theirs = [each for each in values["results"] if each["vaults"] == ["team"]]
        assert theirs, tool
        assert len(theirs[0].get("id") or theirs[0]["memory_id"]) == 36
        assert Draft202012Validator(named(preset)[tool]["outputSchema"]).is_valid(values), tool


def test_one_is_read_there(here: Vault) -> None:
    theirs = answer(here, "recall", {"query": QUESTION, "vaults": "team"}, Caller(preset="lean"))["results"]
    identity = next(each["id"] for each in theirs if each["vaults"] == ["team"])
    values = answer(here, "get", {"id": f"team:{identity}"}, Caller(preset="lean"))
    assert (values["id"], values["vault"]) == (identity, "team")
    assert Draft202012Validator(named("lean")["get"]["outputSchema"]).is_valid(values)


@pytest.mark.parametrize("vaults", [["tema"], ["team", "team"], [7], {"team": 1}, "tema"])
def test_what_names_none_is_refused(vaults: object, here: Vault) -> None:
    with pytest.raises(UsageError):
        answer(here, "recall", {"query": QUESTION, "vaults": vaults}, Caller(preset="lean"))


def test_they_are_for_questions_alone(here: Vault) -> None:
    with pytest.raises(UsageError):
        answer(here, "recall", {"kind": "fact", "vaults": ["team"]}, Caller(preset="lean"))
    with pytest.raises(UsageError):
        answer(
            here, "remember", {"content": "x y.", "kind": "fact", "subjects": ["A"], "vaults": ["team"]}, Caller(preset="lean")
        )


def test_a_person_with_a_token_has_none_of_the_owners_others(here: Vault) -> None:
    theirs = answer(here, "recall", {"query": QUESTION, "vaults": "team"}, Caller(preset="lean"))["results"]
    identity = next(each["id"] for each in theirs if each["vaults"] == ["team"])
    ann = Caller(preset="lean", author="ann <1234@people.invalid>", scope="read")
    with pytest.raises(UsageError):
        answer(here, "recall", {"query": QUESTION, "vaults": ["team"]}, ann)
    with pytest.raises(NotFound):
        answer(here, "get", {"id": f"team:{identity}"}, ann)
