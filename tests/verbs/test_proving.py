"""`prove` measures by questions of the vault's own memories and by this machine's sessions, and writes nothing."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.features.recall.recall import Bundle
from vault_tool.vault.retrieval.query import Recalled

PLACES = ("Corfu", "Bari", "Split", "Oran", "Cadiz", "Bastia", "Palermo", "Tunis", "Malta", "Zadar", "Ibiza", "Genoa", "Rhodes")
FORMS = (
    "The lighthouse keeper of {0} paints the {1} railing {2} with {3} varnish before {4} visits.",
    "The harbour master of {0} wants {1} papers stamped {2} by the {3} office whenever {4} calls.",
)
SYLLABLES = ("ka", "lo", "mi", "nu", "re", "sa", "to", "vi", "ze", "bu", "do", "fe", "gi")


def _words(number: int) -> list[str]:
    """Four words that no other sentence has."""
    return [
        SYLLABLES[(number * 5 + at) % 13] + SYLLABLES[number % 13] + SYLLABLES[(number // 13 + at) % 13] + "x" * at
        for at in range(1, 5)
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with 26 memories of thirteen places."""
    root = tmp_path / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root, person=True) as vault:
        for number in range(26):
            vault.remember(FORMS[number % 2].format(PLACES[number % 13], *_words(number)))
    return root


def _first(vault: Vault, question: str) -> Recalled:
    bundle = vault.recall(question, limit=1)
    assert isinstance(bundle, Bundle)
    return bundle.results[0]


def _digests(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file() and "_cache" not in path.parts)
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


def test_memories_are_found_again_and_nothing_is_written(root: Path) -> None:
    with Vault.open(root) as vault:
        vault.reindex()
        before = _digests(root)
        proof = vault.prove(questions=20)
        assert replace(vault.prove(questions=20), freshness=proof.freshness) == proof
    assert _digests(root) == before
    assert proof.found_again.asked == 20
    assert proof.found_again.among_three >= 19 and proof.found_again.first >= 17
    assert proof.found_again.shares == (proof.found_again.first / 20, proof.found_again.among_three / 20)
    assert (proof.overtaken_asked, proof.overtaken_alone) == (0, ())
    assert proof.page.current == 26 and 0 < proof.page.shown <= 26 and proof.page.tokens > 100
    assert proof.use.shown == 0 and proof.not_measured


def test_a_memory_behind_the_understandings_that_rest_on_it_is_counted_as_such(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        before = vault.prove(questions=20).found_again
        ids = [vault.remember(FORMS[number % 2].format(PLACES[number % 13], *_words(number))).id for number in range(26)]
        said = "The lighthouse keeper paints the railing with varnish; the harbour master wants papers stamped by the office."
        vault.create_understanding("Ports", said, "What keepers and masters want.", source_observation_ids=ids)
        after = vault.prove(questions=20).found_again
    assert before.behind_understandings == 0
    assert after.first < before.first
    assert after.first + after.behind_understandings >= 19


def test_few_questions_give_counts_and_no_shares(root: Path) -> None:
    with Vault.open(root) as vault:
        proof = vault.prove(questions=5)
        assert proof.found_again.asked == 5 and proof.found_again.shares is None and proof.silent.share is None
        with pytest.raises(UsageError, match="questions must be 1 or more"):
            vault.prove(questions=0)


def test_a_memory_whose_words_another_has_too_is_not_asked(tmp_path: Path) -> None:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    with Vault.open(tmp_path / "lab", person=True) as vault:
        vault.remember("Green boats sail slowly past the mole at dawn.")
        vault.remember("Green boats sail slowly past the mole at dawn, and gulls follow them home.")
        proof = vault.prove()
    # The second has all words of the first; it has words of its own itself, of which two are left out.
    assert proof.found_again.asked <= 1


def test_what_took_an_older_memorys_place_is_shown_with_it(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        old = _first(vault, "Corfu harbour master papers")
        vault.correct(
            old.id, "The Corfu harbour master wants no papers any more.", content="The Corfu harbour master wants no papers now."
        )
        proof = vault.prove(questions=20)
    assert proof.overtaken_asked == 1 and proof.overtaken_alone == ()


def test_use_is_what_a_session_marked_cited_or_named_after_it_was_shown(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        agent = vault.as_(session="s1")
        shown = [_first(agent, f"{place} lighthouse keeper railing") for place in ("Corfu", "Bari", "Split", "Oran")]
        agent.mark_useful(shown[0].id, "It told me the day.")
        agent.mark_questionable(shown[1].id, "They paint on Fridays.")
        solved = agent.remember("The railing rusts at sea.", kind="problem")
        agent.link(solved.id, "RELATED_TO", shown[2].id, "The same railing.")
        agent.remember(f"As it says: {shown[3].title}. So the paint is bought on Saturday.")
        use = vault.prove().use
    rows = {row.id: (row.shown, row.used, row.misled) for row in use.results}
    assert rows[shown[0].id] == (1, 1, 0)
    assert rows[shown[1].id] == (1, 0, 1)
    assert rows[shown[2].id] == (1, 1, 0)
    assert rows[shown[3].id] == (1, 1, 0)
    assert (use.sessions, use.used, use.misled) == (1, 3, 1)
