from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from vault_tool.errors import Refused, StorageError
from vault_tool.features.turns.turns import TURNS, QueuedTurn, SkippedTurn, Turns
from vault_tool.files.inbox import INBOX, About, Inbox
from vault_tool.files.tombstones import FORGOTTEN, files, has, tombstone

CANDIDATE = {
    "content": "A text.", "kind": "fact", "title": "", "thread": "", "rationale": "", "tags": ["t"], "evidence": [],
    "importance": None, "confidence": 0.5, "anchors": [{"name": "A", "key": "", "role": ""}],
}  # fmt: skip
ONE = QueuedTurn(
    id="one", at="2026-11-20T10:00:00.000001+00:00", session="s", user="u", world="w", turn="1", text="Hé said \"so\".",
    candidates=(CANDIDATE,),
)  # fmt: skip
SKIPPED = SkippedTurn(id="x", at="2026-11-20T10:00:00+00:00", session="s", user="u", world="w", turn="1", text="T", flags=("f",))
ID = "5f0c2d9e-2b3c-4e7a-9d5e-0a1b2c3d4e5f"


def test_turns_wait_in_the_order_in_which_they_came_and_read_as_they_were(tmp_path: Path) -> None:
    queue = Turns(tmp_path)
    later = replace(ONE, id="two", at="2026-11-20T10:00:00.000002+00:00", held=True)
    queue.accept(later)
    queue.accept(ONE)
    queue.accept(replace(ONE, at="2026-11-21T10:00:00.000000+00:00"))
    assert Turns(tmp_path).waiting() == [ONE, later]
    assert queue.waiting(1) == [ONE] and queue.count() == 2
    queue.strike_off([ONE])
    assert queue.waiting() == [later]


def test_skipped_turns_are_kept_by_day_and_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    queue = Turns(tmp_path)
    queue.skip(SKIPPED, "2026-11-06")
    with (tmp_path / TURNS / "skipped" / "2026-11-20.jsonl").open("a") as file:
        file.write('{"id": "to\n')
    other = replace(SKIPPED, id="y", at="2026-12-24T10:00:00+00:00")
    assert list(queue.skipped("2026-11-06")) == [SKIPPED]
    queue.skip(other, "2026-12-10")
    assert list(queue.skipped("2026-11-06")) == [other]
    assert queue.drop(["y"]) == 1 and list(queue.skipped("2026-11-06")) == []


def test_forgetting_looks_at_what_was_said_and_not_at_how_it_is_escaped(tmp_path: Path) -> None:
    queue = Turns(tmp_path)
    queue.accept(ONE)
    queue.skip(replace(SKIPPED, text='Hé said "so".'), "2026-11-06")
    assert queue.forget(lambda text: 'Hé said "so".' in text) == 2
    assert queue.count() == 0 and list(queue.skipped("2026-11-06")) == []


def test_what_is_skipped_while_others_are_settled_or_forgotten_is_kept(tmp_path: Path) -> None:
    queue, meanwhile = Turns(tmp_path), replace(SKIPPED, id="y", text="Said meanwhile.")
    queue.skip(SKIPPED, "2026-11-06")

    def tells(text: str) -> bool:
        if "Said meanwhile." not in text:
            Turns(tmp_path).skip(meanwhile, "2026-11-06")  # by another process, between the look and the removal
        return '"x"' in text

    assert queue.forget(tells) == 1
    assert list(queue.skipped("2026-11-06")) == [meanwhile]
    assert b"flags" not in (tmp_path / TURNS / "skipped" / "2026-11-20.jsonl").read_bytes().split(b"\n")[0], "it is erased"


def test_one_process_skips_while_another_settles(tmp_path: Path) -> None:
    count = 200
    code = (
        "import sys; from pathlib import Path; from vault_tool.features.turns.turns import SkippedTurn, Turns\n"
        "for n in range(int(sys.argv[2])): Turns(Path(sys.argv[1])).skip(SkippedTurn(id=f'id-{n:04}',"
        " at='2026-11-20T10:00:00+00:00', session='', user='', world='', turn='', text='T'), '2026-11-06')"
    )
    queue, settled, found = Turns(tmp_path), 0, []
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(count)]) as other:
        while other.poll() is None:
            found = [turn.id for turn in queue.skipped("2026-11-06")]
            settled += queue.drop(found[::2])
        assert other.returncode == 0
    assert settled > 0
    assert len(list(queue.skipped("2026-11-06"))) == count - settled


def test_a_turn_is_settled_by_its_own_id_and_not_by_what_it_says(tmp_path: Path) -> None:
    queue, saying = Turns(tmp_path), replace(SKIPPED, id="other", text="What became of x-0001?")
    for turn in (replace(SKIPPED, id="x-0001"), saying):
        queue.skip(turn, "2026-11-06")
    assert queue.drop(["x-0001"]) == 1
    assert list(queue.skipped("2026-11-06")) == [saying]


def test_a_queue_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_local").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / TURNS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises((Refused, StorageError)):
        Turns(tmp_path).accept(ONE)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_note_of_the_inbox_is_what_its_file_holds(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    about = About("2026-11-20T10:00:00+00:00", "remember", "because", {"turn": "what was said"}, ("---\n---\n",))
    assert inbox.put(ID, "a.md", b"text", about) == f"{INBOX}/a.md"
    assert inbox.about(ID) == about
    (tmp_path / INBOX / "a.md").write_bytes(b"edited")
    (tmp_path / INBOX / ".a.md.swp").write_bytes(b"")
    assert inbox.notes() == [("a.md", b"edited")]
    assert not inbox.discard(ID, "a.md", b"text"), "what was edited meanwhile is not what was decided on"
    assert inbox.discard(ID, "a.md", b"edited")
    assert inbox.notes() == [] and inbox.about(ID) == About()
    inbox.decide(ID, "refused", "2026-11-20T10:00:00+00:00")
    assert Inbox(tmp_path).decided() == {ID: "refused"}


def test_a_tombstone_is_a_file_named_by_an_id(tmp_path: Path) -> None:
    assert files(tmp_path) == {} and not has(tmp_path, ID)
    (tmp_path / FORGOTTEN).mkdir(parents=True)
    (tmp_path / tombstone(ID)).write_bytes(b"")
    (tmp_path / FORGOTTEN / "README").write_bytes(b"")
    assert {*files(tmp_path).values()} == {ID} and has(tmp_path, ID)


def test_a_turn_that_the_disk_refuses_is_not_in_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Turns(tmp_path)
    queue.accept(replace(ONE, id="before"))

    def fails(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        with pytest.raises(StorageError):
            queue.accept(ONE)
        with pytest.raises(StorageError):
            queue.accept(replace(ONE, id="before"))
    assert [turn.id for turn in queue.waiting()] == ["before"]
    queue.accept(ONE)
    assert queue.count() == 2


def test_the_bytes_and_then_the_name_of_a_turn_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Turns(tmp_path)
    queue.accept(replace(ONE, id="before"))
    waited: list[bool] = []
    wait = os.fsync

    def watched(descriptor: int) -> None:
        waited.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        wait(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    queue.accept(ONE)
    assert waited == [False, True]
    queue.accept(ONE)
    assert waited == [False, True] * 2
