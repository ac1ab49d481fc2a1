"""A vault with a problem in it, and a global one beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.util.clock import FixedClock


@pytest.fixture
def problem(vault: Vault) -> str:
    """The id of a problem."""
    return vault.remember("Migrations fail on columns that exist already.", kind="problem").id


@pytest.fixture
def shared(tmp_path: Path, founded: Path) -> Path:
    """The folder of a global vault."""
    return shutil.copytree(founded, tmp_path / "global")


@pytest.fixture
def beside(root: Path, shared: Path, clock: FixedClock) -> Iterator[Vault]:
    """An agent's vault that has the global one beside it."""
    with Vault.open(root, clock=clock, session="s1", environ={"VAULT_GLOBAL": str(shared)}) as opened:
        yield opened
