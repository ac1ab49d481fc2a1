"""A client's own program, started without a window and without hooks, tools or a session file, asked about a session once."""

from __future__ import annotations

import json
import os
import selectors
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault_tool.errors import UsageError
from vault_tool.features.capture import tied
from vault_tool.features.capture.judge import MOST_BYTES, SECONDS, JudgeFault, Judgement, counted_by, stops_for
from vault_tool.files.local_trust import repositories
from vault_tool.util.deferred import tempfile
from vault_tool.util.text import one_line

# What the program is told of where it runs: what stood at the terminal when it was chosen, and nothing else.
PASSED = ("HOME", "USER", "LANG", "PATH")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
# Hooks of ours that it might call end at once.
CAPTURING = {"VAULT_CAPTURING": "1"}

WORDS = (
    "-p", "--model", "haiku", "--tools", "", "--strict-mcp-config", "--no-session-persistence",
    "--settings", '{"disableAllHooks":true}', "--output-format", "json", "--system-prompt",
)  # fmt: skip
"""The words after the program's path, before the rules."""

_FOLDER = "vt-capture-"
_PIECE = 2**16
_POLL = 0.02
_LONGEST_REASON = 120
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that the program is given later; folders in `PATH` that are relative are left out."""
    passed = {name: environ[name] for name in (*PASSED, *PROXIES) if environ.get(name)}
    if "PATH" in passed:
        passed["PATH"] = os.pathsep.join(filter(os.path.isabs, passed["PATH"].split(os.pathsep)))
    return passed


def require_trusted(program: str) -> str:
    """The program's whole path. Raises UsageError unless it is this user's or root's, and in no work tree."""
    path = Path(program).expanduser()
    real = Path(os.path.realpath(path))
    if not path.is_absolute() or not real.is_file() or not os.access(real, os.X_OK):
        raise UsageError(f"{one_line(program, 200)} is no whole path of a program", "name the program of your client")
    for place in (real, real.parent):
        status = place.stat()
        if status.st_uid not in (os.getuid(), 0) or status.st_mode & stat.S_IWOTH:
            raise UsageError(f"{one_line(str(place), 200)} is not yours alone", "a program that others may change is not started")
    for folder in (path.parent, real.parent):
        if repo := next(repositories(folder), None):
            raise UsageError(
                f"{one_line(str(path), 200)} is in the work tree {one_line(str(repo.work_tree), 200)}",
                "a pull may change what is there: name one that is installed elsewhere",
            )
    return str(path)


class ClaudeJudge:
    """Claude Code as `claude -p`, in an empty folder and a process group of its own."""

    def __init__(self, program: str, environ: Mapping[str, str], lock: int | None = None, seconds: float = SECONDS) -> None:
        self._program = program
        self._environ = {**environ, **CAPTURING}
        self._lock = lock
        self._seconds = seconds

    def ask(self, rules: str, question: str, schema: Mapping[str, Any]) -> Judgement:
        """Ask once. Raises JudgeFault; whatever became of it, nothing that was started is left."""
        try:
            program = require_trusted(self._program)
        except UsageError as fault:
            raise JudgeFault(fault.message, stops=True) from None
        # A job that was killed left its folder; whoever asks is alone, so none of them is in use.
        for left_behind in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
            with suppress(OSError):  # what is not empty, or another's, stays
                left_behind.rmdir()
        with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder:
            return _judgement(*self._run([program, *WORDS, rules], question.encode("utf-8", "replace"), folder))

    def _run(self, words: list[str], question: bytes, folder: str) -> tuple[bytes, bytes, int]:
        """The program's output on both streams and its exit code."""
        command = [sys.executable, "-I", "-S", str(tied.__file__), str(os.getpid()), *words]
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=self._environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True, pass_fds=() if self._lock is None else (self._lock,),
            )  # fmt: skip
        except OSError as fault:
            raise JudgeFault(f"{words[0]} cannot be started: {fault.strerror}") from None
        until = time.monotonic() + self._seconds
        try:
            out, err = _read(process, question, until)
            # Its group is ended while it is not reaped yet: until then no other process can have its number.
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                if time.monotonic() > until:
                    raise JudgeFault(f"{words[0]} did not answer within {self._seconds:g} s")
                time.sleep(_POLL)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
        return out, err, process.returncode


def _read(process: subprocess.Popen[bytes], question: bytes, until: float) -> tuple[bytes, bytes]:
    """Feed the program, and read both streams to their end, in bounds of time and bytes. Raises JudgeFault."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    os.set_blocking(process.stdin.fileno(), False)
    read: dict[Any, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)
        for output in read:
            selector.register(output, selectors.EVENT_READ)
        while selector.get_map():
            left = until - time.monotonic()
            if left <= 0:
                raise JudgeFault("the program did not answer in time")
            for key, _ in selector.select(min(left, 1.0)):
                stream: Any = key.fileobj
                if stream is process.stdin:
                    with suppress(BlockingIOError):
                        question = _fed(process.stdin, question)
                    if not question:
                        selector.unregister(stream)
                        with suppress(OSError):
                            stream.close()
                    continue
                piece = os.read(stream.fileno(), _PIECE)
                read[stream] += piece
                if not piece:
                    selector.unregister(stream)
                if len(read[stream]) > MOST_BYTES:
                    raise JudgeFault(f"the program says more than {MOST_BYTES:,} bytes")
    return bytes(read[process.stdout]), bytes(read[process.stderr])


def _fed(stream: Any, question: bytes) -> bytes:
    """The part of a question that is not written yet; nothing where the program reads no more."""
    try:
        return question[os.write(stream.fileno(), question) :]
    except BrokenPipeError:
        return b""


def _judgement(out: bytes, err: bytes, code: int) -> Judgement:
    try:
        answer = json.loads(out)
    except (ValueError, RecursionError):
        answer = None
    values = answer if isinstance(answer, dict) else {}
    text = values.get("result")
    if code or values.get("is_error") or not isinstance(text, str):
        reason = text if isinstance(text, str) else (err or out).decode("utf-8", "replace").strip().rpartition("\n")[2]
        words = one_line(reason, _LONGEST_REASON) or "nothing"
        raise JudgeFault(f"the program ended with {code} and says: {words}", stops=stops_for(reason))
    usage = values.get("usage")
    return Judgement(text, counted_by(usage, *_USAGE) if isinstance(usage, dict) else 0)
