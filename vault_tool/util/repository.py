"""The git repository that a folder is part of, and what it is called: by its files alone, since hooks and relays have no time."""

from __future__ import annotations

import os

# Most bytes of a repository's settings that are read for the address of its remote.
_LONGEST = 2**18
_MOST_LINKS = 4096


def repository_name(folder: str) -> str:
    """What the repository that holds a folder is called: by its remote, else by its own folder; empty where there is none.

    Subfolders and linked work trees have the name of their repository.
    """
    found = _git_folder(folder)
    return _name(found) if found else ""


def repository_top(folder: str) -> str:
    """The top folder of the work tree that holds a folder; empty where there is none."""
    top = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return ""
        top = above
    return top


def _git_folder(folder: str) -> str:
    """The folder that all work trees of a repository share."""
    top = repository_top(folder)
    if not top:
        return ""
    found = os.path.join(top, ".git")
    if os.path.isfile(found):
        # A linked work tree, or a submodule: `gitdir: PATH`.
        pointed = _line(found).removeprefix("gitdir:").strip()
        found = os.path.normpath(os.path.join(top, pointed)) if pointed else ""
    common = _line(os.path.join(found, "commondir")) if found else ""
    found = os.path.normpath(os.path.join(found, common)) if common else found
    return found if found and os.path.isdir(found) else ""


def _name(git_folder: str) -> str:
    addresses = _remotes(os.path.join(git_folder, "config"))
    address = addresses.get("origin") or (next(iter(addresses.values())) if len(addresses) == 1 else "")
    # `git@host:team/name.git`, `https://host/team/name`, `/srv/git/name.git/`
    last = address.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    if last:
        return last
    own = os.path.basename(git_folder)
    return os.path.basename(os.path.dirname(git_folder)) if own == ".git" else own.removesuffix(".git")


def _remotes(path: str) -> dict[str, str]:
    """The addresses of the remotes that a repository's settings name: what other files add to these is left out."""
    found: dict[str, str] = {}
    remote = ""
    for line in _text(path, _LONGEST).splitlines():
        said = line.strip()
        if said.startswith("["):
            remote = said[len('[remote "') : said.index('"]')] if said.startswith('[remote "') and '"]' in said else ""
        elif remote:
            key, _, value = said.partition("=")
            if key.strip().lower() == "url" and value.strip():
                found.setdefault(remote, value.strip().strip('"'))
    return found


def _line(path: str) -> str:
    return _text(path, _MOST_LINKS).split("\n", 1)[0].strip()


def _text(path: str, most: int) -> str:
    try:
        # A fifo would never end.
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
