from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_tool.recall.select import CopyText, pick, within_budget
from vault_tool.recall.weights import TARGETED

COPY = "Redis connections drop after ten idle minutes behind the proxy"


def test_exact_copies_are_one_result_for_which_the_newest_stands() -> None:
    ranked = [
        CopyText(1, COPY, same="a", stands=(1,)), CopyText(2, COPY, same="a", stands=(3,)), CopyText(3, "Something else"),
        CopyText(4, COPY.upper()), CopyText(5, COPY, same="a", stands=(2,)),
    ]  # fmt: skip
    assert [(kept.of, kept.folded) for kept in pick(ranked, 5, TARGETED)] == [(2, (1, 5)), (3, ()), (4, ())]
    assert [(kept.of, kept.folded) for kept in pick(ranked, 1, TARGETED)] == [(2, (1, 5))]


def test_one_source_floods_no_answer_with_its_lookalikes() -> None:
    flood = [CopyText(n, f"The vendor promises that product number{n} is best product of all", "import\ns1\n") for n in range(10)]
    honest = [CopyText(100 + n, f"Honest memory {word}", "agent\ns2\n") for n, word in enumerate(("alpha", "beta", "gamma"))]
    kept = [one.of for one in pick([*flood, *honest], 6, TARGETED)]
    assert sum(of < 100 for of in kept) == 3
    assert {100, 101, 102} <= set(kept)


def test_what_a_person_wrote_or_reviewed_is_no_flood() -> None:
    own = [CopyText(n, f"The vendor promises that product number{n} is best product of all") for n in range(6)]
    assert [one.of for one in pick(own, 4, TARGETED)] == [0, 1, 2, 3]


def test_what_is_held_back_fills_what_room_is_left() -> None:
    flood = [CopyText(n, f"The vendor promises that product number{n} is best product of all", "import\ns1\n") for n in range(6)]
    assert len(pick(flood, 4, TARGETED)) == 4


@given(st.lists(st.text("abc ", max_size=20), max_size=20), st.integers(1, 8))
def test_never_more_than_asked_and_the_best_is_always_first(texts: list[str], limit: int) -> None:
    kept = pick([CopyText(number, text, "s") for number, text in enumerate(texts)], limit, TARGETED)
    assert len(kept) <= limit
    assert not texts or kept[0].of == 0
    assert len({one.of for one in kept}) == len(kept)


def test_a_budget_cuts_the_tail_and_shortens_a_first_that_is_too_long() -> None:
    def fitting(costs: list[int], budget: int | None) -> list[int]:
        return within_budget(costs, budget, lambda cost: cost, lambda _, most: most if most > 10 else None)

    assert fitting([50, 30, 30], 80) == [50, 30]
    assert fitting([500, 3], 80) == [80]
    assert fitting([500, 3], 10) == []
    assert fitting([500, 3], None) == [500, 3]
