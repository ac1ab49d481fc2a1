"""Folders held open: no link is followed below the root, nothing but regular files is read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from vault_tool.errors import Refused
from vault_tool.util.folder import opened


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
