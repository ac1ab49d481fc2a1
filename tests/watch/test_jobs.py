from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.git_repos import git, write
from tests.index.vaults import note
from tests.watch.watched import eventually, identity, path_of, vault
from vault_tool.files import writer
from vault_tool.model.signals import Use
from vault_tool.vault.context import Context
from vault_tool.watch import jobs
from vault_tool.watch.jobs import CORE_QUIET, EXPORT_QUIET, Jobs
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


def test_what_is_due_is_done_beside_and_told_of_when_it_is_over(tmp_path: Path) -> None:
    root = vault(tmp_path)
    (root / "CORE.md").unlink()
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        chores = Jobs(said.append)
        chores.when_quiet(opened, CORE_QUIET)
        assert said == []  # it has only begun
        assert not (root / "CORE.md").exists()

        def told() -> bool:
            chores.when_quiet(opened, 0.0)
            return bool(said)

        eventually(told)
        chores.when_quiet(opened, CORE_QUIET)
        chores.stop()
    assert said == ["CORE.md made anew"]
    assert "Note 3" in (root / "CORE.md").read_text()
    assert git(root, "log", "-1", "--format=%s") == "core: CORE.md"


def test_a_page_that_cannot_be_made_is_told_of(tmp_path: Path) -> None:
    root = vault(tmp_path)
    (root / "CORE.md").unlink()
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        for gone in (root / "vault").rglob("*.md"):
            gone.unlink()
        opened.index.refresh()
        Jobs(said.append).now(opened)
    assert len(said) == 1
    assert said[0].startswith("CORE.md was not made: ")


def test_an_errand_ends_with_its_watcher(tmp_path: Path) -> None:
    root = vault(tmp_path)
    with writer.lock(root, 1.0, "test"):
        errand = Worker.begin(root, Task.CORE)
        assert not errand.over()
        errand.stop()
        assert errand.over()


def _title(root: Path) -> str:
    return str(json.loads((root / "_index.json").read_text())["entries"][identity(3)]["title"])
