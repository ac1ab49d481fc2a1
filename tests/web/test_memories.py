"""Memories: the list and its filters in the address, what is open beside it, and what is done to many at once."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import git
from tests.web.conftest import Told, browsing
from vault_tool.web.rendering import beyond, markdown

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def _rows(text: str) -> list[str]:
    return re.findall(r'id="m-([0-9a-f-]{36})"', text)


@pytest.mark.parametrize(
    ("text", "title", "said"),
    [
        ("# Garden\n\nIt needs water. [[Roof|the roof]] [[Beds]]", "Garden", "It needs water. the roof Beds"),
        (
            "> [!warning]- Mind it\n> It is cold.\n\n![[pic.png]] [site](https://a.example)",
            "x",
            "Mind it It is cold. pic.png site",
        ),
        ("> [!warning] Mind it > It is cold. > Very.", "x", "Mind it It is cold. Very."),
        ("It is warm where a > b.", "x", "It is warm where a > b."),
        ("The quay is closed. It opens in May.", "The quay is closed", "It opens in May."),
        ("# Garden\n", "Garden", ""),
        ("", "Garden", ""),
    ],
)
def test_beside_a_title_stands_what_a_text_says_beyond_it_in_words_alone(text: str, title: str, said: str) -> None:
    assert beyond(text, title) == said


@pytest.mark.parametrize(
    ("text", "below", "tags"),
    [("# A\n\n## B\n\n#### C\n\n# D", 1, ["h2", "h3", "h4", "h2"]), ("### A\n\n# B", 2, ["h3", "h3"]), ("# A", 2, ["h3"])],
)
def test_headings_of_a_note_skip_no_level(text: str, below: int, tags: list[str]) -> None:
    made = markdown(text, below=below)
    assert re.findall(r"<(h\d)>", made) == tags == re.findall(r"</(h\d)>", made)


def test_an_answer_tells_why_without_script(told: Told) -> None:
    served, ids = told
    text = served.get("/memories", q="what keeps the heat pump running")
    opened = re.search(rf'<noscript> <a class="soft" href="([^"]*open={ids["solved"]}[^"]*)">Why<', text)
    assert opened and "Why it was found" in served.get(unescape(opened[1]))


def test_the_list_is_that_of_the_verb_by_the_same_filters(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        asked = (
            {"kinds": ["problem", "solution"]},
            {"tags": ["noise"]},
            {"session": "monday"},
            {"by": "m1"},
            {"status": "overtaken"},
        )
        answers = [[one.id for one in vault.list(**one).results] for one in asked]
        every = [one.id for one in vault.list().results]
    addresses = ("type=problem,solution", "tag=noise", "session=monday", "by=m1", "status=overtaken")
    assert _rows(served.get("/memories")) == every
    for address, answer in zip(addresses, answers, strict=True):
        assert _rows(served.get(f"/memories?{address}")) == answer, address
    # The same filters as typed words.
    assert _rows(served.get("/memories", q="tag:noise")) == [ids["hum"]]
    assert _rows(served.get("/memories", q='subject:"Heat pump" type:solution')) == [ids["solved"]]
    assert 'role="alert"' in served.get("/memories?status=gone")
    assert "No memory is like that" in served.get("/memories", tag="nothing")


def test_a_question_is_narrowed_as_the_list_is_and_before_it_is_cut(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        for at in range(12):
            vault.remember(f"The heat pump of the lab hums at night, says visitor {at}.", ["Heat pump", "Lab"])
    asked = "what hums at night in the lab, says visitor 3?"
    assert ids["hum"] not in _rows(served.get("/memories", q=asked, limit="1"))
    assert _rows(served.get("/memories", q=f"{asked} by:m1", limit="1")) == [ids["hum"]]
    assert _rows(served.get("/memories", q=f"{asked} by:m2")) == []
    assert 'role="alert"' in served.get("/memories", q=f"{asked} status:gone")
    assert 'role="alert"' in served.get("/memories", q=f"{asked} class:gone")


def test_each_title_has_its_status_and_what_overtook_it(told: Told) -> None:
    served, ids = told
    text = served.get("/memories")
    row = text[text.index(f'id="m-{ids["old"]}"') :].partition("</li>")[0]
    assert "st-overtaken" in row and ids["new"] in row and 'class="title past"' in row
    problem = text[text.index(f'id="m-{ids["problem"]}"') :].partition("</li>")[0]
    assert "st-solved" in problem and ids["solved"] in problem


def test_facets_count_and_lead_to_the_narrower_list(told: Told) -> None:
    served, _ = told
    text = unescape(served.get("/memories"))
    found = re.search(r'<a href="(/memories\?tag=noise)">noise</a><span>(\d+)</span>', text)
    assert found and len(_rows(served.get(found.group(1)))) == int(found.group(2)) == 1


def test_an_older_address_and_a_subject_lead_to_the_list(told: Told) -> None:
    served, ids = told
    assert served.client.get("/ask", params={"q": "pump in the cold"}).url.path == "/memories"
    text = unescape(served.get("/memories", q="Heat pump"))
    assert "That is a subject" in text and ids["hum"] in _rows(text)


def test_many_are_tagged_pinned_and_deleted_and_come_back_by_one_press(told: Told) -> None:
    served, ids = told
    chosen = [ids["hum"], ids["solved"]]

    def undo(text: str) -> None:
        target = re.search(r'id="flash".*?name="target" value="([0-9a-f ]+)"', text, re.DOTALL)
        assert target, text[:3000]
        assert "Taken back" in served.post("/undo", {"target": target.group(1), "back": "/memories"})

    done = served.post("/memories/many", {"id": chosen, "do": "tag", "tags": "winter, 2026"})
    assert "2 memories tagged" in done and sorted(_rows(served.get("/memories?tag=winter"))) == sorted(chosen)
    undo(done)
    assert _rows(served.get("/memories?tag=winter")) == []
    done = served.post("/memories/many", {"id": chosen, "do": "pin"})
    undo(done)
    with served.vault() as vault:
        assert not any(vault.show(one).head.get("pinned") for one in chosen)
    asked = served.post("/memories/many", {"id": chosen, "do": "delete"})
    assert "Delete 2 memories?" in asked and set(chosen) <= set(_rows(served.get("/memories")))
    done = served.post("/memories/many", {"id": chosen, "do": "delete", "sure": "1"})
    assert not set(chosen) & set(_rows(served.get("/memories")))
    undo(done)
    assert set(chosen) <= set(_rows(served.get("/memories")))
    assert "kept" in served.post("/memories/many", {"id": [ids["hum"]], "do": "keep"})
    with served.vault() as vault:
        assert vault.show(ids["hum"]).reviewed
    for wrong in ({"do": "tag", "tags": "x"}, {"do": "erase", "id": chosen}, {"do": "tag", "id": chosen}):
        assert 'role="alert"' in served.post("/memories/many", wrong, 400)


def test_keys_tick_open_and_close_and_focus_stays_while_files_change(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        page.goto(f"{served.url}/memories?tag=noise")
        page.wait_for_load_state()
        page.keyboard.press("j")
        page.keyboard.press("x")
        assert page.locator(".tick input").first.is_checked()
        page.keyboard.press("x")
        page.keyboard.press("Enter")
        page.wait_for_selector("#panel .panel")
        assert f"open={ids['hum']}" in page.url
        focused = "document.activeElement.getAttribute('href')"
        assert page.evaluate(focused) == f"/memory/{ids['hum']}"
        with served.vault() as vault:
            vault.tag(ids["old"], add=["noise"])
        page.wait_for_selector(f'[id="m-{ids["old"]}"]')
        assert page.evaluate(focused) == f"/memory/{ids['hum']}"
        page.wait_for_selector("#live >> text=brought up to date", state="attached")
        found.require_quiet()


def test_what_another_person_brought_is_told_by_a_short_name_with_the_address_beside(told: Told) -> None:
    served, _ = told
    note = next((served.root / "vault" / "observations").rglob("*.md")).with_name("brought.md")
    note.write_text(
        "---\nid: 0b0b0b0b-0000-4000-8000-00000000b0b1\ntype: fact\nsubjects: [Heat pump]\n---\nThe valve is brass.\n"
    )
    git(served.root, "add", "-A")
    who = ("-c", "user.name=Bob Builder", "-c", "user.email=bob@example.org")
    git(served.root, *who, "commit", "--author=Bob Builder <bob@example.org>", "-qm", "a fact")
    row = unescape(served.get("/memories")).partition("0b0b0b0b-0000-4000-8000-00000000b0b1")[2].partition("</li>")[0]
    assert ">Bob Builder<" in row and "pulled (Bob Builder <bob@example.org>)" in row


def test_a_facets_total_counts_types_beyond_the_commonest(told: Told) -> None:
    served, _ = told
    with served.vault() as vault:
        for number in range(12):
            vault.remember(f"Reading {number} was taken.", ["Heat pump"], kind=f"reading{number}", new_type=True)
        text = served.get("/")
        week = re.search(r'href="/memories\?since=7d"><b>(\d+)</b> new this week', text)
        assert week and int(week.group(1)) == vault.list(since="7d").total
