"""Hooks where an owner keeps the vault warm: it gives the text, and where it does not the hook does so by itself."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN, eventually
from tests.owner.owned import Owned, environment
from tests.owner.owned import vault as make
from vault_tool import Vault
from vault_tool.files.layout import OWNER_FILE
from vault_tool.hooks.clients import COMPACTION, END, PROMPT, START

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the owner was tried on sockets of files alone")

IDLE = "Redis drops idle connections after 300 s because of the firewall."

HOOK = """
import sys
from vault_tool.hooks.running import answered
event, data = sys.argv[1:]
sys.stdout.buffer.write(answered(event, "claude-code", data.encode(), {}))
print("by itself" if "vault_tool.hooks.answers" in sys.modules else "by the owner", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owned]:
    root = make(tmp_path_factory.mktemp("hooks"))
    with Vault.open(root) as vault:
        vault.remember(IDLE, ["Redis"], kind="problem")
        with Vault.open(root, user="ann") as hers:
            hers.remember("For ann redis drops idle connections at noon.", ["Redis"], kind="problem")
    with Owned(root, environ=environment(root.parent)) as found:
        yield found


def hooked(owned: Owned, event: str, session: str, environ: Mapping[str, str] | None = None, **told: str) -> tuple[str, str]:
    """What an event brings, and whose answer it was."""
    data = json.dumps({"session_id": session, "cwd": str(owned.root), **told})
    env = {**owned.environ, **(environ or {})}
    done = subprocess.run([sys.executable, "-c", HOOK, event, data], env=env, capture_output=True, text=True, check=True)
    text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
    return text, done.stderr.strip()


def test_the_owner_gives_page_and_reminders_as_a_process_of_its_own_would(owned: Owned) -> None:
    prompt = "why does redis drop idle connections?"
    asked: list[tuple[str, dict[str, str]]] = [(START, {"source": "startup"}), (PROMPT, {"prompt": prompt})]
    for event, told in (*asked, (PROMPT, {"prompt": prompt, "user_id": "ann"})):
        text, whose = hooked(owned, event, f"owned {event} {len(told)}", {}, **told)
        assert whose == "by the owner"
        assert (text, "by itself") == hooked(owned, event, f"alone {event} {len(told)}", {"VAULT_OWNER": "off"}, **told)
        assert IDLE in text and ("For ann" in text) is ("user_id" in told)
    assert hooked(owned, PROMPT, f"owned {PROMPT} 1", prompt=prompt) == ("", "by the owner"), "it was answered"
    assert hooked(owned, COMPACTION, f"owned {PROMPT} 1") == ("", "by the owner")
    assert IDLE in hooked(owned, PROMPT, f"owned {PROMPT} 1", prompt=f"{prompt} now")[0], "the seen log was emptied"


def test_what_has_nothing_to_say_asks_nobody(owned: Owned) -> None:
    for event, told in ((PROMPT, {"prompt": "/compact"}), (START, {"source": "resume"}), (END, {})):
        look = "import sys; exec(sys.stdin.read()); print(*sys.modules)"
        data = json.dumps({"session_id": "quiet", "cwd": str(owned.root), **told})
        script = HOOK.replace("event, data = sys.argv[1:]", f"event, data = {event!r}, {data!r}")
        done = subprocess.run(
            [sys.executable, "-c", look], input=script, env=owned.environ, capture_output=True, text=True, check=True
        )
        loaded = set(done.stdout.split())
        assert "vault_tool.hooks.running" in loaded and not loaded & {"vault_tool.owner.client", "vault_tool.hooks.answers"}


def test_one_that_hangs_warms_up_or_keeps_another_vault_is_not_waited_for(owned: Owned, tmp_path: Path) -> None:
    prompt = {"prompt": "redis drops idle connections"}
    owned.process.send_signal(signal.SIGSTOP)
    try:
        text, whose = hooked(owned, PROMPT, "hanging", {}, **prompt)
    finally:
        owned.process.send_signal(signal.SIGCONT)
    assert IDLE in text and whose == "by itself"
    record = owned.root / "_local" / OWNER_FILE
    said = record.read_text()
    record.write_text(json.dumps({**json.loads(said), "warm": []}))
    try:
        text, whose = hooked(owned, PROMPT, "warming", {}, **prompt)
    finally:
        record.write_text(said)
    assert IDLE in text and whose == "by itself"
    assert hooked(owned, START, "other", cwd=str(make(tmp_path)))[1] == "by itself"


@contextmanager
def _written_to(path: Path) -> Iterator[None]:
    """Another process writes to the catalogue for as long as this lasts, and a note that changed cannot be taken in."""
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        held.close()


def _begins(owned: Owned, event: str, session: str, **told: str) -> subprocess.Popen[str]:
    """A hook that waits for an owner which has begun to answer it, and does not come to its end."""
    data = json.dumps({"session_id": session, "cwd": str(owned.root), **told})
    command = [sys.executable, "-c", HOOK, event, data]
    asking = subprocess.Popen(command, env=owned.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    eventually(lambda: _is_begun(owned.root, session))
    return asking


def _is_begun(root: Path, session: str) -> bool:
    """Whether an event of a session was noted as begun, and whoever noted it has let go of the sessions again."""
    kept = (json.loads(path.read_text()) for path in (root / "_local" / "sessions").glob("*.json"))
    if not any(state["id"] == session and state["answered"] for state in kept):
        return False
    import fcntl  # not on Windows

    with open(root / "_local" / "sessions.lock", "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize(
    ("event", "how"),
    [*itertools.product((START, PROMPT), (signal.SIGKILL, signal.SIGSTOP))]
    if CAMPAIGN
    else [(START, signal.SIGKILL), (PROMPT, signal.SIGSTOP)],
)
def test_an_owner_that_is_killed_or_stopped_in_the_middle_leaves_nobody_without_words(
    event: str, how: signal.Signals, tmp_path: Path
) -> None:
    told = {"prompt": "redis drops idle connections", "source": "startup"}
    root = make(tmp_path)
    with Vault.open(root) as vault:
        vault.remember(IDLE, ["Redis"], kind="problem")
    owned = Owned(root, environ=environment(tmp_path))
    with owned, _written_to(root / "_cache" / "catalog.lock"):
        note = next((root / "vault" / "observations").rglob("*.md"))
        note.write_text(note.read_text() + "\nMore of it.\n")
        asking = _begins(owned, event, "middle", **told)
        owned.process.send_signal(how)
        # Where others use the machine the owner may have said it before.
        out, _ = asking.communicate()
        assert IDLE in json.loads(out)["hookSpecificOutput"]["additionalContext"]
        # Who comes second was told by the first.
        assert hooked(owned, event, "middle", {"VAULT_OWNER": "off"}, **told)[0] == ""


@pytest.mark.parametrize("event", [START, PROMPT])
def test_an_owner_that_is_at_work_for_others_leaves_nobody_without_words(event: str, owned: Owned, tmp_path: Path) -> None:
    asked = {"prompt": "redis drops idle connections", "source": "startup"}
    with _written_to(owned.root / "_cache" / "catalog.lock"):
        note = next((owned.root / "vault" / "observations").rglob("*.md"))
        note.write_text(note.read_text() + "\nMore of it.\n")
        command = [sys.executable, "-m", "vault_tool", "--vault", str(owned.root), "search", "redis"]
        with subprocess.Popen(command, env=owned.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
            text, _ = hooked(owned, event, f"busy {event}", {}, **asked)
            assert IDLE in text
            other.kill()


def test_a_vault_that_does_not_serve_the_folder_it_lies_in_says_nothing_there(owned: Owned, tmp_path: Path) -> None:
    (tmp_path / "memory").symlink_to(owned.root)
    assert hooked(owned, START, "beside", cwd=str(tmp_path)) == ("", "by itself")
