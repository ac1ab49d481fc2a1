"""What another origin's page can do in the same browser, and what hostile notes can: nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import git
from tests.web.conftest import CHROMIUM, Served, browsing, serving_pages
from vault_tool import Vault
from vault_tool.web.rendering import markdown

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVIL = """<!doctype html><title>evil</title>
<iframe id="frame" src="{to}/people"></iframe><iframe name="sink"></iframe>
<form id="form" method="post" action="{to}/seen" target="sink"><input name="commit" value="forged"></form>
<script src="{to}/map.json"></script>
<script>
const to = "{to}", got = [];
const note = (name, what) => got.push(name + ": " + what);
const wait = () => new Promise((done) => setTimeout(done, 300));
const ours = (text) => text.includes("ann");
async function attack() {{
  for (const mode of ["cors", "no-cors"]) {{
    try {{
      const answer = await fetch(to + "/people", {{ credentials: "include", mode }});
      note("read " + mode, ours(await answer.text()));
    }} catch (fault) {{ note("read " + mode, "refused"); }}
  }}
  for (const path of ["/do/reflect", "/start/new"]) {{
    try {{ await fetch(to + path, {{ method: "POST", credentials: "include", mode: "no-cors", body: "a=b" }}); }}
    catch (fault) {{ note("posted", "refused"); }}
  }}
  document.getElementById("form").submit();
  await wait();
  try {{ note("frame", ours(document.getElementById("frame").contentDocument.body.innerText)); }}
  catch (fault) {{ note("frame", "refused"); }}
  const opened = window.open(to + "/people");
  await wait();
  try {{ note("opened", ours(opened.document.body.innerText)); }} catch (fault) {{ note("opened", "refused"); }}
  document.title = got.join("; ");
}}
addEventListener("load", attack);
</script>"""


@contextmanager
def _site(text: str) -> Iterator[int]:
    """Another site on this machine, with one page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def told(retold: tuple[Path, dict[str, str]]) -> Iterator[Served]:
    with serving_pages(retold[0]) as found:
        yield found


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_another_origins_page_neither_reads_posts_nor_frames(chromium: Browser, told: Served, name: str) -> None:
    before = git(told.root, "rev-parse", "HEAD"), sorted(path.name for path in (told.root / "_local").iterdir())
    with _site(EVIL.format(to=told.url)) as port, browsing(chromium, told) as found:
        page = found.page.context.new_page()  # in the same browser, with its cookies
        page.goto(f"http://{name}:{port}/")
        for _ in range(200):
            if page.title() != "evil":
                break
            page.wait_for_timeout(50)
        said = page.title()
    assert "true" not in said and "read cors: refused" in said and "frame: refused" in said, said
    after = git(told.root, "rev-parse", "HEAD"), sorted(path.name for path in (told.root / "_local").iterdir())
    assert after == before


def test_a_name_that_leads_here_is_not_ours(chromium: Browser, told: Served) -> None:
    rules = f"--host-resolver-rules=MAP evil.example 127.0.0.1:{told.port}"
    browser = chromium.browser_type.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", rules])
    page = browser.new_page()
    answer = page.goto(f"http://evil.example:{told.port}/")
    assert answer is not None and answer.status == 403
    assert "does not go by that name" in page.content() and "Lab" not in page.content()
    browser.close()


def test_a_stolen_link_is_of_no_use(chromium: Browser, told: Served) -> None:
    link = told.link
    first, second = chromium.new_context(), chromium.new_context()
    page = first.new_page()
    page.goto(link)
    page.wait_for_url(f"{told.url}/")
    assert "#" not in page.url and page.locator("h1").inner_text() == "Home"
    other = second.new_page()
    other.goto(link)
    other.wait_for_selector("text=used already")
    assert "Lab" not in other.content()
    assert page.evaluate("document.cookie") == ""
    for one in (first, second):
        one.close()


_PAYLOADS = (
    "<script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "<svg onload='window.owned = 1'><script>window.owned = 1</script></svg>",
    "[press](javascript:window.owned=1)",
    "[press](JaVaScRiPt:window.owned=1)",
    "[press](data:text/html,<script>window.owned=1</script>)",
    "[press](vbscript:x)",
    "![remote](http://evil.example/pixel.png)",
    "![remote](//evil.example/pixel.png)",
    "<iframe src='http://evil.example/'></iframe>",
    "<form action='/do/reflect' method='post'><button>Accept</button></form>",
    "<button name='verdict' value='accept' form='decide'>Accept</button>",
    "<a href='/x' hx-get='/do/reflect' hx-trigger='load'>x</a>",
    "<div hx-on:load='window.owned=1' data-hx-get='/people' hx-trigger='load'></div>",
    "<style>body { display: none }</style>",
    "<meta http-equiv='refresh' content='0;url=http://evil.example/'>",
    "<base href='http://evil.example/'>",
    "<link rel='stylesheet' href='http://evil.example/x.css'>",
    "</textarea><script>window.owned = 1</script>",
    "</pre></main><h1>Forged</h1>",
    "[[x|<script>window.owned = 1</script>]]",
    "[[../../etc/passwd]]",
    "[[javascript:window.owned=1]]",
    "{{ 7 * 7 }}{% include 'base.html' %}",
    "\u202eelbasrever si siht",
    "\u2066hidden\u2069 \u200b\u200bzero width",
    "<details open ontoggle='window.owned = 1'>x</details>",
    "<math><mtext></form><form><mglyph><style></math><img src=x onerror=window.owned=1>",
    "`</code><script>window.owned = 1</script>`",
    "[a]: javascript:window.owned=1\n\n[a]",
    "this:\n\n| left | right |\n|:--|--:|\n| 1 | 2 |",
)


def test_hostile_notes_run_nothing_and_forge_nothing(chromium: Browser, tmp_path: Path) -> None:
    root = tmp_path / "lab"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root, origin="agent", session="</title><script>window.owned=1</script>") as vault:
        ids = [vault.remember("Note 0 says <b>nothing</b>, and its title is made of it.", ["Evil"]).id]
        for number, text in enumerate(_PAYLOADS, 1):
            title, about = " ".join(text.split())[:150], ["Evil", f"S {number} <b>"]
            ids.append(vault.remember(f"Note {number} says {text}", about, title=title, tags=["<i>x</i>"]).id)
        vault.mark_questionable(ids[0], "<script>window.owned = 1</script>")
        vault.link(ids[0], "RELATED_TO", ids[1], why="<img src=x onerror=window.owned=1>")
    with serving_pages(root) as served, browsing(chromium, served) as found:
        page = found.page
        buttons = ["Pin", "Unpin", "Useful", "Flag it", "Change tags", "Link them", "Unlink", "Close"]
        buttons += ["Add a newer fact", "Write the new version", "Delete", "Why not?", "Hide", "Unhide"]
        paths = [
            "/",
            "/time",
            "/people",
            "/health",
            "/around/Evil",
            "/ask?q=note+says",
            "/subjects",
            "/subject/Evil",
        ]
        for path in (*paths, *(f"/memory/{one}" for one in ids)):
            page.goto(served.url + path)
            assert page.evaluate("window.owned === undefined"), path
            assert page.locator("main iframe, main style, main base, main object, main [hx-on\\:load], main img").count() == 0, (
                path
            )
            assert page.locator("h1").count() == 1, path
            assert not page.url.startswith("http://evil"), path
        page.goto(f"{served.url}/memory/{ids[11]}")
        shown = {one.strip() for one in page.locator("main button").all_inner_texts()} - {""}
        assert shown <= {*buttons}, "no note makes a button"
        for one in ids:
            page.goto(f"{served.url}/memory/{one}/edit")
            assert page.evaluate("window.owned === undefined")
        found.require_quiet()
    assert "\u202e" not in unescape(str(markdown(_PAYLOADS[24])))


def test_a_note_made_hostile_while_the_page_is_open(chromium: Browser, told: Served) -> None:
    with told.vault() as vault:
        shown = vault.show(str(vault.search("heat pump hums").results[0].id))
    path = told.root / shown.path
    with browsing(chromium, told) as found:
        page = found.page
        page.goto(f"{told.url}/memory/{shown.id}")
        text = path.read_text("utf-8").replace(
            "hums at night", "hums <img src=x onerror=window.owned=1> [x](javascript:window.owned=1)"
        )
        path.write_text(text, "utf-8")
        page.wait_for_selector("text=onerror=window.owned")
        assert page.evaluate("window.owned === undefined")
        assert page.locator("main a[href^=javascript]").count() == 0 and page.locator("main img").count() == 0
        found.require_quiet()
