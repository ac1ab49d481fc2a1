"""`vt serve` by way of the owner: one warm process for all, and nothing lost or done twice when it dies."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.subscriptions import ResourceUpdated

from tests.bounds import CAMPAIGN, PATIENCE, eventually
from tests.mcp.served import ALONE, ERAS, Serving, client_over_http, serving
from tests.owner.owned import Owned, environment, vault, without
from vault_tool.files import watcher_presence
from vault_tool.files.layout import LOCAL
from vault_tool.files.lock import NEXT_FILE, lock
from vault_tool.files.watcher_presence import Owner
from vault_tool.owner.relay import LOST
from vault_tool.owner.spawning import make_way

ALLOWED = {"VAULT_OWNER": "on"}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A vault whose owner, whoever started it, ends with the test."""
    found = vault(tmp_path)
    os.environ.update(ALLOWED)  # the environment is the test's own, and an owner's must be like it
    yield found
    _no_owner(found)


def _no_owner(root: Path) -> None:
    """Have whoever owns the vault leave."""
    while make_way(root):
        pass
    eventually(lambda: watcher_presence.owner(root) is None)


@pytest.fixture(scope="module")
def _standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, dict[str, str]]]:
    """One server for the tests that leave it at work, whatever becomes of its owners, and the environment of both."""
    folder = tmp_path_factory.mktemp("served")
    environ = environment(folder) | ALLOWED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", environ)
        with serving("--preset", "full", cwd=vault(folder), env=ALLOWED) as found:
            yield found, environ
            patch.setattr(os, "environ", environ)
            _no_owner(found.root)


@pytest.fixture
def server(_standing: tuple[Serving, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Serving:
    """That server, with its environment for whatever asks in this process."""
    monkeypatch.setattr(os, "environ", {**_standing[1]})
    return _standing[0]


def _owner(root: Path) -> Owner:
    """Who owns the vault now, or as soon as whoever was started has come up."""
    eventually(lambda: watcher_presence.owner(root))
    found = watcher_presence.owner(root)
    assert found is not None
    return found


def _opened(server: Serving) -> Iterator[str]:
    """What the serving process has open, files and sockets."""
    for one in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it may close one meanwhile
            yield os.readlink(one)  # noqa: PTH115  (not all are paths)


def _indexes_open(server: Serving) -> list[str]:
    """The files of the vault that the serving process has open or mapped."""
    maps = Path(f"/proc/{server.process.pid}/maps").read_text().splitlines()
    mapped = [line.split()[-1] for line in maps]
    return [one for one in (*_opened(server), *mapped) if one.startswith(f"{server.root}/")]


def _talk(server: Serving, act: Callable[[Client], Any], era: str = "auto") -> Any:
    async def talk() -> Any:
        async with client_over_http(server, era) as client:
            return await act(client)

    return anyio.run(talk)


def _text(said: Any) -> str:
    return str(said.content[0].text)


def _called(server: Serving, tool: str, **arguments: object) -> Any:
    async def call(client: Client) -> Any:
        return await client.call_tool(tool, dict(arguments))

    return _talk(server, call)


def test_clients_of_either_era_are_answered_by_the_owner(root: Path) -> None:
    async def act(era: str, client: Client) -> None:
        assert len((await client.list_tools()).tools) > 8 and (await client.list_prompts()).prompts
        made = await client.call_tool("remember", {"content": f"The pump of {era} is of gneiss.", "subject_names": ["Pump"]})
        assert not made.is_error and made.structured_content == json.loads(_text(made))
        fault = await client.call_tool("get", {"memory_id": "nothing of the kind"})
        assert fault.is_error and fault.structured_content is None and "hint" in _text(fault)
        page = (await client.read_resource("vault://core")).contents[0]
        assert "# Memory" in page.text  # type: ignore[union-attr]
        with pytest.raises(Exception, match="no resource"):
            await client.read_resource("vault://nothing")

    with Owned(root, environ=os.environ) as owned, serving("--preset", "full", cwd=root, env=ALLOWED) as server:
        for era in ERAS:
            _talk(server, partial(act, era), era)
        assert _owner(root).pid == owned.process.pid and _indexes_open(server) == []
        code, out, _ = without(["status", "--json"], {**os.environ, **ALONE}, root)
        assert code == 0 and str(owned.process.pid) in out
    code, out, _ = without(["search", "gneiss", "--mode", "text", "--json"], {**os.environ, **ALONE}, root)
    assert code == 0 and len(json.loads(out)["results"]) == len(ERAS), "another door reads what was acknowledged"


def test_readiness_is_the_owners(server: Serving) -> None:
    root = server.root
    _no_owner(root)

    async def lists(client: Client) -> None:
        await client.list_tools()

    _talk(server, lists)
    assert watcher_presence.owner(root) is None, "no list needs an owner"
    eventually(lambda: server.ask("GET", "/health/ready", authorization="")[0] == 200)
    assert _owner(root).background


def test_a_server_for_one_user_refuses_what_is_about_the_whole_vault(root: Path) -> None:
    with serving("--preset", "full", "--user", "u-1", cwd=root, env=ALLOWED) as server:
        refused = _called(server, "get_consolidation_report")
        assert refused.is_error, _text(refused)
        assert _owner(root).background


@pytest.mark.parametrize("settings", ['{"owner": "off"}', None], ids=["by settings", "by environment"])
def test_where_no_owner_may_be_the_server_answers_by_itself(root: Path, settings: str | None) -> None:
    if settings:
        (root / "_config.json").write_text(settings)
    with serving(cwd=root, env=ALLOWED if settings else ALONE) as server:
        assert not _called(server, "recall", query="stone").is_error
        assert watcher_presence.owner(root) is None and _indexes_open(server)


def test_where_none_comes_up_the_server_answers_by_itself(root: Path) -> None:
    with Owned(root, environ={**os.environ, "VAULT_MODEL_HOST": "another"}) as other, serving(cwd=root, env=ALLOWED) as server:
        assert not _called(server, "recall", query="stone").is_error
        assert _indexes_open(server) and _owner(root).pid == other.process.pid


def test_after_the_owners_death_the_next_one_answers(server: Serving) -> None:
    root = server.root
    pids = set()
    for turn in range(CAMPAIGN or 2):
        assert not _called(server, "remember", content=f"Stone is porphyry, {turn}.", subject_names=["Stone"]).is_error
        pids.add(_owner(root).pid)
        os.kill(_owner(root).pid, signal.SIGKILL)
    found = _called(server, "search", query="porphyry", mode="text", limit=100)
    assert len(found.structured_content["results"]) == len(pids) == (CAMPAIGN or 2)


def test_what_an_owner_that_dies_had_not_begun_is_done_once_by_the_next(server: Serving) -> None:
    root = server.root
    assert not _called(server, "get_stats").is_error
    first, idle = _owner(root), len(_connections(server))

    async def act(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_episode, client, "Gneiss", answered)
            await anyio.to_thread.run_sync(lambda: eventually(lambda: len(_connections(server)) > idle))
            os.kill(first.pid, signal.SIGKILL)

    answered: list[Any] = []
    os.kill(first.pid, signal.SIGSTOP)
    _talk(server, act)
    assert not answered[0].is_error and _owner(root).pid != first.pid
    assert _days(root).count("Gneiss") == 1


def test_what_an_owner_that_dies_had_begun_is_not_done_again(server: Serving) -> None:
    root = server.root
    assert not _called(server, "get_stats").is_error
    first = _owner(root)

    async def act(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_episode, client, "Marble", answered)
            await anyio.to_thread.run_sync(lambda: eventually(lambda: _waits_for_the_lock(root)))
            os.kill(first.pid, signal.SIGKILL)

    answered: list[Any] = []
    with lock(root):
        _talk(server, act)
    assert answered[0].is_error and _text(answered[0]) == LOST
    assert not _called(server, "remember", content="Stone is schist.").is_error
    assert "Marble" not in _days(root)


def test_a_call_that_nobody_waits_for_never_begins(server: Serving) -> None:
    root = server.root
    assert not _called(server, "get_stats").is_error
    idle = len(_connections(server))

    async def act(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            with lock(root):
                tasks.start_soon(_episode, client, "Tuff", answered)
                await anyio.to_thread.run_sync(lambda: eventually(lambda: _waits_for_the_lock(root)))
                with anyio.move_on_after(1):
                    await client.call_tool("episode", {"title": "Slate", "summary": "A find."})
                await anyio.to_thread.run_sync(lambda: eventually(lambda: _stays_at(server, idle + 1)))

    answered: list[Any] = []
    _talk(server, act)
    assert not answered[0].is_error and not _called(server, "get_stats").is_error
    assert "Tuff" in _days(root) and "Slate" not in _days(root)


def test_owners_that_die_under_load_lose_nothing(server: Serving) -> None:
    root = server.root
    texts = [f"Client {number} saw schist of sort {count}." for number in range(4) for count in range(4)]
    acknowledged: list[str] = []

    async def write(client: Client, texts: Sequence[str]) -> None:
        for text in texts:
            made = await client.call_tool("remember", {"content": text, "session": "s-1"})
            assert not made.is_error, made.content
            acknowledged.append(text)

    async def act(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            for at in range(0, len(texts), 4):
                tasks.start_soon(write, client, texts[at : at + 4])
            for many in (2, 8):
                while len(acknowledged) < many:
                    await anyio.sleep(0.01)
                found = await anyio.to_thread.run_sync(watcher_presence.owner, root)
                if found is not None:
                    os.kill(found.pid, signal.SIGKILL)

    _talk(server, act)
    bodies = [path.read_text() for path in root.rglob("observations/**/*.md")]
    assert sorted(acknowledged) == sorted(texts)
    assert {text: sum(text in body for body in bodies) for text in texts} == dict.fromkeys(texts, 1)


def test_a_listener_hears_of_changes_by_any_door_and_after_the_owners_death(server: Serving) -> None:
    root = server.root

    async def act(client: Client) -> None:
        async with client.listen(resource_subscriptions=["vault://subject/Stone"]) as stream:
            for turn in range(2):
                line = ["remember", f"Stone is schist, {turn}.", "--subject", "Stone"]
                code, _, said = await anyio.to_thread.run_sync(without, line, {**os.environ, **ALONE}, root)
                assert code == 0, said
                with anyio.fail_after(PATIENCE):
                    assert await anext(aiter(stream)) == ResourceUpdated("vault://subject/Stone")
                os.kill(_owner(root).pid, signal.SIGKILL)

    _talk(server, act)


def test_a_server_of_a_dead_owner_ends_when_it_is_told_to(root: Path) -> None:
    with serving("--preset", "full", cwd=root, env=ALLOWED) as server:
        assert not _called(server, "get_stats").is_error
        os.kill(_owner(root).pid, signal.SIGSTOP)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0
    os.kill(_owner(root).pid, signal.SIGKILL)


async def _episode(client: Client, title: str, answered: list[Any]) -> None:
    answered.append(await client.call_tool("episode", {"title": title, "summary": "A find."}))


def _days(root: Path) -> str:
    """All that the day's logs hold."""
    return "".join(path.read_text() for path in (root / "vault" / "episodes").rglob("*"))


def _connections(server: Serving) -> list[str]:
    """The sockets of the serving process that are no network's: its connections to the owner."""
    inodes = {one.split()[6] for one in Path("/proc/net/unix").read_text().splitlines()[1:]}
    return [one for one in _opened(server) if one.startswith("socket:") and one[8:-1] in inodes]


def _stays_at(server: Serving, count: int) -> bool:
    """Whether so many connections are there, and no others come: on a busy machine a call lies about between two of its own."""
    for _ in range(20):
        if len(_connections(server)) != count:
            return False
        time.sleep(0.1)
    return True


def _waits_for_the_lock(root: Path) -> bool:
    """Whether a writer waits for its turn."""
    with (root / LOCAL / NEXT_FILE).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
