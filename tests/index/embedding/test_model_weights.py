"""The mark of a model's files: read once for each state of them, and another one for other content."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from vault_tool.index.embedding.model_weights import alike, mark, state


def _files(folder: Path) -> tuple[Path, ...]:
    found = (folder / "model.onnx", folder / "tokenizer.json")
    found[0].write_bytes(b"weights" * 1000)
    found[1].write_bytes(b"{}")
    return found


def test_files_that_are_as_they_were_are_not_read_again(tmp_path: Path) -> None:
    files = _files(tmp_path)
    noted = f"digest-of-then {state(files)}"
    assert mark(files, noted) == noted
    assert not alike(mark(files), noted)


def test_the_same_content_written_again_is_alike(tmp_path: Path) -> None:
    files = _files(tmp_path)
    before = mark(files)
    files[0].write_bytes(files[0].read_bytes())
    os.utime(files[0], ns=(1, 1))
    after = mark(files, before)
    assert after != before and alike(after, before)


@pytest.mark.skipif(sys.platform == "win32", reason="the system keeps no time of a file's last change")
def test_other_content_of_the_same_size_with_its_time_put_back_is_another(tmp_path: Path) -> None:
    files = _files(tmp_path)
    before, was = mark(files), files[0].stat()
    files[0].write_bytes(b"others." * 1000)
    os.utime(files[0], ns=(was.st_atime_ns, was.st_mtime_ns))
    now = files[0].stat()
    assert (now.st_size, now.st_mtime_ns, now.st_ino) == (was.st_size, was.st_mtime_ns, was.st_ino)
    assert not alike(mark(files, before), before)


@pytest.mark.parametrize("changed", [0, 1])
def test_each_of_the_files_counts(tmp_path: Path, changed: int) -> None:
    files = _files(tmp_path)
    before = mark(files)
    files[changed].write_bytes(b"[]")
    assert not alike(mark(files, before), before)


def test_of_files_that_are_missing_nothing_is_said(tmp_path: Path) -> None:
    files = _files(tmp_path)
    before = mark(files)
    files[1].unlink()
    assert (mark(files, before), state(files)) == ("", "")
