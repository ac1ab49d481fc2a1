"""Every page in a real browser: at both widths nothing is complained of, and without script it reads as well."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.founding import own_copy
from tests.git_repos import write
from tests.web.conftest import WIDTHS, Served, browsing, serving_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = (
    "/",
    "/add",
    "/commit/HEAD",
    "/health",
    "/mend?path={broken}",
    "/health/proof",
    "/settings",
    "/time",
    "/sessions",
    "/panel/{hum}",
    "/time/{today}",
    "/session?name=monday",
    "/people",
    "/person?name=ann",
    "/turn/{turn}?replay=1",
    "/subjects",
    "/subjects?order=coverage&like=pump",
    "/subject/Heat%20pump",
    "/intersection?a=Heat+pump&b=Lab",
    "/around/Heat%20pump",
    "/review",
    "/review/bin",
    "/subjects?order=size",
    "/merge?keep=Heat+pump&gone=Lab",
    "/consolidate",
    "/memories",
    "/memories?open={hum}&sort=decay&tag=noise",
    "/memories?q=heat+pump",
    "/memories?q=what+of+the+pump+in+the+cold&open={problem}",
    "/memories?q=what+of+the+pump+in+the+cold&why_not={old}",
    "/memory/{hum}",
    "/memory/{understood}",
    "/memory/{ann}",
    "/memory/{hum}?edit=1",
    "/memory/{ann}?why=what+of+the+pump",
    "/memory/{hum}/edit",
    "/around/{solved}",
    "/memory/{hum}/forget",
)
"""Every page, as an address in the vault of this module: names in braces are those of `tell`, and the day."""


BROKEN = "vault/broken.md"

AXE = """axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
.then((one) => one.violations.map((v) => v.id + ": " + v.nodes[0].html))"""


@pytest.fixture(scope="module")
def told(story: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, list[str]]]:
    """The story's vault, served, and the addresses of its pages."""
    made, ids = story
    root = own_copy(made, tmp_path_factory.mktemp("pages") / "lab")
    with serving_pages(root) as found:
        with found.vault() as vault:
            today = vault.now()[:10]
        write(root, BROKEN, "---\nid: [\n---\nThe quay is closed.\n")
        yield found, [path.format(**ids, today=today, broken=BROKEN) for path in PAGES]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_complains_or_is_wider_than_its_window(chromium: Browser, told: tuple[Served, list[str]], width: int) -> None:
    served, paths = told
    with browsing(chromium, served, width=width) as found:
        for path in paths:
            answer = found.page.goto(served.url + path)
            assert answer is not None and answer.status == 200, path
            found.page.wait_for_selector("main h1")
            assert found.page.evaluate("document.documentElement.scrollWidth") <= width, path
            ids = found.page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.getAttribute('id'))")
            assert len(ids) == len(set(ids)), path
            found.require_quiet()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(chromium: Browser, told: tuple[Served, list[str]], width: int, scheme: str) -> None:
    if "VAULT_TEST_AXE" not in os.environ:
        pytest.skip("VAULT_TEST_AXE names no axe.min.js of axe-core (npm)")
    axe = Path(os.environ["VAULT_TEST_AXE"]).read_text("utf-8")
    served, paths = told
    with browsing(chromium, served, width=width, color_scheme=scheme, bypass_csp=True) as found:
        for path in paths:
            found.page.goto(served.url + path)
            found.page.evaluate(axe)
            assert found.page.evaluate(AXE) == [], path
        found.page.keyboard.press("Control+k")
        found.page.wait_for_selector("#palette[open]")
        assert found.page.evaluate(AXE) == [], "the palette"


def test_every_page_reads_without_script(told: tuple[Served, list[str]]) -> None:
    served, paths = told
    for path in paths:
        text = served.get(path)
        assert re.search(r"<h1[ >]", text), path
        # Nothing that the content policy would stop, either.
        assert not re.search(r"<script(?! src=)|<style| style=| on[a-z]+=|<iframe|<object", text), path


def test_what_is_not_there_is_said_in_a_page(told: tuple[Served, list[str]]) -> None:
    served, _ = told
    assert "There is no such page" in served.get("/no-such-page", 404)
    assert "nothing is about `zoe`" in served.get("/person", 404, name="zoe")
    assert "is no day" in served.get("/time/yesterday", 400)
    assert "no kept turn" in served.get("/turn/abcdef12", 404)
