"""A vault at a fixed moment for each test: made once by `init`, then copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.verbs.looking import START
from vault_tool import Vault
from vault_tool.util.clock import FixedClock


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new vault in a repository of its own, as `init` leaves it; to be copied, not used."""
    root = tmp_path_factory.mktemp("founded") / "notes"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
            patch.setenv(name, str(root.parent))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "A Tester")
            patch.setenv(f"GIT_{role}_EMAIL", "tester@example.org")
        Vault.init(root, name="Lab", clock=FixedClock(START))
    shutil.rmtree(root / "_local")
    return root


@pytest.fixture
def clock() -> FixedClock:
    """Friday, 20 November 2026, ten o'clock."""
    return FixedClock(datetime(2026, 11, 20, 10, tzinfo=UTC))


@pytest.fixture
def root(founded: Path, tmp_path: Path) -> Path:
    """The folder of the test's own vault."""
    path = tmp_path / "notes"
    shutil.copytree(founded, path)
    return path


@pytest.fixture
def vault(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """An agent's open vault."""
    with Vault.open(root, clock=clock) as opened:
        yield opened
