from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from tests.git_repos import write
from tests.index.vaults import identity, opened, subject
from vault_tool.index.relations import Regions, superseded, tagging
from vault_tool.index.timeline import ids_since, unlinked, unlinked_count
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import RecordClass

FORMS = ("Redis", "redis", "Valkey", "[[redis|Redis]]", "Home lab", "home-lab", "rack", "[[Home lab]]", "Nobody's file", "Clock")
"""Names, aliases, links and one name without a file; `Clock` is claimed by two subjects."""

FILES = {
    "vault/subjects/redis.md": subject(900, "Redis", "Valkey"),
    "vault/people/lab.md": subject(901, "Home lab", "rack"),
    "vault/subjects/clock.md": subject(902, "Clock"),
    "vault/subjects/clock-2.md": subject(903, "Watch", "clock"),
}


@dataclass(frozen=True)
class Note:
    """One drawn memory."""

    subjects: tuple[str, ...]
    understanding: bool
    supersedes: tuple[int, ...]
    sources: tuple[int, ...]
    related_to: tuple[int, ...]
    generation: int | None
    folder: str


NUMBERS = st.integers(0, 11)
NOTES = st.lists(
    st.builds(
        Note,
        subjects=st.lists(st.sampled_from(FORMS), max_size=4).map(tuple),
        understanding=st.booleans(),
        supersedes=st.lists(NUMBERS, max_size=2).map(tuple),
        sources=st.lists(NUMBERS, max_size=3).map(tuple),
        related_to=st.lists(NUMBERS, max_size=1).map(tuple),
        generation=st.none() | st.integers(0, 4),
        folder=st.sampled_from(("observations/2026/11", "understandings", "moved/by hand")),
    ),
    max_size=12,
)


@given(notes=NOTES)
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_regions_equal_a_brute_force_count(notes: list[Note]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = opened(_vault(Path(folder), notes))
        catalog = index.catalog
        snapshot = catalog.snapshot()
        active = _active(snapshot)
        regions = Regions(catalog)
        there = {entry.id for entry in snapshot.of_class(RecordClass.UNDERSTANDING)}
        assert superseded(catalog, there) == snapshot.superseded_by.keys() & there
        for name in FORMS:
            one = regions.called(_plain(name))
            mine = [entry for entry in active if one.key in _keys(snapshot, entry)]
            assert [entry.path for entry in regions.members(one)] == sorted(entry.path for entry in mine)
            shared = Counter(key for entry in mine for key in _keys(snapshot, entry) - {one.key})
            found = regions.neighbours(one)
            assert {other.key: count for other, count in found} == shared
            assert [count for _, count in found] == sorted(shared.values(), reverse=True)
            for other, count in found:
                assert len(regions.members(one, other)) == count
                exact = [e.id for e in mine if _is_understanding(e) and _keys(snapshot, e) == {one.key, other.key}]
                assert sorted(e.id for e in regions.understandings([other, one])) == sorted(exact)
        assert Counter(tagging(catalog).values()) == Counter(keys for e in active if (keys := _keys(snapshot, e)))
        index.close()


@given(notes=NOTES, generation=st.integers(-1, 4))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_unlinked_and_what_is_recent_agree_with_reading_everything(notes: list[Note], generation: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = opened(_vault(Path(folder), notes))
        catalog = index.catalog
        snapshot = catalog.snapshot()
        observations = list(snapshot.of_class(RecordClass.OBSERVATION))
        active = [entry for entry in _active(snapshot) if _is_understanding(entry)]
        cited = {source for entry in active for source in entry.texts("sources")}
        bare = [entry for entry in observations if not entry.texts("related_to") and entry.id not in cited]
        assert unlinked_count(catalog) == len(bare)
        assert {entry.path for entry in unlinked(catalog, 100)} == {entry.path for entry in bare}

        since = "2026-11-05"
        recent = [entry for entry in observations if _is_recent(entry, generation, since)]
        assert sorted(ids_since(catalog, RecordClass.OBSERVATION, generation, since)) == sorted(entry.id for entry in recent)
        index.close()


def test_a_chain_of_understandings_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links = [Note(("Redis",), True, (number - 1,) if number else (), (), (), None, "understandings") for number in range(28)]
    catalog = opened(_vault(tmp_path, links)).catalog
    read: list[str] = []
    get = catalog.get

    def noted(record_id: str) -> tuple[Entry, ...]:
        read.append(record_id)
        return get(record_id)

    monkeypatch.setattr(catalog, "get", noted)
    chain = [identity(number) for number in range(28)]
    assert superseded(catalog, chain) == set(chain[:-1])
    assert sorted(read) == sorted(set(read))


def _vault(root: Path, notes: list[Note]) -> Path:
    for path, text in FILES.items():
        write(root, path, text)
    for number, note in enumerate(notes):
        write(root, f"vault/{note.folder}/{number}.md", _text(number, note))
    return root


def _text(number: int, note: Note) -> str:
    quoted = ", ".join(f'"{name}"' for name in note.subjects)
    lines = [f"id: {identity(number)}", f"type: {'relationship' if note.understanding else 'fact'}", f"subjects: [{quoted}]"]
    lines += [f"generation: {note.generation}"] if note.generation is not None else []
    lines += [f"created: 2026-11-{number + 1:02}T10:00:00+00:00"] if number % 3 else []
    if note.understanding:
        lines += ["summary: S", f"supersedes: [{_ids(note.supersedes)}]", f"sources: [{_ids(note.sources)}]"]
    else:
        lines += [f"related_to: [{_ids(note.related_to)}]"]
    return "---\n" + "\n".join(lines) + f"\n---\nNote {number}.\n"


def _ids(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(identity, numbers))


def _plain(name: str) -> str:
    return name.strip("[]").partition("|")[2] or name.strip("[]")


def _keys(snapshot: Snapshot, entry: Entry) -> frozenset[str]:
    return frozenset(snapshot.subject_key(name) for name in entry.subjects)


def _active(snapshot: Snapshot) -> list[Entry]:
    """Evidence, whatever claims to supersede it, and the understandings that nothing supersedes."""
    understandings = [entry for entry in snapshot.of_class(RecordClass.UNDERSTANDING) if snapshot.active(entry)]
    return [*snapshot.of_class(RecordClass.OBSERVATION), *understandings]


def _is_understanding(entry: Entry) -> bool:
    return entry.record_class is RecordClass.UNDERSTANDING


def _is_recent(entry: Entry, generation: int, since: str) -> bool:
    if "generation" in entry.head:
        return int(entry.head["generation"]) >= generation
    return not entry.text("created") or entry.text("created") >= since
