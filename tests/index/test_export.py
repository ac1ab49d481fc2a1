"""What is written for other programs is written when it is not as it was left, and else when enough has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_tool.index.export import ExportedFile
from vault_tool.index.seals import SealedFile


@pytest.fixture
def exported(tmp_path: Path) -> ExportedFile:
    """A file as it was written of build `b` after ten changes."""
    made = ExportedFile(SealedFile(tmp_path / "_x.json", tmp_path / "x.seal"), tmp_path / "x.lock", 1.0)
    assert made.lacks("b", 10) is None
    made.write(lambda: b"{}\n", "b", 10)
    return made


def test_it_is_current_until_something_changes(exported: ExportedFile) -> None:
    assert exported.file.path.read_bytes() == b"{}\n"
    assert exported.lacks("b", 10) == 0
    assert not exported.is_due("b", 10, 1)
    assert exported.is_due("b", 11, 1)


def test_a_large_one_waits_for_a_share_of_changes(exported: ExportedFile) -> None:
    assert exported.is_due("b", 11, 2000)
    assert not exported.is_due("b", 10 + 150, 3000)
    assert exported.is_due("b", 10 + 151, 3000)


def test_what_is_of_another_build_or_was_edited_is_written_whatever_its_size(exported: ExportedFile) -> None:
    assert exported.is_due("c", 10, 100_000)
    exported.file.path.write_bytes(b"[]\n")
    assert exported.is_due("b", 10, 100_000)


def test_what_a_killed_writer_left_is_cleared_and_a_folder_makes_way(exported: ExportedFile) -> None:
    left = exported.file.path.with_name("._x.json.vt-0123abcd.tmp")
    left.write_bytes(b"half")
    exported.file.path.unlink()
    exported.file.path.mkdir()
    exported.write(lambda: b"{}\n", "b", 12)
    assert not left.exists()
    assert exported.lacks("b", 12) == 0
