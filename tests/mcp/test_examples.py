"""Every tool is called with the example of the table, by clients of both eras; its result is valid against its schema."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client

from tests.bounds import CAMPAIGN
from tests.git_repos import git
from tests.mcp.served import ERAS, client_of_process, client_over_http, serving
from vault_tool import Vault
from vault_tool.mcp.table import TOOLS
from vault_tool.mcp.tools import named


@pytest.fixture
def story(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A vault that the examples speak of, and what the ids that they name mean in it."""
    root = tmp_path / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root, origin="agent", session="k3f9") as vault:
        ids = _told(vault)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the lab")
    return root, ids


def _told(vault: Vault) -> dict[str, str]:
    about = ["Redis", "Homelab"]
    problem = vault.remember(
        "Redis drops idle connections after 300 s, and the workers then wait for nothing.", about, kind="problem",
        title="Redis drops idle connections",
    )  # fmt: skip
    vault.remember(
        "A pool that checks connections before use ended it.", about, kind="solution", problem=problem.id,
        title="A pool keeps connections alive", tags=["network"], steps=["set the pool to 20", "restart the workers"],
    )  # fmt: skip
    vault.remember("Redis wants a restart each week.", ["Redis"], kind="fact", title="Redis needs a restart each week")
    soon = (datetime.now(UTC) + timedelta(days=9)).isoformat(timespec="seconds")
    vault.remember("The spare disk is lent until then.", ["Homelab"], kind="fact", title="The spare disk is lent", expires=soon)
    vault.remember("A slip of the keys.", ["Slip"], kind="fact", title="An accident of this session")
    for number in range(4):
        vault.remember(f"The host of the lab hummed at {number + 3} in the night.", about, kind="fact")
    vault.create_subjects([{"name": "Redis cluster", "summary": "The same, by another name."}])
    vault.create_understanding(["Redis"], "Redis is run by hand.", "By hand.", title="How Redis is run")
    links = [vault.link("How Redis is run", "RELATED_TO", problem.id, "it came of it").id,
             vault.link("How Redis is run", "FOLLOWS", "Redis needs a restart each week", "a habit").id]  # fmt: skip
    return {"a11ce5": links[0], "b0b0b0": links[1]}


def _meant(value: Any, ids: dict[str, str]) -> Any:
    return ids.get(value, value) if isinstance(value, str) else value


def _empty_in(value: Any) -> Iterator[Any]:
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if one in (None, "", [], {}):
            yield one
        yield from _empty_in(one)


@asynccontextmanager
async def client_by(way: str, era: str, root: Path) -> AsyncIterator[Client]:
    """The SDK's client of `vt mcp` or of `vt serve`, each in a process of its own."""
    if way == "stdio":
        async with client_of_process("--vault", str(root), "--preset", "full", era=era, cwd=root) as client:
            yield client
    else:
        with serving("--preset", "full", cwd=root) as server:
            async with client_over_http(server, era) as client:
                yield client


WAYS = ("stdio", "http")
PAIRS = [*itertools.product(WAYS, ERAS)] if CAMPAIGN else [*zip(WAYS, ERAS[::-1], strict=True)]
"""Each way and each era once; in a campaign each with each."""


@pytest.mark.parametrize(("way", "era"), PAIRS)
def test_every_tool_answers_its_example_as_its_schema_says(story: tuple[Path, dict[str, str]], way: str, era: str) -> None:
    root, ids = story
    said: dict[str, str] = {}

    async def call_all() -> None:
        async with client_by(way, era, root) as client:
            for name, described in TOOLS.items():
                if name == "consolidate_next":
                    at_hand = await client.call_tool(name, {})
                    assert at_hand.structured_content is not None
                    ids[described.example["packet"]] = at_hand.structured_content["packet"]["id"]
                arguments = {key: _meant(value, ids) for key, value in described.example.items()}
                found = await client.call_tool(name, arguments)
                assert not found.is_error, (name, found.content)
                said[name] = found.content[0].text  # type: ignore[union-attr]
                answer = json.loads(said[name])
                assert found.structured_content == answer
                Draft202012Validator(named("full")[name]["outputSchema"]).validate(answer)
                assert not list(_empty_in(answer)), (name, answer)

    anyio.run(call_all)
    assert "Redis drops idle connections" in said["recall"]
    assert "What waits" not in said["orient"]
    assert all(path not in said["remember"] for path in ("committed", "vault/observations"))
    for name in ("search", "related", "read", "get_understandings", "open_around", "consolidate", "history", "tags"):
        assert len(said[name]) > 40, (name, said[name])
