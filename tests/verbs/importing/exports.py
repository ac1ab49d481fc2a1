"""Invented exports of other tools, in the forms in which these give them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any


def put(folder: Path, files: dict[str, Any]) -> Path:
    """Files below a folder: a text as it is, anything else as JSON."""
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else _text(value).encode())
    return folder


def zipped(path: Path, files: dict[str, Any]) -> Path:
    """The same files in a zip."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 1, 9, 0, 0)), value if isinstance(value, bytes) else _text(value))
    return path


def lines(*values: Any) -> str:
    """Values as lines of JSON."""
    return "".join(json.dumps(value) + "\n" for value in values)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
