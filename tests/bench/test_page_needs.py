"""The page of a session's start meets what its session needs: of a story that was written before, beside others, in any order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.page_crowd import OTHERS, crowd
from bench.page_needs import DAYS, PROMISES, Need, Story, page_of, write
from vault_tool.util.text import BYTES_A_TOKEN
from vault_tool.vault.core_making import PAGE_TOKENS


@pytest.fixture(scope="module")
def story() -> Story:
    return Story.read()


@pytest.mark.parametrize("others", PROMISES)
def test_the_page_meets_the_needs_of_the_next_session(story: Story, tmp_path: Path, others: int) -> None:
    write(tmp_path / "vault", story, others)
    page = page_of(tmp_path / "vault", story)
    missed = story.missed(page)
    assert len(story.needs) == 30
    assert len(story.needs) - len(missed) >= PROMISES[others], missed
    assert story.rules_missed(page) == []
    assert len(page.encode()) <= PAGE_TOKENS * BYTES_A_TOKEN


@pytest.mark.parametrize("others", [0, 300])
def test_forty_days_later_every_rule_is_still_there(story: Story, tmp_path: Path, others: int) -> None:
    write(tmp_path / "vault", story, others)
    page = page_of(tmp_path / "vault", story, DAYS[-1])
    assert story.rules_missed(page) == []
    assert len(story.missed(page)) <= 2


def test_a_large_vault_gives_the_same_page_by_a_choice_made_at_rest(story: Story, tmp_path: Path) -> None:
    write(tmp_path / "vault", story, 2000)
    at_once = page_of(tmp_path / "vault", story)
    shutil.rmtree(tmp_path / "vault" / "_cache")
    assert page_of(tmp_path / "vault", story, at_rest=True) == at_once


def test_five_orders_of_writing_give_one_page(story: Story, tmp_path: Path) -> None:
    pages = set()
    for order in range(5):
        write(tmp_path / f"{order}", story, 60, order)
        pages.add(page_of(tmp_path / f"{order}", story))
    assert len(pages) == 1


def test_nothing_that_stands_beside_the_story_meets_a_need(story: Story) -> None:
    others = list(crowd(2000, story.project))
    page = "".join(f"- {other.text}\n" for other in others)
    assert [need.need for need in story.needs if not need.absent and need.is_met(page)] == []
    assert {name for other in others for name in other.about} >= {story.project, *OTHERS}
    assert len({other.text for other in others}) == 2000


def test_a_line_that_is_marked_as_past_meets_no_need() -> None:
    need = Need(1, "the mail provider", "Postmark|Mailgun")
    assert need.is_met("- Mail goes by postmark.\n")
    assert not need.is_met("- Mail goes by Postmark. (perhaps changed by 1234)\n- was: Mailgun\n")
    assert Need(2, "not the old one", "Postmark", absent=True).is_met("- ~~Postmark~~\n")
    assert not Need(2, "not the old one", "Postmark", absent=True).is_met("- by Postmark\n")
