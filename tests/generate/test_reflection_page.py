"""REFLECTION.md shows themes, use and history, holds hostile text in its lines, and costs one pass."""

from __future__ import annotations

import re
from datetime import date

import pytest
from markdown_it import MarkdownIt

from tests.generate.hostile import PAYLOADS
from tests.generate.made import entry
from vault_tool.generate.reflection_page import Concern, reflection_page
from vault_tool.model.snapshot import Entry

AS_OF = date(2026, 11, 20)


def page(entries: list[Entry], access: dict[str, int] | None = None, concerns: tuple[Concern, ...] = ()) -> str:
    return reflection_page(entries, access or {}, concerns, as_of=AS_OF, last_reflection="2026-11-13", reflections=2, merges=3)


def section(text: str, title: str) -> list[str]:
    body = text.split(f"## {title}\n\n", 1)[1].split("\n## ", 1)[0]
    return [line for line in body.split("\n") if re.match(r" *(-|\d+\.) ", line)]


def test_the_header_and_sections_of_an_empty_vault() -> None:
    text = page([])
    assert text.startswith(
        "# Reflection Summary (auto-generated)\n\n"
        "> Last updated: 2026-11-20 | Last reflection: 2026-11-13 | Total reflections: 2\n\n## Consolidation History\n"
    )
    assert section(text, "Consolidation History") == ["- Total passes: 0", "- Total merges performed: 3"]


def test_themes_are_pairs_of_tags_with_their_newest_titles() -> None:
    notes = [entry(n, title=f"N{n}", tags=["Python", "fix", "fix"], created=f"2026-11-{n + 1:02d}") for n in range(5)]
    notes += [entry(50 + n, tags=["fix", "redis"]) for n in range(2)] + [entry(99, tags=["a", "b"])]
    assert section(page(notes), "Themes") == [
        '- **fix + Python**: 5 memories ("N4", "N3", "N2")',
        '- **fix + redis**: 2 memories ("Note 51", "Note 50")',
    ]


def test_at_most_eight_themes() -> None:
    tags = [f"t{n}" for n in range(12)]
    assert len(section(page([entry(n, tags=tags) for n in range(3)]), "Themes")) == 8


def test_patterns_span_projects_named_by_field_or_tag() -> None:
    notes = [entry(n, tags=["fix"], project="homelab") for n in range(3)]
    notes += [
        entry(10, tags=["fix", "Homelab"]),
        entry(11, tags=["fix"], project="dynasty"),
        entry(12, tags=["solo"], project="dynasty"),
    ]
    notes += [entry(13, tags=["fix"], project="global")]
    assert section(page(notes), "Cross-Project Patterns") == ["- **fix**: appears in homelab (4), dynasty (1)"]


def test_tags_and_projects_are_told_as_they_are_written() -> None:
    notes = [entry(n, tags=["#major-domo", "home_lab"], project="paper-dynasty") for n in range(3)]
    notes += [entry(9, tags=["Major Domo", "home_lab"], project="vagabond_rpg")]
    text = page(notes)
    assert section(text, "Themes")[0].startswith("- **home_lab + major-domo**: 4 memories")
    assert section(text, "Cross-Project Patterns")[0] == "- **home_lab**: appears in paper-dynasty (3), vagabond_rpg (1)"


def test_a_project_is_known_by_a_setting_or_a_subject_too() -> None:
    notes = [entry(1, tags=["fix", "major-domo"]), entry(2, tags=["fix"], subjects=["MD"]), entry(3, tags=["fix", "Lab"])]
    named = {"major-domo": "major-domo", "md": "major-domo", "lab": "lab"}
    text = reflection_page(
        notes, {}, (), as_of=AS_OF, last_reflection="", reflections=0, merges=0, projects=named
    )  # fmt: skip
    assert section(text, "Cross-Project Patterns") == ["- **fix**: appears in major-domo (2), lab (1)"]
    assert "Cross-Project" not in page(notes)


def test_most_accessed_and_recent_insights() -> None:
    notes = [
        entry(n, "insight", preview="word " * 40, created=f"2026-10-{n + 1:02d}", origin="agent", model="opus") for n in range(15)
    ]
    text = page(notes, {note.id: n for n, note in enumerate(notes) if n < 14})
    accessed, insights = section(text, "Most Accessed"), section(text, "Recent Insights")
    assert (len(accessed), len(insights)) == (10, 5), "what is listed above is not told again"
    assert accessed[0] == "1. [Note 13](vault/observations/2026/11/note-13.md) - 13 accesses"
    assert insights[0].endswith("word… — agent opus, 2026-10-15 (not reviewed)")
    assert len(insights[0].split(" - ", 1)[1].split(" — ")[0]) <= 80
    assert len(section(page(notes), "Recent Insights")) == 10
    said = section(page([entry(1, "insight", "It is so", "It is so. And more.")]), "Recent Insights")[0]
    assert said.count("It is so") == 1, "a title that is the text's beginning is read once"


def test_a_section_that_has_nothing_is_left_out() -> None:
    assert "##" not in reflection_page([], {}, (), as_of=AS_OF, last_reflection="", reflections=0, merges=0)
    assert "Themes" not in page([entry(1, tags=["a", "b"], user="u"), entry(2, tags=["a", "b"], user="u")])


def test_history_and_what_needs_attention() -> None:
    passes = [entry(n, "consolidation", f"Pass {n}", created=f"2026-11-{n:02d}") for n in range(1, 8)]
    pair = (entry(20, "soul", "New"), entry(21, "soul", "Old"))
    text = page(
        passes, concerns=(Concern("contested", pair, "two machines"), *(Concern("questionable", pair[:1]) for _ in range(25)))
    )
    history, concerns = section(text, "Consolidation History"), section(text, "Needs Attention")
    assert history[0] == "- Total passes: 7"
    assert "Pass 7" in history[1]
    assert len(history) == 7
    folder = "vault/observations/2026/11"
    assert concerns[0] == f"- **contested**: [New]({folder}/note-20.md), [Old]({folder}/note-21.md) - two machines"
    assert concerns[-1] == "- and 6 more, in the report of consolidation"


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 50))
def test_payloads_stay_in_their_lines(start: int) -> None:
    corpus = PAYLOADS[start : start + 50]
    notes = [
        entry(n, "insight", payload or "x", payload, tags=["same", payload], project=payload, model=payload)
        for n, payload in enumerate(corpus)
    ]
    notes += [
        entry(100 + n, note.type, note.title, note.preview, **{**note.head, "id": "", "type": ""}) for n, note in enumerate(notes)
    ]
    text = page(notes, {note.id: 3 for note in notes}, tuple(Concern(p, tuple(notes[:2]), p) for p in corpus))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.type for token in tokens].count("heading_open") == 7
    assert {token.type for token in tokens if token.level == 0 and token.nesting >= 0} <= {
        "heading_open", "paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open"
    }  # fmt: skip
    assert "<" not in text
    assert len(text) < 40000


def test_equal_in_any_order() -> None:
    notes = [entry(n, tags=[f"t{n % 50}", f"u{n % 7}", "all"], project=f"p{n % 5}") for n in range(200)]
    assert page(notes) == page(notes[::-1])
