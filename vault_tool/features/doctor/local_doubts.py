"""Local files of a vault that are not trusted: shown to a person, who may take them over."""

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
_ONE_BY_ONE = tuple(f"{layout.LOCAL}/{name}/" for name in ("pending", "forgetting", layout.SYNCING, "inbox"))
# What processes write beside their locks says nothing that is acted on.
_PASSING = (".lock", ".next", ".holder", "owner.json", "watch.json", *local_trust.OWN_FILES)


def local_problems(vault: Context) -> Iterator[Problem]:
    """An error for each thing that lies there and is not used, and for each intent that this user did not write."""
    trust = local_trust.trust(vault.root)
    unsealed = dict(vault.local.unsealed())
    if trust.doubt is not Doubt.NONE:
        paths = list(_paths(vault.root, trust))
        reason = f"{why(trust, _who(vault, trust))}, and it is not used"
        for path in paths[:_MOST]:
            words = unsealed.pop(path, "") or _content(vault.root, path)
            prefix = f"{words}: " if words else ""
            yield error(path, 0, "local-not-believed", f"{prefix}{reason}", _hint(trust))
        if len(paths) > _MOST:
            yield error(layout.LOCAL, 0, "local-not-believed", f"{len(paths) - _MOST} more files: {reason}", _hint(trust))
    for path, words in unsealed.items():
        message = f"{words}: it does not show that you began it here, so nothing of it is done"
        yield error(path, 0, "intent-not-sealed", message, f"{ADOPT}; delete it where it is not yours")


def in_a_line(vault: Context) -> Iterator[str]:
    """The same for `status`: a line where anything is not used, and one where this user has no key."""
    trust = local_trust.trust(vault.root)
    if trust.doubt is not Doubt.NONE:
        elsewhere = f"; meanwhile this machine's own files are in {trust.place}"
        yield f"{', '.join(_names(vault.root, trust))} not used: {why(trust, _who(vault, trust))}{elsewhere}: {_hint(trust)}"
    elif unsealed := vault.local.unsealed():
        yield f"{counted(len(unsealed), 'intent')} in {layout.LOCAL}/ that you did not begin here, not followed: {step('doctor')}"
    if not local_trust.has_key():
        yield "no key can be kept in your data folder: what is begun and not finished is believed by its file's mode alone"


def why(trust: Trust, who: str = "") -> str:
    """Why nothing there is used; `who` is the commit that brought it with its author, where git says so."""
    match trust.doubt:
        case Doubt.TRACKED:
            brought = f" ({who})" if who else ""
            return f"git tracks it{brought}, so it may be somebody else's"
        case Doubt.BROUGHT:
            commit = who or f"commit {trust.commit[:10]}"
            return f"{commit} brought such files, so it may be somebody else's"
        case Doubt.ELSEWHERE:
            return "the folder is a copy, or was put on another disk or under another user"
        case Doubt.NONE:
            return ""


def _who(vault: Context, trust: Trust) -> str:
    """The commit that brought what is not believed, and whose it is."""
    if vault.repo is None or trust.doubt not in (Doubt.TRACKED, Doubt.BROUGHT):
        return ""
    author = git.last_to_touch(vault.repo, trust.tracked[:_MOST] or local_trust.NAMES, trust.commit or "HEAD")
    return f"commit {author[0]} by {author[1]}" if author else ""


def _hint(trust: Trust) -> str:
    if trust.doubt is not Doubt.TRACKED:
        return ADOPT
    names = " ".join(dict.fromkeys(path.split("/")[0] for path in trust.tracked))
    return f"{shell(f'git rm --cached -r {names}')}, then delete it, or {ADOPT}"


def _names(root: Path, trust: Trust) -> list[str]:
    present = [name for name in local_trust.NAMES if os.path.lexists(root / name)]
    return present or list(dict.fromkeys(path.split("/")[0] for path in trust.tracked))


def _paths(root: Path, trust: Trust) -> Iterator[str]:
    """The untrusted files, one by one where that matters (they would be acted on or shown), else by their folder."""
    paths = {*trust.tracked, *(name for name in (layout.CACHE, layout.CONFIG_FILE) if os.path.lexists(root / name))}
    for folder, _, names in os.walk(root / layout.LOCAL):
        below = Path(folder).relative_to(root).as_posix()
        paths.update(f"{below}/{name}" for name in names if not name.endswith(_PASSING))
    yield from sorted({one_line(path if path.startswith(_ONE_BY_ONE) else _folder_of(path), 200) for path in paths})


def _content(root: Path, path: str) -> str:
    """The content of a draft or of settings for a person to judge; keys are left out."""
    try:
        with opened(root, path.split("/")[:-1]) as folder:
            data = folder.read(path.rpartition("/")[2]) or b""
    except (OSError, VaultError):
        return ""
    if path == layout.CONFIG_FILE:
        with suppress(ValueError):
            content = read_own(data)
            options = content.items() if isinstance(content, dict) else ()
            return one_line(
                "sets " + ", ".join(f"{name} = {'***' if 'key' in name else value}" for name, value in options), _LONG
            )
    return one_line(data.decode("utf-8", "replace"), _LONG) if path.endswith(".md") else ""


def _folder_of(path: str) -> str:
    first, *rest = path.split("/")
    return "/".join((first, *rest[:1])) if first == layout.LOCAL else first
