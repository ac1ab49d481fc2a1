"""Plain English in code and pages: docstrings and sentences begin with their subject, and locals say what they hold."""

from pathlib import Path

from bench import source
from tests import sources

ROOT = Path(__file__).resolve().parent.parent

# A record of what was decided is not written anew.
_RECORDS = {"decisions.md"}


def test_no_docstring_begins_with_a_riddle() -> None:
    assert source.riddles(sources.modules()) == []


def test_locals_say_what_they_hold() -> None:
    assert source.vague_names(sources.modules()) <= 88


def test_sentences_of_pages_begin_with_their_subject() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    assert source.riddles_in_prose(page for page in pages if page.name not in _RECORDS) == []
