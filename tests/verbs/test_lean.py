"""The lean form: what an agent needs of an answer, no value twice, nothing empty, and little beside the memories' own text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from vault_tool import Vault
from vault_tool.util.text import tokens
from vault_tool.vault import resolve
from vault_tool.vault.resolve import Shortened

pytestmark = pytest.mark.without_git

THINGS = ("router", "cache", "printer", "ledger", "garden", "archive", "heater", "scanner")


def short(identity: str) -> str:
    return identity[:6]


def sent(answer: Any) -> str:
    return orjson.dumps(answer.lean(short)).decode()


def values(of: Any) -> Iterator[Any]:
    """Each value of a JSON text, however deep."""
    if isinstance(of, dict):
        for value in of.values():
            yield from values(value)
    elif isinstance(of, list):
        yield of
        for value in of:
            yield from values(value)
    else:
        yield of


def _told(vault: Vault) -> None:
    agent = vault.as_(origin="agent", session="before")
    for number, thing in enumerate(THINGS):
        problem = agent.remember(
            f"The {thing} stops on Mondays, after the weekly restart of room {number}, and nobody there can work.",
            [thing],
            kind="problem",
        )
        agent.remember(
            f"A longer timeout of {number + 20} seconds keeps the {thing} alive over the restart, as three weeks have shown. "
            f"It is set in the {thing}'s own settings, below network, and survives an update of its firmware.",
            [thing], kind="solution", problem=problem.id,
        )  # fmt: skip
        agent.remember(f"Asking the {thing} twice in a row did not help.", [thing], kind="failed_tactic", problem=problem.id)


@pytest.fixture
def told(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> Vault:
    once(_told)
    return vault


def test_nothing_is_empty_and_no_text_is_said_twice(told: Vault) -> None:
    identity = str(told.search("timeout keeps the cache alive").results[0].id)
    answers = [
        told.recall("why does the cache stop after the restart?"),
        told.recall("cache"),
        told.search("cache restart"),
        told.bring_to_mind("the cache stops after the weekly restart"),
        told.get(identity),
    ]
    for answer in answers:
        found = list(values(orjson.loads(sent(answer))))
        assert not [value for value in found if value in (None, "", False) or value == [] or value == {}]
        texts = [value for value in found if isinstance(value, str) and len(value) > 20 and "reconsider" not in value]
        assert len(texts) == len(set(texts)), "what one result says is said once"


def test_a_result_names_what_it_is_and_what_to_beware_of(told: Vault) -> None:
    answer = told.recall("why does the cache stop after the weekly restart?").lean(short)
    assert answer["not_reviewed"] is True, "said once of all"
    results = answer["results"]
    by_type = {one["type"]: one for one in results if "cache" in one["subjects"]}
    assert {"id", "class", "type", "content", "match", "why", "observed"} <= set(by_type["solution"])
    assert by_type["failed_tactic"]["caution"].startswith("did not work")
    assert len(by_type["solution"]["id"]) == 6


def test_forty_turns_send_at_most_three_times_the_texts_that_they_carry(told: Vault) -> None:
    session = told.as_(session="talk")
    carried = spent = brought = 0
    token = None
    for turn in range(40):
        thing = THINGS[turn % len(THINGS)]
        said = (
            f"So the {thing} stops again after the restart, what was it with the timeout?"
            if turn % 3
            else "Nice weather, is it not?"
        )
        answer = session.bring_to_mind(said, token, include_seen=turn > 15)
        token = answer.heartbeat_token
        spent += len(sent(answer))
        carried += sum(len(one.content) for one in answer.results)
        brought += bool(answer.results)
    assert brought >= 15
    assert spent <= 3 * carried


def test_a_budget_bounds_what_is_sent(told: Vault) -> None:
    question = "which of them stops after the weekly restart, and what keeps it alive?"
    assert len(told.recall(question, limit=20).lean(short)["results"]) > 4
    for budget in (100, 200, 400):
        results = told.recall(question, limit=20, budget=budget).lean(short)["results"]
        assert results
        assert len(results) == 1 or sum(tokens(orjson.dumps(one).decode()) for one in results) <= budget


def test_a_budget_bounds_what_is_sent_of_a_subject(told: Vault) -> None:
    for number in range(20):
        told.remember(f"Quartz was seen at place {number}, and lay there for a while.", ["Quartz"])
    told.create_understanding(["Quartz"], "Quartz is hard and common. " * 6, "Quartz is hard.")
    short = lambda identity: identity[:6]  # noqa: E731
    sent = [tokens(orjson.dumps(told.recall("Quartz", limit=20, budget=budget).lean(short)).decode()) for budget in (200, 400)]
    assert sent[0] <= 200 < sent[1] <= 400


def test_ids_that_are_looked_up_together_are_told_as_each_by_itself(told: Vault) -> None:
    ids = [one.id for one in told.recall("Mondays restart timeout", 20).results]  # type: ignore[union-attr]
    others = [f"{ids[0][:7]}{'0' if ids[0][7] != '0' else '1'}{ids[0][8:]}", "0" * 36, "f" * 36]
    alike = told.index.catalog
    assert len(ids) > 5
    for asker in (told, told.as_(user="ada")):
        together = Shortened(asker, [*ids, *others[:1]])
        assert [together(one) for one in [*others, *ids]] == [resolve.short(asker, one) for one in [*others, *ids]]
    assert alike.neighbours_of(ids) == {one: alike.neighbours(one) for one in ids}
