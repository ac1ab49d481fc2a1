"""Two who edit one note: what each changed is in it where that is apart, a person chooses the rest, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import git
from tests.web.conftest import Served, browsing, serving_pages
from vault_tool import Vault

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BODY = "The first line of the note.\n\nThe second line of it.\n\nThe third line of it.\n\nThe last line of it."


@pytest.fixture
def note(root: Path) -> Iterator[tuple[Served, str, Path]]:
    """A served vault with one note of several lines: its page's address and its file."""
    with Vault.open(root, origin="agent", session="s") as vault:
        made = vault.remember(BODY, ["Security"], tags=["one"])
    with serving_pages(root) as served:
        yield served, f"/memory/{made.id}/edit", root / made.path


def fields(text: str) -> dict[str, str]:
    """What the form of a page would send as it stands."""
    form = re.search(r'<form method="post" action="[^"]*/edit">(.*?)</form>', text, re.DOTALL)
    assert form
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form.group(1))
    area = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", form.group(1), re.DOTALL)
    assert area
    return {**{name: unescape(value) for name, value in hidden}, "text": unescape(area.group(1))}


def change(path: Path, old: str, new: str) -> None:
    data = path.read_bytes()
    assert old.encode() in data
    path.write_bytes(data.replace(old.encode(), new.encode(), 1))


def in_history(root: Path, text: str) -> bool:
    return bool(git(root, "log", "--all", "--format=%H", f"-S{text}"))


def test_what_is_apart_is_put_together_without_a_question(note: tuple[Served, str, Path]) -> None:
    served, page, path = note
    form = fields(served.get(page))
    change(path, "- Security\n", "- Security\n  - Cookies\n") if "- Security\n" in path.read_text() else change(
        path, "[Security]", "[Security, Cookies]"
    )
    change(path, "The first line", "The very first line")
    text = form["text"].replace("\n", "\r\n").rstrip() + "\r\n\r\nAnd one more, from the page.\r\n"
    done = unescape(served.post(page, {**form, "text": text}))
    assert ": saved" in done and "what was saved meanwhile is in it too" in done
    now = path.read_text("utf-8")
    assert "Cookies" in now and "The very first line" in now and "And one more, from the page." in now and "\r" not in now
    assert git(served.root, "status", "--porcelain") == ""
    # The hand edit has a commit of its own, before the page's.
    subjects = git(served.root, "log", "-2", "--format=%s").splitlines()
    assert len(subjects) == 2 and all(one.startswith("edit: ") for one in subjects)
    assert "And one more" not in git(served.root, "show", f"HEAD~1:{path.relative_to(served.root)}")


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize(
    ("theirs", "mine"),
    [
        (("The second line of it.", "The second line, by vim."), ("The second line of it.", "The second line, by the page.")),
        (("The third line of it.", "The third line,\nby vim."), ("The third line of it.", "The page's line.")),
        (("type: general", "type: fact"), ("type: general", "type: insight")),
    ],
)
def test_where_both_changed_one_place_mine_replaces_what_history_has(
    note: tuple[Served, str, Path], theirs: tuple[str, str], mine: tuple[str, str], committed: bool
) -> None:
    served, page, path = note
    change(path, "The last line", "The last line of vim's,")
    change(path, "vim's,", "")
    form = fields(served.get(page))
    change(path, *theirs)
    change(path, "The first line", "UNIQUE line of theirs")
    if committed:
        git(served.root, "commit", "--quiet", "--all", "-m", "by hand")
    before = path.read_bytes()
    typed = form["text"].replace(*mine)
    conflict = served.post(page, {**form, "text": typed}, 409)
    assert path.read_bytes() == before and "UNIQUE line of theirs" in unescape(conflict)
    again = fields(conflict)
    assert again["text"] == typed
    done = served.post(page, again)
    assert ": saved" in done and path.read_text("utf-8") == typed
    assert in_history(served.root, "UNIQUE line of theirs") and git(served.root, "status", "--porcelain") == ""


def test_any_number_of_rounds_and_both_at_the_end(note: tuple[Served, str, Path]) -> None:
    served, page, path = note
    form = fields(served.get(page))
    form["text"] = form["text"].replace("The second line of it.", "The second line, by the page.")
    said = "The second line of it."
    for number in range(3):
        new = f"The second line, by vim, save {number}."
        change(path, said, new)
        said = new
        form = fields(served.post(page, form, 409))
        assert "by the page" in form["text"] and "by the page" not in path.read_text("utf-8")
    done = unescape(served.post(page, {**form, "both": "1"}))
    assert "stands there twice" in done
    now = path.read_text("utf-8")
    assert said in now and "The second line, by the page." in now and now.count("The third line of it.") == 1
    form = fields(served.get(page))
    change(path, "The last line", "The very last line")
    # Committed or not, another place or the same: each save of theirs is in the note or in history.
    served.post(page, {**form, "text": form["text"].replace("The first line", "The page's line")})
    assert "The very last line" in path.read_text("utf-8") and "The page's line" in path.read_text("utf-8")


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_line_ends_and_what_cannot_be_seen_come_through_a_merge(note: tuple[Served, str, Path], ends: str) -> None:
    served, page, path = note
    path.write_bytes(path.read_bytes().replace(b"third", "th\u200bird".encode()).replace(b"\n", ends.encode()))
    form = fields(served.get(page))
    change(path, "The first line", "The very first line")
    typed = form["text"].replace("\r\n", "\n").replace("The last line", "The very last line").replace("\n", "\r\n")
    before = path.read_bytes()
    served.post(page, {**form, "text": typed})
    assert path.read_bytes() == before.replace(b"The last", b"The very last")


def test_a_note_that_was_moved_is_found_and_one_that_is_gone_leaves_what_was_typed(note: tuple[Served, str, Path]) -> None:
    served, page, path = note
    form = fields(served.get(page))
    moved = path.with_name("elsewhere.md")
    change(path, "The first line", "The very first line")
    path.rename(moved)
    served.post(page, {**form, "text": form["text"].replace("The last line", "The very last line")})
    assert "very first" in moved.read_text("utf-8") and "very last" in moved.read_text("utf-8") and not path.exists()

    form = fields(served.get(page))
    kept = moved.read_bytes()
    moved.unlink()
    typed = form["text"].replace("The second", "The page's second")
    gone = served.post(page, {**form, "text": typed}, 404)
    again = fields(gone)
    assert again["text"] == typed and 'role="alert"' in gone
    # Back again, in another place and with other words: what was typed goes in.
    path.write_bytes(kept.replace(b"The third", b"Their third"))
    assert ": saved" in served.post(page, again)
    assert "The page's second" in path.read_text("utf-8") and "Their third" in path.read_text("utf-8")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.replace(b"---\n", b"---\ntags: [a\n", 1),
        lambda data: data + b"The key is " + b"AKIA" + b"QYLPMN5HHHFPZZTZ.\n",
        lambda data: data.replace(b"The first", b"\xff\xfe first"),
    ],
)
def test_what_no_commit_may_hold_is_lost_as_little(note: tuple[Served, str, Path], spoil: Callable[[bytes], bytes]) -> None:
    served, page, path = note
    form = fields(served.get(page))
    theirs = spoil(path.read_bytes())
    path.write_bytes(theirs)
    typed = form["text"].replace("The second", "The page's second")
    answer = served.client.post(page, data={**form, "text": typed})
    again = fields(answer.text)
    assert again["text"].rstrip() == typed.rstrip()
    answer = served.client.post(page, data=again)
    copies = [one.read_bytes() for one in (served.root / "_local").rglob("*.md")]
    held = git(served.root, "log", "--all", "--format=%H", "-SThe page's second")
    # Either nothing was written over it, or it is kept beside.
    assert path.read_bytes() == theirs or theirs in copies, answer.text
    assert bool(held) is (path.read_bytes() != theirs)
    assert "QYLPMN5HHHFPZZTZ" not in git(served.root, "log", "--all", "-p")


def test_without_git_what_is_replaced_is_kept_beside(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    Vault.init(root, no_git=True, who="owner")
    with Vault.open(root, origin="owner") as vault:
        made = vault.remember(BODY)
    path = root / made.path
    with serving_pages(root) as served:
        page = f"/memory/{made.id}/edit"
        form = fields(served.get(page))
        change(path, "The second line of it.", "The second line, by vim.")
        form["text"] = form["text"].replace("The second line of it.", "The second line, by the page.")
        served.post(page, fields(served.post(page, form, 409)))
        assert "by the page" in path.read_text("utf-8")
        assert any(b"by vim" in one.read_bytes() for one in (root / "_local").rglob("*.md"))


def test_in_a_browser(chromium: Browser, note: tuple[Served, str, Path]) -> None:
    served, page, path = note
    with browsing(chromium, served) as found:
        tab = found.page
        tab.goto(f"{served.url}{page}")
        tab.wait_for_load_state()
        # Typed first: until then the page takes up what changes on disk.
        tab.locator("#text").fill(tab.locator("#text").input_value().rstrip() + "\n\nAnd one more, from the page.\n")
        change(path, "The first line", "The very first line")
        tab.wait_for_selector("#changed:not([hidden])")
        tab.get_by_role("button", name="Save").click()
        tab.wait_for_selector("#flash >> text=saved")
        now = path.read_text("utf-8")
        assert "The very first line" in now and "And one more, from the page." in now
        tab.goto(f"{served.url}{page}")
        tab.wait_for_load_state()
        typed = tab.locator("#text").input_value().replace("The second line of it.", "The second line, by the page.")
        tab.locator("#text").fill(typed)
        change(path, "The second line of it.", "The second line, by vim.")
        tab.wait_for_selector("#changed:not([hidden])")
        tab.get_by_role("button", name="Save").click()
        tab.wait_for_selector("#theirs >> text=by vim")
        tab.get_by_role("button", name="Save mine over it").click()
        tab.wait_for_selector("#flash >> text=saved")
        assert "by vim" not in path.read_text("utf-8") and "by the page" in path.read_text("utf-8")
    assert in_history(served.root, "The second line, by vim.")
