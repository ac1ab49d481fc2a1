"""What is kept of sessions: across restarts, processes, kills, bad disks and months."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from tests.faults import session_child
from tests.faults.killer import Round, campaign, runs_wanted
from vault_tool.errors import Busy, VaultError
from vault_tool.files.sessions import LIFE, MOST_SHOWN, AgentSession, Sessions

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
AT = NOW.isoformat()
GAP = timedelta(minutes=30)
CHILD = Path(session_child.__file__)


def keep(root: Path, session: str = "s1", ids: tuple[str, ...] = ("a",), moment: datetime = NOW) -> AgentSession:
    return Sessions(root).update(session, moment, lambda state: state.shows(ids, "recall", moment.isoformat()))


def found(root: Path, session: str = "s1", moment: datetime = NOW) -> AgentSession | None:
    return Sessions(root).find(session, moment)


def file_of(root: Path) -> Path:
    (path,) = (root / "_local" / "sessions").glob("*.json")
    return path


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_session_is_known_again_whatever_its_id(tmp_path: Path) -> None:
    for name in ("s1", "../../etc/passwd", "größe \U0001f600", "a/b\x00c", "x" * 10_000):
        made = keep(tmp_path, name, (name[:5],))
        assert made.id == name
        assert found(tmp_path, name) == made
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_local"]
    assert len(list((tmp_path / "_local" / "sessions").glob("*.json"))) == 5


def test_sessions_do_not_see_each_other(tmp_path: Path) -> None:
    keep(tmp_path, "s1", ("a",))
    keep(tmp_path, "s2", ("b",))
    one, other = found(tmp_path, "s1"), found(tmp_path, "s2")
    assert one and other and (set(one.seen), set(other.seen)) == ({"a"}, {"b"})


def test_everything_is_for_its_owner_alone(tmp_path: Path) -> None:
    keep(tmp_path)
    for path in (tmp_path / "_local").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_what_was_shown_outlives_the_seen_log_with_every_way_it_was_shown() -> None:
    later = (NOW + timedelta(minutes=1)).isoformat()
    state = AgentSession(id="s", began=AT, touched=AT).shows(["a", "b", "a"], "recall", AT).shows(["a"], "bring_to_mind", later)
    assert list(state.shown) == ["b", "a"]
    assert (state.shown["a"].first, state.shown["a"].last, state.shown["a"].how) == (AT, later, ("recall", "bring_to_mind"))
    cleared = state.knows(["soul"], later).forgets()
    assert cleared.seen == {}
    assert list(cleared.shown) == ["b", "a", "soul"]


def test_only_the_latest_of_very_many_are_remembered() -> None:
    ids = [str(number) for number in range(MOST_SHOWN + 5)]
    state = AgentSession(id="s", began=AT, touched=AT).shows(ids, "recall", AT)
    assert list(state.shown) == ids[5:]
    assert len(state.seen) == MOST_SHOWN + 5


@pytest.mark.parametrize(
    ("token", "last", "away", "lost"),
    [
        (None, None, timedelta(days=1), False),
        (None, 7, timedelta(0), False),
        (7, 7, timedelta(0), False),
        (7, 7, GAP, False),
        (7, 7, GAP + timedelta(microseconds=1), True),
        (7, 7, timedelta(days=-1), False),
        (7, 8, timedelta(0), True),
        (7, None, timedelta(0), True),
        (0, None, timedelta(0), True),
        (0, 0, timedelta(0), False),
    ],
)
def test_a_context_is_cut_short_by_token_or_by_time(token: int | None, last: int | None, away: timedelta, lost: bool) -> None:
    state = AgentSession(id="s", began=AT, touched=AT, token=token, asked=AT)
    assert state.compacted(last, NOW + away, GAP) is lost


def test_a_session_expires_and_its_file_goes_when_another_begins(tmp_path: Path) -> None:
    keep(tmp_path, "old")
    keep(tmp_path, "kept", moment=NOW + timedelta(days=1))
    end = NOW + LIFE
    assert found(tmp_path, "old", end) is not None
    assert found(tmp_path, "old", end + timedelta(seconds=1)) is None
    keep(tmp_path, "new", moment=end + timedelta(seconds=1))
    left = {json.loads(path.read_bytes())["id"] for path in (tmp_path / "_local" / "sessions").glob("*.json")}
    assert left == {"kept", "new"}


def test_an_expired_session_begins_again(tmp_path: Path) -> None:
    Sessions(tmp_path).update("s1", NOW, lambda state: state.hands_out(5, AT).shows(["a"], "recall", AT))
    later = NOW + LIFE + timedelta(days=1)
    made = keep(tmp_path, ids=("b",), moment=later)
    assert (made.token, set(made.seen), made.began) == (None, {"b"}, later.isoformat())


@pytest.mark.parametrize(
    "bytes_",
    [b"", b"\x00" * 40, b'{"id": "s1"', b"[]", b"null", b'{"id": "s1", "token": "x"}', b"\xff\xfe", b'{"seen": 1}'],
)
def test_a_torn_file_is_set_aside_and_the_session_begins_again(tmp_path: Path, bytes_: bytes) -> None:
    keep(tmp_path)
    path = file_of(tmp_path)
    path.write_bytes(bytes_)
    assert found(tmp_path) is None
    assert set(keep(tmp_path, ids=("b",)).seen) == {"b"}
    assert path.with_name(f"{path.name}.spoilt").read_bytes() == bytes_
    assert found(tmp_path) is not None


def test_a_file_of_another_sessions_name_is_not_believed(tmp_path: Path) -> None:
    keep(tmp_path, "s1")
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"s1"', b'"s2"'))
    assert found(tmp_path, "s1") is None


def test_what_killed_processes_and_bad_disks_left_is_swept(tmp_path: Path) -> None:
    keep(tmp_path)
    folder = tmp_path / "_local" / "sessions"
    (folder / f".{file_of(tmp_path).name}.vt-0a1b2c3d.tmp").write_bytes(b"half")
    (folder / "x.json.spoilt").write_bytes(b"torn")
    keep(tmp_path, "s2", moment=NOW + timedelta(days=2))
    assert not list(folder.glob(".*"))
    assert (folder / "x.json.spoilt").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "_local").write_bytes(b"")
    with pytest.raises(VaultError, match="_local"):
        keep(tmp_path)


def test_waiting_for_another_process_ends(tmp_path: Path) -> None:
    keep(tmp_path)
    command = [sys.executable, str(CHILD), "hold", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(Busy, match="_local/sessions"):
            Sessions(tmp_path, wait=0.1).update("s1", NOW, lambda state: state)
        assert found(tmp_path) is not None
        holder.stdin.close()
    assert set(keep(tmp_path, ids=("b",)).seen) == {"a", "b"}


def test_several_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, str(CHILD), "show", str(tmp_path), "s1", f"p{number}-", "40"], stdout=subprocess.PIPE)
        for number in range(3)
    ]
    assert [child.communicate(timeout=PATIENCE) and child.returncode for child in children] == [0, 0, 0]
    state = found(tmp_path, moment=session_child.START)
    assert state is not None
    assert set(state.seen) == {f"p{number}-{count}" for number in range(3) for count in range(40)}


@pytest.mark.campaign
def test_a_kill_leaves_the_state_before_or_after_and_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    seen: set[str] = set()

    def child(number: int) -> list[str]:
        return [sys.executable, str(CHILD), "show", str(tmp_path), "s1", f"r{number}-", "100000"]

    def check(one: Round) -> None:
        assert one.killed, one.errors
        seen.update(one.acknowledged)
        state = found(tmp_path, moment=session_child.START)
        assert (state is None) == (not seen)
        kept = set(state.seen) if state else set()
        assert seen <= kept and len(kept - seen) <= 1
        seen.update(kept)

    campaign(child, check, kills=runs_wanted(12), longest=0.02, most=5, seed=13)
    assert seen
    assert not list((tmp_path / "_local" / "sessions").glob("*.spoilt"))
