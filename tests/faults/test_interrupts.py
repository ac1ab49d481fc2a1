"""Ctrl-C at any line comes out as an interrupt and nothing else, and the next command finds a vault that is whole."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import vault_tool
from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import errors_of
from vault_tool import Vault
from vault_tool.util.folder import Descent, opened

_OURS = str(Path(vault_tool.__file__).parent)


class Interrupts:
    """Counts the lines of our code that run, and interrupts before one of them."""

    def __init__(self, at: int = 0) -> None:
        self.lines = 0
        self._at = at

    def __call__(self, frame: FrameType, event: str, _: Any) -> Interrupts | None:
        """What `sys.settrace` calls."""
        # An interrupt while a generator is let go of is dropped by Python itself, whatever the program.
        if not frame.f_code.co_filename.startswith(_OURS) or frame.f_code.co_name == "<genexpr>":
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self._at:
                raise KeyboardInterrupt
        return self


@contextmanager
def _traced(interrupts: Interrupts) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(interrupts)
    try:
        yield
    finally:
        sys.settrace(before)


def _lines(work: Callable[[], object]) -> int:
    counting = Interrupts()
    with _traced(counting):
        work()
    return counting.lines


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be looked at here")
@pytest.mark.parametrize("way", ["opened", "descent"])
def test_an_interrupt_on_the_way_to_a_folder_closes_nothing_twice(tmp_path: Path, way: str) -> None:
    for path in ("a/b/c", "a/d/e"):
        (tmp_path / path).mkdir(parents=True)

    def walk() -> None:
        if way == "opened":
            for parts in (("a", "b", "c"), ("a", "d")):
                with opened(tmp_path, parts):
                    pass
        else:
            with closing(Descent(tmp_path)) as descent:
                for path in ("a/b/c", "a/d/e", "a", "a/b"):
                    descent.at(path.split("/"))

    for at in range(1, _lines(walk) + 1):
        # The number that is closed next is free again: whoever closed it a second time would close this.
        bystander = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(KeyboardInterrupt), _traced(Interrupts(at)):
            walk()
        os.fstat(bystander)
        os.close(bystander)


def _remember(vault: Vault, number: int) -> None:
    vault.remember(f"Note {number} of somebody in a hurry.", ["Haste", f"Subject {number}"])


def _ask(vault: Vault, number: int) -> None:
    vault.recall(f"who is in a hurry about {number}?")


def _rebuild(vault: Vault, _: int) -> None:
    vault.reindex(full=True)


@pytest.mark.parametrize("verb", [_remember, _ask, _rebuild])
def test_an_interrupt_anywhere_is_one_and_the_next_command_settles_it(root: Path, verb: Callable[[Vault, int], None]) -> None:
    def run(number: int) -> None:
        with Vault.open(root) as vault:
            verb(vault, number)

    with Vault.open(root) as vault:
        _remember(vault, 0)
    lines = _lines(lambda: run(1))
    chance = random.Random(20261122)
    interrupted = 0
    for number in range(2, 2 + runs_wanted(12)):
        try:
            with _traced(Interrupts(chance.randint(1, lines))):
                run(number)
        except KeyboardInterrupt:
            interrupted += 1
    assert interrupted
    with Vault.open(root) as vault:
        assert not vault.commit().reason
        assert vault.local.pending() == ()
        assert list(errors_of(vault)) == []
        assert vault.search("hurry").results
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""
    assert not list(root.rglob(".*.tmp"))
