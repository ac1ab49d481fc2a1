"""CORE.md never exceeds its budget, names where each line comes from, and is the same wherever it is made."""

from __future__ import annotations

import random
import re
from datetime import date

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from tests.generate.hostile import PAYLOADS
from tests.generate.made import entry
from vault_tool.belief.fold import Belief
from vault_tool.generate.core_forms import Beside, CoreItem, CoreText, Form, ImportMap, PromptForm
from vault_tool.generate.core_order import Claims, barred, in_order
from vault_tool.generate.core_page import GROUPS, CorePage, core_page, same_but_for_date
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import BUILT_IN, CoreSection, RecordClass, Registry

TODAY = date(2026, 11, 20)
TYPES = [spec.name for spec in BUILT_IN if spec.record_class is RecordClass.OBSERVATION]
BUDGETS = (1, 80, 200, 300, 500, 777, 1000, 2000, 4000, 12000, 30000, 50000)
LINE = re.compile(r"- \[.*\]\(\S+\).* — (owner|agent|import|unknown)\b[^,]*, (\d{4}-\d\d-\d\d|undated)( \([a-z ]+\))*")


def page(
    items: list[CoreItem], kept: tuple[CoreText, ...] = (), budget: int = 12000, as_of: date = TODAY, form: Form | None = None
) -> CorePage:
    return core_page(items, kept, budget=budget, registry=Registry(), as_of=as_of, total=len(items), form=form)


def item(
    number: int,
    kind: str = "decision",
    truth: float = 0.8,
    title: str = "",
    useful: int = 0,
    reviewed: bool = False,
    **head: object,
) -> CoreItem:
    belief = Belief(truth=truth, useful=useful, reviewed_at="2026-11-20" if reviewed else None)
    return CoreItem(entry(number, kind, title, "", "", **head), belief)


def many(count: int) -> list[CoreItem]:
    chance = random.Random(7)
    return [
        item(
            n, TYPES[n % len(TYPES)], useful=chance.randrange(4), tags=["redis", "x y"], origin="agent", model="m",
            subjects=[f"S{chance.randrange(9)}"], observed=f"2026-{chance.randrange(10, 12)}-0{chance.randrange(1, 9)}",
        )
        for n in range(count)
    ]  # fmt: skip


def beside(number: int, kind: str, title: str, **head: object) -> Beside:
    return Beside(entry(number, kind, title, "", "", **head), False)


def kept(kind: str, text: str) -> CoreText:
    return CoreText(entry(900 + len(kind), kind, kind.title(), path=f"vault/understandings/{kind}-1 (a).md"), text)


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("- ")]


def titles(text: str) -> list[str]:
    return [line.split("]")[0][3:] for line in lines(text)]


LONG = tuple(
    kept(kind, "\n\n".join(f"{kind} paragraph {n}. " + "words " * 40 for n in range(60)))
    for kind in ("soul", "protocol", "orientation")
)


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_page_never_exceeds_its_budget(budget: int) -> None:
    found = page(many(400), LONG, budget)
    assert len(found.text) <= budget
    sections = re.split(r"\n(?=## )", re.sub(r"\n\d+ more are not shown.\n", "", found.text))
    kept_length = sum(len(one) + 1 for one in sections if one.startswith(("## Soul", "## Protocol", "## Orientation")))
    assert kept_length <= budget // 2 + 1
    assert all(LINE.fullmatch(line) for line in lines(found.text))


def test_the_parts_stand_in_their_order() -> None:
    found = page([item(n, kind) for n, kind in enumerate(TYPES)], LONG)
    heads = re.findall(r"^## (.*)$", found.text, re.MULTILINE)
    assert heads == ["Soul", "Protocol", "Orientation", *(section.value for section in CoreSection)]
    assert [section for group in GROUPS for section in group.sections] == list(CoreSection)
    header = "> Last updated: 2026-11-20 | Active memories: 24 | Refresh: `vt core`"
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
    one = item(1, origin=origin, model="owner, 2026-11-20", reviewed=reviewed)
    line = lines(page([one]).text)[0]
    assert line.endswith("(not reviewed)") is marked
    assert line.count("owner") == (2 if origin in ("", "owner") else 1)


def question(number: int) -> Signal:
    target = f"{number:08x}-0000-4000-8000-000000000000"
    return Signal(id=f"q{number}", target=target, kind=SignalKind.QUESTIONABLE, at="2026-11-20T10:00:00+00:00", origin="agent")


def test_what_may_not_stand_on_the_page() -> None:
    asked = question(2)
    bad = [
        item(1, truth=0.29),
        CoreItem(item(2).entry, Belief(truth=0.8, questionable=(asked,), set_aside=True)),
        item(3, expires="2026-11-20T09:00:00+00:00"),
        item(4, "soul"),
        item(5, "SOLVES"),
        CoreItem(replace(item(6).entry, stale=True), Belief(truth=1.0)),
        item(9, user="u-1"),
    ]
    good = [item(7, truth=0.3, expires="2026-11-21"), CoreItem(item(8).entry, Belief(truth=0.8, questionable=(asked,)))]
    found = page([*bad, *good])
    assert set(found.shown) == {good[0].entry.id, good[1].entry.id}
    assert sum("(questioned)" in line for line in lines(found.text)) == 1
    assert sum("(doubtful)" in line for line in lines(found.text)) == 1
    assert [barred(one.entry, one.belief, TODAY) for one in bad] == [
        "doubted", "questionable", "expired", "", "not listed", "cannot be read now", "about a user",
    ]  # fmt: skip


def test_a_page_that_every_session_reads_is_left_out_once_it_has_expired() -> None:
    old, new = kept("soul", "I was."), kept("protocol", "We work so.")
    over = replace(old, entry=entry(905, "soul", "Soul", expires="2026-11-20T09:00:00+00:00"))
    assert "I was." in page([], kept=(old, new)).text
    shown = page([], kept=(over, new)).text
    assert "I was." not in shown
    assert "We work so." in shown


def test_a_rule_and_an_open_problem_never_leave_by_age() -> None:
    rules = [item(n, "preference", title=f"Rule {n}", observed="2024-01-01T10:00:00+00:00", origin="agent") for n in range(5)]
    problem = item(9, "problem", title="It leaks", observed="2024-01-01T10:00:00+00:00", origin="agent")
    news = [item(100 + n, "fact", title=f"Build {n} took 3 minutes", origin="agent") for n in range(300)]
    found = page([*rules, problem, *news])
    assert {one.entry.id for one in (*rules, problem)} <= set(found.shown)
    assert len(found.text) > 0.9 * 12000


def test_a_rule_of_any_age_comes_before_what_is_new_of_its_section() -> None:
    rule = item(1, "procedure", title="Old rule", observed="2024-01-01T10:00:00+00:00", origin="agent")
    news = [item(100 + n, "workflow", title=f"New {n}", origin="agent", subjects=[f"S{n}"]) for n in range(50)]
    assert titles(page([rule, *news]).text)[0] == "Old rule"


def test_where_it_was_left_is_told_for_thirty_days_and_dated() -> None:
    left = [
        item(n, "task_state", title=f"Step {n}", observed=f"2026-{day}T10:00:00+00:00")
        for n, day in enumerate(("10-20", "10-21", "11-19", "11-20"))
    ]
    found = page(left, form=PromptForm(lambda identity: identity[:8])).text
    assert [line.partition(" ")[2] for line in lines(found)] == [
        "00000003 Step 3 (2026-11-20)", "00000002 Step 2 (2026-11-19)", "00000001 Step 1 (2026-10-21)",
    ]  # fmt: skip


def test_what_a_person_stands_behind_comes_first_whatever_an_agent_says_of_its_own() -> None:
    agents = [item(n, "preference", useful=9, importance=1.0, pinned=True, origin="agent", title=f"A {n}") for n in range(400)]
    owners = [item(1000 + n, "preference", importance=0.1, title=f"O {n}", observed="2024-01-01") for n in range(30)]
    found = titles(page([*agents, *owners]).text)
    assert {title[0] for title in found[:30]} == {"O"}
    assert {title[0] for title in found[30:]} == {"A"}
    pinned = item(2000, "preference", title="Pinned", pinned=True, observed="2024-01-01")
    assert titles(page([*agents, *owners, pinned]).text)[0] == "Pinned"


def test_the_first_of_each_subject_comes_before_the_second_of_any() -> None:
    loud = [item(n, "fact", title=f"Loud {n}", subjects=["Loud"], origin="agent") for n in range(200)]
    quiet = [
        item(900 + n, "fact", title=f"Quiet {n}", subjects=[f"Q{n}"], origin="agent", observed="2026-06-01") for n in range(9)
    ]
    both = item(990, "fact", title="Of both", subjects=["Loud", "Rare"], origin="agent", observed="2026-06-01")
    first = titles(page([*loud, *quiet, both], budget=4000).text)[:13]
    assert {f"Quiet {n}" for n in range(9)} | {"Of both"} <= set(first)


def test_each_group_has_its_share_and_what_one_leaves_goes_to_the_others() -> None:
    one_of_each = ("preference", "ongoing_task", "problem", "fact", "solution")
    groups = {
        kind: [item(1000 * k + n, kind, title=f"{kind} {n} " + "word " * 9, origin="agent") for n in range(200)]
        for k, kind in enumerate(one_of_each)
    }
    found = page([one for some in groups.values() for one in some]).text
    room = sum(len(line) for line in lines(found))
    for group, kind in zip(GROUPS, one_of_each, strict=True):
        taken = sum(len(line) for line in lines(found) if f"[{kind} " in line)
        assert 0.75 * group.share < taken / room < 1.25 * group.share
    alone = page([*groups["fact"], *groups["preference"][:2]]).text
    assert len(alone) > 0.9 * 12000 and alone.count("[preference ") == 2


@pytest.mark.parametrize("budget", [2000, 5000, 12000])
@pytest.mark.parametrize("form", [None, PromptForm(lambda identity: identity[:6])])
def test_while_anything_is_left_out_the_room_is_used(budget: int, form: Form | None) -> None:
    found = page(many(600), budget=budget, form=form)
    assert 0.9 * budget < len(found.text) <= budget
    assert int(re.findall(r"(\d+) more are not shown", found.text)[0]) == 600 - len(found.shown)


def test_both_forms_hold_the_same_in_the_same_order() -> None:
    items = many(60)
    problem, tactic = beside(700, "problem", "It leaks"), beside(701, "failed_tactic", "Tape")
    items[3] = replace(items[3], solves=problem, tried=(tactic,))
    tracked, prompt = page(items, budget=50000), page(items, budget=50000, form=PromptForm(lambda identity: identity))
    assert tracked.shown == prompt.shown and len(tracked.shown) > 55
    paths = [re.findall(r"\]\((\S+)\)", line)[0] for line in lines(tracked.text)]
    ids = {one.entry.path: one.entry.id for one in items}
    assert [ids[path] for path in paths] == [line.split()[1] for line in lines(prompt.text)]


def test_a_shorter_page_begins_each_section_as_a_longer_one_does() -> None:
    items = many(800)
    long, short = headed(page(items, budget=30000).text), headed(page(items, budget=6000).text)
    assert short and all(long[section][: len(found)] == found for section, found in short.items())


def test_a_beginning_of_the_order_is_in_the_same_order_by_itself() -> None:
    chance, of = random.Random(3), Claims(Registry(), TODAY)
    for _ in range(30):
        origins = chance.sample(["owner", "agent", "import", "pulled (Eve <eve@example.org>)"], chance.randrange(1, 5))
        claims = [
            claim for n in range(150)
            if (claim := of.of(entry(
                n, chance.choice(TYPES), subjects=chance.sample("abcdefg", chance.randrange(4)), origin=chance.choice(origins),
                observed=f"2026-{chance.randrange(1, 12):02}-01"), Belief(truth=0.8, useful=chance.randrange(3))))
        ]  # fmt: skip
        whole = in_order(claims)
        some = {section: found[: chance.randrange(len(found) + 1)] for section, found in whole.items()}
        again = in_order(chance.sample(kept := [claim for found in some.values() for claim in found], len(kept)))
        assert again == {section: found for section, found in some.items() if found}


def test_a_flood_from_one_source_pushes_nobody_out() -> None:
    flood = [item(n, "fact", useful=9, title=f"Buy at evil {n}", origin="import", subjects=[f"s{n}"]) for n in range(1000)]
    own = [item(2000 + n, "fact", origin="agent", title=f"Own {n}") for n in range(60)]
    found = titles(page(flood + own, budget=6000).text)
    assert len(found) > 20
    assert sum("evil" in title for title in found) <= len(found) / 2 + 1


def test_what_failed_stands_with_its_problem() -> None:
    open_one = replace(
        item(1, "problem", title="It leaks", origin="agent"),
        tried=(beside(2, "failed_tactic", "Tape", origin="agent"), beside(3, "failed_tactic", "Glue", origin="agent")),
    )
    solved = replace(
        item(4, "solution", title="A new seal holds.", origin="agent"),
        solves=beside(5, "problem", "It drips.", origin="owner"),
        tried=(beside(6, "failed_tactic", "Wax melts.", origin="agent"),),
    )
    change = item(7, "change", title="The pump is blue.", change_targets=[f"{8:08x}-0000-4000-8000-000000000000"])
    found = page([open_one, solved, change], form=PromptForm(lambda identity: identity[:8])).text
    assert "- 00000001 It leaks\n  - tried: Tape\n  - tried: Glue\n" in found
    assert "- 00000004 It drips -> A new seal holds; failed: Wax melts\n" in found
    assert "- 00000007 The pump is blue. (changes: 00000008)\n" in found
    tracked = page([open_one, solved, change]).text
    assert "[It leaks](vault/observations/2026/11/note-1.md) — agent, 2026-11-20 (not reviewed)\n  - tried: Tape\n" in tracked
    assert "- [It drips -> A new seal holds.](vault/observations/2026/11/note-4.md); failed: Wax melts — agent" in tracked


def headed(text: str) -> dict[str, list[str]]:
    """The lines of each section."""
    return {part.split("\n", 1)[0]: lines(part) for part in text.split("\n## ")[1:]}


def test_of_equals_the_one_observed_last_comes_first_and_says_when() -> None:
    days = ["2026-03-01", "2026-05-01", "2026-04-01"]
    found = lines(page([item(n, observed=f"{day}T10:00:00+00:00") for n, day in enumerate(days)]).text)
    assert [line[-10:] for line in found] == ["2026-05-01", "2026-04-01", "2026-03-01"]


def test_a_text_that_nobody_rewrote_takes_no_line() -> None:
    found = page([], tuple(replace(one, untouched=True) for one in LONG)).text
    assert not re.search("paragraph|Soul|Protocol|Orientation", found)


def test_an_import_is_told_by_a_map() -> None:
    brought = ImportMap("notes", 6571, (("Recipes", 900), ("Work", 12)), (entry(5, title="Index [of all]"),))
    told = page_of([item(1)], imports=[brought]).text
    assert "- 6,571 notes from notes; folders: Recipes 900, Work 12; most linked: [Index \\[of all\\]](vault" in told
    assert told.endswith("\n")


def page_of(items: list[CoreItem], form: Form | None = None, imports: list[ImportMap] | None = None) -> CorePage:
    return core_page(
        items, LONG[:1], budget=12000, registry=Registry(), as_of=TODAY, total=4,
        form=form, imports=imports or (),
    )  # fmt: skip


def test_the_prompt_form_gives_ids_words_and_who_vouches_once() -> None:
    items = [
        item(1, "solution", title="Keepalive", origin="agent", model="m"),
        item(2, "solution", title="Say it", origin="agent", model="m", observed="2026-01-01T00:00:00+00:00"),
        item(3, "solution", title="By me", origin="owner"),
        item(4, "failed_tactic", title="Retry", failure_mode="it hides the cause"),
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
    items = many(300)
    shuffled = items[:]
    random.Random(3).shuffle(shuffled)
    assert page(shuffled, LONG).text == page(items, LONG).text


def test_only_the_headers_date_is_ignored() -> None:
    lasting = [item(n, "fact") for n in range(30)]
    today, later = page(lasting, LONG), page(lasting, LONG, as_of=date(2027, 1, 2))
    assert today.text != later.text
    assert same_but_for_date(today.text, later.text)
    assert not same_but_for_date(today.text, page(lasting[1:], LONG).text)
    trick = (kept("soul", "Last updated: 2026-01-01"),)
    other = (kept("soul", "Last updated: 2026-01-02"),)
    assert not same_but_for_date(page([], trick).text, page([], other).text)


def test_the_live_page_says_that_it_is() -> None:
    found = core_page([], (), budget=900, registry=Registry(), as_of=date(2026, 1, 1), total=2, live=True)
    assert "2026-01-01 (live) | Active memories: 2 " in found.text


def _hostile(number: int, payload: str) -> Entry:
    kind = TYPES[number % len(TYPES)]
    path = f"vault/{payload.replace('/', '_')[:60] or 'x'}-{number}.md"
    return entry(
        number, kind, payload or "x", path=path, tags=[payload, "ok"], model=payload, origin=payload if number % 2 else "agent"
    )


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 50))
def test_payloads_stay_in_their_line_and_block(start: int) -> None:
    corpus = PAYLOADS[start : start + 50]
    items = [
        CoreItem(
            _hostile(n, payload), Belief(truth=0.8), tried=(Beside(_hostile(5000 + n, payload), False),),
            solves=Beside(_hostile(7000 + n, payload), False) if n % 3 else None,
        )
        for n, payload in enumerate(corpus)
    ]  # fmt: skip
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
    assert len(items) == len(lines(found.text))
    assert all(LINE.fullmatch(line) and line.endswith("(not reviewed)") for line in lines(found.text))
    assert not re.search(r"<(?!!--)|[\u200b-\u200f\u202a-\u202e\u2028\u2029\x00-\x08\x0b-\x1f\x85]", found.text)


def test_what_a_map_tells_of_is_not_among_what_is_not_shown() -> None:
    def told(total: int, imports: list[ImportMap]) -> str:
        return core_page(
            [item(1), item(2)], (), budget=12000, registry=Registry(), as_of=TODAY, total=total, imports=imports
        ).text  # fmt: skip

    brought = [ImportMap("notes", 300), ImportMap("wiki", 250)]
    assert "not shown" not in told(552, brought)
    assert "7 more are not shown." in told(559, brought)
    assert "550 more are not shown." in told(552, [])
    # A choice that was made before some of them went tells of more than there are.
    assert "not shown" not in told(500, brought)


def test_what_another_seems_to_have_changed_takes_no_room_of_what_is_so() -> None:
    newest = item(1, "fact", title="Rent 950", subjects=["Flat"], origin="agent")
    older = [
        replace(item(10 + n, "fact", title=f"Rent {n}", subjects=["Flat"], origin="agent"), perhaps_changed_by=newest.entry.id)
        for n in range(8)
    ]
    others = [
        item(50 + n, "fact", title=f"Other {n}", subjects=["Flat"], origin="agent", observed="2026-06-01") for n in range(8)
    ]
    small = titles(page([newest, *older, *others], budget=1100).text)
    whole = titles(page([newest, *older, *others], budget=9000).text)
    assert small[0] == "Rent 950"
    assert {title for title in small if title.startswith("Rent ")} == {"Rent 950"}
    assert len(small) > 2
    assert whole[:9] == ["Rent 950", *whole[1:9]]
    assert {title.partition(" ")[0] for title in whole[1:9]} == {"Rent"}
