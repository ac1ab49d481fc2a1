"""Whole-file writes: old or new, mode kept, links replaced, nothing left behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from vault_tool.errors import StorageError
from vault_tool.util import atomic


def test_makes_and_replaces(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    atomic.write(target, b"one")
    atomic.write(target, b"two", durable=False)
    assert target.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a.json"]


def test_mode_of_the_old_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "secret"
    target.write_bytes(b"one")
    target.chmod(0o600)
    atomic.write(target, b"two")
    assert target.stat().st_mode & 0o777 == 0o600


def test_mode_can_be_asked_for_and_defaults_to_plain(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        atomic.write(tmp_path / "private", b"x", mode=0o600)
        atomic.write(tmp_path / "plain", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "plain").stat().st_mode & 0o777 == 0o644


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"kept")
    link = tmp_path / "link"
    link.symlink_to(outside)
    atomic.write(link, b"new")
    assert outside.read_bytes() == b"kept"
    assert link.read_bytes() == b"new" and not link.is_symlink()


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        atomic.write(tmp_path / "no" / "a.json", b"x")
    assert str(caught.value) == "cannot write a.json: no such file or directory; nothing was changed; try again"


def test_a_full_disk_says_how_much_was_needed() -> None:
    fault = atomic.storage_error("vault/x.md", OSError(errno.ENOSPC, "full"), 12345)
    assert str(fault) == ("cannot write vault/x.md: no space left on device (12,345 bytes needed); free some space and try again")


def test_temporary_names_are_ours_alone() -> None:
    marked = atomic.temporary_name("x.md", "0123456789", "abcdef0123")
    assert atomic.temporary_hashes(marked) == ("01234567", "abcdef01")
    assert atomic.temporary_hashes(atomic.temporary_name("x.md")) == ()
    for foreign in (".x.md.tmp", ".x.md.swp", "x.md", ".vt-12345678.tmp.md", ".x.vt-1234567.tmp"):
        assert atomic.temporary_hashes(foreign) is None


def test_temporary_name_of_the_longest_name_fits() -> None:
    assert len(os.fsencode(atomic.temporary_name("é" * 127, "0" * 32, "1" * 32))) <= 255
