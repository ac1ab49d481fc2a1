"""A commit by `git commit` itself, for repositories whose hooks, signing or filters have to be honoured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vault_tool.errors import GitError
from vault_tool.files.git.index import IndexLocked, Target, enter, is_locked
from vault_tool.files.git.repo import Repo, head, lines
from vault_tool.files.git.run import first_line, honouring_hooks
from vault_tool.files.git.survey import Survey


def commit_by_git(repo: Repo, before: Survey, targets: Mapping[str, Target], message: str, limit: float) -> str:
    """Run `git commit --only` on these paths within `limit` seconds; returns the new commit's id.

    The files on disk have to be what was written. New paths are announced to the index first, and taken out of it again
    when the commit fails. Raises `GitError` with the first line of what git or the hook said.
    """
    import tempfile  # 8 ms, and only repositories with hooks need it

    _require_unchanged(repo, targets)
    fresh = [name for name, target in targets.items() if target.entry and not before.staged.get(name)]
    try:
        if fresh:
            _run(repo, "add", "--intent-to-add", *_FROM_STDIN, feed=lines(fresh), limit=limit)
        with tempfile.NamedTemporaryFile(prefix="commit-message-") as text:
            text.write(message.encode(errors="replace"))
            text.flush()
            options = ("--quiet", "--only", "--no-status", "--cleanup=whitespace", f"--file={text.name}")
            _run(repo, "commit", *options, *_FROM_STDIN, feed=lines(targets), limit=limit)
    except GitError:
        made = _made_after_all(repo, before)
        if made:
            return made
        enter(repo, {name: Target(None) for name in fresh}, limit)
        raise
    return head(repo).commit or ""


_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")


def _run(repo: Repo, verb: str, *args: str, feed: bytes, limit: float) -> None:
    # A hook would inherit --literal-pathspecs and be surprised by it, so the magic is in the paths.
    magic = b"".join(b":(top,literal)" + name + b"\0" for name in feed.split(b"\0")[:-1])
    result = honouring_hooks(repo.work_tree, verb, *args, feed=magic, limit=limit)
    if is_locked(result):
        raise IndexLocked(f"another git process holds {repo.git_dir / 'index.lock'}", "the next write or vt commit tries again")
    if result.code:
        said = first_line(result.err) or f"a hook refused it (exit code {result.code})"
        raise GitError(f"git commit failed: {said}", "mend it, then type: vt commit")


def _require_unchanged(repo: Repo, targets: Mapping[str, Target]) -> None:
    for name, target in targets.items():
        if _content(repo.work_tree / name) != target.content:
            raise GitError(f"{name} was changed again before it could be committed", "vt commit takes it as it is now")


def _content(path: Path) -> bytes | None:
    """The bytes of a file, or None where there is none; it may vanish between two looks."""
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _made_after_all(repo: Repo, before: Survey) -> str | None:
    """The commit, when git made it and only what came after failed or took too long (a post-commit hook)."""
    now = head(repo)
    if now.commit == before.head.commit or now.branch != before.head.branch:
        return None
    return now.commit
