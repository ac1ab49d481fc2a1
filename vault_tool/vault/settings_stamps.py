"""When an open vault is to be opened anew: the settings that it was opened with, as the files that hold them stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.files.layout import CONFIG_FILE, SETTINGS_FILE
from vault_tool.files.local_trust import place
from vault_tool.util.user_folder import global_place

if TYPE_CHECKING:
    from vault_tool.vault.context import Context

# A value that changes with the settings of a vault and of this machine, and with a repository around it.
Stamps = tuple[tuple[int, ...], ...]


def stamps_of(vault: Context) -> Stamps:
    """The state of the files that an open vault read beside its notes: where it changes, the vault is opened anew."""
    root, own = vault.root, place(vault.root)
    shared = Path(global_place(vault.environ)) / SETTINGS_FILE
    files = (vault.root / SETTINGS_FILE, own / CONFIG_FILE, root / ".git", root.parent / ".git", shared)
    return (*map(_stamp, files), (hash(own),))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    # A folder's own times move with whatever happens in it.
    return (status.st_ino,) if path.name == ".git" else (status.st_size, status.st_mtime_ns, status.st_ino)
