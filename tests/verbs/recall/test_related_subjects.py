"""Questions that name two subjects, subjects by the last word of their name, and subjects that are called like function words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.hooks.answers import answer
from vault_tool.hooks.clients import PROMPT

pytestmark = pytest.mark.without_git

RELATED = {
    ("Marta", "telescope mount"): "She built it from her grandfather's lathe, and nobody else may align it.",
    ("Jonas Weber", "night train"): "He writes on it, since nothing reaches him between two stations.",
    ("pigeon loft", "Redis"): "The feeder of the one keeps its timetable in the other.",
}
ASKED = (
    "what is the connection between {} and {}?",
    "how are {} and {} related?",
    "What do {} and {} have to do with each other?",
    "tell me about {} and {}",
    "{} & {}?",
    "is there a link between {} and {}",
)
CALLED = {
    "Will": "Plays the bassoon in the town band.",
    "May": "Keeps the keys of the observatory.",
    "Now": "Puts the site on its server; its token is renewed in March.",
    "IT": "Two people in the cellar who answer before ten.",
}
WHO = ("who is {}?", "what do we know of {}?", "tell me about {}, please", "what's the latest on {}?", "who or what is {}")


def _vault(vault: Vault) -> dict[str, str]:
    made = {}
    for names, known in RELATED.items():
        for name in names:
            vault.remember(f"Seen of {name} this week: nothing out of the ordinary.", [name], kind="fact")
        made[names[0]] = vault.create_understanding(list(names), known, f"{names[0]} with {names[1]}", kind="relationship").id
    vault.remember("Marta polishes lenses on Sundays.", ["Marta"], kind="fact")
    vault.remember("The telescope mount creaks in frost.", ["telescope mount"], kind="fact")
    for name, known in CALLED.items():
        made[name] = vault.remember(known, [name], kind="fact").id
    for number in range(12):
        text = (
            f"Update {number}: we will meet now and may know what it is between the connection and the rest, and what links it."
        )
        vault.remember(text, ["meetings"], kind="general")
    return made


def _last(name: str) -> str:
    return f"the {name.split()[-1]}" if " " in name else name


def _wrong(vault: Vault, question: str, right: str) -> list[tuple[str, str]]:
    """The doors at which a question has another answer."""
    found = []
    answer = vault.recall(question)
    assert isinstance(answer, Bundle)
    if answer.best_answer is None or answer.best_answer.id != right:
        found.append(("recall", question))
    brought = vault.bring_to_mind(question).results
    if not brought or brought[0].id != right or brought[0].weak:
        found.append(("bring_to_mind", question))
    memories = [one.id for one in vault.search(question).results if one.record_class in ("observation", "understanding")]
    if memories[:1] != [right]:
        found.append(("search", question))
    return found


def test_two_named_subjects_have_their_relationship_as_the_answer(vault: Vault) -> None:
    made = _vault(vault)
    wrong = []
    for one, other in RELATED:
        for asked in ASKED:
            for names in ((one, other), (other, one), (one, _last(other))):
                wrong += _wrong(vault, asked.format(*names), made[one])
    assert not wrong


def test_beside_two_names_what_is_asked_decides(vault: Vault) -> None:
    made = _vault(vault)
    said = vault.remember("Marta painted the telescope mount yellow in the spring.", ["Marta", "telescope mount"], kind="fact").id
    for question in ("what colour was the telescope mount painted by Marta?", "when did Marta paint the mount?"):
        answer = vault.recall(question)
        assert isinstance(answer, Bundle) and answer.best_answer is not None
        assert answer.best_answer.id == said, question
    # And where nothing does, their relationship is what is known of the two.
    assert {"recall", "bring_to_mind"}.isdisjoint(
        door for door, _ in _wrong(vault, "why does Marta guard the mount?", made["Marta"])
    )


def test_two_subjects_that_nobody_joined_have_what_was_seen_of_both(vault: Vault) -> None:
    _vault(vault)
    both = vault.remember("On Fridays the loft is swept by hand.", ["Marta", "pigeon loft"], kind="fact").id
    assert not _wrong(vault, "what have Marta and the pigeon loft to do with each other?", both)


def test_the_last_word_of_a_name_is_enough_where_it_is_no_others(vault: Vault) -> None:
    vault.remember("Creaks in frost, so it is warmed first.", ["telescope mount"], kind="fact")
    known = vault.create_understanding(["telescope mount"], "Made of brass; turned by hand.", "What is known of it").id
    for number in range(12):
        vault.remember(f"Update {number}: tell what we know of it.", ["meetings"], kind="general")
    assert not _wrong(vault, "tell me about the mount", known)
    vault.remember("Holds the lens.", ["camera mount"], kind="fact")
    answer = vault.recall("tell me about the mount")
    assert isinstance(answer, Bundle) and answer.best_answer is None
    # In a conversation such a word names nothing by itself.
    assert known not in [one.id for one in vault.bring_to_mind("I will mount the disk and look at the journal").results]


@pytest.mark.parametrize("name", CALLED)
def test_a_subject_is_found_that_is_called_like_a_function_word(vault: Vault, name: str) -> None:
    made = _vault(vault)
    assert not [wrong for asked in WHO for wrong in _wrong(vault, asked.format(name), made[name])]


def test_a_function_word_that_is_none_names_nobody(vault: Vault) -> None:
    made = _vault(vault)
    asked = {
        "will it rain?": "Will",
        "Will it rain in the end?": "Will",
        "who will?": "Will",
        "May I push?": "May",
        "what is it?": "IT",
    }
    for question, name in {**asked, "Now list the doors, please": "Now", "HOW WILL IT GO": "Will"}.items():
        answer = vault.recall(question)
        assert isinstance(answer, Bundle)
        assert answer.best_answer is None or answer.best_answer.id != made[name], question
        assert made[name] not in {one.id for one in vault.bring_to_mind(question).results}, question


def test_a_name_in_small_letters_counts_as_it_is_spelled(vault: Vault) -> None:
    vault.remember("Puts the site on its server.", ["now"], kind="fact")
    for number in range(12):
        vault.remember(f"Update {number}: we will now see what is new.", ["meetings"], kind="general")
    answer = vault.recall("what is now?")
    assert isinstance(answer, Bundle) and answer.best_answer is not None and answer.best_answer.content.startswith("Puts")


def test_a_name_may_begin_a_sentence(vault: Vault) -> None:
    made = _vault(vault)
    for text in ("Will's bassoon?", "Will broke the bassoon again."):
        assert made["Will"] in [one.id for one in vault.recall(text).results][:1], text  # type: ignore[union-attr]


def test_the_hook_and_the_command_line_have_it_too(vault: Vault, root: Path) -> None:
    made = _vault(vault)
    text = answer(vault, PROMPT, "what is the connection between Marta and the mount?", "")
    assert text.index(made["Marta"][:6]) and "grandfather's lathe" in text
    printed = vt("--vault", str(root), "recall", "who is Will?", "--json").stdout
    assert json.loads(printed)["best_answer"]["id"] == made["Will"]
