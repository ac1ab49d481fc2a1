"""Local graphs: what is around a memory or a subject, links in texts with it, drawn in rings and readable as a list."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import git, make_empty_repo, write
from tests.verbs.looking import identity, note
from tests.web.conftest import Told, browsing, serving_pages
from vault_tool import Vault
from vault_tool.features.reading.local_graph import MOST, GraphEdge, GraphNode, LocalGraph, local_graph
from vault_tool.web.graphs import LARGE, SMALL, drawn

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_around_a_memory_are_its_links_its_subjects_and_theirs(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        graph = local_graph(vault, ids["solved"])
    rings = {node.id: node.ring for node in graph.nodes}
    assert graph.middle == ids["solved"] and rings[ids["solved"]] == 0 and rings[ids["problem"]] == 1
    assert rings[ids["tried"]] == 2 and {node.title for node in graph.nodes if node.type == "subject"} == {"Heat pump"}
    edges = {(edge.source, edge.relation, edge.target) for edge in graph.edges}
    assert (ids["solved"], "problem", ids["problem"]) in edges and (ids["understood"], "supersedes", ids["first"]) in edges
    assert {node.status for node in graph.nodes if node.id == ids["first"]} == {"superseded"}


def test_links_in_texts_are_edges_so_that_a_folder_of_notes_has_a_graph(root: Path) -> None:
    write(root, "vault/quay.md", note(1, "The quay is by the [[lighthouse]].", title="Quay"))
    write(root, "vault/lighthouse.md", note(2, "The light is white. See [the ferry](ferry.md).", title="Lighthouse"))
    write(root, "vault/ferry.md", note(3, "The ferry sails at eight.", title="Ferry"))
    with Vault.open(root, person=True) as vault:
        graph = local_graph(vault, identity(1))
    assert [(node.title, node.ring) for node in graph.nodes] == [("Quay", 0), ("Lighthouse", 1), ("Ferry", 2)]
    assert {(edge.source, edge.target) for edge in graph.edges if edge.relation == "link"} == {
        (identity(1), identity(2)),
        (identity(2), identity(3)),
    }


def test_a_subject_with_many_memories_is_drawn_with_sixty_at_most(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        vault.add_observations([{"content": f"Beam {n} of the attic creaks.", "subject_names": ["Attic"]} for n in range(90)])
        graph = local_graph(vault, "Attic")
        assert len(graph.nodes) == MOST and graph.more >= 30
        assert len(local_graph(vault, "Attic", limit=9).nodes) == 9
    picture = drawn(graph, LARGE, {node.id: f"/memory/{node.id}" for node in graph.nodes})
    assert picture.count("<a class=") == MOST


def _star(count: int, title: str) -> LocalGraph:
    nodes = [GraphNode(id=f"n{n}", title=title, type="fact", record_class="observation", ring=min(n, 1)) for n in range(count)]
    edges = [GraphEdge(source="n0", target=node.id, relation="RELATED_TO") for node in nodes[1:]]
    return LocalGraph(middle="n0", nodes=tuple(nodes), edges=tuple(edges), more=0)


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("count", [2, 13, 40])
def test_no_label_lies_on_another_and_hostile_titles_are_text(size: object, count: int) -> None:
    picture = drawn(_star(count, "<b>Forged</b>\" onload='x'"), size, {f"n{n}": "/" for n in range(count)})  # type: ignore[arg-type]
    assert "<b>" not in picture and "onload='x'" not in picture
    boxes = []
    for found in re.finditer(
        r'<a class="(?P<class>[^"]+)".*?<text x="(?P<x>[\d.-]+)" y="(?P<y>[\d.-]+)" text-anchor="(?P<a>\w+)">(?P<t>.*?)</text>',
        picture,
    ):
        if "quiet" not in found["class"]:
            wide, x = 5.0 * len(unescape(found["t"])), float(found["x"])
            left = x - wide if found["a"] == "end" else x - wide / 2 if found["a"] == "middle" else x
            boxes.append((left, float(found["y"]), left + wide))
    assert boxes
    for at, (left, y, right) in enumerate(boxes):
        for other_left, other_y, other_right in boxes[at + 1 :]:
            assert right <= other_left or other_right <= left or abs(y - other_y) > 9


def test_nothing_is_drawn_of_what_stands_alone() -> None:
    assert drawn(_star(1, "Alone"), SMALL, {"n0": "/"}) == ""


def test_the_page_reads_without_script_and_the_old_address_leads_on(told: Told) -> None:
    served, ids = told
    text = unescape(served.get(f"/around/{ids['solved']}"))
    assert "The same as a list" in text and f'href="/memory/{ids["problem"]}"' in text and "is about" in text
    assert "data-graph" in served.get("/subject/Heat pump") and "data-graph" in served.get(f"/memory/{ids['hum']}")
    for address, page in (("/map", "/subjects"), ("/map?around=Lab&memories=1", "/subject/Lab")):
        assert served.client.get(address).url.path == page
    served.get("/map?around=zoo", 404)
    assert served.client.get("/map.json").status_code == 404


def test_a_pointer_lights_what_belongs_to_a_node_and_a_press_opens_it(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        page.goto(f"{served.url}/memory/{ids['solved']}")
        page.wait_for_load_state()
        problem = page.locator(f"[data-graph] a[href='/memory/{ids['problem']}']")
        problem.locator("circle:not(.touch)").hover()
        page.wait_for_selector("svg.graph.lighting")
        lit = page.locator("svg.graph a.lit title").all_text_contents()
        assert any("A heater in the drain" in one for one in lit) and not any("Lab (" in one for one in lit)
        # It opens at the side, from where the whole page is one press away; Escape gives the focus back.
        problem.locator("circle:not(.touch)").click()
        panel = page.locator("#peek .panel", has_text="The heat pump stops at -10 degrees")
        panel.wait_for()
        assert page.url == f"{served.url}/memory/{ids['solved']}"
        page.keyboard.press("Escape")
        panel.wait_for(state="detached")
        assert problem.evaluate("(one) => one === document.activeElement")
        problem.locator("circle:not(.touch)").click()
        panel.locator("button[value=keep]").click()
        page.wait_for_selector("#flash >> text=kept")
        assert page.url.startswith(f"{served.url}/memory/{ids['solved']}?done=")
        page.locator(f"[data-graph] a[href='/memory/{ids['problem']}'] circle:not(.touch)").click()
        page.locator("#peek a", has_text="Open").click()
        page.wait_for_url(f"**/memory/{ids['problem']}")
        found.require_quiet()


def test_a_served_note_has_its_folder_its_tags_its_graph_and_its_history_and_is_changed_in_its_own_place(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write(folder, "Guides/Install.md", "---\ntags: [setup]\n---\nInstall it by the [[Package manager]].\n")
    write(folder, "Guides/Package manager.md", "Use apt.\n")
    make_empty_repo(folder)
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "notes")
    write(folder, "Guides/Install.md", "---\ntags: [setup]\n---\nInstall it by hand, or the [[Package manager]].\n")
    git(folder, "commit", "--quiet", "-am", "by hand")
    Vault.init(folder, notes="here")
    with serving_pages(folder / "memory") as served:
        with served.vault() as vault:
            found = next(listed for listed in vault.list(limit=20).results if listed.path.endswith("Install.md"))
        text = unescape(served.get(f"/memory/{found.id}"))
        assert "/memories?folder=" in text and "/memories?tag=setup" in text and "data-graph" in text
        assert "link in the text" in text and re.search(r"<ins>[^<]*hand", text)
        assert "?edit=1" not in text and "/delete" not in text and "Open in editor" in text
