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
    from playwright.sync_api import Browser, Page

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
    "/consolidate/packet",
)
"""Every page, as an address in the vault of this module: names in braces are those of `tell`, and the day."""

FORMS: tuple[tuple[str, dict[str, list[str]], int], ...] = (
    ("/erase", {"user": ["ann"]}, 200),
    ("/erase", {"user": ["ann"], "purge": ["1"]}, 200),
    ("/erase", {"user": ["ann"], "again": ["anna"]}, 200),
    ("/purge", {"id": ["{hum}"]}, 200),
    ("/consolidate/preview", {"subject": ["Heat pump"], "content": ["It is loud."], "summary": ["Loud"]}, 200),
    (
        "/consolidate/preview",
        {"subject": ["Heat pump"], "current": ["{understood}"], "content": ["It is loud."], "source": ["{hum}"]},
        200,
    ),
    ("/memories/many", {"do": ["delete"], "id": ["{hum}", "{ann}"]}, 200),
    ("/review/decide", {"verdict": ["refuse"], "id": ["{waiting}", "{wanted}"]}, 200),
    ("/memory/{hum}/edit", {"text": ["Mine.\n"], "was": ["0" * 64]}, 409),
    ("/mend", {"path": ["{broken}"], "text": ["---\nid: [\n---\nMine.\n"], "was": ["0" * 64]}, 409),
    ("/consolidate/preview", {"content": [""]}, 400),
)
"""Pages that answer a form and write nothing: what would be done, what two wrote, what went wrong; with their status."""

SEND = """([path, fields]) => {
  const form = Object.assign(document.createElement("form"), {method: "post", action: path});
  for (const [name, values] of Object.entries(fields))
    for (const value of values) form.append(Object.assign(document.createElement("textarea"), {name, value}));
  document.body.append(form);
  form.submit();
}"""

Told = tuple[Served, list[str], list[tuple[str, dict[str, list[str]], int]]]

BROKEN = "vault/broken.md"

AXE = """axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
.then((one) => one.violations.map((v) => v.id + ": " + v.nodes[0].html))"""


@pytest.fixture(scope="module")
def told(story: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The story's vault, served, with a pass that began; the addresses of its pages, and the forms."""
    made, ids = story
    root = own_copy(made, tmp_path_factory.mktemp("pages") / "lab")
    with serving_pages(root) as found:
        with found.vault() as vault:
            today = vault.now()[:10]
            for beam in range(6):
                vault.remember(f"The attic leaks at beam {beam}.", ["Attic"])
            vault.begin_consolidation()
            agent = vault.as_(origin="agent", user="ann")
            wanted = agent.remember("Perhaps Ann likes rain.", ["Ann"], ask=True).id
        names = {**ids, "today": today, "broken": BROKEN, "wanted": wanted}
        forms = [
            (path.format(**names), {name: [value.format(**names) for value in given] for name, given in fields.items()}, status)
            for path, fields, status in FORMS
        ]
        write(root, BROKEN, "---\nid: [\n---\nThe quay is closed.\n")
        yield found, [path.format(**names) for path in PAGES], forms


def _send(page: Page, path: str, fields: dict[str, list[str]]) -> int:
    """Send a form from the page that is open; the status of the page that answers it."""
    with page.expect_navigation() as answer:
        page.evaluate(SEND, [path, fields])
    return answer.value.status if answer.value is not None else 0


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_complains_or_is_wider_than_its_window(chromium: Browser, told: Told, width: int) -> None:
    served, paths, forms = told
    with browsing(chromium, served, width=width) as found:
        for path in paths:
            answer = found.page.goto(served.url + path)
            assert answer is not None and answer.status == 200, path
            found.page.wait_for_selector("main h1")
            assert found.page.evaluate("document.documentElement.scrollWidth") <= width, path
            ids = found.page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.getAttribute('id'))")
            assert len(ids) == len(set(ids)), path
            found.require_quiet()
        for path, fields, status in forms:
            found.page.goto(served.url + "/settings")
            assert _send(found.page, path, fields) == status, (path, fields)
            assert found.page.evaluate("document.documentElement.scrollWidth") <= width, (path, fields)


def axe_source() -> str:
    """The script that finds faults of accessibility; a test is skipped where none is named."""
    if "VAULT_TEST_AXE" not in os.environ:
        pytest.skip("VAULT_TEST_AXE names no axe.min.js of axe-core (npm)")
    return Path(os.environ["VAULT_TEST_AXE"]).read_text("utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(chromium: Browser, told: Told, width: int, scheme: str) -> None:
    axe = axe_source()
    served, paths, forms = told
    with browsing(chromium, served, width=width, color_scheme=scheme, bypass_csp=True) as found:
        for path in paths:
            found.page.goto(served.url + path)
            found.page.evaluate(axe)
            assert found.page.evaluate(AXE) == [], path
        for path, fields, _ in forms:
            found.page.goto(served.url + "/settings")
            _send(found.page, path, fields)
            found.page.evaluate(axe)
            assert found.page.evaluate(AXE) == [], (path, fields)
        found.page.keyboard.press("Control+k")
        found.page.wait_for_selector("#palette[open]")
        assert found.page.evaluate(AXE) == [], "the palette"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_an_empty_vault_and_in_what_it_proposes(
    chromium: Browser, served: Served, width: int, scheme: str
) -> None:
    axe = axe_source()

    def faults(page: Page, path: str) -> list[str]:
        page.goto(served.url + path)
        page.evaluate(axe)
        found: list[str] = page.evaluate(AXE)
        return [f"{path}: {fault}" for fault in found]

    with browsing(chromium, served, width=width, color_scheme=scheme, bypass_csp=True) as found:
        paths = (
            "/",
            "/memories",
            "/subjects",
            "/review",
            "/consolidate",
            "/people",
            "/time",
            "/sessions",
            "/health",
            "/settings",
        )
        assert [fault for path in paths for fault in faults(found.page, path)] == []
        with served.vault() as vault:
            vault.remember("PostgreSQL 16 runs on db1.", ["PostgreSQL"])
            vault.remember("Postgres is backed up at three.", ["Postgres"])
            for at in range(30):
                vault.remember(f"Supplier {at} delivers on Friday.", ["Suppliers"])
        assert faults(found.page, "/subjects") == []
        assert "Are these one?" in found.page.inner_text("main")
        assert faults(found.page, "/memories") == []
        for _ in range(4):
            found.page.mouse.wheel(0, 9)
            found.page.wait_for_timeout(50)
            assert found.page.evaluate(AXE) == [], "a row that is half below the foot of the page"


def test_every_page_reads_without_script(told: Told) -> None:
    served, paths, forms = told
    for path in paths:
        text = served.get(path)
        assert re.search(r"<h1[ >]", text), path
        # Nothing that the content policy would stop, either.
        assert not re.search(r"<script(?! src=)|<style| style=| on[a-z]+=|<iframe|<object", text), path
    for path, fields, status in forms:
        text = served.post(path, fields, status)
        assert re.search(r"<h1[ >]", text), path
        assert not re.search(r"<script(?! src=)|<style| style=| on[a-z]+=|<iframe|<object", text), path


def test_what_is_not_there_is_said_in_a_page(told: Told) -> None:
    served, _, _ = told
    assert "There is no such page" in served.get("/no-such-page", 404)
    assert "nothing is about `zoe`" in served.get("/person", 404, name="zoe")
    assert "is no day" in served.get("/time/yesterday", 400)
    assert "no kept turn" in served.get("/turn/abcdef12", 404)
