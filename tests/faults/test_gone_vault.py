"""A vault that is not at its place any more is never served as an empty one, nor made anew, by any process that stays."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import CAMPAIGN, eventually
from tests.mcp.served import Lines, serving
from tests.mcp.test_streams import INITIALIZE
from tests.watch.watched import Watched
from vault_tool import Vault
from vault_tool.errors import VaultGone
from vault_tool.files import watcher_presence
from vault_tool.owner.spawning import make_way

TEXT = "The larder is restocked on Tuesdays."


def _moved(root: Path) -> None:
    root.rename(root.with_name("elsewhere"))


def _replaced_by_an_empty_folder(root: Path) -> None:
    _moved(root)
    root.mkdir()


def _emptied(root: Path) -> None:
    shutil.copytree(root, root.with_name("elsewhere"), symlinks=True)
    for one in root.iterdir():
        while one.is_dir():  # whoever watches may be writing there
            shutil.rmtree(one, ignore_errors=True)
        one.unlink(missing_ok=True)


def _replaced_by_another(root: Path) -> None:
    _moved(root)
    Vault.init(root, name="another", no_git=True)


def _overwritten_by_another(root: Path) -> None:
    _emptied(root)
    Vault.init(root, name="another", no_git=True)


WAYS = (_moved, _replaced_by_an_empty_folder, _emptied, _replaced_by_another, _overwritten_by_another)


_PAIRS = [(owner, way) for way in WAYS for owner in ("off", "on")]
_BY_TURNS = [(owner, way) for owner, way in zip(itertools.cycle(("off", "on")), WAYS, strict=False)]
"""Each way once, with an owner and without one by turns; a campaign tries each with both."""


def _back(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.with_name("elsewhere").rename(root)


def _tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for what another process may tell of itself there."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith((".lock", ".json")))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    found = tmp_path / "v"
    Vault.init(found, name="home", no_git=True)
    with Vault.open(found) as vault:
        vault.remember(TEXT, title="Restocking")
    yield found
    for place in (found, tmp_path / "elsewhere"):
        while (place / "vault.toml").exists() and make_way(place):
            pass
        eventually(lambda place=place: watcher_presence.owner(place) is None)  # type: ignore[misc]


def _refuses(root: Path, ask: Callable[[str, dict[str, Any]], str], way: Callable[[Path], None], *, back: bool = True) -> None:
    """Each call is one error while the vault is away, nothing is written to what is there instead, and then all goes on."""
    assert TEXT in ask("recall", {"query": "larder"})
    way(root)
    there, before = root.exists(), _tree(root)
    for tool, arguments in (
        ("recall", {"query": "larder"}),
        ("remember", {"content": "The cellar is restocked on Fridays."}),
        ("get", {"memory_id": "Restocking"}),
        ("search", {"query": "larder"}),
    ):
        assert "is not there any more" in ask(tool, arguments), tool
    after = _tree(root)
    assert root.exists() == there, sorted(root.rglob("*")) if root.exists() else []
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} == set()
    if back:
        _back(root)
        assert TEXT in ask("recall", {"query": "larder"})
        assert "cellar" in ask("remember", {"content": "The cellar is restocked on Fridays."})


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_keeps_it_open(root: Path, way: Callable[[Path], None]) -> None:
    with Vault.open(root) as vault:
        verbs = {"recall": vault.recall, "remember": vault.remember, "search": vault.search, "get": vault.show}

        def ask(tool: str, arguments: dict[str, Any]) -> str:
            try:
                return str(verbs[tool](*arguments.values()))  # type: ignore[operator]
            except VaultGone as fault:
                return str(fault)

        _refuses(root, ask, way)
        way(root)
        for verb in (vault.status, vault.doctor, vault.orient, vault.tags, vault.config, vault.reindex):
            with pytest.raises(VaultGone):
                verb()


def _asked(lines: Lines) -> Callable[[str, dict[str, Any]], str]:
    numbers = iter(range(10, 1000))
    lines.send(INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert lines.receive()["id"] == 1

    def ask(tool: str, arguments: dict[str, Any]) -> str:
        number = next(numbers)
        lines.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        while (said := lines.receive()).get("id") != number:
            assert "method" in said
        return json.dumps(said)

    return ask


@pytest.mark.parametrize(("owner", "way"), _PAIRS if CAMPAIGN else _BY_TURNS)
def test_a_client_of_mcp(root: Path, way: Callable[[Path], None], owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_OWNER", owner)
    lines = Lines("mcp", "--preset", "full", "--vault", str(root), cwd=root.parent, env={"VAULT_OWNER": owner})
    _refuses(root, _asked(lines), way)
    assert b"Traceback" not in lines.end()[1]


@pytest.mark.parametrize(("owner", "way"), _PAIRS if CAMPAIGN else [("off", _moved), ("on", _replaced_by_another)])
def test_a_client_of_serve(root: Path, way: Callable[[Path], None], owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_OWNER", owner)
    with serving("--preset", "full", "--vault", str(root), cwd=root.parent, env={"VAULT_OWNER": owner}) as server:

        def ask(tool: str, arguments: dict[str, Any]) -> str:
            params = {"name": tool, "arguments": arguments}
            body = json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}).encode()
            headers = {"content_type": "application/json", "accept": "application/json, text/event-stream"}
            return server.ask(body=body, **headers, mcp_protocol_version="2025-11-25")[2].decode()

        _refuses(root, ask, way)


@pytest.mark.parametrize("way", [_moved, _overwritten_by_another])
def test_a_watcher_says_so_and_goes_on_when_it_is_back(root: Path, way: Callable[[Path], None]) -> None:
    with Watched(root) as watching:
        way(root)
        before = _tree(root)
        watching.heard(lambda said: "is not there any more" in said.get("remark", ""))
        assert _tree(root) == before
        _back(root)
        watching.heard(lambda said: said.get("remark", "") == "the vault is back")
        with Vault.open(root) as vault:
            vault.remember("The cellar is restocked on Fridays.", title="Cellar")
        watching.heard(lambda said: said.get("title") == "Cellar")
