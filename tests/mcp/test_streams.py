"""The server at the two ends of a stream: what it is sent, what it writes, and when it ends."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from tests.bounds import PATIENCE
from tests.mcp.served import Lines
from vault_tool import Vault
from vault_tool.mcp.server import serve
from vault_tool.mcp.tools import Caller
from vault_tool.vault.one_thread import OneThread

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


def test_nothing_is_opened_before_it_is_asked_for_and_nothing_else_is_written(root: Path) -> None:
    before = sorted(root.rglob("*"))
    server = Lines("mcp", cwd=root)
    server.send(INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert server.receive()["result"]["serverInfo"]["name"] == "vault"
    for number, method in enumerate(("tools/list", "prompts/list", "resources/list", "resources/templates/list"), 2):
        server.send({"jsonrpc": "2.0", "id": number, "method": method})
        assert "error" not in server.receive()
    assert sorted(root.rglob("*")) == before
    server.send(b"no json", b'{"jsonrpc": "2.0"', b"\xff\xfe\x00", b"[" * 5000, b"", b"null")
    server.send({"jsonrpc": "2.0", "id": 9, "method": "no/such", "params": {}})
    while (found := server.receive()).get("id") != 9:
        assert "error" in found
    assert found["error"]["code"] == types.METHOD_NOT_FOUND
    call = {"name": "remember", "arguments": {"content": "A line of it."}}
    server.send({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": call})
    assert server.receive()["result"]["isError"] is False
    rest, said = server.end()
    assert rest == b"" and b"Traceback" not in said
    assert server.process.returncode == 0


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_told_to_though_its_client_stays(root: Path, told: signal.Signals) -> None:
    server = Lines("mcp", cwd=root)
    server.send(INITIALIZE)
    assert "result" in server.receive()
    server.process.send_signal(told)
    assert server.process.wait(PATIENCE) == 0
    assert server.end() == (b"", b"")


def test_nothing_that_a_client_sends_ends_the_server_but_its_leaving(root: Path) -> None:
    server = Lines("mcp", cwd=root)
    server.send(INITIALIZE)
    assert "result" in server.receive()

    def call(number: int, name: str, arguments: str) -> bytes:
        return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}' % (
            number, name.encode(), arguments.encode(),
        )  # fmt: skip

    server.send(
        call(2, "remember", '{"content": "half \\ud83d"}'),
        call(3, "remember", '{"content": "' + "long " * 2_200_000 + '"}'),
        call(4, "remember", '{"content": "whole", "session": "half \\udc00"}'),
        call(5, "recall", '{"query": ' + "[" * 2000 + "]" * 2000 + "}"),
        call(6, "recall", '{"query": "x", "limit": 1e400}'),
        call(7, "recall", '{"query": "x"}'),
    )
    answers: dict[object, dict[str, Any]] = {}
    while 7 not in answers:
        found = server.receive()
        answers[found.get("id")] = found
    for number in range(2, 7):
        one = answers.get(number, {})  # a line that is no JSON has no id to answer to
        assert not one or "error" in one or one["result"]["isError"], number
    assert "result" in answers[7]
    assert server.process.stdin is not None
    server.process.stdin.write(b'{"jsonrpc": "2.0", "id": 8, "meth')
    rest, said = server.end()
    assert server.process.returncode == 0 and b"Traceback" not in said
    assert all("error" in json.loads(line) for line in rest.splitlines())
    with Vault.open(root) as vault:
        assert vault.get_stats().observation_count == 0


def test_a_stream_pair_is_served_as_an_owner_serves_it(root: Path) -> None:
    async def talk() -> None:
        import asyncio

        here, there = socket.socketpair()
        run = OneThread(partial(Vault.open, root, origin="agent"))
        reader, writer = await asyncio.open_connection(sock=there, limit=2**24)

        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        serving = asyncio.create_task(serve(reader, write, run, preset="full", caller=Caller(session="s9")))
        mine, out = await asyncio.open_connection(sock=here, limit=2**24)
        call = {"name": "remember", "arguments": {"content": f"Long: {'word ' * 20_000}"}}
        for message in (INITIALIZE, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}):
            out.write(json.dumps(message).encode() + b"\n")
            assert "result" in json.loads(await mine.readline())
        out.close()
        await serving
        writer.close()
        await run.close()

    anyio.run(talk)
    with Vault.open(root) as vault:
        assert vault.search("long word").results[0].origin == "agent"


def test_what_was_asked_before_the_lines_ended_is_answered(root: Path) -> None:
    """As where an owner leaves: it reads no more, and of what it has read nothing is at work yet."""
    call = {"name": "remember", "arguments": {"content": "The quarry is closed on Mondays."}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = (INITIALIZE, ready, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    said: list[dict[str, Any]] = []

    async def lines() -> AsyncIterator[bytes]:
        for one in asked:
            yield json.dumps(one).encode() + b"\n"

    async def write(data: bytes) -> None:
        said.append(json.loads(data))

    async def talk() -> None:
        run = OneThread(partial(Vault.open, root, origin="agent"))
        await serve(lines(), write, run, preset="full")
        await run.close()

    anyio.run(talk)
    assert [one["id"] for one in said] == [1, 2] and all("result" in one for one in said), said
    with Vault.open(root) as vault:
        assert len(vault.search("quarry Mondays").results) == 1
