"""Where a Chroma is, in a folder or at an address, and when it may be opened. The only importer of chromadb."""

from __future__ import annotations

import hashlib
import secrets
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from vault_tool.errors import StorageError, VaultError
from vault_tool.files.local import LocalFolder
from vault_tool.index.seals import discard, make_way
from vault_tool.index.vectors import chroma_http
from vault_tool.index.vectors.hits import GONE, StoreUnavailable
from vault_tool.machine import Key
from vault_tool.util import atomic
from vault_tool.util.deferred import deferred
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    import chromadb
else:
    chromadb = deferred("chromadb")  # 1 s

FOLDER = "chroma"
_NO_KEY = Key()
PROBE_SECONDS = 120.0
_SAVED = "index_metadata.pickle"


class DoesNotOpen(StoreUnavailable):
    """The folder did not open in the time that a caller waits; it was left as it is."""


class Home:
    """Where a Chroma is. Of one at an address no file tells anything; one in a folder is looked at before it is opened."""

    __slots__ = ()

    vault: str
    """What keeps the collections of different vaults apart; empty where there can be one alone."""
    is_remote = False
    """Whether it is at an address, where no name or text of a note goes."""

    def code(self, path: str) -> str:
        """The name of a note there."""
        return path

    @property
    def name(self) -> str:
        """The store's name in the ledger and to people."""
        raise NotImplementedError

    def check(self, seconds: float) -> None:
        """Raises StoreUnavailable when it must not be opened, or does not open within so many seconds.

        What is broken is set aside, and what does not open within `PROBE_SECONDS`: with less patience it is left as it is.
        """

    def connect(self) -> Any:
        """A client; any fault of Chroma's may come out."""
        raise NotImplementedError

    def note_stamp(self) -> None:
        """Note how it is after a write of ours."""

    def stamp(self) -> object:
        """A value that changes with a write to the store, as far as files tell."""
        return None

    def noted_stamp(self) -> object:
        """The stamp after the last write of ours."""
        return None


def load() -> None:
    """Load Chroma: before a clock runs that is meant for its answers, for this takes as long as the machine is busy."""
    import chromadb  # noqa: F401  (500 ms, and only where Chroma is asked)


class InFolder(Struct, Home):
    """Chroma in this process, in the cache. Its index files end the process that opens them when they are cut short,
    so they are compared with how the last writer left them, and tried in a child process when they are otherwise."""

    folder: Path
    vault: str = ""

    @property
    def name(self) -> str:
        """See Home."""
        return "chroma"

    def check(self, seconds: float) -> None:
        """See Home."""
        if not self.folder.is_dir():
            raise StoreUnavailable(f"the Chroma collection is not made yet; {step('embed')} makes it")
        if self.noted_stamp() == self._fingerprint():
            return
        opened = _opens(self.folder, seconds)
        if opened is None and seconds < PROBE_SECONDS:
            raise DoesNotOpen(
                f"the Chroma collection did not open within {seconds:.0f} s; {step('embed')} looks at it for longer"
            )
        if not opened:
            self.set_aside()
            raise StoreUnavailable(f"the Chroma collection was broken and is set aside; {step('embed')} makes it anew")
        self.note_stamp()

    def connect(self) -> Any:
        """See Home."""
        make_way(self.folder, folder=True)
        return chromadb.PersistentClient(str(self.folder), settings=_settings())

    def note_stamp(self) -> None:
        """See Home."""
        with suppress(StorageError):
            atomic.write(self._seal, orjson.dumps(self._fingerprint()), durable=False)

    def stamp(self) -> object:
        """See Home."""
        return self._fingerprint()

    def set_aside(self) -> None:
        """Put it out of the way unopened; what was put there before goes."""
        for old in self.folder.parent.glob(f"{self.folder.name}.broken-*"):
            discard(old)
        with suppress(OSError):
            self.folder.rename(self.folder.with_name(f"{self.folder.name}.broken-{secrets.token_hex(4)}"))
        discard(self._seal)

    @property
    def _seal(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.seal")

    def noted_stamp(self) -> object:
        """See Home."""
        try:
            return orjson.loads(self._seal.read_bytes())
        except (OSError, ValueError):
            return None

    def _fingerprint(self) -> list[list[Any]]:
        """The stats of its files. Opening it touches the times of the database, so that one is known by its size alone."""
        files: list[list[Any]] = []
        for file in sorted(self.folder.rglob("*")):
            with suppress(OSError):
                if file.is_file() and not file.name.endswith(("-wal", "-shm", "-journal")) and self._is_read(file):
                    status = file.stat()
                    times = [] if file.suffix == ".sqlite3" else [status.st_mtime_ns, status.st_ctime_ns]
                    files.append([str(file.relative_to(self.folder)), status.st_size, status.st_ino & (2**63 - 1), *times])
        return files

    def _is_read(self, file: Path) -> bool:
        """Whether Chroma reads it: an index of under a thousand texts is never saved whole, and each reader writes it anew."""
        return file.parent == self.folder or (file.parent / _SAVED).exists()


class AtAddress(Struct, Home):
    """A Chroma server; `vault` keeps the collections of different vaults apart."""

    url: str
    vault: str
    key: bytes = b""
    token: Key = Key()
    is_remote = True

    @property
    def name(self) -> str:
        """See Home."""
        return self.url

    def check(self, seconds: float) -> None:
        """See Home."""

    def code(self, path: str) -> str:
        """See Home: by a key of this folder's, so that the name says nothing."""
        if path.startswith(GONE):
            return path.removeprefix(GONE)
        return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), key=self.key, digest_size=16).hexdigest()

    def connect(self) -> Any:
        """See Home."""
        return chroma_http.ChromaServer(self.url, self.token)


def home(store: str, root: Path, cache: Path, token: Key = _NO_KEY) -> Home:
    """Where the Chroma is that a setting names: `chroma` for the folder in the cache, else the address of a server."""
    if store == "chroma":
        return InFolder(cache / FOLDER)
    try:
        key = LocalFolder(root).vectors_key()
    except VaultError as fault:
        raise StoreUnavailable(fault.message) from fault
    return AtAddress(store, hashlib.blake2b(key, digest_size=8).hexdigest(), key, token)


def coder(root: Path) -> Callable[[str], str]:
    """A function from the path of a note to the name that it has at a server."""
    return AtAddress("", "", LocalFolder(root).vectors_key()).code


def look_through(folder: Path) -> None:
    """Open every collection and search it: what a child process does to see whether it survives."""
    client = chromadb.PersistentClient(str(folder), settings=_settings())
    for collection in client.list_collections():
        stored = client.get_collection(collection.name, embedding_function=None)
        embeddings = stored.get(limit=1, include=["embeddings"])["embeddings"]
        if stored.count() and embeddings is not None and len(embeddings):
            # Many, so that the graph is walked and not only entered.
            stored.query(query_embeddings=embeddings[:1], n_results=min(stored.count(), 500), include=["distances"])


def _opens(folder: Path, seconds: float) -> bool | None:
    """Whether a child process can open it and lives; None where it is not done after so many seconds, and is ended."""
    command = [sys.executable, "-m", "vault_tool.index.vectors.chroma_probe", str(folder)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    except OSError:
        return False
    return done.returncode == 0


def _settings() -> Any:
    from chromadb.config import Settings  # as above

    return Settings(anonymized_telemetry=False)
