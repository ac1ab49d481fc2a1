from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.typed import on_terminal
from vault_tool.cli import output
from vault_tool.cli.blocks import (
    COLUMNS,
    Block,
    Body,
    Diff,
    Heading,
    Printed,
    aligned,
    fields,
    plain,
    printable,
    sourced,
    table,
    width,
)
from vault_tool.errors import Exit
from vault_tool.model.problems import Severity
from vault_tool.vault.context import Freshness
from vault_tool.vault.operation import Saved

pytestmark = [
    pytest.mark.filterwarnings("error"),
    # What other tests left to the collector, which may come by while one of these runs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Answer(Saved, kw_only=True):
    """A verb's result with a title and fresh or stale indexes."""

    title: str = "An answer"
    freshness: Freshness | None = None


BEHIND = Answer(freshness=Freshness(checked="", behind=3))
WITHHELD = Answer(freshness=Freshness(checked="", held_back="40 of 60 notes are gone"))


def _shown(*blocks: Block) -> str:
    return "\n".join(plain(blocks))


def test_columns_line_up_by_what_a_terminal_shows() -> None:
    shown = _shown(table(("id", "title", "score"), [("a", "日本語", "1"), ("bb", "abc", "10")], right=["score"]))
    assert shown.split("\n") == ["id  title   score", "a   日本語      1", "bb  abc        10"]


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("a\u200bb", 2), ("ｶ", 1), ("🙂", 2), ("", 0)]
)
def test_width_is_in_terminal_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_a_table_without_rows_says_so() -> None:
    assert _shown(table(("id",), [], empty="no memories")) == "no memories"


def test_a_cell_stays_in_its_line() -> None:
    assert _shown(table(("id", "title"), [("a", "one\ntwo\tthree\x1b[2J")])).split("\n")[1:] == ["a   one two three [2J"]


def test_fields_leave_out_what_is_empty() -> None:
    shown = _shown(fields(("id", "a"), ("tags", ()), ("subjects", ("A", "B")), ("truth", 0.8), ("none", None), ("pinned", False)))
    assert shown.split("\n") == ["id:        a", "subjects:  A, B", "truth:     0.80", "pinned:    no"]


def test_no_note_can_drive_a_terminal() -> None:
    hostile = "a\x1b]0;title\x07\x9b2Jb\rc\u202ed\x00\ud800\tkept\nkept\r\nkept"
    shown = printable(hostile)
    assert shown == "a\\x1b]0;title\\x07\\x9b2Jb\\x0dc\\u202ed\\x00\\ud800\tkept\nkept\nkept"
    assert _shown(Body(hostile)) == "\n".join(f"| {line}" for line in shown.split("\n"))
    assert _shown(Printed(hostile)) == shown
    assert _shown(Heading("a\x1b[1m\nb")).isprintable()


def test_json_has_the_fields_of_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer(committed=True, commit="abc", title="日本")
    assert output.emit(answer, True, list) is Exit.DONE
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "committed": True, "commit": "abc", "reason": "", "attention": False, "conflicts": [], "warnings": [],
        "title": "日本", "freshness": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Path("a/b"), '"a/b"'),
        (Severity.NOTE, '"note"'),
        (frozenset({"b", "a"}), '["a","b"]'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        ({Severity.NOTE: 1}, '{"note":1}'),
        (2**70, str(2**70)),
        ("\ud800", '"\\ud800"'),
        ((1.5, None, True), "[1.5,null,true]"),
        (Answer(title="\ud800").title, '"\\ud800"'),
    ],
)
def test_json_of_odd_values(value: object, text: str) -> None:
    assert output.to_json([value]).replace(" ", "").replace("\n", "") == f"[{text}]"


def test_json_of_a_result_with_a_file_name_that_is_no_text() -> None:
    assert json.loads(output.to_json(Answer(title="\udcff")))["title"] == "\udcff"


@pytest.mark.parametrize("count", [0, 1, 199, 200, 201, 450])
@pytest.mark.parametrize("lacks", ["", "its settings"])
def test_json_of_a_long_answer_is_that_of_a_short_one(capsys: pytest.CaptureFixture[str], count: int, lacks: str) -> None:
    items = [{"title": f'"items": [], {number}\n', "tags": [], "odd": [{"a": 1}]} for number in range(count)]
    frame = {"as_of": "now", "count": count, "items": [], "notice": '"items": []'}
    output.emit({**frame, "items": items}, True, list, lacks)
    whole = capsys.readouterr().out
    output.emit_with(frame, "items", iter(items), [], as_json=True, settings_fault=lacks)
    assert capsys.readouterr().out == whole


@pytest.mark.parametrize("count", [0, 1, 5000, 5001])
def test_lines_of_a_long_answer_are_all_printed(capsys: pytest.CaptureFixture[str], count: int) -> None:
    output.emit_with({"items": []}, "items", [], (f"line {n}" for n in range(count)), as_json=False)
    assert capsys.readouterr().out == "".join(f"line {n}\n" for n in range(count))


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (Answer(committed=True), Exit.DONE, ""),
        (Answer(), Exit.DONE, ""),
        (Answer(reason="there is no git here"), Exit.DONE, "warning: saved, but not committed: there is no git here\n"),
        (Answer(reason="a rebase", attention=True), Exit.ATTENTION, "warning: saved, but not committed: a rebase\n"),
        (Answer(committed=True, warnings=("one\ntwo",)), Exit.DONE, "warning: one two\n"),
        (BEHIND, Exit.DONE, "warning: 3 changed notes are not in the index yet: `vt reindex`\n"),
        (WITHHELD, Exit.DONE, "warning: 40 of 60 notes are gone\n"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_the_outcome_is_an_exit_code_and_a_warning_line(
    answer: Answer, code: Exit, said: str, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output.emit(answer, as_json, lambda: [answer.title]) is code
    assert capsys.readouterr().err == said


def test_a_conflict_and_stale_notes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    stale = Freshness(checked="", stale=("a.md", "b.md", "c.md", "d.md"))
    answer = Answer(committed=True, attention=True, conflicts=("x.conflict-1.md",), freshness=stale)
    assert output.emit(answer, False, list) is Exit.ATTENTION
    conflict, behind = capsys.readouterr().err.splitlines()
    assert "x.conflict-1.md" in conflict
    assert "a.md, b.md, c.md and others" in behind


def test_progress_of_what_is_soon_done_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("indexing") as show:
        show(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_process_that_stays_says_nothing_of_works_that_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 0.0
    lines = output._Lines("indexing", lambda: seconds)
    for begun in range(0, 100_000, 1000):
        for done in range(4):
            seconds = begun + done
            lines.show(done, 3)
    for begun in range(100_000, 200_000, 1000):
        for done in range(3):  # ended before all was done
            seconds = begun + done
            lines.show(done, 1000)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("hours", [0.01, 1, 1000])
def test_a_log_is_told_now_and_then_how_far_it_is(hours: float, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 0.0
    lines = output._Lines("embedding", lambda: seconds)
    for done in range(40_001):
        seconds = done / 40_000 * hours * 3600
        lines.show(done, 40_000)
    said = capsys.readouterr().err.splitlines()
    assert 3 <= len(said) <= 32
    assert said[0].startswith("embedding: ")
    assert "of 40,000 (" in said[-1]
    assert said[-1].endswith(" left")
    assert all(len(line) <= 100 for line in said)


PRINTS = """
from types import SimpleNamespace
from vault_tool.cli import output
from vault_tool.cli.blocks import Body, Printed, Diff, Heading, fields, table
rows = [("a1b2c3", "[bold]no markup[/bold] :smile:"), ("d4", "\\x1b[31mred")]
output.emit(SimpleNamespace(), False, lambda: [
    Heading("A heading"), table(("id", "title"), rows), fields(("path", "a.md")),
    Body("x" * 150 + "\\x1b[2J"), Diff("+new"), "line",
])
"""

pty_only = pytest.mark.skipif(os.name == "nt", reason="makes a POSIX terminal")


def _environ(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**kept, "TERM": "xterm-256color", **changes}


@pty_only
def test_a_terminal_gets_colour_and_notes_as_they_are(tmp_path: Path) -> None:
    shown = on_terminal([sys.executable, "-c", PRINTS], tmp_path, _environ())
    assert "\x1b[1mA heading" in shown
    assert "[bold]no markup[/bold] :smile:" in shown
    assert "x" * 150 + "\\x1b[2J" in shown
    assert "\x1b[31m" not in shown
    assert "\x1b[32m+new" in shown


@pty_only
def test_no_color_is_honoured(tmp_path: Path) -> None:
    shown = on_terminal([sys.executable, "-c", PRINTS], tmp_path, _environ(NO_COLOR="1"))
    assert not [code for code in ("\x1b[3", "\x1b[9", "\x1b[2;3") if code in shown]
    assert "A heading" in shown


@pty_only
@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_dumb_terminal_gets_plain_text(term: str, tmp_path: Path) -> None:
    shown = on_terminal([sys.executable, "-c", PRINTS], tmp_path, _environ(TERM=term))
    assert "\x1b" not in shown
    assert "a1b2c3  [bold]no markup[/bold] :smile:\n" in shown


BAR = """
import sys
from vault_tool.cli import output
output.SLOW = float(sys.argv[1])  # a second by our clock may be none or many on a busy machine
with output.progress("indexing [x]") as show:
    show(1, 3)
    show(2, 3)
"""


@pty_only
def test_what_is_slow_shows_a_bar_on_a_terminal(tmp_path: Path) -> None:
    shown = on_terminal([sys.executable, "-c", BAR, "0"], tmp_path, _environ())
    assert "indexing [x]" in shown
    assert "2/3" in shown


@pty_only
def test_what_is_quick_shows_none(tmp_path: Path) -> None:
    assert on_terminal([sys.executable, "-c", BAR, "86400"], tmp_path, _environ()) == ""


def test_a_diff_is_shown_as_it_is() -> None:
    assert _shown(Diff("+a\n-b")) == "+a\n-b"


def test_files_that_cannot_be_read_are_counted_where_the_answer_does_not_list_them() -> None:
    lost = Answer(freshness=Freshness(checked="", unreadable=2))
    assert list(output.remarks(lost)) == ["2 files cannot be read and are in no answer: see `vt doctor`"]
    served = Answer(freshness=Freshness(checked="", unreadable=1, stale=("vault/a.md",)))
    assert [remark.split(",")[0] for remark in output.remarks(served)] == ["answered as last committed"]


_AWKWARD = st.text(st.sampled_from("ab c接続é🙂-/…"), max_size=200)


@given(st.lists(st.tuples(_AWKWARD, _AWKWARD, st.sampled_from(["1", "22.50"]), _AWKWARD), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_table_fits_a_hundred_columns_and_loses_nothing(rows: list[tuple[str, str, str, str]]) -> None:
    drawn = table(("id", "title", "score", "why"), rows, right=["score"])
    lines = list(plain([drawn]))
    names = {row[0] for row in drawn.rows if width(row[0]) > 40}
    assert [line for line in lines if width(line) > COLUMNS and line not in names and "/" not in line] == []
    shown = Counter("".join(lines).replace(" ", ""))
    assert shown == Counter("".join("".join(row) for row in (drawn.columns, *drawn.rows)).replace(" ", ""))


def test_a_long_value_hangs_below_its_name_and_a_path_stays_whole() -> None:
    path = f"vault/{'x' * 120}.md"
    lines = list(plain([fields(("said", "word " * 30), ("path", path))]))
    assert lines[0].startswith("said:  word") and lines[1].startswith("       word") and lines[2] == f"path:  {path}"
    assert "".join(lines[:2]).count("word") == 30 and max(map(width, lines[:2])) <= COLUMNS


_NAMES = st.text(st.sampled_from("ab-_ é接/"), min_size=1, max_size=90).map(lambda name: f"vault/{' '.join(name.split())}.md")


@given(st.lists(st.tuples(st.sampled_from(["a1b2c3", "ffffffffff"]), _AWKWARD, _NAMES, _AWKWARD), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_a_path_in_a_table_is_never_broken(rows: list[tuple[str, str, str, str]]) -> None:
    drawn = table(("id", "what", "path", "hint"), rows)
    for broad in (COLUMNS, 60):
        lines = list(aligned(drawn, broad))
        found = 0
        for row in drawn.rows:
            found = next(n for n in range(found + 1, len(lines)) if row[2] in lines[n])
        assert max(width(line) for line in lines if "/" not in line) <= broad
        shown = Counter("".join(lines).replace(" ", ""))
        assert not Counter("".join("".join(row) for row in drawn.rows).replace(" ", "")) - shown


def test_a_path_that_does_not_fit_stands_below_its_row() -> None:
    short, long = "vault/a.md", f"vault/observations/2026/11/{'x' * 60}.md"
    said = "Redis, Homelab and much of the cellar"
    drawn = [table(("id", "subjects", "path"), [("a1b2c3", said, path)]) for path in (short, long)]
    assert list(plain(drawn[:1]))[1] == f"a1b2c3  {said}  {short}"
    assert list(plain(drawn[1:])) == ["id      subjects", f"a1b2c3  {said}", f"        {long}"]
    hint = table(("severity", "what to do"), [("warning", f"`vt adopt '{long}'` makes it one, as well as any other way")])
    assert any(f"'{long}'" in line for line in plain([hint]))


def test_one_source_of_all_is_said_once() -> None:
    rows = [("1", "agent (not reviewed)"), ("2", "agent (not reviewed)")]
    assert list(plain(sourced(("id", "from"), rows, empty="nothing"))) == ["id", "1", "2", "from: agent (not reviewed)"]
    other = list(plain(sourced(("id", "from"), [*rows, ("3", "owner")], empty="nothing")))
    assert other[0].split() == ["id", "from"] and len(other) == 4
    assert list(plain(sourced(("id", "from"), rows[:1], empty="nothing")))[1].endswith("agent (not reviewed)")
