from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.consolidation.similar_names import near_pairs, nearness, pair_nearness
from vault_tool.util.text import normal_name

NAMES = st.lists(
    st.sampled_from(
        [
            "redis",
            "redis cache",
            "rediscache",
            "cache redis",
            "homelab",
            "home lab",
            "wealth sim",
            "wealth simulator",
            "cbt",
            "cognitive behavioural therapy",
            "postgres",
            "postgress",
        ]
    ),
    unique=True,
    max_size=8,
)


@given(names=NAMES)
def test_pairs_are_those_that_comparing_all_with_all_finds(names: list[str]) -> None:
    found = {(one, other): score for one, other, score in near_pairs(names)}
    wanted = {pair: score for pair in combinations(sorted(names), 2) if (score := pair_nearness(*pair))}
    assert found == wanted


@given(names=NAMES, of=NAMES)
def test_pairs_of_some_names_are_the_pairs_that_these_are_in(names: list[str], of: list[str]) -> None:
    asked = {name for name in of if name in names}
    wanted = {pair for pair in near_pairs(names) if not asked.isdisjoint(pair[:2])}
    assert set(near_pairs(names, asked)) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Memory system", "memory_systems"),
        ("wealth simulator", "wealth_sim"),
        ("Home lab", "HomeLab"),
        ("system memory", "Memory System"),
        ("CBT", "Cognitive behavioural therapy"),
        ("Postgres", "Postgress"),
    ],
)
def test_forms_of_one_name_are_near(one: str, other: str) -> None:
    assert pair_nearness(normal_name(one), normal_name(other)) >= 0.86
    assert list(near_pairs([normal_name(one), normal_name(other)]))


@pytest.mark.parametrize(("one", "other"), [("Redis", "Postgres"), ("James", "Jane"), ("Home lab", "Homework"), ("", "x")])
def test_other_names_are_not(one: str, other: str) -> None:
    assert nearness(one, other) == 0.0
