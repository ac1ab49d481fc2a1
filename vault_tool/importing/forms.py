"""Where Obsidian keeps its templates: forms to fill in, which are no memories, and whose heads often are no YAML yet."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath

import orjson

from vault_tool.errors import Refused

_APP = ".obsidian/app.json"

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


def filtered(read: Callable[[str], bytes]) -> tuple[str, ...]:
    """The folders and files that Obsidian is told to leave out of its search; of its patterns those that are plain paths."""
    with suppress(OSError, Refused, orjson.JSONDecodeError):
        said = orjson.loads(read(_APP))
        found = said.get("userIgnoreFilters") if isinstance(said, dict) else None
        paths = [one for one in found if isinstance(one, str) and one.strip(" /")] if isinstance(found, list) else []
        # Between two slashes stands a pattern, which only its own editor reads as it is meant.
        plain = (one for one in paths if not (one.startswith("/") and one.endswith("/") and len(one) > 1))
        return tuple(dict.fromkeys(PurePosixPath(one.strip(" /")).as_posix() for one in plain))
    return ()


def is_within(path: str, folder: str) -> bool:
    """Whether a note lies in a folder, or in one below it."""
    return PurePosixPath(path).is_relative_to(folder)
