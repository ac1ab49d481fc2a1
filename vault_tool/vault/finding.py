"""Find the vault that is meant: named, around the current folder, or this person's global one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vault_tool.config import load
from vault_tool.errors import ConfigError, NotFound, Refused
from vault_tool.files import git, layout
from vault_tool.util.hints import if_there, option, step
from vault_tool.util.user_folder import global_place, global_vault_at
from vault_tool.vault import settings_in_force


def find(path: str | Path | None, env: Mapping[str, str], here: Path | None = None) -> Path:
    """The root of the vault that is meant, seen from `here` (the current folder by default); see `Context.open`."""
    named = str(path or env.get("VAULT_ROOT") or "")
    if named:
        return _named(Path(named).expanduser())
    try:
        here = here or Path.cwd()
    except OSError as fault:
        raise NotFound(
            "the folder that you are in is gone", f"go to one that is there, or name the vault with {option('vault')}"
        ) from fault
    for folder in (here, *here.parents):
        if (folder / layout.SETTINGS_FILE).is_file():
            return folder
        if home := home_in(folder):
            return home
    if shared := global_vault_at(env):
        return Path(shared)
    everywhere = if_there(f", {step('config', name='global', value=...)} chooses one for every folder")
    hint = f"{step('init', path=...)} makes one, {option('vault')} or VAULT_ROOT names one{everywhere}"
    raise NotFound(f"no vault in {here} or above it", hint)


def home_in(folder: Path) -> Path | None:
    """The vault in a folder of notes that serves that folder, too; None where there is none."""
    for name in layout.HOMES:
        try:
            text = (folder / name / layout.SETTINGS_FILE).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if _serves_its_folder(folder / name, text):
            return folder / name
    return None


def _serves_its_folder(home: Path, text: str) -> bool:
    try:
        return bool(load(text).notes)
    except ConfigError:
        return bool(settings_in_force.in_force(home, git.look_for(home)[0]).config.notes)


def _named(folder: Path) -> Path:
    if (folder / layout.SETTINGS_FILE).is_file():
        return folder
    if home := home_in(folder):
        return home
    if (folder / layout.VAULT).is_dir():
        raise NotFound(f"{folder} has notes but no {layout.SETTINGS_FILE}", f"make it a vault with {step('init', path=folder)}")
    raise NotFound(f"no vault at {folder}", f"name the folder where it is now, or make one with {step('init', path=folder)}")


def global_root(env: Mapping[str, str]) -> Path:
    """Where this person's global vault is."""
    return Path(global_place(env))


def checked_root(root: Path) -> Path:
    """The resolved root; the notes' own folder must not lead out of it."""
    resolved = root.resolve()
    notes = resolved / layout.VAULT
    if notes.is_symlink() and not notes.resolve().is_relative_to(resolved):
        raise Refused(f"{notes} is a link that leads out of the vault", "put the notes themselves there")
    return resolved
