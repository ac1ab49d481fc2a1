"""What was forgotten: one empty file an id under `vault/forgotten/`, by which every reader refuses its return."""

from __future__ import annotations

import os
from pathlib import Path

from vault_tool.files.layout import VAULT
from vault_tool.model.ids import canonical

FORGOTTEN = f"{VAULT}/forgotten"


def tombstone(identity: str) -> str:
    """The path of the file that says that this id was forgotten."""
    return f"{FORGOTTEN}/{identity}"


def has(root: Path, identity: str) -> bool:
    """Whether this id was forgotten."""
    return (root / FORGOTTEN / identity).is_file()


def forgotten(root: Path) -> frozenset[str]:
    """The ids of everything that was forgotten here or in what was pulled."""
    try:
        names = os.listdir(root / FORGOTTEN)
    except OSError:
        return frozenset()
    return frozenset(identity for name in names if (identity := canonical(name)))
