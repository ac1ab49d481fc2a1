"""Times ahead of the clock: which notes have them, and which are read again once the clock says something else."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.files import reader
from vault_tool.index.catalog import Catalog
from vault_tool.index.refresh.attribution import CLOCK, FIRST, late
from vault_tool.model.problems import Problem, note
from vault_tool.util.clock import stamp

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


def to_read_again(catalog: Catalog, now: datetime) -> frozenset[str]:
    """The notes whose times count otherwise by the clock of now than by the one by which they were taken in."""
    moment, found = stamp(now), set[str]()
    if catalog.meta(CLOCK) > moment:
        # The clock was put back: what was written before may be of a day to come.
        found.update(entry.path for entry in catalog.snapshot().entries if late(entry, now))
    first = catalog.meta(FIRST)
    if first and first <= moment:
        found.update(catalog.with_problem(CODE))
    return frozenset(found)


def _line(root: Path | None, path: str, name: str) -> int:
    with suppress(OSError, Refused):
        if root is not None:
            lines = reader.read(root, path).split(b"\n")
            return next((number for number, line in enumerate(lines, 1) if re.match(rf"{name}\s*:".encode(), line)), 1)
    return 1
