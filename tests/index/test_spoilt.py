"""Everything derived is disposable: deleted, torn, foreign or newer, it is built anew, and the notes are untouched."""

from __future__ import annotations

import random
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from tests.index.spoiling import FAULTS, delete, trials
from tests.index.vaults import found, from_nothing, identity, make, note, opened, path_of, said
from vault_tool.errors import Busy
from vault_tool.index.export import StateFile, StateRow
from vault_tool.index.seals import FORMAT, IndexState, SealedFile, lock


def _contents(root: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted((root / "vault").rglob("*")) if file.is_file()}


TARGETS = (
    "_index.json",
    "_cache",
    f"_cache/catalog-{FORMAT}-*.sqlite3",
    "_cache/catalog.seal",
    "_cache/lexical",
    "_cache/lexical/*",
    "_cache/build.lock",
)


@pytest.mark.parametrize(("target", "fault", "live"), trials(TARGETS, FAULTS, TARGETS[2]))
def test_spoilt_files_are_built_anew(tmp_path: Path, target: str, fault: str, live: bool) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    before, notes = said(index), _contents(root)
    index.export_if_due()
    exported = orjson.loads((root / "_index.json").read_bytes())
    if not live:
        index.close()
        index = opened(root)
    FAULTS[fault](next(path for path in sorted(root.glob(target)) if path.suffix != ".seal" or target.endswith("seal")))
    refresh = index.refresh()
    assert (refresh.count, refresh.problems, refresh.held_back) == (17, 0, "")
    assert said(index) == before
    assert _contents(root) == notes
    index.refresh()
    index.export_if_due()
    again = orjson.loads((root / "_index.json").read_bytes())
    assert again["entries"] == exported["entries"]
    index.close()


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_not_read(tmp_path: Path, version: object) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    before = said(index)
    index.close()
    seal = root / "_cache/catalog.seal"
    seal.write_bytes(orjson.dumps({**orjson.loads(seal.read_bytes()), "version": version}))
    index = opened(root)
    assert index.refresh().rebuilt
    assert said(index) == before
    index.close()


def test_a_newer_versions_files_are_left_alone(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    newer = root / f"_cache/catalog-{FORMAT + 1}.sqlite3"
    newer.parent.mkdir()
    newer.write_bytes(b"of a newer version")
    index = opened(root)
    index.refresh()
    assert newer.read_bytes() == b"of a newer version"
    index.close()


def test_other_settings_build_anew(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    (root / path_of(1)).write_text(note(1, "He was running."))
    index = opened(root)
    index.refresh()
    assert found(index, "runs") == {path_of(1)}
    index.close()
    plain = opened(root, language="none")
    assert plain.refresh().rebuilt
    assert found(plain, "runs") == set()
    plain.close()


def test_a_copied_vault_has_its_own_indexes(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    index.close()
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(root), str(copy)], check=True)
    (copy / path_of(1)).unlink()
    other = opened(copy)
    assert other.refresh().count == 16
    assert said(other) == from_nothing(copy)
    other.close()


def test_the_cache_may_be_deleted_under_an_open_index(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    delete(root / "_cache")
    (root / path_of(1)).write_text(note(1, "walrus"))
    index.wrote([path_of(1)])
    assert found(index, "walrus") == {path_of(1)}
    delete(root / "_cache")
    assert found(index, "walrus") == {path_of(1)}
    delete(root / "_cache")
    assert index.catalog.get(identity(1))
    index.close()


_KILLED = """
import sys
from pathlib import Path
from tests.index.vaults import found, note, opened, path_of
root = Path(sys.argv[1])
index = opened(root)
print("ready", flush=True)
for number in range(10000):
    (root / path_of(1)).write_text(note(1, f"take{number}"))
    index.refresh()
    found(index, f"take{number}")
"""


def test_a_killed_process_leaves_what_can_be_used(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    project = Path(__file__).parents[2]
    chance = random.Random(5)
    for _ in range(4):
        command = [sys.executable, "-c", _KILLED, str(root)]
        child = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.3))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        index = opened(root)
        index.refresh()
        assert said(index) == from_nothing(root)
        index.close()


def test_what_is_not_on_disk_is_not_trusted_after_the_machine_stopped(tmp_path: Path) -> None:
    sealed = SealedFile(tmp_path / "file", tmp_path / "file.seal")
    sealed.path.write_bytes(b"x")
    sealed.renew_seal("n", synced=False)
    assert sealed.state() is IndexState.INTACT
    sealed.seal.write_bytes(orjson.dumps({**orjson.loads(sealed.seal.read_bytes()), "boot": "an earlier one"}))
    assert sealed.state() is IndexState.SPOILT
    sealed.renew_seal("n", synced=False)
    sealed.sync()
    assert orjson.loads(sealed.seal.read_bytes())["boot"] is None
    assert sealed.state() is IndexState.INTACT


def _interrupt(root: Path) -> Path:
    """Leave the catalogue as a killed writer does: its seal broken, which then says nothing of the file's stat."""
    seal = root / "_cache/catalog.seal"
    kept = orjson.loads(seal.read_bytes())
    del kept["print"]
    seal.write_bytes(orjson.dumps({**kept, "open": True}))
    return next((root / "_cache").glob(f"catalog-{FORMAT}-*.sqlite3"))


def test_an_interrupted_write_is_examined_not_thrown_away(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    index.close()
    _interrupt(root)
    index = opened(root)
    assert not index.refresh().rebuilt
    index.close()


@pytest.mark.parametrize("torn", ["all of it", "pages in the middle"])
def test_what_an_interrupted_write_tore_is_built_anew(tmp_path: Path, torn: str) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    index.close()
    file = _interrupt(root)
    data = file.read_bytes()
    middle = len(data) // 2 // 4096 * 4096
    file.write_bytes(b"nothing" if torn == "all of it" else data[:middle] + bytes(8192) + data[middle + 8192 :])
    index = opened(root)
    assert index.refresh().rebuilt
    assert index.catalog.counts().notes == 17
    index.close()


def test_a_held_lock_is_waited_for_and_then_named(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "l", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Busy, match=r"the index for 0\.2 s"), lock(tmp_path / "l", 0.2, "the index"):
        pass
    holder.close()
    with lock(tmp_path / "l", 0.2, "the index"):
        pass


_HOLDER = """
import sys, time
from pathlib import Path
from vault_tool.index.seals import lock
with lock(Path(sys.argv[1]), 5, "it"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_search_answers_beside_an_index_that_is_being_written(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    command = [sys.executable, "-c", _HOLDER, str(root / "_cache/build.lock")]
    child = subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        (root / path_of(1)).write_text(note(1, "A walrus sleeps on the red ice. 東京都庁"))
        (root / path_of(2)).unlink()
        (root / path_of(50)).write_text(note(50, "The red walrus."))
        index.refresh()
        assert found(index, "walrus") == {path_of(1), path_of(50)}
        assert found(index, '"red ice"') == {path_of(1)}
        assert found(index, "wal*") == {path_of(1), path_of(50)}
        assert found(index, "京都") == {path_of(1)}
        assert path_of(2) not in found(index, "note")
        assert found(index, "basalt") == set()
        assert found(index, "walrus", classes=["subject"]) == set()
        assert found(index, "walrus", types=["decision"]) == {path_of(1)}
        assert index.search("walrus red ice", 10)[0].path == path_of(1)
        beside = {word: found(index, word) for word in ("walrus", "amber", "note", "wal*", '"red walrus"')}
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()
    assert {word: found(index, word) for word in beside} == beside
    assert index.catalog.pending() == {}
    index.close()


def test_a_read_only_folder_is_indexed_elsewhere(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    script = f"""
import os
from pathlib import Path
from tests.index.vaults import found, opened
index = opened(Path({str(root)!r}))
assert index.refresh().count == 17
assert found(index, "quartz") == {{"vault/readme.md"}}
index.close()
print("fine")
"""
    mount = f"mount --bind {root} {root} && mount -o remount,ro,bind {root} && ! touch {root}/x 2>/dev/null"
    command = ["unshare", "-Urm", "sh", "-c", f"{mount} || exit 77; exec {sys.executable} -c {shlex.quote(script)}"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    if done.returncode == 77 or done.stderr.startswith("unshare"):
        pytest.skip("this machine lets nobody mount")
    assert done.stdout.strip() == "fine", done.stderr
    assert sorted(path.name for path in root.iterdir()) == ["vault"]


_SHORT_OF_SPACE = """
import resource, sys
from pathlib import Path
from tests.index.vaults import opened
from vault_tool.errors import StorageError
root = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
index = opened(root)
try:
    print(index.refresh().count, len(index.search("amber", 5)))
except StorageError as fault:
    print("one line" if len(str(fault).splitlines()) == 1 else fault)
index.close()
"""


@pytest.mark.without_coverage
@pytest.mark.parametrize("room", [0, 600, 4096, 30_000, 80_000])
@pytest.mark.parametrize("built", [False, True])
def test_no_room_is_one_line_and_costs_nothing(tmp_path: Path, room: int, built: bool) -> None:
    root = make(tmp_path / "v")
    if built:
        index = opened(root)
        index.refresh()
        index.close()
        for number in range(20, 60):
            (root / f"vault/n{number}.md").write_text(note(number, "amber " * 200))
    notes = _contents(root)
    command = [sys.executable, "-c", _SHORT_OF_SPACE, str(root), str(room)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.stdout.strip() in ("one line", "57 5", "17 1"), (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert _contents(root) == notes
    index = opened(root)
    assert index.refresh().count == (57 if built else 17)
    assert said(index) == from_nothing(root)
    index.close()


def test_state_is_read_only_when_it_is_ours(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    assert state.read() is None
    assert list(state.each()) == []
    entries = {
        identity(1): StateRow(2, "2026-11-20T10:00:00+00:00", 0.5, 0.8, 0.6),
        'an id of {"no": "use"}, \\': StateRow(),
        "ü\n": StateRow(0, "", 0.0, -0.25),
    }
    with state.alone():
        state.write(entries, "2026-11-20T10:00:00+00:00")
    assert state.read() == dict(state.each()) == entries
    file = tmp_path / "_state.json"
    whole = file.read_bytes()
    assert orjson.loads(whole)["version"] == 1
    for data in (b"", b"{}", whole[:30], whole.replace(b'"version":1', b'"version":2')):
        file.write_bytes(data)
        assert not state.intact()
        assert state.read() is None
        assert list(state.each()) == []
        with state.alone():
            state.write(entries, "2026-11-20T10:00:00+00:00")
        assert state.read() == dict(state.each()) == entries
    file.unlink()
    file.mkdir()
    assert state.read() is None
    assert list(state.each()) == []
    with state.alone():
        state.write(entries, "2026-11-20T10:00:00+00:00")
    assert state.read() == entries


@pytest.mark.parametrize(("end", "kept"), [("term", 100), ("term", 200), ("store", 150), ("pos", 150), ("idx", 200)])
def test_a_part_of_the_full_text_that_turns_out_to_be_none_when_it_is_asked(tmp_path: Path, end: str, kept: int) -> None:
    root = make(tmp_path / "v")
    index = opened(root)
    index.refresh()
    before = said(index)
    sealed = index._search.sealed(index.catalog.meta("nonce"))
    index.close()
    for path in sealed.path.glob(f"*.{end}"):
        data = path.read_bytes()
        path.write_bytes(bytes(max(0, len(data) - kept)) + data[-kept:])
    # As if it had been written so by us: what is wrong shows when it is read, not before.
    sealed.renew_seal(sealed.path.name)
    index = opened(root)
    asked = index.term_match("basalt quartz stone", 20, ["observation"])
    assert asked and asked.keys() == {path_of(number) for number in range(12)} & asked.keys()
    assert said(index) == before
    index.close()
