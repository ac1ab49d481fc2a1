"""Connections of those who show no token, or never finish a request's headers, keep nobody out of `vt serve`."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.bounds import PATIENCE
from tests.founding import found_at
from tests.mcp.served import Serving, serving
from tests.mcp.test_http import CALL, JSON


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    root: Path = tmp_path_factory.mktemp("strangers") / "lab"
    found_at(root, git=False)
    with serving(cwd=root) as found:
        yield found


def _connected(server: Serving, said: bytes) -> socket.socket:
    address = urlsplit(server.url)
    line = socket.create_connection((str(address.hostname), address.port or 80), timeout=PATIENCE)
    line.sendall(said)
    return line


HALF = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "
REFUSED = b"POST /mcp HTTP/1.1\r\nhost: %s\r\ncontent-length: 2\r\n\r\n{}"


@pytest.mark.parametrize("said", [b"", HALF, REFUSED, b"nonsense"], ids=["nothing", "half a head", "no token", "nonsense"])
def test_who_shows_the_token_is_served_beside_many_who_do_not(server: Serving, said: bytes) -> None:
    host = urlsplit(server.url).netloc.encode()
    crowd = [_connected(server, said % host if said is REFUSED else said) for _ in range(140)]
    try:
        for _ in range(3):
            assert server.ask(body=CALL, **JSON)[0] == 200
    finally:
        for line in crowd:
            line.close()


@pytest.mark.parametrize("said", [b"", HALF, b"G"])
def test_headers_that_do_not_come_in_whole_end_the_connection(server: Serving, said: bytes) -> None:
    line = _connected(server, said)
    try:
        assert line.recv(100) in (b"", b"HTTP/1.1 408")
    except ConnectionResetError:
        pass
    finally:
        line.close()


def test_a_connection_that_is_kept_ends_in_the_same_way(server: Serving) -> None:
    line = _connected(server, b"GET /health HTTP/1.1\r\nhost: %s\r\n\r\n" % urlsplit(server.url).netloc.encode())
    assert line.recv(4096).startswith(b"HTTP/1.1 200")
    line.sendall(HALF)
    try:
        while line.recv(4096):
            pass
    except ConnectionResetError:
        pass
    line.close()


def test_a_name_is_the_same_in_capitals(server: Serving) -> None:
    port = urlsplit(server.url).port
    for host in (f"LOCALHOST:{port}", f"LocalHost:{port}"):
        assert server.ask(body=CALL, host=host, **JSON)[0] == 200


def test_two_hundred_clients_who_come_at_once_are_all_answered(server: Serving) -> None:
    address = urlsplit(server.url)
    head = f"POST /mcp HTTP/1.1\r\nhost: {address.netloc}\r\nauthorization: Bearer {server.token}\r\n"
    head += (
        f"content-type: application/json\r\naccept: {JSON['accept']}\r\ncontent-length: {len(CALL)}\r\nconnection: close\r\n\r\n"
    )
    # All of them are connected before the first says anything, as they are where the server is at work.
    crowd = [_connected(server, b"") for _ in range(200)]
    for line in crowd:
        line.sendall(head.encode() + CALL)
    answers = [line.makefile("rb").read() for line in crowd]
    for line in crowd:
        line.close()
    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
    assert all(b"end_session" in answer for answer in answers)
