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


def _made(root: Path, *, git: bool) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
            patch.setenv(name, str(root.parent))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "A Tester")
            patch.setenv(f"GIT_{role}_EMAIL", "tester@example.org")
        Vault.init(root, name="Lab", no_git=not git, clock=FixedClock(START))
    shutil.rmtree(root / "_local")
    return root


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new vault in a repository of its own, as `init` leaves it; to be copied, not used."""
    return _made(tmp_path_factory.mktemp("founded") / "notes", git=True)


@pytest.fixture(scope="session")
def founded_without_git(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new vault in a plain folder: a write starts none of the seven processes that one in a repository does."""
    return _made(tmp_path_factory.mktemp("plain") / "notes", git=False)


@pytest.fixture
def clock() -> FixedClock:
    """Friday, 20 November 2026, ten o'clock."""
    return FixedClock(datetime(2026, 11, 20, 10, tzinfo=UTC))


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of the test's own vault: in a repository, or in none where the nearest mark says that it looks at no git."""
    marks = (mark.name for mark in request.node.iter_markers())
    plain = next((name for name in marks if name in ("in_git", "without_git")), "in_git") == "without_git"
    path = tmp_path / "notes"
    shutil.copytree(request.getfixturevalue("founded_without_git" if plain else "founded"), path)
    return path


@pytest.fixture
def vault(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """An agent's open vault."""
    with Vault.open(root, clock=clock) as opened:
        yield opened
