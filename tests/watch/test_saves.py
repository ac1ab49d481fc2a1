from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN, PATIENCE
from tests.watch.watched import Inside, catalogued, eventually, git, identity, in_catalogue, note, path_of, vault
from vault_tool.watch import debounce


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Inside]:
    with Inside(vault(tmp_path)) as one:
        yield one


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A save may take as long as the test does."""
    for name in ("GONE_WAIT", "HALF_WAIT", "LONGEST_WAIT"):
        monkeypatch.setattr(debounce, name, 86400.0)


def _only(watched: Inside, path: str, change: str) -> dict[str, object]:
    """The change is told, and no other is."""
    said = watched.change(path)
    assert said["change"] == change, said
    assert watched.quiet() == [], said
    return said


def test_an_editor_that_writes_beside_and_renames(watched: Inside) -> None:
    target = watched.root / path_of(3)
    beside = target.with_name(".note-3.md.tmp1")
    beside.write_text(note(3, "An atomic zebra."))
    beside.replace(target)
    assert _only(watched, path_of(3), "modified")["title"] == "Note 3"


@pytest.mark.usefixtures("patient")
def test_an_editor_that_truncates_and_writes(watched: Inside) -> None:
    target = watched.root / path_of(3)
    with target.open("r+") as file:
        file.truncate(0)
        file.flush()
        assert watched.watcher.fresh(PATIENCE)
        file.write(note(3, "A truncated zebra."))
    _only(watched, path_of(3), "modified")


def test_a_note_that_is_emptied_first(watched: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    target = watched.root / path_of(3)
    with monkeypatch.context() as patch:
        patch.setattr(debounce, "HALF_WAIT", 86400.0)
        patch.setattr(debounce, "LONGEST_WAIT", 86400.0)
        target.write_text("")
        assert watched.watcher.fresh(PATIENCE)
        target.write_text(note(3, "A zebra at last."))
        assert _only(watched, path_of(3), "modified")["title"] == "Note 3"
    target.write_text("")
    assert _only(watched, path_of(3), "modified")["title"] == "note-3"


@pytest.mark.usefixtures("patient")
def test_an_editor_that_moves_the_old_text_away_first(watched: Inside) -> None:
    target = watched.root / path_of(3)
    backup = target.with_name(f"{target.name}~")
    target.rename(backup)
    assert watched.watcher.fresh(PATIENCE)
    target.write_text(note(3, "A vim zebra."))
    backup.unlink()
    _only(watched, path_of(3), "modified")


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
@pytest.mark.parametrize("settings", ["set backup backupcopy=no", "set nobackup nowritebackup", "set backupcopy=yes"])
def test_vim_itself(watched: Inside, settings: str) -> None:
    command = ["vim", "-u", "NONE", "-N", "-es", "-c", settings, "-c", "%s/nothing/zebra/", "-c", "wq", path_of(3)]
    subprocess.run(command, cwd=watched.root, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    assert "zebra" in (watched.root / path_of(3)).read_text()
    _only(watched, path_of(3), "modified")


def test_moves_in_out_and_within(watched: Inside, tmp_path: Path) -> None:
    outside = tmp_path / "n.md"
    outside.write_text(note(50))
    outside.rename(watched.root / "vault/n.md")
    _only(watched, "vault/n.md", "added")
    (watched.root / "vault/n.md").rename(watched.root / "vault/m.md")
    assert _only(watched, "vault/m.md", "moved")["was"] == "vault/n.md"
    (watched.root / "vault/m.md").rename(outside)
    _only(watched, "vault/m.md", "removed")


def test_a_folder_renamed_is_its_notes_moved(watched: Inside) -> None:
    (watched.root / "vault/observations/2026/01").rename(watched.root / "vault/observations/2026/elsewhere")
    said = [watched.heard(lambda said: said.get("change") == "moved") for _ in range(4)]
    assert {str(one["was"]) for one in said} == {path_of(number) for number in (0, 3, 6, 9)}
    assert watched.quiet() == []
    (watched.root / "vault/observations/2026/elsewhere/note-0.md").write_text(note(0, "Changed where it is now."))
    _only(watched, "vault/observations/2026/elsewhere/note-0.md", "modified")


def test_every_note_in_deep_new_folders(watched: Inside) -> None:
    for number in range(200):
        folder = watched.root / f"vault/new/{number % 20}/{number % 7}/deep"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.md").write_text(note(1000 + number))
    said = [watched.heard(lambda said: said.get("change") == "added") for _ in range(200)]
    assert len({str(one["path"]) for one in said}) == 200
    assert watched.quiet() == []
    (watched.root / "vault/new/3/3/deep/3.md").write_text(note(1003, "Heard in a new folder."))
    _only(watched, "vault/new/3/3/deep/3.md", "modified")


def test_swap_files_and_hidden_folders_are_nothing(watched: Inside) -> None:
    before = in_catalogue(watched.root)
    for name in (".n.md.swp", "4913", "n.md~", ".#n.md", "n.md.tmp"):
        (watched.root / "vault" / name).write_text(note(60))
    (watched.root / "vault/.obsidian").mkdir()
    (watched.root / "vault/.obsidian/workspace.md").write_text(note(61))
    assert watched.quiet() == []
    assert in_catalogue(watched.root) == before


@pytest.mark.usefixtures("patient")
def test_half_a_save_is_not_taken_for_the_note(watched: Inside) -> None:
    whole = note(3, "First half.\n\n" + "word " * 400 + "\n\nSecond zebra half.")
    before = in_catalogue(watched.root)[path_of(3)]
    with (watched.root / path_of(3)).open("w") as file:
        file.write(whole[: len(whole) // 2])
        file.flush()
        assert watched.watcher.fresh(PATIENCE)
        assert in_catalogue(watched.root)[path_of(3)] == before
        file.write(whole[len(whole) // 2 :])
    _only(watched, path_of(3), "modified")
    assert in_catalogue(watched.root)[path_of(3)] != before


@pytest.mark.usefixtures("patient")
def test_half_a_head_closed_is_served_as_it_was(watched: Inside) -> None:
    target = watched.root / path_of(3)
    target.write_text("---\nid: 00000003-0000-4000-")
    assert watched.watcher.fresh(PATIENCE)
    catalog = catalogued(watched.root)
    assert [entry.stale for entry in catalog.get(identity(3))] == [False]
    catalog.close()
    target.write_text(note(3, "Whole again."))
    _only(watched, path_of(3), "modified")


def test_a_note_that_stays_broken_is_named_with_its_line(watched: Inside) -> None:
    (watched.root / path_of(3)).write_text(note(3, "", title='"never closed'))
    said = watched.change(path_of(3))
    assert said["change"] == "problem" and said["line"] > 0 and said["message"]
    (watched.root / path_of(3)).write_text(note(3, "Mended."))
    assert watched.change(path_of(3))["change"] == "modified"


def test_a_file_system_times_lie_but_the_content_tells(watched: Inside) -> None:
    target = watched.root / path_of(3)
    before = target.stat()
    target.write_bytes(target.read_bytes().replace(b"nothing", b"anthing"))
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    _only(watched, path_of(3), "modified")
    os.utime(target)
    assert watched.quiet() == []


def test_a_checkout_of_many_files_and_back(watched: Inside) -> None:
    root = watched.root
    git(root, "checkout", "-q", "-b", "other")
    many = 2000 if CAMPAIGN else 600
    for number in range(100, 100 + many):
        target = root / path_of(number)
        target.write_text(note(number))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "more")
    for branch, count in (("main", 12), ("other", 12 + many), ("main", 12)):
        eventually(lambda: catalogued(root).meta("head") == git(root, "rev-parse", "HEAD"))
        git(root, "checkout", "-q", branch)
        eventually(partial(_holds, root, count))


def _holds(root: Path, observations: int) -> bool:
    return sum(path.startswith("vault/observations/") for path in in_catalogue(root)) == observations
