"""SIGKILL at random moments: every acknowledged text is there, every file whole, every leftover swept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults import writing_child
from tests.faults.killer import Round, campaign, runs_wanted
from vault_tool.files import writer
from vault_tool.files.episode_text import read_episode
from vault_tool.files.signal_lines import read_signals
from vault_tool.util.atomic import temporary_hashes

CHILD = Path(writing_child.__file__)


def leftovers(root: Path) -> int:
    return sum(1 for path in (root / "vault").rglob(".*") if temporary_hashes(path.name) is not None)


def found_words(root: Path) -> set[str]:
    """Every word that is in the vault now; fails on a torn note, and on a journal torn anywhere but at its end."""
    words: set[str] = set()
    for path in (root / "vault").rglob("*"):
        where = path.relative_to(root).as_posix()
        if not path.is_file() or path.name.startswith("."):
            continue
        data = path.read_bytes()
        if where.startswith("vault/episodes/"):
            entries, problems = read_episode(where, data)
            words.update(f"episode {entry.title}" for entry in entries)
            assert {problem.code for problem in problems} <= {"torn-line"}
        elif where.startswith("vault/signals/"):
            signals, problems = read_signals(where, data)
            words.update(f"signal {one.rationale}" for one in signals)
            assert {problem.code for problem in problems} <= {"torn-line"}
        else:
            kind = "edit" if where in writing_child.SHARED else "create"
            words.update(f"{kind} {line}" for line in writing_child.unsealed(data))
    return words


@pytest.mark.campaign
def test_no_acknowledged_text_is_lost(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    acknowledged: set[str] = set()

    def check(one: Round) -> None:
        assert one.killed and one.errors == "", one
        acknowledged.update(word for word in one.acknowledged if not word.startswith("remove "))
        assert leftovers(tmp_path) <= 1
        assert acknowledged - found_words(tmp_path) == set()
        assert not any((tmp_path / "vault" / "gone" / f"{word[7:]}.md").exists() for word in one.acknowledged)
        if one.number % 5 == 4:
            writer.edit(tmp_path, writing_child.SHARED[0], lambda old: old)
            assert leftovers(tmp_path) == 0

    rounds = campaign(
        lambda number: [sys.executable, str(CHILD), str(tmp_path), str(number)],
        check,
        kills=runs_wanted(12),
        longest=0.06,
        seed=20261120,
    )
    assert len(acknowledged) > len(rounds)
    assert not list((tmp_path / "vault").rglob("*.conflict-*"))
