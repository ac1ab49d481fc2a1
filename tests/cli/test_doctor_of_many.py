"""`vt doctor` where many files have the same, as a person and as a program reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import Person
from tests.founding import found_at


@pytest.fixture
def someone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    root = found_at(tmp_path / "notes", git=True)
    monkeypatch.chdir(root)
    for number in range(200):
        (root / f"vault/page-{number:03}.md").write_text(f"# Page {number}\n")
    return Person(root, capsys)


def test_a_person_reads_a_line_and_how_to_read_the_rest(someone: Person) -> None:
    said = someone.types("doctor")
    assert "200 alike" in " ".join(said.split()) and "`vt doctor --all`" in said
    assert len(said.splitlines()) < 20
    whole = someone.types("doctor", "--all")
    assert all(f"page-{number:03}.md" in whole for number in range(200)) and "--all" not in whole


def test_a_program_reads_numbers(someone: Person) -> None:
    found = someone.gets("doctor")
    assert [(one["code"], one["count"], len(one["paths"])) for one in found["alike"]] == [("page", 200, 3)]
    assert (found["problems"], found["left_out"], found["counts"]) == ([], 0, {"note": 200})
    assert len(someone.gets("doctor", "--all")["problems"]) == 200
