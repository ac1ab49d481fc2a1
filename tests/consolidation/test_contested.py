"""Several active understandings where there should be one are found, and nothing else is."""

from __future__ import annotations

from vault_tool.consolidation.understanding_coverage import contested, current
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import RecordClass


def understanding(name: str, kind: str, subjects: tuple[str, ...] = (), created: str = "2026-11-20", **head: object) -> Entry:
    values = {"id": name, "type": kind, "subjects": subjects, "created": created, **head}
    return Entry(f"vault/understandings/{name}.md", name, RecordClass.UNDERSTANDING, kind, name, values)


def subject(name: str, *aliases: str) -> Entry:
    head = {"id": f"s-{name}", "type": "subject", "name": name, "aliases": aliases}
    return Entry(f"vault/subjects/{name}.md", f"s-{name}", RecordClass.SUBJECT, "subject", name, head)


def _found(*entries: Entry) -> list[list[str]]:
    return [[entry.id for entry in group] for group in contested(current(Snapshot(entries)))]


def test_the_same_type_and_subjects_in_any_order_under_any_name() -> None:
    one = understanding("one", "relationship", ("James", "memory_system"), "2026-11-19")
    two = understanding("two", "relationship", ("Memory System", "Jim"), "2026-11-20")
    assert _found(subject("James", "Jim"), subject("Memory system"), one, two) == [["two", "one"]]


def test_other_subjects_other_types_and_superseded_ones_are_not_contested() -> None:
    assert _found(understanding("a", "single_subject", ("X",)), understanding("b", "single_subject", ("Y",))) == []
    assert _found(understanding("a", "single_subject", ("X",)), understanding("b", "structural", ("X",))) == []
    assert _found(understanding("a", "structural", ("X",)), understanding("b", "structural", ("X",), supersedes=("a",))) == []
    assert _found(understanding("a", "structural"), understanding("b", "structural")) == []


def test_members_of_a_cycle_all_stand() -> None:
    a = understanding("a", "structural", ("X",), supersedes=("b",))
    assert _found(a, understanding("b", "structural", ("X",), supersedes=("a",))) == [["b", "a"]]


def test_a_vault_has_one_soul_whatever_it_is_tagged_with() -> None:
    assert _found(understanding("a", "soul", ("X",)), understanding("b", "soul")) == [["b", "a"]]


def test_copies_of_one_id_are_one_understanding() -> None:
    a = understanding("a", "structural", ("X",))
    copy = Entry("vault/copy.md", "a", a.record_class, a.type, a.title, a.head)
    assert _found(a, copy) == []
