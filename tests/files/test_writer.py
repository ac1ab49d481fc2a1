"""The one door: nothing overwritten unread, both texts kept, links and modes as they were, no way out."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from tests.faults.killer import runs_wanted
from vault_tool.errors import NotFound, Refused, StaleEdit, StorageError
from vault_tool.files import writer
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.util import renames
from vault_tool.util.atomic import temporary_name
from vault_tool.util.text import content_hash

NOTE = "vault/notes/x.md"


def texts(root: Path) -> dict[str, bytes]:
    """All files below `vault/`, hidden ones too."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in (root / "vault").rglob("*") if p.is_file()}


def test_create_makes_folders_and_says_what_it_wrote(tmp_path: Path) -> None:
    assert writer.create(tmp_path, NOTE, b"text\n") == writer.Written(NOTE, None, b"text\n")
    assert texts(tmp_path) == {NOTE: b"text\n"}


def test_create_never_overwrites(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"first")
    with pytest.raises(writer.Taken):
        writer.create(tmp_path, NOTE, b"second")
    assert texts(tmp_path) == {NOTE: b"first"}


def test_a_file_that_appears_while_a_note_is_written_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = "vault/notes/beside.md"
    writer.create(tmp_path, beside, b"there")  # with all folders: nothing else is waited for but the new text
    wait = os.fsync

    def saved_meanwhile(descriptor: int) -> None:
        (tmp_path / NOTE).write_bytes(b"the editor's text")
        wait(descriptor)

    monkeypatch.setattr(os, "fsync", saved_meanwhile)
    with pytest.raises(writer.Taken):
        writer.create(tmp_path, NOTE, b"our text")
    assert texts(tmp_path) == {beside: b"there", NOTE: b"the editor's text"}


@pytest.mark.parametrize(("there", "new"), [("Redis.md", "redis.md"), ("e\u0301.md", "\u00e9.md")])
def test_create_refuses_a_twin(tmp_path: Path, there: str, new: str) -> None:
    writer.create(tmp_path, f"vault/{there}", b"first")
    with pytest.raises(writer.Taken):
        writer.create(tmp_path, f"vault/{new}", b"second")
    assert texts(tmp_path) == {f"vault/{there}": b"first"}


def test_create_does_not_write_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "x.md").symlink_to("y.md")
    with pytest.raises(writer.Taken):
        writer.create(tmp_path, "vault/x.md", b"text")
    assert texts(tmp_path) == {}


def test_edit_changes_the_text(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"one\n")
    written = writer.edit(tmp_path, NOTE, lambda old: old + b"two\n")
    assert written == writer.Written(NOTE, b"one\n", b"one\ntwo\n")
    assert texts(tmp_path) == {NOTE: b"one\ntwo\n"}


def test_an_edit_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"one\n")
    before = (tmp_path / NOTE).stat()
    assert not writer.edit(tmp_path, NOTE, lambda old: old).changed
    after = (tmp_path / NOTE).stat()
    assert (before.st_mtime_ns, before.st_ctime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ctime_ns, after.st_ino)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        writer.edit(tmp_path, NOTE, lambda old: old + b"x")


def test_what_the_change_raises_passes_and_leaves_the_lock(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"one\n")

    def change(old: bytes) -> bytes:
        raise KeyError("no")

    with pytest.raises(KeyError):
        writer.edit(tmp_path, NOTE, change)
    assert writer.edit(tmp_path, NOTE, lambda old: old + b"x").changed


def test_replace_refuses_a_text_that_the_caller_did_not_read(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"now")
    with pytest.raises(writer.Changed) as caught:
        writer.replace(tmp_path, NOTE, b"then", b"mine")
    assert caught.value.current == b"now"
    assert texts(tmp_path) == {NOTE: b"now"}


def test_remove_takes_only_what_was_read(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"now")
    with pytest.raises(writer.Changed):
        writer.remove(tmp_path, NOTE, b"then")
    assert writer.remove(tmp_path, NOTE, b"now") == writer.Written(NOTE, b"now", None)
    assert texts(tmp_path) == {}


def test_link_and_mode_are_kept(tmp_path: Path) -> None:
    writer.create(tmp_path, "vault/real.md", b"one")
    (tmp_path / "vault" / "real.md").chmod(0o600)
    (tmp_path / "vault" / "link.md").symlink_to("real.md")
    writer.edit(tmp_path, "vault/link.md", lambda old: old + b" two")
    assert (tmp_path / "vault" / "link.md").is_symlink()
    assert (tmp_path / "vault" / "real.md").read_bytes() == b"one two"
    assert (tmp_path / "vault" / "real.md").stat().st_mode & 0o777 == 0o600


def test_a_link_out_of_the_vault_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside.md"
    (root / "vault").mkdir(parents=True)
    outside.write_bytes(b"mine")
    (root / "vault" / "x.md").symlink_to(outside)
    for act in (lambda: writer.read(root, "vault/x.md"), lambda: writer.edit(root, "vault/x.md", lambda old: b"x")):
        with pytest.raises(Refused):
            act()
    assert outside.read_bytes() == b"mine"


# An editor's save in the worst instant: after our last look at the file, before our rename. The saves below run in
# another thread at exactly that point; all of the writer's own code stays as it is.


def at_the_rename(monkeypatch: pytest.MonkeyPatch, save: Callable[[], object], times: int = 1) -> None:
    real = renames.exchange
    left = [times]

    def exchange(folder: int | None, one: str, other: str) -> bool:
        if left[0]:
            left[0] -= 1
            thread = threading.Thread(target=save)
            thread.start()
            thread.join()
        return real(folder, one, other)

    monkeypatch.setattr(renames, "exchange", exchange)


def save_in_place(target: Path) -> None:
    target.write_bytes(b"the editor's text")


def save_by_rename(target: Path) -> None:
    beside = target.with_name("x.md.new")
    beside.write_bytes(b"the editor's text")
    beside.replace(target)


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_an_editor_that_saves_at_the_rename_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], None]
) -> None:
    writer.create(tmp_path, NOTE, b"old")
    at_the_rename(monkeypatch, lambda: save(tmp_path / NOTE))
    written = writer.edit(tmp_path, NOTE, lambda old: b"our text")
    assert written.conflict is not None
    assert file_kind(written.conflict) is FileKind.CONFLICT
    assert texts(tmp_path) == {NOTE: b"our text", written.conflict: b"the editor's text"}


def test_an_editor_that_removes_at_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer.create(tmp_path, NOTE, b"old")
    at_the_rename(monkeypatch, (tmp_path / NOTE).unlink)
    with pytest.raises(StaleEdit):
        writer.edit(tmp_path, NOTE, lambda old: b"our text")
    ((path, text),) = texts(tmp_path).items()
    assert file_kind(path) is FileKind.CONFLICT and text == b"our text"


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_where_names_cannot_be_swapped_the_file_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], None]
) -> None:
    writer.create(tmp_path, NOTE, b"old")
    monkeypatch.setattr(renames, "_renameat2", lambda: None)
    at_the_rename(monkeypatch, lambda: save(tmp_path / NOTE))
    writer.edit(tmp_path, NOTE, lambda old: old + b" + our text")
    assert texts(tmp_path) == {NOTE: b"the editor's text + our text"}


def test_without_renameat2_nothing_is_overwritten_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renames, "_renameat2", lambda: None)
    writer.create(tmp_path, NOTE, b"first")
    with pytest.raises(writer.Taken):
        writer.create(tmp_path, NOTE, b"second")
    writer.remove(tmp_path, NOTE, b"first")
    assert texts(tmp_path) == {}


def test_an_edit_that_meets_a_save_starts_again_on_the_newer_text(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"old")
    saves = iter([b"second", b"third"])

    def change(old: bytes) -> bytes:
        newer = next(saves, None)
        if newer is not None:
            (tmp_path / NOTE).write_bytes(newer)
        return old + b" + ours"

    assert writer.edit(tmp_path, NOTE, change).before == b"third"
    assert texts(tmp_path) == {NOTE: b"third + ours"}


def test_an_edit_that_never_settles_keeps_its_text_beside(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"0")

    def change(old: bytes) -> bytes:
        (tmp_path / NOTE).write_bytes(b"%d" % (int(old) + 1))
        return b"ours after " + old

    with pytest.raises(StaleEdit) as caught:
        writer.edit(tmp_path, NOTE, change)
    found = texts(tmp_path)
    assert found.pop(NOTE) == b"5"
    ((copy, text),) = found.items()
    assert text == b"ours after 4" and copy in str(caught.value)


def test_a_removal_that_meets_a_save_puts_the_newer_text_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer.create(tmp_path, NOTE, b"old")
    real = os.replace

    def replace(src: str, dst: str, **folders: int | None) -> None:
        (tmp_path / NOTE).write_bytes(b"the editor's text")
        real(src, dst, **folders)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(writer.Changed):
        writer.remove(tmp_path, NOTE, b"old")
    assert texts(tmp_path) == {NOTE: b"the editor's text"}


def test_leftovers_are_swept_and_foreign_texts_kept(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"now")
    folder = (tmp_path / NOTE).parent
    old, new = content_hash(b"old"), content_hash(b"new")
    (folder / temporary_name("x.md")).write_bytes(b"half of a")
    (folder / temporary_name("x.md", old, new)).write_bytes(b"old")
    (folder / temporary_name("x.md", old, new)).write_bytes(b"new")
    (folder / temporary_name("x.md", old, new)).write_bytes(b"the editor's text")
    (folder / ".x.md.tmp").write_bytes(b"an editor's own")
    assert writer.sweep(tmp_path) == 4
    found = texts(tmp_path)
    assert found.pop(NOTE) == b"now"
    assert found.pop("vault/notes/.x.md.tmp") == b"an editor's own"
    ((copy, text),) = found.items()
    assert file_kind(copy) is FileKind.CONFLICT and text == b"the editor's text"


def test_derived_temporaries_in_use_are_left_alone(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"now")
    in_use = tmp_path / temporary_name("_index.json")
    in_use.write_bytes(b"")
    writer.sweep(tmp_path)
    assert in_use.exists()


def test_what_a_killed_writer_left_is_swept_by_the_next(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"now")
    leftover = (tmp_path / NOTE).parent / temporary_name("y.md")
    code = (
        "import os, sys, pathlib; from vault_tool.files import writer\n"
        "root, leftover = map(pathlib.Path, sys.argv[1:])\n"
        "with writer.lock(root): leftover.write_bytes(b'x'); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path), str(leftover)], check=False, timeout=PATIENCE)
    assert leftover.exists()
    writer.create(tmp_path, "vault/z.md", b"z")
    assert not leftover.exists()


def test_a_vault_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        writer.create(tmp_path / "gone", NOTE, b"x")
    assert "no such file" in str(caught.value)


def test_a_named_pipe_is_refused_and_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    os.mkfifo(tmp_path / "vault" / "x.md")
    with pytest.raises(Refused):
        writer.edit(tmp_path, "vault/x.md", lambda old: b"x")


APPEND = """
import pathlib, sys
from vault_tool.files import writer
root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
for number in range(300):
    writer.edit(root, "vault/notes/x.md", lambda old: old + f"{name} {number}\\n".encode())
"""


def test_two_processes_append_to_one_note(tmp_path: Path) -> None:
    writer.create(tmp_path, NOTE, b"")
    command = [sys.executable, "-c", APPEND, str(tmp_path)]
    both = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [one.wait(timeout=PATIENCE) for one in both] == [0, 0]
    lines = (tmp_path / NOTE).read_text().splitlines()
    assert sorted(lines) == sorted(f"{name} {number}" for name in ("a", "b") for number in range(300))


@pytest.mark.parametrize("act", ["create", "edit", "remove", "read"])
def test_a_parent_swapped_right_after_it_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_bytes(b"0")
    writer.create(root_made(root), "vault/a/note.md", b"0")
    real, left = os.open, [1]

    def swap_then_open(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "a" and left:
            left.pop()
            (root / "vault" / "a").rename(root / "aside")
            (root / "vault" / "a").symlink_to(outside)
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap_then_open)
    acts: dict[str, Callable[[], object]] = {
        "create": lambda: writer.create(root, "vault/a/new.md", b"x"),
        "edit": lambda: writer.edit(root, "vault/a/note.md", lambda old: b"x"),
        "remove": lambda: writer.remove(root, "vault/a/note.md", b"0"),
        "read": lambda: writer.read(root, "vault/a/note.md"),
    }
    with pytest.raises(Refused):
        acts[act]()
    assert not left
    assert sorted(os.listdir(outside)) == ["note.md"] and (outside / "note.md").read_bytes() == b"0"


SWAP = """
import os, sys
inside, aside, outside = sys.argv[1:]
os.symlink(outside, inside + ".link")
print("ready", flush=True)
while True:
    os.rename(inside, aside)
    os.rename(inside + ".link", inside)
    os.rename(inside, inside + ".link")
    os.rename(aside, inside)
"""


@pytest.mark.campaign
def test_a_parent_swapped_for_a_link_leads_nowhere(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_bytes(b"0")
    writer.create(root_made(root), "vault/a/note.md", b"0")
    command = [sys.executable, "-c", SWAP, str(root / "vault" / "a"), str(root / "aside"), str(outside)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None and swapper.stdout.readline() == b"ready\n"
        done = sum(try_writes(root, number) for number in range(runs_wanted(500)))
        swapper.kill()
    assert done > 0
    assert sorted(os.listdir(outside)) == ["note.md"]
    assert (outside / "note.md").read_bytes() == b"0"


def root_made(root: Path) -> Path:
    root.mkdir()
    return root


def try_writes(root: Path, number: int) -> int:
    """How many of three writes went through while the folder is being swapped."""
    done = 0
    acts: tuple[Callable[[], object], ...] = (
        lambda: writer.create(root, f"vault/a/{number}.md", b"x"),
        lambda: writer.edit(root, "vault/a/note.md", lambda old: old + b"x"),
        lambda: writer.read(root, "vault/a/note.md"),
    )
    for act in acts:
        try:
            act()
            done += 1
        except (Refused, NotFound, StorageError, StaleEdit):
            continue
    return done
