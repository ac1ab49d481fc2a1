"""What an owner is worth: commands that it answers, an agent's client by it and alone, and what a death of it costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench import meaning
from bench.bed import Bed
from bench.figure import Figure
from bench.machine import ALONE, LIMIT, Failed, environment, in_turn, run, timed, vt
from vault_tool.files import watcher_presence
from vault_tool.files.layout import LOCAL

PYTHON = "start of Python"
SDK = "import of the protocol's library"

# What a server has to import before it can say a word.
_SDK_IMPORT = "import mcp.server.lowlevel.server, mcp.server.stdio"
OPENING: tuple[Mapping[str, Any], ...] = (
    {"id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
    }},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)  # fmt: skip
_WANTED = {"VAULT_OWNER": "on"}
_LOOK = 0.005
_SOON = 20.0
"""Seconds after which a person may type the next command."""


def by_owner(bed: Bed) -> Iterator[Figure]:
    """Commands as people and hooks type them where an owner is warm, and an agent's client that comes, by turns."""
    with owner_of(bed.root):
        floor, got, found, asked, listed = in_turn(
            bed.runs,
            _python,
            lambda: bed.vt("get", bed.identity, owner=True),
            lambda: bed.vt("search", bed.query, owner=True),
            lambda: bed.vt("recall", bed.query, owner=True),
            lambda: first_list(bed.root),
            warm=True,
        )
    more: Mapping[str, Any] = {"floor_is": PYTHON, "floor": tuple(floor)}
    yield bed.figure("owner-get", "vt get ID, answered by the owner", got, **more)
    yield bed.figure("owner-search", "vt search WORDS, answered by the owner", found, **more)
    yield bed.figure("owner-recall", "vt recall QUESTION, answered by the owner", asked, **more)
    yield bed.figure("mcp-owner", "a client's first answer and list of tools, by the owner", listed, **more)


def by_owner_local(bed: Bed) -> Iterator[Figure]:
    """A question that the owner answers by words and meaning, its model warm."""
    models = meaning.models_here()
    if models is None:
        return
    with meaning.by_local_model(bed, models), owner_of(bed.root):
        floor, asked = in_turn(bed.runs, _python, lambda: meaning.ask(bed, owner=True), warm=True)
    what = "vt recall QUESTION by the local model, answered by the owner"
    yield bed.figure("owner-recall-local", what, asked, floor_is=PYTHON, floor=tuple(floor))


def without(bed: Bed) -> Iterator[Figure]:
    """An agent's client that finds no owner: where none may be, and where the first one is started for it."""
    stop_owner(bed.root)
    floor, alone, first = in_turn(
        bed.rebuilds,
        lambda: run([sys.executable, "-c", _SDK_IMPORT]),
        lambda: first_list(bed.root, ALONE),
        lambda: first_list(bed.root),
        lambda: stop_owner(bed.root),
        warm=True,
    )[:3]
    more: Mapping[str, Any] = {"floor_is": SDK, "floor": tuple(floor)}
    yield bed.figure("mcp-alone", "a client's first answer and list of tools, where no owner may be", alone, **more)
    yield bed.figure("mcp-first", "the same, an owner being started for it", first, **more)


def second_command(bed: Bed) -> Iterator[Figure]:
    """Two commands within a minute where nobody runs yet: the first may start an owner, which the second may find."""
    taken, floor = [], []
    for _ in range(bed.runs):
        stop_owner(bed.root)
        with suppress(OSError):
            os.utime(bed.root / LOCAL / "owner.lock", (0, 0))  # so soon after another one none is started
        bed.vt("get", bed.identity, owner=True, env=_WANTED)
        begun = time.monotonic()
        while time.monotonic() - begun < _SOON and ((found := watcher_presence.owner(bed.root)) is None or not found.warm):
            time.sleep(_LOOK)
        floor.append(timed(_python))
        taken.append(timed(lambda: bed.vt("get", bed.identity, owner=True, env=_WANTED)))
    stop_owner(bed.root)
    what = f"vt get ID, the second command, up to {_SOON:g} s after the first"
    yield bed.figure("second-command", what, taken, floor_is=PYTHON, floor=tuple(floor))


def death(bed: Bed) -> Iterator[Figure]:
    """An owner killed: the next command, beside one on a vault that has none, and the next owner."""
    after, without_one, stands = [], [], []
    for _ in range(bed.rebuilds):
        with owner_of(bed.root) as pid, client(bed.root) as served:
            exchange(served, OPENING)
            os.kill(pid, signal.SIGKILL)
            begun = time.monotonic()
            after.append(timed(lambda: bed.vt("get", bed.identity, owner=True)))
            while (now := watcher_presence.owner(bed.root)) is None or now.pid == pid or not now.protocol:
                _give_up_after(begun)
                time.sleep(_LOOK)
            stands.append(time.monotonic() - begun)
        without_one.append(timed(lambda: bed.vt("get", bed.identity)))
    alike = {"floor_is": "the same where there is none", "floor": tuple(without_one)}
    yield bed.figure("death-get", "vt get ID right after its owner was killed", after, **alike)
    yield bed.figure("death-owner", "until another owner stands, where a client is connected", stands)


@contextmanager
def owner_of(root: Path) -> Iterator[int]:
    """An owner in the background, warm, for as long as it is needed: its process."""
    run([*vt(), "--vault", str(root), "owner", "--background"])
    begun = time.monotonic()
    while (found := watcher_presence.owner(root)) is None or not found.warm:
        _give_up_after(begun)
        time.sleep(_LOOK)
    try:
        yield found.pid
    finally:
        stop_owner(root)


def stop_owner(root: Path) -> None:
    """End the owner, if there is one."""
    run([*vt(), "--vault", str(root), "owner", "--stop"])


def first_list(root: Path, env: Mapping[str, str] | None = None, command: Sequence[str] = ()) -> None:
    """From the start of `vt mcp`, or of another server, until it has listed its tools."""
    with client(root, env, command) as process:
        exchange(process, OPENING)


@contextmanager
def client(root: Path, env: Mapping[str, str] | None = None, command: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """A server over standard input and output: ours for this vault, or that of another `command`."""
    quiet = bool(command)  # others tell their log there
    command = command or [*vt(), "mcp", "--vault", str(root)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL if quiet else None}
    with subprocess.Popen(command, env=environment() | dict(env or {}), **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def exchange(process: subprocess.Popen[bytes], messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Say these to a server one after the other, and wait for the answer of each that is a question; gives the last one."""
    assert process.stdin is not None and process.stdout is not None
    answer: dict[str, Any] = {}
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        while "id" in message and answer.get("id") != message["id"]:
            line = process.stdout.readline()
            if not line:
                raise Failed(f"the server ended before it answered {message['method']}")
            answer = json.loads(line)
    return answer


def _python() -> None:
    run([sys.executable, "-c", "pass"])


def _give_up_after(begun: float) -> None:
    if time.monotonic() - begun > LIMIT:
        raise Failed("no owner came up")


MEASURES: Mapping[Callable[[Bed], Iterator[Figure]], tuple[str, ...]] = {
    by_owner: ("owner-get", "owner-search", "owner-recall", "mcp-owner"),
    by_owner_local: ("owner-recall-local",),
    second_command: ("second-command",),
    without: ("mcp-alone", "mcp-first"),
    death: ("death-get", "death-owner"),
}
