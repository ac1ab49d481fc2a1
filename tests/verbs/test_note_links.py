"""Links as other tools' users write them: each leads to its note, from either end, and by one reader."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.verbs.looking import identity
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.util.clock import FixedClock

# What stands in a note at `Trips/Log.md`, and the path of the note that it means; empty for none.
LINKS = (
    ("See [the keeper](../People/Lena%20Voss.md).", "People/Lena Voss.md"),
    ("See [the keeper](../People/Lena%20Voss.md#early-years).", "People/Lena Voss.md"),
    ("See [the keeper](<../People/Lena Voss.md>).", "People/Lena Voss.md"),
    ('See [the keeper](<../People/Lena Voss.md#born> "Her page").', "People/Lena Voss.md"),
    ("See [the\nkeeper](../People/Lena%20Voss).", "People/Lena Voss.md"),
    ("See [here](Dunes.md) and [there](https://example.org/Reeds.md).", "Trips/Dunes.md"),
    ("See [here](./Dunes.md).", "Trips/Dunes.md"),
    ("From the top: [keeper](/People/Lena%20Voss.md).", "People/Lena Voss.md"),
    ("It was moved: [keeper](old/Lena%20Voss.md).", "People/Lena Voss.md"),
    ("See [the keeper][k].\n\n[k]: ../People/Lena%20Voss.md 'Lena'\n", "People/Lena Voss.md"),
    ("See [Lena][].\n\n[lena]: <../People/Lena Voss.md>\n", "People/Lena Voss.md"),
    ("Stars and [parts](Part%20(two).md).", "Trips/Part (two).md"),
    ("A figure ![map](Dunes.md) of it.", "Trips/Dunes.md"),
    ("| who |\n|---|\n| [[Lena Voss\\|her]] |", "People/Lena Voss.md"),
    ("[[Lena Voss#Early years]]", "People/Lena Voss.md"),
    ("[[Lena Voss#^a1b2]]", "People/Lena Voss.md"),
    ("[[Lena Voss^block]]", "People/Lena Voss.md"),
    ("![[Lena Voss]]", "People/Lena Voss.md"),
    ("[[People/Lena Voss|her]]", "People/Lena Voss.md"),
    ("[[../People/Lena Voss]]", "People/Lena Voss.md"),
    ("[[Lena Voss.md]]", "People/Lena Voss.md"),
    ("[[the keeper|Lena Voss]]", "People/Lena Voss.md"),
    ("[[Dunes|Lena Voss]]", "Trips/Dunes.md"),
    ("[[Recipe #7]]", "Recipe #7.md"),
    ("[[Recipe #7|soup]]", "Recipe #7.md"),
    ("[seven](../Recipe%20%237.md)", "Recipe #7.md"),
    ("---\nguide: \"[[Lena Voss]]\"\n---\nWe walked.", "People/Lena Voss.md"),
    ("---\nguides:\n  - \"[[Nobody at all]]\"\n  - \"[[Lena Voss|her]]\"\n---\nWe walked.", "People/Lena Voss.md"),
    ("---\nup: [[Lena Voss]]\n---\nWe walked.", "People/Lena Voss.md"),
    ("---\ncrew:\n  guide: \"with [[Lena Voss#Early years]]\"\n---\nWe walked.", "People/Lena Voss.md"),
    ("Two: [[Home]] of this folder.", "Trips/Home.md"),
    ("The other: [[People/Home]].", "People/Home.md"),
    ("And [its](../People/Home.md) page.", "People/Home.md"),
    ("`[[Lena Voss]]` and ``[x](Dunes.md)`` are code.", ""),
    ("```\n[[Lena Voss]]\n[x](Dunes.md)\n```", ""),
    ("So:\n\n    [[Lena Voss]]\n    [x](Dunes.md)\n", ""),
    ("A [page](https://example.org/Dunes.md), [mail](mailto:a@example.org), [part](#Dunes).", ""),
    ("A [picture](Dunes.png) and ![[Dunes.png|300]].", ""),
    ("No \\[link](Dunes.txt), and [^1]\n\n[^1]: Dunes.md", ""),
    ("[[#Early years]]", ""),
)  # fmt: skip
NOTES = (
    ("People/Lena Voss.md", "# Lena Voss\n\n## Early years\nShe kept the light.\n"),
    ("People/Home.md", "# Everybody\n\nA list.\n"),
    ("Trips/Home.md", "# All trips\n\nA list.\n"),
    ("Trips/Dunes.md", "# Dunes\n\nSand.\n"),
    ("Trips/Part (two).md", "# Second part\n\nReeds.\n"),
    ("Recipe #7.md", "# Soup\n\nPeas.\n"),
)


@pytest.fixture(params=["served", "imported"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Path, Path, bool]]:
    """A folder of notes, the root of its vault, and whether the vault has copies."""
    notes = tmp_path / "Notes"
    for path, text in NOTES:
        write(notes, path, text)
    imported = request.param == "imported"
    kept = tmp_path / "v" if imported else notes
    made = Vault.init(kept, no_git=True, clock=clock) if imported else Vault.init(kept, notes="here", no_git=True, clock=clock)
    yield notes, Path(made.root), imported


def test_each_link_leads_to_its_note_from_either_end(folder: tuple[Path, Path, bool], clock: FixedClock) -> None:
    notes, root, imported = folder
    for number, (text, _) in enumerate(LINKS):
        write(notes, f"Trips/Log {number}.md", text if text.startswith("---") else f"Log of the day.\n\n{text}\n")
    wrong: list[tuple[str, object]] = []
    with Vault.open(root, clock=clock, origin="owner") as vault:
        if imported:
            vault.import_markdown(notes)
        top = "vault/imported/notes/" if imported else "../"
        for number, (text, meant) in enumerate(LINKS):
            path = f"{top}Trips/Log {number}.md"
            found = [one.path.removeprefix(top) for one in vault.related(f"Log {number}").results if one.direction == "out"]
            if found != ([meant] if meant else []):
                wrong.append((text, found))
            elif meant:
                back = [one.path for one in vault.related(f"{top}{meant}").results if one.direction == "in"]
                wrong += [(text, "not from the other end")] if path not in back else []
    assert wrong == []


def test_words_of_a_label_and_of_a_target_are_found(tmp_path: Path, clock: FixedClock) -> None:
    made = Vault.init(tmp_path / "v", no_git=True, clock=clock)
    with Vault.open(made.root, clock=clock, origin="owner") as vault:
        one = vault.remember(
            "The keys lie with [[Tove Aldrin|the caretaker]] of the [north wing](wings/Grand%20Bor%C3%A9alis.md)."
        ).id
        for number in range(12):
            vault.remember(f"The rent of flat {number} is paid.")
        for asked in ("Tove Aldrin", "caretaker", "north wing", "Boréalis"):
            assert vault.search(asked).results[0].id == one, asked


def test_a_link_of_a_page_goes_where_it_means(tmp_path: Path) -> None:
    root = tmp_path / "Notes"
    for path, text in NOTES:
        write(root, path, text)
    text = "[its](../People/Home.md), [[Home|here]], [[Nobody]], [out](https://example.org/a.md), [no](javascript:x.md)"
    write(root, "Trips/Log.md", f"# Log\n\n{text}\n")
    made = Vault.init(root, notes="here", no_git=True)
    with Vault.open(made.root, person=True) as vault:
        ids = {path: vault.show(f"../{path}").id for path in ("Trips/Log.md", "People/Home.md", "Trips/Home.md")}
    with serving_pages(Path(made.root)) as served:
        page = served.get(f"/memory/{ids['Trips/Log.md']}")
        to = [html.unescape(found) for found in re.findall(r'href="(/find[^"]*)"', page)]
        places = [served.client.get(one, follow_redirects=False) for one in to]
        assert [one.headers.get("location", "") for one in places] == [
            f"/memory/{ids['People/Home.md']}", f"/memory/{ids['Trips/Home.md']}", "",
        ]  # fmt: skip
        assert 'href="https://example.org/a.md"' in page and 'href="javascript' not in page


def test_dead_links_are_told_once_each(folder: tuple[Path, Path, bool], clock: FixedClock) -> None:
    notes, root, imported = folder
    write(
        notes,
        "Trips/A.md",
        "[[Nowhere]], [[nowhere#part|x]], [[Home]], ![[Dunes.png]], [a](gone/Away.md), [b](Dunes.md), [c](map.png)",
    )
    write(
        notes,
        "Trips/B.md",
        '---\nup: "[[Nowhere]]"\n---\n[a](gone/Away.md#x), [[#part]], [[words|Lena Voss]], `[[code]]`, [w](https://a.example/B.md)',
    )
    with Vault.open(root, clock=clock, origin="owner") as vault:
        if imported:
            vault.import_markdown(notes)
        told = [one.message for one in vault.doctor().problems if one.code == "dead-link"]
        assert len(told) == 2
        assert any("`Nowhere`, to which 2 notes link" in one for one in told)
        assert any("Trips/gone/Away.md`, to which 2 notes link" in one for one in told)
        write(notes, "Nowhere.md", "# Nowhere\nFound.")
        if imported:
            vault.import_markdown(notes)
        assert len([one for one in vault.doctor().problems if one.code == "dead-link"]) == 1


# Fields of ours, of each class, with the class's type and what else it needs.
OWN_FIELDS = (
    ("subject", "name: Pumps", ("also", "aliases", "unsettled", "put_by_others")),
    ("fact", "", ("subjects", "subject", "related_to", "change_targets", "problem", "unsettled", "aliases", "source_id")),
    ("structural", "summary: They hum.", ("supersedes", "sources", "pass", "subjects", "also")),
    ("CHANGES", f"from_id: {identity(1)}\nto_id: {identity(1)}", ("from_title", "to_title")),
    ("consolidation", "", ("parents", "name")),
)


@pytest.mark.parametrize("kind, needed, fields", OWN_FIELDS)
def test_a_link_in_a_field_of_ours_is_no_weak_one(root: Path, kind: str, needed: str, fields: tuple[str, ...]) -> None:
    write(root, "vault/valves.md", f"---\nid: {identity(1)}\ntype: fact\ntitle: Valves\n---\nThey leak.\n")
    for number, field in enumerate(fields, 2):
        link = f"[[{identity(1)}|Valves]]"
        head = f'id: {identity(number)}\ntype: {kind}\n{needed}\n{field}: ["{link}"]'
        write(root, f"vault/own {number}.md", f"---\n{head}\n---\nThey hum.\n")
    with Vault.open(root, person=True) as vault:
        for number, field in enumerate(fields, 2):
            assert [one.id for one in vault.related(identity(number)).results if one.relation == "link"] == [], field
        assert [one.id for one in vault.related(identity(1)).results if one.relation == "link"] == []


def test_a_note_is_not_linked_to_itself(folder: tuple[Path, Path, bool], clock: FixedClock) -> None:
    notes, root, imported = folder
    write(notes, "Tides.md", '---\nup: "[[Tides]]"\n---\n[[Tides#High]], [low](Tides.md#low), [[Dunes]]\n')
    with Vault.open(root, clock=clock, origin="owner") as vault:
        if imported:
            vault.import_markdown(notes)
        assert [one.title for one in vault.related("Tides").results] == ["Dunes"]
