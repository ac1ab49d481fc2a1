"""Batches that go wrong: only the bad text is refused, the calls are bounded, and what is no vector never gets through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.batching import GIVE_UP, PLAIN, BadBatch, in_batches

NAN, INF = float("nan"), float("inf")
BAD_ROWS: list[list[float]] = [[], [1.0], [1.0, NAN, 0.0], [INF, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0] * 4]


class Model:
    """Answers three numbers a text; declines whole batches with a text that is in `bad`."""

    def __init__(self, bad: frozenset[str] = frozenset(), few: bool = False) -> None:
        self.bad = bad
        self.few = few
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        wrong = [text for text in texts if text in self.bad]
        if wrong and not self.few:
            raise BadBatch(f"cannot do {wrong[0]}")
        return [[0.0 if text == PLAIN else float(text), 1.0, 2.0] for text in texts if text not in self.bad]


@settings(deadline=None)
@given(st.integers(0, 40), st.sets(st.integers(0, 39), max_size=GIVE_UP - 1), st.integers(1, 16), st.booleans())
def test_exactly_the_bad_texts_are_refused_and_the_rest_is_right(count: int, bad: set[int], size: int, few: bool) -> None:
    texts = [str(number) for number in range(count)]
    model = Model(frozenset(map(str, bad)), few)
    done = in_batches(texts, model, size, None, "it")
    assert set(done.refused) == {number for number in bad if number < count}
    for number in range(count):
        wanted = np.array([number, 1.0, 2.0]) / np.sqrt(number**2 + 5)
        assert np.allclose(done.vectors[number], 0 if number in done.refused else wanted, atol=1e-6)
    assert model.calls <= 2 * max(count, 1)


def test_a_provider_that_can_do_nothing_is_given_up() -> None:
    texts = [str(number) for number in range(50)]
    model = Model(frozenset([*texts, PLAIN]))
    with pytest.raises(EmbeddingUnavailable, match="it does no text: cannot do"):
        in_batches(texts, model, 50, None, "it")
    assert model.calls <= 20


@pytest.mark.parametrize("row", BAD_ROWS)
@pytest.mark.parametrize("at", [0, 1])
def test_a_row_that_is_no_vector_is_refused_alone(row: list[float], at: int) -> None:
    rows = [[1.0, 2.0, 2.0]] * 3
    rows[at] = row
    done = in_batches(["a", "b", "c"], lambda texts: rows, 50, None, "it")
    assert list(done.refused) == [at]
    assert np.isfinite(done.vectors).all()
    assert done.vectors.shape == (3, 3)


def test_the_size_that_is_known_counts() -> None:
    wrong, right = [1.0, 0.0], [1.0, 0.0, 0.0]
    with pytest.raises(EmbeddingUnavailable, match="has 2 numbers where 3 belong"):
        in_batches(["a", "b"], lambda texts: [wrong] * len(texts), 50, 3, "it")
    done = in_batches(["a", "b"], lambda texts: [right if text == PLAIN else wrong for text in texts], 50, 3, "it")
    assert set(done.refused) == {0, 1}
    assert done.vectors.shape == (2, 3)


def test_vectors_wider_than_any_are_not_taken() -> None:
    with pytest.raises(EmbeddingUnavailable, match="makes vectors of 200,000 numbers"):
        in_batches(["a"], lambda texts: [[0.5] * 200_000], 50, None, "it")


def test_a_number_beyond_any_is_refused() -> None:
    rows = {"a": [10**400, 1], "b": [1, 1]}
    assert list(in_batches(["a", "b"], lambda texts: [rows[text] for text in texts], 50, None, "it").refused) == [0]


def test_no_texts_no_calls() -> None:
    model = Model()
    assert in_batches([], model, 50, None, "it").vectors.shape == (0, 0)
    assert model.calls == 0


@pytest.mark.parametrize("row", [["a", "b", "c"], [None, 1.0, 2.0], [[1.0], [2.0], [3.0]], "abc", 3.0])
def test_what_is_no_number_is_refused(row: object) -> None:
    rows: Any = {"a": [1.0, 0.0, 0.0], "b": row}
    done = in_batches(["a", "b"], lambda texts: [rows[text] for text in texts], 50, None, "it")
    assert list(done.refused) == [1]
    assert np.isfinite(done.vectors).all()


def test_huge_numbers_are_a_direction_too() -> None:
    done = in_batches(["a"], lambda texts: [[1e300, 1e300]], 50, None, "it")
    assert np.allclose(done.vectors[0], np.sqrt(0.5))
