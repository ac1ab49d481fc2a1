"""The jobs that people do on the page, each in so many presses: counted in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.git_repos import write
from tests.web.conftest import Served, Told, browsing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROKEN = "vault/broken.md"


class Person:
    """Somebody who presses and types; what is pressed is counted."""

    def __init__(self, page: Page, served: Served) -> None:
        self.page, self._url = page, served.url
        self.presses = 0

    def at(self, path: str) -> None:
        """Begin a job at a page."""
        self.page.goto(self._url + path)
        self.page.wait_for_load_state()
        self.presses = 0

    def press(self, selector: str, text: str = "") -> None:
        """Press what is seen."""
        self.presses += 1
        (self.page.locator(selector, has_text=text) if text else self.page.locator(selector)).first.click()
        self.page.wait_for_load_state()

    def type(self, selector: str, text: str) -> None:
        """Put a text in place of what a field says."""
        self.page.locator(selector).first.fill(text)

    def sees(self, text: str) -> None:
        """Wait for a text on the page."""
        self.page.wait_for_selector(f"main >> text={text}")


def test_jobs_that_look(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        one = Person(found.page, served)
        one.at("/")  # what a session gets: no press
        one.sees("What a session gets")
        assert one.page.locator(".told li").first.is_visible()
        one.press(".numbers a", "new this week")  # what was stored this week
        assert "since=7d" in one.page.url and one.page.locator(f'[id="m-{ids["hum"]}"]').is_visible() and one.presses == 1
        one.at("/memories?q=what+keeps+the+heat+pump+running")  # why this answer
        one.press(f'[id="m-{ids["solved"]}"] a.title')
        one.sees("Why it was found")
        assert one.presses == 1
        one.at(f"/memory/{ids['ann']}")  # why not that one
        one.type("#why", "what of the heat pump")
        one.press(".ask-why button")
        one.page.wait_for_selector(".fate .tag")
        assert one.presses <= 2
        one.at("/")  # all data
        one.press(".foot a[href='/settings']")
        with one.page.expect_download() as download:
            one.press("a[href='/export.jsonl']")
        assert ids["hum"] in Path(download.value.path()).read_text("utf-8") and one.presses == 2
        found.require_quiet()


def test_jobs_that_change(chromium: Browser, told: Told) -> None:
    served, ids = told
    write(served.root, BROKEN, "---\nid: [\n---\nThe quay is closed.\n")
    with browsing(chromium, served) as found:
        one = Person(found.page, served)
        one.at(f"/memory/{ids['hum']}")  # a wrong memory is corrected
        one.press("#edit")
        one.type("main textarea", "The heat pump of the lab whistles at night.")
        one.press("main button", "Save")
        one.sees("whistles at night")
        assert one.presses + 1 <= 3
        one.at(f"/memory/{ids['old']}")  # deleted, and back
        one.press("summary", "Delete")
        one.press("form[action$='/delete'] button")
        one.page.wait_for_selector("#flash")
        assert one.presses == 2
        one.press("#flash button", "Undo")
        one.page.wait_for_selector("#flash >> text=Taken back")
        one.at(f"/memory/{ids['old']}")
        one.sees("The lab opens at eight")
        for verdict in ("refuse", "accept"):  # refused, back, accepted, back
            one.at("/review")
            one.press(f"button[value='{verdict} {ids['waiting']}']")
            one.page.wait_for_selector("#flash button >> text=Undo")
            assert one.presses == 1
            one.press("#flash button", "Undo")
            one.page.wait_for_selector("#flash >> text=Taken back")
        one.at("/subject/Lab")  # two subjects become one, after a look at what that is
        one.press("summary", "Merge")
        one.type("#gone", "Heat pump")
        one.press("main button", "Preview")
        one.sees("Merge")
        one.press("main button.main")
        one.page.wait_for_selector("#flash")
        assert one.presses == 3 and one.page.locator("#flash button", has_text="Undo").is_visible()
        one.at("/")  # a broken file is mended
        one.press(".places a[href='/health']")
        one.press("main a", "Edit the file")
        one.type("main textarea", "The quay is closed, says the harbour master.\n")
        one.press("main button", "Save")
        one.page.wait_for_selector("#flash")
        assert one.presses == 3
        found.require_quiet()
