"""Times ahead of the clock: what is told of the notes that have them."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.files import reader
from vault_tool.model.problems import Problem, note

CODE = "dated-ahead"

# Clocks of two machines are never quite the same.
_USUAL = timedelta(hours=1)


def problems(root: Path | None, path: str, times: dict[str, datetime], now: datetime) -> tuple[Problem, ...]:
    """What is told of a note that is dated ahead: one line, at its first such field."""
    far = [name for name, at in times.items() if at > now + _USUAL]
    if not far:
        return ()
    message = f"`{far[0]}` is ahead of this machine's clock: it counts as of its commit, or as of now"
    hint = "if the clock was wrong that day, put the right time there in an editor, then `vt commit`"
    return (note(path, _line(root, path, far[0]), CODE, message, hint),)


def _line(root: Path | None, path: str, name: str) -> int:
    with suppress(OSError, Refused):
        if root is not None:
            lines = reader.read(root, path).split(b"\n")
            return next((number for number, line in enumerate(lines, 1) if re.match(rf"{name}\s*:".encode(), line)), 1)
    return 1
