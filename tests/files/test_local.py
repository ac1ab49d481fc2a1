"""What this machine keeps: its token, its uses, the operations it began."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from vault_tool.files.local import LocalFolder, PendingOperation
from vault_tool.model.signals import SignalKind, Use

A, B, C, GONE = (f"0000000{number}-0000-4000-8000-000000000000" for number in range(4))


def use(at: str, target: str = A, session: str = "s") -> Use:
    return Use(at=f"{at}+00:00", target=target, session=session)


def test_the_token_stays_until_another_is_taken(tmp_path: Path) -> None:
    first = LocalFolder(tmp_path).token()
    assert len(first) == 8 and first.isalnum() and first == first.lower()
    assert LocalFolder(tmp_path).token() == first
    second = LocalFolder(tmp_path).new_token()
    assert second != first
    assert LocalFolder(tmp_path).token() == second


def test_a_spoilt_token_is_replaced(tmp_path: Path) -> None:
    LocalFolder(tmp_path).token()
    (tmp_path / "_local" / "writer").write_bytes(b"../../x\xff")
    token = LocalFolder(tmp_path).token()
    assert len(token) == 8 and token.isalnum()


def test_everything_is_for_its_owner_alone(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    local.token()
    local.note_use(use("2026-11-20T10:00:00"))
    local.begin(PendingOperation("op-1", "remember", "x"))
    for path in (tmp_path / "_local").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_nothing_is_made_by_reading(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    assert (local.uses(), local.pending(), local.roll_up("2027-01-01"), local.journal_states("x")) == ([], (), [], ())
    assert list(tmp_path.iterdir()) == []


def test_uses_come_back_in_order(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    for at in ("2026-11-20T10:00:00", "2026-11-19T23:59:59", "2026-11-20T09:00:00"):
        local.note_use(use(at))
    assert [found.at[:16] for found in LocalFolder(tmp_path).uses()] == [
        "2026-11-19T23:59",
        "2026-11-20T09:00",
        "2026-11-20T10:00",
    ]


def test_uses_of_many_threads_are_all_there(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)

    def some() -> None:
        for _ in range(50):
            local.note_use(use("2026-11-20T10:00:00"))

    threads = [threading.Thread(target=some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(local.uses()) == 200


def test_a_use_that_is_noted_while_a_memory_is_forgotten_is_kept(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)

    def some() -> None:
        for number in range(200):
            local.note_use(use("2026-11-20T10:00:00", f"{number:08}-1111-4000-8000-000000000000"))
            local.note_use(use("2026-11-20T10:00:00", GONE))

    noting = threading.Thread(target=some)
    noting.start()
    while noting.is_alive():
        LocalFolder(tmp_path).forget({GONE}, lambda title: False)
    LocalFolder(tmp_path).forget({GONE}, lambda title: False)
    assert sorted(found.target for found in local.uses()) == sorted(
        f"{number:08}-1111-4000-8000-000000000000" for number in range(200)
    )
    assert GONE.encode() not in (tmp_path / "_local" / "use" / "2026-11-20.jsonl").read_bytes()


def test_a_torn_use_is_passed_over(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    local.note_use(use("2026-11-20T10:00:00"))
    log = tmp_path / "_local" / "use" / "2026-11-20.jsonl"
    log.write_bytes(log.read_bytes() + b'{"at": "2026-')
    assert len(local.uses()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "{}", "[]", "[" * 100_000, '{"at": 1, "target": 2}', f'{{"at": "soon", "target": "{A}"}}',
        '{"at": "2026-11-18T08:00:00", "target": "a"}', f'{{"at": "2026-11-18T08:00:00", "target": "{A}", "session": "\\ud83d"}}',
        f'{{"at": "2026-11-18T08:00:00", "target": "{A}", "session": [1]}}', f'{{"at": "99999-11-18", "target": "{A}"}}',
    ],
)  # fmt: skip
def test_a_bad_use_is_passed_over_and_keeps_no_other_out_of_the_journals(tmp_path: Path, line: str) -> None:
    local = LocalFolder(tmp_path)
    local.note_use(use("2026-11-18T08:00:00"))
    log = tmp_path / "_local" / "use" / "2026-11-18.jsonl"
    log.write_bytes(log.read_bytes() + line.encode() + b"\n")
    local.note_use(use("2026-11-18T09:00:00"))
    assert [one.value for one in local.roll_up("2026-11-20")] == [2.0]


def test_what_others_add_or_take_away_is_seen_by_one_that_read_before(tmp_path: Path) -> None:
    reader, other = LocalFolder(tmp_path), LocalFolder(tmp_path)
    other.note_use(use("2026-11-20T08:00:00", A))
    assert [found.target for found in reader.uses()] == [A]
    log = tmp_path / "_local" / "use" / "2026-11-20.jsonl"
    log.write_bytes(log.read_bytes() + b'{"at": "2026-11-20T09:00:00", "tar')
    assert [found.target for found in reader.uses()] == [A]
    log.write_bytes(log.read_bytes() + f'get": "{B}"}}\n'.encode())
    assert [found.target for found in reader.uses()] == [A, B]
    other.forget(A, lambda title: False)
    other.note_use(use("2026-11-20T10:00:00", C))
    assert [found.target for found in reader.uses()] == [B, C]
    log.unlink()
    assert reader.uses() == []


def test_days_are_rolled_up_once_and_alike(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    local.note_use(use("2026-11-18T08:00:00", A, "one"))
    local.note_use(use("2026-11-18T09:00:00", A, "two"))
    local.note_use(use("2026-11-18T07:00:00", B, "one"))
    local.note_use(use("2026-11-19T07:00:00", A))
    local.note_use(use("2026-11-20T07:00:00", A))
    signals = local.roll_up("2026-11-20")
    assert [(one.at[:16], one.target, one.value, one.kind, one.session) for one in signals] == [
        ("2026-11-18T09:00", A, 2.0, SignalKind.USE, ""),
        ("2026-11-18T07:00", B, 1.0, SignalKind.USE, "one"),
        ("2026-11-19T07:00", A, 1.0, SignalKind.USE, "s"),
    ]
    assert local.roll_up("2026-11-20") == signals
    assert len({one.id for one in signals}) == 3
    local.drop_uses("2026-11-20")
    assert local.roll_up("2026-11-20") == []
    assert [one.at[:10] for one in local.uses()] == ["2026-11-20"]


def test_operations_are_known_until_they_are_done(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    first = PendingOperation(
        "op-1", "remember", "One", "s", ("id",), (("vault/a.md", "hash"), ("vault/b.md", None)), "2026-11-20"
    )
    second = PendingOperation("op-2", "link", "Two", at="2026-11-19")
    local.begin(first)
    local.begin(second)
    assert LocalFolder(tmp_path).pending() == (second, first)
    local.done("op-1")
    local.done("op-1")
    assert LocalFolder(tmp_path).pending() == (second,)


ODD = tuple(
    b'{"id": %s, "verb": "v", "title": "t", "session": "", "ids": [], "files": [], "at": ""}' % name
    for name in (b'"../x"', b'"op-2"', b'"\\ud83d"', b'""', b"7")
)
"""Whole announcements whose id is none, or not their file's: they could never be struck off."""


def test_a_spoilt_operation_is_left_where_it_is(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    local.begin(PendingOperation("op-1", "remember", "One"))
    for number, data in enumerate((b"", b"{", b"[]", b"{}", b'{"id": 1, "files": [1]}', b"[" * 100_000, *ODD)):
        (tmp_path / "_local" / "pending" / f"bad-{number}.json").write_bytes(data)
    assert [one.id for one in local.pending()] == ["op-1"]
    assert len(list((tmp_path / "_local" / "pending").iterdir())) == 7 + len(ODD)


def test_journal_states_are_bounded(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    for number in range(150):
        local.expect_journal(f"vault/signals/{number}", None, "hash")
    assert local.journal_states("vault/signals/149") == (None, "hash")
    assert local.journal_states("vault/signals/0") == ()
