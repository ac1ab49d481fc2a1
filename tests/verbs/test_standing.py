"""`_state.json` says how memories stand now, whoever else works in the vault."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE
from tests.verbs.looking import START
from vault_tool import Vault
from vault_tool.model.signals import Use
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

PROJECT = Path(__file__).parents[2]


class Meanwhile(FixedClock):
    """A clock that lets something happen once, when it is asked for the `turn`-th time: in the middle of whoever computes."""

    happens: Callable[[], object] | None = None
    turn = 0

    def now(self) -> datetime:
        """The moment that it was set to."""
        self.turn -= 1
        if self.turn == 0 and self.happens:
            self.happens()
        return super().now()


def _rows(root: Path) -> dict[str, Any]:
    rows: dict[str, Any] = json.loads((root / "_state.json").read_text())["entries"]
    return rows


@pytest.fixture
def noted(vault: Vault) -> str:
    """A memory that nobody used yet."""
    noted = vault.remember("Used by others.").id
    vault.settle()
    return noted


def _use(vault: Vault, target: str) -> None:
    vault.local.note_use(Use(at=vault.now(), target=target, session="another"))


def test_use_noted_by_one_that_was_killed_before_it_wrote_the_state(vault: Vault, root: Path, noted: str) -> None:
    _use(vault, noted)
    assert _rows(root)[noted]["access_count"] == 0
    with Vault.open(root, clock=FixedClock(START)) as other:
        other.fresh()
    assert _rows(root)[noted]["access_count"] == 1


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize("what", ["use", "note"])
def test_what_comes_while_the_state_is_computed_is_in_it_after_the_next_look(
    vault: Vault, root: Path, noted: str, what: str, turn: int
) -> None:
    path = root / vault.get(noted).path
    beside = path.with_name("another.md")
    other = f"{noted[:-4]}beef"
    new = path.read_text().replace(noted, other)

    def wrote() -> None:
        beside.write_text(new)
        vault.index.refresh()

    clock = Meanwhile(START)
    with Vault.open(root, clock=clock) as slow:
        clock.happens = wrote if what == "note" else lambda: _use(vault, noted)
        slow.fresh()
        clock.turn = turn
        slow.decay()
        assert clock.turn <= 0
        slow.fresh()
        slow.settle()
    assert (other in _rows(root)) is (what == "note")
    assert _rows(root)[noted]["access_count"] == (1 if what == "note" else 2)


def test_use_by_many_at_once_is_all_counted(vault: Vault, root: Path, noted: str) -> None:
    code = (
        "import sys; from vault_tool import Vault\n"
        "with Vault.open(sys.argv[1], session=sys.argv[3]) as vault:\n"
        "    for _ in range(15):\n"
        "        vault.get(sys.argv[2])\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(root), noted, name], cwd=PROJECT) for name in "abc"]
    assert [child.wait(PATIENCE) for child in children] == [0, 0, 0]
    assert _rows(root)[noted]["access_count"] == 45
