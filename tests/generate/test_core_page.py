"""CORE.md never exceeds its budget, names where each line comes from, and is the same wherever it is made."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import date

import pytest
from markdown_it import MarkdownIt

from tests.generate.hostile import PAYLOADS
from tests.generate.made import entry
from vault_tool.generate.core_forms import CoreItem, CoreText, Form, ImportMap, PromptForm
from vault_tool.generate.core_page import CorePage, core_page, same_but_for_date
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import BUILT_IN, CoreSection, RecordClass, Registry

TYPES = [spec.name for spec in BUILT_IN if spec.record_class is RecordClass.OBSERVATION]
BUDGETS = (1, 80, 200, 300, 500, 777, 1000, 2000, 4000, 12000, 30000, 50000)
LINE = re.compile(r"- \[.*\]\(\S+\).* — (owner|agent|import|unknown)\b[^,]*, (\d{4}-\d\d-\d\d|undated)( \([a-z ]+\))*")


def page(
    items: list[CoreItem], kept: tuple[CoreText, ...] = (), budget: int = 12000, as_of: date = date(2026, 11, 20), limit: int = 15
) -> CorePage:
    count = len(items)
    return core_page(items, kept, budget=budget, section_limit=limit, registry=Registry(), as_of=as_of, active=count, total=count)


def item(
    number: int, kind: str = "decision", score: float = 0.6, truth: float = 0.8, title: str = "", **head: object
) -> CoreItem:
    return CoreItem(entry(number, kind, title, "", "", **head), score, truth)


def many(count: int) -> list[CoreItem]:
    chance = random.Random(7)
    return [
        item(n, TYPES[n % len(TYPES)], chance.random(), tags=["redis", "x y"], origin="agent", model="m") for n in range(count)
    ]


def kept(kind: str, text: str) -> CoreText:
    return CoreText(entry(900 + len(kind), kind, kind.title(), path=f"vault/understandings/{kind}-1 (a).md"), text)


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("- ")]


LONG = tuple(
    kept(kind, "\n\n".join(f"{kind} paragraph {n}. " + "words " * 40 for n in range(60)))
    for kind in ("soul", "protocol", "orientation")
)


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_page_never_exceeds_its_budget(budget: int) -> None:
    found = page(many(400), LONG, budget)
    assert len(found.text) <= budget
    sections = re.split(r"\n(?=## )", found.text)
    kept_length = sum(len(one) + 1 for one in sections if one.startswith(("## Soul", "## Protocol", "## Orientation")))
    assert kept_length <= budget // 2 + 1
    assert all(LINE.fullmatch(line) for line in lines(found.text))


def test_the_parts_stand_in_their_order() -> None:
    found = page([item(n, kind) for n, kind in enumerate(TYPES)], LONG)
    heads = re.findall(r"^## (.*)$", found.text, re.MULTILINE)
    assert heads == ["Soul", "Protocol", "Orientation", *(section.value for section in CoreSection)]
    header = "> Last updated: 2026-11-20 | Active memories: 23/23 | Refresh: `vt core`"
    assert found.text.startswith(f"# Memory Core (auto-generated)\n\n{header}\n\nMemories are hypotheses")


def test_a_line_has_title_path_tags_and_origin() -> None:
    one = item(1, "solution", title="Fixed [it]", tags=["redis", "a,b"], origin="agent", model="claude-opus")
    assert lines(page([one]).text) == [
        r"- [Fixed \[it\]](vault/observations/2026/11/note-1.md) (redis, a b) — agent claude-opus, 2026-11-20 (not reviewed)"
    ]


@pytest.mark.parametrize(
    "origin, reviewed, marked",
    [
        ("agent", False, True),
        ("import", False, True),
        ("agent", True, False),
        ("owner", False, False),
        ("", False, False),
        ("OWNER!", False, True),
    ],
)
def test_what_no_person_vouches_for_is_marked(origin: str, reviewed: bool, marked: bool) -> None:
    one = replace(item(1, origin=origin, model="owner, 2026-11-20"), reviewed=reviewed)
    line = lines(page([one]).text)[0]
    assert line.endswith("(not reviewed)") is marked
    assert line.count("owner") == (2 if origin in ("", "owner") else 1)


def test_what_may_not_stand_on_the_page() -> None:
    stale = replace(item(6).entry, stale=True)
    bad = [
        item(1, truth=0.29),
        replace(item(2), set_aside=True),
        item(3, expires="2026-11-20T09:00:00+00:00"),
        item(4, "soul"),
        item(5, "SOLVES"),
        CoreItem(stale, 1.0, 1.0),
    ]
    found = page([*bad, item(7, truth=0.3, expires="2026-11-21"), replace(item(8), questioned=True)])
    assert found.shown == (item(8).entry.id, item(7).entry.id)
    assert "(questioned)" in lines(found.text)[0]
    assert "(doubtful)" in lines(found.text)[1]
    assert found.left_out == {"doubted": 1, "questionable": 1, "expired": 1, "not listed": 2, "cannot be read now": 1}


def test_a_page_that_every_session_reads_is_left_out_once_it_has_expired() -> None:
    old, new = kept("soul", "I was."), kept("protocol", "We work so.")
    over = replace(old, entry=entry(905, "soul", "Soul", expires="2026-11-20T09:00:00+00:00"))
    assert "I was." in page([], kept=(old, new)).text
    shown = page([], kept=(over, new)).text
    assert "I was." not in shown
    assert "We work so." in shown


def test_faded_ones_fill_up_to_ten_and_say_so() -> None:
    found = page([item(n, score=0.3) for n in range(4)] + [item(n, "fact", score=0.01 * n) for n in range(10, 19)])
    faded = [line for line in lines(found.text) if line.endswith("(faded)")]
    assert (len(found.shown), len(faded), found.left_out) == (10, 6, {"faded": 3})
    assert "Note 18" in faded[0]
    assert len(page([item(n, kind, score=0.2) for n, kind in enumerate(TYPES)] + [item(99, score=0.1)]).shown) == len(TYPES)


def test_a_section_holds_its_best() -> None:
    found = page([item(n, score=0.2 + n / 100) for n in range(40)], limit=15)
    assert [line.split("]")[0][3:] for line in lines(found.text)] == [f"Note {n}" for n in range(39, 24, -1)]
    assert found.left_out == {"section full": 25}


def test_a_flood_from_one_source_pushes_nobody_out() -> None:
    flood = [
        item(n, TYPES[n % len(TYPES)], score=5.0, title=f"Buy at evil {n}", origin="import", model="dump") for n in range(1000)
    ]
    own = [item(2000 + n, TYPES[n % len(TYPES)], score=0.3, origin="owner") for n in range(60)]
    found = page(flood + own, limit=40, budget=6000)
    evil = sum("evil" in line for line in lines(found.text))
    assert len(found.shown) > 20
    assert evil <= len(found.shown) / 2 + 1
    assert all(one.entry.id in page(flood + own[:5], limit=40, budget=6000).shown for one in own[:5])


def headed(text: str) -> dict[str, list[str]]:
    """The lines of each section."""
    return {part.split("\n", 1)[0]: lines(part) for part in text.split("\n## ")[1:]}


def test_each_section_gets_its_best_lines_in_turn() -> None:
    strong = [item(n, "decision", 0.9, title="word " * 12) for n in range(200)]
    weak = [item(1000 + n, kind, 0.21) for n, kind in enumerate(["preference", "problem", "solution", "failed_tactic", "fact"])]
    found = headed(page(strong + weak, budget=2000).text)
    assert set(found) == {
        "Critical Solutions",
        "Active Decisions",
        "Preferences",
        "What Did Not Work",
        "In Motion",
        "Worth Knowing",
    }
    assert len(found["Active Decisions"]) > 1


def test_each_type_of_a_section_comes_before_the_second_of_any() -> None:
    many_of_one = [item(n, "procedure", 0.9) for n in range(40)]
    found = page([*many_of_one, item(90, "workflow", 0.3), item(91, "code_pattern", 0.25)], limit=5)
    assert {item(90).entry.id, item(91).entry.id} <= set(found.shown)
    assert len(found.shown) == 5


def test_of_equals_the_one_observed_last_comes_first_and_says_when() -> None:
    days = ["2026-03-01", "2026-05-01", "2026-04-01"]
    found = lines(page([item(n, observed=f"{day}T10:00:00+00:00") for n, day in enumerate(days)]).text)
    assert [line[-10:] for line in found] == ["2026-05-01", "2026-04-01", "2026-03-01"]


def test_solved_problems_and_what_is_about_a_user_are_left_out() -> None:
    done = replace(item(1, "problem"), solved=True)
    found = page([done, item(2, "problem"), item(3, user="u-1")])
    assert found.shown == (item(2).entry.id,)
    assert found.left_out == {"solved": 1, "about a user": 1}


def test_a_text_that_nobody_rewrote_is_a_line_and_an_orientation_none() -> None:
    found = page([], tuple(replace(one, untouched=True) for one in LONG)).text
    assert "paragraph" not in found
    assert "## Soul\n\n[Soul](vault" in found
    assert "## Protocol\n\n[Protocol](vault" in found
    assert "Orientation" not in found


def test_an_import_is_told_by_a_map() -> None:
    brought = ImportMap("notes", 6571, (("Recipes", 900), ("Work", 12)), (entry(5, title="Index [of all]"),))
    told = page_of([item(1)], imports=[brought]).text
    assert "- 6571 notes from notes; folders: Recipes 900, Work 12; most linked: [Index \\[of all\\]](vault" in told
    assert told.endswith("\n")


def page_of(items: list[CoreItem], form: Form | None = None, imports: list[ImportMap] | None = None) -> CorePage:
    return core_page(
        items, LONG[:1], budget=12000, section_limit=15, registry=Registry(), as_of=date(2026, 11, 20), active=3, total=4,
        form=form, imports=imports or (),
    )  # fmt: skip


def test_the_prompt_form_gives_ids_words_and_who_vouches_once() -> None:
    items = [
        item(1, "solution", 0.9, title="Keepalive", origin="agent", model="m"),
        item(2, "solution", 0.8, title="Say it", origin="agent", model="m", observed="2026-01-01T00:00:00+00:00"),
        item(3, "solution", 0.7, title="By me", origin="owner"),
        item(4, "failed_tactic", 0.7, title="Retry", failure_mode="it hides the cause"),
    ]
    items[0] = replace(items[0], entry=replace(items[0].entry, preview="socket_keepalive=True ended the drops."))
    items[1] = replace(items[1], entry=replace(items[1].entry, preview="Say it twice."))
    found = page_of(items, PromptForm(lambda identity: identity[:8])).text
    assert headed(found)["Critical Solutions (owner)"] == ["- 00000003 By me"]
    assert headed(found)["Critical Solutions (agent m, not reviewed)"] == [
        "- 00000001 Keepalive: socket_keepalive=True ended the drops.",
        "- 00000002 Say it twice. (2026-01-01)",
    ]
    assert headed(found)["What Did Not Work (owner)"] == ["- 00000004 Retry (failed: it hides the cause)"]
    assert "](" not in found
    assert "soul paragraph 1." in found


def test_kept_texts_share_half_and_point_to_the_rest() -> None:
    found = page([], LONG, 4000).text
    assert found.count("[The rest of this ") == 3
    assert "(vault/understandings/soul-1%20%28a%29.md)" in found
    quoted = [line for line in found.split("\n") if line.startswith("> ") and "Last updated" not in line]
    assert quoted
    assert all(line.endswith("words") for line in quoted)
    short = page([], (kept("soul", "# Who\n\nBe."), LONG[1]), 4000).text
    assert "\n> **Who**\n>\n> Be.\n\n## Protocol" in short


def test_equal_values_make_an_equal_page_in_any_order() -> None:
    items = [replace(one, score=round(one.score, 1)) for one in many(300)]
    shuffled = items[:]
    random.Random(3).shuffle(shuffled)
    assert page(shuffled, LONG).text == page(items, LONG).text


def test_only_the_headers_date_is_ignored() -> None:
    today, later = page(many(30), LONG), page(many(30), LONG, as_of=date(2027, 1, 2))
    assert today.text != later.text
    assert same_but_for_date(today.text, later.text)
    assert not same_but_for_date(today.text, page(many(29), LONG).text)
    trick = (kept("soul", "Last updated: 2026-01-01"),)
    other = (kept("soul", "Last updated: 2026-01-02"),)
    assert not same_but_for_date(page([], trick).text, page([], other).text)


def test_the_live_page_says_that_it_is() -> None:
    found = core_page(
        [], (), budget=900, section_limit=1, registry=Registry(), as_of=date(2026, 1, 1), active=1, total=2, live=True
    )
    assert "2026-01-01 (live) | Active memories: 1/2" in found.text


def _hostile(number: int, payload: str) -> Entry:
    kind = TYPES[number % len(TYPES)]
    path = f"vault/{payload.replace('/', '_')[:60] or 'x'}-{number}.md"
    return entry(
        number, kind, payload or "x", path=path, tags=[payload, "ok"], model=payload, origin=payload if number % 2 else "agent"
    )


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 50))
def test_payloads_stay_in_their_line_and_block(start: int) -> None:
    corpus = PAYLOADS[start : start + 50]
    items = [CoreItem(_hostile(n, payload), 0.6, 0.8) for n, payload in enumerate(corpus)]
    found = page(items, tuple(kept(kind, "\n\n".join(corpus)) for kind in ("soul", "protocol", "orientation")), 50000)
    tokens = MarkdownIt("commonmark").enable("table").parse(found.text)
    heads = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert set(heads) <= {
        "Memory Core (auto-generated)",
        "Soul",
        "Protocol",
        "Orientation",
        *(section.value for section in CoreSection),
    }
    assert len(set(heads)) == len(heads)
    top = [token.type for token in tokens if token.level == 0 and token.nesting >= 0]
    assert set(top) == {"heading_open", "blockquote_open", "paragraph_open", "bullet_list_open"}
    assert len(found.shown) == len(items) == len(lines(found.text))
    assert all(LINE.fullmatch(line) and line.endswith("(not reviewed)") for line in lines(found.text))
    assert not re.search(r"<(?!!--)|[\u200b-\u200f\u202a-\u202e\u2028\u2029\x00-\x08\x0b-\x1f\x85]", found.text)
