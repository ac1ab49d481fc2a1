"""A page of what was chosen is the page of all that was offered."""

from __future__ import annotations

import random
from datetime import date

import pytest

from tests.generate.made import entry
from vault_tool.generate.core_choice import CoreChoice
from vault_tool.generate.core_forms import CoreItem
from vault_tool.generate.core_page import CorePage, core_page
from vault_tool.model.types import Registry

TODAY = date(2026, 11, 20)
KINDS = ("decision", "solution", "fix", "error", "preference", "problem", "fact", "general", "change", "odd")
LIMIT = 4


def _items(seed: int, count: int, faded: float = 0.3) -> list[CoreItem]:
    rng = random.Random(seed)
    found = []
    for number in range(count):
        head = {"origin": rng.choice(["owner", "owner", "agent", "agent", "import", "pulled (Eve <eve@example.org>)"])}
        head["model"] = rng.choice(["", "m", "n"])
        head |= {"user": "ann"} if rng.random() < 0.05 else {}
        head |= {"expires": "2026-11-01"} if rng.random() < 0.05 else {}
        title = f"Note {number} " + rng.choice(["is short", "is long " * 20])
        score = rng.choice([0.0, 0.1, 0.15]) if rng.random() < faded else rng.choice([0.3, 0.5, 0.8, 1.2, 999.0])
        memory = entry(number, rng.choice(KINDS), title, f"What it says: {title}", **head)
        found.append(CoreItem(memory, score, rng.choice([0.2, 0.5, 0.8]), reviewed=rng.random() < 0.1))
    return found


def _page(items: list[CoreItem], budget: int) -> CorePage:
    return core_page(
        items, (), budget=budget, section_limit=LIMIT, registry=Registry(), as_of=TODAY, active=len(items), total=len(items)
    )


def _chosen(items: list[CoreItem], most: int) -> CoreChoice:
    choice = CoreChoice(Registry(), TODAY, most)
    for item in items:
        if not choice.hopeless(item.entry, item.score, item.truth, item.reviewed):
            choice.offer(item)
    return choice


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [400, 900, 2500, 12000])
def test_it_is_the_page_of_all_wherever_no_section_looked_further(seed: int, budget: int) -> None:
    items = _items(seed, 700)
    whole = _page(items, budget)
    cut = 0
    for most in (LIMIT, 8, 12, 16, 40):
        choice = _chosen(items, most)
        kept = list(choice.chosen())
        page = _page(random.Random(seed).sample(kept, len(kept)), budget)
        cut += not choice.whole
        if choice.whole or page.reach <= most:
            assert page.text.partition("\n## ")[2] == whole.text.partition("\n## ")[2]
            assert page.shown == whole.shown
    assert cut, "nothing was ever left out"
    assert whole.reach <= 40, "no choice was large enough"


@pytest.mark.parametrize("count", [0, 3, 9, 10, 11, 400])
def test_what_has_faded_fills_up_a_page_of_few(count: int) -> None:
    items = _items(7, count, faded=0.0) + [item for item in _items(8, 400, faded=1.0) if item.score < 0.2]
    choice = _chosen(items[::-1], 40)
    assert _page(list(choice.chosen()), 12000).shown == _page(items, 12000).shown


def test_it_keeps_few_of_many() -> None:
    kept = list(_chosen(_items(1, 5000), 5).chosen())
    sources = {(item.entry.type, item.entry.origin, item.entry.text("model")) for item in kept}
    assert len(kept) <= 10 * (len(sources) + len(KINDS)) < 1500
