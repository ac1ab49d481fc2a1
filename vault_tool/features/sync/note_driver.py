"""The driver that git calls for a note that both sides changed: `vt merge-note %O %A %B %P`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from vault_tool.errors import NotFound
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.files.merging.note_merge import merge
from vault_tool.files.merging.other_files import merge_file


def merge_note(base: Path, ours: Path, theirs: Path, path: str) -> bool:
    """Merge three files as git gives them, into `ours`; False, with git's own marks in it, where the two cannot be one."""
    for file in (base, ours, theirs):
        if not file.is_file():
            raise NotFound(f"there is no file {file}", "git names the three files itself")
    texts = [file.read_bytes() for file in (base, ours, theirs)]
    # Git gives an empty file where both sides added the note.
    known = texts[0] or None
    if file_kind(path) is FileKind.NOTE:
        note = merge(known, texts[1], texts[2])
        merged = note.data if note is not None else None
    else:
        other = merge_file(path, known, texts[1], texts[2])
        merged = other[0] if other is not None else None
    if merged is not None:
        ours.write_bytes(merged)
        return True
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    subprocess.run(("git", "merge-file", "-q", *labels, str(ours), str(base), str(theirs)), check=False, capture_output=True)
    return False
