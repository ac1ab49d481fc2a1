"""Git's driver for notes: whoever pulls by hand has notes merged as `sync` merges them, where this clone has the driver."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from vault_tool.errors import GitError
from vault_tool.files.git.remote import ahead_and_behind, commit_count, meant_of
from vault_tool.files.git.repo import Repo
from vault_tool.files.git.run import call
from vault_tool.util.clock import stamp
from vault_tool.util.structs import Struct

ATTRIBUTES = ".gitattributes"
LINE = b"vault/** merge=vault\n"
COMMAND = "vt merge-note %O %A %B %P"
SETTINGS = (("merge.vault.name", "notes merged field by field"), ("merge.vault.driver", COMMAND))


def with_line(data: bytes) -> bytes:
    """Attributes that give notes the driver."""
    if has_line(data):
        return data
    return data + (b"" if not data or data.endswith(b"\n") else b"\n") + LINE


def has_line(data: bytes) -> bool:
    """Whether attributes give notes the driver."""
    return any(line.split() == LINE.split() for line in data.splitlines())


class Standing(Struct):
    """A branch beside its upstream, as it was last fetched: commits that one of them alone has, and when that was."""

    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    fetched: str = ""
    lacks_driver: bool = False


def standing(repo: Repo, branch: str, remotes: Sequence[str]) -> Standing:
    """The standing of a branch to its upstream; nothing is asked of the remote.

    Of a branch without an upstream it is that to the branch of its name on the remote that a sync would take, once fetched.
    """
    form = "--format=%(upstream:short)%00%(upstream:track,nobracket)"
    out = call(repo.work_tree, "for-each-ref", form, f"refs/heads/{branch}").out.decode(errors="replace").strip("\n")
    upstream, _, track = out.partition("\0")
    counts = {word: int(number) for word, number in (part.split() for part in track.split(", ") if part.count(" ") == 1)}
    ahead, behind = counts.get("ahead", 0), counts.get("behind", 0)
    if track == "gone":
        # Nothing was sent there yet, or the branch is there no more: all is here alone.
        ahead = commit_count(repo, f"refs/heads/{branch}")
    elif not upstream and (remote := meant_of(remotes)):
        with suppress(GitError):  # nothing was fetched of it yet
            ahead, behind = ahead_and_behind(repo, f"refs/heads/{branch}", f"refs/remotes/{remote}/{branch}")
            upstream = f"{remote}/{branch}"
    fetched = ""
    if upstream:
        try:
            fetched = stamp(datetime.fromtimestamp((repo.git_dir / "FETCH_HEAD").stat().st_mtime, UTC))
        except OSError:
            fetched = ""
    return Standing(upstream, ahead, behind, fetched, lacks_driver(repo))


def lacks_driver(repo: Repo) -> bool:
    """Whether the attributes name the driver and this clone has none: then git merges notes as any text."""
    try:
        if not has_line(Path(repo.root, ATTRIBUTES).read_bytes()):
            return False
    except OSError:
        return False
    return call(repo.work_tree, "config", "--get", "merge.vault.driver").code != 0
