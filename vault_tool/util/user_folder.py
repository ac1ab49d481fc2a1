"""The user's own data folder, which keeps what is of a person and of no vault; and there, which vault is their global one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from vault_tool.errors import StorageError, UsageError

FOLDER = "vault_tool"
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600

# Where a person's global vault is: found where no folder above is a vault, and read beside each other one.
VARIABLE = "VAULT_GLOBAL"
_CHOICE = "global"
_USUAL = "vault"
_LONGEST = 4096


def data_folder(name: str = FOLDER) -> str:
    """The user's data folder for a name; worked out here on most systems, for a library takes 5 ms for it."""
    if sys.platform == "win32" or sys.platform == "darwin":
        import platformdirs  # 5 ms

        return str(platformdirs.user_data_path(name, appauthor=False))
    named = os.environ.get("XDG_DATA_HOME", "").strip()
    # A relative one would be another folder in each folder that a command is typed in.
    return f"{named if named.startswith('/') else _home() + '/.local/share'}/{name}"


def _home() -> str:
    home = os.environ.get("HOME") or os.path.expanduser("~")
    return "/nowhere" if home == "~" else home


def global_place(environ: Mapping[str, str]) -> str:
    """The folder that `$VAULT_GLOBAL` names, else the one that was chosen, else `vault` in the user's data folder."""
    return os.path.expanduser(environ.get(VARIABLE, "")) or chosen() or data_folder(_USUAL)


def global_vault_at(environ: Mapping[str, str]) -> str:
    """The same folder where a vault is there, else an empty text. Raises UsageError where the variable names several."""
    folder = global_place(environ)
    if _is_vault(folder):
        return folder
    _require_one(environ.get(VARIABLE, ""))
    return ""


def global_vault_if_one(environ: Mapping[str, str]) -> str:
    """The same, and an empty text where the variable names several, which another process says."""
    try:
        return global_vault_at(environ)
    except UsageError:
        return ""


def _is_vault(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "vault.toml"))


def _require_one(named: str) -> None:
    """Raise UsageError where the variable's value, which is no vault as it stands, is a list."""
    for mark in (os.pathsep, ",", ";", "\n"):
        several = [os.path.expanduser(part.strip()) for part in named.split(mark) if part.strip()]
        vaults = [folder for folder in several if _is_vault(folder)]
        if len(several) > 1 and (vaults or mark == os.pathsep):
            hint = f"there are: {', '.join(vaults)}" if vaults else "and none of them is a vault"
            raise UsageError(f"{VARIABLE} names one vault, and not a list of {len(several)}", hint)


def chosen() -> str:
    """The folder that this user chose; empty where none was, and where what stands there is no whole path."""
    try:
        with open(choice_file(), "rb") as file:
            named = os.fsdecode(file.read(_LONGEST).removesuffix(b"\n"))
    except OSError:
        return ""
    return named if os.path.isabs(named) and "\0" not in named and "\n" not in named else ""


def choose(folder: str) -> None:
    """Have a folder (a whole path) be the one, or none with an empty text. Raises StorageError."""
    path = choice_file()
    try:
        if not folder:
            if os.path.lexists(path):
                os.unlink(path)
            return
        os.makedirs(os.path.dirname(path), PRIVATE_FOLDER, exist_ok=True)
        draft = f"{path}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        try:
            os.write(descriptor, os.fsencode(folder) + b"\n")
        finally:
            os.close(descriptor)
        os.replace(draft, path)
    except OSError as fault:
        raise StorageError(f"{path} cannot be written: {fault.strerror or fault}", "make its folder yours to write") from fault


def choice_file() -> str:
    """The file that holds what was chosen."""
    return os.path.join(data_folder(FOLDER), _CHOICE)
