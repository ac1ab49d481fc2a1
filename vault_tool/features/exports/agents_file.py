"""The memory in a file that agents' clients read (AGENTS.md, CLAUDE.md, GEMINI.md): one block of it, between two markers."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from vault_tool.errors import Refused, UsageError
from vault_tool.files.marked_block import marked_block, new_file
from vault_tool.util import atomic
from vault_tool.util.atomic import storage
from vault_tool.util.hints import option
from vault_tool.vault.context import Context
from vault_tool.vault.core_for_file import FilePage, page_for_file
from vault_tool.vault.folder_project import project_of

BUDGET = 4000
_SMALLEST = 200
_LARGEST = 2**20
_DAY = re.compile(r"\A# Memory, \d{4}-\d{2}-\d{2}: ")


def write_block(vault: Context, target: Path, budget: int | None) -> tuple[FilePage, bool]:
    """Put the page into the block of a file, or into a new file; the page, and whether the file was written.

    It is for the project of the file's folder. A page that differs in its day alone is not written.
    """
    room = BUDGET if budget is None else budget
    if room < _SMALLEST:
        raise UsageError(f"a budget of {room} bytes holds no page", f"give at least {option('budget', _SMALLEST)}")
    before = _read(target)
    block = marked_block(target.name, before) if before is not None else None
    page = page_for_file(vault, room, vault.who.project or project_of(vault, str(target.parent)))
    if block is not None and _DAY.sub("", block.text) == _DAY.sub("", page.text):
        return page, False
    data = block.with_text(page.text) if block is not None else new_file(page.text)
    if _read(target) != before:
        raise Refused(f"{target.name} was changed meanwhile", "nothing was written: try again")
    with storage(str(target)):
        atomic.write(target, data)
    return page, True


def _read(target: Path) -> bytes | None:
    """The bytes of a file; None where there is none. Refused for a link, for what is no file, and for one that is read-only."""
    if target.is_symlink():
        raise Refused(f"{target} is a link", "name the file that it leads to")
    with storage(str(target), doing="read"):
        if not target.exists():
            return None
        info = target.stat()
        if not stat.S_ISREG(info.st_mode):
            raise Refused(f"{target} is no file", "name a file of text")
        if not info.st_mode & 0o222:
            raise Refused(f"{target} is read-only", "make it writable, or name another file")
        if info.st_size > _LARGEST:
            raise Refused(f"{target} is longer than {_LARGEST // 2**20} MiB", "name a file of text")
        return target.read_bytes()
