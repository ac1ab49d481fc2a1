"""Uses of a busy day: what the catalogue has taken in and what the logs have behind it are together what was noted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.founding import found_at
from tests.oracles import drop_derived
from tests.verbs.looking import START, identity
from vault_tool import Vault
from vault_tool.index.uses import MANY
from vault_tool.model.signals import Use
from vault_tool.util.clock import FixedClock

DAY = "2026-11-20"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    found_at(tmp_path / "notes", git=False)
    with Vault.open(tmp_path / "notes", person=True, clock=FixedClock(START)) as opened:
        opened.fresh()
        yield opened


def note(vault: Vault, count: int, first: int = 0, day: str = DAY) -> None:
    for number in range(first, first + count):
        at = f"{day}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}+00:00"
        vault.local.note_use(Use(at=at, target=identity(number % 7), session=f"s{number % 3}"))


def taken_in(vault: Vault) -> int:
    return int(vault.index.catalog.rows("SELECT count(*) FROM uses")[0][0])


def log(vault: Vault, day: str = DAY) -> Path:
    return vault.root / "_local" / "use" / f"{day}.jsonl"


def assert_as_noted(vault: Vault) -> None:
    """What is told of uses is what stands in the logs, by this process and by a new one."""
    noted = [use for file in (vault.root / "_local/use").glob("*") for use in _in(file)]
    with Vault.open(vault.root) as other:
        for one in (vault, other):
            for _ in range(2):
                assert sorted(one.uses.all(), key=repr) == sorted(noted, key=repr)
                wanted = [identity(2), identity(5)]
                assert sorted(one.uses.of(wanted), key=repr) == sorted((u for u in noted if u.target in wanted), key=repr)


def _in(file: Path) -> Iterator[Use]:
    for line in file.read_text().split("\n"):
        if line.strip():
            yield Use(**json.loads(line))


def test_all_that_was_noted_is_told_however_much_of_it_was_taken_in(vault: Vault) -> None:
    for count in (3, MANY - 4, 1, 1, MANY // 2, 3 * MANY):
        note(vault, count, 17 * count)
        assert_as_noted(vault)
    assert taken_in(vault) > 3 * MANY
    note(vault, MANY + 1, day="2026-11-21")
    assert_as_noted(vault)
    drop_derived(vault.root)
    assert_as_noted(vault)
    assert taken_in(vault) > 4 * MANY


def test_what_is_forgotten_is_told_no_more(vault: Vault) -> None:
    made = vault.remember("The beam is of oak.")
    note(vault, 2 * MANY)
    for number in range(3):
        vault.local.note_use(Use(at=f"{DAY}T23:00:0{number}+00:00", target=made.id, session="s1"))
    assert_as_noted(vault)
    note(vault, MANY)
    assert len(vault.uses.of([made.id])) == 3 and taken_in(vault) > MANY
    vault.forget(made.id)
    assert vault.uses.of([made.id]) == [] and made.id not in log(vault).read_text()
    assert vault.index.catalog.rows("SELECT count(*) FROM uses WHERE target = ?", (made.id,)) == [(0,)]
    assert_as_noted(vault)


@pytest.mark.parametrize("change", ["gone", "shorter", "another", "blanked", "torn"])
def test_a_log_that_is_not_as_it_was_is_read_anew(vault: Vault, change: str) -> None:
    note(vault, 2 * MANY)
    assert_as_noted(vault)
    assert taken_in(vault) == 2 * MANY
    lines = log(vault).read_bytes().splitlines(keepends=True)
    if change == "gone":
        log(vault).unlink()
    elif change == "shorter":
        log(vault).write_bytes(b"".join(lines[: MANY // 2]))
    elif change == "another":
        log(vault).rename(log(vault).with_suffix(".old"))
        shutil.copyfile(log(vault).with_suffix(".old"), log(vault))
        log(vault).with_suffix(".old").unlink()
        note(vault, 3)
    elif change == "blanked":
        with log(vault).open("r+b") as file:
            file.seek(-len(lines[-1]), os.SEEK_END)
            file.write(b" " * (len(lines[-1]) - 1))
    else:
        with log(vault).open("ab") as file:
            file.write(lines[0].rstrip(b"\n"))
    assert_as_noted(vault)
    if change != "torn":
        note(vault, MANY + 1)
        assert_as_noted(vault)


def test_what_a_journal_carries_is_counted_once(vault: Vault) -> None:
    (vault.root / "vault.toml").write_text("share_use = true\n")
    note(vault, MANY + 5, day="2025-11-20")
    assert_as_noted(vault)
    with Vault.open(vault.root) as later:
        later.remember("The beam is of oak.")
        assert not log(later, "2025-11-20").exists() and later.uses.all() == []
        assert sum(signal.value for signal in later.index.catalog.signals()) == MANY + 5
        note(later, MANY)
        assert_as_noted(later)


_READS = """
import sys
from vault_tool import Vault
from vault_tool.model.signals import Use
from vault_tool.util.clock import FixedClock
with Vault.open(sys.argv[1]) as vault:
    for number in range(300):
        vault.local.note_use(Use(at="2026-11-20T10:00:00+00:00", target=sys.argv[2], session=str(number)))
        found = vault.uses.of([sys.argv[2]])
        assert sorted(int(use.session) for use in found) == list(range(number + 1)), (number, len(found))
"""


def test_two_processes_note_and_take_in_at_the_same_time(vault: Vault) -> None:
    command = [sys.executable, "-c", _READS, str(vault.root)]
    both = [subprocess.Popen([*command, identity(number)]) for number in (1, 2)]
    assert [one.wait(timeout=240) for one in both] == [0, 0]
    assert taken_in(vault) >= MANY
    assert len(vault.uses.all()) == 600
