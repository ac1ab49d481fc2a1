"""A new vault for each test of this folder: made once by `init`, then copied."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nobody import looks_at_no_git, nobodys_machine, packed
from vault_tool import Vault


def _made(root: Path, *, git: bool) -> Path:
    with nobodys_machine(root.parent):
        Vault.init(root, name="Lab", no_git=not git)
        if git:
            packed(root)
    shutil.rmtree(root / "_local")
    return root


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault as `init` leaves it, but for what belongs to one machine; to be copied, not used."""
    return _made(tmp_path_factory.mktemp("made") / "notes", git=True)


@pytest.fixture(scope="session")
def made_without_git(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in a plain folder."""
    return _made(tmp_path_factory.mktemp("plain") / "notes", git=False)


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of the test's own vault."""
    made = request.getfixturevalue("made_without_git" if looks_at_no_git(request.node) else "made_once")
    return shutil.copytree(made, tmp_path / "notes")


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    """The test's own vault, opened as an agent."""
    with Vault.open(root) as opened:
        yield opened
