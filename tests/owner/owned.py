"""An owner in a process of its own, and what a command line prints by it and without it."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.bounds import PATIENCE, eventually
from tests.cli.typed import vt
from tests.index.vaults import make
from tests.nobody import with_key
from vault_tool.files import watcher_presence
from vault_tool.files.watcher_presence import Owner
from vault_tool.owner import address
from vault_tool.owner.front import answered
from vault_tool.owner.spawning import answers

_MOMENTS = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")


def vault(folder: Path) -> Path:
    """A small vault without git."""
    root = folder / "v"
    root.mkdir()
    make(root)
    (root / "vault.toml").write_text("")
    return root


def environment(folder: Path) -> dict[str, str]:
    """An environment of its own for what serves the tests of a whole module: each test has another one.

    Its user's key is that of every test: what a test made in a vault is that user's own.
    """
    private = folder / "run"
    private.mkdir(mode=0o700)
    ours = ("GIT_", "VAULT_", "XDG_", "OLLAMA_", "OPENAI_")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return environ | {
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(private),
        "XDG_DATA_HOME": str(with_key(folder)),
        "OLLAMA_HOST": "127.0.0.1:9",
    }


class Owned:
    """`vt owner` on a vault; a context manager that ends it however it is."""

    def __init__(self, root: Path, *options: str, command: str = "owner", environ: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.environ = dict(os.environ if environ is None else environ)
        line = [sys.executable, "-m", "vault_tool", command, "--vault", str(root), *options]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(line, env=self.environ, text=True, **pipes)  # type: ignore[call-overload]

    def __enter__(self) -> Self:
        self.stands()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.end()

    def stands(self) -> Owner:
        """What it says of itself, once it answers and is warm."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "environ", self.environ)
            eventually(lambda: self._is_warm() or self.process.poll() is not None)
            assert self.process.poll() is None, self.process.communicate()
            eventually(lambda: answers(self.root))
        found = watcher_presence.owner(self.root)
        assert found is not None
        return found

    def _is_warm(self) -> bool:
        found = watcher_presence.owner(self.root)
        return found is not None and found.pid == self.process.pid and bool(found.warm)

    def end(self) -> tuple[int, str]:
        """Its exit code and what it said on standard error, once it has ended by itself."""
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


def by_the_owner(arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> tuple[int, str, str] | None:
    """What the owner answers to a command line: the exit code and both texts; None where it is not asked or declines."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(os, "environ", dict(environ))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = answered(arguments)
    out.flush()
    err.flush()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return None if code is None else (code, texts[0], texts[1])


def of_the_owner(arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> tuple[int, str, str]:
    """The same of an owner that is there. Where the machine is busy it may not greet in time, and is done without: ask again."""
    found: list[tuple[int, str, str]] = []

    def asked() -> bool:
        answer = by_the_owner(arguments, environ, cwd)
        found.extend([answer] if answer is not None else [])
        return answer is not None

    eventually(asked)
    return found[0]


@contextmanager
def kept_busy(root: Path) -> Iterator[None]:
    """Somebody who asks of a vault again and again, so that its owner is never idle."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(0.05):
            if (line := address.connect(str(root), PATIENCE)) is not None:
                line.close()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()


def without(arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> tuple[int, str, str]:
    """The same by a fresh look, without an owner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", dict(environ))
        done = vt(*arguments, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def timeless(said: tuple[int, str, str] | None) -> tuple[int, str, str] | None:
    """An answer without the moment at which it was given."""
    return said and (said[0], _MOMENTS.sub("then", said[1]), said[2])
