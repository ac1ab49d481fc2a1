"""A month with so many notes that the next ones go to folders of their day: where a note lies means nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git
from tests.oracles import assert_as_built_anew, errors_of
from tests.verbs.looking import START, identity, in_commit
from vault_tool import Vault
from vault_tool.files.placing import FULL_DAY, FULL_MONTH
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

MONTH = "vault/observations/2026/11"
DAY = f"{MONTH}/20"


@pytest.fixture
def busy(root: Path) -> Path:
    """A vault whose month has as many notes as its folder takes."""
    notes(root / MONTH, FULL_MONTH)
    if (root / ".git").exists():
        commit_all(root, "a month")
    return root


def notes(folder: Path, count: int, first: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        head = f"id: {identity(number)}\ntype: fact\ntitle: Note {number}\ncreated: 2026-11-03T10:00:00+00:00\norigin: agent\n"
        (folder / f"note-{number}.md").write_text(f"---\n{head}---\nOf number {number}.\n")


@pytest.fixture
def owned(busy: Path) -> Iterator[Vault]:
    with Vault.open(busy, person=True, clock=FixedClock(START)) as opened:
        yield opened


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def test_the_first_note_without_room_in_its_month_goes_to_its_day(root: Path) -> None:
    notes(root / MONTH, FULL_MONTH - 1)
    with Vault.open(root, clock=FixedClock(START)) as vault:
        made = [vault.remember(f"The beam of number {number} is of oak.") for number in range(3)]
        assert [folder_of(one.path) for one in made] == [MONTH, DAY, DAY]
        assert len(list((root / MONTH).glob("*.md"))) == FULL_MONTH, "nothing was moved"
        assert {one.id for one in vault.search("oak beam", limit=5).results} == {one.id for one in made}
        assert vault.remember("The beam of number 2 is of oak.").duplicate_of == made[2].id
        assert list(errors_of(vault)) == []
    assert_as_built_anew(root, ["oak"], FixedClock(START))


def test_a_day_without_room_goes_on_in_numbered_folders(owned: Vault, busy: Path) -> None:
    told = (f"The stone of number {number} is dressed." for number in range(2 * FULL_DAY + 3))
    many = [{"content": one, "subject_names": ["Walls"]} for one in told]
    owned.add_observations(many)
    last = owned.remember("The last stone is dressed.", ["Walls"])
    assert folder_of(last.path) == f"{DAY}/3"
    counts = {folder: len(list((busy / folder).glob("*.md"))) for folder in (MONTH, DAY, f"{DAY}/2", f"{DAY}/3")}
    assert counts == {MONTH: FULL_MONTH, DAY: FULL_DAY, f"{DAY}/2": FULL_DAY, f"{DAY}/3": 4}
    assert owned.get(last.id).path == last.path and len(owned.list_observations("Walls", limit=1000).results) == len(many) + 1
    assert_as_built_anew(busy, ["stone"], FixedClock(START))


def test_room_in_a_folder_is_used_again(owned: Vault, busy: Path) -> None:
    first = owned.remember("The first beam.")
    (busy / MONTH / "note-7.md").unlink()
    assert folder_of(first.path) == DAY and folder_of(owned.remember("The second beam.").path) == MONTH
    assert folder_of(owned.remember("The third beam.").path) == DAY


@pytest.mark.in_git
def test_what_lies_in_a_day_is_edited_undone_forgotten_and_purged(owned: Vault, busy: Path) -> None:
    kept, other, gone, purged = (owned.remember(f"Ottoline keeps the {what} key.") for what in ("spare", "iron", "brass", "wax"))
    assert {folder_of(one.path) for one in (kept, other, gone, purged)} == {DAY}
    assert in_commit(busy)[purged.path] == "A"
    owned.pin(kept.id)
    assert "pinned: true" in (busy / kept.path).read_text()
    assert other.commit
    owned.undo(other.commit)
    assert not (busy / other.path).exists()
    owned.forget(gone.id)
    owned.purge([purged.id])
    assert [one.id for one in owned.search("Ottoline").results] == [kept.id]
    left = [path for path in (busy / "vault").rglob("*") if path.is_file() and b"brass" in path.read_bytes()]
    assert left == [] and git(busy, "status", "--porcelain") == ""
    assert list(errors_of(owned)) == []


_WRITES = """
import sys
from datetime import datetime
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
with Vault.open(sys.argv[1], session=sys.argv[2], clock=FixedClock(datetime.fromisoformat(sys.argv[3]))) as vault:
    for number in range(6):
        vault.remember(f"The {sys.argv[2]} of number {number} is of oak.", ["Oak"])
"""


@pytest.mark.in_git
def test_two_processes_fill_one_day(busy: Path) -> None:
    notes(busy / DAY, FULL_DAY - 4, 5000)
    commit_all(busy, "a day")
    both = [subprocess.Popen([sys.executable, "-c", _WRITES, str(busy), name, START.isoformat()]) for name in ("beam", "plank")]
    assert [one.wait(timeout=240) for one in both] == [0, 0]
    with Vault.open(busy, clock=FixedClock(START)) as vault:
        found = vault.list_observations("Oak", limit=100).results
        assert len(found) == 12 and len(list((busy / DAY).glob("*.md"))) == FULL_DAY
        assert len(list((busy / DAY / "2").glob("*.md"))) == 8
    assert git(busy, "status", "--porcelain") == ""


@pytest.mark.in_git
def test_two_clones_that_fill_one_day_meet_without_a_conflict(busy: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(busy), str(other))
    for where in (busy, other):
        with Vault.open(where, clock=FixedClock(START)) as vault:
            assert folder_of(vault.remember(f"The beam of {where.name} is of oak.", ["Oak"], title="The beam").path) == DAY
    git(busy, "pull", "--quiet", "--no-edit", "--no-rebase", str(other), "HEAD")
    with Vault.open(busy, clock=FixedClock(START)) as vault:
        assert len(vault.list_observations("Oak").results) == 2
        made = vault.remember("The plank is of oak.", ["Oak"])
        assert folder_of(made.path) == DAY and made.committed
