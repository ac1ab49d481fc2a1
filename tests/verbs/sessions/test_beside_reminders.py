"""What comes with a reminder: the evidence for an understanding, its generation, and the note for a context that is cut short."""

from __future__ import annotations

from datetime import timedelta

import pytest

from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git


def _understood(vault: Vault, clock: FixedClock, subject: str, said: list[str], text: str) -> str:
    """An understanding of what was said, in a vault that knows other things too."""
    sources = [vault.remember(one, [subject]).id for one in said]
    made = vault.create_understanding([subject], text, text, source_observation_ids=sources).id
    for number in range(5):
        vault.remember(f"Tulip bed {number} of the garden was weeded.", ["Garden"])
    clock.advance(timedelta(days=1))
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("subject", "text", "evidence", "topic"),
    [
        ("Redis", "Redis evicts keys at night since its memory is too small.", "Ops measured 900 MB of resident set on Tuesday.",
         "redis evicts keys at night again, its memory is small"),
        ("Ferry", "The ferry to Hiiu is late whenever the wind is from the west.", "Nobody of the crew was ill in March.",
         "is the ferry to Hiiu late in the west wind?"),
    ],
)  # fmt: skip
def test_evidence_comes_with_its_understanding(
    vault: Vault, clock: FixedClock, subject: str, text: str, evidence: str, topic: str
) -> None:
    understood = _understood(vault, clock, subject, [f"{text[:-1]}, case {number}." for number in range(3)], text)
    found = vault.remember(evidence, ["Log"], related_to=[understood]).id
    other = vault.remember("The cat of the harbour master had kittens.", ["Log"]).id
    answered = vault.recall(topic)
    assert isinstance(answered, Bundle)
    for results in (answered.results, vault.bring_to_mind(topic).results):
        assert [one.of for one in results if one.id == found] == [understood]
        assert other not in [one.id for one in results]
    # Where the understanding does not come, nothing comes with it.
    assert found not in [one.id for one in vault.bring_to_mind("the tulip bed 3 of the garden was weeded").results]


def test_a_tool_says_that_it_can_be_dropped_and_of_which_generation_it_is(vault: Vault, clock: FixedClock) -> None:
    vault.remember("Kelp grows on the harbour wall.", ["Kelp"])
    vault.remember("Kelp was cut on Monday.", ["Kelp"])
    vault.remember("Kelp dries in the sun.", ["Kelp"])
    vault.begin_consolidation()
    vault.end_consolidation()
    vault.remember("Kelp of the harbour wall tastes of salt.", ["Kelp"])
    clock.advance(timedelta(days=1))
    said = answer(vault, "bring_to_mind", {"topic_or_context": "kelp of the harbour wall tastes of salt"}, Caller(session="s"))
    assert said["compaction_note"].startswith("DISPOSABLE")
    assert said["results"][0]["generation"] == 1
