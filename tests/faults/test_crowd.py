"""Many processes in one vault, one of them building all indexes anew: each is told what it wrote, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
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
    until = time.time() + runs_wanted(6)
    roles = ("w1", "w2", "e1", "r1")
    running = [
        subprocess.Popen(
            [sys.executable, str(CHILD), str(root), role, str(until)],
            cwd=PROJECT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        for role in roles
    ]  # fmt: skip
    said = {role: json.loads(process.communicate(timeout=120)[0]) for role, process in zip(roles, running, strict=True)}
    assert {role: one["wrong"] for role, one in said.items()} == {role: [] for role in roles}
    assert all(one["turns"] > 1 for one in said.values()), said
    assert_git_is_sound(root)
    assert not [line for line in git(root, "status", "--porcelain").splitlines() if not line.startswith(" M vault/observations/")]
    with Vault.open(root) as vault:
        assert vault.status().counts["observation"] >= 12 + said["w1"]["turns"] + said["w2"]["turns"] - 2
    assert_as_built_anew(root, ["zqw1x0q", "redis"])
