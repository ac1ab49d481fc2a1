"""What a file's text says: typed heads, titles, pages, problems with their lines."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.files.parse import entry, parse, record
from vault_tool.files.render import body_text, render
from vault_tool.model.problems import Severity
from vault_tool.model.records import Consolidation, Edge, Observation, Record, Subject, Understanding, Workspace
from vault_tool.model.types import RecordClass, Registry

ID = "a1b2c3d4-e5f6-4890-abcd-ef1234567890"
OTHER = "5f0c2d9e-2b3c-4e7a-9d5e-0a1b2c3d4e5f"
REGISTRY = Registry()


def note(head: str, body: str = "Some text.\n") -> bytes:
    return f"---\nid: {ID}\ntype: fact\n{head}---\n{body}".encode()


def typed(head: str) -> dict[str, Any]:
    parsed = parse("vault/a.md", note(head), REGISTRY)
    assert parsed.readable
    return dict(parsed.head)


def codes(data: bytes, path: str = "vault/a.md") -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in parse(path, data, REGISTRY).problems]


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("title: no", "title", "no"),
        ("title: 0123", "title", "0123"),
        ("title: 1.10", "title", "1.10"),
        ("title: 12:30", "title", "12:30"),
        ("project: on", "project", "on"),
        ("tags: [no, 1.0, 2024-01-01, ~]", "tags", ["no", "1.0", "2024-01-01"]),
        ("tags: alone", "tags", ["alone"]),
        ("tags: a, b", "tags", ["a", "b"]),
        ('tags: "a, b"', "tags", ["a", "b"]),
        ("tags: 'home lab, c'", "tags", ["home lab", "c"]),
        ('tags: "home lab"', "tags", ["home lab"]),
        ('tags: ["a, b"]', "tags", ["a, b"]),
        ("subjects: 'Redis, Home lab'", "subjects", ["Redis", "Home lab"]),
        ('subjects: "[[Doe, John]], Redis"', "subjects", ["Doe, John", "Redis"]),
        ('subjects: ["Doe, John"]', "subjects", ["Doe, John"]),
        ('evidence: "what he said, that is"', "evidence", ["what he said, that is"]),
        ("importance: 0.80", "importance", 0.8),
        ("importance: 1", "importance", 1.0),
        ("pinned: yes", "pinned", True),
        ("pinned: False", "pinned", False),
        ("generation: 7", "generation", 7),
        ("created: 2026-11-20T10:00:00+02:00", "created", "2026-11-20T08:00:00+00:00"),
        ("created: 2026-11-20", "created", "2026-11-20T00:00:00+00:00"),
        ("created: 2026-11-20 10:00", "created", "2026-11-20T10:00:00+00:00"),
        ("subjects: [Redis, Home lab]", "subjects", ["Redis", "Home lab"]),
        ("subjects: ['[[redis|Redis]]', \"[[Home lab]]\"]", "subjects", ["Redis", "Home lab"]),
        ("subjects: [[Redis]]", "subjects", ["Redis"]),
        ("subjects:\n  - [[redis|Redis]]\n  - Home lab", "subjects", ["Redis", "Home lab"]),
        (f"related_to: ['[[{OTHER}]]']", "related_to", [OTHER]),
        (f"problem: {OTHER.upper()}", "problem", OTHER),
        ("unknown: no", "unknown", "no"),
        ("unknown: true", "unknown", True),
        ("unknown: 12", "unknown", 12),
        ("unknown: 012", "unknown", "012"),
        ("unknown: 1.10", "unknown", "1.10"),
        ("unknown: 1e3", "unknown", "1e3"),
        ('unknown: "12"', "unknown", "12"),
        ("unknown: {a: [1, two]}", "unknown", {"a": [1, "two"]}),
    ],
)
def test_scalars_are_typed_by_the_fields_schema(line: str, key: str, value: object) -> None:
    assert typed(f"{line}\n")[key] == value


@pytest.mark.parametrize("line", ["title: null", "title: ~", "title:", "tags:", "created: null", "importance: ~"])
def test_nothing_is_nothing(line: str) -> None:
    assert line.split(":")[0] not in typed(f"{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "importance: high",
        "importance: 1.5",
        "importance: [1]",
        "generation: -1",
        "pinned: maybe",
        "created: 30/02/2026",
        "created: 2024-02-30",
        "title: {a: b}",
        "title: [a]",
        "tags: {a: b}",
        "tags: [{a: b}]",
        "related_to: [not-an-id]",
        "problem: [x]",
    ],
)
def test_a_value_of_the_wrong_kind_is_a_warning_with_its_line(line: str) -> None:
    data = note(f"summary: fine\n{line}\n")
    parsed = parse("vault/a.md", data, REGISTRY)
    assert [(p.line, p.code, p.severity) for p in parsed.problems] == [(5, "wrong-kind", Severity.WARNING)]
    assert parsed.record_class is RecordClass.OBSERVATION
    assert line.split(":")[0] not in parsed.head
    assert line.split(":")[0] in parsed.problems[0].message


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (f"---\nid: {ID}\ntype: subject\n---\n".encode(), "missing-field"),
        (f"---\nid: {ID}\ntype: fact\n---\n  \n".encode(), "empty-body"),
        (f"---\nid: {ID}\ntype: soul\n---\ntext\n".encode(), "missing-field"),
        (f"---\nid: {ID}\ntype: SOLVES\nfrom_id: {OTHER}\n---\nwhy\n".encode(), "missing-field"),
    ],
)
def test_what_a_record_needs_is_named(data: bytes, expected: str) -> None:
    parsed = parse("vault/a.md", data, REGISTRY)
    assert expected in [p.code for p in parsed.problems if p.severity is Severity.ERROR]
    assert parsed.readable


@pytest.mark.parametrize(
    "data",
    [
        b"# A page\n\ntext\n",
        b"---\ntitle: no id\ntype: fact\n---\ntext\n",
        b"---\nid: 42\ntype: fact\n---\ntext\n",
        f"---\nid: {ID}\n---\ntext\n".encode(),
        f"---\nid: {ID}\ntype: two words\n---\ntext\n".encode(),
        f"---\nid: {ID}\ntype: [fact]\n---\ntext\n".encode(),
    ],
)
def test_a_file_without_our_id_or_type_is_a_page(data: bytes) -> None:
    parsed = parse("vault/some page.md", data, REGISTRY)
    assert parsed.record_class is None
    assert parsed.readable
    assert parsed.title


def test_types_decide_the_class_and_unknown_ones_are_guessed() -> None:
    def of(name: str) -> RecordClass | None:
        return parse("vault/a.md", f"---\nid: {ID}\ntype: {name}\n---\nx\n".encode(), REGISTRY).record_class

    assert of("soul") is RecordClass.UNDERSTANDING
    assert of("SOLVES") is RecordClass.EDGE
    assert of("recipe") is RecordClass.OBSERVATION
    assert of("LIKES") is RecordClass.EDGE
    assert of("workspace") is RecordClass.WORKSPACE


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("title: Given\n", "Body.\n", "Given"),
        ("", "# A heading\n\nText.\n", "A heading"),
        ("", "First sentence. Second.\n", "First sentence"),
        ("", "- [ ] see [[redis|Redis]] and [docs](http://x)\n", "see Redis and docs"),
        ("", "word " * 40 + "\n", "word " * 30 + "word…"),
        ("title: First sent…\n", "First sentence. Second.\n", "First sentence"),
        ("title: First word\n", "First sentence. Second.\n", "First word"),
    ],
)
def test_a_title_is_never_empty(head: str, body: str, title: str) -> None:
    parsed = parse("vault/a.md", note(head, body), REGISTRY)
    assert parsed.title == title
    assert len(parsed.title) <= 160


CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (note("", f"text\n{CONFLICT}"), 6),
        (f"---\nid: {ID}\ntype: fact\n{CONFLICT}---\nx\n".encode(), 4),
        (CONFLICT.encode() + note(""), 1),
        (note("", f"```\ncode\n```\n{CONFLICT}"), 8),
    ],
)
def test_conflict_markers_make_a_note_unreadable(data: bytes, line: int) -> None:
    parsed = parse("vault/a.md", data, REGISTRY)
    assert not parsed.readable
    assert (line, "conflict-markers") in [(p.line, p.code) for p in parsed.problems]


@pytest.mark.parametrize(
    "body",
    [
        f"```\n{CONFLICT}```\n",
        f"~~~~ diff\n{CONFLICT}~~~~\n",
        "    <<<<<<< HEAD\n    >>>>>>> x\n",
        "a line with <<<<<<< HEAD and >>>>>>> x in it\n",
        "=======\n",
        "<<<<<<< HEAD alone\n",
    ],
)
def test_what_only_looks_like_a_conflict_is_none(body: str) -> None:
    assert parse("vault/a.md", note("", body), REGISTRY).readable


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"---\nid: x\ntitle: [\n---\nx\n", "bad-yaml"),
        (b"---\nid: x\ntype: fact\n", "unclosed-head"),
        (b"---\na: 1\na: 2\n---\nx\n", "duplicate-key"),
        (b"---\na: &x 1\nb: *x\n---\nx\n", "anchor"),
        (b"---\n- a\n---\nx\n", "head-not-a-mapping"),
        (b"\xff\xfea\x00b\x00", "not-text"),
        (b"text \x00 nul\n", "not-text"),
        (b"caf\xe9\n", "not-text"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, code: str) -> None:
    parsed = parse("vault/a.md", data, REGISTRY)
    assert not parsed.readable
    assert code in [p.code for p in parsed.problems]
    assert all(p.line >= 1 and p.message and p.hint for p in parsed.problems)


def test_an_entry_knows_its_links_and_preview() -> None:
    data = note("title: T\n", "See [[Redis]] and [[vault/a b.md#x|label]].\n\n`[[no]]`\n```\n[[no]]\n```\n" + "word " * 100)
    parsed = parse("vault/a.md", data, REGISTRY)
    row = entry("vault/a.md", data, parsed, 5)
    assert row.links == ("Redis", "vault/a b.md#x|label")
    assert row.preview.startswith("See [[Redis]]")
    assert len(row.preview) <= 200
    assert row.id == ID and row.size == len(data) and row.mtime_ns == 5


PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=40).map(str.strip)
NAMES = st.lists(st.from_regex(r"[A-Za-z][A-Za-z0-9 ]{0,12}[a-z]", fullmatch=True), max_size=3, unique=True).map(tuple)
IDS = st.lists(st.uuids().map(str), max_size=3, unique=True).map(tuple)
UNIT = st.none() | st.floats(0, 1).map(lambda x: round(x, 3))
TIMES = st.none() | st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)).map(
    lambda t: t.replace(microsecond=0).isoformat()
)
BODIES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1).filter(str.strip)
UUIDS = st.uuids().map(str)


def records() -> st.SearchStrategy[Record]:
    shared: dict[str, Any] = {"id": UUIDS, "body": BODIES, "created": TIMES}
    weighed = {"title": PLAIN, "subjects": NAMES, "tags": NAMES, "importance": UNIT, "confidence": UNIT, "session": PLAIN}
    return st.one_of(
        st.builds(
            Observation, type=st.sampled_from(["fact", "solution", "recipe"]), related_to=IDS, evidence=NAMES, steps=NAMES,
            generation=st.none() | st.integers(0, 99), pinned=st.booleans(), observed=TIMES, problem=UUIDS | st.just(""),
            rationale=PLAIN, extra=st.dictionaries(st.sampled_from(["mine", "x y", "Größe"]), PLAIN.filter(bool)),
            **shared, **weighed,
        ),
        st.builds(
            Understanding, type=st.sampled_from(["soul", "single_subject"]), summary=PLAIN.filter(bool), supersedes=IDS,
            sources=IDS, reason=PLAIN, pass_id=UUIDS | st.just(""), **shared, **weighed,
        ),
        st.builds(Edge, type=st.just("SOLVES"), from_id=UUIDS, to_id=UUIDS, from_title=PLAIN, strength=UNIT, **shared),
        st.builds(Subject, type=st.just("subject"), name=PLAIN.filter(bool), aliases=NAMES, summary=PLAIN, key=PLAIN, **shared),
        st.builds(Consolidation, type=st.just("consolidation"), generation=st.integers(1, 9), parents=IDS, **shared),
        st.builds(Workspace, type=st.just("workspace"), name=PLAIN, description=PLAIN, **shared),
    )  # fmt: skip


@given(records())
def test_render_and_parse_are_each_others_inverse(given_record: Record) -> None:
    data = render(given_record)
    back = record("vault/a.md", data, REGISTRY)
    assert back is not None
    assert back.head() == given_record.head()
    assert back.body == body_text(given_record.body)
    assert render(back) == data


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda t: f"---\n{t}\n---\nx".encode("utf-8", "replace")))
def test_no_bytes_raise(data: bytes) -> None:
    parsed = parse("vault/a.md", data, REGISTRY)
    assert parsed.readable or parsed.problems


def test_random_ids_are_read_in_any_case() -> None:
    upper = str(uuid.UUID(ID)).upper()
    parsed = parse("vault/a.md", f"---\nid: {upper}\ntype: fact\n---\nx\n".encode(), REGISTRY)
    assert parsed.head["id"] == ID
