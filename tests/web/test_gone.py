"""A page whose server ended, and what a person typed in it; and what Ctrl+Enter, Back and a change on disk do to them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tests.web.conftest import Told, browsing, serving_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NEW = "The heat pump of the lab whistles at night."


def test_a_server_that_ended_is_said_and_what_was_typed_comes_back(
    chromium: Browser, retold: tuple[Path, dict[str, str]]
) -> None:
    root, ids = retold
    with ExitStack() as running:
        served = running.enter_context(serving_pages(root))
        with browsing(chromium, served) as found:
            page = found.page
            page.goto(f"{served.url}/memory/{ids['hum']}?edit=1")
            page.wait_for_load_state()
            page.locator("main textarea").first.fill(NEW)
            running.close()
            page.wait_for_selector("#server-gone:not([hidden])")
            page.locator("main button", has_text="Save").first.click()
            page.wait_for_timeout(100)
            assert page.locator("main textarea").first.input_value() == NEW, "nothing was sent, and nothing is lost"
            # Another server at the same place, and the same tab.
            with serving_pages(root, port=served.port) as again:
                page.on("dialog", lambda asked: asked.accept())
                page.goto(again.link)
                page.wait_for_url(f"{again.url}/")
                page.goto(f"{again.url}/memory/{ids['hum']}?edit=1")
                page.locator("[data-put-back]").click()
                assert page.locator("main textarea").first.input_value() == NEW
                page.locator("main textarea").first.press("Control+Enter")
                page.wait_for_selector("#flash")
                with again.vault() as vault:
                    assert vault.show(ids["hum"]).content.strip() == NEW


def test_back_leads_to_the_list_as_it_was_asked_for(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        page.goto(f"{served.url}/memories")
        page.wait_for_load_state()
        page.locator("#q").fill("heater in the drain")
        page.wait_for_selector("#results[data-q='heater in the drain']")
        asked = page.url
        page.locator(f'[id="m-{ids["solved"]}"] a.title').click()
        page.wait_for_selector(".panel")
        assert "open=" in page.url
        page.go_back()
        page.wait_for_selector("#room:not(.with-panel)")
        assert page.url == asked and page.locator("#q").input_value() == "heater in the drain"
        page.keyboard.press("Escape")
        found.require_quiet()


def test_focus_stays_where_it_was_while_files_change(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        for path, selector in (
            ("/", f"main a[href='/memory/{ids['hum']}']"),
            ("/memories", f'[id="m-{ids["hum"]}"] a.title'),
            ("/", "#every-change summary"),
        ):
            page.goto(served.url + path)
            page.wait_for_load_state()
            one = page.locator(selector).first
            one.focus()
            with served.vault() as vault:
                vault.remember(f"The crane was painted, {path} {selector[:20]}.", ["Crane"])
            page.locator("#live", has_text="brought up to date").wait_for(state="attached")
            assert page.locator(selector).first.evaluate("(one) => one === document.activeElement"), (path, selector)
        found.require_quiet()
