"""When a soul or a protocol has drifted, and when it has not."""

from __future__ import annotations

import pytest

from vault_tool.features.consolidation.hygiene import FEWEST_RULES, procedural, protocol_findings, soul_findings, tactical
from vault_tool.generate.starter import starters

SHAPE = (
    "I care about what is so. I would rather look than recall. When I am wrong I am glad to be told.\n\n"
    "Runs of quiet do not worry me. Reading slowly is a way of being kind. I use few words."
)


def test_the_starter_texts_are_as_they_should_be() -> None:
    soul, protocol, _ = (one.body for one in starters())
    assert soul_findings(soul) == [] and protocol_findings(protocol) == []


def test_a_shape_to_inhabit_is_not_procedural() -> None:
    assert procedural(SHAPE) == ()


@pytest.mark.parametrize(
    "text",
    [
        "# Soul\n\n- Tests first.\n- uv, not pip.\n- Squash.\n- No emoji.\n",
        "1. Tests zuerst.\n2) Kein pip.\n3. Squash.\n4. Deutsch.\n",
        "Always run the tests. Never push on a Friday. You must use uv. Make sure that CI is green. I like tea.",
        "* [ ] lint\n* [x] test\n\n```\nmake all\n```\n\n• ship\n",
    ],
)
def test_rows_of_rules_are_procedural(text: str) -> None:
    assert len(procedural(text)) == FEWEST_RULES
    assert [one.sign for one in soul_findings(text)] == ["procedural"]
    assert protocol_findings(text) == []


def test_a_few_rules_in_much_prose_are_a_way_of_speaking() -> None:
    assert procedural(f"{SHAPE}\n\n- Tests first.\n- uv, not pip.\n- Squash.\n") == ()
    assert procedural(f"{SHAPE}\n" * 3 + "- a\n- b\n- c\n- d\n") == ()


def test_what_is_in_a_block_of_code_is_one_rule_whatever_it_holds() -> None:
    assert procedural("```\n- a\n- b\n- c\n- d\n- e\n```\nI care.") == ()


def test_lessons_of_single_sessions_are_tactical_once_they_gather() -> None:
    one = "Redis needs a keepalive, as we saw on 2026-11-20."
    assert tactical(one) == ()
    gathered = f"{SHAPE} {one} Last session the fix was in redis.py at commit 9f3c1e2. I care."
    assert tactical(gathered) == (one, "Last session the fix was in redis.py at commit 9f3c1e2.")
    assert [found.sign for found in soul_findings(gathered)] == ["tactical"]
    assert [found.sign for found in protocol_findings(gathered)] == ["tactical"]
    assert "2026-11-20" in soul_findings(gathered)[0].why


def test_a_finding_is_one_short_line_whatever_the_text_holds() -> None:
    found = soul_findings("- " + "x\u202e\x1b[31m " * 500 + "\n- b\n- c\n- d\n")
    assert len(found) == 1 and len(found[0].why) < 200 and "\n" not in found[0].why


def test_nothing_is_nothing() -> None:
    assert procedural("") == tactical("") == ()
