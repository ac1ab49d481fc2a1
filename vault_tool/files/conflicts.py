"""Conflict copies: where two texts want one name, the second is kept beside it, never dropped."""

from __future__ import annotations

import itertools

from vault_tool.files.layout import conflict_name
from vault_tool.util import atomic
from vault_tool.util.clock import Clock
from vault_tool.util.folder import Folder


def keep(folder: Folder, name: str, displaced: str, who: str = "editor") -> str:
    """Give the file `displaced` (another text of `name`) the name of a conflict copy; returns that name."""
    moment = f"{Clock().now():%Y%m%dT%H%M%SZ}"
    for number in itertools.count(1):
        copy = conflict_name(name, moment, who, number)
        try:
            folder.rename_to_free(displaced, copy)
        except FileExistsError:
            continue
        return copy
    raise AssertionError("unreachable: the numbers never end")


def keep_text(folder: Folder, name: str, text: bytes, who: str) -> str:
    """Write a text that could not be put under `name` as a conflict copy, on the disk; returns the copy's name."""
    copy = keep(folder, name, atomic.write_temporary(folder, name, text), who)
    folder.sync()
    return copy
