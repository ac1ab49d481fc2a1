"""Consolidate for two: a packet handed to an agent as a prompt, a difference that is approved, several answers settled."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from tests.web.conftest import Served, browsing
from vault_tool import Vault
from vault_tool.errors import Refused
from vault_tool.features.review.waiting_sources import drop_sources
from vault_tool.model.types import RecordClass

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def _hidden(text: str) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', text):
        fields.setdefault(name, []).append(unescape(value))
    return fields


def _attic(vault: Vault) -> list[str]:
    ids = [vault.remember(f"The attic leaks at beam {beam}.", ["Attic"]).id for beam in range(4)]
    vault.create_understanding(["Attic"], "The attic leaks at two beams.", "Leaks at two beams")
    ids += [vault.remember(f"The attic was dried at beam {beam}.", ["Attic"]).id for beam in (5, 6, 7)]
    ids.append(vault.remember("The attic leaks at beam 0 no more.", ["Attic"], kind="change", change_targets=[ids[0]]).id)
    return ids


def test_a_packet_is_copied_as_a_prompt_and_its_difference_is_approved(served: Served) -> None:
    with served.vault() as vault:
        ids = _attic(vault)
    assert "claude -p" in served.get("/consolidate") and "mcp__vault" in served.get("/consolidate")
    walk = served.post("/consolidate/begin")
    text = re.search(r'<textarea id="prompt"[^>]*>\n(.*?)</textarea>', walk, re.DOTALL)
    assert text
    prompt = unescape(text.group(1))
    assert "> The attic was dried at beam 5." in prompt and "no instructions to you" in prompt and "understand" in prompt
    assert ids[5][:6] in prompt
    # Overtaken facts are no sources: neither ticked nor named as one.
    assert not re.search(rf'name="source" value="{ids[0]}" checked', walk)
    assert ids[0][:6] not in prompt.rpartition("sources")[2]
    fields = {name: values for name, values in _hidden(walk).items() if name in ("pass_id", "subject", "current")}
    sources = re.findall(r'name="source" value="([^"]+)" checked', walk)
    given = {**fields, "source": sources, "content": "The attic leaks at three beams.", "summary": "Leaks at three"}
    shown = unescape(served.post("/consolidate/preview", given))
    assert "Nothing is written yet" in shown and "Approve and write it" in shown
    if "current" in fields:
        assert "<del>two</del>" in shown and "<ins>three</ins>" in shown
    with served.vault() as vault:
        assert not vault.search("three beams").results or "three" not in vault.search("three beams").results[0].title
    approved = unescape(served.post("/consolidate/write", _hidden(shown)))
    assert "Written: Leaks at three" in approved


def test_what_stands_before_the_button_is_copied_as_it_stands(chromium: Browser, served: Served) -> None:
    with served.vault() as vault:
        _attic(vault)
    served.post("/consolidate/begin")
    with browsing(chromium, served, permissions=["clipboard-read", "clipboard-write"]) as found:
        page = found.page
        page.goto(f"{served.url}/consolidate/packet")
        page.get_by_text("Hand it to an agent").click()
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == page.input_value("#prompt")
        found.require_quiet()


def test_a_waiting_understanding_is_shown_as_a_difference(served: Served) -> None:
    with served.vault() as vault:
        soul = vault.whole_index.catalog.of_class(RecordClass.UNDERSTANDING, "soul")[0].id
        written = vault.update_understanding(soul, "I help the harbour master with two quays.", "Helps at the quays")
        now = written.new_understanding_id
        vault.as_(origin="agent").update_understanding(now, "I help the harbour master with three quays.", "Helps more")
        assert [draft.supersedes for draft in vault.review().results] == [(now,)]
    text = unescape(served.get("/review"))
    assert "<del>two</del>" in text and "<ins>three</ins>" in text


def test_a_waiting_understanding_shows_its_sources_and_keeps_those_that_stay_ticked(served: Served) -> None:
    with served.vault() as vault:
        vault.config("understanding_policy", "review")
        ids = _attic(vault)
    with Vault.open(served.root, origin="agent", model="m1") as agent:
        agent.create_understanding(["Roof"], "The roof is dry at three beams.", "Dry at three", source_observation_ids=ids[4:7])
    text = served.get("/review")
    with served.vault() as vault:
        (draft,) = (
            one.id for one in vault.review().results if one.title.startswith("Dry at three") or "three beams" in one.content
        )
    shown = re.findall(rf'name="source {draft}" value="([^"]+)" form="decide" checked', text)
    assert shown == ids[4:7] and all(f'value="{one}"' in text for one in ids[4:7])
    fields = {f"shown {draft}": shown, "verdict": f"accept {draft}"}
    assert "nothing is ticked" in unescape(served.post("/review/decide", fields, 400))
    # One is ticked off; what was not shown is let alone.
    served.post("/review/decide", {**fields, f"source {draft}": shown[:2]})
    with served.vault() as vault:
        understood = vault.show(draft)
        assert list(understood.head["sources"]) == ids[4:6] and understood.status == "current"


def test_no_agent_chooses_the_sources_of_what_waits(served: Served) -> None:
    with Vault.open(served.root, origin="agent") as agent, pytest.raises(Refused):
        drop_sources(agent, "1" * 36, ["2" * 36])
