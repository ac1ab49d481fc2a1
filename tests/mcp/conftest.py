"""What is collected here: clients from elsewhere are tried where VAULT_CLIENTS is set, and are on the PATH."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.founding import found_at

collect_ignore = [] if os.environ.get("VAULT_CLIENTS") else ["test_clients.py"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault without git."""
    return found_at(tmp_path / "lab", git=False)
