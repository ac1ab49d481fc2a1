"""A new vault for each test of this folder: made once by `init`, then copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.founding import found_at
from tests.nobody import looks_at_no_git
from vault_tool import Vault


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of the test's own vault."""
    return found_at(tmp_path / "notes", git=not looks_at_no_git(request.node))


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    """The test's own vault, opened as an agent."""
    with Vault.open(root) as opened:
        yield opened
