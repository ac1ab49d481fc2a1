"""Subjects, Review and Consolidate: what they show of a story's vault, and what their forms do."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from tests.git_repos import git
from tests.web.conftest import Told, browsing

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_subjects_are_listed_in_the_order_asked_for(told: Told) -> None:
    served, _ = told
    with served.vault() as vault:
        vault.create_subjects([{"name": "Heat pumps"}, {"name": "Zoo"}])
    text = unescape(served.get("/subjects"))
    assert text.index(">Ann<") < text.index(">Heat pump<") < text.index(">Zoo<")
    by_size = unescape(served.get("/subjects", order="size"))
    assert by_size.index(">Heat pump<") < by_size.index(">Ann<")
    covered = unescape(served.get("/subjects", order="coverage"))
    assert covered.index(">Lab<") < covered.index(">Heat pump<")
    assert "Are these one?" in text and ">Zoo<" not in served.get("/subjects", like="pump")


def test_two_subjects_are_made_one_and_that_is_taken_back(told: Told) -> None:
    served, _ = told
    with served.vault() as vault:
        vault.create_subjects([{"name": "Heat pumps"}])
    done = unescape(served.post("/merge", {"keep": "Heat pump", "gone": "Heat pumps"}))
    assert "Heat pumps is Heat pump now" in done and "also Heat pumps" in done
    undo = re.search(r'id="flash".*?name="target" value="([0-9a-f]+)"', done, re.DOTALL)
    assert undo
    assert ">Heat pumps<" in unescape(served.post("/undo", {"target": undo.group(1), "back": "/subjects"}))


def test_a_merge_says_what_it_will_do_and_which_way(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        vault.create_subjects([{"name": "Heat pumps", "summary": "The loud ones."}])
        vault.remember("Heat pumps hum.", ["Heat pumps"])
    tips = git(served.root, "rev-parse", "HEAD")
    # Both ways stand beside each proposal, in whole sentences; and any two can be named.
    listed = unescape(served.get("/subjects"))
    assert "Merge Heat pumps into Heat pump …" in listed and "Merge Heat pump into Heat pumps …" in listed
    assert 'name="gone"' in served.get("/subject/Lab")
    look = unescape(served.get("/merge", keep="Heat pump", gone="heat pumps"))
    assert "<b>Heat pump</b> stays. <b>Heat pumps</b> becomes another name of it" in look
    assert "<dt>New other names</dt><dd>Heat pumps</dd>" in look and "1 observation, 0 understandings" in look
    with served.vault() as vault:
        pump, pumps = (vault.get_subjects([name]).results[0].id for name in ("Heat pump", "Heat pumps"))
    assert f"/merge?keep={pumps}&gone={pump}" in look
    unlike = unescape(served.get("/merge", keep="Lab", gone="Ann"))
    assert "Merge Ann into Lab?" in unlike
    assert 'role="alert"' in served.get("/merge", 404, keep="Lab", gone="Nobody")
    assert git(served.root, "rev-parse", "HEAD") == tips

    with served.vault() as vault:
        path = served.root / vault.show(ids["hum"]).path
    whole = path.read_text("utf-8")
    path.write_text(whole.replace("---\n", "---\nx: [\n", 1), "utf-8")
    stopped = unescape(served.get("/merge", keep="Heat pumps", gone="Heat pump"))
    assert "It cannot be done yet" in stopped and f'href="/memory/{ids["hum"]}/edit"' in stopped
    assert '<form method="post" action="/merge"' not in stopped
    mended = served.get(f"/memory/{ids['hum']}/edit")
    assert "x: [" in mended
    path.write_text(whole, "utf-8")
    assert '<form method="post" action="/merge"' in served.get("/merge", keep="Heat pumps", gone="Heat pump")


def test_a_subject_is_shown_with_what_hangs_on_it(told: Told) -> None:
    served, ids = told
    text = unescape(served.get("/subject/Heat pump"))
    assert "since the drain is heated" in text and ids["hum"] in text and "data-graph" in text
    assert "/intersection?a=Heat%20pump&b=Lab" in text
    shared = unescape(served.get("/intersection", a="Heat pump", b="Lab"))
    assert "The heat pump of the lab hums at night" in shared and "Nobody wrote it down yet" in shared
    assert "Pumpe" in served.post("/subject/Heat pump/alias", {"aliases": "Pumpe, Wärmepumpe"})
    assert "It keeps us warm." in served.post("/subject/Heat pump/summary", {"summary": "It keeps us warm."})
    done = unescape(served.post("/subject/Lab/understand", {"content": "The lab opens at nine.", "summary": "Nine"}))
    assert "The lab opens at nine." in done
    again = unescape(served.post("/subject/Lab/understand", {"content": "The lab opens at ten.", "summary": "Ten"}))
    assert "The lab opens at ten." in again and "The lab opens at nine.</p>" not in again


def test_what_waits_is_accepted_refused_and_edited(told: Told) -> None:
    served, ids = told
    with served.vault() as vault:
        agent = vault.as_(origin="agent")
        others = [agent.remember(f"Perhaps the crane {what}.", ["Crane"], ask=True).id for what in ("sways", "hums", "rusts")]
    text = unescape(served.get("/review"))
    assert "Perhaps Ann likes tea" in text and "asks for a person's review" in text and all(one in text for one in others)
    edited = served.post(
        "/review/edit", {"one": ids["waiting"], "was": "Perhaps Ann likes tea.", "text": "Ann likes tea,\r\nand coffee."}
    )
    assert "changed, and waiting still" in edited
    stale = served.post("/review/edit", {"one": ids["waiting"], "was": "Perhaps Ann likes tea.", "text": "lost"}, 409)
    assert "saved by somebody else" in stale
    assert "1 memory accepted" in served.post("/review/decide", {"verdict": f"accept {ids['waiting']}"})
    assert "2 rejected" in served.post("/review/decide", {"verdict": "refuse", "id": others[:2], "sure": "1"})
    assert "nothing is ticked" in unescape(served.post("/review/decide", {"verdict": "accept"}, 400))
    with served.vault() as vault:
        assert vault.show(ids["waiting"]).content == "Ann likes tea,\nand coffee." and vault.show(ids["waiting"]).reviewed
        assert [one.id for one in vault.review().results] == others[2:]


def test_a_turn_that_waits_is_shown_with_what_its_gate_did(told: Told) -> None:
    served, _ = told
    with served.vault(session="wednesday") as vault:
        vault.turn(
            "wednesday", "ann", "", "My doctor said no", risk="high", note="health", extractMemory=True,
            candidates=[{"content": "Ann was at the doctor's."}],
        )  # fmt: skip
        vault.drain()
    text = unescape(served.get("/review"))
    assert "Ann was at the doctor's." in text and "risk high" in text and "My doctor said no" in text and "health" in text


def test_one_key_decides_on_the_chosen_one(chromium: Browser, told: Told) -> None:
    served, ids = told
    with browsing(chromium, served) as found:
        page = found.page
        page.goto(f"{served.url}/review")
        page.keyboard.press("j")
        page.keyboard.press("a")
        page.wait_for_selector("text=1 memory accepted")
        found.require_quiet()
    with served.vault() as vault:
        assert vault.show(ids["waiting"]).reviewed


def test_a_pass_is_walked_from_packet_to_packet(told: Told) -> None:
    served, _ = told
    with served.vault() as vault:
        for beam in range(4):
            vault.remember(f"The attic leaks at beam {beam}.", ["Attic"])
    text = unescape(served.get("/consolidate"))
    assert "What a pass would settle" in text and "Heat pump" in text and "Questioned" in text
    # With no pass open the page says so; a packet that is asked for by its name is not found.
    assert "No pass is open" in unescape(served.get("/consolidate/packet"))
    assert 'role="alert"' in unescape(served.get("/consolidate/packet", 404, label="Attic"))
    walk = unescape(served.post("/consolidate/begin"))
    written = skipped = 0
    for _ in range(20):
        if "The walk is done" in walk:
            break
        fields = dict(re.findall(r'type="hidden" name="(pass_id|current)" value="([^"]+)"', walk))
        subjects = re.findall(r'name="subject" value="([^"]+)"', walk)
        sources = re.findall(r'name="source" value="([^"]+)" checked', walk)
        label = re.search(r"<h1>(.*?)</h1>", walk)
        assert label
        if written or not sources:
            walk = unescape(served.post("/consolidate/skip", {"label": label.group(1)}))
            skipped += 1
        else:
            given = {**fields, "subject": subjects, "source": sources, "content": "It is well.", "summary": "Well"}
            walk = unescape(served.post("/consolidate/write", given))
            written += 1
    assert written == 1 and skipped
    ended = unescape(served.post("/consolidate/end"))
    assert re.search(r"1 written, [1-9]\d* passed over", ended)
    with served.vault() as vault:
        (one,) = vault.list_passes().results
        assert one.ended
    assert ">Pass 1<" in served.get("/consolidate")


def test_a_name_leads_to_the_page_of_what_it_means(told: Told) -> None:
    served, ids = told
    for name, path in (("Lab", "/subject/"), (ids["solved"], "/memory/")):
        found = served.client.get("/find", params={"name": name})
        assert found.status_code == 200 and found.url.path.startswith(path), name
