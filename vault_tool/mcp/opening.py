"""opening.json, how a server begins a conversation: `python -m vault_tool.mcp.opening > vault_tool/mcp/opening.json`.

It is kept for `owner/opening.py`, which begins one while the owner that will serve it still loads.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from vault_tool.mcp.server import serve
from vault_tool.mcp.table import LEAN
from vault_tool.mcp.tools import ALWAYS


def initialized(version: str) -> dict[str, Any]:
    """The server's answer to a client that asks for this version of the protocol."""
    client = {"name": "any", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    (answer,) = asyncio.run(answers([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}]))
    opened: dict[str, Any] = answer["result"]
    return opened


async def answers(messages: Sequence[Mapping[str, Any]], preset: str = "lean") -> list[dict[str, Any]]:
    """The answers of a server that opens no vault."""
    written: list[dict[str, Any]] = []

    async def lines() -> AsyncIterator[bytes]:
        for message in messages:
            yield json.dumps(message).encode() + b"\n"
            # The protocol's library refuses what comes before it has opened the conversation.
            while "id" in message and not any(reply.get("id") == message["id"] for reply in written):
                await asyncio.sleep(0)

    async def write(line: bytes) -> None:
        written.append(json.loads(line))

    async def no_vault(use: Any, /) -> Any:
        raise RuntimeError("no vault is asked")

    await serve(lines(), write, no_vault, preset=preset)
    return written


def written() -> str:
    """The text of opening.json."""
    result = initialized(HANDSHAKE_PROTOCOL_VERSIONS[-1])
    del result["protocolVersion"]
    record = {"versions": [*HANDSHAKE_PROTOCOL_VERSIONS], "lean": sorted(LEAN), "meta": {ALWAYS: True}, "result": result}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(written())
