"""SIGKILL among turns and the writing of what they accepted: no accepted candidate is lost, none is written twice."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from tests.faults import turns_child
from tests.faults.killer import Round, campaign, runs_wanted
from tests.git_repos import git
from tests.oracles import assert_git_is_sound, errors_of
from vault_tool import Vault
from vault_tool.files.inbox import INBOX

CHILD = Path(turns_child.__file__)
_WORD = re.compile(r"^Word (w\w+) was said\.$", re.MULTILINE)


def _words(folder: Path) -> Counter[str]:
    """How many notes below a folder say each word."""
    return Counter(word for path in folder.rglob("*.md") for word in _WORD.findall(path.read_text()))


def _assert_the_log_is_true(vault: Vault) -> None:
    """What the log tells of the last turns is what became of them: a kill leaves turns out, and makes none up."""
    for one in vault.list_turns(limit=5).results:
        fates = vault.get_turn(one.id).candidates
        assert [fate.became for fate in fates] == ["written" if one.gate.destination == "vault" else "held"] * len(fates) != []


def test_no_accepted_candidate_is_lost_or_doubled(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    Vault.init(root)
    acknowledged: dict[str, str] = {}
    kills = runs_wanted(3)

    def check(one: Round) -> None:
        assert one.errors == ""
        for line in one.acknowledged:
            mode, word = line.split()
            acknowledged[word] = mode
        with Vault.open(root) as vault:
            done = vault.drain()
            assert done.waiting == 0
            assert list(errors_of(vault)) == []
            _assert_the_log_is_true(vault)
        kept, held = _words(root / "vault" / "observations"), _words(root / INBOX)
        assert set((kept + held).values()) <= {1}
        for word, mode in acknowledged.items():
            where = held if mode == "memory_consent" else kept
            assert where[word] == 1, f"{word} of {mode}"
        if one.number % 5 == 4:
            assert_git_is_sound(root)
            assert git(root, "status", "--porcelain", "--untracked-files=all") == ""

    campaign(
        lambda number: [sys.executable, str(CHILD), str(root), str(number)],
        check,
        kills=kills,
        longest=0.4,
        most=6,
        seed=20261122,
    )
    history = git(root, "log", "--all", "-p", "--format=%B")
    assert len(acknowledged) > kills
    assert not [word for word, mode in acknowledged.items() if mode == "memory_consent" and f"{word} " in history]
    sys.stdout.write(f"{kills} kills, {len(acknowledged)} candidates acknowledged\n")
