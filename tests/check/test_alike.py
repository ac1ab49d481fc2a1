"""Findings that are alike are told once, and nothing is lost of how many there are."""

from __future__ import annotations

import pytest

from vault_tool.check.alike import FEW, MOST, NAMED, told
from vault_tool.model.problems import Problem, Severity, error, note, warning


def _many(count: int, code: str = "edge-shape") -> list[Problem]:
    return [note(f"vault/{code}-{n:04}.md", n, code, f"`x{n}` names {n:08x} in {n} places", "correct it") for n in range(count)]


@pytest.mark.parametrize("count", range(FEW + 1))
def test_a_few_are_told_one_by_one(count: int) -> None:
    found = told(_many(count))
    assert (list(found.problems), found.alike, found.left_out) == (_many(count), (), 0)


def test_many_of_a_kind_are_one_line_with_their_number_and_the_first_files() -> None:
    found = told([*_many(800), warning("vault/a.md", 0, "page", "alone", "adopt it")])
    assert [one.message for one in found.problems] == ["alone"]
    (kind,) = found.alike
    assert (kind.code, kind.severity, kind.count, len(kind.paths)) == ("edge-shape", Severity.NOTE, 800, NAMED)
    assert "800 alike: " in kind.as_problem.message and kind.as_problem.path.endswith(f" and {800 - NAMED} more")


def test_one_code_that_says_different_things_is_told_apart() -> None:
    sources = [warning(f"vault/{n}.md", 0, "dangling-reference", f"`sources` names {n:06x}, lost") for n in range(19)]
    both = [warning(f"vault/{n}.md", 0, "dangling-reference", "both ends are lost") for n in range(19)]
    assert [one.count for one in told([*sources, *both]).alike] == [19, 19]


def test_the_same_message_of_two_severities_is_told_apart() -> None:
    mixed = [severity(f"vault/{n}.md", 0, "odd", "the same") for n in range(15) for severity in (error, note)]
    assert [(one.severity, one.count) for one in told(mixed).alike] == [(Severity.ERROR, 15), (Severity.NOTE, 15)]


@pytest.mark.parametrize("kinds", [40, 99, 100, 101, 500])
def test_what_is_beyond_the_most_is_counted_and_errors_are_told_first(kinds: int) -> None:
    several = [one for n in range(kinds) for one in _many(1 + n % 16, f"code{n}")]
    worst = [error("vault/zz.md", 0, "last", "by its path")]
    found = told([*several, *worst])
    lines = len(found.problems) + len(found.alike)
    assert lines <= MOST and worst[0] in found.problems
    assert len(found.problems) + sum(one.count for one in found.alike) + found.left_out == len(several) + 1
