"""Each rule finds what it is for, says what to type, and is silent on a sound vault."""

from __future__ import annotations

import pytest

from tests.wording import typed
from vault_tool.check import RULES, check
from vault_tool.model.problems import Problem, Severity, error
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import Registry, TypeSpec

REGISTRY = Registry()
WORDS = {"error": Severity.ERROR, "warning": Severity.WARNING, "note": Severity.NOTE}


def made(identity: str, kind: str = "fact", path: str = "", body_hash: str = "", **head: object) -> Entry:
    values = {"id": identity, "type": kind, **head}
    return Entry(
        path or f"vault/{identity}.md",
        identity,
        REGISTRY.spec(kind).record_class,
        kind,
        identity.title(),
        values,
        body_hash=body_hash,
    )


WORKSPACE = made("workspace", "workspace")
REDIS = made("redis", "subject", name="Redis", aliases=("cache",))


def found(*entries: Entry, pages: tuple[str, ...] = (), forgotten: tuple[str, ...] = ()) -> list[Problem]:
    return list(check(Snapshot((WORKSPACE, REDIS, *entries), pages), REGISTRY, forgotten))


def codes(*entries: Entry, pages: tuple[str, ...] = (), forgotten: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(problem.path, problem.code) for problem in found(*entries, pages=pages, forgotten=forgotten)]


def test_a_sound_vault_has_no_problems() -> None:
    problem, beat = made("p", "problem", subjects=("redis",)), made("b", "relationship_beat")
    assert (
        codes(
            problem,
            beat,
            made("s", "solution", problem="p", related_to=("u",), subjects=("Cache",), body_hash="x"),
            made("s2", "fix", body_hash="x"),
            made("u", "single_subject", sources=("s",), supersedes=("old",)),
            made("old", "single_subject"),
            made("e", "SOLVES", from_id="s", to_id="p"),
            made("t", "ATTEMPTED", from_id="f", to_id="p"),
            made("f", "failed_tactic", problem="p"),
            made("story", "AT_LOCATION", from_id="b", to_id="redis"),
            made("pass", "consolidation", parents=()),
        )
        == []
    )


def test_copies_of_an_id_are_all_named_with_the_others() -> None:
    problems = found(made("a"), made("a", path="vault/a copy.md"))
    assert [(problem.path, problem.code) for problem in problems] == [
        ("vault/a copy.md", "duplicate-id"),
        ("vault/a.md", "duplicate-id"),
    ]
    assert "vault/a.md" in problems[0].message
    assert "vt adopt 'vault/a copy.md'" in typed(problems[0].hint)
    assert problems[0].severity is Severity.ERROR


def test_subjects_of_one_name_or_alias() -> None:
    twin = made("second", "subject", name="CACHE")
    problems = found(twin)
    assert [problem.code for problem in problems] == ["duplicate-subject-name"] * 2
    assert "vt merge-subjects" in typed(problems[0].hint)


def test_paths_that_other_systems_cannot_tell_apart() -> None:
    expected = [("vault/A.md", "path-twins"), ("vault/a.md", "path-twins")]
    assert codes(made("x", path="vault/A.md"), made("y", path="vault/a.md")) == expected
    assert [code for _, code in codes(made("x", path="vault/é.md"), pages=("vault/e\u0301.md",))] == [
        "page",
        "path-twins",
        "path-twins",
    ]


def test_the_workspace() -> None:
    assert [problem.code for problem in check(Snapshot((REDIS,)), REGISTRY)] == ["no-workspace"]
    assert check(Snapshot(), REGISTRY) == ()
    other = made("w2", "workspace")
    assert codes(other) == [("vault/w2.md", "several-workspaces"), ("vault/workspace.md", "several-workspaces")]


def test_pages_are_listed() -> None:
    assert codes(pages=("vault/todo.md",)) == [("vault/todo.md", "page")]


@pytest.mark.parametrize(
    "entry",
    [
        made("x", problem="gone"),
        made("x", change_targets=("gone",)),
        made("x", related_to=("gone",)),
        made("x", "structural", sources=("gone",)),
        made("x", "structural", **{"pass": "gone"}),
        made("x", "structural", supersedes=("gone",)),
        made("x", "consolidation", parents=("gone",)),
        made("x", "SOLVES", from_id="gone", to_id="workspace"),
    ],
    ids=lambda entry: entry.type + min(entry.head.keys() - {"id", "type"}),
)
def test_ids_that_lead_nowhere(entry: Entry) -> None:
    first = next(problem for problem in found(entry) if problem.code == "dangling-reference")
    assert (first.path, first.severity) == ("vault/x.md", Severity.WARNING)
    assert "gone" in first.message
    assert "forgotten-reference" in [code for _, code in codes(entry, forgotten=("gone",))]


@pytest.mark.parametrize(
    "entry, severity",
    [
        (made("x", "structural", supersedes=("fact",)), "error"),
        (made("x", "structural", sources=("redis",)), "warning"),
        (made("x", related_to=("fact",)), "warning"),
        (made("x", problem="redis"), "warning"),
        (made("x", "structural", **{"pass": "fact"}), "warning"),
        (made("x", "SOLVES", from_id="fact", to_id="redis"), "warning"),
        (made("x", "DISCOVERED", from_id="fact", to_id="workspace"), "warning"),
    ],
)
def test_ids_that_lead_to_another_kind(entry: Entry, severity: str) -> None:
    problems = [problem for problem in found(entry, made("fact")) if problem.code == "wrong-class-reference"]
    assert [problem.severity for problem in problems] == [WORDS[severity]]


def test_what_names_itself() -> None:
    assert ("vault/x.md", "self-reference") in codes(made("x", related_to=("x",)))
    assert codes(made("x", "RELATED_TO", from_id="f", to_id="f"), made("f")) == [("vault/x.md", "self-reference")]


def test_ends_of_another_type() -> None:
    assert codes(made("x", "ATTEMPTED", from_id="a", to_id="b"), made("a"), made("b")) == [("vault/x.md", "edge-shape")] * 2
    assert codes(made("x", "solution", problem="a"), made("a")) == [("vault/x.md", "not-a-problem")]


def test_links_that_two_machines_made_alike() -> None:
    ends = made("a"), made("b")
    first = made("l1", "RELATED_TO", from_id="a", to_id="b", created="2026-01-01")
    same = made("l2", "RELATED_TO", from_id="a", to_id="b", created="2026-01-02")
    problems = found(*ends, same, first)
    assert [(one.path, one.code, one.severity) for one in problems] == [("vault/l2.md", "doubled-link", Severity.NOTE)]
    assert "vault/l1.md" in problems[0].message and "delete this one" in problems[0].hint
    other_way = made("l3", "RELATED_TO", from_id="b", to_id="a")
    other_type = made("l4", "NEAR", from_id="a", to_id="b")
    assert "doubled-link" not in dict(codes(*ends, first, other_way, other_type)).values()


def test_relations_in_a_head() -> None:
    assert codes(made("x", relations=[{"target": "redis"}])) == [("vault/x.md", "relations-in-head")]


def test_cycles_are_told_once_and_end() -> None:
    pair = made("a", "soul", supersedes=("b",)), made("b", "soul", supersedes=("a",))
    assert codes(*pair) == [("vault/a.md", "supersession-cycle")]
    assert codes(made("a", "soul", supersedes=("a",))) == [("vault/a.md", "supersession-cycle")]
    passes = made("a", "consolidation", parents=("b",)), made("b", "consolidation", parents=("a",))
    assert codes(*passes) == [("vault/a.md", "consolidation-cycle")]


def test_ten_thousand_revisions_in_a_chain_and_in_a_circle() -> None:
    chain = [made(f"{n:05d}", "soul", supersedes=(f"{n - 1:05d}",) if n else ()) for n in range(10_000)]
    assert codes(*chain) == []
    circle = [made(f"{n:05d}", "soul", supersedes=(f"{(n - 1) % 10_000:05d}",)) for n in range(10_000)]
    assert codes(*circle) == [("vault/00000.md", "supersession-cycle")]


def test_a_relationship_has_two_sides() -> None:
    one, other = made("r", "relationship", subjects=("Redis", "cache")), made("s", "relationship", subjects=("Redis", "Lab"))
    lab = made("lab", "subject", name="Lab")
    assert codes(one, other, lab) == [("vault/r.md", "relationship-of-one")]
    assert codes(one, made("x", "structural", subjects=("Redis",), supersedes=("r",))) == []


def test_a_revision_of_another_type() -> None:
    assert codes(made("x", "structural", supersedes=("y",)), made("y", "relationship")) == [
        ("vault/x.md", "supersedes-other-type")
    ]


def test_unknown_types_are_told_once_with_what_may_be_meant() -> None:
    problems = found(made("a", "soluton"), made("b", "soluton"), made("c", "NEARBY"))
    assert [(problem.path, problem.code) for problem in problems] == [
        ("vault/a.md", "unknown-type"),
        ("vault/c.md", "unknown-type"),
    ]
    assert "notes: 2" in problems[0].message
    assert "`solution` may be meant" in problems[0].hint
    more = REGISTRY.extended([TypeSpec("soluton", REGISTRY.spec("fact").record_class)])
    assert check(Snapshot((WORKSPACE, made("a", "soluton"))), more) == ()


def test_subjects_without_a_file_are_told_once() -> None:
    problems = found(made("a", subjects=("New thing", "Redis")), made("b", subjects=("new_thing",)))
    assert [(problem.path, problem.code) for problem in problems] == [("vault/a.md", "missing-subject-file")]
    assert "notes: 2" in problems[0].message
    assert typed(problems[0].hint) == "`vt create-subjects 'New thing'`"


def test_too_many_subjects() -> None:
    names = [made(f"s{n}", "subject", name=f"S{n}") for n in range(5)]
    assert codes(*names, made("x", subjects=tuple(f"S{n}" for n in range(5)))) == [("vault/x.md", "many-subjects")]
    assert codes(*names, made("x", subjects=tuple(f"S{n}" for n in range(4)))) == []


def test_the_same_text_twice() -> None:
    assert codes(made("a", body_hash="h"), made("b", body_hash="h")) == [("vault/a.md", "duplicate-body")]
    assert codes(made("a", body_hash="h", project="one"), made("b", body_hash="h", project="two")) == []


def test_what_reading_found_stands_among_the_rest_in_order() -> None:
    read = error("vault/b.md", 3, "bad-yaml", "tab")
    problems = check(Snapshot((WORKSPACE, made("c", problem="gone")), ("vault/a.md",), (read,)), REGISTRY)
    assert [problem.path for problem in problems] == ["vault/a.md", "vault/b.md", "vault/c.md"]


def test_every_problem_of_a_rule_says_what_to_do_on_one_line() -> None:
    bad = made("x\nnote", "ATTEMPTED", path="vault/x\ny.md", from_id="gone", to_id="fact"), made("fact", subjects=("a\nb",))
    for problem in found(*bad, made("fact", path="vault/o'brien.md"), pages=("vault/p\nq.md",)):
        assert problem.hint
        assert "\n" not in problem.message + problem.hint
    assert len(RULES) == len(set(RULES))
