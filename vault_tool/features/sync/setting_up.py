"""`sync --set-up` and `sync --own-repository`: a vault gets a remote, git's driver of notes, or a repository of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from vault_tool.errors import GitError, Refused, UsageError
from vault_tool.features.sync.joining import OWN, OWN_FILES, OWN_FOLDERS
from vault_tool.files import git, layout, reader
from vault_tool.files.git import driver
from vault_tool.files.git import remote as elsewhere
from vault_tool.files.git.authors import WALK_LIMIT
from vault_tool.files.git.run import GitCall, output, together
from vault_tool.files.git.survey import settings_of
from vault_tool.util.hints import shell, step
from vault_tool.util.structs import Struct
from vault_tool.vault import person
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import of_the_whole, verb


class SetUp(Saved, kw_only=True):
    """The remote that the vault is kept in step with, and `readers`: who can read what is pushed there."""

    remote: str
    branch: str
    address: str
    readers: str
    driver: str
    dry_run: bool = False


class OwnRepository(Struct, kw_only=True):
    """The vault in a repository of its own at `path`, with so many commits; what lies in the old one is left there."""

    path: str
    branch: str
    commits: int
    next: tuple[str, ...] = ()


@verb
@of_the_whole
def set_up(vault: Context, address: str = "", *, dry_run: bool = False) -> SetUp:
    """Give the vault a remote (or take the one that it has), and this clone git's driver of notes.

    With `dry_run` it is only said who reads what is pushed. Raises Refused where no person asks, or the vault is not alone in
    its repository; UsageError for an address that is not gone to.
    """
    vault = person.acting(vault, "say where this vault is pushed")
    repo = vault.require_repo()
    if repo.prefix:
        raise Refused(f"the vault lies in a repository with other things ({repo.work_tree})", step("own_repository"))
    settings, branch = settings_of(repo), git.head(repo).branch
    if branch is None:
        raise Refused("HEAD is detached, so no branch is there to be kept in step", shell("git switch BRANCH"))
    names = elsewhere.remote_names(settings)
    if address:
        address = elsewhere.require_address(address)
        remote = "origin"
        known = settings.config.get("remote.origin.url", "")
        if known and known != address:
            changes = f"{shell('git remote set-url origin URL')} changes it"
            raise Refused(f"origin is {elsewhere.masked(known)} already", changes)
    else:
        remote = elsewhere.upstream(settings, branch).remote
        address = elsewhere.require_addresses(repo, remote, push=True)[0]
    readers = f"whoever can read {elsewhere.masked(address)} can read all memories of this vault and their history"
    answer = SetUp(
        remote=remote, branch=branch, address=elsewhere.masked(address), readers=readers, driver=driver.COMMAND, dry_run=dry_run
    )
    if dry_run:
        return answer
    if remote not in names:
        output(repo.work_tree, "name the remote", "remote", "add", "--", remote, address)
    for name, value in (
        (f"branch.{branch}.remote", remote),
        (f"branch.{branch}.merge", f"refs/heads/{branch}"),
        *driver.SETTINGS,
    ):
        output(repo.work_tree, "write its config", "config", "--local", name, value)
    with writing(vault, "sync") as op:
        before = reader.read(vault.root, driver.ATTRIBUTES) if (vault.root / driver.ATTRIBUTES).is_file() else b""
        after = driver.with_line(before)
        if not before:
            op.restore(driver.ATTRIBUTES, after)
        elif after != before:
            op.rewrite(driver.ATTRIBUTES, before, after)
        saved = op.carry_out("notes are merged by their fields")
    return replace(answer, **saved.fields())


@verb
@of_the_whole
def own_repository(vault: Context, folder: str) -> OwnRepository:
    """Write the vault with its history, and nothing beside it, into a repository of its own; the old one stays as it is.

    Raises Refused where no person asks, and UsageError where something is in the folder already.
    """
    vault = person.acting(vault, "give the vault a repository of its own")
    repo = vault.require_repo()
    head = git.head(repo)
    if head.branch is None or head.commit is None:
        raise Refused("HEAD is on no branch with commits", shell("git switch BRANCH"))
    if not folder.strip():
        raise UsageError("no folder is named", f"for example {step('own_repository', folder='~/memory')}")
    target = Path(folder).expanduser().resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is there already", "name a folder that is not there")
    if target.is_relative_to(repo.work_tree):
        raise UsageError(f"{target} lies in the repository that the vault is to leave", "name a folder outside of it")
    paths = [f"{repo.prefix}{path}" for path in (*OWN_FOLDERS, *OWN_FILES)]
    exported = output(
        repo.work_tree, "read the history of the vault", "fast-export", "--signed-tags=strip", "--tag-of-filtered-object=drop",
        f"refs/heads/{head.branch}", "--", *paths, limit=WALK_LIMIT,
    )  # fmt: skip
    target.mkdir(parents=True, exist_ok=True)
    output(target, "make a repository", "init", "--quiet", f"--initial-branch={head.branch}")
    feed = b"".join(_below(exported, repo.prefix))
    done = together(target, [GitCall(("fast-import", "--quiet"), feed, limit=WALK_LIMIT)])[0]
    if done.code:
        raise done.failure("write the history of the vault")
    output(target, "put the files there", "reset", "--quiet", "--hard", f"refs/heads/{head.branch}", limit=WALK_LIMIT)
    new = git.find(target)
    if new is None or elsewhere.paths_outside(new, "HEAD", [], OWN):
        raise GitError(f"the history at {target} holds more than the vault, and is not to be used")
    remove = shell(f"git rm -r --cached {repo.prefix or layout.VAULT}")
    leftover = f"in {repo.work_tree} it still lies, with its history: {remove} takes it out of what comes"
    steps = (f"{step('set_up', address=...)} there gives it a remote", leftover)
    return OwnRepository(path=str(target), branch=head.branch, commits=elsewhere.commit_count(new, "HEAD"), next=steps)


_DATA = re.compile(rb"data (\d+)\n")


def _below(stream: bytes, prefix: str) -> Iterator[bytes]:
    """A stream of `git fast-export` with each path relative to a folder."""
    start, at = prefix.encode(), 0
    while at < len(stream):
        end = stream.index(b"\n", at) + 1
        line = stream[at:end]
        at = end
        if match := _DATA.fullmatch(line):
            length = int(match[1])
            yield line + stream[at : at + length]
            at += length
        elif start and line[:2] in (b"M ", b"D "):
            fixed, path = line.rsplit(b" ", 1) if b'"' not in line else line.split(b'"', 1)
            if b'"' in line:
                yield fixed + b'"' + path.removeprefix(start)
            else:
                parts = line.split(b" ", 3 if line.startswith(b"M ") else 1)
                yield b" ".join((*parts[:-1], parts[-1].removeprefix(start)))
        else:
            yield line
