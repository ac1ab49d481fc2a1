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
    shutil.rmtree(root / "_local", ignore_errors=True)
    return root


def found_at(root: Path, *, git: bool) -> Path:
    """A new vault named `Lab`, in a repository of its own or in none, as `init` leaves it."""
    return shutil.copytree(_founded(git), root, symlinks=True)


def forget_founded() -> None:
    """Take away what was founded to be copied."""
    if _founded.cache_info().currsize:
        for git in (False, True):
            shutil.rmtree(_founded(git).parent)
        _founded.cache_clear()
