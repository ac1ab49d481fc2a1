"""Rules about what points where: ids that lead nowhere, or to the wrong kind of record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from vault_tool.check.scope import Scope, named, short
from vault_tool.model.ids import is_derived
from vault_tool.model.problems import Problem, error, note, warning
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import STORY_EDGES, RecordClass
from vault_tool.util.hints import shell, step
from vault_tool.util.text import with_article

_O, _U, _S, _C = RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT, RecordClass.CONSOLIDATION
_MEMORY = frozenset({_O, _U})

# Each field that holds ids, and the classes that they may lead to.
FIELDS: Mapping[RecordClass, Mapping[str, frozenset[RecordClass]]] = {
    _O: {"related_to": frozenset({_U}), "problem": frozenset({_O}), "change_targets": _MEMORY},
    _U: {"supersedes": frozenset({_U}), "sources": _MEMORY, "pass": frozenset({_C})},
    RecordClass.EDGE: {"from_id": _MEMORY, "to_id": _MEMORY},
    _C: {"parents": frozenset({_C})},
}

ENDS: Mapping[str, tuple[str, str]] = {
    "ATTEMPTED": ("failed_tactic", "problem"),
    "CHANGES": ("change", ""),
    "SOLVES": ("", "problem"),
}


def _references(scope: Scope) -> Iterator[tuple[Entry, str, str, frozenset[RecordClass]]]:
    for entry in scope.snapshot.entries:
        for name, classes in FIELDS.get(entry.record_class, {}).items():
            value = entry.head.get(name)
            if value:
                allowed = classes | {_S} if entry.type in STORY_EDGES else classes
                for target in dict.fromkeys((value,) if isinstance(value, str) else entry.texts(name)):
                    yield entry, name, target, allowed


def dangling_reference(scope: Scope) -> Iterable[Problem]:
    """Ids that no record of this vault has; nothing is deleted for that."""
    known = scope.snapshot.by_id
    # Paths of the folder around the vault lead out of it.
    serves = any(entry.path.startswith("../") for entry in scope.snapshot.entries)
    for entry, name, target, _ in _references(scope):
        if target in known:
            continue
        if target in scope.forgotten:
            message = f"`{name}` cites {short(target)}, which was forgotten"
            yield note(entry.path, 0, "forgotten-reference", message, "revise it without what was forgotten, or leave it")
        else:
            # Git never had the id of a note of the folder around, which is made of its path.
            meant = f"say which note it is now: {step('moved', was=target, path=...)}, or take the id out of `{name}`"
            back = f"bring the note back ({shell(f'git log --all -S {target[:13]} -- vault')}), or take the id out of `{name}`"
            message = f"`{name}` names {short(target)}, and no note has that id"
            yield warning(entry.path, 0, "dangling-reference", message, meant if serves and is_derived(target) else back)


def wrong_class_reference(scope: Scope) -> Iterable[Problem]:
    """Ids that lead to a record of another kind than the field is for; an understanding that supersedes evidence hides it."""
    for entry, name, target, allowed in _references(scope):
        entries = scope.snapshot.by_id.get(target, ())
        if not entries or any(other.record_class in allowed for other in entries):
            continue
        kinds = " or ".join(sorted(f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" for kind in allowed))
        message = f"`{name}` must name {kinds}; {named(entries[0])} is of class {entries[0].record_class}"
        hint = f"take the id out of `{name}`"
        yield (error if name == "supersedes" else warning)(entry.path, 0, "wrong-class-reference", message, hint)


def self_reference(scope: Scope) -> Iterable[Problem]:
    """Records that name themselves, and edges from a memory to itself (a self-supersession is a cycle)."""
    for entry, name, target, _ in _references(scope):
        if target == entry.id and name != "supersedes" and name != "parents":
            yield warning(entry.path, 0, "self-reference", f"`{name}` names the note itself", f"take the id out of `{name}`")
    for edge in scope.snapshot.of_class(RecordClass.EDGE):
        if edge.text("from_id") and edge.text("from_id") == edge.text("to_id"):
            message = f"both ends are {short(edge.text('to_id'))}"
            yield warning(edge.path, 0, "self-reference", message, "correct `from_id` or `to_id`, or remove the file")


def edge_shape(scope: Scope) -> Iterable[Problem]:
    """Edges and `problem` fields whose end is of another type than they speak of."""
    for edge in scope.snapshot.of_class(RecordClass.EDGE):
        for name, allowed in zip(("from_id", "to_id"), ENDS.get(edge.type, ("", "")), strict=True):
            end = scope.first(edge.text(name))
            if allowed and end and end.record_class in _MEMORY and end.type != allowed:
                message = f"`{name}` of {edge.type} is usually {with_article(allowed)}; {named(end)} is of type {end.type}"
                yield note(edge.path, 0, "edge-shape", message, f"correct `{name}`, or choose another type of edge")
    for entry in scope.snapshot.of_class(_O):
        end = scope.first(entry.text("problem"))
        if end and end.record_class is _O and end.type != "problem":
            message = f"`problem` names {named(end)}, which is of type {end.type}"
            yield note(entry.path, 0, "not-a-problem", message, "name the id of a note of type problem")


def doubled_edges(scope: Scope) -> Iterable[Problem]:
    """Edges of one type between the same two memories, as two machines make them that both link: they say one thing twice."""
    by_ends: dict[tuple[str, str, str], list[Entry]] = defaultdict(list)
    for edge in scope.snapshot.of_class(RecordClass.EDGE):
        if edge.text("from_id") and edge.text("to_id"):
            by_ends[edge.text("from_id"), edge.type, edge.text("to_id")].append(edge)
    for (start, kind, end), edges in by_ends.items():
        if len(edges) > 1:
            first, *others = sorted(edges, key=lambda edge: edge.created_sort_key)
            for edge in others:
                message = f"the same link as {first.path}: {short(start)} {kind} {short(end)}"
                hint = "move what it alone says into that file, then delete this one"
                yield note(edge.path, 0, "doubled-link", message, hint)


def relations_in_head(scope: Scope) -> Iterable[Problem]:
    """Heads that hold their links themselves, as the cognitive-memory format does: nothing follows them there."""
    for entry in scope.snapshot.entries:
        if entry.record_class is not RecordClass.EDGE and entry.head.get("relations"):
            message = "`relations` in a head are not followed: links are files of their own"
            yield warning(entry.path, 0, "relations-in-head", message, f"{step('doctor', fix=True)} makes edges of them")
