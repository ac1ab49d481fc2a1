"""Ask and a memory's page: what they show, what their forms do, and that nobody's text is lost by an edit."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tests.git_repos import git, write
from tests.statuses import said
from tests.verbs.looking import identity, note
from tests.web.conftest import Told, browsing
from vault_tool.web.pages.memory import with_line_ends

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_an_answer_says_how_it_came_about_and_what_belongs_together(told: Told) -> None:
    served, ids = told
    text = unescape(served.get("/ask", q="what of the heat pump in the cold?"))
    best = text.index("best answer")
    assert ids["understood"] in text[:best]
    opened = unescape(served.get("/memories", q="what of the heat pump in the cold?", open=ids["understood"]))
    assert "match " in opened and "What its rank is made of" in opened and "Why it was found" in opened
    tree = text[text.index("What belongs together") :]
    assert tree.index(ids["problem"]) < tree.index("solved by") < tree.index(ids["solved"]) and "what failed" in tree
    with served.vault() as vault:
        assert vault.show(ids["understood"]).access_count == 1, "to look is not to use"


def test_why_not_says_at_which_stage_it_fell_out(told: Told) -> None:
    served, ids = told
    text = unescape(served.get("/ask", q="what of the heat pump in the cold?", why_not=ids["ann"], tag="noise"))
    assert "Why not" in text and "filtered" in text
    assert 'role="alert"' in served.get("/ask", q="pump", why_not="ffffffff")


def test_filters_narrow_and_a_bad_one_is_said_in_the_page(told: Told) -> None:
    served, ids = told
    text = served.get("/ask", q="pump in the cold", kind="solution, failed_tactic")
    assert ids["solved"] in text and ids["hum"] not in text
    assert 'role="alert"' in served.get("/ask", q="pump", since="soon")
    assert "Nothing is known of that" in served.get("/ask", q="zzyzx quux")


def test_a_memory_is_shown_with_all_that_is_known_of_it(told: Told) -> None:
    served, ids = told
    text = unescape(served.get(f"/memory/{ids['solved']}"))
    assert "it ran all winter" in text and 'aria-label="Confidence since it was written"' in text
    assert 'aria-label="Retention, past and to come"' in text
    assert re.search(r"Fades on \d+ \w+( \d+)?; asked for once, last today\.", text)
    assert "Believed to 80 %" in text
    assert ids["problem"] in text and 'name=tuesday"' in text
    chain = unescape(served.get(f"/memory/{ids['first']}"))
    assert "Superseded by" in chain and chain.index("Loud and frail") < chain.index("Loud but steady")
    commit = re.search(rf'href="(/commit/[0-9a-f]+\?of={ids["first"]})"', chain)
    assert commit and "+The heat pump is loud" in unescape(served.get(commit.group(1)))


def test_its_title_and_text_are_edited_in_their_place_and_a_made_title_follows_the_text(told: Told) -> None:
    served, ids = told
    page = f"/memory/{ids['hum']}"
    fields = _in_place(served.get(page, edit="1"))
    assert fields["title"] == "" and fields["body"] == "The heat pump of the lab hums at night."
    sent = {**fields, "body": "The heat pump of the lab sings at noon.\r\n\r\nAnd in May."}
    done = unescape(served.post(f"{page}/edit", sent))
    assert "<h1>The heat pump of the lab sings at noon</h1>" in done and "And in May." in done
    own = _in_place(served.get(page, edit="1"))
    done = unescape(served.post(f"{page}/edit", {**own, "title": "Song of the pump"}))
    assert "<h1>Song of the pump</h1>" in done and "sings at noon" in done
    own = _in_place(served.get(page, edit="1"))
    assert own["title"] == "Song of the pump"
    assert "<h1>The heat pump of the lab sings at noon</h1>" in unescape(served.post(f"{page}/edit", {**own, "title": ""}))
    told_history = unescape(served.get(page))
    assert all(f"<{word}>" in told_history for word in ("del>hums</del", "ins>sings</ins", "ins>Song of the pump</ins"))


def test_an_edit_in_place_merges_with_what_somebody_saved_meanwhile(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    fields = _in_place(served.get(f"/memory/{ids['hum']}", edit="1"))
    whole = path.read_text("utf-8")
    path.write_text(whole.replace("tags: [noise]", "tags: [noise, night]").replace("- noise", "- noise\n  - night"), "utf-8")
    served.post(f"/memory/{ids['hum']}/edit", {**fields, "body": "The pump sings."})
    assert "night" in path.read_text("utf-8") and "The pump sings." in path.read_text("utf-8")
    fields = _in_place(served.get(f"/memory/{ids['hum']}", edit="1"))
    path.write_text(path.read_text("utf-8").replace("The pump sings.", "The pump roars."), "utf-8")
    conflict = unescape(served.post(f"/memory/{ids['hum']}/edit", {**fields, "body": "The pump whispers."}, 409))
    assert "The pump roars." in conflict and "The pump whispers." in conflict and "roars" in path.read_text("utf-8")


def test_line_ends_and_what_cannot_be_seen_outlast_an_edit_in_place(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    whole = path.read_bytes().replace(b"of the lab", "of \u200bthe lab".encode()).replace(b"\n---\n", b"\n---\n\n")
    path.write_bytes(whole.replace(b"\n", b"\r\n") + b"\r\n")
    before = path.read_bytes()
    fields = _in_place(served.get(f"/memory/{ids['hum']}", edit="1"))
    served.post(f"/memory/{ids['hum']}/edit", {**fields, "body": fields["body"].replace("hums", "sings")})
    assert path.read_bytes() == before.replace(b"hums", b"sings")


def test_it_is_deleted_by_two_presses_and_comes_back_by_one(told: Told) -> None:
    served, ids = told
    page = f"/memory/{ids['hum']}"
    text = unescape(served.get(page))
    assert "History keeps it: Undo brings it back." in text and "Nothing keeps it here" in text
    done = served.post(f"{page}/delete")
    assert "Deleted: The heat pump of the lab hums at night" in done
    served.get(page, 404)
    undo = re.search(r'id="flash".*?name="target" value="([0-9a-f]+)"', done, re.DOTALL)
    assert undo
    served.post("/undo", {"target": undo.group(1), "back": "/"})
    assert "hums at night" in served.get(page)


def test_it_says_why_a_question_did_not_find_it(told: Told) -> None:
    served, ids = told
    text = unescape(served.get(f"/memory/{ids['ann']}", why="what of the heat pump in the cold?"))
    fate = re.search(r'class="fate".*?</div>', text, re.DOTALL)
    assert fate and re.search(r'class="tag bad">[a-z ]+</span> \S', fate.group())
    assert 'class="fate"' not in served.get(f"/memory/{ids['ann']}")


def _in_place(text: str) -> dict[str, str]:
    names = ("was", "base", "title_field", "title_was", "title")
    fields = {name: re.search(rf'name="{name}"[^>]*? value="([^"]*)"', text) for name in names}
    area = re.search(r'<textarea id="body"[^>]*>\n(.*?)</textarea>', text, re.DOTALL)
    assert area
    return {**{name: unescape(found.group(1)) for name, found in fields.items() if found}, "body": unescape(area.group(1))}


def test_its_forms_do_what_verbs_do_and_can_be_taken_back(told: Told) -> None:
    served, ids = told
    page = f"/memory/{ids['hum']}"
    assert "nobody heard it since" in served.get(page)
    done = served.post(f"{page}/useful", {"reason": "I hear it"})
    assert "Marked as useful" in done and "Questioned:" not in unescape(done)
    asked = unescape(served.post(f"{page}/questionable", {"reason": "only once"}))
    assert re.findall(r"<p>\s*(Questioned.*?)</p>", asked) == ["Questioned: only once"]
    served.post(f"{page}/pin")
    served.post(f"{page}/tag", {"add": "night, pump", "remove": "noise"})
    linked = served.post(f"{page}/link", {"type": "RELATED_TO", "to": ids["old"], "why": "both in the lab"})
    assert "both in the lab" in linked
    with served.vault() as vault:
        shown = vault.show(ids["hum"], timeline=True)
        assert shown.head["pinned"] is True and list(shown.head["tags"]) == ["night", "pump"]
        assert shown.timeline is not None
        said = [(one.mark.value, one.reason) for one in shown.timeline.steps]
        assert said.index(("useful", "I hear it")) < said.index(("questionable", "only once"))
        assert ("reviewed", "") in said, "who pins it vouches for it"
    undo = re.search(r'id="flash".*?name="target" value="([0-9a-f]+)"', linked, re.DOTALL)
    assert undo and "both in the lab" not in served.post("/undo", {"target": undo.group(1), "back": page}).split("</h1>")[1]
    assert "is not a type of edge" in unescape(served.post(f"{page}/link", {"type": "NONSENSE", "to": ids["old"]}, 400))


def test_what_changed_overtakes_and_an_understanding_is_revised(told: Told) -> None:
    served, ids = told
    changed = served.post(f"/memory/{ids['hum']}/supersede", {"content": "The heat pump is silent since June."})
    assert "What takes its place is written" in changed
    revised = served.post(f"/memory/{ids['understood']}/supersede", {"content": "The pump is silent.", "summary": "Silent"})
    assert "Silent" in revised
    with served.vault() as vault:
        assert said(vault.show(ids["understood"]), "superseded")
        assert any(one.relation == "change_targets" for one in vault.related(ids["hum"]).results)
    assert "is empty" in served.post(f"/memory/{ids['new']}/supersede", {"content": " "}, 400)


def _fields(text: str) -> dict[str, str]:
    was = re.search(r'name="was" value="([^"]+)"', text)
    area = re.search(r"<textarea id=\"text\"[^>]*>\n(.*?)</textarea>", text, re.DOTALL)
    assert was and area
    return {"was": was.group(1), "text": unescape(area.group(1))}


def test_an_edit_changes_the_file_and_nothing_else_of_it(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    path.write_bytes(path.read_bytes().replace(b"of the lab", "of \u200bthe lab".encode()).replace(b"\n", b"\r\n"))
    before = path.read_bytes()
    fields = _fields(served.get(f"/memory/{ids['hum']}/edit"))
    # A browser sends each line end as CRLF.
    sent = fields["text"].replace("hums", "sings\u200d").replace("\r\n", "\n").replace("\n", "\r\n")
    done = served.post(f"/memory/{ids['hum']}/edit", {**fields, "text": sent})
    assert "saved" in done
    assert path.read_bytes() == before.replace(b"hums", "sings\u200d".encode())


def test_two_people_edit_one_note_and_both_texts_are_kept(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    fields = _fields(served.get(f"/memory/{ids['hum']}/edit"))
    theirs = path.read_text("utf-8").replace("at night", "at noon, says vim")
    path.write_text(theirs, "utf-8")
    mine = fields["text"].replace("hums", "sings, says the page")
    conflict = served.post(f"/memory/{ids['hum']}/edit", {**fields, "text": mine}, 409)
    assert path.read_text("utf-8") == theirs
    assert "at noon, says vim" in unescape(conflict) and "sings, says the page" in unescape(conflict)
    again = _fields(conflict)
    assert again["text"] == mine and again["was"] != fields["was"]
    served.post(f"/memory/{ids['hum']}/edit", {**again, "text": mine.replace("at night", "at noon, says vim")})
    assert "sings, says the page" in path.read_text("utf-8") and "at noon, says vim" in path.read_text("utf-8")


def test_a_note_that_could_not_be_read_is_refused_and_what_was_typed_stays_with_who_typed_it(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    before = path.read_bytes()
    fields = _fields(served.get(f"/memory/{ids['hum']}/edit"))
    broken = fields["text"].replace("---\n", "---\ntitle: [a\n", 1)
    text = unescape(served.post(f"/memory/{ids['hum']}/edit", {**fields, "text": broken}, 400))
    assert "nothing was written" in text and _fields(text)["text"] == broken
    assert path.read_bytes() == before


def test_forgetting_asks_for_the_id_again(told: Told) -> None:
    served, ids = told
    page = f"/memory/{ids['hum']}/forget"
    assert "cannot be undone" in served.get(page)
    assert "nothing was forgotten" in served.post(page, {"again": "277"})
    assert "Forgotten" in served.post(page, {"again": ids["hum"]})
    served.get(f"/memory/{ids['hum']}", 404)


@pytest.mark.parametrize(
    ("before", "sent", "after"),
    [
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "x\na\nb\nc\n", "x\r\na\r\nb\nc\r\n"),
        ("a\rb\rc", "a\nb\nd", "a\rb\rd"),
        ("one line", "one line\ntwo", "one line\ntwo"),
    ],
)
def test_lines_keep_their_ends(before: str, sent: str, after: str) -> None:
    assert with_line_ends(sent, before) == after


def test_results_come_as_one_types_and_keys_do_for_everything(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        page.keyboard.press("g")
        page.keyboard.press("m")
        page.wait_for_url("**/memories")
        page.wait_for_load_state()
        page.locator("#q").focus()  # it is by itself, sooner or later
        page.keyboard.type("heater in the drain")
        page.wait_for_selector(f'#results[data-q="heater in the drain"] a[href="/memory/{ids["solved"]}"]')
        # The address holds it, so that Back and a reload show the same.
        page.wait_for_url("**/memories?q=heater+in+the+drain")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector("#panel >> text=Why it was found")
        page.keyboard.press("Escape")
        page.wait_for_selector("#panel .panel", state="detached")
        page.goto(f"{served.url}/memory/{ids['solved']}")
        page.go_back()
        page.wait_for_selector(f'#results[data-q="heater in the drain"] a[href="/memory/{ids["solved"]}"]')
        page.goto(f"{served.url}/memory/{ids['solved']}")
        page.wait_for_load_state()
        page.keyboard.press("p")
        page.wait_for_selector("text=Pinned: it does not fade")
        page.wait_for_load_state()
        page.keyboard.press("u")
        page.wait_for_selector("text=Taken back")
        page.wait_for_load_state()
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open] >> text=next, previous of a list")
        found.require_quiet()


def test_a_change_on_disk_is_on_the_open_page_without_losing_what_is_typed(chromium: Browser, told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    with browsing(chromium, served) as found:
        page = found.page
        page.goto(f"{served.url}/memory/{ids['hum']}")
        path.write_text(path.read_text("utf-8").replace("hums at night", "hums, says vim"), "utf-8")
        page.wait_for_selector(".note >> text=hums, says vim")
        page.goto(f"{served.url}/memory/{ids['hum']}/edit")
        page.locator("#text").press("End")
        page.locator("#text").press_sequentially("typed")
        path.write_text(path.read_text("utf-8").replace("says vim", "says ed"), "utf-8")
        page.wait_for_selector("#changed:not([hidden])")
        assert "typed" in page.locator("#text").input_value()
        found.require_quiet()


def test_what_is_contested_says_by_what(told: Told) -> None:
    served, _ = told
    with served.vault() as vault:
        rule = vault.as_(origin="owner").remember("The keys hang by the door.", ["Keys"], kind="decision").id
        agent = vault.as_(origin="agent")
        other = agent.remember("The keys hang in the hall.", ["Keys"], kind="change", change_targets=[rule]).id
    text = unescape(served.get(f"/memory/{rule}"))
    assert f'Contested by <a href="/memory/{other}">The keys hang in the hall</a>: The keys hang in the hall. (agent)' in text
    assert "Contested by" in served.get("/ask", q="where do the keys hang?")
    served.post(f"/memory/{other}/pin")
    assert "Contested by" not in served.get(f"/memory/{rule}"), "who pins it vouches for it"


def test_what_somebody_without_an_address_brought_has_its_page(told: Told) -> None:
    served, _ = told
    write(served.root, "vault/brought.md", note(7, "The quay is closed in winter."))
    git(served.root, "add", "vault/brought.md")
    git(served.root, "commit", "--quiet", "--author=Bob <bob>", "-m", "brought")
    assert "The quay is closed in winter." in served.get(f"/memory/{identity(7)}")


def test_a_form_that_is_pressed_twice_is_sent_once(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page, sent = found.page, list[str]()
        page.on("request", lambda one: sent.append(one.url.rpartition("/")[2]) if one.method == "POST" else None)
        page.goto(f"{served.url}/memory/{ids['hum']}")
        page.get_by_text("Newer fact", exact=True).click()
        page.fill("#content", "The heat pump is quiet.")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
        page.goto(f"{served.url}/memory/{ids['hum']}")
        with page.expect_navigation():
            page.get_by_role("button", name="Useful").dblclick()
        page.wait_for_load_state()
        found.require_quiet()
    assert sent == ["supersede", "useful"]
    with served.vault() as vault:
        assert [one.title for one in vault.list(kinds=["change"]).results].count("The heat pump is quiet") == 1
