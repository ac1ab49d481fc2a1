"""A vector server that is silent, drips, talks nonsense or was killed: by real sockets, counted by connections.

No clock is asked: a server that would hold a caller for ever is left by one that answers at all, and one that nobody asks in
the minute after has no further connection.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pytest

from tests.bounds import CAMPAIGN, PATIENCE, eventually
from tests.fakes.ollama_server import FakeOllama
from tests.index.vectors.test_chroma_server import Fake, fake  # noqa: F401  (a fixture)
from vault_tool import Vault
from vault_tool.index.vectors import chroma

pytestmark = pytest.mark.without_git

TEXTS = ("The pump is of gneiss.", "The lamp is red.", "The safe opens with brass.")
FAULTS = ("is silent", "drips", "drips after a head", "talks nonsense", "hangs up", "stops in the middle", "talks for ever")
PROGRAM = Path(sys.executable).parent / "chroma"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


class Turning:
    """A port that leads to a good server until it is turned: it counts the connections that it is given."""

    def __init__(self, behind: str) -> None:
        self._behind = int(behind.rpartition(":")[2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ended = threading.Event()
        self._open: list[socket.socket] = []
        self.how, self.connections = "", 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Turning:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        # A thread that waits in `accept` is woken by this, and by no `close`.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for line in self._open:
            line.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._listener.accept()
                self.connections += 1
                self._open.append(line)
                threading.Thread(target=self._answer, args=(line, self.how), daemon=True).start()

    def _answer(self, line: socket.socket, how: str) -> None:
        with suppress(OSError):
            if not how:
                self._lead(line)
            elif how == "hangs up":
                line.close()
            elif how == "talks nonsense":
                line.sendall(b"\x00\xff\x1b[2J{]}\r\n\r\n" * 20)
                line.close()
            elif how == "stops in the middle":
                line.recv(65_536)
                line.sendall(_HEAD + b"content-length: 900\r\n\r\n[")
                line.close()
            elif how == "is silent":
                self._ended.wait(PATIENCE)
            else:
                self._go_on(line, how)

    def _go_on(self, line: socket.socket, how: str) -> None:
        """Send something for as long as this lives."""
        if how == "drips after a head":
            line.sendall(_HEAD + b"content-length: 1000000\r\n\r\n")
        if how == "talks for ever":
            line.sendall(_HEAD + b"transfer-encoding: chunked\r\n\r\n")
        while not self._ended.wait(0.05):
            line.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n" if how == "talks for ever" else b"H" if how == "drips" else b" ")

    def _lead(self, line: socket.socket) -> None:
        """Hand on what comes, both ways."""
        with socket.create_connection(("127.0.0.1", self._behind)) as there:
            self._open.append(there)
            threading.Thread(target=_pumped, args=(there, line), daemon=True).start()
            _pumped(line, there)


def _pumped(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def opened(root: Path, ollama: FakeOllama, store: str) -> Iterator[Vault]:
    """The vault as a process of its own opens it, with its vectors at `store`."""
    environ = {"OLLAMA_HOST": ollama.url, "VAULT_PROVIDER": "ollama", "VAULT_VECTORS": store, "HOME": str(root.parent)}
    with Vault.open(root, person=True, environ=environ) as vault:
        yield vault


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama() as serving:
        yield serving


def _filled(root: Path, ollama: FakeOllama, url: str) -> None:
    (root / "_config.json").write_text(json.dumps({"unattended": True}))
    (root / "_config.json").chmod(0o600)
    with opened(root, ollama, url) as vault:
        for text in TEXTS:
            vault.remember(text, ["House"])
        vault.embed()


def _asked(root: Path, ollama: FakeOllama, store: str) -> tuple[list[str], list[str]]:
    """The memories that a question brings, and what is said of the server that holds the vectors."""
    with opened(root, ollama, store) as vault:
        answer = vault.search("pump lamp safe")
        return [str(result.id) for result in answer.results], _about_the_server(answer.degraded)


def _about_the_server(degraded: Iterable[str]) -> list[str]:
    """What is said of a server's fault; that its order is about right is said of a good one."""
    return [line for line in degraded if "127.0.0.1" in line and not line.startswith("approximate")]


@pytest.mark.parametrize("how", FAULTS)
def test_it_is_left_told_in_one_line_and_asked_by_nobody_for_a_minute(
    root: Path, ollama: FakeOllama, fake: Fake, how: str, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    with Turning(fake.url) as server:
        _filled(root, ollama, server.url)
        exact, _ = _asked(root, ollama, "exact")
        well, said = _asked(root, ollama, server.url)
        assert (well, said) == (exact, []) and any("/query" in path for _, path, _ in fake.asked)
        server.how, before = how, server.connections
        results, said = _asked(root, ollama, server.url)
        assert results == exact and server.connections == before + 1
        assert len(said) == 1 and "\n" not in said[0] and said[0].isprintable(), said
        # Another process asks, and another verb: neither tries it, and it is not told again.
        assert _asked(root, ollama, server.url) == (exact, [])
        with opened(root, ollama, server.url) as vault:
            recalled = vault.recall("what is the pump made of?")
            assert recalled.results  # type: ignore[union-attr]
            assert _about_the_server(recalled.degraded) == []
            assert vault.show(vault.remember("The well is deep.", ["House"]).id).content.strip() == "The well is deep."
        assert server.connections == before + 1
        # Once the minute is over it is asked again, and used where it answers.
        monkeypatch.setattr(chroma, "SILENT_SECONDS", 0.0)
        server.how, asked = "", len(fake.asked)
        _, said = _asked(root, ollama, server.url)
        assert said == [] and len(fake.asked) > asked and server.connections > before + 1


@pytest.mark.skipif(not CAMPAIGN or not PROGRAM.exists(), reason="VAULT_CAMPAIGN: it starts Chroma's own program twice")
def test_chromas_own_server_killed_between_two_questions(
    root: Path, ollama: FakeOllama, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    server = _running(port, tmp_path)
    try:
        with Turning(f"http://127.0.0.1:{port}") as front:
            _filled(root, ollama, front.url)
            exact, _ = _asked(root, ollama, "exact")
            before = front.connections
            assert _asked(root, ollama, front.url) == (exact, []) and front.connections > before
            server.kill()
            server.wait()
            before = front.connections
            results, said = _asked(root, ollama, front.url)
            assert results == exact and len(said) == 1
            once = front.connections
            assert once > before and _asked(root, ollama, front.url) == (exact, []) and front.connections == once
            server = _running(port, tmp_path)
            monkeypatch.setattr(chroma, "SILENT_SECONDS", 0.0)
            assert _asked(root, ollama, front.url) == (exact, []) and front.connections > once
    finally:
        server.kill()
        server.wait()


def _running(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """`chroma run` on loopback, once it takes connections."""
    server = subprocess.Popen(
        [str(PROGRAM), "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder / "chroma")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip

    def takes_connections() -> bool:
        assert server.poll() is None, "it ended by itself"
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    eventually(takes_connections)
    return server
