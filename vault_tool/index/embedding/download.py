"""Fetching the local model when a person asks for it: resumed where it broke off, checked, put in place at once."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from vault_tool.errors import Busy, EmbeddingUnavailable, StorageError
from vault_tool.index.embedding.onnx import FILES, MODEL, folder_in
from vault_tool.util.atomic import storage
from vault_tool.util.deferred import deferred, filelock
from vault_tool.util.text import one_line

if TYPE_CHECKING:
    import httpx
else:
    httpx = deferred("httpx")  # 0.2 s

URL = "https://chroma-onnx-models.s3.amazonaws.com/all-MiniLM-L6-v2/onnx.tar.gz"
SHA256 = "913d7300ceae3b2dbc2c50d1de4baacab4be7b9380491c27fab7418616a16ec3"
MEGABYTES = 83

_WANTED = (*FILES, "config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
_PIECE = 2**16
_CONNECT, _IDLE = 10.0, 30.0
_ATTEMPTS = 3
_LARGEST = 2**30


def fetch(models: Path, progress: Callable[[int, int], None], *, url: str = URL, sha256: str = SHA256) -> Path:
    """Fetch the model's archive into a folder of models and unpack it; returns the folder of its files.

    `progress` is told kilobytes. What came of an earlier try is kept and continued. Raises EmbeddingUnavailable when
    the network or the archive is at fault, Busy when another process is at it, StorageError for the disk.
    """
    home = models / MODEL
    part = home / "onnx.tar.gz.part"
    with _alone(home):
        for attempt in range(_ATTEMPTS):
            try:
                _continue(part, url, progress)
                break
            except _BrokeOff as fault:
                if attempt == _ATTEMPTS - 1 or not fault.progressed:
                    raise fault.explained from None
        with storage(str(part), doing="read"):
            digest = _sha256(part)
        if digest != sha256:
            part.unlink()
            raise EmbeddingUnavailable(f"what {url} sent is not the model (its checksum differs)", "try again later")
        with storage(str(home)):
            _unpack(part, home)
            part.unlink()
    return folder_in(models)


class _BrokeOff(Exception):
    def __init__(self, explained: EmbeddingUnavailable, progressed: bool) -> None:
        super().__init__(explained.message)
        self.explained = explained
        self.progressed = progressed


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    with storage(str(home)):
        home.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(home / "onnx.lock", timeout=0):
            yield
    except filelock.Timeout as fault:
        raise Busy("another process is fetching the model", "wait for it") from fault


def _continue(part: Path, url: str, progress: Callable[[int, int], None]) -> None:
    """Ask for what is missing of the archive and add it to the part that is there."""
    before = _size(part)
    try:
        headers = {"Range": f"bytes={before}-"} if before else {}
        limits = httpx.Timeout(_IDLE, connect=_CONNECT)
        with httpx.stream("GET", url, headers=headers, timeout=limits, follow_redirects=True) as answer:
            if answer.status_code == 416:  # more is here than there: it may be whole, which the checksum knows
                return
            answer.raise_for_status()
            _take(answer, part, progress)
    except httpx.HTTPStatusError as fault:
        error = EmbeddingUnavailable(f"{url} answered {fault.response.status_code}", "try again later")
        raise _BrokeOff(error, progressed=False) from fault
    except (httpx.HTTPError, httpx.InvalidURL) as fault:
        reason = one_line(str(fault), 80) or type(fault).__name__
        hint = "is there a network? what has come is kept: run it again"
        raise _BrokeOff(EmbeddingUnavailable(f"{url}: {reason}", hint), _size(part) > before) from fault


def _take(answer: httpx.Response, part: Path, progress: Callable[[int, int], None]) -> None:
    continues = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {_size(part)}-")
    done = _size(part) if continues else 0
    total = done + int(answer.headers.get("Content-Length") or 0)
    with storage(str(part), need=max(total - done, 0)), open(part, "ab" if continues else "wb") as file:
        # As they come and as they are stored: gathered pieces would be lost with a connection that breaks off.
        for piece in answer.iter_raw():
            file.write(piece)
            done += len(piece)
            progress(done // 1000, total // 1000)


def _unpack(archive: Path, home: Path) -> None:
    """The wanted files of the archive, under a temporary name until all are there."""
    fresh, final = home / f"onnx.{os.getpid()}.tmp", home / "onnx"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        with tarfile.open(archive, "r:gz") as packed:
            for member in packed:
                name = member.name.rpartition("/")[2]
                source = packed.extractfile(member) if member.isreg() and name in _WANTED and member.size < _LARGEST else None
                if source is not None:
                    _copy(source, fresh / name)
        lacking = [name for name in FILES if not (fresh / name).is_file()]
        if lacking:
            raise EmbeddingUnavailable(f"the archive lacks {', '.join(lacking)}", "try again later")
        _replace(fresh, final)
    except (tarfile.TarError, EOFError) as fault:
        raise EmbeddingUnavailable(f"the archive cannot be unpacked: {one_line(str(fault), 60)}", "try again") from fault
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _copy(source: IO[bytes], target: Path) -> None:
    with open(target, "xb") as file:
        shutil.copyfileobj(source, file, _PIECE)
        file.flush()
        os.fsync(file.fileno())


def _replace(fresh: Path, final: Path) -> None:
    """Put the new folder in the place of what is there, which was incomplete or broken."""
    old = final.with_name(f"{fresh.name}.old")
    if final.exists():
        final.rename(old)
    fresh.rename(final)
    shutil.rmtree(old, ignore_errors=True)


def _sha256(path: Path) -> str:
    if not path.exists():
        raise StorageError(f"{path} is gone", "run it again")
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
