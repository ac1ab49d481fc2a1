"""What every test of the command line runs in: a folder with no vault in or above it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_vault_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This repository is a vault itself: a command left alone by a killed test would write into it."""
    monkeypatch.chdir(tmp_path)
