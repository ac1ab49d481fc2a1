"""Real git repositories for tests, made by git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from vault_tool.files.git import Repo, find


def git(folder: Path, *args: str, feed: bytes | None = None, ok: bool = True) -> str:
    """Run git in `folder` and give its output; a failure fails the test unless `ok` is false."""
    done = subprocess.run(["git", *args], cwd=folder, input=feed, capture_output=True, check=False)
    assert done.returncode == 0 or not ok, f"git {args}: {done.stderr.decode()}"
    return done.stdout.decode().rstrip("\n")


def make_repo(path: Path) -> Path:
    """A repository on branch `main` with an identity of its own and one commit that holds `README.md`."""
    make_empty_repo(path)
    write(path, "README.md", "# A repository\n")
    commit_all(path, "first")
    return path


def make_empty_repo(path: Path, *options: str) -> Path:
    """A repository on the unborn branch `main`, with an identity of its own."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "--quiet", "--initial-branch=main", *options)
    git(path, "config", "user.name", "A Tester")
    git(path, "config", "user.email", "tester@example.org")
    return path


def person_at_work(path: Path) -> Path:
    """A repository with a note and a page that are committed, and work of the person's staged, edited and loose."""
    made = make_repo(path)
    for name in ("vault/old.md", "vault/gone.md", "edited.txt"):
        write(made, name, "one\n")
    commit_all(made, "notes")
    write(made, "staged.txt", "staged\n")
    git(made, "add", "staged.txt")
    write(made, "edited.txt", "edited\n")
    return made


def diverge(root: Path, on_side: str, on_main: str) -> Path:
    """Give a repository a branch `side` that has another file, or another text of the same file, than the branch it is on."""
    git(root, "checkout", "--quiet", "-b", "side")
    write(root, on_side, "side\n")
    commit_all(root, "side")
    git(root, "checkout", "--quiet", "-")
    write(root, on_main, "main\n")
    commit_all(root, "main")
    return root


def hub_and_clone(root: Path, folder: Path) -> Path:
    """A bare hub in `folder` that a repository's branch follows, and a clone of the hub, whose folder is given."""
    hub, clone = folder / "hub.git", folder / "other"
    git(root, "clone", "--quiet", "--bare", str(root), str(hub))
    git(root, "remote", "add", "origin", str(hub))
    git(root, "fetch", "--quiet", "origin")
    git(root, "branch", "--quiet", "--set-upstream-to=origin/" + git(root, "branch", "--show-current"))
    git(folder, "clone", "--quiet", str(hub), str(clone))
    return clone


def found(root: Path) -> Repo:
    """The repository at `root`, as the product finds it."""
    repo = find(root)
    assert repo is not None
    return repo


def write(root: Path, path: str, text: str) -> Path:
    """Write a file, making its folders."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def commit_all(root: Path, message: str) -> str:
    """Commit everything that lies in the work tree; gives the commit's id."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


def add_hook(root: Path, name: str, script: str) -> Path:
    """A hook of the repository as a shell script."""
    hook = write(root, f".git/hooks/{name}", f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)
    return hook


def wrap_git(folder: Path, script: str) -> str:
    """A `git` in `folder` that runs `script` (shell; $REAL is the true one) first; gives a PATH that finds it."""
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, check=True, text=True).stdout.strip()
    wrapper = write(folder, "git", f'#!/bin/sh\nREAL={real}\n{script}\nexec "$REAL" "$@"\n')
    wrapper.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
