from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.index.vaults import note
from tests.watch.watched import eventually, identity, path_of, vault
from vault_tool import Vault
from vault_tool.model.signals import Use
from vault_tool.util.clock import FixedClock
from vault_tool.vault.context import Context
from vault_tool.watch import jobs
from vault_tool.watch.jobs import EXPORT_QUIET, Jobs
from vault_tool.watch.worker import Task, Worker


@pytest.mark.parametrize("count", [12, 2100])
def test_a_vault_is_exported_after_a_quiet_time(tmp_path: Path, count: int) -> None:
    root = vault(tmp_path, count)
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        opened.settle()
        write(root, path_of(3), note(3, title="Exported"))
        opened.fresh()
        chores = Jobs(said.append)
        chores.when_quiet(opened, EXPORT_QUIET - 1)
        assert not chores.busy and _title(root) == "Note 3"
        chores.when_quiet(opened, EXPORT_QUIET)
        eventually(lambda: _title(root) == "Exported")
        eventually(lambda: identity(3) in json.loads((root / "_state.json").read_text())["entries"])
        chores.stop()
    assert said == []


def test_use_is_exported_too_and_nothing_is_where_nothing_happened(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Context.open(root) as opened:
        opened.fresh()
        chores = Jobs(lambda said: pytest.fail(said))
        chores.now(opened)
        before = (root / "_state.json").stat().st_mtime_ns
        chores.now(opened)
        assert (root / "_state.json").stat().st_mtime_ns == before
        opened.local.note_use(Use(at=opened.now(), target=identity(3), session="s"))
        chores.now(opened)
        assert json.loads((root / "_state.json").read_text())["entries"][identity(3)]["access_count"] == 1


def test_exports_are_not_put_off_for_ever_by_who_never_rests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault(tmp_path)
    with Context.open(root) as opened:
        opened.fresh()
        opened.settle()
        write(root, path_of(3), note(3, title="Exported"))
        opened.fresh()
        chores = Jobs(lambda said: pytest.fail(said))
        chores.when_quiet(opened, 0.0)
        assert not chores.busy
        monkeypatch.setattr(jobs, "EXPORT_LATEST", 0.0)
        chores.when_quiet(opened, 0.0)
        eventually(lambda: _title(root) == "Exported")
        chores.stop()


def test_it_writes_no_page(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with Vault.open(root, clock=FixedClock(datetime(2026, 11, 20, tzinfo=UTC))) as opened:
        opened.core()
    before = (root / "CORE.md").read_bytes(), git(root, "log", "--format=%s")
    write(root, path_of(99), note(99, title="New", type="preference"))
    with Context.open(root) as opened:
        opened.fresh()
        Jobs(lambda said: None).now(opened)
    assert ((root / "CORE.md").read_bytes(), git(root, "log", "--format=%s")) == before


def test_a_worker_ends_with_its_watcher(tmp_path: Path) -> None:
    root = vault(tmp_path)
    worker = Worker.begin(root, Task.EXPORTS)
    worker.stop()
    assert worker.over()


def _title(root: Path) -> str:
    return str(json.loads((root / "_index.json").read_text())["entries"][identity(3)]["title"])
