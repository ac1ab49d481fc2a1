"""The first values of a file, by which its form is known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from vault_tool.errors import Refused
from vault_tool.files.export_files import ExportFile
from vault_tool.util.json_stream import pieces

_FEW = 5


def first_values(file: ExportFile) -> Iterator[tuple[str, Any]]:
    """The first readable values of a JSON file, each with the key that it stands under; none of a file that is no JSON."""
    try:
        with file.opened() as stream:
            for piece in islice(pieces(stream), _FEW):
                if not piece.fault:
                    yield piece.key, piece.value
    except Refused:
        return
