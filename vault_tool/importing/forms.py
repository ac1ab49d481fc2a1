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
    paths: dict[str, None] = {}
    for path, key in SETTINGS:
        with suppress(OSError, Refused, orjson.JSONDecodeError):
            settings = orjson.loads(read(path))
            folder = settings.get(key) if isinstance(settings, dict) else None
            if isinstance(folder, str) and folder.strip(" /"):
                paths[PurePosixPath(folder.strip(" /")).as_posix()] = None
    return tuple(paths)


def filtered(read: Callable[[str], bytes]) -> tuple[str, ...]:
    """The folders and files that Obsidian is told to leave out of its search; of its patterns those that are plain paths."""
    with suppress(OSError, Refused, orjson.JSONDecodeError):
        settings = orjson.loads(read(_APP))
        filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
        paths = (
            [pattern for pattern in filters if isinstance(pattern, str) and pattern.strip(" /")]
            if isinstance(filters, list)
            else []
        )
        # Between two slashes stands a pattern, which only its own editor reads as it is meant.
        plain = (path for path in paths if not (path.startswith("/") and path.endswith("/") and len(path) > 1))
        return tuple(dict.fromkeys(PurePosixPath(path.strip(" /")).as_posix() for path in plain))
    return ()


def is_within(path: str, folder: str) -> bool:
    """Whether a note lies in a folder, or in one below it."""
    return PurePosixPath(path).is_relative_to(folder)
