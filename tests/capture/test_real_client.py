"""Sessions of a real Claude Code, from `vt install` to the next session's page: the client that `VAULT_TEST_CLAUDE` names.

Its model is a stand-in on loopback. With VAULT_UPDATE_TRANSCRIPTS=1 what was seen is written to docs/recorded-session.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.capture.real_client import RealClient
from tests.cli.typed import vt_process
from tests.fakes.loopback import Request
from tests.fakes.messages_server import FakeMessages, ToolCall, has_result, spoken
from tests.git_repos import git
from vault_tool import Vault
from vault_tool.features.capture.session_digest import RULES
from vault_tool.features.capture.session_drafts import draft_next
from vault_tool.hooks.answers import MORE
from vault_tool.util.clock import FixedClock
from vault_tool.vault.context import Context

PROGRAM = os.environ.get("VAULT_TEST_CLAUDE", "")
REWRITE = os.environ.get("VAULT_UPDATE_TRANSCRIPTS") == "1"
RECORD = Path(__file__).parents[2] / "docs" / "recorded-session.md"

pytestmark = pytest.mark.skipif(not PROGRAM, reason="VAULT_TEST_CLAUDE names no program of Claude Code")

PROMPTS = (
    "hello, let us look at the greenhouse",
    "no, don't restart Pump2. always drain the tank before",
    "we decided that Greta waters by hand on Sundays",
    "thanks. left to do: the sensor in Bay4",
)
PUMP = "Always drain the tank before Pump2 is restarted."
GRETA = "Greta waters by hand on Sundays, as was decided."


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealClient]:
    """A client in a repository that holds a vault, told of it by `vt install`."""
    home, folder = tmp_path / "home", tmp_path / "greenhouse"
    for path in (home, folder):
        path.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    git(folder, "init", "-q")
    (folder / "README.md").write_text("The greenhouse's pumps.\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "begun")
    with FakeMessages(says=_says) as server:
        found = RealClient(Path(PROGRAM), home, folder, server)
        monkeypatch.setenv("PATH", found.environ["PATH"])
        assert vt_process("init", "memory", "--commit", cwd=folder).returncode == 0
        told = vt_process("install", "claude-code", cwd=folder / "memory")
        assert told.returncode == 0, told.stderr
        yield found


def test_from_install_to_the_next_sessions_page_with_point(client: RealClient) -> None:
    _set(client, mode="point")
    client.session(PROMPTS)
    first = _page(client.server.requests)
    _grow_old(client)
    client.server.requests.clear()
    client.session(["what do you know of the pumps?"])
    second = _page(client.server.requests)
    assert "The last session here kept nothing" not in first
    pointed = second[second.index("The last session here") :]
    assert "don't restart Pump2" in pointed and "Greta waters by hand" in pointed
    client.server.requests.clear()
    client.session(["and now?"])
    third = _page(client.server.requests)
    assert PUMP in third and "The last session here" not in third
    _keep("point", pointed, third)


def test_from_install_to_the_next_sessions_page_with_draft(client: RealClient) -> None:
    _set(client, mode="draft", by="claude", program=PROGRAM)
    client.session(PROMPTS)
    files = client.files()
    _grow_old(client)
    client.server.requests.clear()
    with Context.open(client.folder / "memory", environ=client.environ) as context:
        context.clock = FixedClock(datetime.now(UTC))
        outcome = draft_next(context)
    asked = [request for request in client.server.requests if request.path.startswith("/v1/messages?")]
    judged = [request for request in asked if RULES[:60] in spoken(request)]
    assert outcome.read is not None and outcome.read.drafts == 2, outcome
    assert len(judged) == 1 and not judged[0].body.get("tools")
    assert "# Memory, " not in spoken(judged[0]), "no hook of ours was run"
    assert client.files() == files, "no session's file is left"
    with Vault.open(client.folder / "memory", person=True) as vault:
        waiting = vault.review().results
        assert {one.content for one in waiting} == {PUMP, GRETA}
        said = "\n".join(f"{one.content}\n  {one.context['said']}" for one in waiting)
        vault.review(accept=[one.id for one in waiting])
    client.server.requests.clear()
    client.session(["what do you know of the pumps?"])
    page = _page(client.server.requests)
    assert PUMP in page and GRETA in page
    _keep("draft", said, page)


def _says(request: Request) -> str | ToolCall:
    """What the stand-in answers: drafts where it is asked as a judge, and the one call that keeps what a page points at."""
    asked = spoken(request)
    if RULES[:60] in asked:
        lines = {word: int(found[1]) for word in ("Pump2", "Greta") if (found := re.search(rf"L(\d+) user: .*{word}", asked))}
        keep = [
            {"kind": kind, "content": text, "subjects": [about], "line": lines[word], "confidence": 0.9, "replaces": ""}
            for kind, text, about, word in (("preference", PUMP, "Pump2", "Pump2"), ("decision", GRETA, "Greta", "Greta"))
        ]
        return json.dumps({"keep": keep})
    tools = {str(tool.get("name")) for tool in request.body.get("tools", ())}
    pointed = re.search(r"`end_session` with `session` (\S+)", asked)
    if pointed and "mcp__vault__end_session" in tools and not has_result(request):
        memory = {"content": PUMP, "kind": "preference", "subjects": ["Pump2"]}
        return ToolCall("mcp__vault__end_session", {"session": pointed[1], "memories": [memory]})
    return "I have seen it."


def _set(client: RealClient, **settings: Any) -> None:
    """What a person said at a terminal."""
    with Vault.open(client.folder / "memory", person=True, environ=client.environ) as vault:
        vault.capture(folders=[str(client.folder)], **settings)


def _grow_old(client: RealClient) -> None:
    """Have the session ended some minutes ago."""
    earlier = timedelta(minutes=5).total_seconds()
    notes = list((client.folder / "memory" / "_local" / "ended").glob("*.json"))
    assert notes, "the client's hook noted the end"
    for note in notes:
        told = json.loads(note.read_text())
        note.write_text(json.dumps({**told, "at": told["at"] - earlier}))
    for path in client.files():
        changed = path.stat().st_mtime - earlier
        os.utime(path, (changed, changed))


def _page(requests: Sequence[Request]) -> str:
    """The page that a session's hook gave its model."""
    text = next(text for text in map(spoken, requests) if "# Memory, " in text)
    text = text[text.index("# Memory, ") :].partition(MORE.strip())[0]
    return text.strip()


def _keep(name: str, told: str, page: str) -> None:
    """Compare with the record, or write it anew: without days, ids and places of this machine."""
    part = _plain(f"## With `{name}`\n\n{_TOLD[name]}\n\n{_fenced(told)}\n\n{_NEXT}\n\n{_fenced(page)}\n")
    record = RECORD.read_text(encoding="utf-8")
    if not REWRITE:
        assert part in record
        return
    begun = record.find(f"\n## With `{name}`")
    end = record.find("\n## With ", begun + 1)
    after = "" if begun < 0 or end < 0 else record[end:]
    RECORD.write_text(f"{record[: begun if begun >= 0 else None].rstrip()}\n\n{part}{after}", encoding="utf-8")


_TOLD = {
    "point": "The page of the session that followed ended with:",
    "draft": "`vt review` had two drafts, with what was said at their lines:",
}
_NEXT = "The page of the session after that one:"


def _fenced(text: str) -> str:
    return f"```markdown\n{text.strip()}\n```"


def _plain(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\d", "<date>", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "<session>", text)
    return re.sub(r"^- [0-9a-f]{6} ", "- <id> ", text, flags=re.MULTILINE)
