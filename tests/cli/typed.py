"""Running `vt` as people and programs do: by a call, in a process of its own, or by the parser alone."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import pytest

from tests.bounds import PATIENCE
from vault_tool.cli.main import group, main
from vault_tool.cli.options import Call

VT = (sys.executable, "-m", "vault_tool")


def vt(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run one command line by a call in this process, without a terminal."""
    printed, said = _stream(), _stream()
    code = _call(arguments, cwd, env, _stream(input), printed, said)
    return subprocess.CompletedProcess(arguments, code, _written(printed), _written(said))


def vt_process(*arguments: str | bytes, cwd: Path | None = None, input: str = "") -> subprocess.CompletedProcess[str]:
    """Run one command line in its own process, without a terminal."""
    return subprocess.run([*VT, *arguments], cwd=cwd, input=input, check=False, capture_output=True, encoding="utf-8")


def printed_by(arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[str, int]:
    """What one command line prints on both streams in the order of its printing, and its exit code; by a call."""
    printed = _stream()
    code = _call(arguments, cwd, env, _stream(), printed, printed)
    return _written(printed), code


def _call(arguments: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, *streams: io.TextIOWrapper) -> int:
    """The exit code of one command line that is called here, with these standard streams."""
    with pytest.MonkeyPatch.context() as patch:
        if cwd is not None:
            patch.chdir(cwd)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        return main(arguments)


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    """What was written to it."""
    stream.flush()
    stream.seek(0)
    return stream.read()


def on_terminal(command: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> str:
    """What a command writes where all three streams are a terminal of 100 columns."""
    import fcntl
    import pty
    import struct
    import termios

    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    child = subprocess.Popen(command, cwd=cwd, env=dict(environ), stdin=inner, stdout=inner, stderr=inner, close_fds=True)
    os.close(inner)
    found = b""
    while chunk := _read(outer):
        found += chunk
    os.close(outer)
    child.wait(timeout=PATIENCE)
    return found.decode("utf-8").replace("\r\n", "\n")


def parsed(line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[click.Command, Call]:
    """What the parser makes of a command line as documents show it; raises what it raises. Nothing is run."""
    words = shlex.split(re.split(r"\s[<>]", line)[0].split(" | ")[-1])
    assert words[0] == "vt", line
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a text"), encoding="utf-8"))
    with group.make_context("vt", words[1:]) as outer:
        _, command, rest = group.resolve_command(outer, [*outer._protected_args, *outer.args])
        assert command is not None
        with command.make_context(command.name, rest, parent=outer) as inner:
            if not isinstance(command, click.Group):
                return command, inner.find_object(Call) or Call()
            _, member, rest = command.resolve_command(inner, [*inner._protected_args, *inner.args])
            assert member is not None
            with member.make_context(member.name, rest, parent=inner) as innermost:
                return member, innermost.find_object(Call) or Call()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux says EIO when the last process has closed its end.
        return b""
