"""Understandings: write one, revise one by superseding it, and keep a subject's structural note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from vault_tool.errors import Refused, UsageError
from vault_tool.files.render import body_text
from vault_tool.index.relations import holding_place, successors
from vault_tool.model import authority
from vault_tool.model.ids import new_id
from vault_tool.model.made_titles import given_title
from vault_tool.model.records import Understanding
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.util.clock import moment
from vault_tool.util.hints import option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, first_sentence, normal_name, one_line, with_article
from vault_tool.vault import contests, open_pass, resolve, review_policy
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import resolve_subjects
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.parameters import require_units
from vault_tool.vault.request import verb
from vault_tool.vault.statuses import statuses

# A first understanding rests on so many memories; and the kinds that rest on any.
FEWEST_SOURCES = 2
RESTING = ("single_subject", "relationship")

# The kinds that belong to a pass of consolidation while it is open.
PACKETS = (*RESTING, "structural", "orientation")

# Characters of a present understanding that a refusal tells.
_TOLD = 2000

_CLASS = RecordClass.UNDERSTANDING.value
_READ = "look whether all that it said is still said"


class CreatedUnderstanding(Saved, kw_only=True):
    """A new synthesis, and the active ones of its kind and subjects that it took the place of."""

    id: str
    record_class: str = _CLASS
    subjects: tuple[str, ...]
    subjects_created: tuple[str, ...] = ()
    type: str
    title: str
    created: str
    path: str
    superseded: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    pending_review: bool = False


class UpdatedUnderstanding(Saved, kw_only=True):
    """A revision: a new file; the old one is not touched.

    What its writer had no authority to replace is `contested`: both stay until the owner reviews the new one, or settles it
    otherwise.
    """

    old_understanding_id: str
    new_understanding_id: str
    record_class: str = _CLASS
    type: str
    subjects: tuple[str, ...]
    path: str
    superseded: tuple[str, ...]
    contested: tuple[str, ...] = ()
    pending_review: bool = False


class StructuralUnderstanding(Saved, kw_only=True):
    """The note on a subject as an object of the vault: aliases, containment, merge history, exceptions."""

    subject_name: str
    understanding_id: str
    record_class: str = _CLASS
    type: str = "structural"
    created: str
    path: str
    superseded: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    pending_review: bool = False


class Understood(Saved, kw_only=True):
    """The outcome of `understand`: the new text of one subject or of several together, and the ids it `superseded`.

    What its writer had no authority to replace is `contested`: both stay until the owner has settled it. `known` says that the
    present one says just this, and nothing was written. `pass_id` is the pass of consolidation that it settles a packet of.
    With `pending_review` it waits for a person, and replaces nothing yet.
    """

    id: str
    record_class: str = _CLASS
    type: str
    title: str
    subjects: tuple[str, ...]
    subjects_created: tuple[str, ...] = ()
    summary: str
    content: str
    sources: tuple[str, ...]
    superseded: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    known: bool = False
    pass_id: str = ""
    pending_review: bool = False
    path: str


class _Destination(Struct):
    """Where a new synthesis went: into the vault, in place of what it replaced, or into the inbox, replacing nothing yet.

    Of what it says it supersedes it took the place of `superseded`; the `contested` stay beside it.
    """

    id: str
    path: str
    saved: Saved
    superseded: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    pending: bool = False


@verb
def create_understanding(
    vault: Context,
    subject_names: Sequence[str],
    content: str,
    summary: str,
    *,
    kind: str | None = None,
    title: str = "",
    tags: Sequence[str] = (),
    source_observation_ids: Sequence[str] = (),
    reason: str = "",
    importance: float | None = None,
    confidence: float | None = None,
    pass_id: str = "",
) -> CreatedUnderstanding:
    """Write a synthesis of one subject (`single_subject`) or of what several share (`relationship`).

    `summary` is required: nothing is summarised for you. Where an active one of the same kind has exactly the same
    subjects, it is superseded and named in `superseded`; for soul, protocol and orientation the kind alone decides.
    `pass_id` names the pass of consolidation that it is written in: it is then not new to the next one. What is written of a
    packet's subjects while a pass is open belongs to that pass without being told.
    What `understand` refuses is told here as a warning: too few sources, and a present one that was not named.
    """
    chosen = kind or ("single_subject" if len(subject_names) == 1 else "relationship")
    _check(vault, chosen, content, summary)
    require_units(importance=importance, confidence=confidence)
    with writing(vault, "create-understanding") as op:
        draft = replace(
            _draft(vault, chosen, content, summary, title),
            tags=tuple(map(one_line, tags)),
            sources=_sources(vault, source_observation_ids),
            reason=one_line(reason),
            importance=importance,
            confidence=confidence,
            pass_id=_pass(vault, pass_id),
        )
        return _take_place(op, draft, subject_names)


@verb
def update_understanding(
    vault: Context,
    understanding_id: str,
    new_content: str,
    new_summary: str,
    *,
    subject_names: Sequence[str] | None = None,
    kind: str | None = None,
    title: str = "",
    reason: str = "",
    source_observation_ids: Sequence[str] = (),
    join: bool = False,
    pass_id: str = "",
) -> UpdatedUnderstanding:
    """Write a new understanding that supersedes `understanding_id`, inheriting its kind, subjects and tags unless given.

    It is pinned where the old one is, whoever revises: a pin keeps the place, and a revision is the same place.
    Refused, naming the present head, if that one is superseded already; with `join` the new one supersedes all
    present heads of its chain instead, which settles a contested understanding.
    """
    with writing(vault, "update-understanding") as op:
        old = resolve.find(vault, understanding_id, (RecordClass.UNDERSTANDING,))
        heads = _revisable(vault, old, join)
        chosen = kind or old.type
        _check(vault, chosen, new_content, new_summary)
        tagging = resolve_subjects(op, old.subjects if subject_names is None else subject_names)
        if kind or subject_names is not None:
            _require_fitting(chosen, tagging.names)
        draft = _draft(vault, chosen, new_content, new_summary, title or _own_title(old))
        # What a user makes of an understanding that is everybody's stands beside it, for them alone.
        theirs = draft.user if draft.user != old.text("user") else ""
        draft = draft if theirs else replace(draft, user=old.text("user"))
        moves = theirs or kind or subject_names is not None
        moved = holding_the_place(vault, chosen, tagging.names, draft.user) if moves else []
        replaced = tuple(dict.fromkeys((*(() if theirs else heads), *(entry.id for entry in moved))))
        replaced = (*replaced, *contests.pending_revisions(vault, draft.origin, replaced))
        record = replace(
            draft,
            **_carried_over(old),
            subjects=tagging.names,
            supersedes=replaced,
            sources=inherited((old, *_entries(vault, replaced)), _sources(vault, source_observation_ids)),
            reason=one_line(reason),
            pinned=old.pinned,
            not_at_start=old.not_at_start,
            pass_id=_pass(vault, pass_id) or _open_pass(vault, chosen, tagging.names),
        )
        remarks = tuple(_of_a_revision(vault, record, moved, heads))
        outcome = _save(op, record)
    return UpdatedUnderstanding(
        **outcome.saved.fields(*remarks),
        old_understanding_id=old.id,
        new_understanding_id=outcome.id,
        type=record.type,
        subjects=tagging.names,
        path=outcome.path,
        superseded=outcome.superseded,
        contested=outcome.contested,
        pending_review=outcome.pending,
    )


@verb
def understand(
    vault: Context,
    subjects: Sequence[str],
    content: str,
    summary: str,
    sources: Sequence[str] = (),
    replaces: str = "",
    *,
    kind: str | None = None,
    why: str = "",
) -> Understood:
    """Write what several memories about a subject, or about several together, come to, in place of what was understood before.

    The present one is named in `replaces`, for who writes has read it: Refused, with its id and text, where it is not. A first
    one rests on two `sources` or more; a revision keeps those of the one before and adds those given, at least one, or none
    where `why` says that only the wording changed. A structural note, orientation, soul or protocol needs none.
    Sent twice it is once.
    """
    with writing(vault, "understand") as op:
        old = _named_present(vault, replaces)
        tagging = resolve_subjects(op, subjects or (old.subjects if old else ()))
        chosen = kind or (old.type if old else "single_subject" if len(tagging.names) == 1 else "relationship")
        _check(vault, chosen, content, summary)
        _require_fitting(chosen, tagging.names)
        draft = replace(
            _draft(vault, chosen, content, summary, _own_title(old) if old else ""),
            subjects=tagging.names, sources=_sources(vault, sources), reason=one_line(why),
            pass_id=_open_pass(vault, chosen, tagging.names),
        )  # fmt: skip
        draft = replace(draft, user=_whose(vault, draft))
        present = holding_the_place(vault, chosen, tagging.names, draft.user)
        if twin := next((entry for entry in present if _says_the_same(entry, draft)), None):
            return _understood(Saved(), draft, twin, known=True)
        # What a user makes of an understanding that is everybody's stands beside it, for them alone.
        theirs = [old] if old is not None and not present and old.text("user") != draft.user else []
        _require_read(vault, old, present or theirs)
        _require_sources(draft, present or theirs)
        replaced = tuple(entry.id for entry in present)
        record = replace(
            draft,
            **(_carried_over(old) if old else {}),
            supersedes=(*replaced, *contests.pending_revisions(vault, draft.origin, replaced)),
            sources=inherited(present or theirs, draft.sources),
            pinned=any(entry.pinned for entry in present),
            not_at_start=_all_hidden(present),
        )
        remarks = tuple(_not_so_now(vault, draft.sources))
        outcome = _save(op, record)
        saved = Saved(**outcome.saved.fields(*remarks))
        return _understood(saved, record, outcome, () if outcome.pending else tagging.created)


@verb
def set_structural_understanding(
    vault: Context, subject_name: str, content: str, *, summary: str = "", reason: str = ""
) -> StructuralUnderstanding:
    """Write or replace the structural understanding of one subject: the freeform note on its place and identity.

    The subject must exist; `summary` defaults to the first sentence of `content`.
    """
    preview = summary or first_sentence(content)
    _check(vault, "structural", content, preview)
    with writing(vault, "set-structural-understanding") as op:
        name = resolve.existing_subject(vault, subject_name).title
        draft = replace(_draft(vault, "structural", content, preview, ""), reason=one_line(reason))
        outcome = _take_place(op, draft, [name])
    return StructuralUnderstanding(
        **{name: getattr(outcome, name) for name in Saved.__struct_fields__},
        subject_name=name,
        understanding_id=outcome.id,
        created=outcome.created,
        path=outcome.path,
        superseded=outcome.superseded,
        contested=outcome.contested,
        pending_review=outcome.pending_review,
    )


def _named_present(vault: Context, replaces: str) -> Entry | None:
    return resolve.find(vault, replaces, (RecordClass.UNDERSTANDING,)) if replaces else None


def _says_the_same(present: Entry, draft: Understanding) -> bool:
    """Whether a draft would say nothing that the present one does not: what was sent twice."""
    same = present.body_hash == body_hash(draft.body) and present.text("summary") == draft.summary
    return same and set(draft.sources) <= set(present.texts("sources"))


def _require_read(vault: Context, old: Entry | None, present: Sequence[Entry]) -> None:
    """Refused, with the present understandings, where who writes names none of them."""
    if any(entry.id == old.id for entry in present) if old is not None else not present:
        return
    if not present:
        assert old is not None
        place = f"{resolve.short(vault, old.id)} is the {old.type} understanding of {', '.join(old.subjects) or 'the vault'}"
        raise UsageError(
            f"{place}, and is not replaced by one of others", f"leave out {option('replaces')}, or name the subjects that it has"
        )
    first = contests.foremost(vault, present) or present[0]
    unread = "; ".join(
        f"{resolve.short(vault, entry.id)}: {one_line(body_of(vault, entry), _TOLD)}"
        for entry in sorted(present, key=lambda e: e is not first)
    )
    raise Refused(
        f"{', '.join(first.subjects) or first.type} is understood already, {unread}",
        f"read it, and say that yours takes its place with {option('replaces', resolve.short(vault, first.id))}",
    )


def _require_sources(draft: Understanding, before: Sequence[Entry]) -> None:
    """Refused for a text that rests on too little to be more than a memory."""
    if draft.type not in RESTING or (before and (draft.sources or draft.reason)):
        return
    if before:
        raise Refused(
            "a revision rests on something new, and no source is named",
            f"name what it rests on with {option('sources')}, or say with {option('why')} that only the wording changed",
        )
    if len(draft.sources) == 1:
        raise Refused("one memory is no understanding", "remember it")
    if len(draft.sources) < FEWEST_SOURCES:
        raise Refused(
            "an understanding rests on several memories", f"name two or more of them with {option('sources')}, or remember it"
        )


def _of_a_first(vault: Context, record: Understanding, replaced: Sequence[Entry]) -> Iterator[str]:
    """Remarks on a first understanding for which `understand` would have asked for more."""
    if record.type in RESTING and len(record.sources) < FEWEST_SOURCES:
        rests = "one memory" if record.sources else "no memory"
        yield f"it rests on {rests}, where two or more make an understanding: name them with {option('source_observation_ids')}"
    if replaced and record.type in RESTING:
        names = ", ".join(resolve.short(vault, entry.id) for entry in replaced)
        yield f"{names} was the present understanding of {_place(record)}, and yours takes its place: {_READ}"


def _of_a_revision(vault: Context, record: Understanding, moved: Sequence[Entry], named: Sequence[str]) -> Iterator[str]:
    """Remarks on a revision for which `understand` would have asked for more."""
    if record.type in RESTING and len(record.sources) < FEWEST_SOURCES:
        yield from _of_a_first(vault, record, ())
    if others := [entry for entry in moved if entry.id not in named]:
        names = ", ".join(resolve.short(vault, entry.id) for entry in others)
        yield f"{names} was the present understanding of {_place(record)}, and yours takes its place too: {_READ}"


def _place(record: Understanding) -> str:
    return ", ".join(record.subjects) or f"the vault ({record.type})"


def _not_so_now(vault: Context, sources: Sequence[str]) -> Iterator[str]:
    """Remarks on sources that do not describe the present."""
    entries = list(_entries(vault, sources))
    known = statuses(vault, entries)
    for entry in entries:
        if not known[entry.path].answers:
            words = "; ".join(known[entry.path].status_words(lambda identity: resolve.short(vault, identity)))
            yield f"{resolve.short(vault, entry.id)} is {words}: rest on what is so now"


def _understood(
    saved: Saved, record: Understanding, place: Entry | _Destination, created: tuple[str, ...] = (), *, known: bool = False
) -> Understood:
    written = place if isinstance(place, _Destination) else _Destination(place.id, place.path, saved)
    return Understood(
        **saved.fields(), id=written.id, type=record.type, title=record.label, subjects=record.subjects, subjects_created=created,
        summary=record.summary, content=record.body.rstrip("\n"), sources=record.sources, superseded=written.superseded,
        contested=written.contested, known=known, pass_id=record.pass_id, pending_review=written.pending, path=written.path,
    )  # fmt: skip


def _take_place(op: Operation, draft: Understanding, subject_names: Sequence[str]) -> CreatedUnderstanding:
    """Write a synthesis that supersedes the active ones of its kind and exactly its subjects; their pin stays on the place."""
    tagging = resolve_subjects(op, subject_names)
    # Two names may be one subject's.
    _require_fitting(draft.type, tagging.names)
    draft = replace(draft, user=_whose(op.vault, draft))
    replaced = holding_the_place(op.vault, draft.type, tagging.names, draft.user)
    record = replace(
        draft,
        subjects=tagging.names,
        supersedes=tuple(entry.id for entry in replaced),
        sources=inherited(replaced, draft.sources),
        pinned=any(entry.pinned for entry in replaced),
        not_at_start=_all_hidden(replaced),
        pass_id=draft.pass_id or _open_pass(op.vault, draft.type, tagging.names),
    )
    remarks = tuple(_of_a_first(op.vault, record, replaced))
    outcome = _save(op, record)
    return CreatedUnderstanding(
        **outcome.saved.fields(*remarks),
        id=outcome.id,
        subjects=tagging.names,
        subjects_created=() if outcome.pending else tagging.created,
        type=record.type,
        title=record.label,
        created=record.created or "",
        path=outcome.path,
        superseded=outcome.superseded,
        contested=outcome.contested,
        pending_review=outcome.pending,
    )


def _check(vault: Context, kind: str, content: str, summary: str) -> None:
    if not content.strip():
        raise UsageError("an understanding needs content", "give the text, or `-` to read it from standard input")
    if not summary.strip():
        raise UsageError(
            "an understanding needs a summary: nothing is summarised for you", f"pass {option('summary', 'one line')}"
        )
    known = vault.settings.types.spec(kind)
    if not known.known or known.record_class is not RecordClass.UNDERSTANDING:
        kinds = ", ".join(spec.name for spec in vault.settings.types.of_class(RecordClass.UNDERSTANDING))
        raise UsageError(f"`{one_line(kind, 40)}` is not a kind of understanding", f"the kinds are {kinds}")


def _require_fitting(kind: str, subject_names: Sequence[str]) -> None:
    """Which understanding is a subject's own follows from its kind and the number of its subjects: they must agree."""
    count = len({normal_name(name) for name in subject_names})
    if not count and kind not in KEPT_TYPES:
        raise UsageError(f"{with_article(kind)} understanding needs a subject", f"name it with {option('subject_names')}")
    if count > 1 and kind in ("single_subject", "structural"):
        raise UsageError(
            f"{with_article(kind)} understanding has one subject, not {count}",
            f"what several share needs {option('kind', 'relationship')}",
        )
    if count == 1 and kind == "relationship":
        raise UsageError(
            "a relationship understanding needs two subjects or more",
            f"what one comes to needs {option('kind', 'single_subject')}",
        )


def _own_title(old: Entry) -> str:
    """The title that a person gave; one that was only the old summary's first sentence goes with it."""
    title = old.text("title")
    return given_title(title, old.text("summary"))


def _carried_over(old: Entry) -> dict[str, Any]:
    """The fields of an understanding that its revision has too."""
    return {"tags": old.texts("tags"), "importance": old.number("importance"), "confidence": old.number("confidence")}


def _all_hidden(replaced: Sequence[Entry]) -> bool:
    """Whether what takes the place of these stands on no page of a session's start either: a person hid them all."""
    return bool(replaced) and all(entry.not_at_start for entry in replaced)


def holding_the_place(vault: Context, kind: str, names: Sequence[str], user: str) -> list[Entry]:
    """The active understandings that a new one of this kind, these subjects and this user supersedes."""
    if not names and kind not in KEPT_TYPES:
        return []
    subjects = () if kind in KEPT_TYPES else tuple(names)
    placed = [entry for entry in holding_place(vault.index.catalog, kind, subjects) if entry.text("user") == user]
    return [entry for entry in placed if not successors(vault.index.catalog, entry.id)]


def _whose(vault: Context, draft: Understanding) -> str:
    """The user a synthesis is for: its writer, else the one user whose memories it is made of.

    One that is made of several users' is for none of them: who keeps the vault alone sees it.
    """
    users = {entry.text("user") for identity in draft.sources for entry in vault.index.catalog.get(identity)} - {""}
    return draft.user or (next(iter(users)) if len(users) == 1 else "")


def _revisable(vault: Context, old: Entry, join: bool) -> tuple[str, ...]:
    """The ids that a revision of `old` supersedes: itself, or with `join` all present heads above and beside it."""
    heads = heads_above(vault, old.id)
    if heads == [old.id] and not join:
        return (old.id,)
    if not join:
        shown = " and ".join(resolve.short(vault, head) for head in heads)
        revise = step("update_understanding", understanding_id=resolve.short(vault, heads[0]))
        raise Refused(
            f"{resolve.short(vault, old.id)} is superseded already by {shown}",
            f"revise that: {revise}, or pass {option('join', True)}",
        )
    beside = [entry.id for entry in holding_the_place(vault, old.type, old.subjects, old.text("user"))]
    return tuple(dict.fromkeys((*heads, *beside)))


def heads_above(vault: Context, identity: str) -> list[str]:
    """The current understandings among those that supersede `identity`, newest first; itself when there are none."""
    seen = {identity}
    waiting = [identity]
    heads = []
    while waiting:
        node = waiting.pop()
        newer = successors(vault.index.catalog, node)
        if not newer:
            heads.append(node)
        waiting.extend(entry for entry in newer if entry not in seen)
        seen.update(newer)
    by_age = {entry.id: entry.text("created") for head in heads for entry in vault.index.catalog.get(head)}
    return sorted(heads, key=lambda head: (moment(by_age.get(head, "")), head), reverse=True)


def _draft(vault: Context, kind: str, content: str, summary: str, title: str) -> Understanding:
    return Understanding(
        id=new_id(),
        type=kind,
        body=body_text(content),
        title=given_title(title, one_line(summary)),
        summary=one_line(summary),
        generation=vault.index.catalog.generation(),
        created=vault.now(),
        **vault.who.provenance(),
    )


def _pass(vault: Context, named: str) -> str:
    """The id of the pass of consolidation that is meant, or nothing where none is named."""
    return resolve.find(vault, named, (RecordClass.CONSOLIDATION,)).id if named else ""


def _open_pass(vault: Context, kind: str, names: Sequence[str]) -> str:
    """The id of the open pass of consolidation, where what is written of these subjects settles a packet of it."""
    if kind not in PACKETS or not vault.index.catalog.of_class(RecordClass.CONSOLIDATION):
        return ""
    return open_pass.settled_by(vault, kind, names)


def _sources(vault: Context, named: Sequence[str]) -> tuple[str, ...]:
    return tuple(entry.id for entry in resolve.find_all(vault, named, (RecordClass.OBSERVATION,)))


def inherited(replaced: Iterable[Entry], added: Sequence[str]) -> tuple[str, ...]:
    """The sources of a synthesis: all those of its predecessors, since placed evidence stays placed, and the added ones."""
    return tuple(dict.fromkeys((*(source for entry in replaced for source in entry.texts("sources")), *added)))


def _entries(vault: Context, ids: Iterable[str]) -> Iterator[Entry]:
    for identity in ids:
        yield from vault.index.catalog.get(identity)


def _save(op: Operation, record: Understanding) -> _Destination:
    if review_policy.policy(op.vault, record) == "review":
        identity = review_policy.waits_by_its_type(record, op.vault.counted_origin(record.origin))
        why = review_policy.why_waits(op.vault, record)
        held = review_policy.hold(op.vault, record, why, verb=op.verb)
        remarks = (review_policy.WAITS, *([why] if identity else []))
        return _Destination(held.id, held.path, Saved(warnings=remarks), pending=True)
    act = authority.replacing(record.type)
    stay = contests.out_of_reach(op.vault, record.origin, act, _entries(op.vault, record.supersedes))
    contested = tuple(entry.id for entry in stay)
    path = op.create(record)
    op.log(record, path, record.summary)
    saved = op.carry_out(record.label, [record.id])
    saved = replace(saved, warnings=(*saved.warnings, *contests.remarks(op.vault, stay)))
    superseded = tuple(identity for identity in record.supersedes if identity not in contested)
    return _Destination(record.id, path, saved, superseded, contested)
