"""A repository's config, refs and paths can be anybody's: reading runs nothing that they name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, make_repo, write
from vault_tool.errors import Refused
from vault_tool.files import git as vault_git
from vault_tool.files.git import FileChange, Repo
from vault_tool.importing.notes import own_id

_READS: dict[str, Callable[[Repo], object]] = {
    "head": vault_git.head,
    "obstacle": vault_git.obstacle,
    "show": lambda repo: vault_git.show(repo, "HEAD", "vault/a.md"),
    "tracked": vault_git.tracked,
    "ignored": lambda repo: vault_git.ignored(repo, ["vault/a.md"]),
    "uncommitted": vault_git.uncommitted,
    "log": lambda repo: vault_git.log(repo, paths=["vault/a.md"]),
    "note_log": lambda repo: vault_git.note_log(repo, "vault/a.md", "", own_id),
    "note_log of a moved note": lambda repo: vault_git.note_log(repo, "vault/moved.md", "", own_id),
    "diff": vault_git.diff,
    "diff since": lambda repo: vault_git.diff(repo, since="HEAD~1", color=True),
    "changed_between": lambda repo: vault_git.changed_between(repo, "HEAD~1", "HEAD"),
    "remotes": vault_git.remotes,
    "identity": vault_git.identity,
    "in_conflict": vault_git.in_conflict,
    "resolve": lambda repo: vault_git.resolve(repo, "HEAD"),
}


def _armed(tmp_path: Path) -> tuple[Path, Path]:
    """A repository whose config and hooks run a canary wherever git can be made to run something; and the canary's mark."""
    root = make_repo(tmp_path / "v")
    write(root, "vault/a.md", "one\n")
    write(root, ".gitattributes", "*.md filter=bird diff=bird\n")
    commit_all(root, "notes")
    write(root, "vault/a.md", "two\n")
    commit_all(root, "more")
    write(root, "vault/a.md", "six\n")
    os.utime(root / "README.md")
    mark = tmp_path / "sang"
    bird = write(tmp_path, "bird", f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    bird.chmod(0o755)
    hooks = tmp_path / "hooks"
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "fsmonitor-watchman"):
        write(hooks, name, bird.read_text()).chmod(0o755)
    settings = [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "diff.external",
    ]
    settings += ["filter.bird.clean", "filter.bird.smudge", "filter.bird.process", "diff.bird.textconv", "diff.bird.command"]
    settings += ["gpg.program", "interactive.diffFilter", "credential.helper", "pager.log", "pager.diff", "pager.status"]
    settings += ["core.alternateRefsCommand", "remote.origin.uploadpack", "sequence.editor", "uploadpack.packObjectsHook"]
    for key in settings:
        git(root, "config", key, str(bird))
    more = {"core.hooksPath": str(hooks), "filter.bird.required": "true", "log.showSignature": "true", "color.ui": "always"}
    more |= {"remote.origin.url": f"ext::{bird}", "remote.origin.promisor": "true", "protocol.ext.allow": "always"}
    for key, value in more.items():
        git(root, "config", key, value)
    mark.unlink(missing_ok=True)
    return root, mark


def test_the_canaries_sing_for_plain_git(tmp_path: Path) -> None:
    root, mark = _armed(tmp_path)
    git(root, "status", ok=False)
    git(root, "diff", ok=False)
    assert mark.exists()


@pytest.mark.parametrize("name", _READS)
def test_no_read_runs_what_the_config_names(tmp_path: Path, name: str) -> None:
    root, mark = _armed(tmp_path)
    repo = vault_git.find(root)
    assert repo is not None
    _READS[name](repo)
    assert not mark.exists(), mark.read_text()


def test_what_was_changed_is_seen_though_filters_do_not_run(tmp_path: Path) -> None:
    root, _ = _armed(tmp_path)
    repo = vault_git.find(root)
    assert repo is not None
    assert vault_git.uncommitted(repo) == [vault_git.UncommittedFile("vault/a.md", "modified")]
    assert "-two\n+six\n" in vault_git.diff(repo)


def test_a_bare_repository_within_the_vault_runs_nothing(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    inner = root / "vault" / "inner"
    git(root, "init", "--quiet", "--bare", str(inner))
    mark = tmp_path / "sang"
    for key in ("core.fsmonitor", "diff.external", "core.hooksPath"):
        git(root, "--git-dir", str(inner), "config", key, f"touch {mark}; false")
    git(root, "--git-dir", str(inner), "config", "core.worktree", str(root))
    git(root, "--git-dir", str(inner), "config", "core.bare", "false")
    assert vault_git.find(inner) is None
    repo = vault_git.find(root)
    assert repo is not None
    vault_git.uncommitted(repo)
    write(root, "vault/a.md", "one\n")
    assert vault_git.commit(repo, [FileChange("vault/a.md", b"one\n")], "x\n").committed
    assert not mark.exists()


def test_a_config_that_puts_the_files_elsewhere_is_no_repository(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    (tmp_path / "elsewhere").mkdir()
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert vault_git.find(root) is None
    assert vault_git.look_for(root)[1]


@pytest.mark.parametrize("rev", ["--output=x", "-u/x", "-p", "", "HEAD:README.md", "HEAD..main", "HEAD\nmain", "ext::sh -c x"])
def test_what_is_no_revision_is_refused(tmp_path: Path, rev: str) -> None:
    root = make_repo(tmp_path / "v")
    repo = vault_git.find(root)
    assert repo is not None
    before = sorted(root.rglob("*"))
    reads: list[Callable[[], object]] = [
        lambda: vault_git.show(repo, rev, "README.md"),
        lambda: vault_git.diff(repo, since=rev),
        lambda: vault_git.changed_between(repo, rev, "HEAD"),
        lambda: vault_git.changed_between(repo, "HEAD", rev),
        lambda: vault_git.resolve(repo, rev),
    ]
    for read in reads:
        with pytest.raises(Refused, match="is no revision"):
            read()
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("path", ["--output=x", "-rf", "--", ":!README.md", ":/"])
def test_a_path_like_an_option_is_a_path(tmp_path: Path, path: str) -> None:
    root = make_repo(tmp_path / "v")
    repo = vault_git.find(root)
    assert repo is not None
    if not path.endswith("/"):
        assert vault_git.tracked(repo, [path]) == set()
        assert vault_git.log(repo, paths=[path]) == []
        assert vault_git.diff(repo, paths=[path]) == ""
        assert vault_git.uncommitted(repo, [path]) == []
        assert vault_git.ignored(repo, [path]) == set()
        assert vault_git.show(repo, "HEAD", path) is None
    else:
        with pytest.raises(Refused):
            vault_git.tracked(repo, [path])
    assert [entry.name for entry in root.iterdir() if entry.name != ".git"] == ["README.md"]


def test_variables_that_redirect_git_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    other = make_repo(tmp_path / "other")
    mark = tmp_path / "sang"
    variables = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_EXTERNAL_DIFF": f"touch {mark}",
        "GIT_PAGER": f"touch {mark}",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_PARAMETERS": "'core.worktree'='/'",
        "GIT_GLOB_PATHSPECS": "1",
    }
    with monkeypatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        repo = vault_git.find(root)
        assert repo is not None
        assert repo.git_dir == root / ".git"
        write(root, "vault/a.md", "one\n")
        assert vault_git.commit(repo, [FileChange("vault/a.md", b"one\n")], "x\n").committed
        vault_git.diff(repo, since="HEAD~1")
    assert git(root, "log", "--format=%s") == "x\nfirst"
    assert git(root, "status", "--porcelain") == ""
    assert git(other, "log", "--format=%s") == "first"
    assert not mark.exists()
