"""What was forgotten: one empty file an id under `vault/forgotten/`, by which every reader refuses its return."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.files.layout import VAULT
from vault_tool.model.fields import SCHEMA, FieldKind
from vault_tool.model.ids import canonical

if TYPE_CHECKING:
    from vault_tool.model.records import Record

FORGOTTEN = f"{VAULT}/forgotten"

_MEMORY = "memory:"


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


def cited(root: Path, record: Record) -> str:
    """The first forgotten id that a record refers to, by a field of its head or as evidence; empty where it cites none."""
    graves = forgotten(root)
    return next((one for one in _references(record) if one in graves), "") if graves else ""


def cites(reference: str, graves: Collection[str]) -> bool:
    """Whether a reference of evidence (`memory:<id>`) is to something forgotten."""
    return (canonical(reference.strip().removeprefix(_MEMORY)) or "") in graves


def _references(record: Record) -> Iterator[str]:
    for name, field in SCHEMA[record.record_class].items():
        value = getattr(record, name, None) if field.kind in (FieldKind.ID, FieldKind.IDS) and name != "id" else None
        yield from (value,) if isinstance(value, str) else value or ()
    for reference in getattr(record, "evidence", ()):
        yield canonical(reference.strip().removeprefix(_MEMORY)) or ""
