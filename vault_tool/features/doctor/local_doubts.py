"""What lies in a vault's local folders and is not believed, told to a person; and their taking it over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vault_tool.errors import VaultError
from vault_tool.files import git, layout, local_trust
from vault_tool.files.local_trust import Doubt, Trust
from vault_tool.model.problems import Problem, error
from vault_tool.util.folder import opened
from vault_tool.util.hints import shell, step
from vault_tool.util.json_text import read_own
from vault_tool.util.text import counted, one_line
from vault_tool.vault.context import Context

ADOPT = f"{step('adopt_local')} shows it and takes it over"
# So many characters of a text are shown.
_LONG = 300
# So many files are told one by one.
_MOST = 100
_ONE_BY_ONE = tuple(f"{layout.LOCAL}/{name}/" for name in ("pending", "forgetting", "inbox"))
# What processes write beside their locks says nothing that is acted on.
_PASSING = (".lock", ".next", ".holder", "owner.json", "watch.json", *local_trust.OWN_FILES)


def local_problems(vault: Context) -> Iterator[Problem]:
    """An error for each thing that lies there and is not used, and for each intent that this user did not write."""
    found = local_trust.trust(vault.root)
    told = dict(vault.local.unsealed())
    if found.doubt is not Doubt.NONE:
        paths = list(_paths(vault.root, found))
        reason = f"{why(found, _who(vault, found))}, and it is not used"
        for path in paths[:_MOST]:
            words = told.pop(path, "") or _content(vault.root, path)
            said = f"{words}: " if words else ""
            yield error(path, 0, "local-not-believed", f"{said}{reason}", _hint(found))
        if len(paths) > _MOST:
            yield error(layout.LOCAL, 0, "local-not-believed", f"{len(paths) - _MOST} more files: {reason}", _hint(found))
    for path, words in told.items():
        message = f"{words}: it does not show that you began it here, so nothing of it is done"
        yield error(path, 0, "intent-not-sealed", message, f"{ADOPT}; delete it where it is not yours")


def in_a_line(vault: Context) -> Iterator[str]:
    """The same for `status`: a line where anything is not used, and one where this user has no key."""
    found = local_trust.trust(vault.root)
    if found.doubt is not Doubt.NONE:
        kept = f"; meanwhile this machine's own files are in {found.place}"
        yield f"{', '.join(_names(vault.root, found))} not used: {why(found, _who(vault, found))}{kept}: {_hint(found)}"
    elif unsealed := vault.local.unsealed():
        yield f"{counted(len(unsealed), 'intent')} in {layout.LOCAL}/ that you did not begin here, not followed: {step('doctor')}"
    if not local_trust.has_key():
        yield "no key can be kept in your data folder: what is begun and not finished is believed by its file's mode alone"


def why(found: Trust, who: str = "") -> str:
    """Why nothing there is used; `who` is the commit that brought it with its author, where git says so."""
    match found.doubt:
        case Doubt.TRACKED:
            brought = f" ({who})" if who else ""
            return f"git tracks it{brought}, so it may be somebody else's"
        case Doubt.BROUGHT:
            commit = who or f"commit {found.commit[:10]}"
            return f"{commit} brought such files, so it may be somebody else's"
        case Doubt.ELSEWHERE:
            return "the folder is a copy, or was put on another disk or under another user"
        case Doubt.NONE:
            return ""


def _who(vault: Context, found: Trust) -> str:
    """The commit that brought what is not believed, and whose it is."""
    if vault.repo is None or found.doubt not in (Doubt.TRACKED, Doubt.BROUGHT):
        return ""
    said = git.last_to_touch(vault.repo, found.tracked[:_MOST] or local_trust.NAMES, found.commit or "HEAD")
    return f"commit {said[0]} by {said[1]}" if said else ""


def _hint(found: Trust) -> str:
    if found.doubt is not Doubt.TRACKED:
        return ADOPT
    names = " ".join(dict.fromkeys(path.split("/")[0] for path in found.tracked))
    return f"{shell(f'git rm --cached -r {names}')}, then delete it, or {ADOPT}"


def _names(root: Path, found: Trust) -> list[str]:
    there = [name for name in local_trust.NAMES if os.path.lexists(root / name)]
    return there or list(dict.fromkeys(path.split("/")[0] for path in found.tracked))


def _paths(root: Path, found: Trust) -> Iterator[str]:
    """What lies there, and what git has of it: what would be done or shown file by file, all else by its folder."""
    paths = {*found.tracked, *(name for name in (layout.CACHE, layout.CONFIG_FILE) if os.path.lexists(root / name))}
    for folder, _, names in os.walk(root / layout.LOCAL):
        below = Path(folder).relative_to(root).as_posix()
        paths.update(f"{below}/{name}" for name in names if not name.endswith(_PASSING))
    yield from sorted({one_line(path if path.startswith(_ONE_BY_ONE) else _folder_of(path), 200) for path in paths})


def _content(root: Path, path: str) -> str:
    """What a draft or the settings say, for a person to judge; a key is not told."""
    try:
        with opened(root, path.split("/")[:-1]) as folder:
            data = folder.read(path.rpartition("/")[2]) or b""
    except (OSError, VaultError):
        return ""
    if path == layout.CONFIG_FILE:
        with suppress(ValueError):
            found = read_own(data)
            options = found.items() if isinstance(found, dict) else ()
            return one_line(
                "sets " + ", ".join(f"{name} = {'***' if 'key' in name else value}" for name, value in options), _LONG
            )
    return one_line(data.decode("utf-8", "replace"), _LONG) if path.endswith(".md") else ""


def _folder_of(path: str) -> str:
    first, *rest = path.split("/")
    return "/".join((first, *rest[:1])) if first == layout.LOCAL else first
