"""Journals: appended only, one a writer, every bad line named, no line lost to a copy or a branch."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.bounds import PATIENCE
from tests.verbs.looking import identity
from vault_tool.files.episode_text import entry_text, read_episode
from vault_tool.files.journals import append_episode, append_signals
from vault_tool.files.local import LocalFolder
from vault_tool.files.signal_lines import merge, read_signals, signal_line
from vault_tool.model.signals import ConsentState, EpisodeEntry, Signal, SignalKind
from vault_tool.util.text import content_hash

ENTRY = EpisodeEntry(
    at="2026-11-20T10:30:15+00:00",
    title="Fixed Redis",
    type="solution",
    tags=("redis", "timeout"),
    path="vault/observations/2026/11/fixed-redis-a1b2c3.md",
    session="k3f9",
    summary="Keepalive was off.",
)
EPISODE = "vault/episodes/2026-11-20.k3f9abcd.md"
SIGNALS = "vault/signals/2026-11.k3f9abcd.jsonl"
TARGET = identity(900)
AT = '"at":"2026-11-20T10:00:00+00:00"'
SAID = f'"id":"{identity(1)}","target":"{TARGET}",{AT}'


def signal(number: int, at: str = "2026-11-20T10:00:00+00:00") -> Signal:
    return Signal(id=identity(number), at=at, target=TARGET, kind=SignalKind.USEFUL)


def test_an_episode_is_begun_with_its_day(tmp_path: Path) -> None:
    written = append_episode(tmp_path, LocalFolder(tmp_path), ENTRY)
    assert written.before is None
    assert (tmp_path / written.path).read_text() == (
        "# 2026-11-20\n"
        "\n"
        "## 10:30 - Fixed Redis\n"
        "- **Type:** solution\n"
        "- **Tags:** redis, timeout\n"
        "- **Memory:** [fixed-redis-a1b2c3](../observations/2026/11/fixed-redis-a1b2c3.md)\n"
        "- **Session:** k3f9\n"
        "- **Summary:** Keepalive was off.\n"
    )


def test_a_second_entry_of_one_minute_is_numbered(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    append_episode(tmp_path, local, ENTRY)
    append_episode(tmp_path, local, replace(ENTRY, title="Another"))
    written = append_episode(tmp_path, local, replace(ENTRY, title="Third"))
    data = (tmp_path / written.path).read_bytes()
    assert b"\n## 10:30 #2 - Another\n" in data and b"\n## 10:30 #3 - Third\n" in data
    entries, problems = read_episode(written.path, data)
    assert [entry.title for entry in entries] == ["Fixed Redis", "Another", "Third"]
    assert problems == []
    assert entries[0] == replace(ENTRY, at="2026-11-20T10:30:00+00:00")


@given(title=st.text(), tag=st.text(), name=st.text(), session=st.text(), summary=st.text())
def test_nothing_in_an_entry_begins_another(title: str, tag: str, name: str, session: str, summary: str) -> None:
    flat = "".join(c for c in name if c not in "\0/" and not 0xD800 <= ord(c) < 0xE000).strip(".") or "x"
    path = f"vault/{flat}.md"
    entry = EpisodeEntry(at=ENTRY.at, title=title, type="fact", tags=(tag,), path=path, session=session, summary=summary)
    data = ("# 2026-11-20\n" + entry_text(entry, EPISODE, "")).encode("utf-8", "replace")
    (found,), problems = read_episode(EPISODE, data)
    assert problems == []
    assert found.path == entry.path
    assert found.type == "fact"


def test_what_a_person_wrote_between_is_no_problem_but_a_bad_heading_is() -> None:
    data = b"# 2026-11-20\nhello\n## 10:30 - One\n\nsome prose\n## Later\n## 25:99 - No\n## 11:00#2 - Two\n- **Type:** fact"
    entries, problems = read_episode(EPISODE, data)
    assert [entry.title for entry in entries] == ["One", "Two"]
    assert [(problem.line, problem.code) for problem in problems] == [(9, "torn-line"), (6, "bad-entry"), (7, "bad-entry")]


def test_signals_go_to_their_months(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    found = append_signals(tmp_path, local, [signal(1), signal(2, "2026-12-01T00:00:00+00:00"), signal(3)])
    token = local.token()
    assert [one.path for one in found] == [f"vault/signals/2026-11.{token}.jsonl", f"vault/signals/2026-12.{token}.jsonl"]
    signals, problems = read_signals(found[0].path, (tmp_path / found[0].path).read_bytes())
    assert signals == [signal(1), signal(3)] and problems == []


texts = st.text()
units = st.floats(0, 1)
ids = st.uuids().map(str)
signals = st.builds(
    Signal,
    id=ids,
    at=st.datetimes().map(lambda at: f"{at:%Y}".zfill(4) + f"{at:-%m-%dT%H:%M:%S}+00:00"),
    target=ids,
    kind=st.sampled_from([kind for kind in SignalKind if kind not in (SignalKind.CONSENT, SignalKind.WITHDRAWN)]),
    value=units,
    confidence=st.none() | units,
    rationale=texts,
    evidence=st.lists(texts).map(tuple),
    problem=st.just("") | ids,
    session=texts,
    model=texts,
    origin=texts,
)


consents = st.builds(
    replace,
    signals,
    kind=st.just(SignalKind.CONSENT),
    consent=st.sampled_from([state.value for state in ConsentState]),
    answered_by=texts,
    turn=texts,
)


withdrawals = st.builds(replace, signals, kind=st.just(SignalKind.WITHDRAWN), withdraws=ids)


@given(signals | consents | withdrawals)
def test_a_signal_is_one_line_and_comes_back(one: Signal) -> None:
    line = signal_line(one)
    assert len(line.splitlines()) == 1
    assert read_signals(SIGNALS, f"{line}\n".encode()) == ([one], [])


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "\xff",
        f'{{{SAID},"kind":"gossip"}}',
        f'{{{SAID},"kind":["use"]}}',
        f'{{"id":"{TARGET}","target":"{TARGET}","at":"yesterday","kind":"use"}}',
        f'{{"id":"{TARGET}","target":"{TARGET}","at":"12026-11-20T10:00:00","kind":"use"}}',
        f'{{"id":"{TARGET}","target":"{TARGET}","at":"0001-01-01T00:00:00+14:00","kind":"use"}}',
        f'{{"id":"","target":"{TARGET}",{AT},"kind":"use"}}',
        f'{{"id":"a","target":"{TARGET}",{AT},"kind":"use"}}',
        f'{{"id":7,"target":"{TARGET}",{AT},"kind":"use"}}',
        f'{{"id":"{TARGET}","target":"../x",{AT},"kind":"use"}}',
        f'{{"id":"{TARGET}",{AT},"kind":"use"}}',
        f'{{{SAID},"kind":"useful","problem":"somewhere"}}',
        f'{{{SAID},"kind":"truth","value":1.5}}',
        f'{{{SAID},"kind":"truth","value":true}}',
        f'{{{SAID},"kind":"useful","value":2}}',
        f'{{{SAID},"kind":"use","value":NaN}}',
        f'{{{SAID},"kind":"use","value":"NaN"}}',
        f'{{{SAID},"kind":"use","value":Infinity}}',
        f'{{{SAID},"kind":"use","value":1e20}}',
        f'{{{SAID},"kind":"use","value":1e308}}',
        f'{{{SAID},"kind":"use","value":1e999}}',
        f'{{{SAID},"kind":"use","value":{"9" * 5_000}}}',
        f'{{{SAID},"kind":"use","value":-1}}',
        f'{{{SAID},"kind":"truth","confidence":1e9}}',
        f'{{{SAID},"kind":"use","evidence":"x"}}',
        f'{{{SAID},"kind":"use","rationale":3}}',
        f'{{{SAID},"kind":"use","rationale":"cut \\ud83d"}}',
        f'{{{SAID},"kind":"use","session":"\xed\xa0\xbd"}}',
        f'{{{SAID},"kind":"use","more":{"[" * 100_000}}}',
        f'{{{SAID},"kind":"use","rationale":"{"x" * 2**20}"}}',
        "[" * 100_000,
    ],
)
def test_a_bad_line_is_named_and_stops_nothing(line: str) -> None:
    data = f"{signal_line(signal(1))}\n".encode() + line.encode("latin-1") + f"\n{signal_line(signal(2))}\n".encode()
    found, (problem,) = read_signals(SIGNALS, data)
    assert [one.id for one in found] == [identity(1), identity(2)]
    assert (problem.path, problem.line, problem.code) == (SIGNALS, 2, "bad-signal")
    assert len(problem.message) < 200 and problem.message.isprintable()


def test_a_torn_last_line_is_named() -> None:
    whole = signal_line(signal(1)).encode()
    found, (problem,) = read_signals(SIGNALS, whole + b"\n" + whole[:30])
    assert len(found) == 1 and (problem.line, problem.code) == (2, "torn-line")
    found, (problem,) = read_signals(SIGNALS, whole)
    assert len(found) == 1 and problem.code == "torn-line"


def test_keys_that_are_not_ours_are_passed_over_and_times_become_utc() -> None:
    line = f'{{{SAID.replace("+00:00", "-02:00")},"kind":"use","mood":"sunny"}}\n'
    (found,), problems = read_signals(SIGNALS, line.encode())
    assert found.at == "2026-11-20T12:00:00+00:00" and problems == []


@given(st.permutations([signal(n % 7, f"2026-11-20T10:00:{n % 5:02d}+00:00") for n in range(20)]))
def test_merging_does_not_depend_on_files(shuffled: list[Signal]) -> None:
    merged = merge(shuffled)
    assert merged == merge(reversed(merged)) and len(merged) == 7
    assert [(one.at, one.id) for one in merged] == sorted((one.at, one.id) for one in merged)


@pytest.mark.parametrize("change", ["edited", "removed", "copied"])
def test_a_journal_that_is_not_as_we_left_it_is_left_alone(tmp_path: Path, change: str) -> None:
    local = LocalFolder(tmp_path)
    (first,) = append_signals(tmp_path, local, [signal(1)])
    journal = tmp_path / first.path
    if change == "edited":
        journal.write_bytes(journal.read_bytes() + b"by hand\n")
    elif change == "removed":
        journal.unlink()
    else:
        (tmp_path / "_local" / "journals.json").unlink()
    before = journal.read_bytes() if journal.exists() else None
    (second,) = append_signals(tmp_path, local, [signal(2)])
    assert second.path != first.path and second.before is None
    assert (journal.read_bytes() if journal.exists() else None) == before
    (third,) = append_signals(tmp_path, local, [signal(3)])
    assert third.path == second.path


@pytest.mark.parametrize("appended", [False, True])
def test_a_crash_on_either_side_of_the_append_keeps_the_journal(tmp_path: Path, appended: bool) -> None:
    local = LocalFolder(tmp_path)
    (first,) = append_signals(tmp_path, local, [signal(1)])
    added = f"{signal_line(signal(2))}\n".encode()
    assert first.after is not None
    local.expect_journal(first.path, content_hash(first.after), content_hash(first.after + added))
    if appended:
        (tmp_path / first.path).write_bytes(first.after + added)
    (third,) = append_signals(tmp_path, local, [signal(3)])
    assert third.path == first.path
    found, problems = read_signals(third.path, (tmp_path / third.path).read_bytes())
    assert [one.id for one in found] == ([identity(1), identity(2), identity(3)] if appended else [identity(1), identity(3)])
    assert problems == []


def test_an_append_after_which_nothing_could_be_noted_keeps_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = LocalFolder(tmp_path)
    append_signals(tmp_path, local, [signal(1)])
    put, noted = os.replace, count()

    def failing(old: str, new: str, **more: int) -> None:
        # What is said before the lines are written is kept, what is said after them is not: as after a kill.
        if new == "journals.json" and next(noted) == 1:
            raise OSError(errno.ENOSPC, "full")
        put(old, new, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing)
        (second,) = append_signals(tmp_path, local, [signal(2)])
    assert next(noted) == 2
    (third,) = append_signals(tmp_path, local, [signal(3)])
    assert third.path == second.path


def test_a_missing_newline_is_mended_first(tmp_path: Path) -> None:
    local = LocalFolder(tmp_path)
    (first,) = append_signals(tmp_path, local, [signal(1)])
    assert first.after is not None
    without = first.after.rstrip(b"\n")
    (tmp_path / first.path).write_bytes(without)
    local.expect_journal(first.path, content_hash(without))
    append_signals(tmp_path, local, [signal(2)])
    found, problems = read_signals(first.path, (tmp_path / first.path).read_bytes())
    assert [one.id for one in found] == [identity(1), identity(2)] and problems == []


APPEND = """
import pathlib, sys
from vault_tool.files.journals import append_signals
from vault_tool.files.local import LocalFolder
from vault_tool.model.signals import Signal, SignalKind
root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
for n in range(100):
    identity = f"{name}0000000-0000-4000-8000-{n:012}"
    one = Signal(id=identity, at="2026-11-20T10:00:00+00:00", target=identity, kind=SignalKind.USE)
    append_signals(root, LocalFolder(root), [one])
"""


def test_two_processes_append_to_one_journal(tmp_path: Path) -> None:
    both = [subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), name]) for name in ("a", "b")]
    assert [one.wait(timeout=PATIENCE) for one in both] == [0, 0]
    (journal,) = (tmp_path / "vault" / "signals").iterdir()
    found, problems = read_signals(SIGNALS, journal.read_bytes())
    assert len(merge(found)) == 200 and problems == []
