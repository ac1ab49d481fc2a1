"""Ids, types, supersession and snapshots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.model.ids import as_prefix, canonical, new_id, shortest_unambiguous
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.supersession import cycles, longest_chain, superseded_by
from vault_tool.model.types import BUILT_IN, RecordClass, Registry, TypeSpec, is_type_name


def test_ids_are_canonical_uuids() -> None:
    one = new_id()
    assert canonical(one) == one
    assert canonical(one.upper()) == one
    assert canonical(one.replace("-", "")) is None
    assert canonical("x") is None
    assert as_prefix(one[:4]) == one[:4]
    assert as_prefix(one[:3]) is None
    assert as_prefix("ghij") is None


@given(st.lists(st.uuids().map(str), min_size=2, max_size=30, unique=True))
def test_the_shortest_prefix_is_unambiguous(ids: list[str]) -> None:
    ids.sort()
    for number, one in enumerate(ids):
        short = shortest_unambiguous(one, ids[max(0, number - 1) : number + 2])
        assert len(short) >= 6
        assert [other for other in ids if other.startswith(short)] == [one]


def test_a_neighbour_that_shares_a_long_prefix_is_told_apart() -> None:
    assert shortest_unambiguous("aaaaaaaa-1", ["aaaaaaaa-2"]) == "aaaaaaaa-1"


def test_entries_are_ordered_by_the_moment_not_by_the_text_of_their_times() -> None:
    def dated(identity: str, **head: str) -> Entry:
        return Entry(f"{identity}.md", identity, RecordClass.OBSERVATION, "fact", identity, head)

    east = dated("east", created="2026-11-20T11:30:00+02:00")
    utc = dated("utc", created="2026-11-20T10:00:00+00:00")
    day = dated("day", created="2026-11-20")
    unsaid, wrong = dated("a"), dated("b", created="yesterday")
    assert sorted((utc, east, wrong, day, unsaid), key=lambda one: one.created_sort_key) == [unsaid, wrong, day, east, utc]
    told = dated("told", created="2026-11-21", observed="2026-11-20T09:00:00+01:00")
    assert sorted((utc, told, east), key=lambda one: one.observed_sort_key) == [told, east, utc]


def test_every_built_in_type_is_known_once() -> None:
    assert len({spec.name for spec in BUILT_IN}) == len(BUILT_IN)
    assert all(is_type_name(spec.name) for spec in BUILT_IN)
    assert Registry().spec("procedure").weight == 1.4
    assert Registry().spec("task_state").importance == 0.4


GRAPH = {
    "procedure": 1.4, "decision": 1.3, "insight": 1.25, "solution": 1.2, "code_pattern": 1.1, "configuration": 1.1, "fix": 1.0,
    "workflow": 1.0, "problem": 0.9, "error": 0.8, "general": 0.8,
}  # fmt: skip
"""The types of memories that are a graph of problems, solutions and decisions, with their weights in decay."""


@pytest.mark.parametrize("name", [
    *GRAPH, "fact", "inference", "preference", "task_state", "reflection", "pattern", "ongoing_task", "failed_tactic", "change",
    "relationship_beat", "world_discovery", "thread",
])  # fmt: skip
def test_types_of_all_origins_are_known_with_their_weights(name: str) -> None:
    spec = Registry().spec(name)
    assert (spec.known, spec.record_class) == (True, RecordClass.OBSERVATION)
    assert spec.weight == GRAPH.get(name, spec.weight) > 0


@pytest.mark.parametrize("name", [
    "SOLVES", "CAUSES", "BUILDS_ON", "ALTERNATIVE_TO", "REQUIRES", "FOLLOWS", "RELATED_TO", "SHARED_SCENE_WITH",
    "TEMPORAL_FOLLOWS", "DISCOVERED", "AT_LOCATION", "CONTINUES_THREAD",
])  # fmt: skip
def test_the_types_of_edges_of_all_origins_are_known(name: str) -> None:
    spec = Registry().spec(name)
    assert (spec.known, spec.record_class) == (True, RecordClass.EDGE)


def test_the_registry_is_extended_and_overridden() -> None:
    registry = Registry().extended(
        [TypeSpec("recipe", RecordClass.OBSERVATION, 2.0), TypeSpec("fact", RecordClass.OBSERVATION, 9)]
    )
    assert registry.spec("recipe").weight == 2.0
    assert registry.spec("fact").weight == 9
    assert not registry.spec("other").known
    assert registry.spec("other").weight == 0.8


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({"b": ["a"]}, {"a": ("b",)}),
        ({"b": ["a"], "c": ["b"]}, {"a": ("b",), "b": ("c",)}),
        ({"b": ["a"], "c": ["a"]}, {"a": ("b", "c")}),
        ({"a": ["a"]}, {}),
        ({"a": ["b"], "b": ["a"]}, {}),
        ({"a": ["b"], "b": ["a"], "c": ["a"]}, {"a": ("c",)}),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["e"]}, {"e": ("d",)}),
    ],
)
def test_a_cycle_replaces_nothing(edges: dict[str, list[str]], expected: dict[str, tuple[str, ...]]) -> None:
    assert superseded_by(edges) == expected


def test_a_chain_of_ten_thousand_ends() -> None:
    edges = {str(n): [str(n - 1)] for n in range(1, 10_001)}
    assert len(superseded_by(edges)) == 10_000
    assert cycles(edges) == ()
    assert longest_chain({"0": [], **edges}) == 10_001


@given(st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=3), max_size=9))
def test_cycles_are_what_reaches_itself(graph: dict[int, list[int]]) -> None:
    edges = {str(node): [str(n) for n in nexts] for node, nexts in graph.items()}

    def reaches(start: str, goal: str) -> bool:
        seen: set[str] = set()
        waiting = list(edges.get(start, ()))
        while waiting:
            node = waiting.pop()
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                waiting.extend(edges.get(node, ()))
        return False

    cyclic = {member for members in cycles(edges) for member in members}
    assert cyclic == {node for node in {*edges, *(n for ns in edges.values() for n in ns)} if reaches(node, node)}


def test_the_generation_is_the_longest_chain_of_passes() -> None:
    assert longest_chain({}) == 0
    assert longest_chain({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}) == 3
    assert longest_chain({"a": ["gone"]}) == 1
    assert longest_chain({"a": ["b"], "b": ["a"]}) == 1


def test_a_snapshot_knows_names_and_copies() -> None:
    def one(path: str, id_: str, class_: RecordClass, **head: object) -> Entry:
        return Entry(path, id_, class_, "x", "t", head)

    snapshot = Snapshot(
        (
            one("a", "1", RecordClass.SUBJECT, name="Memory system", aliases=["the vault"]),
            one("b", "2", RecordClass.SUBJECT, name="memory-system"),
            one("c", "2", RecordClass.OBSERVATION),
            one("d", "3", RecordClass.UNDERSTANDING, supersedes=["4"]),
            one("e", "4", RecordClass.UNDERSTANDING),
        )
    )
    assert [e.path for e in snapshot.subjects_by_name["memory system"]] == ["a", "b"]
    assert snapshot.subject_key("The  Vault") == "1"
    assert snapshot.subject_key("Memory_System") == "memory system"
    assert len(snapshot.by_id["2"]) == 2
    assert [e.path for e in snapshot.of_class(RecordClass.UNDERSTANDING) if snapshot.active(e)] == ["d"]
