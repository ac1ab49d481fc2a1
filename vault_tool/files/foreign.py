"""A folder that is not the vault's: what lies in it, read without following a link, and what was passed over."""

from __future__ import annotations

import os
import stat as kinds
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.files.layout import SETTINGS_FILE, ignored_folder, ignored_name
from vault_tool.files.reader import LARGEST
from vault_tool.model.problems import Problem, note, warning
from vault_tool.util.clock import stamp
from vault_tool.util.folder import opened
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line


class ForeignFile(Struct):
    """A regular file: its path below the folder with `/` between parts, its size in bytes, when it was last written."""

    path: str
    size: int
    mtime_ns: int

    @property
    def written_at(self) -> str:
        """When it was last written."""
        return stamp(datetime.fromtimestamp(self.mtime_ns / 1e9, UTC))


class Listing(Struct):
    """The files found by one walk, in the order of their paths; `passed_over` names the others, each with its reason."""

    files: tuple[ForeignFile, ...]
    passed_over: tuple[Problem, ...] = ()


def survey(folder: Path, aside: Path | None = None) -> Listing:
    """Walk `folder` (but not `aside`): hidden files and folders, links, pipes, odd names and giants are passed over by name."""
    files: list[ForeignFile] = []
    odd: list[Problem] = []
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            with opened(folder, path.split("/") if path else ()) as here:
                seen = [(name, (here.path / name).lstat()) for name in here.names()]
        except (OSError, Refused) as fault:
            reason = os.strerror(fault.errno or 0).lower() if isinstance(fault, OSError) else fault.message
            odd.append(warning(_shown(path) or ".", 0, "unreadable", f"the folder cannot be looked into: {reason}"))
            continue
        if path and any(name == SETTINGS_FILE for name, _ in seen):
            message = "it is a vault of its own, with what is its machine's alone"
            odd.append(warning(_shown(path), 0, "vault", message, "serve or sync that vault by itself"))
            continue
        for name, info in seen:
            where = f"{path}/{name}" if path else name
            if kinds.S_ISDIR(info.st_mode) and not ignored_folder(name) and _sayable(name):
                if aside is None or folder / where != aside:
                    waiting.append(where)
                continue
            odd.extend(_passed_over(where, name, info))
            if kinds.S_ISREG(info.st_mode) and not _reason(name, info):
                files.append(ForeignFile(where, info.st_size, info.st_mtime_ns))
    return Listing(tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(odd)))


def _passed_over(path: str, name: str, info: os.stat_result) -> Iterator[Problem]:
    reason = _reason(name, info)
    if reason:
        code, message, hint = reason
        make = note if code == "hidden" else warning
        yield make(_shown(path), 0, code, message, hint)


def _reason(name: str, info: os.stat_result) -> tuple[str, str, str] | None:
    """Why a file or folder is not read: a code, a sentence and what to do; None for one that is."""
    mode = info.st_mode
    if not _sayable(name):
        return "odd-name", "its name is not Unicode", "give it a name in UTF-8"
    if kinds.S_ISLNK(mode):
        return "link", "it is a link, which is never followed", "put the file itself there"
    if kinds.S_ISDIR(mode):
        return ("hidden", "a hidden or tools' folder", "") if ignored_folder(name) else None
    if not kinds.S_ISREG(mode):
        return "not-a-file", "it is a pipe, a socket or a device", "move it out of the folder"
    if ignored_name(name) and not name.startswith("#"):
        return "hidden", "a hidden, swap or backup file", ""
    if info.st_size > LARGEST:
        return "too-large", f"it is longer than {LARGEST // 2**20} MiB", "split it"
    return None


def _sayable(name: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in name)


def _shown(path: str) -> str:
    return one_line(path.encode("utf-8", "replace").decode("utf-8"), 200)
