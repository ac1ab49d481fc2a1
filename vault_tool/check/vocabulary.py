"""Rules about words: undeclared types, subjects without a file, too many subjects, the same text twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from vault_tool.check.scope import Scope, listed, short
from vault_tool.model.details import is_word
from vault_tool.model.fields import OF_WORDS
from vault_tool.model.problems import Problem, note, warning
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass, near_type
from vault_tool.util.hints import step
from vault_tool.util.text import normal_name, one_line

MOST_SUBJECTS = 4

Key = TypeVar("Key", bound=Hashable)


def unknown_type(scope: Scope) -> Iterable[Problem]:
    """Types that are neither built in nor in `vault.toml`, once each, at the first note of that type."""
    for name, entries in _grouped(scope.snapshot.entries, lambda entry: entry.type).items():
        spec = scope.registry.spec(name)
        if not spec.known:
            like = near_type(name, scope.registry.specs)
            meant = f"`{like}` may be meant; else " if like else ""
            message = f"the type `{name}` is not known (notes: {len(entries)}); read as {spec.record_class}"
            yield note(entries[0].path, 0, "unknown-type", message, f"{meant}declare it in vault.toml: [types.{name}]")


def missing_subject_file(scope: Scope) -> Iterable[Problem]:
    """Subjects that notes are tagged with and that have no file, once each, at the first such note."""
    names: dict[str, tuple[str, list[Entry]]] = {}
    normal: dict[str, str] = {}
    for entry in _by_path(scope.snapshot.entries):
        for name in entry.subjects:
            key = normal.setdefault(name, normal_name(name))
            if key and key not in scope.snapshot.subjects_by_name:
                names.setdefault(key, (name, []))[1].append(entry)
    for shown, entries in names.values():
        message = f"the subject `{one_line(shown, 60)}` has no file (notes: {len(entries)})"
        hint = step("create_subjects", subjects=one_line(shown))
        yield note(entries[0].path, 0, "missing-subject-file", message, hint)


def many_subjects(scope: Scope) -> Iterable[Problem]:
    """Observations tagged with more than four subjects: n subjects are n(n-1)/2 claims of a relation."""
    for entry in scope.snapshot.of_class(RecordClass.OBSERVATION):
        count = len(entry.subjects)
        if count > MOST_SUBJECTS:
            message = f"tagged with {count} subjects, which claims {count * (count - 1) // 2} relations"
            yield note(entry.path, 0, "many-subjects", message, "keep the subjects that it is about")


def duplicate_body(scope: Scope) -> Iterable[Problem]:
    """Observations that say the same, of one type, problem, project and user: one would do."""
    observations = (entry for entry in scope.snapshot.of_class(RecordClass.OBSERVATION) if entry.body_hash)
    same = _grouped(observations, _identity)
    for entries in same.values():
        first, *others = entries
        if len({entry.id for entry in entries}) > 1:
            message = f"says the same as {listed([f'{short(e.id)} ({e.path})' for e in others])}"
            yield note(first.path, 0, "duplicate-body", message, "keep one, and delete the file of the other")


def _identity(entry: Entry) -> tuple[object, ...]:
    texts = (entry.text(name) for name in ("problem", "project", "user"))
    lists = (entry.texts(name) for name in ("steps", "preconditions", "postconditions"))
    return entry.body_hash, entry.type, *texts, *lists


def odd_word(scope: Scope) -> Iterable[Problem]:
    """Unusual words in a field of one word, which no search would use: once each, at the first such note."""
    for field in OF_WORDS:
        name = field.name
        by_word = _grouped((e for e in scope.snapshot.entries if e.text(name)), lambda e, name=name: e.text(name))  # type: ignore[misc]
        for word, entries in by_word.items():
            if word not in field.words:
                message = f"the {name} `{one_line(word, 40)}` is none of the usual ones (notes: {len(entries)})"
                severity = note if is_word(word) else warning
                hint = f"write {', '.join(field.words)}, or leave it as a word of your own"
                yield severity(entries[0].path, 0, f"odd-{name}", message, hint)


def _by_path(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.path)


def _grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    groups: dict[Key, list[Entry]] = defaultdict(list)
    for entry in _by_path(entries):
        groups[key(entry)].append(entry)
    return groups
