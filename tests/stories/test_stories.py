"""What comes to mind of a page of conversation and of each turn of one, and whether a synthesis stands first; by words alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.stories import told
from vault_tool import Vault
from vault_tool.recall.question import PAGE_WORDS
from vault_tool.util.clock import FixedClock
from vault_tool.verbs.recall.recall import SubjectView
from vault_tool.verbs.sessions.ambient import Reminders

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


class Story:
    """A story with its vault, and the names that it has for its memories."""

    def __init__(self, name: str, root: Path) -> None:
        self.told: dict[str, Any] = told.read(name)
        told.write(root, self.told)
        self.vault = Vault.open(root, clock=FixedClock(NOW))
        self.names = {told.identity(one): one for one in self.told["known"]}

    def brought(self, found: Reminders) -> list[str]:
        """What came to mind, by name, best first."""
        return [self.names[one.id] for one in found.results]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Twenty pages of conversation that each mention two things."""
    story = Story("contexts", tmp_path_factory.mktemp("pages") / "vault")
    yield story
    story.vault.close()


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Forty turns of a conversation, and questions."""
    story = Story("turns", tmp_path_factory.mktemp("turns") / "vault")
    yield story
    story.vault.close()


def test_a_page_of_conversation_brings_what_it_mentions(pages: Story) -> None:
    brought = others = 0
    missed = []
    assert len(pages.told["context"]) == 20
    for page in pages.told["context"]:
        assert 100 <= len(page["text"].split()) <= 400
        found = pages.brought(pages.vault.bring_to_mind(page["text"]))
        there = [name for name in page["mentions"] if name in found]
        brought += len(there)
        others += len(found) - len(there)
        missed += [name for name in page["mentions"] if name not in found]
    assert brought >= 36, missed
    assert others <= 10


def test_a_page_that_mentions_four_things_brings_most_of_them(pages: Story) -> None:
    brought = 0
    several = pages.told["context"]
    for one, other in zip(several[::2], several[1::2], strict=True):
        found = pages.brought(pages.vault.bring_to_mind(one["text"] + other["text"]))
        brought += len({*one["mentions"], *other["mentions"]} & set(found))
    assert brought >= 34


def test_a_page_asked_for_is_read_in_sentences_too(pages: Story) -> None:
    """Who hands a page to `recall` gets what it mentions first."""
    first = 0
    for page in pages.told["context"]:
        assert len(page["text"].split()) > PAGE_WORDS
        answer = pages.vault.recall(page["text"])
        assert not isinstance(answer, SubjectView)
        first += len({pages.names[one.id] for one in answer.results[:4]} & set(page["mentions"]))
    assert first >= 34


def test_forty_turns_bring_what_bears_on_them_and_nothing_else(turns: Story) -> None:
    quiet = right = 0
    noise, missed = [], []
    for turn in turns.told["turn"]:
        found = turns.brought(turns.vault.bring_to_mind(turn["text"]))
        if "right" not in turn:
            quiet += not found
            noise += found
        elif set(turn["right"]) & set(found):
            right += 1
        else:
            missed.append(turn["text"])
    assert (len(turns.told["turn"]), quiet, noise) == (40, 11, [])
    assert right >= 24, missed


def test_a_question_for_the_whole_has_its_synthesis_first(turns: Story) -> None:
    asked = unprompted = 0
    missed = []
    for question in turns.told["question"]:
        answer = turns.vault.recall(question["text"])
        assert not isinstance(answer, SubjectView)
        first = turns.names[answer.results[0].id]
        asked += first == question["right"]
        missed += [(question["text"], first)] if first != question["right"] else []
        unprompted += turns.brought(turns.vault.bring_to_mind(question["text"]))[:1] == [question["right"]]
    assert (len(turns.told["question"]), asked >= 19, unprompted >= 17) == (21, True, True), missed


def test_forty_turns_send_at_most_three_times_the_memory_text_that_they_carry(turns: Story) -> None:
    """The lean form of all answers of one session, as an agent is sent them, beside the texts of what they brought."""
    with Vault.open(turns.vault.root, session="one", clock=FixedClock(NOW)) as vault:
        token, sent, carried = None, 0, 0
        for turn in turns.told["turn"]:
            found = vault.bring_to_mind(turn["text"], token)
            token = found.heartbeat_token
            lean = found.lean(lambda identity: identity[:6])
            sent += len(orjson.dumps(lean).decode())
            carried += sum(len(one["content"]) + len(one.get("title", "")) for one in lean["results"])
    assert carried > 2000
    assert sent <= 3 * carried, (sent, carried)
