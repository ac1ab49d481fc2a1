"""Syncs by themselves, where a person asked for them: the watcher's job does one as the command does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import git
from tests.sync.machines import clone_of, founded_with_hub, sync
from vault_tool import Vault
from vault_tool.errors import ConfigError, Exit, Refused
from vault_tool.watch.jobs import Jobs


def test_the_watchers_job_syncs_where_it_is_asked_and_never_in_an_open_merge(tmp_path: Path) -> None:
    a, hub = founded_with_hub(tmp_path)
    sync(a)
    b = clone_of(hub, "b")
    with Vault.open(b, person=True) as vault:
        vault.remember("Written on the other machine.", ["Machines"])
        vault.sync()
    said: list[str] = []
    with Vault.open(a, person=True) as vault:
        Jobs(said.append).now(vault)
        assert git(a, "rev-parse", "HEAD") != git(hub, "rev-parse", "main"), "it is off by default"
        vault.config(machine={"sync_every": "60"})
        (a / ".git" / "MERGE_HEAD").write_text(git(a, "rev-parse", "HEAD") + "\n")
        Jobs(said.append).now(vault)
        assert git(a, "rev-parse", "HEAD") != git(hub, "rev-parse", "main")
        (a / ".git" / "MERGE_HEAD").unlink()
        Jobs(said.append).now(vault)
        assert git(a, "rev-parse", "HEAD") == git(hub, "rev-parse", "main")
    assert said == []


@pytest.mark.parametrize("every", ["1", "-5", "soon", "999999"])
def test_an_interval_that_is_none_is_refused(tmp_path: Path, every: str) -> None:
    a, _ = founded_with_hub(tmp_path)
    with Vault.open(a, person=True) as vault, pytest.raises(ConfigError):
        vault.config(machine={"sync_every": every})
    with Vault.open(a) as vault, pytest.raises(Refused):
        vault.config(machine={"sync_every": "60"})
    assert vt("sync", "--every", "60", cwd=a).returncode == Exit.REFUSED
