"""Incremental equals full; nothing is forgotten in bulk; what is broken is named and served as HEAD has it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from tests.bounds import PATIENCE
from tests.git_repos import commit_all, git, make_empty_repo, write
from tests.index.vaults import WORDS, found, from_nothing, identity, make, note, opened, path_of, said
from vault_tool.index.seals import lock
from vault_tool.index.vault_index import Index


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make(tmp_path / "v")


@pytest.fixture
def index(vault: Path) -> Iterator[Index]:
    index = opened(vault)
    yield index
    index.close()


KILLED_EXPORT = """
import os, signal, sys
from pathlib import Path
from threading import Thread
from tests.index.vaults import opened
from vault_tool.util.folder import Folder
index = opened(Path(sys.argv[1]))
index.refresh()
index.export()
Folder.rename = lambda self, old, new: os.kill(os.getpid(), signal.SIGKILL)
(Path(sys.argv[1]) / "_index.json").unlink()
index.export()
"""


def test_what_a_killed_export_left_is_gone_with_the_next(vault: Path) -> None:
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED_EXPORT, str(vault)], check=False)
        assert done.returncode == -9
        assert len(list(vault.glob("._index.json.vt-*.tmp"))) == 1, "each export clears what the one before it left"
    index = opened(vault)
    index.refresh()
    index.export_if_due()
    index.close()
    assert not list(vault.glob("._index.json.*"))
    assert identity(1) in (vault / "_index.json").read_text()


def test_changes_are_written_to_the_full_text_index_when_that_is_asked_for(vault: Path, index: Index) -> None:
    index.refresh()
    write(vault, path_of(1), note(1, "A word that is rare: quixotic."))
    index.refresh()
    assert index.catalog.pending()
    index.flush()
    assert not index.catalog.pending()
    assert [hit.path for hit in index.search("quixotic", 5)] == [path_of(1)]


def test_no_answer_writes_the_export_and_a_moment_of_rest_does(vault: Path, index: Index) -> None:
    index.refresh()
    assert not (vault / "_index.json").exists()
    index.export_if_due()
    before = (vault / "_index.json").read_bytes()
    for number in (1, 2):
        write(vault, path_of(number), note(number, "Changed.", title=f"Changed {number}"))
        index.refresh()
        assert (vault / "_index.json").read_bytes() == before and index.export_is_due()
    index.export_if_due()
    assert not index.export_is_due()
    after = (vault / "_index.json").read_text()
    assert "Changed 1" in after and "Changed 2" in after


def test_a_first_refresh_takes_in_everything(index: Index) -> None:
    first = index.refresh()
    assert (first.added, first.count, first.problems, first.rebuilt) == (17, 17, 0, True)
    again = index.refresh()
    assert (again.added, again.modified, again.removed, again.unchanged, again.rebuilt) == (0, 0, 0, 17, False)
    assert index.catalog.counts().pages == 1
    assert [signal.id for signal in index.catalog.signals(identity(1))] == [identity(930)]


def test_what_changed_is_counted_and_found(vault: Path, index: Index) -> None:
    index.refresh()
    write(vault, path_of(3), note(3, "Now about zebras."))
    write(vault, path_of(50), note(50, "A new one, of quagga."))
    (vault / path_of(4)).unlink()
    (vault / path_of(5)).rename(vault / "vault/elsewhere.md")
    refresh = index.refresh()
    assert (refresh.added, refresh.modified, refresh.removed) == (1, 2, 1)
    assert found(index, "zebra") == {path_of(3)}
    assert found(index, "quagga") == {path_of(50)}
    assert index.catalog.get(identity(4)) == ()
    assert [entry.path for entry in index.catalog.get(identity(5))] == ["vault/elsewhere.md"]


def test_an_edit_of_the_same_size_with_its_time_restored_is_noticed(vault: Path, index: Index) -> None:
    index.refresh()
    file = vault / path_of(1)
    before = file.stat()
    file.write_text(file.read_text().replace("basalt", "cobalt"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert index.refresh().modified == 1
    assert found(index, "cobalt") == {path_of(1)}


def test_two_edits_in_one_tick_of_the_clock_are_noticed(vault: Path, index: Index) -> None:
    file = vault / path_of(1)
    for number in range(30):
        file.write_text(note(1, f"take {number:03}"))
        index.refresh()
        assert index.catalog.by_path(path_of(1)) is not None
        assert f"take {number:03}" in str(index.catalog.get(identity(1))[0].preview)


def _create(root: Path, chance: random.Random) -> None:
    number = chance.randrange(1000, 9000)
    write(root, f"vault/made/{chance.randrange(4)}/n{number}.md", note(number, chance.choice(WORDS)))


def _edit(root: Path, chance: random.Random) -> None:
    file = _some(root, chance)
    file.write_text(file.read_text() + f"\nAnd {chance.choice(WORDS)}.\n")


def _sly_edit(root: Path, chance: random.Random) -> None:
    file, was = _some(root, chance), None
    was = file.stat()
    text = file.read_text()
    file.write_text(text.replace("amber", "cedar") if "amber" in text else text.replace("cedar", "amber"))
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))


def _move(root: Path, chance: random.Random) -> None:
    target = root / f"vault/moved/{chance.randrange(3)}/m{chance.randrange(100000)}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    _some(root, chance).rename(target)


def _delete(root: Path, chance: random.Random) -> None:
    _some(root, chance).unlink()


def _swap(root: Path, chance: random.Random) -> None:
    one, other = _some(root, chance), _some(root, chance)
    if one != other:
        between = one.with_suffix(".between")
        one.rename(between)
        other.rename(one)
        between.rename(other)


def _break(root: Path, chance: random.Random) -> None:
    _some(root, chance).write_bytes(chance.choice([b"---\nid: [\n---\nx\n", b"\x00\x00", b"---\ntitle: lone\n", b"plain page\n"]))


def _copy(root: Path, chance: random.Random) -> None:
    shutil.copy(_some(root, chance), root / f"vault/copy-{chance.randrange(100000)}.md")


def _replace_folder(root: Path, chance: random.Random) -> None:
    folder = _some(root, chance).parent
    if folder != root / "vault":
        shutil.copytree(folder, root / "spare")
        shutil.rmtree(folder)
        (root / "spare").rename(folder)


def _signal(root: Path, chance: random.Random) -> None:
    day, own = chance.randrange(9), identity(chance.randrange(10**6))
    line = f'{{"id": "{own}", "at": "2026-11-2{day}T10:00:00+00:00", "target": "{identity(1)}", "kind": "use"}}\n'
    journal = root / "vault/signals/2026-11.abc.jsonl"
    with journal.open("a") as file:
        file.write(chance.choice([line, line, "torn", "not json\n"]))


def _some(root: Path, chance: random.Random) -> Path:
    return chance.choice(sorted((root / "vault").rglob("*.md")))


ACTIONS: tuple[Callable[[Path, random.Random], None], ...] = (
    _create, _create, _edit, _sly_edit, _move, _delete, _swap, _break, _copy, _replace_folder, _signal,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_incremental_equals_full_after_any_history(vault: Path, index: Index, seed: int) -> None:
    chance = random.Random(seed)
    index.refresh()
    for _ in range(6):
        for _ in range(chance.randrange(1, 6)):
            chance.choice(ACTIONS)(vault, chance)
        if chance.random() < 0.4:
            written = _some(vault, chance)
            written.write_text(note(chance.randrange(100), "Written by the tool."))
            index.wrote([str(written.relative_to(vault))])
        index.refresh(confirm=True)
        index.search(chance.choice(WORDS), 5)
    index.refresh(confirm=True)
    assert said(index) == from_nothing(vault)


@pytest.mark.parametrize("seed", range(3))
def test_incremental_equals_full_over_branches(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    repo = make(make_empty_repo(tmp_path / "v"))
    write(repo, ".gitignore", "_*\n")
    commit_all(repo, "start")
    index = opened(repo)
    index.refresh()
    for number in range(4):
        git(repo, "checkout", "-q", "-b", f"branch-{number}")
        for _ in range(4):
            chance.choice(ACTIONS)(repo, chance)
        if chance.random() < 0.5:
            index.refresh(confirm=True)
        git(repo, "add", "--all")
        git(repo, "commit", "-q", "--allow-empty", "-m", f"on {number}")
        _break(repo, chance)
        index.refresh(confirm=True)
        assert said(index) == from_nothing(repo)
        git(repo, "checkout", "-q", "-f", f"branch-{chance.randrange(number + 1)}")
        index.refresh(confirm=True)
        assert said(index) == from_nothing(repo)
    index.close()


def test_wrote_takes_in_just_these_files(vault: Path, index: Index) -> None:
    index.refresh()
    write(vault, path_of(1), note(1, "written walrus"))
    write(vault, path_of(2), note(2, "unseen walrus"))
    (vault / path_of(3)).unlink()
    done = index.wrote([path_of(1), path_of(3)])
    assert (done.modified, done.removed) == (1, 1)
    assert found(index, "walrus") == {path_of(1)}
    assert index.refresh().modified == 1
    assert found(index, "walrus") == {path_of(1), path_of(2)}


def test_a_lookup_checks_its_own_file(vault: Path, index: Index) -> None:
    index.refresh()
    write(vault, path_of(1), note(1, "walrus"))
    write(vault, path_of(2), note(2, "walrus"))
    assert index.recheck([path_of(1)]).modified == 1
    assert index.recheck([path_of(1)]).modified == 0
    assert index.refresh().modified == 1


def test_full_reads_everything_again(vault: Path, index: Index) -> None:
    index.refresh()
    write(vault, path_of(1), note(1, "walrus"))
    full = index.refresh(full=True)
    assert (full.rebuilt, full.added, full.modified, full.removed) == (True, 0, 1, 0)


# Losses in bulk


@pytest.mark.parametrize(
    ("count", "gone", "kept"), [(6, 6, True), (4, 4, False), (300, 61, True), (300, 50, False), (60, 59, True)]
)
def test_losses_in_bulk_wait_for_a_word(tmp_path: Path, count: int, gone: int, kept: bool) -> None:
    for number in range(count):
        write(tmp_path, path_of(number), note(number))
    index = opened(tmp_path)
    index.refresh()
    for number in range(gone):
        (tmp_path / path_of(number)).unlink()
    for refresh in (index.refresh(), index.refresh(), index.refresh(full=True)):
        assert bool(refresh.held_back) is kept
        assert (refresh.count == count) is kept
    write(tmp_path, path_of(999), note(999, "still taken in"))
    assert index.refresh().added == 1
    confirmed = index.refresh(confirm=True)
    assert confirmed.held_back == ""
    assert confirmed.count == count - gone + 1
    index.close()


def test_moving_every_note_loses_none(vault: Path, index: Index) -> None:
    index.refresh()
    (vault / "vault/observations").rename(vault / "vault/other")
    refresh = index.refresh()
    assert (refresh.held_back, refresh.modified, refresh.added, refresh.removed) == ("", 12, 0, 0)


def test_git_explains_a_loss(tmp_path: Path) -> None:
    repo = make_empty_repo(tmp_path / "v")
    write(repo, ".gitignore", "_*\n")
    write(repo, "vault/first.md", note(0))
    commit_all(repo, "one note")
    git(repo, "checkout", "-q", "-b", "more")
    make(repo, 80)
    commit_all(repo, "many")
    index = opened(repo)
    assert index.refresh().count == 86
    git(repo, "checkout", "-q", "main")
    refresh = index.refresh()
    assert (refresh.held_back, refresh.count) == ("", 1)
    git(repo, "checkout", "-q", "more")
    assert index.refresh().count == 86
    shutil.rmtree(repo / "vault/observations")
    assert "80 of 86" in index.refresh().held_back
    assert said(index)["entries"]
    index.close()


def test_a_missing_vault_folder_forgets_nothing(vault: Path, index: Index) -> None:
    index.refresh()
    (vault / "vault").rename(vault / "unmounted")
    refresh = index.refresh()
    assert refresh.held_back and refresh.count == 17
    (vault / "unmounted").rename(vault / "vault")
    assert index.refresh().held_back == ""


_AS_NOBODY = """
import sys
from pathlib import Path
from threading import Thread
from tests.index.vaults import opened
index = opened(Path(sys.argv[1]))
first = index.refresh()
Path(sys.argv[1], "vault/observations/2026/02").chmod(0)
second = index.refresh()
full = index.refresh(full=True)
Path(sys.argv[1], "vault/observations/2026/02").chmod(0o755)
third = index.refresh()
print([(r.count, r.removed, bool(r.held_back), r.problems) for r in (first, second, full, third)])
"""


@pytest.mark.skipif(shutil.which("setpriv") is None or os.getuid() != 0, reason="needs to give up being root")
def test_a_walk_that_fails_in_part_forgets_nothing(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    for folder in (tmp_path, *tmp_path.parents):
        if os.access(folder, os.W_OK) and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o755)
    subprocess.run(["chown", "-R", "65534:65534", str(root)], check=True)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", _AS_NOBODY, str(root)]
    project = Path(__file__).parents[2]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, env={**os.environ, "HOME": str(root)}, check=False
    )
    assert done.stdout.strip() == "[(17, 0, False, 0), (17, 0, True, 1), (17, 0, True, 1), (17, 0, False, 0)]", done.stderr


# Bad files


def test_bad_files_are_named_and_the_others_indexed(vault: Path, index: Index) -> None:
    index.refresh()
    bad = {
        "nul.md": b"---\nid: x\n---\n\x00",
        "utf16.md": "---\nid: x\n---\n".encode("utf-16"),
        "latin.md": b"caf\xe9\n",
        "surrogate.md": f'---\nid: {identity(77)}\ntype: fact\ntitle: "\\ud800"\n---\nx\n'.encode(),
        "list.md": b"---\n- a\n---\nx\n",
        "large.md": b"x" * (10 * 2**20 + 1),
    }
    for name, data in bad.items():
        (vault / "vault" / name).write_bytes(data)
    refresh = index.refresh()
    named = {problem.path for problem in index.catalog.problems()}
    assert {f"vault/{name}" for name in bad} <= named
    assert refresh.count == 17 + len(bad)
    assert len(found(index, "note")) >= 12
    assert said(index) == from_nothing(vault)
    assert {name: (vault / "vault" / name).read_bytes() for name in bad} == bad


def test_conflict_copies_are_named_and_not_indexed(vault: Path, index: Index) -> None:
    write(vault, "vault/note-1.conflict-20261120T100000Z-abc.md", note(1, "conflicting walrus"))
    index.refresh()
    assert [problem.code for problem in index.catalog.problems()] == ["conflict-copy"]
    assert found(index, "walrus") == set()
    assert len(index.catalog.get(identity(1))) == 1


def test_copied_ids_are_both_kept(vault: Path, index: Index) -> None:
    shutil.copy(vault / path_of(1), vault / "vault/a-copy.md")
    index.refresh()
    assert [entry.path for entry in index.catalog.get(identity(1))] == ["vault/a-copy.md", path_of(1)]


def test_a_broken_tracked_note_is_served_as_head_has_it(tmp_path: Path) -> None:
    repo = make(make_empty_repo(tmp_path / "v"))
    write(repo, ".gitignore", "_*\n")
    commit_all(repo, "all")
    index = opened(repo)
    index.refresh()
    file = repo / path_of(1)
    whole = file.read_text()
    file.write_text(whole[:40])
    refresh = index.refresh()
    assert refresh.stale == (path_of(1),)
    entry = index.catalog.get(identity(1))[0]
    assert entry.stale and entry.title == "Note 1"
    assert path_of(1) in found(index, "basalt")
    assert said(index) == from_nothing(repo)
    # HEAD moves on: what is served follows it.
    write(repo, path_of(1), note(1, "Committed capybara."))
    commit_all(repo, "newer")
    file.write_text("---\nid: [\n---\n")
    assert index.refresh().stale == (path_of(1),)
    assert path_of(1) in found(index, "capybara")
    git(repo, "reset", "-q", "--soft", "HEAD~1")
    assert index.refresh().stale == (path_of(1),)
    assert path_of(1) not in found(index, "capybara")
    assert said(index) == from_nothing(repo)
    file.write_text(whole)
    assert index.refresh().stale == ()
    index.close()


def test_a_broken_untracked_note_is_a_problem_alone(vault: Path, index: Index) -> None:
    index.refresh()
    (vault / path_of(1)).write_text("---\nid: [\n---\n")
    refresh = index.refresh()
    assert (refresh.stale, refresh.problems) == ((), 1)
    assert index.catalog.get(identity(1)) == ()


# Several processes

_WRITER = """
import sys
from pathlib import Path
from threading import Thread
from tests.index.vaults import identity, note, opened, found
root, base = Path(sys.argv[1]), int(sys.argv[2])
index = opened(root)
for number in range(base, base + 12):
    path = f"vault/by-{base}/n{number}.md"
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(note(number, f"mark{number}"))
    index.wrote([path])
    index.refresh()
    assert found(index, f"mark{number}") == {path}, number
    assert len(index.catalog.get(identity(number))) == 1
index.close()
"""


def test_processes_write_and_refresh_at_once(vault: Path, index: Index) -> None:
    project = Path(__file__).parents[2]
    command = [sys.executable, "-c", _WRITER, str(vault)]
    running = [
        subprocess.Popen([*command, str(base)], cwd=project, stderr=subprocess.PIPE, text=True) for base in (1000, 2000, 3000)
    ]
    faults = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], faults
    assert index.refresh().count == 17 + 36
    assert said(index) == from_nothing(vault)


_REFRESHER = """
import sys
from pathlib import Path
from threading import Thread
from tests.index.vaults import opened
root, full = Path(sys.argv[1]), sys.argv[2] == "full"
index = opened(root)
while (root / "going").exists():
    index.refresh(full=full)
index.close()
"""


@contextmanager
def _refreshed_meanwhile(vault: Path, how: str) -> Iterator[None]:
    """Two other processes compare the files, or read all of them anew, all the time."""
    going = vault / "going"
    going.touch()
    command = [sys.executable, "-c", _REFRESHER, str(vault), how]
    running = [subprocess.Popen(command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        yield
    finally:
        going.unlink()
        faults = [process.communicate(timeout=PATIENCE)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], faults


def test_what_one_process_took_in_no_other_overwrites_with_what_it_read_before(vault: Path, index: Index) -> None:
    with _refreshed_meanwhile(vault, "changed"):
        for turn in range(80):
            # In place, as editors and scripts do: who reads at the wrong moment sees half of it.
            (vault / path_of(1)).write_text(note(1, f"turn{turn}"))
            index.wrote([path_of(1)])
            assert [entry.preview for entry in index.catalog.get(identity(1))] == [f"turn{turn}"]
    assert index.refresh().count == 17
    assert said(index) == from_nothing(vault)


def test_what_changes_between_the_reading_and_the_writing_is_read_once_more(vault: Path, index: Index) -> None:
    index.refresh()
    (vault / path_of(1)).write_text(note(1, "first"))
    with lock(vault / "_cache/catalog.lock", 5, "the index"):
        refreshing = Thread(target=index.refresh)
        refreshing.start()
        # Read by now, and waiting for the lock; where it is not, there is nothing to see.
        time.sleep(0.3)
        (vault / path_of(1)).write_text(note(1, "second"))
    refreshing.join()
    assert [entry.preview for entry in index.catalog.get(identity(1))] == ["second"]


def test_while_others_build_everything_anew_each_answer_is_of_the_files_as_they_are(vault: Path, index: Index) -> None:
    with _refreshed_meanwhile(vault, "full"):
        for turn in range(8):
            (vault / path_of(1)).write_text(note(1, f"turn{turn}"))
            index.refresh()
            catalog = index.catalog
            assert [entry.preview for entry in catalog.get(identity(1))] == [f"turn{turn}"]
            assert found(index, f"turn{turn}") == {path_of(1)}
            # Whoever began to ask one build asks it to the end.
            assert len(catalog.snapshot().entries) == 16
            assert catalog.counts().notes == 17
    assert index.refresh().count == 17
    assert said(index) == from_nothing(vault)
    assert len([*(vault / "_cache").glob("catalog-*.sqlite3")]) == 1
