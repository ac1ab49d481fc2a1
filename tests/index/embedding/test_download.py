"""Fetching the model from a server on loopback: whole, in pieces, cut off, swapped, and from nobody."""

from __future__ import annotations

import hashlib
import io
import socket
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from vault_tool.errors import Busy, EmbeddingUnavailable
from vault_tool.index.embedding.download import fetch

CONTENT = {"model.onnx": b"model " * 50_000, "tokenizer.json": b"{}" * 100, "vocab.txt": b"a\nb\n"}


class Mirror:
    """Serves one archive; `cut` is after how many bytes each answer breaks off, `ranges` whether parts are given."""

    def __init__(self, data: bytes, cut: int = 0, ranges: bool = True, status: int = 0) -> None:
        self.data = data
        self.cut = cut
        self.ranges = ranges
        self.status = status
        self.asked: list[str] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range", "")
        self.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.ranges else 0
        if start >= len(self.data):
            handler.send_error(416)
            return
        rest = self.data[start:]
        handler.send_response(self.status or (206 if wanted and self.ranges else 200))
        if wanted and self.ranges:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.data) - 1}/{len(self.data)}")
        handler.send_header("Content-Length", str(len(rest)))
        handler.end_headers()
        handler.wfile.write(rest[: self.cut] if self.cut else rest)
        handler.close_connection = True

    @contextmanager
    def open(self) -> Iterator[str]:
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/onnx.tar.gz"
        server.shutdown()
        server.server_close()


def _archive(content: Mapping[str, bytes], prefix: str = "onnx/") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=0) as archive:
        for name, data in content.items():
            entry = tarfile.TarInfo(f"{prefix}{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def _fetched(models: Path, mirror: Mirror, told: list[tuple[int, int]] | None = None, sha256: str = "") -> Path:
    def progress(done: int, total: int) -> None:
        if told is not None:
            told.append((done, total))

    with mirror.open() as url:
        return fetch(models, progress, url=url, sha256=sha256 or hashlib.sha256(mirror.data).hexdigest())


def test_whole_and_in_place(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    mirror = Mirror(_archive(CONTENT))
    folder = _fetched(tmp_path, mirror, told)
    assert folder == tmp_path / "all-MiniLM-L6-v2" / "onnx"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    assert told[-1] == (len(mirror.data) // 1000, len(mirror.data) // 1000)
    assert {path.name for path in folder.parent.iterdir()} <= {"onnx", "onnx.lock"}


def test_what_breaks_off_is_continued(tmp_path: Path) -> None:
    mirror = Mirror(_archive(CONTENT), cut=130_000)
    folder = _fetched(tmp_path, mirror)
    assert (folder / "model.onnx").read_bytes() == CONTENT["model.onnx"]
    assert mirror.asked == ["", "bytes=130000-", "bytes=260000-"]


def test_the_next_run_continues_too(tmp_path: Path) -> None:
    mirror = Mirror(_archive(CONTENT), cut=60_000)
    with pytest.raises(EmbeddingUnavailable, match="run it again"):
        _fetched(tmp_path, mirror)
    assert not (tmp_path / "all-MiniLM-L6-v2" / "onnx").exists()
    mirror.cut, mirror.asked = 0, []
    assert (_fetched(tmp_path, mirror) / "model.onnx").stat().st_size == len(CONTENT["model.onnx"])
    assert mirror.asked == ["bytes=180000-"]


def test_a_server_that_gives_no_parts_starts_anew(tmp_path: Path) -> None:
    mirror = Mirror(_archive(CONTENT))
    part = tmp_path / "all-MiniLM-L6-v2" / "onnx.tar.gz.part"
    part.parent.mkdir()
    part.write_bytes(b"something else")
    mirror.ranges = False
    assert (_fetched(tmp_path, mirror) / "model.onnx").exists()


def test_a_part_that_is_already_whole_is_taken(tmp_path: Path) -> None:
    mirror = Mirror(_archive(CONTENT))
    part = tmp_path / "all-MiniLM-L6-v2" / "onnx.tar.gz.part"
    part.parent.mkdir()
    part.write_bytes(mirror.data)
    assert (_fetched(tmp_path, mirror) / "model.onnx").exists()


def test_another_archive_is_not_unpacked_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="checksum"):
        _fetched(tmp_path, Mirror(_archive(CONTENT)), sha256="0" * 64)
    assert {path.name for path in (tmp_path / "all-MiniLM-L6-v2").iterdir()} <= {"onnx.lock"}


def test_names_that_climb_stay_below(tmp_path: Path) -> None:
    models = tmp_path / "models"
    folder = _fetched(models, Mirror(_archive({**CONTENT, "extra.sh": b"x"}, prefix="../../../")))
    assert {path.name for path in folder.iterdir()} == set(CONTENT)
    assert {path.name for path in tmp_path.iterdir()} == {"models"}


def test_an_archive_without_the_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match=r"lacks model\.onnx"):
        _fetched(tmp_path, Mirror(_archive({"vocab.txt": b"a"})))
    assert not (tmp_path / "all-MiniLM-L6-v2" / "onnx").exists()


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="cannot be unpacked"):
        _fetched(tmp_path, Mirror(b"<html>" * 100))


def test_a_broken_model_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "all-MiniLM-L6-v2" / "onnx"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"half")
    _fetched(tmp_path, Mirror(_archive(CONTENT)))
    assert (folder / "model.onnx").read_bytes() == CONTENT["model.onnx"]


def test_no_network_is_said_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
    with pytest.raises(EmbeddingUnavailable, match="is there a network"):
        fetch(tmp_path, lambda done, total: None, url=url, sha256="0" * 64)
    with pytest.raises(EmbeddingUnavailable, match="answered 404"):
        _fetched(tmp_path, Mirror(b"nothing", status=404))


def test_two_at_once_do_not_mix(tmp_path: Path) -> None:
    home = tmp_path / "all-MiniLM-L6-v2"
    home.mkdir()
    with FileLock(home / "onnx.lock"), pytest.raises(Busy, match="another process"):
        _fetched(tmp_path, Mirror(_archive(CONTENT)))
