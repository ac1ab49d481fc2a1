"""Many processes in one vault, one of them building all indexes anew: each is told what it wrote, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from vault_tool import Vault

CHILD = Path(__file__).with_name("crowd_child.py")
PROJECT = Path(__file__).parents[2]


@pytest.mark.campaign
def test_each_of_many_is_told_what_it_wrote(root: Path) -> None:
    with Vault.open(root) as vault:
        for number in range(12):
            vault.remember(f"Note {number} was there before.", ["Redis"])
    # The writers decide how long it goes on: the others do their work until both have done theirs.
    roles = {"w1": runs_wanted(4), "w2": runs_wanted(4), "e1": 0, "r1": 0}
    running = {
        role: subprocess.Popen(
            [sys.executable, str(CHILD), str(root), role, str(turns)],
            cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        for role, turns in roles.items()
    }  # fmt: skip
    said = {role: json.loads(process.communicate()[0]) for role, process in running.items()}
    assert {role: one["wrong"] for role, one in said.items()} == {role: [] for role in roles}
    assert all(one["turns"] >= max(roles[role], 1) for role, one in said.items()), said
    assert_git_is_sound(root)
    assert not [line for line in git(root, "status", "--porcelain").splitlines() if not line.startswith(" M vault/observations/")]
    with Vault.open(root) as vault:
        assert vault.status().counts["observation"] >= 12 + said["w1"]["turns"] + said["w2"]["turns"] - 2
    assert_as_built_anew(root, ["zqw1x0q", "redis"])
