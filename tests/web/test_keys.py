"""A key acts on the item that was chosen, in a real browser: nothing that waits goes by accident, and what goes comes back."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.web.conftest import Served, browsing, serving_pages
from vault_tool import Vault

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TEXTS = ("Perhaps the crane sways.", "Perhaps the crane hums.", "Perhaps the crane rusts.")


@pytest.fixture
def waiting(root: Path) -> Iterator[tuple[Served, list[str]]]:
    """A vault in which three memories wait, and their ids in the order of the list."""
    with Vault.open(root, origin="agent") as vault:
        for text in TEXTS:
            vault.remember(text, ["Crane"], ask=True)
    with serving_pages(root) as found:
        with found.vault() as vault:
            ids = [one.id for one in vault.review().results]
        yield found, ids


def left(served: Served) -> list[str]:
    with served.vault() as vault:
        return [one.id for one in vault.review().results]


def review(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/review")
    page.wait_for_load_state()


def test_a_key_with_nothing_chosen_decides_nothing(chromium: Browser, waiting: tuple[Served, list[str]]) -> None:
    served, ids = waiting
    with browsing(chromium, served) as found:
        page = found.page
        review(page, served)
        # Every key of an item, capital or not, and keys that are held down.
        for key in ("r", "a", "e", "x", "R", "A"):
            page.keyboard.press(key)
        page.keyboard.down("r")
        page.keyboard.down("r")
        page.keyboard.up("r")
        # The documented way to Review, typed slowly: the second key leads there, however late it comes.
        page.keyboard.press("g")
        page.wait_for_timeout(1800)
        with page.expect_navigation():
            page.keyboard.press("r")
        page.wait_for_load_state()
        # And with one chosen.
        page.keyboard.press("j")
        page.keyboard.press("g")
        page.wait_for_timeout(1800)
        with page.expect_navigation():
            page.keyboard.press("r")
        found.require_quiet()
        # While the list of keys is open, keys are read there.
        page.wait_for_load_state()
        page.keyboard.press("j")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("r")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog:not([open])", state="attached")
    assert left(served) == ids


def test_a_refusal_is_of_the_chosen_one_and_u_takes_it_back(chromium: Browser, waiting: tuple[Served, list[str]]) -> None:
    served, ids = waiting
    with browsing(chromium, served) as found:
        page = found.page
        review(page, served)
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("r")
        page.wait_for_selector("#flash >> text=1 rejected")
        page.wait_for_load_state()
        assert left(served) == [ids[0], ids[2]]
        page.keyboard.press("u")
        page.wait_for_selector("#flash >> text=it waits again")
        assert sorted(left(served)) == sorted(ids)
        found.require_quiet()


def test_what_is_chosen_stays_chosen_when_another_goes_before_it(chromium: Browser, waiting: tuple[Served, list[str]]) -> None:
    served, ids = waiting
    with browsing(chromium, served) as found:
        page = found.page
        review(page, served)
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.locator("[data-item].chosen").get_attribute("id") == ids[1]
        with served.vault() as vault:
            vault.review(accept=[ids[0]])  # a commit: the page is shown anew
        page.wait_for_selector(f'[id="{ids[0]}"]', state="detached")
        assert page.locator("[data-item].chosen").get_attribute("id") == ids[1]
        # The chosen one itself goes: then nothing is chosen, and the key is nobody's.
        with served.vault() as vault:
            vault.review(accept=[ids[1]])
        page.wait_for_selector(f'[id="{ids[1]}"]', state="detached")
        assert page.locator("[data-item].chosen").count() == 0
        page.keyboard.press("r")
    assert left(served) == [ids[2]]


def test_no_key_of_an_item_is_pressed_on_any_page_with_nothing_chosen(
    chromium: Browser, retold: tuple[Path, dict[str, str]]
) -> None:
    root, ids = retold
    pages = (
        "/",
        "/memories",
        "/memories?q=pump",
        "/subjects",
        "/subject/Lab",
        "/review",
        "/people",
        "/time",
        "/health",
        f"/memory/{ids['hum']}",
    )
    with serving_pages(root) as served, browsing(chromium, served) as found:
        page = found.page
        for path in pages:
            page.goto(f"{served.url}{path}")
            page.wait_for_load_state()
            # Every button of an item gets every key that any page knows.
            page.evaluate(
                """() => { window.pressed = [];
                document.querySelectorAll("[data-item] button").forEach((one, at) => {
                  one.dataset.key = "qyz"[at % 3];
                  one.addEventListener("click", (event) => { event.preventDefault(); window.pressed.push(one.textContent); });
                }); }"""
            )
            for key in "qyz":
                page.keyboard.press(key)
            assert page.evaluate("window.pressed") == [], path
            assert page.url.startswith(f"{served.url}{path}"), path


def test_many_at_once_are_asked_for_and_come_back_together(waiting: tuple[Served, list[str]]) -> None:
    served, ids = waiting
    asked = unescape(served.post("/review/decide", {"verdict": "refuse", "id": ids}))
    assert "Reject 3 memories?" in asked and all(text.rstrip(".") in asked for text in TEXTS)
    assert left(served) == ids
    done = served.post("/review/decide", {"verdict": "refuse", "id": ids, "sure": "1"})
    assert "3 rejected: kept for 30 days" in done and left(served) == []
    assert all(f'name="id" value="{one}"' in done for one in ids)
    assert "3 drafts rejected in the last 30 days" in served.get("/review")
    lying = unescape(served.get("/review/bin"))
    assert all(text in lying for text in TEXTS)
    assert "3 wait again" in served.post("/review/restore", {"id": ids})
    assert sorted(left(served)) == sorted(ids)
    # One alone is not asked for: Undo is beside it.
    assert "1 rejected" in served.post("/review/decide", {"verdict": f"refuse {ids[0]}"})
