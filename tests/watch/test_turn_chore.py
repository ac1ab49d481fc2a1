from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.watch.watched import eventually, vault
from vault_tool.features.turns.accept import turn
from vault_tool.features.turns.turns import Turns
from vault_tool.util.clock import FixedClock
from vault_tool.util.hints import step
from vault_tool.vault.context import Context
from vault_tool.watch.jobs import BACKSTOP_EVERY, BACKSTOP_QUIET, TURNS_QUIET, Jobs
from vault_tool.watch.worker import Task, Worker


def test_the_watcher_writes_what_turns_left_waiting(tmp_path: Path) -> None:
    root = vault(tmp_path)
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        candidates = [{"content": "The player has a sister, Mara."}]
        turn(opened, "s1", "u1", "w", "Mara is my sister.", extractMemory=True, candidates=candidates, write="later")
        chores = Jobs(said.append)
        chores.when_quiet(opened, TURNS_QUIET)
        eventually(lambda: Turns(root).count() == 0)
        eventually(lambda: bool(opened.fresh()) and bool(opened.index.search("sister Mara", 5)))
        chores.stop()
    assert said == []


def test_the_watcher_looks_again_at_turns_that_wrote_nothing_once_in_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault(tmp_path)
    said: list[str] = []
    begun: list[Task] = []
    begin = Worker.begin

    def noted(root: Path, task: Task) -> Worker:
        begun.append(task)
        return begin(root, task)

    monkeypatch.setattr(Worker, "begin", noted)
    with Context.open(root) as opened:
        opened.fresh()
        chores = Jobs(said.append)

        def looked() -> bool:
            chores.when_quiet(opened, BACKSTOP_QUIET)
            return not chores.busy

        eventually(looked)
        assert Task.BACKSTOP not in begun, "nothing was passed over yet"
        turn(opened, "s1", "u1", "w", "I promise that my sister Mara comes on Friday.")
        turn(opened, "s1", "u1", "w", "ok")
        looked()
        assert Task.BACKSTOP not in begun, "not again so soon"
        opened.clock = FixedClock(opened.clock.now() + timedelta(seconds=BACKSTOP_EVERY + 1))
        told = f"1 turn that wrote nothing may deserve a second look: {step('backstop')}"
        eventually(lambda: looked() and told in said)
        opened.clock = FixedClock(opened.clock.now() + timedelta(seconds=BACKSTOP_EVERY + 1))
        eventually(looked)
        chores.stop()
    assert (begun.count(Task.BACKSTOP), said.count(told)) == (1, 1), "nothing new was passed over"
