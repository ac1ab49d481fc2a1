"""A new vault for each test of this folder: made once by `init`, then copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_tool import Vault


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault as `init` leaves it, but for what belongs to one machine; to be copied, not used."""
    root = tmp_path_factory.mktemp("made") / "notes"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(root.parent))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "A Tester")
            patch.setenv(f"GIT_{role}_EMAIL", "tester@example.org")
        Vault.init(root, name="Lab")
    shutil.rmtree(root / "_local")
    return root


@pytest.fixture
def root(made_once: Path, tmp_path: Path) -> Path:
    """The folder of the test's own vault."""
    path = tmp_path / "notes"
    shutil.copytree(made_once, path)
    return path


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    """The test's own vault, opened as an agent."""
    with Vault.open(root) as opened:
        yield opened
