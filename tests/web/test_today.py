"""The first page, Health, Time and People: what they say of a story's vault, and what their forms do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.git_repos import git
from tests.verbs.test_pulled import second_machine
from tests.web.conftest import Served, serving_pages
from vault_tool import Vault
from vault_tool.features.history.undo import undoable


@pytest.fixture
def told(retold: tuple[Path, dict[str, str]]) -> Iterator[tuple[Served, dict[str, str]]]:
    root, ids = retold
    with serving_pages(root) as found:
        yield found, ids


def _undo_of(text: str) -> str:
    """The commit that the button of the last thing done takes back."""
    found = re.search(r'id="flash"(?:(?!</div>).)*?name="target" value="([0-9a-f]+)"', text, re.DOTALL)
    assert found, text[:3000]
    return found.group(1)


def test_today_says_what_changed_what_waits_and_what_a_session_is_given(told: tuple[Served, dict[str, str]]) -> None:
    served, _ = told
    text = unescape(served.get("/"))
    assert "1 memory to decide on" in text
    assert "A heater in the drain keeps it running" in text and "solution" in text
    assert re.search(r"About \d+ tokens", text) and "<svg" in text
    newest = re.search(r'name="commit" value="([0-9a-f]+)"', text)
    assert newest
    seen = served.post("/seen", {"commit": newest.group(1)})
    assert "Nothing since you last looked." in seen
    with served.vault() as vault:
        vault.remember("The crane is vermilion.")
    after = served.get("/")
    assert (
        "New since you last looked" in after
        and "The crane is vermilion" in after
        and "A heater in the drain" not in after.partition('id="given"')[0]
    )


def test_a_memory_is_hidden_and_given_again_from_its_own_page(told: tuple[Served, dict[str, str]]) -> None:
    served, _ = told
    with served.vault() as vault:
        one = vault.remember("The crane is vermilion.", kind="decision").id
    assert "crane is vermilion" in served.get("/").partition('id="given"')[2]
    done = served.post(f"/memory/{one}/hide")
    assert "found as before" in done and ">Unhide<" in done and ">Hide<" not in done
    assert "crane is vermilion" not in served.get("/").partition('id="given"')[2]
    with served.vault() as vault:
        soul = vault.orient().soul
        assert soul is not None
    assert ">Hide<" not in served.get(f"/memory/{soul.id}"), "every session reads it first"
    given = served.post(f"/memory/{one}/give")
    assert ">Hide<" in given and "found as before" not in given.partition("<main")[2].partition('class="acts"')[0]
    assert "crane is vermilion" in served.get("/").partition('id="given"')[2]


def test_a_hand_edit_is_committed_and_taken_back_by_a_press(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    text = path.read_text("utf-8")
    path.write_text(text.replace("hums at night", "hums all day"), "utf-8")
    assert "1 changed file is not committed" in served.get("/")
    done = served.post("/do/commit")
    assert "Hand edits are committed" in done and "not committed" not in done
    target = _undo_of(done)
    assert git(served.root, "rev-parse", "HEAD").strip().startswith(target[:7])
    back = served.post("/undo", {"target": target, "back": "/health"})
    assert "Taken back" in back and path.read_text("utf-8") == text


def test_an_operation_that_cannot_be_taken_back_says_why(told: tuple[Served, dict[str, str]]) -> None:
    served, _ = told
    assert 'role="alert"' in served.post("/undo", {"target": "0000000"}, 404)


def test_undo_stands_where_it_would_be_taken_and_is_taken(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    (served.root / "vault" / "by-hand.md").write_text("# By hand\n", "utf-8")
    git(served.root, "add", "--all")
    git(served.root, "commit", "--quiet", "-m", "somebody else's program")
    served.post(f"/memory/{ids['hum']}/useful", {"reason": "I hear it"})
    with served.vault() as vault:
        rows = [one.commit for one in vault.log(30).results]
        kept = undoable(vault, rows)
    shown = served.get("/")
    for commit in rows:
        assert (f'name="target" value="{commit}"' in shown) is not bool(kept[commit])
        told_beside = served.get(f"/commit/{commit}")
        assert ('name="target"' in told_beside) is not bool(kept[commit])
        assert ("It cannot be taken back" in told_beside) is bool(kept[commit])
    assert sorted(filter(None, kept.values()))
    marks = [one for one in rows if not kept[one]]
    assert marks
    # Each Undo that is shown is taken, from the newest on: what it left is shown as it is then.
    for _ in range(5):
        offered = re.findall(r'class="inline"><input type="hidden" name="target" value="([0-9a-f]+)"', served.get("/"))
        assert "Taken back" in served.post("/undo", {"target": offered[0], "back": "/"})


@pytest.mark.parametrize("mark", ["useful", "questionable"])
def test_a_mark_by_accident_is_taken_back_by_the_press_beside_it(told: tuple[Served, dict[str, str]], mark: str) -> None:
    served, ids = told
    page = f"/memory/{ids['old']}"
    with served.vault() as vault:
        before = vault.show(ids["old"], belief=True).belief
    done = served.post(f"{page}/{mark}")
    back = served.post("/undo", {"target": _undo_of(done), "back": page})
    assert "Taken back" in back and "Questioned" not in back
    with served.vault() as vault:
        assert vault.show(ids["old"], belief=True).belief == before
    again = served.post("/undo", {"target": _undo_of(back), "back": page})
    assert ("Questioned" in again) is (mark == "questionable")


def test_problems_stand_with_file_and_line_and_on_every_page(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    path.write_bytes(path.read_bytes().replace(b"---\n", b"---\ntitle: [a\n", 1))
    text = served.get("/health")
    assert path.relative_to(served.root).as_posix() in text and "vscode://file" in text
    for page in ("/", "/people"):
        assert re.search(r'class="count bad">\d+<', served.get(page)), page


def test_a_day_and_a_session_in_full(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    with served.vault() as vault:
        today = vault.now()[:10]
    text = unescape(served.get(f"/time/{today}"))
    assert "We listened at the pump" in text and "it ran all winter" in text and ids["solved"] in text
    assert f'href="/time/{today}"' in served.get("/time")
    listed = unescape(served.get("/sessions"))
    assert "/session?name=tuesday" in listed and "/memories?session=monday" in listed
    assert re.search(r"\d+ memories written", listed.replace("\u202f", " "))
    session = unescape(served.get("/session", name="tuesday"))
    assert "it ran all winter" in session and ids["ann"] in session and "Was shown" in session


def test_a_person_withdraws_and_is_told_of_no_more(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    text = unescape(served.get("/person", name="ann"))
    assert "Ann fears the ferry" in text and "Perhaps Ann likes tea" in text and "I take the train then" in text
    assert "Ben" not in text
    done = served.post(
        "/consent", {"id": ids["ann"], "state": "withdrawn", "as_user": "ann", "reason": "mine", "back": "/person?name=ann"}
    )
    assert "hidden from now on" in done and "withdrawn by ann: mine" in unescape(done)
    with served.vault() as vault:
        assert ids["ann"] not in {one.id for one in vault.search("ferry").results}


def test_all_of_a_person_is_exported_and_erased_with_a_receipt(told: tuple[Served, dict[str, str]], tmp_path: Path) -> None:
    served, ids = told
    assert "no whole path" in served.post("/export", {"user": "ann", "folder": "there"}, 400)
    assert "Written to" in served.post("/export", {"user": "ann", "folder": str(tmp_path / "out")})
    assert (tmp_path / "out" / "records.json").is_file()
    asked = served.post("/erase", {"user": "ann"})
    assert "Type their name again" in asked and "cannot be undone" in asked
    assert "nothing was erased" in served.post("/erase", {"user": "ann", "again": "anne"})
    done = served.post("/erase", {"user": "ann", "again": "ann"})
    assert "Receipt" in done and "_local/purges/" in done
    assert ">ann<" not in served.get("/people") and ">ben<" in served.get("/people")
    served.get(f"/find?name={ids['ann']}", 404)


def test_erasing_says_what_it_will_do_and_what_names_the_person_elsewhere(told: tuple[Served, dict[str, str]]) -> None:
    served, _ = told
    with served.vault() as vault:
        vault.remember("Ann runs the ferry, and answers for its tickets.", ["Ferry"])
        other = vault.as_(user="ben").remember("Tickets are sold twice when ann counts them.", ["Ferry"])
        count = vault.people("ann").results[0]
        elsewhere = vault.people("ann").elsewhere_count
    person = unescape(served.get("/person", name="ann"))
    said = f"{elsewhere} more memories name ann but are not filed under them: look"
    assert said in person and f"/memory/{other.id}" in person
    look = unescape(served.post("/erase", {"user": "ann"}))
    # The subject that nothing else is tagged with goes too.
    assert said.replace(str(elsewhere), str(elsewhere - 1), 1) in look and f"/memory/{other.id}" in look
    assert f"<dt>Turns</dt><dd>{count.turns}</dd>" in look and "Look at what a purge would do" in look
    purge = unescape(served.post("/erase", {"user": "ann", "purge": "1"}))
    assert "Commits with new ids" in purge and "Texts that go" in purge
    done = unescape(served.post("/erase", {"user": "ann", "again": "ann"}))
    assert f'<td>Turns</td><td class="num">{count.turns}</td><td class="num">0</td>' in done
    assert f'<td>Memories</td><td class="num">{count.memories}</td><td class="num">0</td>' in done
    assert f"/memory/{other.id}" in done and "not filed under them" in done
    ids = re.findall(r'<input type="hidden" name="id" value="([^"]+)">', done)
    assert len(ids) == count.memories
    tips = git(served.root, "rev-parse", "HEAD")
    look = unescape(served.post("/purge", {"id": ids}))
    assert "Commits with new ids" in look and "cannot be undone" in look and git(served.root, "rev-parse", "HEAD") == tips
    assert "Purged: " in served.post("/purge", {"id": ids, "sure": "1"})
    assert git(served.root, "log", "--all", "--format=%H", "-SAnn fears the ferry") == ""


def test_a_turn_says_what_its_gate_did_and_what_came_of_it(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    text = unescape(served.get(f"/turn/{ids['turn']}"))
    assert "I take the train then" in text and "Ann will come by train." in text and "written" in text
    assert "in_world_answer" in text and "low" in text
    assert "Change" in served.get(f"/turn/{ids['turn']}", replay="1") or "Then" in served.get(f"/turn/{ids['turn']}", replay="1")


def test_a_page_says_that_notes_went_in_bulk_and_what_to_do(tmp_path: Path) -> None:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    with Vault.open(tmp_path / "lab", origin="owner") as vault:
        for number in range(60):
            vault.remember(f"Shelf {number} holds {number} boxes.", ["Shelves"])
    with serving_pages(tmp_path / "lab") as served:
        assert "Removals were not applied" not in served.get("/people")
        for note in list((tmp_path / "lab" / "vault" / "observations").rglob("*.md")):
            note.unlink()
        # Whatever a page asks before its banners are made, they say it.
        for path in ("/", "/people", "/subjects", "/ask?q=shelf"):
            assert "Removals were not applied: 60 of" in unescape(served.get(path)), path


def test_a_clone_of_somebody_elses_vault_asks_whose_it_is(root: Path) -> None:
    first = git(root, "log", "--reverse", "--format=%ae").split()[0]
    other = second_machine(root, "me@here.example")
    with serving_pages(other) as served:
        assert re.search(rf'role="status">is {first} you\? Settings;.*<a href="/settings">', unescape(served.get("/")))
        with served.vault() as vault:
            vault.config(machine={"trusted": first})
        assert "you?" not in served.get("/")


def test_home_tells_what_is_new_by_session_and_keep_has_an_undo(told: tuple[Served, dict[str, str]]) -> None:
    served, ids = told
    text = unescape(served.get("/"))
    new = text[text.index('id="changed-title"') :].partition('id="every-change"')[0]
    assert "monday" in new and ids["hum"] in new and ">Keep</button>" in new and ">Delete</button>" in new
    # What a session gets: its lines are links to the memories, without a press.
    given = text[text.index('id="given"') :]
    assert ids["understood"] in given and 'role="img"' in given and "tokens of 2300" in given
    done = served.post("/memories/many", {"id": ids["hum"], "do": "keep", "back": "/"})
    with served.vault() as vault:
        assert vault.show(ids["hum"]).reviewed
    assert "Taken back" in served.post("/undo", {"target": _undo_of(done), "back": "/"})
    with served.vault() as vault:
        assert not vault.show(ids["hum"]).reviewed
    gone = served.post("/memories/many", {"id": ids["hum"], "do": "delete", "back": "/"})
    assert "Taken back" in served.post("/undo", {"target": _undo_of(gone), "back": "/"})
    with served.vault() as vault:
        assert vault.show(ids["hum"]).title


def test_a_vault_without_subjects_says_where_tags_and_folders_are(served: Served) -> None:
    assert 'filters of <a href="/memories">Memories</a>' in served.get("/subjects")
    assert "None is named so" in served.get("/subjects?like=crane")


def test_an_empty_vault_shows_three_steps_and_the_second_is_a_form(served: Served) -> None:
    text = unescape(served.get("/"))
    assert "vt install" in text and "vt import" in text and 'action="/add"' in text
    done = unescape(served.post("/add", {"content": "The crane is vermilion.\r\n", "subjects": "Crane, Yard", "tags": "paint"}))
    assert "Remembered" in done and "The crane is vermilion" in done
    with served.vault() as vault:
        (written,) = (one for one in vault.list().results if one.title == "The crane is vermilion")
    assert set(written.subjects) == {"Crane", "Yard"} and written.tags == ("paint",) and written.origin == "owner"
    assert "is a subject" in served.post("/add/subject", {"name": "Harbour", "summary": "Where ships lie", "aliases": "Port"})
    served.post("/add", {"content": "The crane was red before.", "type": "fact"})
    linked = served.post(
        "/add/link", {"from": written.id, "to": "The crane was red before", "type": "RELATED_TO", "why": "paint"}
    )
    assert "Linked" in linked and "The crane was red before" in linked
