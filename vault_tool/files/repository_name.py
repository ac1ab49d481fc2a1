"""The name of a git repository, by its files alone.

No process of git is asked: hooks have no time for one, and git in a foreign folder runs what that folder's settings name.
"""

from __future__ import annotations

from pathlib import Path

from vault_tool.files.git.repo import Repo

# Most bytes of a repository's settings that are read for the address of its remote.
_LONGEST = 2**18


def repository_name(repo: Repo) -> str:
    """The name of a repository: of its remote, else of its own folder; all its work trees share it."""
    addresses = _remotes(repo.common_dir / "config")
    address = addresses.get("origin") or (next(iter(addresses.values())) if len(addresses) == 1 else "")
    # `git@host:team/name.git`, `https://host/team/name`, `/srv/git/name.git/`
    last = address.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    own = repo.common_dir
    return last or (own.parent.name if own.name == ".git" else own.name.removesuffix(".git"))


def _remotes(path: Path) -> dict[str, str]:
    """The addresses of the remotes that a repository's settings name: what other files add to these is left out."""
    remotes: dict[str, str] = {}
    remote = ""
    if not path.is_file():
        return remotes
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST).decode("utf-8", "surrogateescape")
    except OSError:
        return remotes
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            remote = (
                stripped[len('[remote "') : stripped.index('"]')] if stripped.startswith('[remote "') and '"]' in stripped else ""
            )
        elif remote:
            key, _, value = stripped.partition("=")
            if key.strip().lower() == "url" and value.strip():
                remotes.setdefault(remote, value.strip().strip('"'))
    return remotes
