"""The palette, in a real browser: by keys alone to a page, a memory, an action; Escape gives the focus back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.conftest import Told, browsing

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_it_leads_by_keys_to_pages_memories_and_actions(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        add = page.locator(".top a[href='/add']")
        add.focus()
        page.keyboard.press("Control+k")
        page.wait_for_selector("#palette[open]")
        # Its keys are its own: none of the page acts meanwhile.
        page.keyboard.type("review")
        assert page.url == f"{served.url}/" and page.locator("#palette-words").input_value() == "review"
        page.keyboard.press("Escape")
        page.wait_for_selector("#palette:not([open])", state="attached")
        assert add.evaluate("(one) => one === document.activeElement")
        # A memory, by its words.
        page.keyboard.press("Control+k")
        page.keyboard.type("heater drain")
        option = page.locator("#palette-list [data-found]", has_text="A heater in the drain")
        option.wait_for()
        while option.get_attribute("aria-selected") != "true":
            page.keyboard.press("ArrowDown")
        assert page.locator("#palette-words").get_attribute("aria-activedescendant") == option.get_attribute("id")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.url == f"{served.url}/memory/{ids['solved']}"
        # An action, and a page.
        page.wait_for_load_state()
        page.keyboard.press("Control+k")
        page.keyboard.type("dark")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.wait_for_load_state()
        assert page.locator("html").get_attribute("data-theme") == "dark"
        page.keyboard.press("Control+k")
        page.keyboard.type("peop")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.url == f"{served.url}/people"
        found.require_quiet()


def test_what_it_is_answered_is_no_more_than_search_shows_and_is_for_nobody_else(told: Told) -> None:
    served, ids = told
    answer = served.client.get("/palette", params={"q": "pump"}).json()
    assert {"what": "subject", "title": "Heat pump", "to": "/subject/Heat%20pump"} in answer
    assert f"/memory/{ids['solved']}" in [one["to"] for one in served.client.get("/palette", params={"q": "heater dra"}).json()]
    assert f"/memory/{ids['hum']}" in [one["to"] for one in answer]
    with served.vault() as vault:
        vault.consent(ids["ann"], "withdrawn", as_user="ann")
    assert "ferry" not in served.client.get("/palette", params={"q": "ferry"}).text
    assert served.client.get("/palette", params={"q": '"half typed'}).status_code == 200
    assert served.client.get("/palette").json() == []
    served.client.cookies.clear()
    assert served.client.get("/palette", params={"q": "pump"}, headers={"accept": "*/*"}).status_code == 401
