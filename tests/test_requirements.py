"""The table of what the vault was asked for: each row has a test that holds it, or a reason to differ."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "requirements.md"
ROWS = 272
OPEN: set[int] = set()
"""What is being built."""
VERDICT = re.compile(r"held|differs: (?P<why>.+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement: what is asked, whether it is met, and the tests that hold it."""

    number: int
    asked: str
    verdict: str
    tests: tuple[str, ...]

    @property
    def faults(self) -> Iterator[str]:
        """What this row lacks."""
        if self.verdict == "open" and self.number in OPEN:
            return
        verdict = VERDICT.fullmatch(self.verdict)
        if verdict is None:
            yield f"the verdict `{self.verdict}` is neither held, nor differs with its reason"
        elif verdict["why"] is not None and len(verdict["why"].split()) < 4:
            yield "it does not say why it differs"
        if not self.tests:
            yield "no test holds it"
        if len(self.asked.split()) < 4:
            yield "it does not say what is asked"
        yield from (f"there is no test `{one}`" for one in self.tests if one not in ids_in(one.partition("::")[0]))


@cache
def ids_in(path: str) -> frozenset[str]:
    """The ids of the tests in a file below `tests/`, read from its syntax and not by running it."""
    file = ROOT / "tests" / path
    if not file.is_file():
        return frozenset()
    body = ast.parse(file.read_text(encoding="utf-8")).body
    classes = [(f"{path}::{node.name}", node.body) for node in body if isinstance(node, ast.ClassDef)]
    return frozenset(
        f"{owner}::{node.name}"
        for owner, nodes in [(path, body), *classes]
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def rows(text: str) -> list[Row]:
    """The rows of the page's tables: `| number | what is asked | verdict | tests |`."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cells) == 4 and cells[0].isdecimal():
            found.append(Row(int(cells[0]), cells[1], cells[2], tuple(re.findall(r"`([^`]+)`", cells[3]))))
    return found


def test_every_requirement_has_a_test_that_holds_it() -> None:
    found = rows(PAGE.read_text(encoding="utf-8"))
    assert [row.number for row in found] == list(range(1, ROWS + 1))
    assert {row.number: faults for row in found if (faults := list(row.faults))} == {}
    asked = [row.asked for row in found]
    assert sorted(asked) == sorted(set(asked)), "no row repeats another"


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("| 1 | A subject has a name. | held | |", "no test holds it"),
        ("| 1 | A subject has a name. | held | `test_requirements.py::test_none` |", "there is no test"),
        ("| 1 | A subject has a name. | held | `none.py::test_none` |", "there is no test"),
        ("| 1 | A subject has a name. | differs: so | {0} |", "why it differs"),
        ("| 1 | A subject has a name. | open | {0} |", "the verdict `open`"),
        ("| 1 | A subject has a name. | not yet: later | {0} |", "the verdict `not yet"),
        ("| 1 | TODO | held | {0} |", "what is asked"),
        ("| 1 | A subject has a name. | held | {0} |", ""),
    ],
)
def test_a_row_that_lacks_something_is_named(line: str, lacks: str) -> None:
    (row,) = rows(line.format("`test_requirements.py::test_every_requirement_has_a_test_that_holds_it`"))
    assert [lacks in fault for fault in row.faults] == ([True] if lacks else [])


def _project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_checker_is_strict_over_everything() -> None:
    match _project():
        case {"tool": {"mypy": {"strict": True, "files": list(files)}}}:
            assert set(files) >= {"vault_tool", "tests"}
        case _:
            pytest.fail("mypy is not strict")
    assert ".venv/bin/mypy" in (ROOT / ".ci" / "run").read_text(encoding="utf-8").split("\n")


def test_the_packages_that_were_chosen_are_declared() -> None:
    match _project():
        case {"project": {"dependencies": list(used), "optional-dependencies": {"dev": list(tested_with)}}}:
            names = [{re.split(r"[^\w-]", one)[0] for one in some} for some in (used, tested_with)]
        case _:
            pytest.fail("the project declares no packages")
    assert {"pyyaml", "chromadb", "watchdog", "click"} <= names[0]
    assert {"pytest", "ollama", "python-frontmatter", "gitpython"} <= names[1]
