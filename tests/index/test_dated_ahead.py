"""Notes that a wrong clock dated ahead: they count as of now, doctor names file and line, and a mended clock is noticed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.git_repos import commit_all, make_repo
from vault_tool import Vault
from vault_tool.model.problems import Problem
from vault_tool.util.clock import FixedClock, stamp

NOW = datetime(2026, 11, 20, 11, tzinfo=UTC)
YEAR = timedelta(days=400)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault of three notes, none dated ahead."""
    made = make_repo(tmp_path / "notes")
    (made / "vault").mkdir()
    (made / "vault.toml").write_text("")
    commit_all(made, "settings")
    with opened(made, NOW - timedelta(days=9)) as vault:
        vault.remember("The zebra is an animal.", ["Zoo"])
    return made


def opened(root: Path, at: datetime) -> Vault:
    return Vault.open(root, person=True, clock=FixedClock(at))


def ahead(root: Path, at: datetime) -> list[Problem]:
    """What doctor says of times ahead."""
    with opened(root, at) as vault:
        return [one for one in vault.doctor().problems if one.code == "dated-ahead"]


def by_a_wrong_clock(root: Path) -> Path:
    with opened(root, NOW + YEAR) as vault:
        return root / vault.remember("The zebra sleeps.", ["Zoo"]).path


def by_hand(root: Path) -> Path:
    with opened(root, NOW - timedelta(days=8)) as vault:
        path = root / vault.remember("The zebra sleeps.", ["Zoo"]).path
    path.write_text(re.sub(r"created: .*", f"created: {stamp(NOW + YEAR)}\nobserved: 2028-01-01", path.read_text()))
    commit_all(root, "by hand")
    return path


@pytest.mark.parametrize("made", [by_a_wrong_clock, by_hand])
def test_doctor_names_the_line_and_what_to_do(root: Path, made: object) -> None:
    assert callable(made)
    path = made(root)
    (told,) = ahead(root, NOW)
    line = path.read_text().split("\n")[told.line - 1]
    assert told.path == path.relative_to(root).as_posix() and line.startswith("created:")
    assert told.severity.value == "note" and "`vt commit`" in told.hint


@pytest.mark.parametrize("made", [by_a_wrong_clock, by_hand])
def test_it_heads_no_list_of_what_is_written_after_it(root: Path, made: object) -> None:
    assert callable(made)
    made(root)
    with opened(root, NOW) as vault:
        assert len(vault.list_observations("Zoo").results) == 2
    with opened(root, NOW + timedelta(hours=1)) as vault:
        newer = vault.remember("The zebra wakes.", ["Zoo"])
        listed = vault.list_observations("Zoo").results
        assert listed[0].id == newer.id
        assert all(one.observed_at <= stamp(NOW + timedelta(hours=1)) for one in listed)
        assert "2027" not in vault.core(preview=True).text


def test_a_time_that_came_is_no_longer_ahead(root: Path) -> None:
    by_a_wrong_clock(root)
    assert ahead(root, NOW) and not ahead(root, NOW + YEAR + timedelta(days=1))
    with opened(root, NOW + YEAR + timedelta(days=1)) as vault:
        assert vault.list_observations("Zoo").results[0].observed_at == stamp(NOW + YEAR)


def test_a_clock_that_was_slow_for_a_while_leaves_nothing(root: Path) -> None:
    assert len(ahead(root, datetime(1990, 1, 1, tzinfo=UTC))) >= 1
    assert not ahead(root, NOW)
    with opened(root, NOW) as vault:
        assert vault.list_observations("Zoo").results[0].observed_at == stamp(NOW - timedelta(days=9))


def test_a_mended_note_is_told_of_no_more(root: Path) -> None:
    path = by_a_wrong_clock(root)
    path.write_text(re.sub(r"created: .*", f"created: {stamp(NOW)}", path.read_text()))
    assert ahead(root, NOW) == []
