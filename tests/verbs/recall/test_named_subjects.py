"""Questions that name a subject and ask what is known of it: 12 subjects, 7 phrasings, asked and unprompted."""

from __future__ import annotations

import pytest

from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle, SubjectView

pytestmark = pytest.mark.without_git

SUBJECTS = {
    "Marta Lindqvist": "Runs the print shop and answers in the evening; dislikes calls before ten.",
    "harbour crane": "Its brake sticks in frost, so it is warmed for twenty minutes before the first lift.",
    "Redwood ledger": "Double entry, closed monthly; the auditors want it frozen on the fifth day.",
    "OpenTelemetry": "Traces go through the collector; sampling is one in twenty but for faults.",
    "Tomas": "Prefers diagrams to prose and signs off changes on Thursdays.",
    "greenhouse controller": "Firmware 3 forgets its schedule after a brownout; the clock is set by radio.",
    "Esperanto port": "The dictionary is done, plural forms of compound words are open.",
    "bakery route": "Twelve stops from four in the morning; the bridge is closed on Mondays.",
    "Kestrel": "A parser for tax forms that reads scans badly when they are tilted.",
    "choir archive": "Scores are sorted by voice, not by composer, since the flood.",
    "Vienna lease": "Runs until March, with two months' notice and a deposit of three rents.",
    "node exporter": "Listens on the inner network alone and is scraped each half minute.",
}
PHRASINGS = (
    "tell me about {}",
    "what do we know about {}?",
    "remind me where we left off with {}",
    "What's the latest on the {}?",
    "give me a quick overview of {}, please",
    "who or what is {}?",
    "hey, can you catch me up on {} again?",
)


def _vault(vault: Vault) -> dict[str, str]:
    made = {}
    for name, known in SUBJECTS.items():
        vault.remember(f"Seen of {name} this week: nothing out of the ordinary in the notes we keep.", [name], kind="fact")
        made[name] = vault.create_understanding([name], known, f"What is known of {name}", kind="single_subject").id
    for number in range(12):
        vault.remember(f"We know and tell much; update {number} of what was left off in the overview.", kind="general")
    return made


def test_a_question_that_only_names_a_subject_has_its_understanding_as_best_answer(vault: Vault) -> None:
    made = _vault(vault)
    asked = unprompted = 0
    missed = []
    for name, identity in made.items():
        for phrasing in PHRASINGS:
            question = phrasing.format(name)
            answer = vault.recall(question)
            if isinstance(answer, SubjectView):
                right = answer.single_subject_understanding is not None and answer.single_subject_understanding.id == identity
            else:
                assert isinstance(answer, Bundle)
                right = answer.best_answer is not None and answer.best_answer.id == identity
            brought = vault.bring_to_mind(question).results
            asked += right
            unprompted += bool(brought) and brought[0].id == identity and not brought[0].weak
            missed += [] if right else [question]
    assert min(asked, unprompted) >= 80, (asked, unprompted, missed)


def test_what_a_question_asks_beside_the_name_decides(vault: Vault) -> None:
    made = _vault(vault)
    said = vault.remember("The harbour crane was painted yellow in May.", ["harbour crane"], kind="fact").id
    answer = vault.recall("what colour was the harbour crane painted?")
    assert isinstance(answer, Bundle)
    assert answer.results[0].id == said != made["harbour crane"]


def test_a_subject_that_nobody_understood_yet_has_its_memories_as_strong_answers(vault: Vault) -> None:
    seen = {
        vault.remember("Idle connections drop after 300 s.", ["Redis"], kind="problem").id,
        vault.remember("The box has 8 GB, of which half is free.", ["redis"], kind="fact").id,
    }
    for number in range(8):
        vault.remember(f"Know the latest of day {number}: tell what we left off in the overview.", kind="general")
    for phrasing in PHRASINGS:
        question = phrasing.format("redis")
        answer = vault.recall(question)
        assert isinstance(answer, Bundle)
        assert answer.best_answer is not None and answer.best_answer.id in seen, question
        brought = vault.bring_to_mind(question).results
        assert brought and brought[0].id in seen and not brought[0].weak, question
    other = vault.recall("what colour does redis have?")
    assert isinstance(other, Bundle) and other.best_answer is None
