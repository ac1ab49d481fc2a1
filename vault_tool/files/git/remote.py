"""The places that a vault is kept in step with: which they are, whether they may be asked, and how git asks them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from shlex import quote

from vault_tool.errors import GitError, Refused, UsageError
from vault_tool.files.git.authors import is_ancestor
from vault_tool.files.git.repo import Repo, at, fields, resolve
from vault_tool.files.git.run import call, first_line, one_line, output, talking
from vault_tool.files.git.survey import CommitSettings, TreeEntry, hook_folder, settings_of
from vault_tool.util.deferred import tempfile
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

# Seconds that a remote may take to answer.
REMOTE_LIMIT = 60.0

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_SCP = re.compile(r"(?:(?P<user>[\w.+-]+)@)?(?P<host>[\w.-]+|\[[0-9A-Fa-f:.]+\]):(?P<path>[^:].*)", re.ASCII | re.DOTALL)
_NO_HOSTS = frozenset({"ext", "fd", "http", "https", "ssh", "git", "ftp", "file"})
_PASSWORD = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*@")

# The remote's refusal, where pushing again would help and where it would not, and where it was not reached at all.
_OVERTAKEN = re.compile(r"\[rejected\]|fetch first|non-fast-forward|cannot lock ref|failed to update ref|stale info")
_FORBIDDEN = re.compile(
    r"remote rejected|permission denied|authentication failed|could not read (?:username|password)|access denied|forbidden"
    r"|error: 40[13]|not allowed|declined|unable to create temporary object|insufficient permission|host key verification",
    re.IGNORECASE,
)

# A fetch from a remote that answers and has not what it names.
_BROKEN = re.compile(
    r"not our ref|bad object|bad pack|missing (?:blob|tree|commit|necessary)|did not send all|corrupt|inflate|unresolved deltas"
    r"|not (?:a valid|a commit)|invalid (?:index-pack|object)|pack has|unpack-objects|index-pack",
    re.IGNORECASE,
)
# Git's cause of a push that the remote could not store.
_UNPACK = "error: remote unpack failed: "

_NO_FILE = "000000"

# What is at a path before and after, None for no file.
Change = tuple[TreeEntry | None, TreeEntry | None]

_RAN_OUT = "the remote did not answer in {limit:g} s"


class Upstream(Struct):
    """The branch elsewhere that a branch is kept in step with: the remote's name, its branch, and git's own copy of that."""

    remote: str
    branch: str

    @property
    def tracking(self) -> str:
        """Where git keeps the commit that the branch was last seen at."""
        return f"refs/remotes/{self.remote}/{self.branch}"

    @property
    def shown(self) -> str:
        """The name that a person reads: `origin/main`."""
        return f"{self.remote}/{self.branch}"


class Pushed(Enum):
    """The outcomes of a push: done, overtaken by another, not allowed there, or the remote not reached."""

    DONE = "done"
    OVERTAKEN = "overtaken"
    FORBIDDEN = "forbidden"
    UNREACHED = "unreached"


def remote_names(settings: CommitSettings) -> list[str]:
    """The remotes of a repository's config."""
    keys = (key for key in settings.config if key.startswith("remote.") and key.count(".") > 1)
    return sorted({key.removeprefix("remote.").rpartition(".")[0] for key in keys} - {""})


def meant_of(names: Sequence[str]) -> str:
    """The remote that is meant where none is named: `origin`, else the only one; nothing where that is not clear."""
    return "origin" if "origin" in names else names[0] if len(names) == 1 else ""


def upstream(settings: CommitSettings, branch: str, named: str = "") -> Upstream:
    """The upstream of a branch, or that on the `named` remote.

    UsageError for a remote that is none, Refused where none is meant.
    """
    names = remote_names(settings)
    if named and named not in names:
        known = f"there are: {', '.join(names)}" if names else f"there is none; {step('set_up', address=...)} names one"
        raise UsageError(f"no remote is called {one_line(named, 60)}", known)
    configured = settings.config.get(f"branch.{branch}.remote".lower(), settings.config.get(f"branch.{branch}.remote", ""))
    merged = settings.config.get(f"branch.{branch}.merge", "").removeprefix("refs/heads/")
    if configured in names and merged and named in ("", configured):
        return Upstream(configured, merged)
    if not names:
        raise Refused("the vault has no remote to be kept in step with", f"{step('set_up', address=...)} names one")
    chosen = named or meant_of(names)
    if not chosen:
        raise Refused(f"which remote is meant is not said: there are {', '.join(names)}", f"{step('sync', remote=names[0])}")
    return Upstream(chosen, branch)


def require_address(address: str) -> str:
    """An address that git may be given: https, ssh, `user@host:path` or a local path. Raises UsageError for any other."""
    text = address.strip()
    shown = masked(one_line(text, 80))
    if not text or not text.isprintable():
        raise UsageError("that is no address of a remote", "give https://..., user@host:path or a folder")
    if text.startswith("-") or "::" in text:
        raise UsageError(f"`{shown}` is no address that is gone to", "give https://..., user@host:path or a folder")
    url = _URL.fullmatch(text)
    if url:
        host = url["rest"].partition("/")[0].rpartition("@")[2]
        if url["scheme"] not in ("https", "ssh", "file") or host.startswith("-") or (url["scheme"] != "file" and not host):
            raise UsageError(f"`{shown}` is no address that is gone to", "give https://..., user@host:path or a folder")
        if _PASSWORD.search(text):
            raise UsageError(f"`{shown}` holds a password, which is kept nowhere", "leave it out: git asks its own helper for it")
        return text
    scp = _SCP.fullmatch(text)
    if scp and "/" not in text.partition(":")[0]:
        if scp["host"].lower() in _NO_HOSTS or scp["host"].startswith("-") or (scp["user"] or "").startswith("-"):
            raise UsageError(f"`{shown}` is no address that is gone to", "give https://..., user@host:path or a folder")
        return text
    if ":" in text.partition("/")[0]:
        raise UsageError(f"`{shown}` is no address that is gone to", "give https://..., user@host:path or a folder")
    return text


def require_addresses(repo: Repo, remote: str, *, push: bool) -> tuple[str, ...]:
    """The addresses that git would go to for a remote, each checked: what other settings make of them counts."""
    if plain := _plain_addresses(repo, remote):
        return tuple(require_address(address) for address in plain)
    asked = [("remote", "get-url", "--all", remote), *([("remote", "get-url", "--push", "--all", remote)] if push else ())]
    addresses: list[str] = []
    for args in asked:
        result = call(repo.work_tree, *args)
        if result.code:
            why = masked(first_line(result.err))
            raise GitError(f"the remote {remote} has no address: {why}", f"{step('set_up', address=...)} names one")
        addresses += [line for line in result.out.decode(errors="replace").splitlines() if line]
    return tuple(require_address(address) for address in dict.fromkeys(addresses))


def _plain_addresses(repo: Repo, remote: str) -> tuple[str, ...]:
    """The addresses as they stand in the config, by one process; none where any setting may make others of them."""
    pattern = rf"^(remote\.{re.escape(remote)}\.(push)?url|url\..*)$"
    rows = [row.partition("\n") for row in fields(call(repo.work_tree, "config", "--null", "--get-regexp", pattern).out)]
    if any(key.startswith("url.") for key, _, _ in rows):
        return ()
    return tuple(dict.fromkeys(address for _, _, address in rows))


def masked(text: str) -> str:
    """A text without the passwords of addresses in it."""
    return _PASSWORD.sub("***@", text)


class Fetched(Struct):
    """The commit that the branch is at elsewhere; empty where there is no such branch there. `fault` says why it is not known,
    and `broken` that the remote answered, and has not what it names.

    `rewritten` is the commit that it was at before, where that is none of its ancestors any more.
    """

    commit: str = ""
    fault: str = ""
    rewritten: str = ""
    broken: bool = False


def fetch(
    repo: Repo, where: Upstream, *, asks: bool = False, accept_rewritten: bool = False, limit: float = REMOTE_LIMIT
) -> Fetched:
    """Fetch one branch, and nothing else: no tags, no submodules; our copy of it follows unless it was rewritten there."""
    known = at(repo, where.tracking) or ""
    source = f"refs/heads/{where.branch}"
    plain = _ask(repo, where, f"{source}:{where.tracking}", asks, limit)
    if plain.code == 0:
        return Fetched(at(repo, where.tracking) or "")
    if "couldn't find remote ref" in plain.err.lower():
        return Fetched()
    if "[rejected]" not in plain.err and "non-fast-forward" not in plain.err:
        return Fetched(fault=plain.fault, broken=_BROKEN.search(plain.err) is not None)
    aside = f"refs/vault-tool/{os.urandom(16).hex()}"
    try:
        result = _ask(repo, where, f"+{source}:{aside}", asks, limit)
        if result.code:
            return Fetched(fault=result.fault, broken=_BROKEN.search(result.err) is not None)
        commit = resolve(repo, aside) or ""
        went_back = is_ancestor(repo, commit, known)
        if commit and (went_back or accept_rewritten):
            output(repo.work_tree, "note what the remote has", "update-ref", where.tracking, commit, known)
            return Fetched(commit)
        return Fetched(commit, rewritten=known)
    finally:
        with suppress(GitError):
            call(repo.work_tree, "update-ref", "-d", aside)


def push(repo: Repo, where: Upstream, commit: str, *, asks: bool = False, limit: float = REMOTE_LIMIT) -> tuple[Pushed, str]:
    """Push a commit to the branch without force; where it was not taken git's answer is told. The person's own hook is run."""
    args = (
        *("push", "--porcelain", "--no-follow-tags", "--no-recurse-submodules", "--receive-pack=git-receive-pack"),
        *("--", where.remote, f"{commit}:refs/heads/{where.branch}"),
    )
    with _push_hook(repo) as hooks:
        result = _talk(repo, args, asks, limit, hooks)
    if result.code == 0:
        return Pushed.DONE, ""
    answer = f"{result.out}\n{result.err}"
    why = _refusal(answer) or result.fault
    if "remote rejected" in answer and _OVERTAKEN.search(answer.replace("remote rejected", "")):
        return Pushed.OVERTAKEN, why
    if _FORBIDDEN.search(answer):
        return Pushed.FORBIDDEN, why
    if _OVERTAKEN.search(answer):
        return Pushed.OVERTAKEN, why
    # A hook of the person's own that refuses says what it likes; git says no more than that it did.
    return (Pushed.FORBIDDEN if "failed to push some refs" in answer else Pushed.UNREACHED), why


def _refusal(answer: str) -> str:
    lines = [line for line in answer.splitlines() if line.startswith("!")]
    remarks = [line.removeprefix("remote:").strip() for line in answer.splitlines() if line.startswith("remote: ")]
    cause = [line.removeprefix(_UNPACK) for line in answer.splitlines() if line.startswith(_UNPACK)]
    telling = [line for line in (*remarks, *cause) if line]
    summary = lines[0].split("\t")[-1] if lines else ""
    return masked(one_line("; ".join(filter(None, (summary, telling[0] if telling else ""))), 200))


class _Talk(Struct):
    """The outcome of a call of git's that goes to a remote."""

    code: int
    out: str
    err: str
    late: bool = False
    limit: float = REMOTE_LIMIT

    @property
    def fault(self) -> str:
        if self.late:
            return _RAN_OUT.format(limit=self.limit)
        telling = [
            line for line in self.err.splitlines() if line.startswith(("fatal:", "error:", "ssh:"))
        ] or self.err.splitlines()
        return masked(first_line("\n".join(telling))) or f"exit code {self.code}"


def _ask(repo: Repo, where: Upstream, refspec: str, asks: bool, limit: float) -> _Talk:
    args = (
        *("fetch", "--no-tags", "--no-recurse-submodules", "--refmap=", "--no-auto-maintenance", "--upload-pack=git-upload-pack"),
        *("--", where.remote, refspec),
    )
    return _talk(repo, args, asks, limit)


@contextmanager
def _push_hook(repo: Repo) -> Iterator[str]:
    """A folder of hooks that has the one which a push asks, where the person has it, and no other."""
    hook = hook_folder(repo, settings_of(repo)) / "pre-push"
    if not (hook.is_file() and os.access(hook, os.X_OK)):
        yield os.devnull
        return
    with tempfile.TemporaryDirectory(prefix="push-") as folder:
        runner = Path(folder, "pre-push")
        runner.write_text(f'#!/bin/sh\nexec {quote(str(hook))} "$@"\n', encoding="utf-8", errors="surrogateescape")
        runner.chmod(0o700)
        yield folder


def _talk(repo: Repo, args: Sequence[str], asks: bool, limit: float, hooks: str = os.devnull) -> _Talk:
    """Run a call of git's that goes to a remote, with the person's own credentials; it prompts only where one is there."""
    env = talking(hooks) | _prompts(asks)
    with tempfile.TemporaryFile() as out_file, tempfile.TemporaryFile() as err_file:
        try:
            process = subprocess.Popen(
                ["git", "--no-pager", *args], cwd=repo.work_tree, env=env, stdin=None if asks else subprocess.DEVNULL,
                stdout=out_file, stderr=err_file, start_new_session=not asks,
            )  # fmt: skip
        except OSError as error:
            raise GitError(f"git could not be started: {error.strerror}") from error
        late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            _end(process, own_session=not asks)
        out_file.seek(0)
        err_file.seek(0)
        out, err = out_file.read(2**20).decode(errors="replace"), err_file.read(2**16).decode(errors="replace")
    return _Talk(-1 if late else process.returncode, out, err, late, limit)


def _prompts(asks: bool) -> dict[str, str]:
    if asks:
        return {"GIT_TERMINAL_PROMPT": "1"}
    return {"GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never", "SSH_ASKPASS_REQUIRE": "never"}


def _end(process: subprocess.Popen[bytes], *, own_session: bool) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number) if own_session else process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0)


def ahead_and_behind(repo: Repo, ours: str, theirs: str) -> tuple[int, int]:
    """How many commits only the one has, and how many only the other."""
    out = output(repo.work_tree, "compare the branches", "rev-list", "--left-right", "--count", f"{ours}...{theirs}")
    ahead, behind = out.decode().split()
    return int(ahead), int(behind)


def commit_count(repo: Repo, tip: str, known: str = "") -> int:
    """How many commits a tip has, but for those that `known` has too."""
    args = ("rev-list", "--count", tip, *(("--not", known) if known else ()))
    return int(output(repo.work_tree, "count the commits", *args).decode())


def paths_outside(repo: Repo, ours: str, base: Sequence[str], is_own: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """The paths, with the commit and its author, by which a commit of `ours` that no base has touches anything but the vault."""
    mark = os.urandom(16).hex()
    form = f"--format={mark}%x00%h%x00%an <%ae>%x00"
    args = (
        "log",
        "-m",
        "--name-only",
        "--no-renames",
        "--no-mailmap",
        "--encoding=UTF-8",
        "--no-show-signature",
        "-z",
        form,
        ours,
    )
    out = output(repo.work_tree, "read what the commits change", *args, "--not", *base, limit=REMOTE_LIMIT)
    outside: list[tuple[str, str, str]] = []
    for text in out.decode(errors="surrogateescape").split(f"{mark}\0")[1:]:
        commit, who, *names = text.split("\0")
        changed = [name.lstrip("\n") for name in names if name.strip("\n")]
        outside += [(name, commit, who) for name in changed if not is_own.fullmatch(name)]
    return outside


def entries_between(repo: Repo, old: str, new: str) -> dict[str, Change]:
    """The differences of two trees: each path with its entry before and after, None for no file."""
    args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
    rows = iter(fields(output(repo.work_tree, "compare the trees", *args, limit=REMOTE_LIMIT)))
    changes: dict[str, Change] = {}
    for row in rows:
        before, after, was, now, _ = row.removeprefix(":").split(" ")
        entries = (None if mode == _NO_FILE else TreeEntry(mode, oid) for mode, oid in ((before, was), (after, now)))
        changes[next(rows)] = (next(entries), next(entries))
    return changes


def names_in(repo: Repo, commit: str, *places: str) -> list[str]:
    """The names of all files of a commit, or of those below some folders."""
    args = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", *places)
    return fields(output(repo.work_tree, "list the files", *args))


def merge_bases(repo: Repo, ours: str, theirs: str) -> list[str]:
    """The last commits that two have in common, in the order of their ids; none where their histories are unrelated."""
    result = call(repo.work_tree, "merge-base", "--all", ours, theirs)
    return sorted(result.out.decode().split()) if result.code == 0 else []


def removed_last(repo: Repo, paths: Sequence[str], ours: str, theirs: str) -> tuple[str, str] | None:
    """The commit, abbreviated, that took one of these files away and that only the other side has, and whose it is."""
    args = ("-1", "--diff-filter=D", "--encoding=UTF-8", "--no-show-signature", "--format=%h%x00%an <%ae>")
    result = call(repo.work_tree, "log", *args, theirs, "--not", ours, "--", *repo.places(paths))
    commit, _, author = result.out.decode(errors="replace").partition("\n")[0].partition("\0")
    return (commit, one_line(author, 80)) if commit and result.code == 0 else None
