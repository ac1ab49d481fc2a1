"""A test that hangs is a failure with its name, and the others go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent

HANGING = """
import sqlite3
import threading

def waits_in_a_library(path):
    held, waiting = sqlite3.connect(path), sqlite3.connect(path, timeout=86400)
    held.execute("BEGIN EXCLUSIVE")
    waiting.execute("BEGIN EXCLUSIVE")

def test_before(): pass
def test_waits_for_ever(): threading.Event().wait()
def test_between(): pass
def test_hangs_in_a_library(tmp_path): waits_in_a_library(tmp_path / "a")
def test_after(): pass
"""


def _run(folder: Path, *options: str) -> str:
    """What pytest says of the hanging file, under this suite's hooks and a limit of two seconds."""
    (folder / "conftest.py").write_text((PROJECT / "tests/conftest.py").read_text())
    (folder / "test_hanging.py").write_text(HANGING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "2", *options]
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}  # the hooks import from beside them
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode, done.stdout
    return done.stdout + done.stderr


def test_a_hang_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    said = _run(tmp_path, "-n", "1")
    assert "FAILED test_hanging.py::test_waits_for_ever - Failed: Timeout (>2.0s)" in said
    assert "crashed while running 'test_hanging.py::test_hangs_in_a_library'" in said
    assert "2 failed, 3 passed" in said


def test_without_workers_the_hang_in_a_library_says_where_it_is(tmp_path: Path) -> None:
    said = _run(tmp_path, "-k", "library")
    assert "in test_hangs_in_a_library" in said
