"""A real Claude Code at a terminal, whose model is a stand-in on loopback, in a home of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bounds import PATIENCE
from tests.fakes.messages_server import FakeMessages

_KEY = "no-key-of-anybody-00000000000000000000"
_SIZE = struct.pack("HHHH", 40, 120, 0, 0)
_READY = b"shortcuts"


@dataclass
class RealClient:
    """The client's `program` in a person's `home` and `folder`, told to ask `server`."""

    program: Path
    home: Path
    folder: Path
    server: FakeMessages

    def __post_init__(self) -> None:
        self._told(self.home / ".claude" / "settings.json", {
            "env": {
                "ANTHROPIC_BASE_URL": self.server.url, "ANTHROPIC_API_KEY": _KEY, "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
            "permissions": {"allow": ["mcp__vault"]},
        })  # fmt: skip
        # What a person is asked at the first start is answered already.
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
        self._told(self.home / ".claude.json", {
            "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {str(self.folder): known},
        })  # fmt: skip

    @staticmethod
    def _told(path: Path, more: dict[str, object]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        settings = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**settings, **more}))

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a terminal at which it is started."""
        path = f"{self.program.parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "HOME": str(self.home), "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8", "USER": "person"}

    def session(self, prompts: Sequence[str]) -> str:
        """Type these prompts, each after the answer to the one before, and leave; what its screen showed."""
        before = set(self.files())
        outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, _SIZE)
        process = subprocess.Popen(
            [str(self.program)], cwd=self.folder, env=self.environ, stdin=inner, stdout=inner, stderr=inner,
            start_new_session=True,
        )  # fmt: skip
        os.close(inner)
        screen = _Screen(outer)
        try:
            screen.wait_for(lambda: _READY in screen.shown)
            for number, prompt in enumerate(prompts):
                screen.type(prompt)
                screen.wait_for(lambda count=number + 1: self._answers(before) >= count)
            screen.type("/exit")
            screen.wait_for(lambda: process.poll() is not None)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
            os.close(outer)
        return screen.shown.decode("utf-8", "replace")

    def files(self) -> list[Path]:
        """The files of its sessions."""
        return list(self.home.glob(".claude/projects/*/*.jsonl"))

    def _answers(self, before: set[Path]) -> int:
        """How many texts of the model stand in the session's file, which was not there before."""
        lines = [
            line for path in self.files() if path not in before for line in path.read_text("utf-8").splitlines(keepends=True)
        ]
        turns = [json.loads(line) for line in lines if line.endswith("\n")]
        blocks = [block for turn in turns if turn.get("type") == "assistant" for block in turn["message"]["content"]]
        return sum(block.get("type") == "text" for block in blocks)


class _Screen:
    """The person's end of a terminal."""

    def __init__(self, outer: int) -> None:
        self._outer = outer
        self.shown = b""

    def type(self, text: str) -> None:
        """Type a line; what is typed is on the screen before it is sent."""
        begun = len(self.shown)
        os.write(self._outer, text.encode())
        self.wait_for(lambda: text[-4:].encode() in self.shown[begun:])
        os.write(self._outer, b"\r")

    def wait_for(self, is_so: object) -> None:
        """Read what is shown until something is so."""
        assert callable(is_so)
        until = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < until, self.shown[-2000:].decode("utf-8", "replace")
            if select.select([self._outer], [], [], 0.1)[0]:
                with suppress(OSError):
                    self.shown += os.read(self._outer, 2**16)
