"""Repeats of known memories: the memory that a draft repeats, the parts of the draft added to it, and the parts left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from vault_tool.errors import EditRefused, Refused
from vault_tool.files.frontmatter import AddItems, Change, Set
from vault_tool.index import claims
from vault_tool.index.catalog import Catalog
from vault_tool.model.authority import OWNER, Act, Effect, Party, authority, by_origin, writer_of
from vault_tool.model.fields import repeated
from vault_tool.model.made_titles import given_title
from vault_tool.model.records import Observation
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import DEFAULT_CONFIDENCE, RecordClass
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, normal_name, one_line, tag_name
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import EvidenceState, check_references
from vault_tool.vault.operation import Operation

_SAME = ("type", "project", "user")
# Fields whose values make a separate memory if they differ; a field that the repeat leaves empty does not differ.
_SAID = repeated("apart")

_LISTS = repeated("added")
# Dropped fields are reported in this order, then the others.
_FIRST = ("failure_mode", "rationale", "evidence", "confidence", "importance", "observed", "expires", "until", "review_by")
_NOT_TAKEN = (*_FIRST, *(name for name in repeated("dropped") if name not in _FIRST))


class Repeat(Struct):
    """A repeat's effect on the known memory: its `subjects` now, the `added` and the `dropped` parts.

    `withheld` says that the memory is shown to no caller.
    """

    subjects: tuple[str, ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    withheld: bool = False

    def remarks(self, known: str) -> tuple[str, ...]:
        """The remarks to its writer: `known` is the memory's short id."""
        withheld_remark = (f"{known} is told to nobody: consent to it was refused or withdrawn",) if self.withheld else ()
        if not self.dropped:
            return withheld_remark
        return (
            *withheld_remark,
            f"remembered already as {known}, without its {', '.join(self.dropped)}: {step('edit', memory_id=known)} adds that",
        )


def same(new: Observation, known: Mapping[str, Any]) -> bool:
    """Whether an observation with the same body is the same memory as the one with this head."""
    # A title that was made from the text does not count as given.
    head = new.head() | {"title": given_title(new.title, new.body)}
    if any((head.get(name) or "") != (known.get(name) or "") for name in _SAME):
        return False
    return all(not head.get(name) or head[name] == known.get(name) or _is_new_link(name, known) for name in _SAID)


def _is_new_link(name: str, known: Mapping[str, Any]) -> bool:
    """Whether the field is a new link to a problem, which a repeat may add; a title or steps it may not add."""
    return name == "problem" and not known.get(name)


def twin_of(vault: Context, draft: Observation) -> Entry | None:
    """The known memory that a draft repeats; if there are several, the one most like it.

    A memory that a change has overtaken does not count: its repeat says that it is true again.
    """
    # A withheld memory counts too: its repeat is withheld as well.
    catalog, body_key = vault.whole_index.catalog, body_hash(draft.body)
    # Before a draft is taken for a repeat, the files of the known memories are compared again.
    vault.index.recheck([entry.path for entry in catalog.by_body(body_key)])
    alike = [e for e in catalog.by_body(body_key) if e.record_class is RecordClass.OBSERVATION and same(draft, e.head)]
    twins = [entry for entry in alike if not any(claims.changes_of(catalog, [entry])) and _may_gain(vault, draft, entry)]
    head = draft.head()
    return min(twins, key=lambda entry: sum(head.get(name) != entry.head.get(name) for name in _SAID), default=None)


def _may_gain(vault: Context, draft: Observation, twin: Entry) -> bool:
    """Whether the `change_targets` of a repeat may be added to the head of the known memory.

    An agent may not add them to the owner's memory: the change would then count as the owner's. Nor may a writer add them to
    the memory of a writer with less authority: the change would then be contested.
    """
    catalog = vault.whole_index.catalog
    if vault.who.author and _writer(catalog, twin) != by_origin(vault.counted_origin(draft.origin)):
        # A served person adds nothing but tags and the like to another person's memory.
        return not (draft.change_targets or draft.problem)
    if not draft.change_targets:
        return True
    me, writer = by_origin(vault.counted_origin(draft.origin)), _writer(catalog, twin)
    new = set(draft.change_targets).difference(twin.texts("change_targets"))
    if new and writer is OWNER and me is not OWNER:
        return False
    targets = [_writer(catalog, entry) for identity in draft.change_targets for entry in catalog.get(identity)]
    done = Effect.ALLOWED
    return all(
        authority(Act.OVERTAKE, writer, target) is done for target in targets if authority(Act.OVERTAKE, me, target) is done
    )


def _writer(catalog: Catalog, entry: Entry) -> Party:
    return writer_of(entry, bool(catalog.reviewed_at([entry])))


def joined(first: Observation, other: Observation) -> Observation:
    """The first of two equal drafts, with the links and tags of the second added."""
    return replace(
        first,
        problem=first.problem or other.problem,
        tags=tuple(dict.fromkeys((*first.tags, *other.tags))),
        related_to=tuple(dict.fromkeys((*first.related_to, *other.related_to))),
        change_targets=tuple(dict.fromkeys((*first.change_targets, *other.change_targets))),
    )


def add(op: Operation, twin: Entry, draft: Observation, names: Sequence[str], but: Sequence[str] = ()) -> Repeat:
    """Plan the additions of a repeat to the known memory: subjects (existing ones, by `names`), tags, links, a problem.

    Other fields of the repeat are dropped and reported, except the fields that the caller keeps elsewhere (`but`).
    """
    tagged = {normal for name in twin.subjects for normal in resolve.names_for(op.vault, name)}
    lacking = [name for name in names if normal_name(name) not in tagged]
    changes: list[Change] = [AddItems("subjects", op.as_written(lacking))] if lacking else []
    added = [_named("subjects", lacking)] if lacking else []
    for name, items in _lacking(draft, twin):
        changes.append(AddItems(name, items))
        added.append(_named(name, items))
    if draft.problem and not twin.text("problem"):
        changes.append(Set("problem", draft.problem))
        added.append(_named("problem", [draft.problem]))
    left_out = dropped(_without_known(op.vault, draft, twin), twin.head, but)
    untold = twin.id in op.vault.whole_index.catalog.withheld()
    try:
        if changes:
            op.edit(twin.path, *changes)
    except (EditRefused, Refused):
        # The file may not be written, or cannot be read now: then every addition is left out.
        return Repeat(twin.subjects, (), (*added, *left_out), untold)
    return Repeat((*twin.subjects, *lacking), tuple(added), left_out, untold)


def _without_known(vault: Context, draft: Observation, twin: Entry) -> Observation:
    """The draft without evidence that the memory has already: the same file, unchanged, pinned to another commit."""
    known = {_unpinned(text): text for text in twin.texts("evidence")}
    again = [known[_unpinned(text)] for text in draft.evidence if _unpinned(text) in known]
    holds = {_unpinned(check.reference) for check in check_references(vault, again) if check.state is EvidenceState.HOLDS}
    return replace(draft, evidence=tuple(text for text in draft.evidence if _unpinned(text) not in holds))


def _unpinned(reference: str) -> str:
    return reference.rpartition("@")[0] if reference.startswith("file:") and "@" in reference else reference


def _lacking(draft: Observation, twin: Entry) -> Iterator[tuple[str, list[str]]]:
    for name in _LISTS:
        present = {_key(name, item) for item in twin.texts(name)}
        if items := [item for item in getattr(draft, name) if _key(name, item) not in present]:
            yield name, items


def _key(name: str, item: str) -> str:
    return tag_name(item) if name == "tags" else item


def dropped(draft: Observation, known: Mapping[str, Any], but: Sequence[str] = ()) -> tuple[str, ...]:
    """The parts of a repeat that differ from the memory with this head, and are not added to it."""
    head = draft.head()
    return tuple(
        difference for name in _NOT_TAKEN if name not in but and (difference := _differs(name, head.get(name), known.get(name)))
    )


def _differs(name: str, value: Any, known: Any) -> str:
    if name == "evidence":
        value = [item for item in value or () if item not in (known or ())]
    if name == "confidence" and known is None:
        known = DEFAULT_CONFIDENCE
    if value in (None, "", [], False) or value == known:
        return ""
    return _named(name, value if isinstance(value, list) else [f"{value:g}" if isinstance(value, float) else str(value)])


def _named(name: str, items: Sequence[str]) -> str:
    shown = ", ".join(item[:8] if name in ("problem", "related_to", "change_targets") else one_line(item, 60) for item in items)
    return f"{name} {shown}"
