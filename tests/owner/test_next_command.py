from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bounds import PATIENCE, eventually
from tests.fakes import tiny_model
from tests.index.vaults import identity, note, path_of
from tests.mcp.served import Lines
from tests.mcp.test_streams import INITIALIZE
from tests.owner.clients import at_work_on, owners_of
from tests.owner.owned import Owned, by_the_owner, timeless, vault, without
from tests.terminal import at_terminal
from vault_tool import Vault
from vault_tool.files import watcher_presence
from vault_tool.owner.client import reach
from vault_tool.owner.next_command import COMING_UP
from vault_tool.owner.spawning import make_way
from vault_tool.watch.jobs import Jobs

ALLOWED = {"VAULT_OWNER": "on"}
GET = ("get", identity(3))
SEARCH = ("search", "stone", "--json")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A vault that commands have used before; whoever owns it ends with the test."""
    found = vault(tmp_path)
    assert _typed(found, *GET, VAULT_OWNER="off")[0] == 0
    yield found
    (found / "_config.json").unlink(missing_ok=True)
    # On a busy machine a second one may have been started, which waits for the first to go.
    eventually(lambda: not make_way(found) and not at_work_on(found))


def _typed(root: Path, *arguments: str, **environ: str) -> tuple[int, str, str]:
    """A command in a process of its own, its output read by a program."""
    line = [sys.executable, "-m", "vault_tool", *arguments]
    env = {**os.environ, **environ}
    done = subprocess.run(line, cwd=root, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def _tried(root: Path) -> bool:
    """Whether a command tried to start an owner: it notes that before it begins."""
    return (root / "_local" / "owner.lock").exists()


def _owner_of(root: Path, after: int = 0) -> watcher_presence.Owner:
    """The owner once it is warm, another than the process `after`, whose record may stand a moment longer."""
    eventually(lambda: (found := watcher_presence.owner(root)) is not None and found.warm and found.pid != after)
    found = watcher_presence.owner(root)
    assert found is not None
    return found


def test_a_command_starts_an_owner_and_the_next_is_answered_by_it(root: Path) -> None:
    first = _typed(root, *SEARCH, **ALLOWED)
    owner = _owner_of(root)
    assert owner.background
    answer = by_the_owner(SEARCH, os.environ, root)
    assert timeless(answer) == timeless(first) == timeless(_typed(root, *SEARCH, **ALLOWED))
    assert f"owner:           process {owner.pid} since" in without(["status"], os.environ, root)[1]
    assert owners_of(root) == [owner.pid]


def _hooked(root: Path, event: str, **environ: str) -> str:
    """What an event of a new session is given by a process of its own."""
    told = json.dumps({"session_id": secrets.token_hex(4), "cwd": str(root), "prompt": "What is on the other stone?"})
    line = [sys.executable, "-m", "vault_tool", "hook", event, "--client", "claude-code"]
    env = {**os.environ, "VAULT_HOOK_SECONDS": str(PATIENCE), **environ}
    return subprocess.run(
        line, cwd=root, env=env, input=told, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout


@pytest.mark.parametrize("event", ["session-start", "prompt"])
def test_a_hook_that_finds_no_owner_leaves_one_for_the_next(root: Path, event: str) -> None:
    alone = _hooked(root, event, VAULT_OWNER="off")
    assert alone and not _tried(root)
    assert _hooked(root, event, **ALLOWED) == alone
    owner = _owner_of(root)
    assert owner.background and owners_of(root) == [owner.pid]
    assert _hooked(root, event, **ALLOWED) == alone


def test_the_end_of_a_session_leaves_none(root: Path) -> None:
    assert _hooked(root, "session-end", **ALLOWED) == ""
    assert not _tried(root)


def test_of_several_commands_at_once_one_starts_it(root: Path) -> None:
    line = [sys.executable, "-m", "vault_tool", *SEARCH]
    at_once = [
        subprocess.Popen(line, cwd=root, env={**os.environ, **ALLOWED}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    assert [(each.communicate(timeout=PATIENCE)[1], each.returncode) for each in at_once] == [(b"", 0)] * 4
    owner = _owner_of(root)
    assert owners_of(root) == [owner.pid] and [*at_work_on(root)] == [owner.pid]


def test_one_that_was_killed_is_followed_by_another_after_a_while(root: Path) -> None:
    _typed(root, *SEARCH, **ALLOWED)
    first = _owner_of(root)
    os.kill(first.pid, signal.SIGKILL)
    eventually(lambda: watcher_presence.owner(root) is None)
    lock = root / "_local" / "owner.lock"
    os.utime(lock)
    assert _typed(root, *SEARCH, **ALLOWED)[0] == 0
    assert watcher_presence.owner(root) is None and not at_work_on(root), "one may just be coming up"
    os.utime(lock, (time.time() - COMING_UP - 1,) * 2)
    assert _typed(root, *SEARCH, **ALLOWED)[0] == 0
    assert _owner_of(root, after=first.pid).pid != first.pid


@pytest.mark.parametrize(
    ("line", "environ"),
    [
        (SEARCH, {"VAULT_OWNER": "off"}),
        (SEARCH, {}),  # what runs tests says that it is no person's session
        (SEARCH, {"VAULT_OWNER": "", "CI": "", "GIT_DIR": ".git"}),
        (["status"], ALLOWED),
        (["remember", "Basalt is a stone.", "--type", "fact"], ALLOWED),
        (["search", "--help"], ALLOWED),
        (["get", "-"], ALLOWED),
        (["owner", "--stop"], ALLOWED),
        (["config", "--owner", "on"], ALLOWED),
    ],
    ids=str,
)
def test_nothing_is_started_where_it_is_not_wanted_or_would_answer_nothing(
    root: Path, line: list[str], environ: dict[str, str]
) -> None:
    _typed(root, *line, **environ)
    assert not _tried(root)


def test_nothing_is_started_by_a_person_at_a_terminal(root: Path) -> None:
    os.environ.update(ALLOWED)  # the test's own
    assert "Stone" in at_terminal("search", "stone", cwd=root).stdout
    assert not _tried(root)


def test_a_session_that_says_nothing_of_owners_starts_one(root: Path) -> None:
    _typed(root, *SEARCH, CI="")
    assert _owner_of(root).background


@pytest.mark.parametrize("settings", ['{"owner": "off"}', "no settings at all"])
def test_nothing_is_started_where_this_machine_forbids_it(root: Path, settings: str) -> None:
    (root / "_config.json").write_text(settings)
    _typed(root, *SEARCH, CI="")
    assert not _tried(root)


def test_nothing_is_started_in_a_vault_whose_local_files_lie_elsewhere_or_cannot_be_written(root: Path, tmp_path: Path) -> None:
    local = root / "_local"
    local.rename(tmp_path / "elsewhere")
    local.symlink_to(tmp_path / "elsewhere")
    _typed(root, *SEARCH, **ALLOWED)
    assert not _tried(root)
    local.unlink()
    (tmp_path / "elsewhere").rename(local)
    (local / "owner.lock").mkdir()
    assert _typed(root, *SEARCH, **ALLOWED)[0] == 0
    assert not at_work_on(root)
    (local / "owner.lock").rmdir()


def test_it_leaves_after_its_time_and_when_owners_are_switched_off(root: Path) -> None:
    assert Owned(root, "--for-commands", "--idle", "0.5").end() == (0, "")
    assert not at_work_on(root)
    _typed(root, *SEARCH, CI="")
    owner = _owner_of(root)
    assert _typed(root, "config", "--owner", "off")[0] == 0
    eventually(lambda: owner.pid not in at_work_on(root))
    assert _typed(root, *SEARCH, CI="")[0] == 0 and not at_work_on(root)


def test_settings_that_are_switched_off_by_hand_end_it_at_the_next_question(root: Path) -> None:
    with Owned(root, "--for-commands") as owned:
        (root / "_config.json").write_text('{"owner": "off"}')
        by_the_owner(GET, os.environ, root)
        assert owned.end()[0] == 0


def test_a_vault_that_is_deleted_is_gone(root: Path) -> None:
    with Owned(root, "--for-commands") as owned:
        assert by_the_owner(GET, os.environ, root)
        (root / path_of(3)).write_text(note(3, "Of basalt, which is heavy."))
        while root.exists():  # the owner may be writing there
            shutil.rmtree(root, ignore_errors=True)
        assert owned.end() == (0, "")
    assert not root.exists()
    vault(root.parent)


def test_one_for_commands_makes_room_for_what_is_meant_to_stay(root: Path) -> None:
    with Owned(root, "--for-commands") as passing:
        assert _is_passing(root)
        assert without(["owner", "--background"], os.environ, root)[0] == 0
        assert passing.end() == (0, "")
        assert not _is_passing(root)


def test_an_agents_client_of_another_environment_has_an_owner_of_its_own(root: Path) -> None:
    with Owned(root, "--for-commands") as passing:
        other = Lines("mcp", cwd=root, env={**ALLOWED, "VAULT_PROVIDER": "none"})
        other.send(INITIALIZE)
        assert other.receive()["result"]["serverInfo"]["name"] == "vault"
        assert passing.end() == (0, "")
        eventually(lambda: watcher_presence.owner(root) is not None)
        other.end()
        os.environ["VAULT_PROVIDER"] = "none"  # the test's own, for whoever ends the owner after it


def test_one_for_commands_stays_for_an_agents_client(root: Path) -> None:
    with Owned(root, "--for-commands") as passing:
        client = Lines("mcp", cwd=root, env=ALLOWED)
        client.send(INITIALIZE)
        assert client.receive()["result"]["serverInfo"]["name"] == "vault"
        assert not _is_passing(root)
        client.end()
        assert passing.process.poll() is None


def _is_passing(root: Path) -> bool:
    found = reach(str(root), PATIENCE)
    assert found is not None
    found[0].socket.close()
    return bool(found[1]["passing"])


def _of_many(root: Path, models: Path) -> dict[str, str]:
    """More notes than an answer embeds by itself, and a local model; the environment that has it."""
    for number in range(100, 182):
        (root / path_of(number)).write_text(note(number, f"Pump {number} hums."), encoding="utf-8")
    tiny_model.put(models, 1)
    return {**ALLOWED, "CI": "", "VAULT_PROVIDER": "local", "VAULT_MODELS": str(models)}


def test_a_question_has_the_next_one_answered_by_meaning(root: Path, tmp_path: Path) -> None:
    environ = _of_many(root, tmp_path / "models")
    assert json.loads(_typed(root, *SEARCH, **environ)[1])["degraded"] == ["no embeddings: 98 notes to embed; `vt embed`"]
    _owner_of(root)
    # Another environment than the owner's: it answers by itself, and embeds nothing.
    eventually(lambda: not json.loads(_typed(root, *SEARCH, **environ, OPENAI_BASE_URL="http://127.0.0.1:9")[1])["degraded"])


def test_who_only_looks_has_nothing_embedded(root: Path, tmp_path: Path) -> None:
    environ = _of_many(root, tmp_path / "models")
    with Vault.open(root, environ=environ) as vault:
        vault.fresh()
        jobs = Jobs(lambda _: None, lambda: True)
        jobs.now(vault)
        behind = [vault.embedding.vectors.missing_count()]
        vault.recall("which pump hums?", count=False)
        jobs.now(vault)
        behind.append(vault.embedding.vectors.missing_count())
        assert behind == [98, 0]
