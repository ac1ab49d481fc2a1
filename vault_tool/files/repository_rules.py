"""The rules that Claude Code reads in a repository of this machine: CLAUDE.md, CLAUDE.local.md, `.claude/rules`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.files.export_files import ExportFile, Torn
from vault_tool.files.local_trust import repositories
from vault_tool.files.reader import LARGEST
from vault_tool.util.clock import stamp
from vault_tool.util.folder import opened
from vault_tool.util.note_links import is_note
from vault_tool.util.text import is_unicode

RULES = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
_FOLDER = ".claude/rules"
_MOST, _DEPTH = 200, 5


class RepositoryRules:
    """The files of one repository, read without following a link: none that lies outside of it is ever opened."""

    def __init__(self, top: Path) -> None:
        self.top = top

    @classmethod
    def around(cls, folder: str) -> RepositoryRules | None:
        """Those of the repository that a folder lies in; None where there is no such folder, or no repository."""
        path = Path(folder)
        with suppress(OSError, ValueError, Refused):
            if path.is_absolute() and path.is_dir() and (repo := next(repositories(path.resolve()), None)) is not None:
                return cls(Path(repo.work_tree))
        return None

    def rules(self) -> list[ExportFile]:
        """The rules that are there, at most two hundred."""
        paths = [*RULES, *sorted(self._below(_FOLDER, 0))][:_MOST]
        return [file for path in paths if (file := self.find(path)) is not None]

    def find(self, path: str) -> ExportFile | None:
        """The note at a path from the top; None where there is none, or a way to it leads by a link or out of the folder."""
        parts = path.split("/")
        if not path or "" in parts or ".." in parts or not is_note(path) or "\\" in path or "\0" in path:
            return None
        *folders, name = parts
        with suppress(OSError, Refused), opened(self.top, folders) as folder:
            place = self.top.joinpath(path)
            if place.is_symlink() or not place.is_file():
                return None
            info, size = place.stat(follow_symlinks=False), folder.size(name)
            return ExportFile(path, size or 0, stamp(datetime.fromtimestamp(info.st_mtime, UTC)), lambda: self._opened(path))
        return None

    def _opened(self, path: str) -> io.BytesIO:
        *folders, name = path.split("/")
        try:
            with opened(self.top, folders) as folder:
                if (folder.size(name) or 0) > LARGEST:
                    raise Torn(f"{path} is longer than {LARGEST // 2**20} MiB")
                return io.BytesIO(folder.read(name) or b"")
        except OSError as fault:
            raise Torn(f"{path} cannot be opened: {fault.strerror}") from fault

    def _below(self, folder: str, depth: int) -> Iterator[str]:
        """The paths of the notes below a folder, links left out."""
        with suppress(OSError):
            entries = sorted(self.top.joinpath(folder).iterdir())[:_MOST]
            for entry in entries if not self.top.joinpath(folder).is_symlink() else ():
                path = f"{folder}/{entry.name}"
                if entry.is_symlink() or not is_unicode(path):
                    continue
                if entry.is_dir() and depth < _DEPTH:
                    yield from self._below(path, depth + 1)
                elif entry.is_file():
                    yield path
