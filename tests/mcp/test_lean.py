"""The small preset as an agent uses it: plain names beside those of the verbs, lists and the page by `recall`, former tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client

from tests.mcp.served import ERAS, client_of, client_of_process
from vault_tool import Vault
from vault_tool.mcp.lean_table import FORMER, LEAN, NAMES, VERBS
from vault_tool.mcp.tools import Caller, cost, listed, named
from vault_tool.util.text import tokens


async def call(client: Client, tool: str, **given: Any) -> Any:
    """What a tool answers, which is no error."""
    found = await client.call_tool(tool, given)
    assert not found.is_error, found.content[0].text  # type: ignore[union-attr]
    assert found.structured_content == json.loads(found.content[0].text)  # type: ignore[union-attr]
    return found.structured_content


async def refused(client: Client, tool: str, **given: Any) -> str:
    """The words with which a call is refused."""
    found = await client.call_tool(tool, given)
    assert found.is_error, found.structured_content
    return str(found.content[0].text)  # type: ignore[union-attr]


def test_the_eight_take_what_their_verbs_take_for_fewer_tokens() -> None:
    assert cost(listed("lean")) < 1800
    for tool in listed("lean"):
        full = named("full")[VERBS.get(tool["name"], tool["name"])]["inputSchema"]["properties"]
        names = NAMES.get(tool["name"], {})
        assert [one for one in tool["inputSchema"]["properties"] if names.get(one, one) not in full] == []
        assert set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
        assert all("description" in one for one in tool["inputSchema"]["properties"].values())


@pytest.mark.parametrize("era", ERAS)
def test_a_fresh_agent_gets_from_nothing_to_an_understanding(root: Path, era: str) -> None:
    async def talk() -> None:
        async with client_of_process("--vault", str(root), "--session", "s1", era=era, cwd=root.parent) as client:
            assert [one.name for one in (await client.list_tools()).tools] == list(LEAN)
            assert "# Memory" in (await call(client, "recall"))["page"]
            drop = "Redis drops idle connections after 300 s."
            problem = await call(client, "remember", content=drop, kind="problem", subjects=["Redis"])
            pool = "A pool that checks connections before use ended the drops."
            solution = await call(
                client, "remember", content=pool, kind="solution", subjects="Redis", problem=problem["id"], evidence="test:pool"
            )
            await call(client, "link", **{"from": solution["id"], "type": "SOLVES", "to": problem["id"], "why": "It ended them."})
            old = await call(client, "remember", content="Redis runs on host A.", kind="fact", subjects=["Redis"])
            new = await call(
                client, "remember", content="Redis runs on host B.", kind="change", subjects=["Redis"], replaces=old["id"]
            )
            fixed = await call(client, "correct", id=new["id"], why="The host is called C.", content="Redis runs on host C.")
            assert (await call(client, "get", id=old["id"]))["status"] == "overtaken"
            text = {"subjects": ["Redis"], "content": "Redis runs on host C behind a pool.", "summary": "On C, with a pool."}
            made = await call(client, "understand", **text, sources=[solution["id"], fixed["new_id"]])
            found = await call(client, "recall", query="Redis")
            assert found["understanding"]["id"] == made["id"]
            for number in range(4):
                lamp = f"Lamp {number} of the shed was changed in week {number}."
                await call(client, "remember", content=lamp, kind="fact", subjects=["Shed"])
            given = (await call(client, "consolidate"))["packet"]
            text = {"content": "All lamps of the shed were changed.", "summary": "All changed."}
            for _ in range(9):
                said = await call(client, "consolidate", packet=given["id"], **text)
                assert said["written"]
                if not (given := said.get("packet")):
                    break
            assert not given
            assert (await call(client, "recall", query="Shed"))["understanding"]["content"] == text["content"]

    anyio.run(talk)


@pytest.mark.parametrize("preset", ["lean", "full"])
def test_both_presets_take_both_names(root: Path, preset: str) -> None:
    async def talk() -> None:
        async with client_of(root, "auto", preset=preset) as client:
            one = await call(client, "remember", content="The pump hums.", subject_names=["Pump"], kind="problem")
            two = await call(client, "remember", content="Oil ended the hum of the pump.", subjects=["Pump"], type="solution")
            link = {"type": "SOLVES", "why": "It was dry."}
            made = await call(client, "link", **link, **{"from": two["id"], "to": one["id"]})
            again = await call(client, "link", **link, from_id=two["id"], to_id=one["id"])
            assert made["id"] == again["id"]
            assert (await call(client, "get", id=one["id"])) == (await call(client, "get", memory_id=one["id"]))
            for given in ({"kind": "problem"}, {"kinds": ["problem"]}, {"subject": "Pump"}, {"subject_names": "Pump"}):
                found = await call(client, "recall", **given)
                assert one["id"] in {result["id"] for result in found["results"]}, given
            both = await refused(client, "remember", content="x", subjects=["Pump"], subject_names=["Pump"])
            assert both == "subject_names is said already by `subjects` (hint: give it once)"
            assert "subjects/0 " in await refused(client, "remember", content="x", subjects=[7])
            assert "subject_names/0 " in await refused(client, "remember", content="x", subject_names=[7])
            missing = await refused(client, "link", type="SOLVES", why="x")
            assert ("from it is missing" in missing) == (preset == "lean")

    anyio.run(talk)


def test_without_a_question_it_lists_and_with_nothing_it_gives_the_page(root: Path) -> None:
    with Vault.open(root, origin="owner") as vault:
        for number in range(8):
            vault.remember(f"Host {number} stands in rack {number}.", ["Hosts"], kind="fact")
        vault.remember("Never push to main.", ["Git"], kind="preference")
        vault.create_understanding(["Hosts"], "All hosts stand in racks.", "All in racks.")

    async def talk() -> None:
        async with client_of(root, "auto", preset="lean", caller=Caller(session="s1")) as client:
            facts = await call(client, "recall", kind="fact")
            assert len(facts["results"]) == 5 and facts["total"] == 8 and "Host 7" in facts["results"][0]["content"]
            assert len((await call(client, "recall", kind="fact", limit=7))["results"]) == 7
            for given in ({"kind": "preference"}, {"subject": "Git"}, {"kind": "preference", "query": " "}):
                (only,) = (await call(client, "recall", **given))["results"]
                assert only["content"] == "Never push to main."
            # The vault's own pages may be of the same second, and then stand before it or behind.
            understood = (await call(client, "recall", kind="understanding"))["results"]
            assert "All hosts stand in racks." in {listed["content"] for listed in understood}
            assert (await call(client, "recall", since="2999-01-01")).get("results", []) == []
            page = await call(client, "recall")
            assert "Never push to main." in page["page"] and page == await call(client, "recall", query="", session="s2")
            schema = Draft202012Validator(named("lean")["recall"]["outputSchema"])
            for answer in (facts, page):
                schema.validate(answer)
            assert "query it is missing" in await refused(client, "recall", hops=1)
            assert "of type `fakt`" in await refused(client, "recall", kind="fakt")
            assert "session 7" in await refused(client, "recall", session=7)

    anyio.run(talk)
    with Vault.open(root, session="s1") as vault:
        # What a list showed was shown; the page that came after it begins a context.
        assert {one.title for one in vault.get_session_context().shown} >= {"Never push to main"}


@pytest.mark.parametrize("preset", ["lean", "full"])
def test_orient_in_a_vault_whose_texts_nobody_rewrote_takes_300_tokens(tmp_path: Path, preset: str) -> None:
    Vault.init(tmp_path / "new")

    async def talk() -> None:
        async with client_of(tmp_path / "new", "auto", preset=preset, caller=Caller(session="s1")) as client:
            found = await call(client, "orient")
            assert tokens(json.dumps(found, ensure_ascii=False)) <= 300
            texts = [found["soul"], found["protocol"], found["orientation"], found["content_policy"]]
            assert all(one["content"].endswith("nobody has rewritten it yet.") for one in texts)

    anyio.run(talk)


def test_former_tools_answer_unlisted(root: Path) -> None:
    async def talk() -> None:
        async with client_of(root, "auto", preset="lean", caller=Caller(session="s1")) as client:
            made = await call(client, "remember", content="The pump hums at night.", subjects=["Pump"], kind="fact")
            assert not set(FORMER) & {one.name for one in (await client.list_tools()).tools}
            assert "soul" in await call(client, "orient")
            await call(client, "bring_to_mind", topic_or_context="the pump")
            await call(client, "mark_useful", id=made["id"], reason="It named the noise.")
            await call(client, "mark_questionable", id=made["id"], reason="It was quiet.")

    anyio.run(talk)
