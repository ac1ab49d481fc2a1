from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.bounds import CAMPAIGN, PATIENCE, eventually
from tests.mcp.served import ERAS, Lines, client_of_process
from tests.mcp.test_streams import INITIALIZE
from tests.owner.owned import Owned, environment, vault, without
from vault_tool import Vault
from vault_tool.files import watcher_presence
from vault_tool.owner.relay import LOST, relayed
from vault_tool.owner.spawning import make_way

ALLOWED = {"VAULT_OWNER": "on"}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A vault whose owner, whoever started it, ends with the test."""
    found = vault(tmp_path)
    os.environ.update(ALLOWED)  # the environment is the test's own, and an owner's must be like it
    yield found
    while make_way(found):
        pass
    eventually(lambda: watcher_presence.owner(found) is None)


@pytest.fixture(scope="module")
def _owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owned]:
    """One owner for the tests that leave it at work."""
    folder = tmp_path_factory.mktemp("owned")
    with Owned(vault(folder), environ=environment(folder)) as found:
        yield found


@pytest.fixture
def owned(_owned: Owned, monkeypatch: pytest.MonkeyPatch) -> Owned:
    """That owner, with its environment for whatever asks in this process."""
    monkeypatch.setattr(os, "environ", {**_owned.environ})
    return _owned


def _call(number: int, tool: str, **arguments: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@contextmanager
def _relay(root: Path, *arguments: str) -> Iterator[Lines]:
    """`vt mcp` with a conversation of old begun."""
    lines = Lines("mcp", "--preset", "full", *arguments, cwd=root, env=ALLOWED)
    try:
        lines.send(INITIALIZE)
        assert lines.receive()["result"]["serverInfo"]["name"] == "vault"
        lines.send(READY)
        yield lines
    finally:
        lines.process.kill()
        lines.process.communicate()


def _text(said: dict[str, Any]) -> str:
    return str(said["result"]["content"][0]["text"])


def test_clients_of_either_era_are_served_by_one_owner(owned: Owned) -> None:
    root = owned.root

    async def talk(era: str, stone: str) -> None:
        claude = {**ALLOWED, "CLAUDE_CODE_SESSION_ID": "s-7", "CLAUDE_PROJECT_DIR": str(root.parent / "plum")}
        async with (
            client_of_process("--vault", str(root), era=era, cwd=root.parent, env=claude) as first,
            client_of_process("--preset=full", era=era, cwd=root, env=ALLOWED) as second,
        ):
            assert (len((await first.list_tools()).tools), len((await second.list_tools()).tools) > 8) == (8, True)
            made = await first.call_tool("remember", {"content": f"The build needs {stone}.", "subject_names": ["Build"]})
            assert made.structured_content is not None and not made.is_error
            found = await second.call_tool("get", {"memory_id": made.structured_content["id"]})
            assert stone in str(found.structured_content)
            (written,) = (path.read_text() for path in root.rglob("observations/**/*.md") if stone in path.read_text())
            assert "project: plum" in written and "session: s-7" in written

    for era, stone in zip(ERAS, ("gneiss", "marble"), strict=True):
        anyio.run(talk, era, stone)


def test_what_is_asked_before_the_input_ends_is_answered_and_nothing_else_is_printed(owned: Owned) -> None:
    lines = Lines("mcp", cwd=owned.root, env=ALLOWED)
    lines.send(INITIALIZE, READY, b"no json", b"", _call(2, "recall", query="stone"), _call(3, "nothing"))
    out, err = lines.end()
    said = [json.loads(line) for line in out.splitlines()]
    assert {one.get("id") for one in said} >= {1, 2, 3} and err == b"" and lines.process.returncode == 0
    assert owned.process.poll() is None
    assert watcher_presence.owner(owned.root) is not None


@pytest.mark.without_coverage
def test_a_relay_is_small(owned: Owned) -> None:
    with _relay(owned.root) as relay:
        relay.send(_call(2, "recall", query="stone"))
        relay.receive()
        status = dict(line.split(":", 1) for line in Path(f"/proc/{relay.process.pid}/status").read_text().splitlines())
        assert int(status["VmHWM"].split()[0]) <= 25_000


def test_an_owner_is_started_and_after_its_death_another_takes_the_conversation_up(root: Path) -> None:
    with _relay(root) as relay, _relay(root) as other:
        # The conversation begins before its owner is there.
        other.send(_call(9, "recall", query="stone"))
        assert other.receive()["id"] == 9
        for turn in range(CAMPAIGN or 2):
            first = watcher_presence.owner(root)
            assert first is not None and first.background
            subscribed = {"jsonrpc": "2.0", "id": 10, "method": "resources/subscribe", "params": {"uri": "vault://subject/Stone"}}
            if not turn:
                relay.send(subscribed)
                assert relay.receive() == {"jsonrpc": "2.0", "id": 10, "result": {}}
            # What is under way when it dies: it stands still, so that nobody knows how far it came.
            os.kill(first.pid, signal.SIGSTOP)
            relay.send(_call(20, "recall", query="stone"), _call(21, "remember", content=f"Of schist, {turn}."))
            relay.send(_call(24, "episode", title=f"Schist {turn}", summary="A look."))
            other.send(_call(22, "recall", query="stone"))
            os.kill(first.pid, signal.SIGKILL)
            said = {one["id"]: one for one in (relay.receive(), relay.receive(), relay.receive())}
            assert "Stone" in _text(said[20]) or "stone" in _text(said[20])
            assert not said[21]["result"].get("isError"), "what can be said twice is said again"
            assert said[24]["result"]["isError"] and _text(said[24]) == LOST
            assert other.receive()["id"] == 22
            second = watcher_presence.owner(root)
            assert second is not None and second.pid != first.pid
            relay.send(_call(23, "remember", content=f"Stone is schist, {turn}.", subject_names=["Stone"]))
            heard = [relay.receive()]
            while {"id", "method"} - {name for one in heard for name in one}:
                heard.append(relay.receive())
            (made,) = [one for one in heard if one.get("id") == 23]
            assert not made["result"].get("isError")
            told = {one["params"]["uri"] for one in heard if "method" in one}
            assert told == {"vault://subject/Stone"}, "what was subscribed to is still told of"
    code, out, _ = without(["search", "schist", "--mode", "text", "--json", "--limit", "1000"], os.environ, root)
    assert code == 0 and len(json.loads(out)["results"]) >= 2 * (CAMPAIGN or 2), "what was acknowledged is there"


@pytest.mark.parametrize("version", ["2025-06-18", "1999-01-01"])
def test_what_is_said_before_the_owner_is_there_is_done_once_and_in_order(root: Path, version: str) -> None:
    opening = json.loads(json.dumps(INITIALIZE))
    opening["params"]["protocolVersion"] = version
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    writing, asking = _call(3, "remember", content="A heron at the weir."), _call(4, "recall", query="heron")
    asked: list[Mapping[str, Any]] = [READY, listing, writing, asking]
    lines = Lines("mcp", cwd=root, env=ALLOWED)
    lines.send(opening)
    first = lines.receive()
    assert first["id"] == 1 and first["result"]["serverInfo"]["name"] == "vault"
    lines.send(*asked)
    found = {(said := lines.receive())["id"]: said["result"] for _ in range(3)}
    assert {one["name"] for one in found[2]["tools"]} >= {"remember", "recall"}
    assert not found[3].get("isError"), found[3]
    lines.send(_call(5, "recall", query="heron"))
    assert "A heron at the weir." in str(lines.receive())
    with Vault.open(root) as vault:
        assert [one.title for one in vault.search("heron").results] == ["A heron at the weir"]
    assert watcher_presence.owner(root) is not None
    assert lines.end()[0] == b""


def test_one_that_hangs_is_followed_by_a_server_of_the_clients_own(owned: Owned) -> None:
    with _relay(owned.root) as relay:
        owned.process.send_signal(signal.SIGSTOP)
        relay.send(_call(2, "recall", query="stone"))
        relay.process.send_signal(signal.SIGCONT)
        assert relay.receive()["id"] == 2
        owned.process.send_signal(signal.SIGCONT)
        relay.send(_call(3, "recall", query="stone"))
        assert relay.receive()["id"] == 3


def test_an_owner_that_leaves_answers_first_what_is_under_way(root: Path) -> None:
    with Owned(root) as owned, _relay(root) as relay:
        relay.send(*[_call(number, "remember", content=f"Of slate, {number}.") for number in range(2, 6)])
        owned.process.send_signal(signal.SIGTERM)
        said = [relay.receive() for _ in range(2, 6)]
        assert {one["id"] for one in said} == set(range(2, 6))
        kept = [one for one in said if not one["result"].get("isError")]
        assert len(kept) >= 1 and all(_text(one) == LOST for one in said if one not in kept)
        assert owned.end()[0] == 0
        relay.send(_call(9, "get_stats"))
        assert relay.receive()["id"] == 9


@pytest.mark.parametrize(
    ("line", "more", "settings"),
    [
        (["mcp", "--tools"], {}, None),
        (["mcp", "--help"], {}, None),
        (["mcp", "--preset", "none"], {}, None),
        (["mcp", "mcp"], {}, None),
        (["mcp", "--session"], {}, None),
        (["mcp", "--origin", "owner"], {}, None),
        (["mcp", "--vault", "nowhere"], {}, None),
        (["mcp", "--session", "half\udce9"], {}, None),
        (["mcp"], {"VAULT_OWNER": "off"}, None),
        (["mcp"], {}, '{"owner": "off"}'),
        (["mcp"], {}, "[torn"),
        (["mcp"], {}, "[]"),
    ],
)
def test_what_is_served_by_the_process_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], more: dict[str, str], settings: str | None
) -> None:
    root = vault(tmp_path)
    monkeypatch.chdir(root)
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    if settings is not None:
        (root / "_config.json").write_text(settings)
    assert relayed(line) is None
    assert watcher_presence.owner(root) is None


def test_where_no_owner_comes_up_the_process_serves_by_itself(tmp_path: Path) -> None:
    root = vault(tmp_path)
    (root / "_local" / "owner.lock").mkdir(parents=True)
    lines = Lines("mcp", cwd=root, env=ALLOWED)
    lines.send(INITIALIZE)
    assert lines.receive()["id"] == 1
    # As a client does: the server may refuse what comes before the conversation is open.
    lines.send(READY, _call(2, "recall", query="stone"))
    said = lines.receive()
    assert said["id"] == 2 and "result" in said, said
    assert not said["result"].get("isError") and watcher_presence.owner(root) is None
    lines.process.communicate(timeout=PATIENCE)


_LEAVING = """
import socket, sys, threading, time
from vault_tool.owner.relay import Relay
from vault_tool.util.location import identity_at
root = sys.argv[1]
relay = Relay(root, {"do": "mcp", "preset": "full", "identity": identity_at(root), "session": "s1"})
relay._line, its = socket.socketpair()

def leave():
    asked = its.makefile("rb")
    for _ in range(2):
        asked.readline()
    its.shutdown(socket.SHUT_RD)  # it reads no more, before the client says more; and it is gone a little later
    its.sendall(b'{"jsonrpc": "2.0", "id": 1, "result": {}}\\n')
    while not relay._asked:
        time.sleep(0.01)
    time.sleep(0.1)
    its.close()

threading.Thread(target=leave, daemon=True).start()
relay.run()
"""


def test_what_an_owner_that_leaves_did_not_read_is_asked_of_the_next_one(root: Path) -> None:
    command = [sys.executable, "-c", _LEAVING, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
        assert relay.stdin is not None and relay.stdout is not None
        for one in (INITIALIZE, READY):
            relay.stdin.write(json.dumps(one).encode() + b"\n")
        relay.stdin.flush()
        assert json.loads(relay.stdout.readline())["id"] == 1
        relay.stdin.write(json.dumps(_call(2, "episode", title="The quarry was closed on Monday.")).encode() + b"\n")
        relay.stdin.flush()
        said = json.loads(relay.stdout.readline())
        relay.stdin.close()
    assert said["id"] == 2 and not said["result"].get("isError"), said
    told = "".join(path.read_text() for path in (root / "vault/episodes").glob("*.md"))
    assert told.count("The quarry was closed on Monday.") == 1
