"""How git is started: fixed argument lists, an environment of our own, no prompts, and a time limit on each call."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from vault_tool.errors import GitError
from vault_tool.util.deferred import tempfile
from vault_tool.util.hints import shell
from vault_tool.util.structs import Struct

# Seconds that one git call may take.
CALL_LIMIT = 30.0

_KEPT = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
_DROPPED = ("GPG_TTY", "GPG_AGENT_INFO", "PINENTRY_USER_DATA", "DISPLAY", "WAYLAND_DISPLAY", "SSH_ASKPASS", "PAGER", "EDITOR")

# A repository's own config can name programs for git to run; these settings take each such place on the calls that we make.
_INERT = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("safe.bareRepository", "explicit"),
    ("core.quotePath", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
)

# What git says where a clone that was made with `--filter` lacks an object; it is never fetched within a command of ours.
_NOT_FETCHED = ("promisor remote", "lazy fetching disabled")

WHOLE = f"{shell('git fetch --refetch --no-filter')} brings what a partial clone lacks"

_PREFIX = re.compile(r"^(fatal: |error: |update_ref failed for ref 'HEAD': )+")

Config = Sequence[tuple[str, str]]

# The kinds of addresses that git may be asked to go to.
PROTOCOLS = "https:ssh:file"


class GitCall(Struct):
    """One git call to be made: its arguments, what it is fed, and settings for it alone.

    `inert` takes from the config every place that names a program; only a call that reads the config itself goes without.
    """

    args: tuple[str, ...]
    feed: bytes = b""
    config: Config = ()
    literal: bool = True
    inert: bool = True
    limit: float = CALL_LIMIT


class Result(Struct):
    """The result of a git call: exit code, output, error text and the number of the process that ran."""

    code: int
    out: bytes
    err: str
    pid: int

    def failure(self, doing: str) -> GitError:
        """The error for this result; `doing` says what was tried."""
        if any(sign in self.err for sign in _NOT_FETCHED):
            return GitError(f"git could not {doing}: this clone is partial, and lacks older contents", f"when online: {WHOLE}")
        return GitError(f"git could not {doing}: {first_line(self.err) or f'exit code {self.code}'}")


def one_line(text: str, limit: int = 160) -> str:
    """`text` as one printable line: whitespace runs are one space, control characters gone, cut at `limit` characters."""
    line = " ".join("".join(char if shows(char) else " " for char in text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def shows(char: str) -> bool:
    """Whether a character may stand in a message: printable, or a joiner that emoji and many scripts need."""
    return char.isprintable() or char in "\u200c\u200d"


def first_line(err: str) -> str:
    """The first line of git's error text that says what went wrong, without `fatal:`; "" when it said nothing."""
    lines = [line.strip() for line in err.splitlines() if line.strip() and not line.startswith("hint:")]
    telling = [line for line in lines if not line.startswith("warning:")] or lines
    return one_line(_PREFIX.sub("", telling[0]), 240) if telling else ""


def call(folder: Path, *args: str, feed: bytes = b"", config: Config = ()) -> Result:
    """Run one git call in `folder` and wait for it. Raises `GitError` when there is no git or the time is up."""
    return together(folder, [GitCall(args, feed, config)])[0]


def output(folder: Path, doing: str, *args: str, feed: bytes = b"", config: Config = (), limit: float = CALL_LIMIT) -> bytes:
    """The output of a git call that has to succeed; `doing` names it in the `GitError` when it does not."""
    result = together(folder, [GitCall(args, feed, config, limit=limit)])[0]
    if result.code:
        raise result.failure(doing)
    return result.out


def together(folder: Path, calls: Iterable[GitCall]) -> list[Result]:
    """Run independent git calls at the same time; the results are in the order of the calls."""
    started: list[tuple[GitCall, subprocess.Popen[bytes]]] = []
    try:
        started.extend((each, _start(folder, each)) for each in calls)
        return [_finish(each, process) for each, process in started]
    finally:
        for _, process in started:
            _end(process)


def honouring(
    folder: Path, *command: str, feed: bytes = b"", limit: float = CALL_LIMIT, env: Mapping[str, str] | None = None
) -> Result:
    """Run git or a hook as the person would, with hooks, filters and signing, but without a terminal and for `limit` seconds.

    A call that takes longer is ended with everything it started, and its result says so.
    """
    around = _environment(()) | {"GIT_EDITOR": ":", "GIT_SEQUENCE_EDITOR": ":", "SSH_ASKPASS_REQUIRE": "never"} | dict(env or {})
    # Files, not pipes: what a hook leaves in the background holds a pipe open long after git has gone.
    with tempfile.TemporaryFile() as fed, tempfile.TemporaryFile() as out_file, tempfile.TemporaryFile() as err_file:
        fed.write(feed)
        fed.seek(0)
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=around, stdin=fed, stdout=out_file, stderr=err_file, start_new_session=True
            )
        except OSError as error:
            raise _absent(error) from error
        late = _outlasts(process, limit)
        out_file.seek(0)
        err_file.seek(0)
        out, err = out_file.read(), err_file.read(65536).decode(errors="replace")
    if late:
        return Result(-1, b"", f"a hook or the signing took longer than {limit:g} s and was stopped", process.pid)
    return Result(process.returncode, out, err, process.pid)


def python(folder: Path, module: str, feed: bytes, limit: float) -> Result:
    """Run a module of ours, in a process of its own, that calls git by itself: it has the environment of our own calls."""
    env = _inert_environment(_INERT)
    command = (sys.executable, "-P", "-m", module)
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, input=feed, capture_output=True, timeout=limit, start_new_session=True, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"{module} took longer than {limit:g} s and was stopped") from error
    return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"), 0)


def talking(hooks: str) -> dict[str, str]:
    """The environment of a call that goes to a remote: the person's own credentials, and no program that a repository names but
    what lies in the folder of `hooks`.
    """
    settings = [*(pair for pair in _INERT if pair[0] != "core.hooksPath"), ("core.hooksPath", hooks)]
    return _environment(settings) | {"LC_ALL": "C", "GIT_ALLOW_PROTOCOL": PROTOCOLS}


def _inert_environment(config: Config) -> dict[str, str]:
    quiet = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    return _environment(config) | quiet


def _environment(config: Config) -> dict[str, str]:
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in _DROPPED and (not name.startswith("GIT_") or name.startswith(_KEPT))
    }
    env |= {"GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never"}
    known = env.get("GIT_CONFIG_COUNT", "0")
    count = int(known) if known.isdecimal() else 0
    for number, (key, value) in enumerate(config, count):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env | {"GIT_CONFIG_COUNT": str(count + len(config))}


def _start(folder: Path, each: GitCall) -> subprocess.Popen[bytes]:
    env = _inert_environment((*(_INERT if each.inert else ()), *each.config))
    if each.literal:
        env["GIT_LITERAL_PATHSPECS"] = "1"
    try:
        return subprocess.Popen(
            ["git", "--no-pager", *each.args],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE if each.feed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise _absent(error) from error


def _absent(error: OSError) -> GitError:
    if isinstance(error, FileNotFoundError) and error.filename == "git":
        return GitError("git is not installed", "install it from https://git-scm.com")
    return GitError(f"git could not be started: {error}")


def _finish(each: GitCall, process: subprocess.Popen[bytes]) -> Result:
    try:
        out, err = process.communicate(each.feed or None, timeout=_left(each.limit))
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {each.args[0]} took longer than {each.limit:g} s and was stopped") from error
    return Result(process.returncode, out, err.decode(errors="replace"), process.pid)


class _Bound(threading.local):
    until: float | None = None


_BOUND = _Bound()
_SHORTEST = 0.05


@contextmanager
def bounded(until: float) -> Iterator[None]:
    """End the calls of this thread at `until` (monotonic), as long as this lasts: of a hanging one nothing is left behind."""
    before, _BOUND.until = _BOUND.until, until
    try:
        yield
    finally:
        _BOUND.until = before


def _left(limit: float) -> float:
    return limit if _BOUND.until is None else max(_SHORTEST, min(limit, _BOUND.until - time.monotonic()))


def _outlasts(process: subprocess.Popen[bytes], limit: float) -> bool:
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        return True
    finally:
        _end(process)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that still runs, and all that it started; asked first, so that git can take its own locks away."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with suppress(OSError):
                pipe.close()
