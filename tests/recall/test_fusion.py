from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.recall.candidates import candidate
from vault_tool.recall import fusion
from vault_tool.recall.weights import TARGETED


def test_words_count_as_a_share_of_the_best_and_meaning_by_deviations() -> None:
    best, half, near = candidate("best", words=0.8), candidate("half", words=0.4), candidate("near", cosine=2.0)
    fusion.fuse([best, half, near], TARGETED)
    assert best.strength == TARGETED.words
    assert half.strength == TARGETED.words / 2
    assert near.strength == 2 * TARGETED.meaning


def test_without_words_nothing_is_divided() -> None:
    one = candidate("one", cosine=1.0)
    fusion.fuse([one], TARGETED)
    assert one.strength == TARGETED.meaning


def test_a_short_memory_borrows_of_its_neighbours_and_a_long_one_does_not() -> None:
    asked, answer, essay = candidate("asked", words=1.0), candidate("answer", length=5), candidate("essay", length=900)
    fusion.fuse([asked, answer, essay], TARGETED)
    fusion.boost_neighbours([{4: answer, 5: asked, 6: essay}], TARGETED)
    assert 0.9 * TARGETED.beside * asked.strength < answer.rank < TARGETED.beside * asked.strength
    assert essay.rank == 0


def test_all_sides_lend_and_the_nearest_most() -> None:
    hit, weak, between, far = candidate("hit", words=1.0), candidate("weak", words=0.5), candidate("between"), candidate("far")
    fusion.fuse([hit, weak, between, far], TARGETED)
    fusion.boost_neighbours([{2: hit, 3: between, 4: weak, 6: far}], TARGETED)
    assert between.rank > 0.9 * TARGETED.beside * (hit.strength + weak.strength)
    assert between.rank > far.rank > 0


def test_what_a_memory_borrows_does_not_depend_on_who_borrowed_before() -> None:
    hit, one, other, apart = candidate("hit", words=1.0), candidate("one"), candidate("other"), candidate("apart")
    fusion.fuse([hit, one, other, apart], TARGETED)
    fusion.boost_neighbours([{0: hit, 1: one, 3: other}, {0: apart}], TARGETED)
    assert one.rank > 0
    assert other.rank == apart.rank == 0


def test_a_session_is_lifted_by_its_best_in_its_own_vault_alone() -> None:
    hit, beside = candidate("hit", words=1.0, session="s1"), candidate("beside", session="s1")
    elsewhere, none = candidate("elsewhere", session="s2"), candidate("none")
    pool = [hit, beside, elsewhere, none]
    fusion.fuse(pool, TARGETED)
    fusion.lift_sessions(pool, TARGETED)
    assert beside.rank == TARGETED.session * hit.strength
    assert elsewhere.rank == none.rank == 0


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(-5, 8)), min_size=1, max_size=30))
def test_more_of_either_lane_never_ranks_lower(values: list[tuple[float, float]]) -> None:
    pool = [candidate(str(number), words=words, cosine=cosine) for number, (words, cosine) in enumerate(values)]
    fusion.fuse(pool, TARGETED)
    for one in pool:
        for other in pool:
            if one.words >= other.words and (one.cosine or 0) >= (other.cosine or 0):
                assert one.strength >= other.strength - 1e-9
