"""The order that can be relied on, and what a result says of what overtook or questions it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.statuses import overtaken_by, why
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock
from vault_tool.vault.retrieval.query import Recalled

pytestmark = pytest.mark.without_git


def _asked(vault: Vault, question: str, **given: object) -> Bundle:
    answer = vault.recall(question, **given)  # type: ignore[arg-type]
    assert isinstance(answer, Bundle)
    return answer


def _places(results: tuple[Recalled, ...]) -> dict[str, int]:
    return {one.id: place for place, one in enumerate(results)}


def test_nothing_weak_stands_above_what_is_not_and_the_best_answer_is_the_best_that_is_not_weak(vault: Vault) -> None:
    important = "The printer on the second floor was moved beside the lift in spring."
    loud = vault.remember(important, ["printer"], kind="decision", importance=1.0, title="Where the printer stands").id
    quiet = vault.remember("The toner of the printer is black only.", ["printer"], kind="fact", importance=0.0).id
    for _ in range(3):
        vault.mark_useful(loud)
    for number in range(30):
        vault.remember(f"Note {number} of the office: plants, chairs and windows were counted again.", ["office"])
    answer = _asked(vault, "the toner of the printer is black only")
    weak = [one.weak for one in answer.results]
    assert weak == sorted(weak)
    assert answer.best_answer is not None and answer.best_answer.id == quiet


def test_a_synthesis_stands_above_what_it_was_made_from(vault: Vault) -> None:
    seen = [
        vault.remember(
            "The nightly export of the ledger fails when the disk of the archive is full.", ["ledger"], kind="fact"
        ).id,
        vault.remember("The nightly export of the ledger fails when two run at once.", ["ledger"], kind="fact").id,
    ]
    made = vault.create_understanding(
        ["ledger"],
        "The export is fragile: it fails for want of room and of a lock.",
        "A fragile export.",
        source_observation_ids=seen,
    ).id
    for number in range(12):
        vault.remember(f"Entry {number} of the garden diary: peas and beans.", ["garden"])
    answer = _asked(vault, "the nightly export of the ledger fails when the disk of the archive is full")
    places = _places(answer.results)
    assert places[made] < min(places[one] for one in seen)
    weak = [one.weak for one in answer.results]
    assert weak == sorted(weak)


def test_the_newest_change_stands_above_what_it_overtook_though_nobody_linked_them(vault: Vault, clock: FixedClock) -> None:
    old = vault.remember("The staging server runs Postgres 14 on port 5432.", ["staging"], kind="fact").id
    clock.advance(timedelta(days=3))
    between = vault.remember("The staging server runs Postgres 15 now.", ["staging"], kind="change").id
    clock.advance(timedelta(days=3))
    new = vault.remember("Since today the staging server runs Postgres 16.", ["staging"], kind="change").id
    other = vault.remember("The staging server is restarted on Sundays.", ["staging"], kind="fact").id
    answer = _asked(vault, "which Postgres runs on port 5432 of the staging server?")
    places = _places(answer.results)
    assert places[new] < places[between] < places[old]
    overtaken = {one.id: overtaken_by(one) for one in answer.results}
    assert (overtaken[old], overtaken[between], overtaken[new], overtaken[other]) == (new, new, None, None)
    assert next(one for one in vault.bring_to_mind("Postgres on the staging server, port 5432?").results if one.id == old)


def test_a_change_of_something_else_overtakes_nothing(vault: Vault, clock: FixedClock) -> None:
    old = vault.remember("The coffee machine needs descaling in March.", ["office"], kind="fact").id
    clock.advance(timedelta(days=3))
    vault.remember("The coffee machine stands on the second floor now.", ["office"], kind="change")
    vault.remember("The coffee machine needs descaling in May.", ["cabin"], kind="change")
    answer = _asked(vault, "when does the coffee machine need descaling?")
    assert overtaken_by(next(one for one in answer.results if one.id == old)) is None


def test_what_was_changed_says_so_under_every_filter_of_kinds(vault: Vault, clock: FixedClock) -> None:
    old = vault.remember("Invoices are sent on the first of the month.", ["billing"], kind="procedure").id
    clock.advance(timedelta(days=1))
    new = vault.remember("From May on customers get their bills weekly.", ["billing"], kind="change", change_targets=[old]).id
    change, only = _asked(vault, "when are invoices sent", kinds=["procedure"]).results
    assert (change.id, change.role, only.id, overtaken_by(only)) == (new, "update", old, new)
    both = _asked(vault, "when are invoices sent")
    assert _places(both.results)[new] < _places(both.results)[old]
    assert both.results[1].lean(lambda identity: identity[:6])["status_by"] == [new[:6]]


def test_a_change_that_nobody_believes_overtakes_nothing(vault: Vault, clock: FixedClock) -> None:
    old = vault.remember("The staging server runs Postgres 14.", ["staging"], kind="fact").id
    clock.advance(timedelta(days=3))
    vault.remember("The staging server runs Postgres 99.", ["staging"], kind="change", confidence=0.05)
    answer = _asked(vault, "which Postgres runs on the staging server?")
    assert {one.id: overtaken_by(one) for one in answer.results}[old] is None


def test_evidence_comes_with_the_understanding_that_it_is_related_to(vault: Vault) -> None:
    view = vault.create_understanding(["tides"], "The gauge in the harbour reads low in easterly winds.", "Low in the east.").id
    said = vault.remember("Thursday: 40 cm below the tables.", ["logbook"], kind="fact", related_to=[view]).id
    results = _asked(vault, "what does the gauge in the harbour do in easterly winds?").results
    came = next(one for one in results if one.id == said)
    assert (came.role, came.of) == ("related", view)


def test_a_question_marked_on_a_memory_is_said_where_it_is_shown(vault: Vault) -> None:
    made = vault.remember("The pump runs backwards after a power cut.", ["pump"], kind="fact").id
    vault.mark_questionable(made, "seen once, by one person")
    (shown,) = _asked(vault, "when does the pump run backwards?").results
    assert why(shown, "questioned") == "seen once, by one person"
    assert shown.lean(lambda identity: identity)["status_why"] == "seen once, by one person"
    assert [why(one, "questioned") for one in vault.bring_to_mind("the pump runs backwards").results] == [
        "seen once, by one person"
    ]
    vault.mark_useful(made)
    (shown,) = _asked(vault, "when does the pump run backwards?").results
    assert why(shown, "questioned") == "" and "status" not in shown.lean(lambda identity: identity)


def test_nothing_is_folded_across_types(vault: Vault) -> None:
    text = "Restart the resizer every night at four so that its leak stays harmless"
    one = vault.remember(f"{text}.", ["resizer"], kind="procedure").id
    other = vault.remember(f"{text}!", ["resizer"], kind="decision").id
    assert {one, other} <= {found.id for found in _asked(vault, "restart the resizer at four").results}


def test_what_is_so_again_is_not_folded_into_what_was_overtaken(vault: Vault, clock: FixedClock) -> None:
    told = (
        ("The office wifi password is kept in Bitwarden", "fact"),
        ("The office wifi password is no longer kept in Bitwarden but in KeePass", "change"),
        ("The office wifi password is kept in Bitwarden again", "fact"),
    )
    ids = []
    for text, kind in told:
        ids.append(vault.remember(text, ["wifi"], kind=kind).id)
        clock.advance(timedelta(days=30))
    answer = _asked(vault, "where is the office wifi password kept")
    assert {one.id: overtaken_by(one) for one in answer.results} == {ids[0]: ids[1], ids[1]: None, ids[2]: None}


def test_a_change_of_another_project_or_person_overtakes_nothing(vault: Vault, clock: FixedClock) -> None:
    old = vault.as_(project="beta").remember("The database server runs Debian bookworm", kind="fact").id
    seat = vault.as_(user="anna").remember("Prefers window seats on long flights", kind="preference").id
    clock.advance(timedelta(days=3))
    vault.as_(project="alpha").remember("The database server now runs Ubuntu, no longer Debian bookworm", kind="change")
    vault.as_(user="ben").remember("Prefers aisle seats instead of window seats on long flights", kind="change")
    for question, meant in (("what does the database server run", old), ("which seats on long flights", seat)):
        found = next(one for one in _asked(vault, question).results if one.id == meant)
        assert overtaken_by(found) is None
