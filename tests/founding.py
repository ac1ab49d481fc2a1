"""New vaults, each founded once for all tests of a process and copied: in a repository `init` starts a dozen processes."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.nobody import nobodys_machine, packed
from vault_tool import Vault


@cache
def _founded(git: bool) -> Path:
    root = Path(tempfile.mkdtemp(prefix="founded-")) / "lab"
    with nobodys_machine(root.parent):
        Vault.init(root, name="Lab", no_git=not git)
        if git:
            packed(root)
    return to_be_copied(root)


def to_be_copied(root: Path) -> Path:
    """The same vault without what belongs to this machine or is derived: a copy of that is noticed as foreign, and made anew."""
    for name in ("_local", "_cache"):
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("_index.json", "_state.json"):
        (root / name).unlink(missing_ok=True)
    return root


def own_copy(source: Path, target: Path) -> Path:
    """A copy that is this user's own, as if everything in it had been made there: an honest copy is not believed."""
    shutil.copytree(source, target, symlinks=True)
    (target / "_local" / "mark").unlink(missing_ok=True)
    return target


def found_at(root: Path, *, git: bool) -> Path:
    """A new vault named `Lab`, in a repository of its own or in none, as `init` leaves it."""
    return shutil.copytree(_founded(git), root, symlinks=True)


def forget_founded() -> None:
    """Take away what was founded to be copied."""
    if _founded.cache_info().currsize:
        for git in (False, True):
            shutil.rmtree(_founded(git).parent)
        _founded.cache_clear()
