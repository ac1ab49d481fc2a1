from __future__ import annotations

import pytest

from vault_tool.recall.doubt import NOTHING_STANDS_OUT, lacking, proper_names, reason


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("What did Anna say about Carlos's boat?", ("anna", "carlos")),
        ("where is the boat? Is Miro there", ("miro",)),
        ("Which Redis setting drops connections", ("redis",)),
        ("Anna", ()),
        ("How We Deploy To Production", ()),
        ("WHO TOOK THE KEY", ()),
        ("what happened on Monday in May", ()),
        ("did I tell you Why it fails", ()),
        ("Wo liegt der Schlüssel für den Keller?", ()),
    ],
)
def test_names_are_what_only_names_are_written_like(asked: str, names: tuple[str, ...]) -> None:
    assert proper_names(asked) == names


def test_a_name_written_apart_or_in_the_singular_is_there() -> None:
    assert lacking("All classes of active record, by the Miller family", ("activerecord", "millers", "redis")) == ("redis",)


def test_the_reason_is_what_would_have_to_be_otherwise() -> None:
    assert reason(("redis", "869869919842"), 3, 3, crowded=True) == "no word of *redis*, *869869919842*"
    assert reason((), 2, 5, crowded=False) == "only 2 of 5 words"
    assert reason((), 0, 2, crowded=False) == "no word of the question"
    assert reason((), 2, 5, crowded=True) == reason((), 5, 5, crowded=False) == NOTHING_STANDS_OUT
