"""The made vault: the same for one seed, and in the tool's own format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bench.vault_maker import VaultMaker
from vault_tool.files.episode_text import read_episode
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.files.parse import Parsed, parse
from vault_tool.files.signal_lines import read_signals
from vault_tool.model.types import RecordClass, Registry


def _made(root: Path, count: int, seed: int = 1) -> dict[str, bytes]:
    VaultMaker(root, count, seed).make()
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _notes(files: dict[str, bytes]) -> dict[str, Parsed]:
    registry = Registry()
    return {path: parse(path, data, registry) for path, data in files.items() if file_kind(path) is FileKind.NOTE}


def test_one_seed_makes_one_vault(tmp_path: Path) -> None:
    first = _made(tmp_path / "a", 60)
    assert _made(tmp_path / "b", 60) == first
    other = _made(tmp_path / "c", 60, seed=2)
    assert other != first


def test_no_file_has_a_problem(tmp_path: Path) -> None:
    files = _made(tmp_path / "v", 200)
    assert [problem for one in _notes(files).values() for problem in one.problems] == []
    for path, data in files.items():
        if file_kind(path) is FileKind.EPISODE:
            assert read_episode(path, data)[1] == []
        if file_kind(path) is FileKind.SIGNALS:
            assert read_signals(path, data)[1] == []


def test_the_records_are_as_many_as_said(tmp_path: Path) -> None:
    files = _made(tmp_path / "v", 200)
    classes = Counter(one.record_class for one in _notes(files).values())
    kept = 3
    assert classes[RecordClass.OBSERVATION] == 190
    assert classes[RecordClass.UNDERSTANDING] == 10 + kept
    assert classes[RecordClass.EDGE] == 10
    assert classes[RecordClass.CONSOLIDATION] == 8
    assert 5 <= classes[RecordClass.SUBJECT] <= 14
    signals = [s for path, data in files.items() if file_kind(path) is FileKind.SIGNALS for s in read_signals(path, data)[0]]
    entries = [e for path, data in files.items() if file_kind(path) is FileKind.EPISODE for e in read_episode(path, data)[0]]
    assert len(signals) == 50
    assert len(entries) == 190


def test_references_lead_somewhere_and_some_understandings_are_superseded(tmp_path: Path) -> None:
    notes = _notes(_made(tmp_path / "v", 1200))
    ids = {str(one.head["id"]) for one in notes.values()}
    assert len(ids) == len(notes)
    replaced = [id for one in notes.values() for id in one.head.get("supersedes", [])]
    assert replaced
    ends = [str(one.head[name]) for one in notes.values() if "from_id" in one.head for name in ("from_id", "to_id")]
    assert set(replaced) | set(ends) <= ids


def test_bodies_are_short_with_some_long(tmp_path: Path) -> None:
    notes = _notes(_made(tmp_path / "v", 200))
    lengths = [len(one.body.split()) for one in notes.values() if one.record_class is RecordClass.OBSERVATION]
    long = [length for length in lengths if length == 2000]
    short = [length for length in lengths if length < 2000]
    assert len(long) == 2  # of the four in 200, two are understandings
    assert 50 < sum(short) / len(short) < 70
