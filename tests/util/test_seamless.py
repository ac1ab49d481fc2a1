"""Which pairs of letters a question asks for, in scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.util.seamless import AskedPairs, asked_pairs, frames_only, is_letter, names_within


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("我哪里受伤了", AskedPairs((("受伤",),), (), ())),
        ("我最近去哪个公园玩了", AskedPairs((("公园", "园玩"),), (), ())),
        ("我的猫呢", AskedPairs((), ("猫",), ())),
        ("我买了吉他吗", AskedPairs((), ("买", "吉"), ())),
        ("どこの海に行きましたか", AskedPairs((), ("海", "行"), ("行き",))),
        ("りんごを焼きましたか", AskedPairs((), ("焼",), ("りん", "んご", "焼き"))),
    ],
)
def test_what_frames_a_question_is_left_out(question: str, asked: AskedPairs) -> None:
    assert asked_pairs(question) == asked


def test_where_all_of_it_frames_all_of_it_is_asked() -> None:
    assert asked_pairs("你是谁") == AskedPairs((("你是", "是谁"),), (), ())
    assert frames_only("你是谁") and not frames_only("你是老师")


@given(st.text(st.sampled_from("我猫公园的什么海にりん고양이ไหม東京"), min_size=2, max_size=12))
def test_each_pair_is_one_of_the_run(run: str) -> None:
    asked = asked_pairs(run)
    pairs = {run[at : at + 2] for at in range(len(run) - 1)}
    assert pairs.issuperset(pair for word in asked.words for pair in word) and pairs.issuperset(asked.bending)
    assert set(run).issuperset(asked.alone) and (asked.words or asked.alone or asked.bending)


def test_letters_and_names() -> None:
    assert is_letter("猫") and not is_letter("a") and not is_letter("猫叫")
    assert {"小雨", "雨喜", "小雨喜欢"} <= set(names_within("小雨喜欢什么？"))
