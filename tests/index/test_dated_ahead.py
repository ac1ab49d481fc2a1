"""Notes that a wrong clock dated ahead: they count as of now, doctor names file and line, and a mended clock is noticed."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.git_repos import commit_all, make_repo
from tests.wording import typed
from vault_tool import Vault
from vault_tool.cli.main import main
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
    [line] = [number for number, one in enumerate(path.read_text().split("\n"), 1) if one.startswith("created:")]
    assert "1 note is dated ahead of this machine's clock" in told.message
    assert f"{path.relative_to(root).as_posix()}:{line} (`created` says 2027-12-25)" in told.message
    assert told.severity.value == "note" and "`vt commit`" in typed(told.hint)


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
        assert all(one.observed <= stamp(NOW + timedelta(hours=1)) for one in listed)
        assert "2027" not in vault.core(preview=True).text


def test_a_time_that_came_is_no_longer_ahead(root: Path) -> None:
    by_a_wrong_clock(root)
    assert ahead(root, NOW) and not ahead(root, NOW + YEAR + timedelta(days=1))
    with opened(root, NOW + YEAR + timedelta(days=1)) as vault:
        assert vault.list_observations("Zoo").results[0].observed == stamp(NOW + YEAR)


def test_a_clock_that_was_slow_for_a_while_leaves_nothing(root: Path) -> None:
    assert len(ahead(root, datetime(1990, 1, 1, tzinfo=UTC))) >= 1
    assert not ahead(root, NOW)
    with opened(root, NOW) as vault:
        assert vault.list_observations("Zoo").results[0].observed == stamp(NOW - timedelta(days=9))


def test_a_mended_note_is_told_of_no_more(root: Path) -> None:
    path = by_a_wrong_clock(root)
    path.write_text(re.sub(r"created: .*", f"created: {stamp(NOW)}", path.read_text()))
    assert ahead(root, NOW) == []


@pytest.mark.parametrize(
    ("name", "head", "line"),
    [
        ("Plan.md", "date: 2028-03-01\n", 2),
        ("Plan.md", "title: Plan\nDate Created: March 1, 2028\n", 3),
        ("2028-03-01 Plan.md", "title: Plan\n", 0),
    ],
)
def test_a_served_note_by_its_head_or_its_name(tmp_path: Path, name: str, head: str, line: int) -> None:
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / name).write_text(f"---\n{head}---\nThe zebra moves.\n")
    made = Vault.init(tmp_path / "Notes", notes="here", no_git=True, clock=FixedClock(NOW))
    (told,) = ahead(Path(made.root), NOW)
    assert f"../{name}{f':{line}' if line else ''} (" in told.message and "2028-03-01" in told.message
    assert "vt commit" not in typed(told.hint)
    with opened(Path(made.root), NOW) as vault:
        newer = vault.remember("The zebra wakes.")
        assert vault.search("zebra").results[0].id == newer.id
    assert (tmp_path / "Notes" / name).read_text().startswith(f"---\n{head}"), "a folder that is served is not written"


def test_a_files_own_time_and_less_than_a_day_are_no_dates_ahead(tmp_path: Path, root: Path) -> None:
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes/Old.md").write_text("The zebra moves.\n")
    os.utime(tmp_path / "Notes/Old.md", (2e9, 2e9))
    made = Vault.init(tmp_path / "Notes", notes="here", no_git=True, clock=FixedClock(NOW))
    assert ahead(Path(made.root), NOW) == []
    path = by_hand(root)
    for said in ("2026-11-21", stamp(NOW + timedelta(hours=23)), "2026-11-21T09:00:00+14:00"):
        path.write_text(re.sub(r"(created|observed): .*", rf"\1: {said}", path.read_text()))
        assert ahead(root, NOW) == []
    path.write_text(re.sub(r"observed: .*", "observed: 2026-11-22", path.read_text()))
    (told,) = ahead(root, NOW)
    assert "(`observed` says 2026-11-22)" in told.message


def test_an_observed_day_ahead_is_named_and_an_import_of_one(root: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/2029-01-01.md").write_text("The zebra is born.\n")
    with opened(root, NOW) as vault:
        vault.import_markdown(tmp_path / "src")
        newer = vault.remember("The zebra wakes.")
        assert vault.search("zebra").results[0].id == newer.id
    assert [one.message for one in ahead(root, NOW) if "2029-01-01" in one.message]


def test_by_the_command_line_it_is_a_note_and_no_failure(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand(root)
    with opened(root, NOW) as vault:
        vault.status()
    main(["--vault", str(root), "doctor", "--json"])
    [told] = [one for one in json.loads(capsys.readouterr().out)["problems"] if one["code"] == "dated-ahead"]
    assert told["severity"] == "note"


def test_a_day_of_a_wrong_clock_is_one_line(root: Path) -> None:
    with opened(root, NOW + YEAR) as vault:
        for number in range(8):
            vault.remember(f"The zebra of box {number} sleeps.", ["Zoo"])
    (told,) = ahead(root, NOW)
    assert "8 notes are dated ahead" in told.message and told.message.count("created") == 5 and "and 3 more" in told.message
