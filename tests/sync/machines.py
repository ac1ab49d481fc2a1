"""Machines of one person, or of several, that keep one vault in step by a hub: a bare repository at a path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.founding import found_at
from tests.git_repos import git, write
from vault_tool import Vault
from vault_tool.features.sync.syncing import Synced

MARKERS = ("<<<<<<<", ">>>>>>>")


def hub_of(folder: Path) -> Path:
    """A bare repository."""
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "hub.git")
    return folder / "hub.git"


def founded_with_hub(folder: Path) -> tuple[Path, Path]:
    """A vault on a first machine, and the hub, to which nothing was pushed yet."""
    hub, root = hub_of(folder), found_at(folder / "a", git=True)
    git(root, "branch", "--quiet", "-M", "main")
    git(root, "remote", "add", "origin", str(hub))
    return root, hub


def clone_of(hub: Path, name: str) -> Path:
    """Another machine's clone of the hub."""
    git(hub.parent, "clone", "--quiet", str(hub), name)
    return hub.parent / name


def sync(root: Path, *, confirm: bool = False, dry_run: bool = False, push: bool = True) -> Synced:
    """Sync as a person's command does."""
    with Vault.open(root, person=True) as vault:
        return vault.sync(confirm=confirm, dry_run=dry_run, push=push)


def in_step(*roots: Path) -> str:
    """Sync each of the machines till all have the same; gives the tree that they have."""
    for _ in range(2):
        for root in roots:
            sync(root)
    trees = {git(root, "rev-parse", "HEAD^{tree}") for root in roots}
    assert len(trees) == 1, trees
    for root in roots:
        assert git(root, "status", "--porcelain") == "", root
        assert_without_markers(root)
    return trees.pop()


def assert_without_markers(root: Path) -> None:
    """No tracked file holds what git writes where it could not merge."""
    found = git(root, "grep", "-l", "-E", "^(<<<<<<<|>>>>>>>)", ok=False)
    assert found == "", found


@contextmanager
def as_person(address: str) -> Iterator[None]:
    """Commits are by somebody of this address meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_EMAIL", address)
            patch.setenv(f"GIT_{role}_NAME", address.partition("@")[0].capitalize())
        yield


__all__ = ["as_person", "assert_without_markers", "clone_of", "founded_with_hub", "hub_of", "in_step", "sync", "write"]
