"""The page of what waits, where two machines wrote one note: both texts are shown, and one press settles them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git
from tests.web.conftest import Served, serving_pages
from vault_tool import Vault


@pytest.fixture
def served(root: Path) -> Iterator[tuple[Served, Path]]:
    """A served vault with a conflict copy beside a memory, and the memory's file."""
    with Vault.open(root, origin="owner", person=True) as vault:
        note = root / vault.remember("The kettle is descaled in May.\n\nIt <i>hums</i>.").path
    copy = note.with_name(f"{note.stem}.sync-conflict-20261125-101010-ABCDEFG.md")
    copy.write_text(note.read_text().replace("in May.", "in June."))
    with serving_pages(root) as pages:
        yield pages, note


def key_of(page: str) -> str:
    found = re.search(r'value="both ([0-9a-f]+)"', page)
    assert found
    return found[1]


def test_both_texts_are_shown_and_merged_by_one_press(served: tuple[Served, Path]) -> None:
    pages, note = served
    page = pages.get("/review")
    assert "Two texts of one thing" in page and "in May" in page and "in June" in page and "It <i>hums" not in page
    said = unescape(pages.post("/review/settle", {"keep": f"both {key_of(page)}"}))
    assert "settled; 1 place left" in said
    page = pages.get("/review")
    assert "conflict copy" not in page and "Keep both" in page
    pages.post("/review/settle", {"keep": f"that {key_of(page)}"})
    assert "Two texts of one thing" not in pages.get("/review")
    assert note.read_text().endswith("\nThe kettle is descaled in May.\n\nIt <i>hums</i>.\n")


def test_another_text_is_written(served: tuple[Served, Path]) -> None:
    pages, note = served
    key = key_of(pages.get("/review"))
    pages.post("/review/settle", {"keep": f"text {key}", "text": note.read_text().replace("in May.", "each spring.")})
    assert "each spring" in note.read_text() and "Two texts" not in pages.get("/review")


@pytest.fixture
def merging(root: Path) -> tuple[Path, str]:
    """A vault in the middle of a merge that two branches' texts of one note stopped, and that note's path."""
    with Vault.open(root, origin="owner", person=True) as vault:
        note = root / vault.remember("The kettle is old.").path
    git(root, "checkout", "--quiet", "-b", "side")
    for branch, word in (("side", "red"), ("-", "blue")):
        if branch == "-":
            git(root, "checkout", "--quiet", branch)
        note.write_text(note.read_text().replace("old", word))
        commit_all(root, word)
    git(root, "merge", "--quiet", "side", ok=False)
    return root, str(note.relative_to(root))


@pytest.mark.parametrize(("keep", "word"), [("this", "blue"), ("that", "red")])
def test_a_merge_that_git_left_open_is_settled_and_ended_by_one_press(merging: tuple[Path, str], keep: str, word: str) -> None:
    root, name = merging
    with serving_pages(root) as pages:
        home = unescape(pages.get("/"))
        assert f'<a href="/review">Git left {name} in conflict: choose what stays; the last ends the merge' in home
        assert 'action="/do/commit"' not in home
        page = pages.get("/review")
        assert "left by git" in page and "is red" in page and "is blue" in page
        said = pages.post("/review/settle", {"keep": f"{keep} {key_of(page)}", "what": "merge"})
        assert "settled" in said and "Undo" not in said.partition("settled")[2][:300]
        assert "in conflict" not in pages.get("/") and "left by git" not in pages.get("/review")
    assert git(root, "status", "--porcelain") == "" and len(git(root, "log", "-1", "--format=%P").split()) == 2
    assert f"is {word}" in (root / name).read_text()


def test_a_hand_edit_of_such_a_file_is_gone_on_from(merging: tuple[Path, str]) -> None:
    root, name = merging
    (root / name).write_text((root / name).read_text().replace("The kettle", "My kettle"))
    with serving_pages(root) as pages:
        page = pages.get("/review")
        assert "was edited by hand" in page and "My kettle" in page and "Keep this</button>" not in page
        key = re.search(r'value="text ([0-9a-f]+)"', page)
        assert key
        pages.post("/review/settle", {"keep": f"text {key[1]}", "what": "merge", "text": "<<<<<<< x"}, 400)
        assert "My kettle" in (root / name).read_text()
