"""Forgotten memories: one small file an id under `vault/forgotten/`, by which every reader refuses its return.

Whose a tombstone is, and so what it counts for, `index/graves.py` says.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.files.layout import VAULT
from vault_tool.model.fields import SCHEMA, FieldKind
from vault_tool.model.ids import SHOWN_PREFIX, canonical
from vault_tool.model.problems import Problem, warning
from vault_tool.util.hints import step

if TYPE_CHECKING:
    from vault_tool.model.records import Record

FORGOTTEN = f"{VAULT}/forgotten"

CONFIRMED = b"confirmed\n"

_MEMORY = "memory:"


def tombstone(identity: str) -> str:
    """The path of the file that says that this id was forgotten."""
    return f"{FORGOTTEN}/{identity}"


def has(root: Path, identity: str) -> bool:
    """Whether there is a tombstone of this id."""
    path = root / FORGOTTEN / identity
    return path.is_file() and not path.is_symlink()


def files(root: Path) -> dict[str, str]:
    """The names of all tombstones with their ids. What is a link or a folder is none: a pull may bring such."""
    try:
        with os.scandir(root / FORGOTTEN) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return {}
    return {name: identity for name in names if (identity := canonical(name))}


def confirmed(before: bytes, now: str) -> bytes:
    """The content of another's tombstone that the owner confirmed: other bytes than that which their commit brought."""
    return CONFIRMED if before.strip() != CONFIRMED.strip() else before.rstrip() + f" {now}\n".encode()


def words_left(path: str, identity: str) -> Problem:
    """The problem of a file that holds words of a forgotten memory; its hint is the command that takes them out."""
    message = f"it holds words of {identity[:SHOWN_PREFIX]}, which was forgotten; they are told to nobody"
    return warning(path, 0, "forgotten-words", message, f"{step('forget', memory_id=identity)} takes them out")


def cited(record: Record, forgotten: Collection[str]) -> str:
    """The first forgotten id that a record refers to, by a field of its head or as evidence; empty where it cites none."""
    return next((identity for identity in _references(record) if identity in forgotten), "") if forgotten else ""


def cites(reference: str, graves: Collection[str]) -> bool:
    """Whether a reference of evidence (`memory:<id>`) is to something forgotten."""
    return (canonical(reference.strip().removeprefix(_MEMORY)) or "") in graves


def _references(record: Record) -> Iterator[str]:
    for name, field in SCHEMA[record.record_class].items():
        value = getattr(record, name, None) if field.kind in (FieldKind.ID, FieldKind.IDS) and name != "id" else None
        yield from (value,) if isinstance(value, str) else value or ()
    for reference in getattr(record, "evidence", ()):
        yield canonical(reference.strip().removeprefix(_MEMORY)) or ""
