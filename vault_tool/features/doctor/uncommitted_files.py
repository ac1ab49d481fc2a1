"""The files of a vault that differ from the last commit: asked of git whole, or as far as a process heard of changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_tool.files import git, layout
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context

_OWN = (layout.VAULT, layout.CORE_FILE, layout.REFLECTION_FILE, layout.SETTINGS_FILE, layout.TEMPLATES)
# Files that are not below the folder that is listened to: they are asked for each time.
_UNHEARD = (layout.CORE_FILE, layout.REFLECTION_FILE, layout.SETTINGS_FILE, layout.TEMPLATES)
# Of more at once git is asked for all.
_MOST = 200

Quiet = Sequence[tuple[str, str]] | None


class _Known(Struct):
    """The files that differed when git was asked last: at which comparison of the files, and what git went by then."""

    comparison: int
    commit: str
    rules: tuple[object, ...]
    index: tuple[object, ...]
    files: tuple[git.UncommittedFile, ...]


def uncommitted_files(vault: Context, quiet: Quiet = None) -> list[git.UncommittedFile]:
    """The vault's own files that differ from HEAD: one comparison for whatever asks."""
    repo = vault.repo
    if repo is None:
        return []
    commit = git.head(repo).commit
    if vault.hearing is None or commit is None:
        return git.uncommitted(repo, _OWN, quiet)
    catalog = vault.whole_index.catalog
    holder: list[_Known] = catalog.derived("uncommitted", list, lambda known, _: known)
    # Stamps first: what changes while git is asked is asked for again.
    rules, index = tuple(_rules(vault.root, repo)), tuple(_stamps([repo.git_dir / "index", *_unheard(vault.root)]))
    comparison = vault.hearing.comparisons
    before = holder[0] if holder and holder[0].rules == rules else None
    heard = vault.hearing.heard_since(before.comparison) if before is not None else None
    if before is None or heard is None:
        files = git.uncommitted(repo, _OWN, quiet)
    elif not heard and before.commit == commit and before.index == index:
        files = list(before.files)
    else:
        files = _asked_anew(repo, before, heard, commit, quiet)
    holder[:] = [_Known(comparison, commit, rules, index, tuple(files))]
    return files


def _asked_anew(
    repo: git.Repo, before: _Known, heard: frozenset[str], commit: str, quiet: Quiet
) -> list[git.UncommittedFile]:  # fmt: skip
    """The files that differ now: of those heard of, that differed before, are staged or changed in HEAD."""
    names = {*heard, *git.staged(repo), *(name for file in before.files for name in (file.path, file.was) if name)}
    if before.commit != commit:
        names |= git.changed_between(repo, before.commit, commit).keys()
    if len(names) > _MOST or any(name.rpartition("/")[2] in layout.GIT_FILES for name in names):
        return git.uncommitted(repo, _OWN, quiet)
    own = {name for name in names if name.startswith(f"{layout.VAULT}/")}
    return git.uncommitted(repo, sorted({*own, *_UNHEARD}), quiet)


def _unheard(root: Path) -> Iterator[Path]:
    for name in _UNHEARD:
        yield root / name
    yield from sorted((root / layout.TEMPLATES).glob("*"))


def _rules(root: Path, repo: git.Repo) -> Iterator[object]:
    """The state of the files by which git tells what is to be looked at."""
    yield from _stamps([*(root / name for name in layout.GIT_FILES), repo.git_dir / "config", repo.git_dir / "info" / "exclude"])


def _stamps(paths: Sequence[Path]) -> Iterator[object]:
    for path in paths:
        try:
            info = path.stat()
            yield str(path), info.st_mtime_ns, info.st_size, info.st_ino
        except OSError:
            yield str(path)
