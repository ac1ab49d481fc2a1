"""Every page in a real browser: at both widths nothing is complained of, and without script it reads as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.web.conftest import WIDTHS, Served, browsing, serving_pages
from vault_tool import Vault

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("/", "/commit/HEAD", "/no-such-page")
"""Every page, as an address in the vault of this module."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("pages") / "lab"
    Vault.init(root, name="Lab")
    with Vault.open(root, origin="owner") as vault:
        vault.remember("The heat pump of the lab hums at night.", ["heat pump"])
    with serving_pages(root) as found:
        yield found


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_complains_or_is_wider_than_its_window(chromium: Browser, served: Served, width: int) -> None:
    with browsing(chromium, served, width=width) as found:
        for path in PAGES:
            found.page.goto(served.url + path)
            found.page.wait_for_selector("main h1")
            assert found.page.evaluate("document.documentElement.scrollWidth") <= width, path
        wanted = [one for one in found.complaints if "404" not in one]
        assert wanted == []


def test_every_page_reads_without_script(served: Served) -> None:
    for path in PAGES[:-1]:
        text = served.get(path)
        assert re.search(r"<h1[ >]", text), path
        assert "<script>" not in text and "style=" not in text and " on" + "click" not in text, path
