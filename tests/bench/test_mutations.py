"""The list of mutations holds, and trying one tells what is killed, what survives and what has rotted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.machine import PROJECT, Failed
from bench.mutations import Mutation, known, run, table

LEAST = 60

SUM = Mutation(
    "plus", "sums are differences", "vault_tool/__init__.py", "one + other", "one - other", ("tests/test_sum.py::test_of_two",)
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one function and its tests."""
    files = {
        "vault_tool/__init__.py": "def added(one: int, other: int) -> int:\n    return one + other\n",
        "tests/test_sum.py": """import vault_tool

def test_of_two():
    assert vault_tool.added(1, 2) == 3

def test_of_nothing():
    assert vault_tool.added(0, 0) == 0
""",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text)
    return tmp_path


def test_each_text_stands_once_in_its_file_and_each_test_is_there() -> None:
    mutations = known()
    assert len(mutations) >= LEAST
    assert [fault for one in mutations for fault in one.faults(PROJECT)] == []
    assert all(one.tests and one.breaks and one.old != one.new for one in mutations)


def test_the_list_in_the_documents_is_the_list() -> None:
    assert table(known()) in (PROJECT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_what_is_killed_and_what_survives(project: Path) -> None:
    killed, survivor = run([SUM, replace(SUM, tests=("tests/test_sum.py::test_of_nothing",))], project=project)
    assert (killed.killed, killed.failed, killed.hung) == (True, "tests/test_sum.py::test_of_two", False)
    assert (survivor.killed, survivor.failed) == (False, "")
    assert "one + other" in (project / SUM.file).read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"old": "one * other"}, "0 times"),
        ({"old": "one"}, "2 times"),
        ({"file": "vault_tool/gone.py"}, "0 times"),
        ({"tests": ("tests/test_sum.py::test_of_three",)}, "there is no tests/test_sum.py::test_of_three"),
    ],
)
def test_what_has_rotted_is_said_before_anything_is_tried(project: Path, change: dict[str, str], said: str) -> None:
    with pytest.raises(Failed, match=said):
        list(run([replace(SUM, **change)], project=project))  # type: ignore[arg-type]
