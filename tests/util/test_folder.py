"""Folders held open: no link is followed below the root, nothing but regular files is read."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from pathlib import Path

import pytest

from vault_tool.errors import Refused
from vault_tool.util.folder import Descent, opened


def test_makes_missing_folders_only_when_asked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), opened(tmp_path, ("a", "b")):
        pass
    with opened(tmp_path, ("a", "b"), create=True) as folder:
        folder.write_new("x", b"text")
    assert (tmp_path / "a" / "b" / "x").read_bytes() == b"text"


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(Refused), opened(tmp_path, ("link",)):
        pass


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Refused), opened(tmp_path, ("file",), create=True):
        pass


@pytest.mark.parametrize("kind", ["fifo", "socket", "link", "folder"])
def test_only_files_are_read(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "x"
    if kind == "fifo":
        os.mkfifo(target)
    elif kind == "folder":
        target.mkdir()
    elif kind == "link":
        (tmp_path / "real").write_bytes(b"text")
        target.symlink_to(tmp_path / "real")
    else:
        listener = socket.socket(socket.AF_UNIX)
        before = Path.cwd()
        os.chdir(tmp_path)
        listener.bind("x")
        os.chdir(before)
        listener.close()
    with opened(tmp_path) as folder, pytest.raises((Refused, IsADirectoryError)):
        folder.read("x")


def test_taking_a_free_name_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    with opened(tmp_path) as folder:
        with pytest.raises(FileExistsError):
            folder.rename_to_free("a", "b")
        folder.rename_to_free("a", "c")
    assert (tmp_path / "b").read_bytes() == b"b"
    assert (tmp_path / "c").read_bytes() == b"a"


def test_exchange_swaps_or_says_that_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    with opened(tmp_path) as folder:
        swapped = folder.exchange("a", "b")
    assert (tmp_path / "a").read_bytes() == (b"b" if swapped else b"a")
    assert (tmp_path / "b").read_bytes() == (b"a" if swapped else b"b")


def test_a_moved_folder_is_still_the_one_that_was_opened(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    with opened(tmp_path, ("vault",)) as folder:
        (tmp_path / "vault").rename(tmp_path / "aside")
        (tmp_path / "vault").symlink_to(outside)
        folder.write_new("x", b"text")
    assert os.listdir(outside) == []
    assert (tmp_path / "aside" / "x").read_bytes() == b"text"


def test_bytes_are_put_over_others_in_place_and_never_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one\ntwo\nthree\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    inode = (tmp_path / "file").stat().st_ino
    with opened(tmp_path) as folder:
        folder.overwrite("file", {0: b"---", 8: b"-----"})
        with pytest.raises(OSError):
            folder.overwrite("link", {0: b"x"})
        with pytest.raises(FileNotFoundError):
            folder.overwrite("none", {0: b"x"})
    assert (tmp_path / "file").read_bytes() == b"---\ntwo\n-----\n"
    assert (tmp_path / "file").stat().st_ino == inode


class TestDescent:
    def test_each_folder_is_the_one_at_its_path(self, tmp_path: Path) -> None:
        paths = ["", "a", "a/b", "a/b/c", "a/c", "d", "a/b/c"]
        for path in paths:
            (tmp_path / path).mkdir(parents=True, exist_ok=True)
            (tmp_path / path / "said").write_text(path)
        with closing(Descent(tmp_path)) as descent:
            for path in (*paths, *reversed(paths)):
                assert descent.at(path.split("/") if path else []).read("said") == path.encode()

    def test_a_link_is_refused_and_the_next_folder_is_reached(self, tmp_path: Path) -> None:
        (tmp_path / "a/b").mkdir(parents=True)
        (tmp_path / "a/link").symlink_to(tmp_path)
        with closing(Descent(tmp_path)) as descent:
            with pytest.raises(Refused):
                descent.at(["a", "link", "a"])
            with pytest.raises(FileNotFoundError):
                descent.at(["a", "none"])
            assert descent.at(["a", "b"]).names() == []

    def test_a_way_that_was_made_anew_is_walked_anew(self, tmp_path: Path) -> None:
        (tmp_path / "a/b").mkdir(parents=True)
        with closing(Descent(tmp_path)) as descent:
            descent.at(["a", "b"])
            (tmp_path / "a").rename(tmp_path / "aside")
            (tmp_path / "a/c").mkdir(parents=True)
            (tmp_path / "a/c/x").write_bytes(b"new")
            assert descent.at(["a", "c"]).read("x") == b"new"

    @pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be counted here")
    def test_nothing_stays_open(self, tmp_path: Path) -> None:
        for number in range(20):
            (tmp_path / f"a/{number}/b").mkdir(parents=True)
        before = len(os.listdir("/proc/self/fd"))
        with closing(Descent(tmp_path)) as descent:
            for number in range(20):
                descent.at(["a", str(number), "b"])
                assert len(os.listdir("/proc/self/fd")) <= before + 4
        assert len(os.listdir("/proc/self/fd")) == before
