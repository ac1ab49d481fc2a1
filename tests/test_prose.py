"""Plain English in code and pages: docstrings and sentences begin with their subject, and locals say what they hold."""

from collections import Counter
from pathlib import Path

from bench import profile, source

ROOT = Path(__file__).resolve().parent.parent

# A record of what was decided is not written anew.
_RECORDS = {"decisions.md"}

# How many are left: in pages made of the descriptions of commands, tools and verbs, and the heading "What Did Not Work".
_LEFT = {"cli.md": 73, "mcp.md": 8, "verbs.md": 1, "vault-format.md": 1}


def test_no_docstring_begins_with_a_riddle() -> None:
    assert source.riddles(source.modules(ROOT / profile.PACKAGE)) == []


def test_locals_say_what_they_hold() -> None:
    assert source.vague_names(source.modules(ROOT / profile.PACKAGE)) <= 136


def test_sentences_of_pages_begin_with_their_subject() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    riddles = source.riddles_in_prose(page for page in pages if page.name not in _RECORDS)
    counts = Counter(riddle.partition(":")[0] for riddle in riddles)
    assert {page: count for page, count in counts.items() if count > _LEFT.get(page, 0)} == {}, riddles


def test_a_page_without_riddles_left_is_not_listed() -> None:
    counts = Counter(riddle.partition(":")[0] for riddle in source.riddles_in_prose((ROOT / "docs").glob("*.md")))
    assert {page for page in _LEFT if not counts[page]} == set()
