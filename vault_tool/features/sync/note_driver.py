"""The driver that git calls for a note that both sides changed: `vt merge-note %O %A %B %P`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from vault_tool.errors import NotFound
from vault_tool.files.merging.other_files import merge_file


def merge_note(base: Path, ours: Path, theirs: Path, path: str) -> bool:
    """Merge three files as git gives them, into `ours`; False, with git's own marks in it, where the two cannot be one."""
    for file in (base, ours, theirs):
        if not file.is_file():
            raise NotFound(f"there is no file {file}", "git names the three files itself")
    texts = [file.read_bytes() for file in (base, ours, theirs)]
    # Git gives an empty file where both sides added the note.
    merged = merge_file(path, texts[0] or None, texts[1], texts[2])
    if merged is not None:
        ours.write_bytes(merged.data)
        return True
    labels = ("-L", "ours", "-L", "base", "-L", "theirs")
    subprocess.run(("git", "merge-file", "-q", *labels, str(ours), str(base), str(theirs)), check=False, capture_output=True)
    return False
