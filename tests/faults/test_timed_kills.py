"""SIGKILL at a random moment of what a person decides: the next write finishes it, or it was never begun."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN
from tests.faults import timed_kill_child
from tests.faults.killer import runs_wanted
from tests.faults.test_nth_write import CASES, settled_after_a_kill

DECISIONS = (
    *("forget", "purge", "merge", "undo", "unmark", "review", "restore", "edit"),
    *("settle", "keep this", "keep that", "keep another", "bury", "spare", "adopt"),
)
FEW = ("forget", "merge", "review", "keep this", "restore", "adopt")
"""One for each way of writing; the others in a campaign, for a kill before their every so-many-th write is always tried."""


@pytest.mark.campaign
@pytest.mark.parametrize("verb", DECISIONS if CAMPAIGN else FEW)
def test_a_kill_at_any_moment_leaves_all_of_it_or_nothing(verb: str, root: Path, tmp_path: Path) -> None:
    kills = runs_wanted(1)
    make, parts = CASES[verb]
    beside = tmp_path / "killed"
    beside.mkdir()
    make(root, beside)
    command = [sys.executable, timed_kill_child.__file__, str(root), str(beside), verb, str(20261125)]
    finished = number = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        while kills:
            child.stdin.write(f"{number}\n")
            child.stdin.flush()
            killed = json.loads(child.stdout.readline())
            left = beside / str(number)
            if killed:
                finished += settled_after_a_kill(verb, beside, left, looked_into=kills % 20 == 1)
                kills -= 1
            else:
                assert all(parts(left)), "it ran through"
            shutil.rmtree(left)
            number += 1
        child.stdin.close()
    sys.stdout.write(f"{verb}: {runs_wanted(1)} kills, {finished} were finished by the next write, of {number} rounds\n")
