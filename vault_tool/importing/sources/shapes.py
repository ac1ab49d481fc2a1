"""The first values of a file, by which its form is known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from vault_tool.files.export_files import ExportFile
from vault_tool.importing.sources.foreign_items import values
from vault_tool.util.json_stream import Piece

# The ends of the names of files that hold JSON, whole or by lines.
ENDS = (".json", ".jsonl", ".ndjson")

_FEW = 5


def first_values(file: ExportFile) -> Iterator[tuple[str, Any]]:
    """The first readable values of a JSON file, each with the key that it stands under; none of a file that is no JSON."""
    yield from ((piece.key, piece.value) for piece in islice(values(file), _FEW) if isinstance(piece, Piece))
