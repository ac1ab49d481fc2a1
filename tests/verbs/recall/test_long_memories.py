"""Memories that are longer than an answer may be: what is shown is what matched, within the budget, and says that it is cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.verbs.looking import START, fails
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.recall.recall import Bundle, SubjectView
from vault_tool.recall.passage import parts
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import PART, tokens

pytestmark = pytest.mark.without_git

FILLER = "The ferry came in at noon, and everybody went ashore. "
WANTED = "The winch of the quagga pontoon takes oil of grade 46. "
IN_CHINESE = "绞车使用四十六号油。"
ASKED = "what oil does the winch of the quagga pontoon take?"


def short(identity: str) -> str:
    return identity[:6]


def sent(answer: Any) -> int:
    return tokens(orjson.dumps(answer.lean(short)).decode())


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    root = tmp_path_factory.mktemp("long") / "vault"
    clock = FixedClock(START)
    Vault.init(root, name="Lab", no_git=True, clock=clock)
    with Vault.open(root, clock=clock) as vault:
        vault.remember(f"# Log of the harbour\n\n{FILLER * 400}\n\n{WANTED}\n\n{FILLER * 400}", ["Harbour"], title="Harbour log")
        vault.remember("日志。" + "船在中午进港。" * 900 + IN_CHINESE + "船在中午进港。" * 900, title="港口日志")
        vault.remember(
            "Drain the bilge first.", kind="procedure", title="Bilge of the okapi barge",
            steps=[f"Turn valve {number} of the okapi barge. {FILLER * 4}" for number in range(60)],
        )  # fmt: skip
        yield vault


@pytest.mark.parametrize("budget", [120, 200, 700])
@pytest.mark.parametrize(("query", "wanted"), [(ASKED, WANTED.strip()), ("绞车使用什么油？", IN_CHINESE)])
def test_a_budget_binds_the_first_result_and_shows_what_matched(told: Vault, query: str, wanted: str, budget: int) -> None:
    found = told.recall(query, budget=budget)
    assert isinstance(found, Bundle)
    first = found.results[0]
    assert sum(map(sent, found.results)) <= budget
    assert wanted in first.content
    assert "characters, of part" in first.cut
    assert found.best_answer is None or found.best_answer.content == first.content
    assert first.lean(short)["cut"] == first.cut


def test_what_comes_to_mind_is_bounded_alike(told: Vault) -> None:
    found = told.bring_to_mind(ASKED, budget=150)
    assert found.results and sum(map(sent, found.results)) <= 150
    assert WANTED.strip() in found.results[0].content


def test_steps_that_have_no_room_are_said_to_be_left_out(told: Vault) -> None:
    found = told.recall("how is the bilge of the okapi barge drained?", budget=120)
    assert isinstance(found, Bundle)
    assert sent(found.results[0]) <= 120
    assert (found.results[0].content, dict(found.results[0].details)) == ("Drain the bilge first.", {})
    assert found.results[0].cut == "without its details"


def test_a_budget_that_has_room_for_no_name_gives_nothing(told: Vault) -> None:
    found = told.recall(ASKED, budget=5)
    assert isinstance(found, Bundle) and not found.results


def test_what_is_understood_of_a_subject_is_bounded_too(root: Path, clock: FixedClock) -> None:
    with Vault.open(root, clock=clock) as vault:
        vault.remember("The harbour has a crane.", ["Harbour"])
        vault.create_understanding(["Harbour"], f"The harbour is open. {FILLER * 300}", "The harbour is open.")
        for budget in (100, 300):
            view = vault.recall("Harbour", budget=budget)
            assert isinstance(view, SubjectView) and view.single_subject_understanding is not None
            assert sent(view) <= budget
            assert view.single_subject_understanding.cut
            assert "The harbour is open." in str(view.lean(short))


@pytest.mark.parametrize("mode", ["auto", "text"])
def test_a_search_shows_the_line_that_matched(told: Vault, mode: str) -> None:
    found = told.search("winch oil grade of the quagga pontoon", mode=mode)
    assert "grade 46" in found.results[0].matched_content
    assert len(found.results[0].matched_content) <= 240


def test_a_search_shows_what_matched_of_a_page(root: Path, clock: FixedClock) -> None:
    text = f"{FILLER * 40}\n\n{WANTED}\n\n{FILLER * 40}"
    (root / "vault" / "Pontoon notes.md").write_text(text, encoding="utf-8")
    with Vault.open(root, clock=clock) as vault:
        (found,) = (one for one in vault.search("winch oil quagga pontoon").results if one.type == "page")
        assert "grade 46" in found.matched_content


def test_a_long_memory_is_read_in_parts(told: Vault) -> None:
    (found,) = told.search("winch oil quagga pontoon", limit=1).results
    assert found.id
    whole = told.get(found.id)
    assert (whole.part, whole.parts) == (0, len(parts(whole.content))) and whole.parts > 4
    read = [told.get(found.id, part) for part in range(1, whole.parts + 1)]
    assert "".join(one.content for one in read) == whole.content
    assert all(len(one.content) <= PART and one.lean(short)["parts"] == whole.parts for one in read)
    with fails(UsageError, f"there is no part {whole.parts + 1}: it has {whole.parts} parts"):
        told.get(found.id, whole.parts + 1)
    with fails(UsageError, "no part"):
        told.get(found.id, -1)
