"""Rules about what came after what: revisions and passes must not go in circles, and each understanding must have its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vault_tool.check.scope import Scope, listed, named, short
from vault_tool.model.problems import Problem, note, warning
from vault_tool.model.snapshot import Entry
from vault_tool.model.supersession import cycles
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.text import counted, with_article

_PAIR = 2


def supersession_cycle(scope: Scope) -> Iterable[Problem]:
    """Understandings that supersede each other: all of them stay active, because nothing says which is the newest."""
    hint = "take the older one's `supersedes` line out, or write one new understanding that supersedes them all"
    yield from _cycles(scope, RecordClass.UNDERSTANDING, "supersedes", "supersession-cycle", hint)


def consolidation_cycle(scope: Scope) -> Iterable[Problem]:
    """Passes that are each other's parents: their chain does not count towards the generation."""
    hint = "take the later pass out of the earlier one's `parents`"
    yield from _cycles(scope, RecordClass.CONSOLIDATION, "parents", "consolidation-cycle", hint)


def _cycles(scope: Scope, record_class: RecordClass, field: str, code: str, hint: str) -> Iterator[Problem]:
    edges = {entry.id: entry.texts(field) for entry in scope.snapshot.of_class(record_class) if entry.texts(field)}
    for members in cycles(edges):
        entries = sorted((e for member in members if (e := scope.first(member))), key=lambda entry: entry.path)
        if len(entries) == 1:
            message = f"`{field}` names the note itself"
        else:
            message = f"`{field}` goes in a circle of {len(entries)}: {listed([short(entry.id) for entry in entries])}"
        yield warning(entries[0].path, 0, code, message, hint)


def supersedes_other_type(scope: Scope) -> Iterable[Problem]:
    """Understandings that replace one of another type, which leaves that type's place empty."""
    for entry in scope.snapshot.of_class(RecordClass.UNDERSTANDING):
        for target in entry.texts("supersedes"):
            old = scope.first(target)
            if old and old.record_class is RecordClass.UNDERSTANDING and old.type != entry.type and not _merged(scope, old):
                message = f"{with_article(entry.type)} that supersedes {named(old)}, {with_article(old.type)}"
                yield note(
                    entry.path, 0, "supersedes-other-type", message, "take the id out of `supersedes` if that was not meant"
                )


def relationship_of_one(scope: Scope) -> Iterable[Problem]:
    """Active relationships of fewer than two subjects, as two names of one subject or a subject taken out by hand leave them."""
    for entry in scope.snapshot.of_class(RecordClass.UNDERSTANDING):
        if entry.type == "relationship" and scope.snapshot.active(entry) and _sides(scope, entry) < _PAIR:
            message = f"a relationship of {counted(_sides(scope, entry), 'subject')}"
            command = step("update_understanding", understanding_id=short(entry.id), kind="single_subject", new_content=...)
            hint = f"{command} keeps what it says of one; or name the other"
            yield note(entry.path, 0, "relationship-of-one", message, hint)


def _merged(scope: Scope, old: Entry) -> bool:
    """Whether it was the relation of two subjects that are one now: what was merged says what it said."""
    return old.type == "relationship" and _sides(scope, old) == 1


def _sides(scope: Scope, entry: Entry) -> int:
    return len({scope.snapshot.subject_key(name) for name in entry.subjects})
