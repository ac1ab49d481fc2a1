"""A Chroma server that is dead, hangs, refuses, lies or is something else: the exact search answers, soon, and says it once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.index.vaults import make
from tests.index.vectors.made import Words, agrees, brute_force, vectors_of
from vault_tool.errors import ConfigError
from vault_tool.index.vectors import chroma, chroma_client, maintenance
from vault_tool.index.vectors.chroma_http import TOKEN_HEADER, ChromaServer, place_in
from vault_tool.index.vectors.hits import StoreUnavailable
from vault_tool.index.vectors.service import Vectors
from vault_tool.machine import Key, read


@dataclass
class Fake:
    """A little Chroma: collections by name, vectors by id. `spoil` may change an answer, `asked` is all that was sent."""

    url: str = ""
    token: str = ""
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    spoil: Callable[[str, int, bytes], tuple[int, bytes]] = lambda path, status, data: (status, data)
    hang: threading.Event | None = None

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        base, _, rest = path.partition("/collections")
        assert base.startswith("/api/v2/tenants/"), path
        parts = [part for part in rest.partition("?")[0].split("/") if part]
        if not parts:
            if method == "GET":
                return 200, [{"name": name} for name in self.collections]
            made = {"id": f"{len(self.asked):08}-0000", "name": body["name"], "metadata": body["metadata"], "rows": {}}
            self.collections[body["name"]] = made
            return 200, {key: made[key] for key in ("id", "name", "metadata")}
        if len(parts) == 1:
            found = self.collections.get(parts[0])
            if found is None:
                return 404, {"error": "NotFoundError"}
            if method == "DELETE":
                del self.collections[parts[0]]
                return 200, {}
            return 200, {key: found[key] for key in ("id", "name", "metadata")}
        rows = next(one["rows"] for one in self.collections.values() if one["id"] == parts[0])
        if parts[1] == "upsert":
            assert body.keys() == {"ids", "embeddings"}
            rows.update(zip(body["ids"], body["embeddings"], strict=True))
            return 200, {}
        if parts[1] == "delete":
            for name in body["ids"]:
                rows.pop(name, None)
            return 200, {}
        if parts[1] == "count":
            return 200, len(rows)
        if parts[1] == "get":
            return 200, {"ids": list(rows)[body["offset"] : body["offset"] + body["limit"]]}
        query = body["query_embeddings"][0]
        near = sorted(rows, key=lambda name: -sum(a * b for a, b in zip(rows[name], query, strict=True)))
        return 200, {"ids": [near[: body["n_results"]]]}

    @property
    def ids(self) -> list[str]:
        """All that it has."""
        return [name for one in self.collections.values() for name in one["rows"]]


@pytest.fixture
def fake() -> Iterator[Fake]:
    serving = Fake()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

        def _do(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            serving.asked.append((self.command, self.path, text))
            if serving.hang is not None:
                serving.hang.wait(20)
            if serving.token and self.headers.get(TOKEN_HEADER) != serving.token:
                status, data = 401, b'{"error":"unauthorized"}'
            else:
                status, found = serving.answer(self.command, self.path, json.loads(text) if text else None)
                data = json.dumps(found).encode()
            status, data = serving.spoil(self.path, status, data)
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = _do

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    serving.url = f"http://127.0.0.1:{server.server_port}"
    yield serving
    if serving.hang is not None:
        serving.hang.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "v", 12)


def _filled(root: Path, fake: Fake, **more: Any) -> Vectors:
    vectors = vectors_of(root, Words(), store=fake.url, **more)
    vectors.catch_up()
    vectors.mirror()
    return vectors


def test_it_answers_as_the_exact_store_and_gets_no_text(root: Path, fake: Fake) -> None:
    vectors = _filled(root, fake)
    hits = vectors.search(vectors.query("amber"), 5)
    assert vectors.fault == "" and agrees(hits, brute_force(root, Words(), "amber"))
    assert any("/query" in path for _, path, _ in fake.asked)
    sent = "\n".join(f"{path} {text}" for _, path, text in fake.asked)
    for file in (root / "vault").rglob("*.md"):
        assert file.stem not in sent
    for word in ("amber", "vault/", "observation", root.name + "/", "words:hashed"):
        assert word not in sent, word
    vectors.close()


def test_two_folders_share_no_collection_and_no_name(tmp_path: Path, fake: Fake) -> None:
    ids: list[set[str]] = []
    for name in ("a", "b"):
        _filled(make(tmp_path / name, 4), fake).close()
        ids.append(set(fake.ids) - {one for known in ids for one in known})
    assert len(fake.collections) == 2 and all(ids) and not ids[0] & ids[1]


def _spoilt(fake: Fake, how: str) -> None:
    garbage = {
        "html": (200, b"<html>hello</html>"), "other json": (200, b'{"hello": "world"}'), "a list": (200, b"[[1, 2]]"),
        "error": (500, b"oops"), "elsewhere": (302, b""), "nothing": (200, b""), "forbidden": (403, b"no"), "unknown": (401, b""),
    }  # fmt: skip
    if how == "foreign ids":
        lie = b'{"ids": [["0#0", "vault/a.md#0"]]}'
        fake.spoil = lambda path, status, data: (200, lie) if "/query" in path else (status, data)
    elif how == "numbers for ids":
        fake.spoil = lambda path, status, data: (200, b'{"ids": [[1, 2]]}') if "/query" in path else (status, data)
    elif how == "another collection":
        fake.spoil = lambda path, status, data: (status, data.replace(b'"nonce": "', b'"nonce": "x'))
    elif how == "hangs":
        fake.hang = threading.Event()
    else:
        fake.spoil = lambda path, status, data: garbage[how]


@pytest.mark.parametrize(
    "how",
    [
        "html", "other json", "a list", "error", "elsewhere", "nothing", "forbidden", "unknown", "foreign ids", "numbers for ids",
        "another collection", "hangs",
    ],
)  # fmt: skip
def test_whatever_it_answers_the_exact_search_does(root: Path, fake: Fake, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "SERVER_SECONDS", 0.5)
    vectors = _filled(root, fake)
    vectors.close()
    _spoilt(fake, how)
    again = vectors_of(root, Words(), store=fake.url)
    hits = again.search(again.query("amber"), 5)
    assert again.fault and agrees(hits, brute_force(root, Words(), "amber"))
    again.close()


def test_a_server_that_failed_is_not_asked_for_a_minute_by_anybody(
    root: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    _filled(root, fake).close()
    fake.spoil = lambda path, status, data: (500, b"oops")
    first = vectors_of(root, Words(), store=fake.url)
    first.search(first.query("amber"), 5)
    assert "500" in first.fault
    first.close()
    asked = len(fake.asked)
    other = vectors_of(root, Words(), store=fake.url)
    assert agrees(other.search(other.query("amber"), 5), brute_force(root, Words(), "amber"))
    assert len(fake.asked) == asked and other.fault == "", "said once"
    monkeypatch.setattr(chroma, "SILENT_SECONDS", 0.0)
    other.search(other.query("amber"), 5)
    assert len(fake.asked) > asked and other.fault
    fake.spoil = lambda path, status, data: (status, data)
    other.search(other.query("amber"), 5)
    assert other.fault == ""
    other.close()


def test_a_token_is_shown_in_its_header_and_a_wrong_one_is_told(root: Path, fake: Fake) -> None:
    fake.token = "s3cret-of-the-lab"
    vectors = _filled(root, fake, token=Key(fake.token))
    assert fake.ids and vectors.fault == ""
    vectors.close()
    wrong = vectors_of(root, Words(), store=fake.url, token=Key("another"))
    wrong.search(wrong.query("amber"), 5)
    assert "token" in wrong.fault and "another" not in wrong.fault
    wrong.close()


def test_a_token_goes_to_no_host_in_the_clear() -> None:
    with pytest.raises(StoreUnavailable, match="clear"):
        ChromaServer("http://vectors.example.org:8000", Key("s3cret"))
    ChromaServer("https://vectors.example.org:8000", Key("s3cret"))


def test_tenant_and_database_stand_in_the_path(root: Path, fake: Fake) -> None:
    fake_at = vectors_of(root, Words(), store=f"{fake.url}/lab/notes")
    fake_at.catch_up()
    fake_at.mirror()
    assert {path.partition("/collections")[0] for _, path, _ in fake.asked} == {"/api/v2/tenants/lab/databases/notes"}
    fake_at.close()
    assert place_in("https://host:1") == ("default_tenant", "default_database")


@pytest.mark.parametrize("url", ["http://h/one", "http://h/a/b/c", "http://u:p@h", "http://h?x=1", "ftp://h", "h:8000"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, url: str) -> None:
    config = tmp_path / "_config.json"
    config.write_text(json.dumps({"vectors": url}))
    with pytest.raises(ConfigError, match="vectors"):
        read(config, {})


def test_a_deletion_waits_for_a_server_that_is_down_and_keeps_no_name(root: Path, fake: Fake) -> None:
    vectors = _filled(root, fake)
    note = min((root / "vault" / "observations").rglob("*.md"))
    path = note.relative_to(root).as_posix()
    before = set(fake.ids)
    code = chroma_client.coder(root)
    note.unlink()
    vectors.close()
    maintenance.erase(root / "_cache", [path], 5.0, code)
    again = vectors_of(root, Words(), store=fake.url)
    again.catch_up()
    fake.spoil = lambda path, status, data: (500, b"oops")
    with pytest.raises(StoreUnavailable):
        again.delete_gone(2.0)
    assert maintenance.undeleted(root / "_cache", 5.0) == {fake.url: 1}
    for kept in (root / "_cache").rglob("*"):
        assert not kept.is_file() or "ledger" not in kept.name or note.stem.encode() not in kept.read_bytes(), kept
    fake.spoil = lambda path, status, data: (status, data)
    again.delete_gone(2.0)
    assert maintenance.undeleted(root / "_cache", 5.0) == {}
    gone = before - set(fake.ids)
    assert gone and all(name.startswith(code(path)) for name in gone)
    again.close()


def test_it_takes_no_longer_than_it_may(root: Path, fake: Fake) -> None:
    _filled(root, fake).close()
    fake.hang = threading.Event()
    vectors = vectors_of(root, Words(), store=fake.url)
    begun = time.monotonic()
    vectors.search(vectors.query("amber"), 5)
    # Twice what it may take in all, for a busy machine; a hanging server would hold it for 20.
    assert time.monotonic() - begun < 10 and "did not answer" in vectors.fault
    vectors.close()
