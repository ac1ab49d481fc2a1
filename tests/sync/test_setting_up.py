"""A vault gets a remote, this clone git's driver of notes, and a vault among code a repository of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.founding import found_at
from tests.git_repos import commit_all, git, write
from tests.sync.machines import clone_of, founded_with_hub, hub_of, sync
from vault_tool import Vault
from vault_tool.errors import Exit, Refused, UsageError
from vault_tool.features.sync.note_driver import merge_note
from vault_tool.files.git.driver import COMMAND


def test_a_remote_is_named_with_who_reads_it_and_git_gets_the_driver(tmp_path: Path) -> None:
    hub, root = hub_of(tmp_path), found_at(tmp_path / "a", git=True)
    git(root, "branch", "--quiet", "-M", "main")
    with Vault.open(root, person=True) as vault:
        shown = vault.set_up(str(hub), dry_run=True)
        assert "can read all memories" in shown.readers and git(root, "remote") == ""
        done = vault.set_up(str(hub))
        assert done.committed and done.remote == "origin"
        assert vault.set_up().commit is None, "again it changes nothing"
        vault.sync()
    assert (root / ".gitattributes").read_text().splitlines().count("vault/** merge=vault") == 1
    assert git(root, "config", "merge.vault.driver") == COMMAND
    assert git(root, "status", "--porcelain") == ""
    other = clone_of(hub, "b")
    with Vault.open(other, person=True) as vault:
        assert vault.status().git.lacks_driver
        assert any("driver" in line for line in vault.status().next)
        vault.set_up()
        assert not vault.status().git.lacks_driver


def test_an_agent_names_no_remote(tmp_path: Path) -> None:
    hub, root = hub_of(tmp_path), found_at(tmp_path / "a", git=True)
    with Vault.open(root) as vault, pytest.raises(Refused, match="only a person"):
        vault.set_up(str(hub))
    assert vt("sync", "--set-up", str(hub), cwd=root).returncode == Exit.REFUSED
    assert git(root, "remote") == ""
    with Vault.open(root, person=True) as vault, pytest.raises(UsageError):
        vault.set_up("ext::sh -c x")


def test_status_tells_ahead_and_behind_of_what_was_last_fetched(tmp_path: Path) -> None:
    a, hub = founded_with_hub(tmp_path)
    sync(a)
    git(a, "branch", "--set-upstream-to=origin/main")
    b = clone_of(hub, "b")
    for root, count in ((b, 3), (a, 2)):
        with Vault.open(root, person=True) as vault:
            for number in range(count):
                vault.remember(f"Number {number} at {root.name}.")
    sync(b)
    git(a, "fetch", "--quiet")
    with Vault.open(a, person=True) as vault:
        status = vault.status()
    assert (status.git.upstream, status.git.ahead, status.git.behind) == ("origin/main", 2, 3)
    assert status.git.fetched
    assert "3 behind origin/main, 2 ahead: `vt sync`" in vt("status", cwd=a).stdout


def test_a_remote_without_an_upstream_is_told_of_as_a_sync_would_take_it(tmp_path: Path) -> None:
    a, _ = founded_with_hub(tmp_path)

    def told() -> tuple[str, int, int]:
        with Vault.open(a, person=True) as vault:
            standing = vault.status().git
        return standing.upstream, standing.ahead, standing.behind

    assert told() == ("", 0, 0)  # nothing is known of it yet
    sync(a)
    assert git(a, "config", "--get", "branch.main.remote", ok=False) == ""
    assert told() == ("origin/main", 0, 0)
    with Vault.open(a, person=True) as vault:
        vault.remember("Here alone.")
    assert told() == ("origin/main", 1, 0)
    assert "next: 1 ahead of origin/main: `vt sync`" in vt("status", cwd=a).stdout
    git(a, "remote", "add", "backup", "../nowhere.git")
    assert told() == ("origin/main", 1, 0)


def test_with_an_upstream_that_has_nothing_all_commits_are_ahead(tmp_path: Path) -> None:
    a, hub = founded_with_hub(tmp_path)
    with Vault.open(a, person=True) as vault:
        vault.set_up(str(hub))
        count = int(git(a, "rev-list", "--count", "HEAD"))
        assert (vault.status().git.ahead, vault.status().git.behind) == (count, 0)


def test_a_pull_by_hand_merges_notes_by_the_driver(tmp_path: Path) -> None:
    a, hub = founded_with_hub(tmp_path)
    with Vault.open(a, person=True) as vault:
        note = vault.remember("The boiler is serviced in May.", ["House"]).path
        vault.set_up()
        vault.sync()
    b = clone_of(hub, "b")
    with Vault.open(b, person=True) as vault:
        vault.set_up()
    git(b, "config", "merge.vault.driver", f"{sys.executable} -m vault_tool merge-note %O %A %B %P")
    for root, tag in ((a, "xa"), (b, "yb")):
        with Vault.open(root, person=True) as vault:
            vault.tag(Path(note).stem.rpartition("-")[2], [tag])
    sync(a)
    git(b, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
    assert "tags: [xa, yb]" in (b / note).read_text()


def test_the_driver_leaves_gits_marks_where_two_are_not_one(tmp_path: Path) -> None:
    for name, text in (("o", ""), ("a", "---\nid: [\n---\nA\n"), ("b", "B\n")):
        write(tmp_path, name, text)
    assert not merge_note(tmp_path / "o", tmp_path / "a", tmp_path / "b", "vault/x.md")
    assert "<<<<<<<" in (tmp_path / "a").read_text()
    few = subprocess.run([sys.executable, "-m", "vault_tool", "merge-note", "o"], cwd=tmp_path, check=False, capture_output=True)
    assert few.returncode == Exit.USAGE


@pytest.mark.parametrize("place", ["notes", ""])
def test_a_vault_among_code_gets_a_repository_of_its_own(tmp_path: Path, place: str) -> None:
    code = tmp_path / "code"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "code")
    write(code, "src/app.py", "print()\n")
    commit_all(code, "code")
    if place:
        with Vault.open(found_at(tmp_path / "seed", git=False)):
            (tmp_path / "seed").rename(code / place)
    else:
        for file in found_at(tmp_path / "seed", git=False).iterdir():
            file.rename(code / file.name)
    root = code / place if place else code
    commit_all(code, "the vault")
    with Vault.open(root, person=True) as vault:
        note = vault.remember('A deploy takes an hour; "quoted" näme.', ["Deploys"]).path
        if place:
            with pytest.raises(Refused, match="repository with other things"):
                vault.sync()
        done = vault.own_repository(str(tmp_path / "own"))
        assert done.commits >= 1
        with pytest.raises(UsageError):
            vault.own_repository(str(tmp_path / "own"))
    own = tmp_path / "own"
    assert (own / note).read_bytes() == (root / note).read_bytes()
    assert not (own / "src").exists() and "src/app.py" not in git(own, "log", "--name-only", "--format=")
    assert (code / "src/app.py").exists()
    hub = hub_of(tmp_path)
    with Vault.open(own, person=True) as vault:
        vault.set_up(str(hub))
        assert vault.sync().sent
    assert json.loads(vt("sync", "--json", cwd=own).stdout)["sent"] == 0
