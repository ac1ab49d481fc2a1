from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from vault_tool.errors import Busy
from vault_tool.files import layout, watcher_presence
from vault_tool.files.watcher_presence import Watch
from vault_tool.owner.owner_lock import own

CHILD = """
import sys
from pathlib import Path
from vault_tool.owner.owner_lock import own
with own(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_owner_at_a_time_and_who_it_is(tmp_path: Path) -> None:
    with own(tmp_path) as me:
        assert me.pid == os.getpid()
        assert watcher_presence.owner(tmp_path) == me
        with pytest.raises(Busy, match=f"process {os.getpid()} on {platform.node()}"), own(tmp_path, wait=0.1):
            pass
    assert watcher_presence.owner(tmp_path) is None
    with own(tmp_path) as again:
        assert again.nonce != me.nonce


def test_another_process_is_named_and_its_death_frees_the_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        holder = watcher_presence.owner(tmp_path)
        assert holder is not None and holder.pid == child.pid
        with pytest.raises(Busy, match=f"process {child.pid}"), own(tmp_path, wait=0.1):
            pass
        child.kill()
    assert (tmp_path / "_local" / layout.OWNER_FILE).exists()
    assert watcher_presence.owner(tmp_path) is None
    with own(tmp_path) as me:
        assert me.pid == os.getpid()


def test_a_record_is_believed_only_of_the_process_that_holds_the_lock(tmp_path: Path) -> None:
    record = Watch(os.getpid(), platform.node(), "2026-11-20T10:00:00+00:00", "events")
    watcher_presence.say(tmp_path, record)
    assert watcher_presence.watch(tmp_path) is None
    with own(tmp_path):
        assert watcher_presence.watch(tmp_path) == record
        watcher_presence.say(tmp_path, Watch(1, platform.node(), record.started, "events"))
        assert watcher_presence.watch(tmp_path) is None
        (tmp_path / "_local" / watcher_presence.WATCH_FILE).write_text("[torn")
        assert watcher_presence.watch(tmp_path) is None
