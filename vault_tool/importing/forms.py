"""Where Obsidian keeps its templates: forms to fill in, which are no memories, and whose heads often are no YAML yet."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath

import orjson

from vault_tool.errors import Refused

# The core plugin's settings, and those of Templater, with the key under which each names its folder.
SETTINGS = (
    (".obsidian/templates.json", "folder"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
)


def folders(read: Callable[[str], bytes]) -> tuple[str, ...]:
    """The folders that the vault's own settings call templates; `read` gives a file's bytes or raises OSError, Refused."""
    found: dict[str, None] = {}
    for path, key in SETTINGS:
        with suppress(OSError, Refused, orjson.JSONDecodeError):
            said = orjson.loads(read(path))
            folder = said.get(key) if isinstance(said, dict) else None
            if isinstance(folder, str) and folder.strip(" /"):
                found[PurePosixPath(folder.strip(" /")).as_posix()] = None
    return tuple(found)


def is_within(path: str, folder: str) -> bool:
    """Whether a note lies in a folder, or in one below it."""
    return PurePosixPath(path).is_relative_to(folder)
