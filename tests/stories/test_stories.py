"""What comes to mind of a page of conversation and of each turn of one, and whether a synthesis stands first; by words alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.stories import told
from vault_tool import Vault
from vault_tool.features.recall.recall import SubjectView
from vault_tool.features.sessions.ambient import Reminders
from vault_tool.recall.question import PAGE_WORDS
from vault_tool.util.clock import FixedClock
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
MODELS = os.environ.get("VAULT_TEST_MODELS", "")

by_meaning = pytest.mark.skipif(not MODELS, reason="VAULT_TEST_MODELS names no folder with the local model")


class Story:
    """A story with its vault, and the names that it has for its memories."""

    def __init__(self, story: dict[str, Any], root: Path, provider: str = "none") -> None:
        self.told = story
        told.write(root, self.told)
        self.environ = {"VAULT_PROVIDER": provider, "VAULT_MODELS": MODELS, "HOME": str(root.parent)}
        self.vault = Vault.open(root, clock=FixedClock(NOW), environ=self.environ)
        self.vault.embedding.vectors.catch_up()
        self.names = {told.identity(one): one for one in self.told["known"]}

    def brought(self, found: Reminders) -> list[str]:
        """What came to mind, by name, best first."""
        return [self.names[one.id] for one in found.results]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Twenty pages of conversation that each mention two things."""
    story = Story(told.read("contexts"), tmp_path_factory.mktemp("pages") / "vault")
    yield story
    story.vault.close()


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Forty turns of a conversation, and questions."""
    story = Story(told.read("turns"), tmp_path_factory.mktemp("turns") / "vault")
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


def _turns(story: Story, session: str = "") -> tuple[int, int, list[str], list[str]]:
    """In how many turns nothing came where nothing is, and something right where something is; the noise, and what missed."""
    quiet = right = 0
    noise: list[str] = []
    missed: list[str] = []
    token = None
    with Vault.open(story.vault.root, session=session, clock=FixedClock(NOW), environ=story.environ) as vault:
        for turn in story.told["turn"]:
            answer = vault.bring_to_mind(turn["text"], token)
            token = answer.heartbeat_token
            found = story.brought(answer)
            if "right" not in turn:
                quiet += not found
                noise += found
            elif set(turn["right"]) & set(found):
                right += 1
            else:
                missed.append(turn["text"])
    assert len(story.told["turn"]) == 40
    return quiet, right, noise, missed


def test_forty_turns_bring_what_bears_on_them_and_nothing_else(turns: Story) -> None:
    quiet, right, noise, missed = _turns(turns)
    assert (quiet, noise) == (11, [])
    assert right >= 28, missed


def test_forty_turns_of_one_session_bring_something_new_that_bears_on_them(turns: Story) -> None:
    """Nothing is shown twice: where all that bears on a turn was shown in the one before, it brings nothing."""
    quiet, right, noise, missed = _turns(turns, session="one conversation")
    assert (quiet, noise) == (11, [])
    assert right >= 25, missed


@by_meaning
def test_by_meaning_too_pages_and_turns_bring_what_they_mention(tmp_path: Path) -> None:
    story = Story(told.read("contexts"), tmp_path / "pages", "local")
    brought = others = 0
    for page in story.told["context"]:
        found = set(story.brought(story.vault.bring_to_mind(page["text"])))
        brought += len(found & set(page["mentions"]))
        others += len(found - set(page["mentions"]))
    story.vault.close()
    assert brought >= 38
    assert others <= 6
    story = Story(told.read("turns"), tmp_path / "turns", "local")
    alone, session = _turns(story), _turns(story, session="one conversation")
    story.vault.close()
    assert (alone[0], alone[2], session[0]) == (11, [], 11)
    assert alone[1] >= 27, alone[3]
    assert session[1] >= 23, session[3]


_TALK = (
    "Awesome! It sounds like you found a great place, and all your loved ones came to celebrate with you.",
    "It was a week full of laughs, high fives and personal growth for everybody at the camp.",
    "Bummer. Rejections hurt, but keep at it and you will find the perfect opportunity.",
    "We took a road trip to the coast and walked along the beach until the light was gone.",
    "My sister is reading a book about gardens, she wants to grow tomatoes next spring.",
    "Thanks so much! Your support means the world to me and the kids.",
    "I made a cake for the party, and somebody had put a photo of the dog on the table.",
    "That reminds me of the concert last summer, the guitar was far too loud.",
    "Do you still paint on Sundays, or has work taken over?",
    "I'm pushing on though. Talk soon!",
)
"""What friends say to each other, of which a folder of technical notes knows nothing."""


def test_small_talk_brings_nothing_of_a_folder_of_technical_notes(tmp_path: Path) -> None:
    """Not even where its words are rare there, or stand in one long page that has most words of the language."""
    what = ("column", "branch", "cache", "header", "socket", "cursor", "index", "commit", "worker", "schema", "buffer", "regex")
    how = ("Rename", "Inspect", "Reset", "List", "Compare", "Generate", "Lock", "Trace", "Merge", "Limit")
    plain = ("walk", "book", "party", "light", "loved", "table", "coast", "photo", "camp", "garden", "guitar", "paint", "trip")
    texts = {
        f"{verb} {one}": f"{verb} a {one} from the shell. The {plain[at] if n == at else one} flag prints its {what[at - 5]}."
        for n, verb in enumerate(how)
        for at, one in enumerate(what)
    }
    texts["all"] = " ".join(f"On how a {word} and a {what[at % 12]} fit together." for at, word in enumerate(plain * 8))
    texts["vacuum"] = "Autovacuum of Postgres is set per table where many rows are deleted at night."
    known = {name: {"subjects": ["notes"], "kind": "fact", "text": text} for name, text in texts.items()}
    story = Story({"known": known}, tmp_path / "notes")
    brought = [story.brought(story.vault.bring_to_mind(text)) for text in _TALK]
    right = story.brought(story.vault.bring_to_mind("should I set the autovacuum of our Postgres per table?"))
    story.vault.close()
    assert brought == [[]] * len(_TALK)
    assert right[:1] == ["vacuum"]


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
    with Vault.open(turns.vault.root, session="one", clock=FixedClock(NOW), environ=turns.environ) as vault:
        token, sent, carried = None, 0, 0
        for turn in turns.told["turn"]:
            found = vault.bring_to_mind(turn["text"], token)
            token = found.heartbeat_token
            lean = found.lean(lambda identity: identity[:6])
            sent += len(orjson.dumps(lean).decode())
            carried += sum(len(one["content"]) + len(one.get("title", "")) for one in lean["results"])
    assert carried > 2000
    assert sent <= 3 * carried, (sent, carried)


def test_an_answer_of_two_memories_is_whole(tmp_path: Path) -> None:
    story = Story(_all_told(), tmp_path / "vault")
    whole = _whole(story)
    assert [whole[via] for via in ("edge", "problem", "change", "subject")] == [10, 5, 5, 10], "a link or a subject leads there"


@by_meaning
def test_by_meaning_the_second_memory_is_found_for_itself_and_steps_add_nothing(tmp_path: Path) -> None:
    story = Story(_all_told(), tmp_path / "vault", "local")
    whole = _whole(story)
    assert sum(whole.values()) >= 38
    assert _whole(story, hops=2) == whole


def _all_told() -> dict[str, Any]:
    """Forty questions for two memories each, in a vault of some two hundred that knows the other stories as well."""
    story = told.read("steps")
    for name in ("contexts", "turns", "others"):
        known = told.read(name)["known"]
        renamed = {one: f"{name} {one}" for one in known}
        for one, memory in known.items():
            problem = {"problem": renamed[memory["problem"]]} if "problem" in memory else {}
            story["known"][renamed[one]] = memory | problem | {"sources": [renamed[s] for s in memory.get("sources", ())]}
    return story


def _whole(story: Story, hops: int = 0) -> Counter[str]:
    """How many questions have both of their memories among the first ten, by what leads from one to the other."""
    found: Counter[str] = Counter()
    for step in story.told["steps"]:
        results = gather(story.vault, Query(query=step["ask"], hops=hops, limit=10)).results
        found[step["via"]] += {*step["needs"]} <= {story.names[one.id] for one in results}
    return found
