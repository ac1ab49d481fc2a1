"""A watcher in a process of its own or on a thread, what it says, and what the indexes hold meanwhile."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import to_builtins

from tests.bounds import CAMPAIGN, PATIENCE, eventually
from tests.git_repos import git
from tests.index.vaults import found, identity, make, note, opened, path_of
from vault_tool.index.catalog import Catalog
from vault_tool.vault.context import Context
from vault_tool.watch.watcher import Watcher, WatchReport


def vault(tmp_path: Path, count: int = 12) -> Path:
    """A vault of `count` notes in a git repository, all committed."""
    root = tmp_path / "v"
    root.mkdir()
    make(root, count)
    (root / "vault.toml").write_text("")
    (root / ".gitignore").write_text("/_*\n.*.vt-*.tmp\n")
    (root / "CORE.md").write_text("# Core\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    return root


class Heard:
    """What a watcher says, as it comes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said: list[dict[str, Any]] = []
        self._lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def heard(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next thing that it says and that is wanted."""
        until = time.monotonic() + PATIENCE
        while True:
            ended = self._ended()
            try:
                said = self._lines.get(timeout=0.1 if ended else max(0.0, min(1.0, until - time.monotonic())))
            except queue.Empty:
                if not ended and time.monotonic() < until:
                    continue
                raise AssertionError(f"not said; it said {self.said[-20:]}{ended and f', and ended: {ended}'}") from None
            if wanted(said):
                return said

    def _ended(self) -> str:
        """How it ended, where it did."""
        return ""

    def change(self, path: str) -> dict[str, Any]:
        """The next thing that it says of a file."""
        return self.heard(lambda said: said.get("path") == path)

    def _says(self, said: dict[str, Any]) -> None:
        self.said.append(said)
        self._lines.put(said)

    def _unheard(self) -> list[dict[str, Any]]:
        said = []
        while not self._lines.empty():
            said.append(self._lines.get())
        return said


class Inside(Heard):
    """A watcher on a thread of this process, without chores; a context manager that ends it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.watcher = Watcher(Context.open(root), self._tell, chores=False)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.watcher.run, args=(self._stop,))

    def __enter__(self) -> Self:
        self._thread.start()
        self.heard(lambda said: str(said.get("remark", "")).startswith("watching "))
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def quiet(self) -> list[dict[str, Any]]:
        """What it has said by the time that it has heard of every earlier change, looked, and then compared all files."""
        assert self.watcher.fresh(PATIENCE)
        self.watcher._inbox.doubt("a test asks")
        assert self.watcher.fresh(PATIENCE)
        return self._unheard()

    def _tell(self, told: WatchReport) -> None:
        for change in told.changes:
            self._says(to_builtins(change))
        if told.remark:
            self._says({"remark": told.remark})


class Watched(Heard):
    """`vt watch --json` on a vault; a context manager that ends it."""

    def __init__(self, root: Path, *options: str) -> None:
        super().__init__(root)
        command = [sys.executable, "-m", "vault_tool", "watch", "--json", "--vault", str(root), *options]
        self.errors = root.parent / f"stderr-{time.monotonic_ns()}"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def __enter__(self) -> Self:
        self.heard(lambda said: str(said.get("remark", "")).startswith("watching "))
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        self._reading.join(timeout=PATIENCE)
        said = self.errors.read_text()
        assert fault is not None or said == "", said

    def quiet(self, seconds: float = 1.0) -> list[dict[str, Any]]:
        """What it says in the next seconds."""
        time.sleep(seconds)
        return self._unheard()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def _ended(self) -> str:
        if self.process.poll() is None:
            return ""
        self._reading.join(timeout=PATIENCE)
        return f"exit code {self.process.returncode}, {self.errors.read_text()!r}"

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._says(json.loads(line))


def catalogued(root: Path) -> Catalog:
    """The catalogue as the watcher left it: nothing is compared by opening it."""
    return Catalog.open(next((root / "_cache").glob("catalog-*.sqlite3")))


def in_catalogue(root: Path) -> dict[str, str]:
    """The notes that the catalogue holds, with the hashes of their content."""
    catalog = catalogued(root)
    try:
        return {path: known.hash for path, known in catalog.all_files().items() if known.kind in ("record", "page")}
    finally:
        catalog.close()


__all__ = [
    "CAMPAIGN", "Inside", "Watched", "catalogued", "eventually", "found", "git", "identity", "in_catalogue", "note", "opened",
    "path_of", "vault",
]  # fmt: skip
