"""`mutations`: the product broken in one place at a time, and whether the tests that are named for it notice."""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from bench.machine import PROJECT, Failed

LISTS = Path(__file__).parent / "mutants"
LIMIT = 120.0
"""Seconds after which a run counts as a hang: some mutations make something wait for ever."""

_PARTS = ("vault_tool", "tests", "bench", "docs", "templates", "pyproject.toml", "README.md", "CHANGELOG.md")
_IN_MEMORY = Path("/dev/shm")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "results", ".*_cache", ".hypothesis")
_TESTS_FAILED = 1


@dataclass(frozen=True, slots=True)
class Mutation:
    """One place to break: `old` stands exactly once in `file` and becomes `new`; at least one of `tests` must fail then."""

    name: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def faults(self, tree: Path) -> Iterator[str]:
        """What has rotted: a text that is not there exactly once, a test that is not there."""
        count = (tree / self.file).read_text(encoding="utf-8").count(self.old) if (tree / self.file).is_file() else 0
        if count != 1:
            yield f"{self.name}: its old text is {count} times in {self.file}"
        yield from (f"{self.name}: there is no {test}" for test in self.tests if not _is_there(tree, test))

    def apply(self, tree: Path) -> str:
        """Break the tree; returns the text that the file had."""
        text = (tree / self.file).read_text(encoding="utf-8")
        (tree / self.file).write_text(text.replace(self.old, self.new), encoding="utf-8")
        return text


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the named tests said of a mutation: the one that failed first, or `hung`; neither where it survived."""

    mutation: Mutation
    failed: str
    hung: bool
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether a test noticed."""
        return self.hung or bool(self.failed)

    def __str__(self) -> str:
        said = "killed by the time limit" if self.hung else f"killed by {self.failed}" if self.failed else "SURVIVED"
        return f"{self.mutation.name}: {said} ({self.seconds:.0f} s)"


def known() -> list[Mutation]:
    """All mutations, in the order of the lists."""
    lists = (tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(LISTS.glob("*.toml")))
    found = [
        Mutation(name, said["breaks"], said["file"], said["old"], said["new"], tuple(said["tests"]))
        for mutations in lists
        for name, said in mutations.items()
    ]
    if len({one.name for one in found}) < len(found):
        raise Failed("two mutations have one name")
    return found


def table(mutations: Sequence[Mutation]) -> str:
    """The list for readers: each with what it breaks, and the tests that notice."""
    rows = (f"| {one.name} | {one.breaks} | {_shown(one.tests)} |" for one in mutations)
    return "\n".join(("| mutation | what it breaks | killed by |", "|---|---|---|", *rows))


def run(mutations: Sequence[Mutation], jobs: int = 1, limit: float = LIMIT, project: Path = PROJECT) -> Iterator[Outcome]:
    """Break copies of the project in one place at a time, `jobs` of them at once; outcomes in the order of the mutations.

    Failed where a list has rotted, or where a named test fails without any mutation.
    """
    if rotten := [fault for one in mutations for fault in one.faults(project)]:
        raise Failed("\n".join(rotten))
    with tempfile.TemporaryDirectory(prefix="mutations-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as scratch:
        free: SimpleQueue[Path] = SimpleQueue()
        # Some tests run a process as nobody, which must not find the copy closed and take what is installed instead.
        Path(scratch).chmod(0o755)
        first = _copied(project, Path(scratch) / "0")
        free.put(first)
        for number in range(1, jobs):
            free.put(Path(shutil.copytree(first, Path(scratch) / str(number))))
        _require_green(first, sorted({test for one in mutations for test in one.tests}), limit)

        def tried(one: Mutation) -> Outcome:
            tree = free.get()
            text = one.apply(tree)
            begun = time.perf_counter()
            try:
                found = _tried(tree, one.tests, limit)
            finally:
                (tree / one.file).write_text(text, encoding="utf-8")
                free.put(tree)
            return Outcome(one, found.failed, found.hung, time.perf_counter() - begun)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(tried, mutations)


def _copied(project: Path, tree: Path) -> Path:
    tree.mkdir()
    for part in (project / name for name in _PARTS):
        if part.is_dir():
            shutil.copytree(part, tree / part.name, ignore=_LEFT_OUT)
        elif part.exists():
            shutil.copy2(part, tree / part.name)
    # Compiled once, and each file compared by its content: of two texts of one size and second the old one would run on.
    compiling = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
    subprocess.run(compiling, cwd=tree, check=True)
    asked = subprocess.run(
        [sys.executable, "-c", "import vault_tool; print(vault_tool.__file__)"],
        cwd=tree.parent, env=_environment(tree), capture_output=True, text=True, check=True,
    )  # fmt: skip
    if not asked.stdout.startswith(str(tree)):
        raise Failed(f"the copy would not be what is tested, but {asked.stdout.strip()}")
    return tree


def _require_green(tree: Path, tests: Sequence[str], limit: float) -> None:
    found = _tried(tree, tests, limit * max(1, len(tests) / 4))
    if found.failed or found.hung or found.skipped:
        said = f"{found.failed} fails" if found.failed else "the tests hang" if found.hung else "some tests are skipped here"
        raise Failed(f"without any mutation {said}")


class _Tried(NamedTuple):
    """What some tests said: the first that failed (or nothing), whether they hung, whether any was skipped."""

    failed: str = ""
    hung: bool = False
    skipped: bool = False


def _tried(tree: Path, tests: Sequence[str], limit: float) -> _Tried:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", *tests]
    # Into a file: whoever waits for the end of a pipe waits for everybody who holds it.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        running = subprocess.Popen(
            command, cwd=tree, env=_environment(tree), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = running.wait(limit)
        except subprocess.TimeoutExpired:
            return _Tried(hung=True)
        finally:
            # With all that they started: what hangs is often a child of theirs.
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        output.seek(0)
        said = output.read()
    if code == 0:
        return _Tried(skipped=" skipped" in said)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?::.+?)(?: - |$)", said, re.MULTILINE)
    if code != _TESTS_FAILED or failed is None:
        raise Failed(f"pytest ended with {code} on {' '.join(tests[:3])}: {said[-1500:]}")
    return _Tried(failed[1])


def _environment(tree: Path) -> dict[str, str]:
    # Also for processes that the tests start elsewhere; what is installed here is the tree without a mutation.
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def _is_there(tree: Path, test: str) -> bool:
    """Whether a test of this name is in its file, without running anything."""
    path, *names = test.split("[", 1)[0].split("::")
    if not (tree / path).is_file():
        return False
    body = _module(tree / path).body
    for name in names:
        found = next((one for one in body if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name == name), None)
        if found is None:
            return False
        body = found.body
    return bool(names)


@cache
def _module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _shown(tests: Sequence[str]) -> str:
    return ", ".join(f"`{test.removeprefix('tests/')}`" for test in tests)


def add_parser(whats: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command's own options."""
    what = whats.add_parser("mutations", help="the product broken in one place at a time: do the named tests notice?")
    what.add_argument("--only", action="append", default=[], metavar="NAME", help="these alone; may be repeated")
    what.add_argument("--jobs", type=int, default=1, help="how many are tried at once")
    what.add_argument("--limit", type=float, default=LIMIT, help="seconds after which a run counts as a hang")
    what.add_argument("--table", action="store_true", help="print the list as docs/reliability.md has it, and try nothing")
    what.set_defaults(run=main)


def main(asked: argparse.Namespace) -> int:
    """Print what became of each mutation; 1 where one survived, 2 where that cannot be told."""
    try:
        mutations = [one for one in known() if not asked.only or one.name in asked.only]
        if unknown := set(asked.only) - {one.name for one in mutations}:
            raise Failed(f"there is no mutation {min(unknown)}")
        if asked.table:
            print(table(mutations))
            return 0
        outcomes = []
        for outcome in run(mutations, asked.jobs, asked.limit):
            print(outcome, flush=True)
            outcomes.append(outcome)
    except Failed as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    killed, hung = sum(one.killed for one in outcomes), sum(one.hung for one in outcomes)
    print(f"{killed} of {len(outcomes)} killed ({hung} by the time limit) in {sum(one.seconds for one in outcomes):.0f} s")
    return 0 if killed == len(outcomes) else 1
