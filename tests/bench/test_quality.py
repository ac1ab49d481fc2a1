from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.precision import make_own_vault, own_questions, silence
from bench.questions import identity, make_vault, sets_in
from bench.ranking import Bm25, Fts5, fused, measure
from vault_tool import Vault


def test_measures_are_those_of_the_textbook() -> None:
    found = measure([(["a", "b"], ["x", "a", "y", "b"]), (["c"], ["z"])])
    assert found.questions == 2
    assert found.recall[5] == pytest.approx(0.5)
    assert found.mrr == pytest.approx(0.25)
    assert found.ndcg == pytest.approx((0.6309 + 0.4307) / 1.6309 / 2, abs=1e-3)
    assert found.low <= found.recall[10] <= found.high


def test_bm25_prefers_rare_words_in_short_texts() -> None:
    ranker = Bm25({"short": "red ice", "long": "red ice " + "and more of it " * 30, "other": "red"}, str.split)
    assert ranker.ranked("ice", 3) == ["short", "long"]


def test_fusion_by_ranks_rewards_agreement() -> None:
    assert fused([["a", "b", "c"], ["b", "c", "a"]], 2)[0] == "b"


def test_a_conversation_becomes_a_vault_of_what_was_said(tmp_path: Path) -> None:
    rows = [
        {"id": f"r{n}", "conv": "c", "text": text, "time": "2026-01-01", "speaker": who, "subjects": [who], "session": "s"}
        for n, (who, text) in enumerate((("Ada", "Where is it?"), ("Bo", "Under the quartz.")))
    ]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    query = {"id": "q", "conv": "c", "question": "where?", "evidence_ids": ["r1"], "category": "x"}
    (tmp_path / "queries.jsonl").write_text(json.dumps(query) + "\n")
    [one] = sets_in(tmp_path)
    make_vault(tmp_path / "v", "c", one.conversations["c"])
    with Vault.open(tmp_path / "v") as vault:
        assert not vault.doctor().problems
        entry = vault.index.catalog.get(identity("r1"))[0]
        assert entry.subjects == ("Bo",)
        assert (entry.text("session"), entry.text("turn")) == ("s", "1")


def test_words_alone_keep_silent_on_most_of_what_the_small_vault_does_not_hold(tmp_path: Path) -> None:
    make_own_vault(tmp_path / "own")
    answered, unanswered = own_questions()
    assert len(unanswered) >= 60
    with Vault.open(tmp_path / "own") as vault:
        vault.fresh()
        vault.is_current = lambda: True
        absent = silence([(vault, question) for question in unanswered])
        there = silence([(vault, question) for question in answered])
    assert absent.silent >= 0.9
    assert absent.weak >= 0.8
    assert there.silent <= 0.3


def test_fts5_passes_over_the_words_that_make_a_question() -> None:
    told, asked, quoted = "the harbors were dredged", "what did you do when it was there", 'a "harbor" and a lot else of it'
    ranker = Fts5({"asked": asked, "told": told, "quoted": quoted})

    assert ranker.ranked("When did they dredge the harbor?", 2) == ["told", "quoted"]
    assert ranker.ranked("What did you do?", 5) == [] and ranker.ranked('"', 5) == []
