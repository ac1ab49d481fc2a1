"""Figures: medians, ratios, targets and growth."""

from __future__ import annotations

import pytest

from bench.figure import TARGETS, Figure, growths, slow_one
from bench.rows import chosen, verdicts
from bench.table import amount, figures_table, growth_table


def _figure(name: str, values: tuple[float, ...], floor: tuple[float, ...] = (), notes: int = 100) -> Figure:
    return Figure(name=name, what="a thing", notes=notes, values=values, floor_is="the floor" if floor else "", floor=floor)


def test_a_ratio_is_of_medians_and_decides_a_target() -> None:
    met = _figure("remember", (1.0, 1.5, 9.0), (2.0, 1.0, 0.5), 10_000)
    assert met.ratio == pytest.approx(1.5)
    assert met.ok is True
    missed = _figure("remember", (1.0, 1.6, 9.0), (2.0, 1.0, 0.5), 10_000)
    assert missed.ok is False


def test_an_absolute_target_ignores_the_floor() -> None:
    assert _figure("memory-warm-peak", (536.0,), (1.0,)).ok is True
    assert _figure("memory-warm-peak", (538.0, 539.0), (1000.0,)).ok is False


def test_a_target_holds_up_to_its_size() -> None:
    assert _figure("get", (0.3,), notes=10_000).ok is False
    assert _figure("get", (0.3,), notes=100_000).ok is None
    assert _figure("remember", (2.0,), (1.0,), notes=100_000).ok is False
    assert _figure("remember", (2.0,), (1.0,), notes=1000).ok is True
    assert _figure("remember", (2.6,), (1.0,), notes=300).ok is False


def test_some_targets_are_the_least_that_is_wanted() -> None:
    assert _figure("crowd-write", (4.0,), (1.0,)).ok is True
    assert _figure("crowd-write", (3.9,), (1.0,)).ok is False
    assert "at least 4 x floor" in figures_table([_figure("crowd-write", (4.0,), (1.0,))])


def test_a_row_tells_of_each_of_its_figures_at_each_size_whether_it_is_kept() -> None:
    made = [_figure("remember", (2.0,), (1.0,), notes=300), _figure("remember", (2.0,), (1.0,), notes=10_000)]
    assert [(name, said) for name, _, said in verdicts(made, told=False)] == [
        ("remember", "remember met 2.00@300 MISSED 2.00@10,000")
    ]
    assert {name: said for name, _, said in verdicts(made)}["check"] == "check not measured"


def test_a_row_stands_for_its_figures() -> None:
    assert chosen(["day", "month", "help"], ["month", "help"]) == ("day-second", "day-last", "month", "help")
    with pytest.raises(ValueError, match="night"):
        chosen(["night"], ["month"])


def test_a_larger_vault_may_have_another_target_and_a_ratio_counts_as_it_is_printed() -> None:
    assert _figure("recall-vectors-p95", (6.004,), (1.0,), notes=10_000).ok is True
    assert _figure("recall-vectors-p95", (6.006,), (1.0,), notes=10_000).ok is False
    assert _figure("recall-vectors-p95", (3.1,), (1.0,), notes=100_000).ok is False
    assert _figure("embed-cached", (0.0, 0.0)).ok is True
    assert _figure("embed-cached", (1.0, 1.0)).ok is False


def test_the_slow_one_is_of_twenty_the_slowest_but_one() -> None:
    assert slow_one([float(number) for number in range(20, 0, -1)]) == 19.0


def test_a_figure_without_a_target_is_neither_met_nor_missed() -> None:
    assert "doctor" not in TARGETS
    assert _figure("doctor", (1.0,)).ok is None
    assert _figure("doctor", (1.0,)).to_json()["target"] is None


def test_a_ratio_target_without_a_floor_is_missed() -> None:
    assert _figure("rebuild", (1.0,)).ok is False


def test_growth_is_the_exponent_between_the_ends() -> None:
    named = [_figure("doctor", (0.1,), notes=1000), _figure("doctor", (10.0,), notes=10_000), _figure("get", (1.0,), notes=1000)]
    [found] = growths(named)
    assert (found.name, found.fewer, found.more) == ("doctor", 1000, 10_000)
    assert found.exponent == pytest.approx(2.0)
    assert found.linear is False
    [linear] = growths([_figure("doctor", (0.1,), notes=1000), _figure("doctor", (1.0,), notes=10_000)])
    assert linear.linear is True


def test_tables_have_a_line_for_each_figure_in_columns() -> None:
    lines = figures_table([_figure("help", (0.2,)), _figure("remember", (1.0,), (1.0,))]).split("\n")
    assert len({line.count("|") for line in lines}) == 1
    assert len({len(line) for line in lines}) == 1
    assert "help: a thing" in lines[2]
    assert lines[2].rstrip(" |").endswith("NO")
    assert lines[3].rstrip(" |").endswith("yes")
    assert "2.00" in growth_table(growths([_figure("x", (0.1,), notes=10), _figure("x", (10.0,), notes=100)]))


@pytest.mark.parametrize(("value", "unit", "text"), [(1.234, "s", "1.23 s"), (0.045, "s", "45 ms"), (0.0021, "s", "2.10 ms"),
                                                     (1234.5, "MB", "1,234 MB"), (0.5, "MB", "0.50 MB")])  # fmt: skip
def test_amounts(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text
