"""A vault at a fixed moment for each test: made once by `init`, then copied."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.founding import own_copy, to_be_copied
from tests.nobody import looks_at_no_git, nobodys_machine, packed
from tests.verbs.looking import START
from vault_tool import Vault
from vault_tool.util.clock import FixedClock


def _made(root: Path, *, git: bool) -> Path:
    with nobodys_machine(root.parent):
        Vault.init(root, name="Lab", no_git=not git, clock=FixedClock(START))
        if git:
            packed(root)
    return to_be_copied(root)


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
    plain = looks_at_no_git(request.node)
    path = tmp_path / "notes"
    shutil.copytree(request.getfixturevalue("founded_without_git" if plain else "founded"), path)
    return path


@pytest.fixture(scope="session")
def _told() -> dict[tuple[str, bool], tuple[Path, Any]]:
    """Vaults that were told what several tests begin with; to be copied, not used."""
    return {}


@pytest.fixture
def once(
    request: pytest.FixtureRequest,
    root: Path,
    clock: FixedClock,
    _told: dict[tuple[str, bool], tuple[Path, Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Callable[[Vault], Any]], Any]:
    """Have the test's vault know what a function tells one, and give what that gives: a copy costs less than the telling."""

    def tell(story: Callable[[Vault], Any]) -> Any:
        key = f"{story.__module__}.{story.__qualname__}", looks_at_no_git(request.node)
        if key not in _told:
            made = tmp_path_factory.mktemp("told") / "notes"
            own_copy(root, made)
            with Vault.open(made, clock=clock) as first:
                _told[key] = made, story(first)
        made, given = _told[key]
        shutil.rmtree(root)
        own_copy(made, root)
        return given

    return tell


@pytest.fixture
def vault(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """An agent's open vault."""
    with Vault.open(root, clock=clock) as opened:
        yield opened
