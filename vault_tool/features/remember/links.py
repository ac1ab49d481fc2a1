"""Verbs on single memories: `pin`, `tag` and `link`; and `episode`, which logs an event that is no memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from vault_tool.errors import Refused, UsageError
from vault_tool.files import frontmatter, reader
from vault_tool.files.frontmatter import AddItems, Change, Remove, RemoveItems, Set
from vault_tool.files.render import body_text
from vault_tool.model.authority import Act
from vault_tool.model.ids import new_id
from vault_tool.model.records import Edge
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CHANGES, MEMORIES, STORY_EDGES, RecordClass, is_type_name
from vault_tool.util.hints import step
from vault_tool.util.text import body_hash, one_line, tag_name, with_article
from vault_tool.vault import at_start, contests, person, resolve, vouching
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import pinned_to_head
from vault_tool.vault.new_observation import append_operation
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.parameters import require_units
from vault_tool.vault.request import verb


class Pinned(Saved, kw_only=True):
    """The outcome of `pin`; `changed` is false for no change. One that `waits` counts once the owner reviewed it."""

    id: str
    title: str
    pinned: bool
    changed: bool
    waits: bool = False
    path: str


class Tagged(Saved, kw_only=True):
    """The tags that `tag` left, and which of them it added and took away."""

    id: str
    title: str
    tags: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    path: str


class Linked(Saved, kw_only=True):
    """A new edge, or the one of the same type between the same two that was there already.

    What it says was changed and is not its writer's to change is `contested`: both stay until the owner has settled it.
    """

    id: str
    type: str
    from_id: str
    from_title: str
    to_id: str
    to_title: str
    path: str
    duplicate_of: str | None = None
    contested: tuple[str, ...] = ()


class Relinked(Linked, kw_only=True):
    """A link as `update_link` left it; `changed` names what is otherwise now: strength, confidence, why."""

    changed: tuple[str, ...]


class Unlinked(Linked, kw_only=True):
    """A link that is not there any more."""


class Logged(Saved, kw_only=True):
    """An entry of the day's log."""

    at: str
    title: str


@verb
def pin(vault: Context, memory_id: str, *, off: bool = False) -> Pinned:
    """Keep a memory from fading (or, with `off`, let it fade again) by one line of its head.

    By its owner it counts as reviewed. An agent's pin has no effect until the owner reviewed the memory; one of what is the
    owner's is not written, nor is the owner's taken away.
    """
    with writing(vault, "unpin" if off else "pin") as op:
        entry = resolve.find(vault, memory_id)
        resolve.require_own(vault, entry)
        if entry.record_class not in (*MEMORIES, RecordClass.SUBJECT):
            raise UsageError(f"`{one_line(entry.title, 40)}` does not fade: it is of class {entry.record_class}", "name a memory")
        owners, by_owner = vouching.owners(op, entry), vault.who.origin == "owner" or person.is_person(vault)
        reviews = not off and not owners and person.is_person(vault)
        if off and owners and not by_owner and entry.pinned:
            raise Refused(f"{resolve.short(vault, entry.id)} is pinned by its owner", "leave it, or ask them")
        changed = entry.pinned == off and (owners <= by_owner)
        if changed:
            pinned: list[Change] = [Remove("pinned")] if off else [Set("pinned", True)]
            # By its owner it brings back what was kept off the page of a session's start.
            op.edit(entry.path, *pinned, *(at_start.given_again(entry) if by_owner and not off else ()))
        if reviews:
            vouching.vouch(op, entry)
        saved = op.carry_out(entry.title, [entry.id])
    waits = not (off or reviews or (owners and (by_owner or entry.pinned)))
    holds = not off and (changed or entry.pinned)
    return Pinned(**saved.fields(), id=entry.id, title=entry.title, pinned=holds, changed=changed, waits=waits, path=entry.path)


@verb
def tag(vault: Context, memory_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Tagged:
    """Give a memory or a subject tags, and take others from it, by one line of its head.

    Tags are one whatever their case, and with `-`, `_` or a space: what it has in another spelling is neither added nor left.
    """
    adding, removing = _by_tag(add), _by_tag(remove)
    if not adding and not removing:
        raise UsageError("no tag is named", f"for example {step('tag', memory_id=..., add=['work'], remove=['draft'])}")
    if both := adding.keys() & removing.keys():
        raise UsageError(f"`{adding[min(both)]}` is to be added and taken away", "say which")
    with writing(vault, "tag") as op:
        entry = resolve.find(vault, memory_id)
        resolve.require_own(vault, entry)
        if entry.record_class not in (*MEMORIES, RecordClass.SUBJECT):
            raise UsageError(
                f"`{one_line(entry.title, 40)}` is {with_article(entry.record_class)}, which has no tags", "name a memory"
            )
        before = entry.texts("tags")
        has = {tag_name(tag) for tag in before}
        removed = [tag for tag in before if tag_name(tag) in removing]
        added = [tag for name, tag in adding.items() if name not in has]
        left = (*(tag for tag in before if tag not in removed), *added)
        changes: list[Change] = [AddItems("tags", added)] if added else []
        if removed:
            changes.append(RemoveItems("tags", removed) if left else Remove("tags"))
        if changes:
            op.edit(entry.path, *changes)
        saved = op.carry_out(entry.title, [entry.id])
    missing = [f"it has no tag `{tag}`" for name, tag in removing.items() if name not in has]
    return Tagged(
        **saved.fields(*missing), id=entry.id, title=entry.title, tags=left,
        added=tuple(added), removed=tuple(removed), path=entry.path,
    )  # fmt: skip


def _by_tag(tags: Sequence[str]) -> dict[str, str]:
    """Tags as they are to be written, by the form in which they are compared; UsageError for one of signs alone."""
    written = [one_line(tag).removeprefix("#") for tag in tags]
    for tag in written:
        if not tag_name(tag):
            raise UsageError(f"`{one_line(tag, 40)}` is no tag", "a tag is a word, or words with a / between them")
    return {tag_name(tag): tag for tag in written}


@verb
def link(
    vault: Context,
    from_id: str,
    type: str,
    to_id: str,
    why: str = "",
    *,
    strength: float | None = None,
    confidence: float | None = None,
    evidence: Sequence[str] = (),
) -> Linked:
    """Write a typed, prose-bearing link between two memories; `why` is its text, `strength` is in 0..1.

    An end may be a subject for the story types alone: relations between subjects are intersections.
    """
    kind = _edge_type(vault, type)
    require_units(strength=strength, confidence=confidence)
    with writing(vault, "link") as op:
        start, end = _end(vault, from_id, kind), _end(vault, to_id, kind)
        if start.id == end.id:
            raise UsageError(f"`{start.title}` cannot be linked to itself", "name two memories")
        ends: _Ends = {"from_id": start.id, "from_title": start.title, "to_id": end.id, "to_title": end.title}
        twin = _same_edge(vault, kind, start, end)
        if twin is not None:
            reason = _reason_differs(vault, twin, why)
            return Linked(id=twin.id, type=kind, path=twin.path, duplicate_of=twin.id, warnings=reason, **ends)
        edge = Edge(
            id=new_id(), type=kind, body=body_text(why), strength=strength, confidence=confidence,
            evidence=pinned_to_head(vault, evidence),
            created=vault.now(), **ends, **vault.who.provenance(),
        )  # fmt: skip
        stay = contests.out_of_reach(vault, edge.origin, Act.OVERTAKE, [end]) if kind == CHANGES else ()
        path = op.create(edge)
        title = one_line(f"{start.title} {kind} {end.title}")
        op.log_entry(EpisodeEntry(at=vault.now(), title=title, type=kind, path=path, summary=one_line(why, 200)))
        saved = op.carry_out(title, [edge.id])
    contested, remarks = tuple(change.id for change in stay), contests.remarks(vault, stay)
    return Linked(**saved.fields(*remarks), contested=contested, id=edge.id, type=kind, path=path, **ends)


@verb
def update_link(
    vault: Context, link_id: str, why: str | None = None, *, strength: float | None = None, confidence: float | None = None
) -> Relinked:
    """Say anew why a link is there, how strong it is or how sure; what is not given stays as it is.

    Numbers are in 0..1, and each is one line of the link's file; that it was changed is said by its `updated`.
    """
    require_units(strength=strength, confidence=confidence)
    if why is None and strength is None and confidence is None:
        raise UsageError("nothing of the link is to change", f"for example {step('update_link', link_id=..., strength=0.8)}")
    with writing(vault, "update-link") as op:
        edge = _edge(vault, link_id)
        values = {"strength": strength, "confidence": confidence}
        fields = {name: value for name, value in values.items() if value is not None and value != edge.number(name)}
        reason = why if why is not None and body_hash(why) != edge.body_hash else None
        changed = (*fields, *(["why"] if reason is not None else []))
        if changed:
            changes = [*(Set(name, value) for name, value in fields.items()), Set("updated", vault.now())]
            if reason is None:
                op.edit(edge.path, *changes)
            else:
                old = reader.read(vault.root, edge.path)
                head = frontmatter.edit(old, changes)
                op.rewrite(edge.path, old, head[: frontmatter.split(head).body_start] + body_text(reason).encode("utf-8"))
        saved = op.carry_out(_called(edge), [edge.id])
    return Relinked(**saved.fields(), **_ends_of(edge), id=edge.id, type=edge.type, path=edge.path, changed=changed)


@verb
def unlink(vault: Context, link_id: str) -> Unlinked:
    """Take a link between two memories away; both stay as they are, and an undo puts it back.

    Raises Refused for a link that was read from the beats of turns: the next turn would read it again.
    """
    with writing(vault, "unlink") as op:
        edge = _edge(vault, link_id)
        if edge.type in STORY_EDGES and edge.text("turn"):
            shown = resolve.short(vault, edge.id)
            hint = f"{step('update_link', link_id=shown, strength=0)} has it lend least; to forget a beat takes its links along"
            raise Refused(f"{shown} follows from what its turn told, and would be read again", hint)
        op.remove(edge.path)
        op.log_entry(EpisodeEntry(at=vault.now(), title=f"no longer: {_called(edge)}", type=edge.type))
        saved = op.carry_out(_called(edge), [edge.id])
    return Unlinked(**saved.fields(), **_ends_of(edge), id=edge.id, type=edge.type, path=edge.path)


@verb
def episode(
    vault: Context, title: str, summary: str = "", *, type: str = "", tags: Sequence[str] = (), memory: str = ""
) -> Logged:
    """Add an entry to the day's log: something that happened and is not a memory of its own (or is about one)."""
    if not one_line(title):
        raise UsageError("an entry of the log needs a title", "give it as the first argument")
    with append_operation(vault, "episode") as op:
        about = resolve.find(vault, memory) if memory else None
        path = about.path if about else ""
        entry = EpisodeEntry(
            at=vault.now(),
            title=one_line(title),
            type=type,
            tags=tuple(map(one_line, tags)),
            path=path,
            summary=one_line(summary),
        )
        op.log_entry(entry)
        saved = op.carry_out(entry.title, [about.id] if about else [])
    return Logged(**saved.fields(), at=entry.at, title=entry.title)


class _Ends(TypedDict):
    """Both ends of an edge, as its head has them."""

    from_id: str
    from_title: str
    to_id: str
    to_title: str


def _edge(vault: Context, named: str) -> Entry:
    """The link of an id; UsageError for what is none."""
    edge = resolve.find(vault, named)
    if edge.record_class is not RecordClass.EDGE:
        shown = resolve.short(vault, edge.id)
        raise UsageError(
            f"{shown} ({one_line(edge.title, 40)}) is no link",
            f"{step('related', memory_id=shown)} lists its links with their ids",
        )
    resolve.require_own(vault, edge)
    return edge


def _ends_of(edge: Entry) -> _Ends:
    text = edge.text
    return {
        "from_id": text("from_id"), "from_title": text("from_title"), "to_id": text("to_id"), "to_title": text("to_title"),
    }  # fmt: skip


def _called(edge: Entry) -> str:
    return one_line(f"{edge.text('from_title')} {edge.type} {edge.text('to_title')}")


def _edge_type(vault: Context, named: str) -> str:
    kind = named.strip().upper().replace("-", "_").replace(" ", "_")
    spec = vault.settings.types.spec(kind)
    if not is_type_name(kind) or not spec.known or spec.record_class is not RecordClass.EDGE:
        kinds = ", ".join(s.name for s in vault.settings.types.of_class(RecordClass.EDGE))
        raise UsageError(f"`{one_line(named, 40)}` is not a type of edge", f"the types are {kinds}").listing()
    return kind


def _end(vault: Context, named: str, kind: str) -> Entry:
    entry = resolve.find(vault, named)
    if entry.record_class in MEMORIES:
        return entry
    if entry.record_class is RecordClass.SUBJECT and kind in STORY_EDGES:
        return entry
    hint = "relate subjects by a memory tagged with both" if entry.record_class is RecordClass.SUBJECT else "name a memory"
    raise UsageError(f"`{entry.title}` is {with_article(entry.record_class)}: {kind} links two memories", hint)


def _reason_differs(vault: Context, edge: Entry, why: str) -> tuple[str, ...]:
    """A hint for a link that exists already and gives another reason."""
    if not why.strip() or body_hash(why) == edge.body_hash:
        return ()
    change = step("update_link", link_id=resolve.short(vault, edge.id), why=...)
    return (f"the link is there already and gives another reason: {change} changes it",)


def _same_edge(vault: Context, kind: str, start: Entry, end: Entry) -> Entry | None:
    return next(
        (
            edge
            for field, edge in vault.index.catalog.pointing_at(start.id)
            if field == "from_id" and edge.type == kind and edge.text("to_id") == end.id
        ),
        None,
    )
