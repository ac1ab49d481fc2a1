"""Two vaults on one machine, each read by several processes at once: each has its own bounds, and one process asks at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.capture.drafted import NOON, drafting_at, kept
from tests.fakes.loopback import Request
from tests.founding import found_at

CALLS = {"north": 2, "south": 3}
SESSIONS = 5

CHILD = """
import json, os, sys, time
from datetime import datetime
from vault_tool.features.capture.session_drafts import draft_next
from vault_tool.util.clock import FixedClock
from vault_tool.vault.context import Context

root, moment, start = sys.argv[1:]
while not os.path.exists(start):
    time.sleep(0.01)
read, whys = 0, []
with Context.open(root, environ=dict(os.environ)) as vault:
    vault.clock = FixedClock(datetime.fromisoformat(moment))
    while True:
        outcome = draft_next(vault)
        read += outcome.read is not None
        whys.append(outcome.why)
        if outcome.read is None and "another process asks" not in outcome.why:
            break
        time.sleep(0.01)
print(json.dumps({"read": read, "whys": whys}))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def _children(root: Path, start: Path, count: int) -> list[subprocess.Popen[str]]:
    """So many processes that read what ended in a vault until none of it is due; they begin when `start` is there."""
    command = [sys.executable, "-c", CHILD, str(root), NOON.isoformat(), str(start)]
    return [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]


def _told(child: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    told: dict[str, Any] = json.loads(output)
    return told


def test_each_of_two_vaults_spends_its_own_bounds_and_one_process_asks_at_a_time(home: Path) -> None:
    for name in CALLS:
        found_at(home / name, git=True)
    at_once, most, counting = 0, 0, threading.Lock()

    def slowly(request: Request) -> object:
        nonlocal at_once, most
        with counting:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.4)
        with counting:
            at_once -= 1
        return kept({})

    with (
        drafting_at(home / "north", calls_a_day=CALLS["north"]) as north,
        drafting_at(home / "south", calls_a_day=CALLS["south"]) as south,
    ):
        vaults = {"north": north, "south": south}
        for name, drafting in vaults.items():
            drafting.answers(slowly)
            for number in range(SESSIONS):
                drafting.ended(f"{name}-{number}")
        start = home / "start"
        children = {name: _children(home / name, start, 2) for name in CALLS}
        start.touch()
        told = {name: [_told(child) for child in both] for name, both in children.items()}

        asked = {name: drafting.asked() for name, drafting in vaults.items()}
        read = {name: sum(each["read"] for each in both) for name, both in told.items()}
        assert asked == read == CALLS, "each vault spends what a person set for it, whatever the other spends"
        assert most == 1, "one process asks at a time among all vaults"
        for name, both in told.items():
            bound = f"{CALLS[name]} of {CALLS[name]} calls today: the rest waits for tomorrow"
            assert all(bound in each["whys"][-1] for each in both)
            begun = [line["session"] for line in vaults[name].log() if line.get("session")]
            assert len(set(begun)) == CALLS[name] and all(session.startswith(name) for session in begun)
