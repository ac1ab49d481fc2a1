"""The machine as measurements need it: nobody's settings, a fresh process for each figure, seconds on a steady clock."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
RESULTS = PROJECT / "bench" / "results"
LIMIT = 1800.0
"""Seconds after which a measured process is given up."""

PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes of what the system counts a process's most memory in."""

ALONE: Mapping[str, str] = MappingProxyType({"VAULT_OWNER": "off"})
"""The environment in which no owner answers, or is started."""

_MEASURING = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)])
_, status, used = os.wait4(child, 0)
print([os.waitstatus_to_exitcode(status), used.ru_maxrss])
"""

_SOME = 200_000
_LOOP = compile(f"for number in range({_SOME}): product = number * number", "pace", "exec")
_OTHERS = ("GIT_", "VAULT_", "PYTHON", "OLLAMA_", "OPENAI_")


class Failed(Exception):
    """A measured command did not do what it is measured for: there is no figure for that."""


def environment() -> dict[str, str]:
    """This process's environment where git's, the vault's and Python's own variables are the same on every machine.

    Modules are compiled once and kept, as an installed package has them. No command starts an owner for the next (`CI`).
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)}
    people = {f"GIT_{role}_{what}": "bench@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    ours = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "CI": "true"}
    ours |= {"PYTHONPYCACHEPREFIX": str(RESULTS / "compiled")}
    return kept | people | ours


def run(
    arguments: Sequence[str],
    folder: Path = PROJECT,
    accept: tuple[int, ...] = (0,),
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> str:
    """What a command prints that reads `given`; Failed where its exit code is none of `accept`."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env=environment() | dict(env or {}),
        input=given,
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode not in accept:
        said = done.stderr.decode("utf-8", "replace").strip() or done.stdout.decode("utf-8", "replace").strip()
        raise Failed(f"`{' '.join(map(str, arguments))}` ended with {done.returncode}: {said[-2000:]}")
    return done.stdout.decode("utf-8")


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints in `folder`."""
    return run(["git", *arguments], folder)


def child(task: str, *arguments: str | Path | int) -> dict[str, Any]:
    """What a task of `bench.tasks` found out in a process of its own."""
    found: dict[str, Any] = json.loads(run([sys.executable, "-m", "bench.tasks", task, *map(str, arguments)]))
    return found


def vt() -> list[str]:
    """The command that people type, as it is installed beside this Python."""
    installed = Path(sys.executable).parent / ("vt.exe" if os.name == "nt" else "vt")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "vault_tool"]


def timed(work: Callable[[], object]) -> float:
    """The seconds that `work` takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def in_turn(runs: int, *works: Callable[[], object], warm: bool = False) -> list[list[float]]:
    """The seconds of each of several works, run by turns: what disturbs the machine then disturbs all alike.

    With `warm` each is run once before, for caches of the disk and of Python's compiler.
    """
    seconds: list[list[float]] = [[] for _ in works]
    for work in works if warm else ():
        work()
    for _ in range(runs):
        for taken, work in zip(seconds, works, strict=True):
            taken.append(timed(work))
    return seconds


def peak_mb(arguments: Sequence[str], accept: tuple[int, ...] = (0, 1), env: Mapping[str, str] | None = None) -> float:
    """The most memory that a command's own process had; Failed where its exit code is none of `accept`."""
    # A process begins with what the one that starts it has, so that this is a small one.
    code, used = json.loads(run([sys.executable, "-S", "-c", _MEASURING, *arguments], env=env))
    if code not in accept:
        raise Failed(f"`{' '.join(map(str, arguments))}` ended with {code}")
    return float(round(used * PEAK_UNIT / 1_000_000, 1))


def pace() -> float:
    """The seconds that a million multiplications take in bare Python now: some machines change their speed within minutes."""
    # With a script's names and not a function's, which are faster: so anybody types it, and so it was for the docs.
    return min(timed(lambda: exec(_LOOP, {})) for _ in range(3)) * 1_000_000 / _SOME


def description() -> Mapping[str, str | int | float]:
    """What a reader must know of the machine; no name of it and no path on it."""
    import tantivy
    import yaml

    return {
        "system": platform.system(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "python": platform.python_version(),
        "git": git(PROJECT, "--version").split()[2],
        "tantivy": str(getattr(tantivy, "__version__", "")),
        "pyyaml": yaml.__version__,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else -1.0,
    }
