"""Preferences and standing instructions: typed as they are written, let in where advice is asked, brought to mind in bounds."""

from __future__ import annotations

import pytest

from tests.wording import bare, typed
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.hints import worded
from vault_tool.util.text import tokens
from vault_tool.vault.plain_words import PlainWords

pytestmark = pytest.mark.without_git


def _titles(vault: Vault, query: str) -> list[str]:
    answer = vault.recall(query)
    assert isinstance(answer, Bundle)
    return [one.title for one in answer.results]


def _brought(vault: Vault, text: str, session: str = "s1") -> list[str]:
    return [one.title for one in vault.as_(session=session).bring_to_mind(text).results]


def _brought_in_turn(vault: Vault, *texts: str) -> list[list[str]]:
    """What comes to mind in the turns of one session."""
    one, token, found = vault.as_(session="turns"), None, []
    for text in texts:
        answer = one.bring_to_mind(text, token)
        token = answer.heartbeat_token
        found.append([each.title for each in answer.results])
    return found


def test_what_the_owner_wants_is_typed_so(vault: Vault) -> None:
    owner = vault.as_(origin="owner")

    assert owner.remember("Always use metric units in reports.", ["Reports"]).type == "instruction"
    assert owner.remember("I prefer tea over coffee.", ["Drinks"]).type == "preference"
    assert owner.remember("Always On VPN", ["VPN"]).type == "general"
    assert owner.remember("Never push to main without a review.", ["Git"], kind="fact").type == "fact"


def test_what_an_agent_wrote_keeps_its_type_and_says_what_it_looks_like(vault: Vault) -> None:
    made = vault.as_(origin="agent").remember("Never push to main without a review.", ["Git"])

    assert made.type == "general"
    told = "it looks like an instruction, and counts as an agent's word until a person reviews it"
    assert [typed(one) for one in made.warnings] == [f"{told}: `vt review --accept {made.id[:6]}` at a terminal"]
    # The step that is named does it, and where there is no command none is named.
    assert bare(worded(made.warnings[0], PlainWords())) == told
    with Vault.open(vault.root, person=True) as person:
        person.review(accept=[made.id[:6]])
    assert vault.get(made.id).reviewed


def test_a_preference_is_let_in_where_advice_is_asked(vault: Vault) -> None:
    owner = vault.as_(origin="owner")
    for dish in ("soup", "stew", "curry", "pie"):
        owner.remember(f"The dinner was a {dish} and the dinner was good.", ["Dinners"], kind="fact")
    owner.remember("I don't eat meat at dinner.", ["Dinners"])

    assert _titles(vault, "what would you recommend for dinner?")[0] == "I don't eat meat at dinner"
    assert _titles(vault, "which dinner was good?")[0] != "I don't eat meat at dinner"


def test_an_instruction_comes_to_mind_by_a_word_once_a_session(vault: Vault) -> None:
    vault.as_(origin="owner").remember("Always run the linter before a release of Harbor.", ["Harbor"])

    turns = _brought_in_turn(vault, "let us prepare the releases for Monday", "and the releases again")
    assert turns == [["Always run the linter before a release of Harbor"], []]
    assert _brought(vault, "the weather is fine and the bread is fresh", "s2") == []


def test_an_instruction_that_nobody_reviewed_never_comes_unasked(vault: Vault) -> None:
    made = vault.as_(origin="agent").remember("Always run the linter before a release of Harbor.", ["Harbor"], kind="instruction")

    assert _brought(vault, "always run the linter before a release of Harbor") == []
    vault.as_person().review(accept=[made.id])
    assert _brought(vault, "let us prepare the release of Harbor", "s2") != []


def test_at_most_three_instructions_come_and_few_tokens(vault: Vault) -> None:
    owner = vault.as_(origin="owner")
    for number, what in enumerate(("lint", "tests", "notes", "tags", "mirrors")):
        owner.remember(f"Always check the {what} before a release, step {number} of the plan.", ["Harbor"])
    brought = _brought(vault, "we prepare the release")

    assert len(brought) == 3
    long = "Always check before a deployment " + " and ".join(f"host number {number} of the farm" for number in range(40)) + "."
    assert tokens(long) > 120
    owner.remember(long, ["Farm"])
    assert _brought(vault, "we prepare the deployment", "s2") == []
