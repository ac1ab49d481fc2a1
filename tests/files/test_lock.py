"""The write lock: bounded, named, reentrant, and free again when its holder dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import pytest

from tests.bounds import PATIENCE
from vault_tool.errors import Busy, Refused
from vault_tool.files import lock as locking

HOLD = """
import pathlib, sys, time
from vault_tool.files import lock as locking
with locking.lock(pathlib.Path(sys.argv[1]), holder="import"):
    print("held", flush=True)
    time.sleep(600)
"""


HOLD_AGAIN = """
import fcntl, pathlib, sys, time
from vault_tool.files import lock as locking
root = pathlib.Path(sys.argv[1])

def is_waited_for():
    with (root / "_local" / locking.NEXT_FILE).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

while True:
    with locking.lock(root, holder="import"):
        print("held", flush=True)
        while not is_waited_for():
            time.sleep(0.005)
"""
"""Lets it go once somebody waits, and asks again at once."""


@contextmanager
def hold(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the lock; killed at the end whatever the test found, for nobody else would end a stopped one."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(root)], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
            yield holder
        finally:
            holder.kill()


@contextmanager
def hold_next(root: Path) -> Iterator[None]:
    """Somebody who waits for the lock and will not take it: another process's place in the queue."""
    place = filelock.FileLock(root / "_local" / locking.NEXT_FILE, is_singleton=False)
    with place:
        yield


def test_a_stopped_holder_is_named_within_the_bound(tmp_path: Path) -> None:
    with hold(tmp_path) as holder:
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(Busy) as caught, locking.lock(tmp_path, wait=0.5):
            pass
    assert f"process {holder.pid} on " in str(caught.value)
    assert "`import`" in str(caught.value)


def test_a_killed_holder_leaves_the_lock_free_and_its_name(tmp_path: Path) -> None:
    with hold(tmp_path) as holder:
        holder.kill()
    with locking.lock(tmp_path, wait=5) as died:
        assert died
    with locking.lock(tmp_path, wait=5) as died:
        assert not died


def test_the_same_thread_may_hold_it_twice(tmp_path: Path) -> None:
    with locking.lock(tmp_path, wait=1), locking.lock(tmp_path, wait=1):
        assert (tmp_path / "_local" / "write.holder").exists()
    assert not (tmp_path / "_local" / "write.holder").exists()


def test_another_thread_waits(tmp_path: Path) -> None:
    found: list[str] = []

    def try_it() -> None:
        try:
            with locking.lock(tmp_path, wait=0.1, holder="second"):
                found.append("held")
        except Busy as busy:
            found.append(str(busy))

    with locking.lock(tmp_path, wait=1, holder="first"):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert len(found) == 1 and "`first`" in found[0]


def test_who_waits_gets_it_when_it_is_let_go(tmp_path: Path) -> None:
    found: list[str] = []

    def wait() -> None:
        with locking.lock(tmp_path, wait=PATIENCE):
            found.append("held")

    thread = threading.Thread(target=wait)
    with locking.lock(tmp_path, wait=1):
        thread.start()
        time.sleep(0.2)  # long enough for the other to find it held
        assert not found
    thread.join()
    assert found == ["held"]


def test_who_takes_it_again_at_once_stands_behind_who_waits(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD_AGAIN, str(tmp_path)], stdout=subprocess.PIPE) as busy:
        try:
            assert busy.stdout is not None
            for _ in range(20):
                # We ask while it has it, so it has it once for each of our turns.
                assert busy.stdout.readline() == b"held\n"
                with locking.lock(tmp_path, wait=PATIENCE):
                    pass
        finally:
            busy.kill()
        assert busy.stdout.read().count(b"held") <= 5


def test_who_is_stopped_while_it_waits_keeps_nobody_out(tmp_path: Path) -> None:
    with hold(tmp_path) as holder, hold_next(tmp_path):
        holder.kill()
        with locking.lock(tmp_path, wait=10) as died:  # half of it for the place in the queue
            assert died


def test_an_exception_frees_it_and_marks_it_for_sweeping(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locking.lock(tmp_path, wait=1):
        raise KeyError
    with locking.lock(tmp_path, wait=1) as died:
        assert died


def test_a_spoilt_signature_does_not_matter(tmp_path: Path) -> None:
    with hold(tmp_path):
        (tmp_path / "_local" / "write.holder").write_bytes(b"\xff{")
        with pytest.raises(Busy) as caught, locking.lock(tmp_path, wait=0.1):
            pass
    assert "another process holds _local/write.lock" in str(caught.value)


def test_local_is_its_owners_alone_and_never_a_link(tmp_path: Path) -> None:
    with locking.lock(tmp_path, wait=1):
        assert (tmp_path / "_local").stat().st_mode & 0o777 == 0o700
    other = tmp_path / "other"
    other.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (other / "_local").symlink_to(outside)
    with pytest.raises(Refused), locking.lock(other, wait=1):
        pass
    assert os.listdir(outside) == []


def test_a_folder_that_was_moved_away_is_not_made_anew_by_a_lock_in_it(tmp_path: Path) -> None:
    root = tmp_path / "v"
    (root / "_local").mkdir(parents=True)
    guard = locking.lock_class()(root / "_local" / "write.lock", poll_interval=0.01)
    with guard:
        assert (root / "_local" / "write.lock").exists()
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError):
        guard.acquire(timeout=60)
    assert not root.exists()
