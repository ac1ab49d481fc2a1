"""What a question calls by its name comes first: titles, file names, aliases, headings; function words weigh nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle

pytestmark = pytest.mark.without_git


@pytest.fixture
def notes(vault: Vault, tmp_path: Path) -> Vault:
    """Imported notes as people keep them: titles that the body begins with, indexes that name them all, versions, aliases."""
    folder = tmp_path / "garden"
    texts = {
        "Zettelkasten.md": "# Zettelkasten\n\nA box of slips, each with one thought.\n",
        "Slip boxes.md": "# Slip boxes\n\n" + "A zettelkasten has slips; the zettelkasten grows. " * 8,
        "Index.md": "# Index\n\n" + "- [[Zettelkasten]]\n- [[Slip boxes]]\n- [[v1.7]]\n- [[Moving house]]\n" * 3,
        "v1.7.md": "Fixed a crash.\n\nMore was fixed.\n",
        "v1.4.7.md": "Version 7 of 1.4, or 1 7 as some say: v1.4.7 fixed 7 crashes, 1 of them twice.\n",
        "Moving house.md": "---\naliases: [Umzug, the big move]\n---\nBoxes.\n\n## Who carries the piano\n\nNobody yet.\n",
        "Piano.md": "# Piano\n\nIt is tuned in spring. Who carries what is said there: who carries the piano, who the stool.\n",
        "Winter.md": "# Winter coats\n\nCoats hang in the attic.\n",
        "Cellar.md": "---\naliases: [How to/Keep jars dry]\n---\nShelves along the north wall.\n",
        "Dry jars keep.md": "Jars keep dry, dry jars keep. Keep jars dry.\n\nJars.\n",
        "Summer.md": "# Summer\n\nOf the coats some are where the moths were.\n\nIt is what it is.\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    vault.import_markdown(folder)
    return vault


def _first(vault: Vault, question: str) -> str:
    answer = vault.recall(question)
    assert isinstance(answer, Bundle)
    return answer.results[0].title if answer.results else ""


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Zettelkasten", "Zettelkasten"),
        ("zettelkasten?", "Zettelkasten"),
        ("v1.7", "v1.7"),
        ("moving_house", "Moving house"),
        ("Umzug", "Moving house"),
        ("the big move", "Moving house"),
        ("who carries the piano", "Moving house"),
        ("keep jars dry", "Cellar"),
    ],
)
def test_what_a_question_calls_by_its_name_is_first(notes: Vault, question: str, title: str) -> None:
    assert _first(notes, question) == title
    assert notes.search(question).results[0].title == title


def test_a_whole_question_does_as_well_as_its_words(notes: Vault) -> None:
    bare = notes.recall("coats attic")
    whole = notes.recall("where is it that the coats are, is it in the attic?")
    assert isinstance(bare, Bundle) and isinstance(whole, Bundle)
    assert [one.title for one in bare.results[:2]] == [one.title for one in whole.results[:2]] == ["Winter coats", "Summer"]


def test_of_two_notes_of_one_title_the_one_that_others_link_to_is_first(vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "garden"
    for place in ("a", "b"):
        (folder / place).mkdir(parents=True)
        (folder / place / f"Plan {place}.md").write_text(f"---\ntitle: Plan\n---\nOf the {place}.\n", encoding="utf-8")
    for number in range(5):
        (folder / f"{number}.md").write_text(f"Day {number}, see [[Plan b]].\n", encoding="utf-8")
    vault.import_markdown(folder)
    answer = vault.recall("plan")
    assert isinstance(answer, Bundle)
    assert [one.path.rpartition("/")[2] for one in answer.results[:2]] == ["Plan b.md", "Plan a.md"]
