from __future__ import annotations

from vault_tool.consolidation.understanding_coverage import Keys, Sighting, contested, coverage
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass

EARLY, LATE = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"


def understanding(name: str, type: str, keys: str, created: str = EARLY, sources: tuple[str, ...] = ()) -> tuple[Entry, Keys]:
    head = {"created": created, "sources": list(sources)}
    return Entry(f"{name}.md", name, RecordClass.UNDERSTANDING, type, name, head), frozenset(keys)


def sighting(name: str, keys: str, created: str = LATE, generation: int | None = None) -> Sighting:
    return Sighting(name, frozenset(keys), created, generation)


def test_subjects_and_pairs_are_counted() -> None:
    found = coverage([sighting("1", "ab", generation=2), sighting("2", "a", EARLY, 4), sighting("3", "")], [])
    assert {key: tally.observations for key, tally in found.subjects.items()} == {"a": 2, "b": 1}
    assert (found.subjects["a"].newest, found.subjects["a"].generation) == (LATE, 4)
    assert found.pairs == {("a", "b"): 1}
    assert found.uncovered() == ["a", "b"]


def test_an_understanding_covers_its_own_subjects_and_no_others() -> None:
    observations = [sighting(str(number), "abc") for number in range(3)]
    found = coverage(observations, [understanding("u", "single_subject", "a"), understanding("v", "relationship", "ab")])
    assert found.uncovered() == ["b", "c"]
    assert found.unrelated(3) == [("a", "c"), ("b", "c")]
    assert found.unrelated(4) == []


def test_an_understanding_is_behind_what_came_after_it_and_it_does_not_cite() -> None:
    observations = [sighting("1", "ab"), sighting("2", "ab"), sighting("3", "a", EARLY), sighting("4", "b"), sighting("5", "abc")]
    known = [
        understanding("one", "single_subject", "a", sources=("1",)),
        understanding("both", "relationship", "ab"),
        understanding("three", "relationship", "abc"),
        understanding("kept", "soul", "a"),
    ]
    assert coverage(observations, known).behind == {"one": 2, "both": 3, "three": 1}


def test_contested_are_several_of_one_kind_and_place() -> None:
    known = [
        understanding("1", "relationship", "ab", EARLY),
        understanding("2", "relationship", "ab", LATE),
        understanding("3", "relationship", "ac"),
        understanding("4", "soul", "a"),
        understanding("5", "soul", ""),
        understanding("6", "structural", ""),
        understanding("7", "structural", ""),
    ]
    assert [[entry.id for entry in group] for group in contested(known)] == [["2", "1"], ["5", "4"]]
