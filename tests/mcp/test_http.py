"""The server over HTTP: who may ask, what is bounded, and that both eras are served."""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Iterator, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from tests.cli.typed import vt
from tests.founding import found_at
from tests.mcp.served import ERAS, Serving, client_over_http, serving
from vault_tool import Vault
from vault_tool.files.local import LocalFolder
from vault_tool.mcp.backends import VaultBackend
from vault_tool.mcp.http import application
from vault_tool.mcp.listening import Door
from vault_tool.mcp.server import connection, noticing
from vault_tool.mcp.tools import Caller
from vault_tool.vault.one_thread import OneThread

CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
JSON = {"content_type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    root = tmp_path_factory.mktemp("http") / "lab"
    found_at(root, git=False)
    with serving(cwd=root) as found:
        yield found


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_both_eras_are_served(server: Serving, era: str) -> None:
    async def talk() -> None:
        async with client_over_http(server, era) as client:
            assert len((await client.list_tools()).tools) == 8
            made = await client.call_tool("remember", {"content": f"The pump of {era} hums at night.", "session": era})
            assert not made.is_error
            found = await client.call_tool("get", {"memory_id": made.structured_content["id"]})
            assert found.structured_content["content"] == f"The pump of {era} hums at night."
            assert "# Memory" in (await client.read_resource("vault://core")).contents[0].text  # type: ignore[union-attr]

    anyio.run(talk)


def test_several_clients_at_once_lose_nothing_and_see_what_they_wrote(server: Serving) -> None:
    async def write(number: int) -> None:
        async with client_over_http(server, ERAS[number % 2]) as client:
            for count in range(4):
                text = f"Client {number} wrote line {count} of its own."
                made = await client.call_tool("remember", {"content": text, "session": f"c{number}"})
                assert not made.is_error, made.content
                found = await client.call_tool("get", {"memory_id": made.structured_content["id"]})
                assert found.structured_content["content"] == text

    async def write_all() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(write, number)

    anyio.run(write_all)
    with Vault.open(server.root) as vault:
        found = vault.search("wrote line of its own", limit=100).results
        assert len({one.title for one in found if one.title.startswith("Client ")}) == 24


HOSTILE = [
    ({"host": "evil.example"}, 403),
    ({"host": "127.0.0.1.evil.example"}, 403),
    ({"host": "127.evil.com"}, 403),
    ({"host": ""}, 403),
    ({"host": "127.0.0.1"}, 403),
    ({"host": "127.0.0.1:1"}, 403),
    ({"host": "localhost:PORT.evil.example"}, 403),
    ({"host": "user@127.0.0.1:PORT"}, 403),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": "http://127.0.0.1:1"}, 403),
    ({"origin": "http://127.0.0.1:PORT.evil.example"}, 403),
    ({"origin": "https://127.0.0.1:PORT"}, 403),
    ({"origin": "http://127.0.0.1:PORT/"}, 403),
    ({"sec_fetch_site": "cross-site"}, 403),
    ({"sec_fetch_site": "same-site"}, 403),
    ({"authorization": ""}, 401),
    ({"authorization": "Bearer "}, 401),
    ({"authorization": "Bearer wrong"}, 401),
    ({"authorization": "Basic TOKEN"}, 401),
    ({"authorization": "Bearer TOKENx"}, 401),
    ({"authorization": "Bearer \xff\xfe"}, 401),
    ({"content_type": "text/plain"}, 400),
    ({"content_type": "application/x-www-form-urlencoded"}, 400),
]


@pytest.mark.parametrize(("headers", "status"), HOSTILE, ids=str)
def test_whoever_may_not_ask_is_refused(server: Serving, headers: dict[str, str], status: int) -> None:
    port = str(urlsplit(server.url).port)
    given = {name: value.replace("PORT", port).replace("TOKEN", server.token) for name, value in headers.items()}
    found, said, body = server.ask(body=CALL, **{**JSON, **given})
    assert found == status, body
    assert ("www-authenticate" in said) == (status == 401)
    assert b"recall" not in body


def test_its_own_page_and_names_may_ask(server: Serving) -> None:
    port = urlsplit(server.url).port
    for headers in (
        {"origin": f"http://127.0.0.1:{port}", "sec_fetch_site": "same-origin"},
        {"host": f"localhost:{port}", "origin": f"http://localhost:{port}"},
        {"host": f"[::1]:{port}"},
        {"authorization": f"  bearer {server.token}  "},
    ):
        status, _, body = server.ask(body=CALL, **{**JSON, **headers})
        assert status == 200 and b"end_session" in body, (headers, body)


def test_two_names_or_two_tokens_are_one_too_many(server: Serving) -> None:
    address = urlsplit(server.url)
    for double in (
        f"Host: {address.netloc}\r\nHost: evil.example",
        f"Host: {address.netloc}\r\nOrigin: http://{address.netloc}\r\nOrigin: x",
    ):
        import socket

        with socket.create_connection((address.hostname, address.port)) as raw:
            raw.sendall(
                f"POST /mcp HTTP/1.1\r\n{double}\r\nAuthorization: Bearer {server.token}\r\nContent-Length: 0\r\n\r\n".encode()
            )
            assert raw.recv(100).split()[1] in (b"400", b"403")


def test_signs_of_life_need_no_token_and_tell_nothing(server: Serving) -> None:
    for path, said in (("/health", b"alive\n"), ("/health/ready", b"ready\n")):
        status, headers, body = server.ask("GET", path, authorization="")
        assert (status, body) == (200, said)
        assert headers["x-content-type-options"] == "nosniff" and "server" not in headers
        assert server.ask("GET", path, authorization="", host="evil.example")[0] == 403
        assert server.ask("GET", path, authorization="", origin="https://evil.example")[0] == 403
        assert server.ask("POST", path, body=b"")[0] == 405


def test_what_is_not_there_is_said_only_to_who_may_ask(server: Serving) -> None:
    assert server.ask("GET", "/secret", authorization="")[0] == 401
    assert server.ask("GET", "/secret")[0] == 404
    assert server.ask("GET", "/mcp", accept="text/event-stream")[0] == 405
    assert server.ask("DELETE", "/mcp")[0] == 405


def test_a_request_is_bounded(server: Serving) -> None:
    large = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y" * (5 * 2**20)}}).encode()
    assert server.ask(body=large, **JSON)[0] == 413
    nested = b"[" * 100_000 + b"]" * 100_000
    assert server.ask(body=nested, **JSON)[0] == 400
    assert server.ask(body=CALL, **JSON)[0] == 200


def test_a_request_that_drips_in_is_not_waited_for(tmp_path: Path) -> None:
    found_at(tmp_path / "lab", git=False)
    backend = VaultBackend(OneThread(partial(Vault.open, tmp_path / "lab")), Caller())
    door = Door("127.0.0.1", 1, "", slowest=0.05)
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        await anyio.sleep(0.02)
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def ask() -> None:
        async with noticing(backend) as notices:
            server = connection(backend, preset="lean", caller=Caller(), notices=notices, standing=False)
            scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"host", b"127.0.0.1:1")]}
            await application(server, backend, door)(scope, receive, send)

    anyio.run(ask)
    assert sent[0]["status"] == 408


def test_the_token_is_for_its_user_alone_and_replaced_where_others_could_read_it(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    first = local.http_token()
    assert len(first) > 40 and local.http_token() == first
    assert stat.S_IMODE(local.http_token_path.stat().st_mode) == 0o600
    assert local.http_token(anew=True) != first
    kept = local.http_token()
    local.http_token_path.chmod(0o644)
    assert local.http_token() != kept
    assert stat.S_IMODE(local.http_token_path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--host", "192.0.2.1"], 6, "in the clear"),
        (["--host", "192.0.2.1", "--no-token", "--without-tls"], 6, "leave --no-token away"),
        (["--host", "0.0.0.0", "--without-tls"], 2, "--name"),
        (["--host", "192.0.2.1", "--without-tls", "--name", "x"], 2, "cannot be listened on"),
        (["--tls-cert", "c.pem"], 2, "certificate and its key"),
    ],
)
def test_what_would_let_others_in_is_refused(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    found_at(tmp_path / "lab", git=False)
    (tmp_path / "lab" / "c.pem").write_text("")
    found = vt("serve", *arguments, cwd=tmp_path / "lab")
    assert found.returncode == code and said in found.stderr, found.stderr


def test_a_port_that_is_taken_is_said_in_a_line(server: Serving, tmp_path: Path) -> None:
    found_at(tmp_path / "lab", git=False)
    found = vt("serve", "--port", str(urlsplit(server.url).port), cwd=tmp_path / "lab")
    assert found.returncode == 3 and "something else listens" in found.stderr


def test_a_session_goes_on_after_a_server_that_ended_when_it_was_told_to(tmp_path: Path) -> None:
    root = tmp_path / "lab"
    found_at(root, git=False)
    with Vault.open(root) as vault:
        vault.remember("The pump hums at night when the valve is shut.", ["Pump"])
    said: dict[str, object] = {"topic_or_context": "the pump hums at night, is the valve shut?", "session": "s1"}

    def ended(server: Serving, by: signal.Signals) -> tuple[int, tuple[bytes, bytes]]:
        server.process.send_signal(by)
        said = server.process.communicate()
        return server.process.returncode, said

    async def reminded(server: Serving) -> dict[str, object]:
        async with client_over_http(server, "auto") as client:
            found = (await client.call_tool("bring_to_mind", said)).structured_content
            assert isinstance(found, dict)
            return found

    with serving(cwd=root) as server:
        first = anyio.run(reminded, server)
        assert ended(server, signal.SIGTERM) == (0, (b"", b""))
    said["last_token"] = first["heartbeat_token"]
    with serving(cwd=root) as again:
        assert again.token == server.token
        second = anyio.run(reminded, again)
        assert ended(again, signal.SIGINT) == (0, (b"", b""))
    assert first["results"] and not second["results"]
    assert "compaction_detected" not in second
