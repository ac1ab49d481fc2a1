"""How a line is taken out of a file to which other processes append without a lock."""

from __future__ import annotations

from collections.abc import Callable

from vault_tool.util.folder import Folder


def blank(folder: Folder, name: str, drops: Callable[[bytes], bool]) -> int:
    """Overwrite with spaces each line that `drops`, on the disk when this returns; returns how many there were.

    Readers pass over blank lines. A line that is appended meanwhile stays; of a file that goes meanwhile nothing is left.
    """
    offset, blanks = 0, {}
    for line in (folder.read(name) or b"").split(b"\n"):
        if line.strip() and drops(line):
            blanks[offset] = b" " * len(line)
        offset += len(line) + 1
    # In place: a shorter file put in this one's place would not have the lines that came since it was read.
    try:
        if blanks:
            folder.overwrite(name, blanks)
    except FileNotFoundError:
        return 0
    return len(blanks)
