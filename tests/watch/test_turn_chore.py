from __future__ import annotations

from pathlib import Path

from tests.watch.watched import eventually, vault
from vault_tool.files.turns import Turns
from vault_tool.verbs.context import Context
from vault_tool.verbs.turns.taking import turn
from vault_tool.watch.chores import TURNS_QUIET, Chores


def test_the_watcher_writes_what_turns_left_waiting(tmp_path: Path) -> None:
    root = vault(tmp_path)
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        candidates = [{"content": "The player has a sister, Mara."}]
        turn(opened, "s1", "u1", "w", "Mara is my sister.", extractMemory=True, candidates=candidates, write="later")
        chores = Chores(said.append)
        chores.when_quiet(opened, TURNS_QUIET)
        eventually(lambda: Turns(root).count() == 0)
        eventually(lambda: bool(opened.fresh()) and bool(opened.index.search("sister Mara", 5)))
        chores.stop()
    assert said == []
