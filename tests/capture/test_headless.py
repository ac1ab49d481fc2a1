"""A client's program asked of a session without a window: what it is given, that it ends, and that only one runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from tests.bounds import PATIENCE, eventually
from tests.capture.drafted import NOON, PUMP, Drafting, kept
from tests.fakes.ollama_server import FakeOllama
from tests.founding import found_at
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.capture import headless, judges
from vault_tool.features.capture.asking_lock import alone
from vault_tool.features.capture.capture_settings import settings_of
from vault_tool.features.capture.headless import ClaudeJudge, require_trusted
from vault_tool.features.capture.judge import JudgeFault
from vault_tool.features.capture.session_digest import RULES
from vault_tool.util.clock import Clock, FixedClock
from vault_tool.watch.worker import Task, Worker

SAYS = """#!{python} -S
import json, os, sys, time
seen = {{"words": sys.argv[1:], "environ": dict(os.environ), "cwd": os.getcwd(), "files": os.listdir(), "pid": os.getpid(),
        "group": os.getpgid(0), "input": sys.stdin.read()}}
open({place!r}, "a").write(json.dumps(seen) + "\\n")
{does}
"""


def program(folder: Path, does: str) -> Path:
    """A program that notes how it was started, and then does something."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "claude"
    path.write_text(SAYS.format(python=sys.executable, place=str(folder / "seen"), does=does))
    path.chmod(0o755)
    return path


def answering(value: object, **more: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    usage = {"input_tokens": 900, "output_tokens": 40, "cache_read_input_tokens": 5}
    return f"print({json.dumps({'result': text, 'usage': usage, **more})!r})"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("VAULT_OWNER", "off")
    found = tmp_path / "v"
    found_at(found, git=False)
    return found


def drafting_by(root: Path, does: str) -> Drafting:
    path = program(root.parent / "bin", does)
    with Vault.open(root, person=True) as vault:
        vault.capture(mode="draft", by="claude", program=str(path), folders=[str(root)])
    return Drafting(root, FakeOllama(), FixedClock(NOON))


def seen(root: Path) -> list[dict[str, object]]:
    path = root.parent / "bin" / "seen"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _is_gone(pid: object) -> bool:
    return not is_running(pid)


def is_running(pid: object) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    except OSError:
        return False


def test_the_program_is_given_the_digest_and_nothing_of_this_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-for-it")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:1")
    monkeypatch.setenv("PATH", f"bin:{os.environ['PATH']}")
    drafting = drafting_by(root, answering(kept({})))
    monkeypatch.setenv("HTTPS_PROXY", "http://changed.example:1")
    drafting.ended()
    read = drafting.read().read
    assert read is not None and (read.drafts, read.tokens) == (1, 945) and drafting.drafts() == [PUMP]
    (call,) = seen(root)
    environ = call["environ"]
    assert isinstance(environ, dict) and isinstance(call["words"], list)
    assert environ["VAULT_CAPTURING"] == "1" and environ["HTTPS_PROXY"] == "http://proxy.example:1"
    names = set(environ) - {"LC_CTYPE"}
    assert names <= {"HOME", "USER", "LANG", "PATH", "HTTPS_PROXY", "VAULT_CAPTURING", *headless.PROXIES}
    assert not environ["PATH"].startswith("bin:")
    assert call["words"][-2:] == ["--system-prompt", RULES] and call["words"][:5] == ["-p", "--model", "haiku", "--tools", ""]
    assert "--strict-mcp-config" in call["words"] and '{"disableAllHooks":true}' in call["words"]
    assert "don't restart Pump2" in str(call["input"]) and call["files"] == [] and call["group"] == call["pid"]
    assert not Path(str(call["cwd"])).exists()
    with Vault.open(root) as vault:
        state = vault.capture()
    assert state.where == str(root.parent / "bin" / "claude") and "HTTPS_PROXY" in state.environ
    assert (root / "_local" / "capture.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("does", "why", "stops"),
    [
        ("sys.exit(3)", "ended with 3", False),
        ("print('no JSON')", "says: no JSON", False),
        ("print('x' * 10**7)", "more than", False),
        ("print('[' * 100000)", "ended with 0", False),
        (answering("Invalid API key \u00b7 Please run /login", is_error=True), "/login", True),
        ("print('Claude usage limit reached', file=sys.stderr); sys.exit(1)", "usage limit", True),
        ("time.sleep(600)", "did not answer", False),
        ("os.close(1); os.close(2); time.sleep(600)", "did not answer", False),
        ("import subprocess; subprocess.Popen(['sleep', '600']); time.sleep(600)", "did not answer", False),
    ],
)
def test_a_program_that_misbehaves_is_ended_and_gives_no_draft(
    root: Path, monkeypatch: pytest.MonkeyPatch, does: str, why: str, stops: bool
) -> None:
    limit = 3.0 if "sleep" in does else PATIENCE
    monkeypatch.setattr(judges, "ClaudeJudge", lambda path, environ, lock: ClaudeJudge(path, environ, lock, seconds=limit))
    drafting = drafting_by(root, does)
    drafting.ended()
    failed = drafting.read().read
    assert failed is not None and failed.what == "failed" and why in failed.why and failed.stops == stops
    for call in seen(root):
        eventually(partial(_is_gone, call["pid"]))
    with alone() as lock:
        assert lock is not None


def test_a_program_of_others_or_of_a_work_tree_is_not_started(root: Path) -> None:
    path = program(root.parent / "bin", answering({"keep": []}))
    assert require_trusted(str(path)) == str(path)
    subprocess.run(["git", "init", "-q", str(root.parent / "tree")], check=True)
    inside = program(root.parent / "tree" / "bin", "")
    link = root.parent / "bin" / "linked"
    link.symlink_to(inside)
    for wrong in ("claude", "bin/claude", str(root), str(root / "none"), str(inside), str(link)):
        with pytest.raises(UsageError):
            require_trusted(wrong)
    path.chmod(0o757)
    with pytest.raises(UsageError, match="not yours alone"):
        require_trusted(str(path))
    with pytest.raises(JudgeFault, match="not yours alone"):
        ClaudeJudge(str(path), {}).ask("", "", {})
    with Vault.open(root, person=True) as vault, pytest.raises(UsageError):
        vault.capture(mode="draft", by="claude", program=str(inside), folders=[str(root)])
    assert settings_of(root).mode == "off" and not seen(root)


@pytest.fixture
def worker(root: Path) -> Iterator[tuple[Drafting, Worker]]:
    """A job that asks a program which never answers."""
    drafting = drafting_by(root, "time.sleep(600)")
    drafting.clock = FixedClock(Clock().now())
    drafting.ended()
    job = Worker.begin(root, Task.CAPTURE)
    eventually(lambda: bool(seen(root)))
    yield drafting, job
    if not job.over():
        job.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("ending", ["the owner dies", "the job is killed", "the job is told to stop"])
def test_whoever_asks_ends_with_its_owner_and_does_not_ask_again(worker: tuple[Drafting, Worker], ending: str) -> None:
    drafting, job = worker
    (call,) = seen(drafting.root)
    assert is_running(call["pid"])
    with alone() as lock:
        assert lock is None  # one request at a time
    process = job._process
    if ending == "the owner dies":
        assert process.stdin is not None
        process.stdin.close()  # the kernel closes it with the owner, however that ends
    else:
        process.send_signal(signal.SIGKILL if ending == "the job is killed" else signal.SIGTERM)
    eventually(partial(_is_gone, call["pid"]))
    eventually(job.over)
    drafting.clock.advance(timedelta(days=2))
    assert [line["what"] for line in drafting.log()] == ["begun"]
    drafting.read()
    assert len(seen(drafting.root)) == 1


def test_the_folder_that_a_killed_job_left_is_taken_away_by_the_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root.parent / "temporary"
    for name in ("vt-capture-empty", "vt-capture-full/in", "others"):
        (folder / name).mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    judge = ClaudeJudge(str(program(root.parent / "bin", answering({"keep": []}))), {})
    judge.ask(RULES, "a session", {})
    assert {path.name for path in folder.iterdir()} == {"vt-capture-full", "others"}
