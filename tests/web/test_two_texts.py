"""The page of what waits, where two machines wrote one note: both texts are shown, and one press settles them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import commit_all, git, write
from tests.web.conftest import WIDTHS, Served, browsing, serving_pages
from tests.web.test_pages import AXE, axe_source
from vault_tool import Vault
from vault_tool.files.two_versions import END, OPEN, OR
from vault_tool.model.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


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


def test_a_merge_that_a_person_settled_by_hand_is_ended_by_a_press_at_home(merging: tuple[Path, str]) -> None:
    root, name = merging
    (root / name).write_text((root / name).read_text().partition("<<<<<<<")[0] + "The kettle is green.\n")
    git(root, "add", name)
    with serving_pages(root) as pages:
        assert "nothing of it is left in conflict" in pages.get("/") and 'action="/do/merge"' in pages.get("/")
        assert "The merge is over" in pages.post("/do/merge", {})
        assert 'action="/do/merge"' not in pages.get("/")
    assert git(root, "status", "--porcelain") == "" and len(git(root, "log", "-1", "--format=%P").split()) == 2


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


@pytest.fixture
def several(root: Path) -> Path:
    """A vault that a `git pull` left with notes changed on both sides, one deleted here, one deleted there, code, and CORE.md."""
    write(root, ".gitattributes", "")
    for name in ("edited", "gone-here", "gone-there", "begun"):
        write(root, f"vault/{name}.md", f"---\nid: {new_id()}\ntype: fact\n---\nThe {name} valve is old.\n\nIt drips.\n")
    write(root, "vault/tools/fetch.py", "shared = 1\n")
    commit_all(root, "by hand")
    other = root.with_name("other")
    git(root.parent, "clone", "--quiet", str(root), str(other))
    for at, word in ((other, "red"), (root, "blue")):
        for note in (at / "vault").glob("*.md"):
            note.write_text(note.read_text().replace("old", f"<b>{word}</b>"))
        (at / f"vault/gone-{'here' if at == root else 'there'}.md").unlink()
        write(at, "vault/tools/fetch.py", f"{word} = 1\n")
        commit_all(at, word)
        with Vault.open(at, person=True) as vault:
            vault.remember(f"It is {word}.", kind="decision")
    git(root, "pull", "--quiet", "--no-rebase", str(other), "HEAD", ok=False)
    begun = root / "vault/begun.md"
    begun.write_text(begun.read_text().replace("It drips.", "It drips, by hand."))
    return root


def reached(page: Page, selector: str) -> None:
    """Go on by Tab until the focus is where it is wanted."""
    for _ in range(120):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {selector}")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_pull_of_two_clones_is_settled_by_keys_alone(chromium: Browser, several: Path, width: int) -> None:
    with serving_pages(several) as pages, browsing(chromium, pages, width=width) as found:
        page = found.page
        assert "Git left vault/" in page.inner_text("main") and "4 other files" in page.inner_text("main")
        for name, keep in (
            ("edited", "that"),
            ("gone-here", "that"),
            ("gone-there", "that"),
            ("fetch.py", "this"),
            ("begun", ""),
        ):
            page.goto(f"{pages.url}/review")
            page.wait_for_load_state()
            row = page.locator("main li", has_text=f"{name} valve" if "." not in name else name)
            key = row.get_attribute("id")
            if keep:
                reached(page, f"button[value='{keep} {key}']")
            else:
                assert row.locator("button", has_text="Keep this text").count() == 1 and row.locator("button").count() == 1
                reached(page, f"[id='text-{key}']")
                begun = page.input_value(f"[id='text-{key}']")
                assert "by hand" in begun
                written = f"{begun.partition('<<<<<<<')[0]}The begun valve is both, by hand.\n"
                page.keyboard.press("Control+a")
                page.keyboard.insert_text(written)
                reached(page, f"button[value='text {key}']")
            page.keyboard.press("Enter")
            page.wait_for_selector("#flash >> text=settled")
            assert page.locator("#flash button", has_text="Undo").count() == 0
        assert "left by git" not in page.inner_text("main")
        found.require_quiet()
    assert git(several, "status", "--porcelain") == "" and len(git(several, "log", "-1", "--format=%P").split()) == 2
    texts = {path.name: path.read_text() for path in (several / "vault").rglob("*") if path.is_file()}
    assert "gone-there.md" not in texts and "<b>red</b>" in texts["gone-here.md"] and "<b>red</b>" in texts["edited.md"]
    assert texts["fetch.py"] == "blue = 1\n" and "by hand" in texts["begun.md"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_where_texts_are_settled(chromium: Browser, several: Path, width: int, scheme: str) -> None:
    axe = axe_source()
    kept = several / "vault/twice.md"
    places = f"{OPEN}\nIt hums.\n{OR}\nIt roars.\n{END}\n"
    kept.write_text(f"---\nid: {new_id()}\ntype: fact\ncolour: red\nunsettled: ['colour: blue']\n---\nThe pump.\n\n{places}")
    kept.with_name("twice.sync-conflict-20261125-101010-ABCDEFG.md").write_text(kept.read_text().replace("hums", "sings"))
    with (
        serving_pages(several) as pages,
        browsing(chromium, pages, width=width, color_scheme=scheme, bypass_csp=True) as found,
    ):
        for path in ("/", "/review", "/health", "/consolidate/packet"):
            found.page.goto(pages.url + path)
            found.page.evaluate(axe)
            assert found.page.evaluate(AXE) == [], path
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
