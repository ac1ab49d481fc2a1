"""What a client is told before its owner is there is what the owner would say."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from typing import Any

import pytest

from vault_tool.mcp import opening
from vault_tool.mcp.tools import PRESETS
from vault_tool.owner.opening import Opening

CLIENT = {"name": "any", "version": "1"}
ABILITIES: tuple[dict[str, Any], ...] = (
    {},
    {"roots": {}},
    {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}, "experimental": {"x": {"y": 1}}},
)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
DEEP = json.loads('{"x": ' * 400 + "{}" + "}" * 400)
"""Nested further than the protocol's library follows."""


def _initialize(version: object = "2025-06-18", **more: object) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def _list(**more: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "two", "method": "tools/list", **more}


def test_it_is_kept_as_it_is_made() -> None:
    kept = files("vault_tool.mcp").joinpath("opening.json").read_text("utf-8")
    assert kept == opening.written(), "python -m vault_tool.mcp.opening > vault_tool/mcp/opening.json"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("version", json.loads(opening.written())["versions"])
@pytest.mark.parametrize("abilities", ABILITIES)
def test_each_answer_is_the_servers_own(preset: str, version: str, abilities: dict[str, Any]) -> None:
    asked = [_initialize(version, capabilities=abilities), READY, _list(), _list(params={}, id=3)]
    beginning = Opening(preset)
    told = [answer for one in asked if (answer := beginning.answer(one)) is not None]
    assert [json.loads(one) for one in told] == asyncio.run(opening.answers(asked, preset))
    assert all(one.endswith(b"\n") and one.count(b"\n") == 1 for one in told)
    assert beginning.is_open
    assert beginning.is_settled(READY)


@pytest.mark.parametrize(
    "said",
    [
        _initialize("1999-01-01"),
        _initialize(None),
        _initialize(clientInfo={"name": "any"}),
        _initialize(clientInfo={"name": "any", "version": 1}),
        _initialize(capabilities=[]),
        _initialize(capabilities={"roots": True}),
        _initialize(capabilities={"roots": {"listChanged": "yes"}}),
        _initialize(capabilities={"unknown": {}}),
        _initialize(capabilities={"experimental": DEEP}),
        _initialize(capabilities={"experimental": {"x": {"half": "\ud83d"}}}),
        _initialize(clientInfo={"name": "half \ud83d", "version": "1"}),
        _initialize(_meta={"progressToken": 1}),
        {**_initialize(), "id": "half \ud83d"},
        {**_initialize(), "more": DEEP},
        {**_initialize(), "id": None},
        {**_initialize(), "id": True},
        {**_initialize(), "jsonrpc": "1.0"},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}},
        _list(),
        READY,
        {},
    ],
)
def test_whatever_is_said_otherwise_waits(said: dict[str, Any]) -> None:
    beginning = Opening("lean")
    assert beginning.answer(said) is None
    assert not beginning.is_open
    assert not beginning.is_settled(said)


def test_tools_are_listed_once_the_client_is_ready() -> None:
    beginning = Opening("lean")
    assert beginning.answer(_initialize()) is not None
    assert beginning.answer(_list()) is None
    for said in ({**READY, "id": 4}, {**READY, "jsonrpc": "1.0"}):
        # The owner refuses it, and who sent the first waits for that.
        assert beginning.answer(said) is None
        assert not beginning.is_settled(said)
        assert beginning.answer(_list()) is None
    assert beginning.answer(READY) is None
    assert beginning.answer(_list(params={"cursor": "x"})) is None
    assert beginning.answer(_list()) is not None
    assert beginning.answer(_initialize()) is None
