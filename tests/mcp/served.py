"""Servers for tests: one in this process, spoken to by the SDK's own client, and `vt mcp` in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from vault_tool import Vault
from vault_tool.mcp.server import OneThread, connection, noticing
from vault_tool.mcp.tools import Caller

ERAS = ("legacy", "auto")
"""How a client opens: with the handshake of old, or by asking what is spoken, which is the revision of today."""


@asynccontextmanager
async def client_of(
    root: Path, era: str, *, preset: str = "full", caller: Caller | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    who = caller or Caller()
    run = OneThread(partial(Vault.open, root, origin="agent"))
    try:
        async with (
            noticing(run, who) as notices,
            Client(connection(run, preset=preset, caller=who, notices=notices), mode=era, **options) as client,
        ):
            yield client
    finally:
        await run.close()


@asynccontextmanager
async def client_of_process(
    *arguments: str, era: str, cwd: Path, env: Mapping[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of `vt mcp` in a process of its own."""
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "vault_tool", "mcp", *arguments], cwd=cwd, env={**os.environ, **(env or {})}
    )
    async with Client(stdio_client(started), mode=era, **options) as client:
        yield client
