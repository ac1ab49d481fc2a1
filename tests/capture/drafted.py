"""A vault in which drafts are on, a home in which sessions lie, and a model that answers on loopback."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.capture.files import claude_lines, codex_lines, session_file
from tests.fakes.loopback import Request
from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.features.capture.session_drafts import DraftOutcome, draft_next
from vault_tool.util.clock import FixedClock
from vault_tool.vault.context import Context

LINES = {"claude-code": claude_lines, "codex": codex_lines}
NOON = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
PUMP = "Always drain the tank before Pump2 is restarted."
SUNDAYS = "Greta waters by hand on Sundays, as was decided."
CODEX_LINES = {"pump": 9, "sundays": 15}


def kept(*items: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer with these proposals."""
    usual = {"kind": "preference", "content": PUMP, "subjects": ["Pump2"], "line": 12, "confidence": 0.9, "replaces": ""}
    return {"keep": [{**usual, **item} for item in items]}


@dataclass
class Drafting:
    """The vault at `root`, its clock, and the server that is asked."""

    root: Path
    server: FakeOllama
    clock: FixedClock

    def answers(self, answer: object | Callable[[Request], object]) -> None:
        """What the model says from now on."""
        self.server.chat = answer if callable(answer) else lambda request: answer

    def ended(self, session: str = "s1", client: str = "claude-code", lines: Sequence[str] | None = None, **more: object) -> Path:
        """A session that ended two minutes ago, as its hook noted it."""
        path = session_file(self.root.parent, client, LINES[client]() if lines is None else lines, session)
        self.noted(session, client, path, **more)
        return path

    def noted(self, session: str, client: str, path: Path, **more: object) -> Path:
        """The note of a hook."""
        folder = self.root / "_local" / "ended"
        folder.mkdir(parents=True, exist_ok=True)
        at = (self.clock.now() - timedelta(minutes=2)).timestamp()
        note = {
            "session": session,
            "at": at,
            "cwd": str(self.root),
            "client": client,
            "user": "",
            "transcript": str(path),
            **more,
        }
        (folder / f"{session}.told").write_text(json.dumps(note))
        return folder / f"{session}.told"

    @contextmanager
    def opened(self) -> Iterator[Context]:
        """The vault, by this clock."""
        with Context.open(self.root, environ={**os.environ, "HOME": str(self.root.parent)}) as vault:
            vault.clock = self.clock
            yield vault

    def read(self) -> DraftOutcome:
        """One look at what ended."""
        with self.opened() as vault:
            return draft_next(vault)

    def drafts(self) -> list[str]:
        """The texts that wait."""
        with Vault.open(self.root, person=True) as vault:
            return [waiting.content for waiting in vault.review().results]

    def asked(self) -> int:
        """How often the model was asked."""
        return len(self.server.asked("/api/chat"))

    def log(self) -> list[dict[str, Any]]:
        """The log's lines."""
        path = self.root / "_local" / "capture-log.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@contextmanager
def drafting_at(root: Path, **bounds: Any) -> Iterator[Drafting]:
    """Drafts that a model on loopback makes, of sessions in the vault's own folder."""
    with FakeOllama(models={"m:latest": 8}) as server:
        with Vault.open(root, person=True) as vault:
            vault.capture(mode="draft", by=f"ollama:m@{server.url}", folders=[str(root)], **bounds)
        yield Drafting(root, server, FixedClock(NOON))
