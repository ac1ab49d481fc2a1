"""Servers for tests: one in this process, spoken to by the SDK's own client, and `vt mcp` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from msgspec.structs import replace

from tests.bounds import PATIENCE
from vault_tool import Vault
from vault_tool.mcp.backends import VaultBackend
from vault_tool.mcp.server import connection, noticing
from vault_tool.mcp.tools import Caller
from vault_tool.vault.one_thread import OneThread

ERAS = ("legacy", "auto")
"""How a client opens: with the handshake of old, or by asking what is spoken, which is the revision of today."""


ALONE = {"VAULT_OWNER": "off"}
"""Has a server serve by itself: tests/owner has those that an owner serves."""


@asynccontextmanager
async def client_of(
    root: Path, era: str, *, preset: str = "full", caller: Caller | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    who = replace(caller or Caller(), preset=preset)
    run = OneThread(partial(Vault.open, root, origin="agent"))
    backend = VaultBackend(run, who)
    try:
        async with (
            noticing(backend, every=0.1, preset=preset) as notices,
            Client(connection(backend, preset=preset, caller=who, notices=notices), mode=era, **options) as client,
        ):
            yield client
    finally:
        await run.close()


@asynccontextmanager
async def client_of_process(
    *arguments: str, era: str, cwd: Path, env: Mapping[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of `vt mcp` in a process of its own, which serves by itself unless `env` says otherwise."""
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "vault_tool", "mcp", *arguments], cwd=cwd, env={**os.environ, **ALONE, **(env or {})}
    )
    async with Client(stdio_client(started), mode=era, **options) as client:
        yield client


class Lines:
    """`vt mcp` in a process of its own, spoken to line by line: what it writes is read as it stands; alone as above."""

    def __init__(self, *arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vault_tool", *arguments], cwd=cwd, env={**os.environ, **ALONE, **(env or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def send(self, *messages: bytes | Mapping[str, Any]) -> None:
        """Write messages, or lines that are none."""
        assert self.process.stdin is not None
        for one in messages:
            self.process.stdin.write((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message; every line that it writes must be one."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert found["jsonrpc"] == "2.0"
        return found

    def end(self) -> tuple[bytes, bytes]:
        """Close its input; what it had still to say, on both streams."""
        return self.process.communicate()


@dataclass(frozen=True)
class Serving:
    """`vt serve` in a process of its own: where it is found, and what must be shown."""

    root: Path
    url: str
    token: str
    process: subprocess.Popen[bytes]

    def ask(
        self, method: str = "POST", path: str = "/mcp", body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """One request as it is given, no header added but its length; the status, headers and body of the answer."""
        address = urlsplit(self.url)
        connection = HTTPConnection(str(address.hostname), address.port or 80)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            given = {"host": address.netloc, "authorization": f"Bearer {self.token}"}
            given |= {name.replace("_", "-"): value for name, value in headers.items()}
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            found = connection.getresponse()
            return found.status, {name.lower(): value for name, value in found.getheaders()}, found.read()
        finally:
            connection.close()


@contextmanager
def serving(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """`vt serve` on a port of its own choice; alone as above."""
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_tool", "serve", "--port", "0", "--json", *arguments],
        cwd=cwd, env={**os.environ, **ALONE, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        said = "".join(iter(lambda: process.stdout.readline().decode(), "}\n")) + "}"  # type: ignore[union-attr]
        found = json.loads(said)
        token = Path(found["token_file"]).read_text().strip() if found["token_file"] else ""
        yield Serving(cwd, found["url"], token, process)
    finally:
        process.terminate()
        process.communicate()


@asynccontextmanager
async def client_over_http(server: Serving, era: str) -> AsyncIterator[Client]:
    """A client of it."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {server.token}"}, timeout=PATIENCE) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=era) as client,
    ):
        yield client
