"""The map: a neighbourhood with places that stay, memories and links on request, and what was known when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.conftest import Served, browsing, serving_pages
from vault_tool.web.layout import placed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Told = tuple[Served, dict[str, str]]


@pytest.fixture
def told(retold: tuple[Path, dict[str, str]]) -> Iterator[Told]:
    root, ids = retold
    with serving_pages(root) as found:
        yield found, ids


def _map(served: Served, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = served.client.get("/map.json", params=query).json()
    return found


def test_subjects_and_what_they_share_then_memories_and_their_links(told: Told) -> None:
    served, ids = told
    bare = _map(served, around="Lab")
    assert {one["name"] for one in bare["nodes"]} == {"Lab", "Heat pump"}
    assert [(one["type"], one["weight"]) for one in bare["edges"]] == [("shares", 1)]
    full = _map(served, around="Lab", memories="1")
    nodes = {one["id"]: one for one in full["nodes"]}
    assert {ids[name] for name in ("hum", "solved", "first", "understood", "old", "new")} <= nodes.keys()
    assert nodes[ids["first"]]["until"] == nodes[ids["understood"]]["created"]
    links = {(one["source"], one["type"], one["target"]) for one in full["edges"]}
    assert (ids["understood"], "supersedes", ids["first"]) in links and (ids["solved"], "problem", ids["problem"]) in links


def test_a_map_that_is_opened_again_is_known_again(told: Told) -> None:
    served, _ = told
    first = {one["id"]: (one["x"], one["y"]) for one in _map(served, around="Lab", memories="1")["nodes"]}
    with served.vault() as vault:
        vault.remember("The lab has a window.", ["Lab"])
    second = {one["id"]: (one["x"], one["y"]) for one in _map(served, around="Lab", memories="1")["nodes"]}
    assert first.keys() < second.keys()
    moved = [abs(first[one][0] - second[one][0]) + abs(first[one][1] - second[one][1]) for one in first]
    assert sum(moved) / len(moved) < 250, "of a side of 1000"


def test_places_are_apart_and_the_same_for_the_same() -> None:
    ids = [f"n{number}" for number in range(60)]
    edges = [(ids[0], one, 1.0) for one in ids[1:]]
    found = placed(ids, edges, {})
    assert found == placed(ids, edges, {}) and len(set(found.values())) == 60
    near = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for at, a in enumerate(found.values()) for b in list(found.values())[at + 1 :]]
    assert min(near) > 10
    assert placed([], [], {}) == {}


def test_without_script_it_is_a_list_with_links(told: Told) -> None:
    served, _ = told
    text = served.get("/map", around="Lab")
    assert "/map?around=Heat%20pump" in text and "1 shared" in text and "<script>" not in text
    assert "no subject" in served.get("/map", 404, around="zoo").lower()


def test_it_is_drawn_coloured_and_goes_back_in_time(chromium: Browser, told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    text = path.read_text("utf-8")
    created = next(line for line in text.splitlines() if line.startswith("created:"))
    path.write_text(text.replace(created, "created: 2020-01-01T00:00:00+00:00"), "utf-8")
    with browsing(chromium, served) as found:
        page = found.page
        page.goto(f"{served.url}/map?around=Lab&memories=1")
        page.wait_for_selector("#controls:not([hidden])")
        visible = """document.getElementById("map").cy.nodes('[class != "subject"]:visible').map((one) => one.id())"""
        now = page.evaluate(visible)
        assert ids["understood"] in now and ids["first"] not in now
        page.locator("#time").fill("50")
        for _ in range(200):
            if page.evaluate(visible) == [ids["hum"]]:
                break
            page.wait_for_timeout(50)
        assert page.evaluate(visible) == [ids["hum"]]
        page.locator("#colour").select_option("trust")
        page.evaluate(f"void document.getElementById('map').cy.getElementById('{ids['hum']}').emit('tap')")
        page.wait_for_selector("#about a[href='/memory/" + ids["hum"] + "']")
        found.require_quiet()
