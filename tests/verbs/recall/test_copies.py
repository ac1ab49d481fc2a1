"""Memories of nearly the same words that say another thing are results of their own; exact copies are one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.verbs.looking import identity, note
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

BUILD = "Use the old build script of the repository for every release of the mobile application."
PAIRS = (
    (BUILD, f"Never {BUILD[0].lower()}{BUILD[1:]}"),
    ("Invoice 1041 of the printer's is due at the end of the month and was sent to Anna.",
     "Invoice 1042 of the printer's is due at the end of the month and was sent to Anna."),
    ("The limit of one upload to the archive is 500 MB for each person of the team in a week.",
     "The limit of one upload to the archive is 1200 MB for each person of the team in a week."),
    ("Maria is on call for the payment service in the nights from Friday to Monday of this week.",
     "Jonas is on call for the payment service in the nights from Friday to Monday of this week."),
    ("The backup of the shared drive runs before the nightly job of the billing team, not after.",
     "The backup of the shared drive runs after the nightly job of the billing team, not before."),
    ("Der Schalter am alten Heizkessel im Keller des Hauses steht im Winter immer auf Stufe 3.",
     "Der Schalter am alten Heizkessel im Keller des Hauses steht im Winter immer auf Stufe 5."),
)  # fmt: skip


def _ids(vault: Vault, query: str, limit: int = 10) -> list[str]:
    answer = vault.recall(query, limit)
    assert isinstance(answer, Bundle)
    return [one.id for one in answer.results]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[1][:24])
def test_what_says_another_thing_is_shown(vault: Vault, clock: FixedClock, pair: tuple[str, str]) -> None:
    made = []
    for text in pair:
        made.append(vault.remember(text, kind="fact").id)
        clock.advance(timedelta(days=200))
    assert set(made) <= set(_ids(vault, pair[0]))
    assert set(made) <= {one.id for one in vault.search(pair[1]).results}
    assert set(made) <= {one.id for one in vault.bring_to_mind(pair[0], include_seen=True).results}


def test_exact_copies_are_the_newest_one_which_names_the_others(vault: Vault, root: Path) -> None:
    for number, observed in ((1, "2025-03-01"), (2, "2026-02-01"), (3, "2024-03-01")):
        write(root, f"vault/observations/c{number}.md", note(number, BUILD, created=observed, origin="owner"))
    write(root, "vault/observations/c4.md", note(4, f"{BUILD}\n", created="2026-03-01", type="preference"))
    answer = vault.recall(BUILD)
    assert isinstance(answer, Bundle)
    told = {one.id: set(one.like_it) for one in answer.results}
    assert told == {identity(2): {identity(1), identity(3)}, identity(4): set()}
    [first] = vault.recall(BUILD, 1, kinds=["fact"]).results  # type: ignore[union-attr]
    assert (first.id, set(first.like_it)) == (identity(2), {identity(1), identity(3)})


def test_the_same_words_of_other_subjects_are_no_copies(vault: Vault, root: Path) -> None:
    for number, subject in ((1, "Redis"), (2, "Postgres")):
        text = note(number, "The limit of connections is 500.", subjects=f"[{subject}]", created=f"2026-0{number}-01")
        write(root, f"vault/observations/c{number}.md", text)
    assert set(_ids(vault, "what is the limit of connections?")) == {identity(1), identity(2)}


def test_a_pulled_copy_stands_for_nothing_that_its_owner_vouches_for(vault: Vault, root: Path) -> None:
    write(root, "vault/observations/c1.md", note(1, BUILD, created="2025-01-01", origin="owner"))
    write(root, "vault/observations/c2.md", note(2, BUILD, created="2026-01-01", origin="agent"))
    assert _ids(vault, BUILD)[:1] == [identity(1)]
