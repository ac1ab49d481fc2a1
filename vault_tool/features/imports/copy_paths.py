"""Where copies of foreign notes go: their own tree, with the names that no vault can hold made safe."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from vault_tool.files.layout import VAULT, name_key, path_fault
from vault_tool.util.note_links import is_note
from vault_tool.util.text import slug

# The folder below which each import has its own.
IMPORTED = f"{VAULT}/imported"

_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f]")
_JOINER = "\u200d"  # joins several pictures to one
_CONFLICT = re.compile(r"\.conflict-", re.IGNORECASE)


class CopyPaths:
    """The paths of one import's copies; folders whose names differ in case only are kept apart by a number."""

    def __init__(self, name: str) -> None:
        self.root = f"{IMPORTED}/{slug(name, 'notes')}"
        self._folders: dict[str, str] = {}
        self._used: dict[str, set[str]] = {}

    def of(self, path: str) -> str:
        """The path in the vault for the file at `path` in its own tree; empty where no safe one can be made."""
        parent = PurePosixPath(path).parent.as_posix()
        folder = self.root if parent == "." else self._folder(parent)
        name = PurePosixPath(path).name
        if is_note(name):
            name = f"{name[: name.rindex('.')]}.md"
        target = f"{folder}/{safe_part(name)}"
        return "" if path_fault(target) else target

    def _folder(self, path: str) -> str:
        """The place of a folder; the first of several twins keeps its name, so call it in the order of the paths."""
        if path not in self._folders:
            above, _, name = path.rpartition("/")
            base = self._folder(above) if above else self.root
            used = self._used.setdefault(base, set())
            base_name = safe = safe_part(name)
            number = 1
            while name_key(safe) in used:
                number += 1
                safe = f"{base_name}-{number}"
            used.add(name_key(safe))
            self._folders[path] = f"{base}/{safe}"
        return self._folders[path]


def safe_part(name: str) -> str:
    """One part of a path that may stand in a vault: nothing hidden, reserved, turned around or taken for our own."""
    text = _CONFLICT.sub("-conflict-", _UNSAFE.sub("-", name))
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf") or c == _JOINER)
    text = text.lstrip(".#").rstrip("~").strip() or "untitled"
    if text.lower().endswith(".tmp"):
        text = f"{text}-"
    if text == "4913":
        text = "4913-"
    if path_fault(text):
        stem, dot, end = text.partition(".")
        text = f"{stem.rstrip()}-note{dot}{end}"
    return text
