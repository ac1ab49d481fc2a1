"""What capture keeps on this machine lies in the vault's own local folder: no link leads it elsewhere, to be read or written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.founding import found_at
from vault_tool.errors import Refused
from vault_tool.features.capture.capture_log import Reading, note, readings
from vault_tool.features.capture.capture_settings import (
    CaptureSettings,
    LastReading,
    is_set,
    is_unasked,
    keep_reading,
    keep_settings,
    keep_unasked,
    last_reading,
    settings_of,
)

NOW = datetime(2026, 11, 26, 11, tzinfo=UTC)
READING = Reading(at="2026-11-26T11:00:00+00:00", session="s1", by="ollama:m")
KEPT: dict[str, tuple[Callable[[Path], None], Callable[[Path], object]]] = {
    "capture.json": (lambda root: keep_settings(root, CaptureSettings("point")), lambda root: settings_of(root).mode == "point"),
    "capture-last.json": (lambda root: keep_reading(root, LastReading("2026-11-26", 3)), last_reading),
    "capture-log.jsonl": (lambda root: note(root, READING, NOW), readings),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "v"
    found_at(found, git=True)
    return found


@pytest.mark.parametrize("name", KEPT)
def test_a_link_in_place_of_a_file_is_not_believed(root: Path, tmp_path: Path, name: str) -> None:
    keep, read = KEPT[name]
    keep(root)
    assert read(root)
    file = root / "_local" / name
    assert file.stat().st_mode & 0o077 == 0
    elsewhere = tmp_path / name
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert not read(root)


@pytest.mark.parametrize("name", KEPT)
def test_a_folder_or_nothing_in_place_of_a_file_is_as_if_there_were_none(root: Path, name: str) -> None:
    _, read = KEPT[name]
    assert not read(root)
    (root / "_local" / name).mkdir(parents=True)
    assert not read(root)


def test_a_local_folder_that_is_a_link_gets_nothing_written_through_it(root: Path, tmp_path: Path) -> None:
    keep_unasked(root)
    elsewhere = tmp_path / "elsewhere"
    (root / "_local").rename(elsewhere)
    (root / "_local").symlink_to(elsewhere)
    held = sorted(elsewhere.iterdir())
    with pytest.raises(Refused, match="_local is a link"):
        keep_settings(root, CaptureSettings("point"))
    with pytest.raises(Refused, match="_local is a link"):
        note(root, READING, NOW)
    keep_reading(root, LastReading("2026-11-26", 3))
    assert sorted(elsewhere.iterdir()) == held
    assert (is_set(root), is_unasked(root), settings_of(root).mode, readings(root)) == (False, False, "off", [])


def test_a_line_that_was_cut_short_is_ended_and_a_long_log_is_made_shorter(root: Path) -> None:
    note(root, READING, NOW)
    log = root / "_local" / "capture-log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"at": "2026')
    note(root, READING, NOW)
    assert readings(root) == [READING, READING]
    line = json.dumps({"at": "2026-01-01T00:00:00+00:00", "session": "old", "by": "m", "what": "read", "why": "x" * 150}) + "\n"
    log.write_bytes((line * 8000).encode() + log.read_bytes())
    note(root, READING, NOW)
    assert readings(root) == [READING] * 3 and log.stat().st_size < 1000
    assert log.stat().st_mode & 0o077 == 0
