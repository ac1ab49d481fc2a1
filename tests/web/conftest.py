"""What tests of the page share: a vault served on loopback, a client that came in by the link, and a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest

from tests.founding import found_at, own_copy
from tests.nobody import nobodys_machine, packed
from vault_tool import Vault
from vault_tool.mcp.listening import Door, http_server, listening
from vault_tool.web.app import application
from vault_tool.web.door import Entrance

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = Path("/usr/bin/chromium")
BROWSER = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-extensions",
    "--disable-background-networking",
    "--renderer-process-limit=1",
    "--disable-features=site-per-process,Translate,BackForwardCache",
]
WIDTHS = (1280, 390)


@dataclass
class Served:
    """A vault whose pages are served, and how they are asked for."""

    root: Path
    port: int
    entrance: Entrance
    secret: str
    client: httpx.Client = field(init=False)

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def link(self) -> str:
        """A start link that nobody used."""
        return f"{self.url}/#t={self.entrance.new_code()}"

    def come_in(self) -> httpx.Client:
        """A client with the cookie of a browser that came in; what it sends says that our own page sent it."""
        client = httpx.Client(
            base_url=self.url,
            headers={"accept": "text/html", "origin": self.url},
            follow_redirects=True,
            trust_env=False,
            timeout=250,
        )
        assert client.post("/start", data={"code": self.entrance.new_code()}).status_code == 200
        return client

    def get(self, path: str, status: int = 200, **query: str) -> str:
        """A page's text; its status must be the one wanted."""
        found = self.client.get(path, params=query or None)
        assert found.status_code == status, (path, found.status_code, found.text[-2000:])
        return found.text

    def post(self, path: str, data: dict[str, Any] | None = None, status: int = 200) -> str:
        """The text of the page that a form leads to."""
        found = self.client.post(path, data=data or {})
        assert found.status_code == status, (path, found.status_code, found.text[-2000:])
        return found.text

    def vault(self, **options: Any) -> Vault:
        """The vault, opened by the test beside the server, as its owner."""
        return Vault.open(self.root, person=True, **options)


Told = tuple[Served, dict[str, str]]


@contextmanager
def serving_pages(root: Path, port: int = 0) -> Iterator[Served]:
    """Serve the vault at `root` from a thread until this ends, at a port (0: any)."""
    found = listening("127.0.0.1", port)
    served = Served(root, found.getsockname()[1], Entrance(), "the secret of `vt web`")
    app = application(
        root, partial(Vault.open, root, person=True), Door("127.0.0.1", served.port, ""), served.entrance, served.secret
    )
    server = http_server(app)
    thread = threading.Thread(target=anyio.run, args=(partial(server.serve, sockets=[found]),), daemon=True)
    thread.start()
    try:
        with closing(served.come_in()) as served.client:
            yield served
    finally:
        server.should_exit = True
        thread.join()


def tell(root: Path) -> dict[str, str]:
    """A vault in a repository in which a lab, its pumps, Ann and Ben are remembered; the ids of memories by a short name."""
    Vault.init(root, name="Lab")
    with Vault.open(root, origin="agent", session="monday", model="m1") as vault:
        ids = {
            "hum": vault.remember("The heat pump of the lab hums at night.", ["Heat pump", "Lab"], tags=["noise"]).id,
            "problem": vault.remember("The heat pump stops at -10 degrees.", ["Heat pump"], kind="problem").id,
        }
        ids["tried"] = vault.remember(
            "Turning the fan up did not help.", ["Heat pump"], kind="failed_tactic", problem=ids["problem"]
        ).id
        ids["solved"] = vault.remember(
            "A heater in the drain keeps it running.", ["Heat pump"], kind="solution", problem=ids["problem"]
        ).id
        ids["old"] = vault.remember("The lab opens at eight.", ["Lab"]).id
        ids["new"] = vault.remember("The lab opens at nine since May.", ["Lab"], kind="change", change_targets=[ids["old"]]).id
        first = vault.create_understanding(["Heat pump"], "The heat pump is loud, and stops in the cold.", "Loud and frail")
        ids["first"] = first.id
        ids["understood"] = vault.update_understanding(
            first.id, "The heat pump is loud; since the drain is heated it runs in the cold.", "Loud but steady"
        ).new_understanding_id
        vault.episode("We listened at the pump")
    with Vault.open(root, person=True, session="tuesday") as vault:
        vault.mark_useful(ids["solved"], "it ran all winter")
        vault.mark_questionable(ids["hum"], "nobody heard it since")
        ann = vault.as_(user="ann")
        ids["ann"] = ann.remember("Ann fears the ferry.", ["Ann"]).id
        vault.consent(ids["ann"], "given", as_user="ann")
        ids["waiting"] = vault.as_(origin="agent", user="ann").remember("Perhaps Ann likes tea.", ["Ann"], ask=True).id
        vault.as_(user="ben").remember("Ben paints the crane.", ["Ben"])
        taken = [{"content": "Ann will come by train."}]
        ids["turn"] = vault.turn("tuesday", "ann", "", "I take the train then", extractMemory=True, candidates=taken).turn_id
        vault.drain()
        vault.recall("heat pump")
    return ids


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The vault of `tell` and what it names its memories; to be copied, not used."""
    root = tmp_path_factory.mktemp("told") / "lab"
    with nobodys_machine(root.parent):
        ids = tell(root)
        return packed(root), ids


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault in a repository."""
    return found_at(tmp_path / "lab", git=True)


@pytest.fixture
def retold(story: tuple[Path, dict[str, str]], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The test's own copy of the vault of `tell`, and what it names its memories."""
    made, ids = story
    return own_copy(made, tmp_path / "lab"), ids


@pytest.fixture
def told(retold: tuple[Path, dict[str, str]]) -> Iterator[Told]:
    """The vault of `tell`, served, and what it names its memories."""
    root, ids = retold
    with serving_pages(root) as found:
        yield found, ids


@pytest.fixture
def served(root: Path) -> Iterator[Served]:
    """That vault, served."""
    with serving_pages(root) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser without a window; skipped where none is installed.

    It keeps an event loop in the tests' own thread, where a test that runs one of its own would fail: it ends with its module.
    """
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=BROWSER)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A browser's page, and what it complained of: errors of the console, reports of the content policy, foreign requests."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def require_quiet(self) -> None:
        """Nothing was complained of."""
        assert self.complaints == []


@contextmanager
def browsing(browser: Browser, served: Served, *, width: int = 1280, **options: Any) -> Iterator[Watched]:
    """A page that came in by a link; whatever is not loopback is blocked, and counted."""
    context: BrowserContext = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(30_000)
    watched = Watched(context.new_page())
    page = watched.page

    def on_request(route: Any) -> None:
        if route.request.url.startswith(("http://127.0.0.1:", "http://localhost:", "data:", "blob:")):
            route.continue_()
        else:
            watched.complaints.append(f"asked for {route.request.url}")
            route.abort()

    context.route("**/*", on_request)
    page.on("console", lambda said: watched.complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda fault: watched.complaints.append(str(fault)))
    page.goto(served.link)
    page.wait_for_url(f"{served.url}/")
    page.wait_for_load_state()  # its keys work from then on
    try:
        yield watched
    finally:
        context.close()
