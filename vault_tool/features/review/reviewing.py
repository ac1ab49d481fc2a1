"""`review`: a person looks at what waits in the inbox, and accepts, refuses or edits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from vault_tool.errors import Ambiguous, NotFound, Refused, StaleEdit, UsageError
from vault_tool.features.capture.session_files import INSTEAD, SESSION_FILE, turn_at
from vault_tool.features.review import consents
from vault_tool.features.review.other_decisions import decided_settings, decided_tombstones, others_waiting
from vault_tool.features.review.what_waits import Accepted, Waiting
from vault_tool.features.turns.gate import CONSENT_MODE
from vault_tool.features.understandings.understandings import heads_above, holding_the_place
from vault_tool.files import frontmatter
from vault_tool.files.bin import BIN, DecidedDraft, DraftBin
from vault_tool.files.frontmatter import Set
from vault_tool.files.inbox import INBOX, About, Inbox
from vault_tool.files.parse import Parsed, parse
from vault_tool.files.parse import record as record_in
from vault_tool.model.details import details_of
from vault_tool.model.ids import as_prefix, canonical, new_id, shortest_unambiguous
from vault_tool.model.problems import Problem, error
from vault_tool.model.records import Edge, Observation, Record, Remembered, Understanding, from_head
from vault_tool.model.signals import ConsentState, Signal, SignalKind
from vault_tool.model.supersession import Place, place_of
from vault_tool.util.hints import option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault import contests, drafts, no_return, person, repeats, resolve, screening, vouching
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import resolve_subjects
from vault_tool.vault.operation import Operation, Saved, SavedAnswer, writing
from vault_tool.vault.request import looks, of_the_whole, verb
from vault_tool.vault.two_texts import TwoTexts, two_texts

# Lets a person edit a file and returns when they are done.
Editor = Callable[[Path], None]

_ACT = "look at what waits for review"


class Reviewed(SavedAnswer, kw_only=True):
    """The decisions just made, and what still waits, the longest first (or what lies in the bin, the newest first).

    `binned` are those of the `refused` that lie in the bin now, from which they can be `restored`; `in_bin` counts what does.
    `kept` are those of them that are memories, and stay: somebody else had them forgotten, and that was refused.
    """

    accepted: tuple[Accepted, ...] = ()
    refused: tuple[str, ...] = ()
    binned: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    in_bin: int = 0
    results: tuple[Waiting, ...] = ()
    unsettled: tuple[TwoTexts, ...] = ()
    """What two machines wrote and left to a person: `settle_texts` decides."""


class _Note(Struct):
    """A note of the inbox as its file is now."""

    name: str
    data: bytes
    parsed: Parsed
    about: About
    refused_at: str = ""
    changes: tuple[frontmatter.Change, ...] = ()

    @property
    def id(self) -> str:
        return str(self.parsed.head.get("id") or "")

    @property
    def path(self) -> str:
        return f"{INBOX}/{self.name}" if not self.refused_at else BIN


class _Apart(Struct, kw_only=True):
    """Decisions on what is no draft, made before all others; `accept` and `refuse` are the names that are left.

    `refused_to_forget` are memories that others had forgotten.
    """

    accepted: tuple[Accepted, ...] = ()
    refused: tuple[str, ...] = ()
    refused_to_forget: tuple[str, ...] = ()
    saved: Saved = Saved()
    accept: Sequence[str]
    refuse: Sequence[str]

    @classmethod
    def decided(cls, vault: Context, inbox: Inbox, accept: Sequence[str], refuse: Sequence[str]) -> Self:
        """Decide on others' tombstones, on the settings, and on memories that are in the vault already."""

        def ids() -> Iterator[str]:
            return (note.id for note in _notes(vault, inbox))

        graves, accept, refuse = decided_tombstones(vault, accept, refuse, ids)
        settings, accept, refuse = decided_settings(vault, accept, refuse)
        vouched, accept, saved = _vouched(vault, inbox, accept)
        decisions = (*graves, *settings)
        return cls(
            accepted=(*(decision for decision in decisions if isinstance(decision, Accepted)), *vouched),
            refused=tuple(decision for decision in decisions if isinstance(decision, str)),
            refused_to_forget=tuple(decision for decision in graves if isinstance(decision, str)),
            saved=saved, accept=accept, refuse=refuse,
        )  # fmt: skip


@verb
@looks
@of_the_whole
def review(
    vault: Context,
    *,
    accept: Sequence[str] = (),
    refuse: Sequence[str] = (),
    instead: Sequence[str] = (),
    everything: bool = False,
    join: bool = False,
    as_user: str = "",
    restore: Sequence[str] = (),
    bin: bool = False,
) -> Reviewed:
    """Look at the inbox, after accepting and refusing what is named by id, prefix or file.

    What is accepted moves into the vault as its file is now, so that a person's edit of it counts, and is committed with
    a `reviewed` signal; what is refused lies in the bin for a month, from which `restore` brings it back to wait, and which
    `bin` lists. Never there lies what looks like a secret, what a person refused consent to, and what was forgotten.
    `everything` accepts all that can be. What a model proposed from a session and is nearly another memory is accepted in
    place of that one where it is named in `instead`. What is in the vault already can be accepted too: it counts as the
    owner's from then on, so that what it says it changed or replaced is, and its pin and importance count. An understanding
    that was written before another took its place is refused, unless `join` says that it supersedes that too. With `as_user`
    a person decides on what is about them, and sees no other: what they accept has their consent, and is reviewed by nobody
    yet. Raises Refused where no person asks.
    """
    vault = _reviewer(vault, as_user, bin=bool(restore or bin))
    inbox = Inbox(vault.root)
    in_place = dict(_to_be_in_place(vault, inbox, named) for named in instead)
    accept = (*accept, *in_place)
    apart = _Apart(accept=accept, refuse=refuse) if as_user else _Apart.decided(vault, inbox, accept, refuse)
    accept, refuse = apart.accept, apart.refuse
    listing = not (as_user or bin or accept or refuse or everything or restore)
    with writing(vault, "review") as op:
        restored = _restored(vault, inbox, restore)
        notes = _waiting_notes(vault, inbox, as_user)
        before = inbox.decided()
        # What a killed review decided is not asked for again.
        named_notes = [_find(notes, named) for named in accept if before.get(canonical(named) or "") != "accepted"]
        chosen = [_changing(vault, note, in_place[note.id]) if note.id in in_place else note for note in named_notes]
        dropped = [_find(notes, named) for named in refuse if before.get(canonical(named) or "") != "refused"]
        others = [note for note in notes if not _faults(note) and note not in (*dropped, *named_notes)] if everything else []
        accepted, saved = _accept(op, inbox, _unique(chosen), _unique(others), join, dropped, as_user)
        left = _waiting_notes(vault, inbox, as_user)
        # The draft of what was forgotten is gone by now: refused, as it was asked for.
        buried = [each for each in map(canonical, refuse) if each and no_return.is_buried(vault, each)]
        lying = {draft.id for draft in DraftBin(vault.root).refused(vault.now())} if dropped else frozenset()
        return Reviewed(
            **(saved if saved.commit else replace(apart.saved, warnings=(*apart.saved.warnings, *saved.warnings))).fields(
                *(contests.unsettled(vault) if listing else ())
            ),
            accepted=(*apart.accepted, *accepted),
            refused=(*apart.refused, *(note.id for note in dropped), *(each for each in buried if before.get(each) == "refused")),
            binned=tuple(note.id for note in dropped if note.id in lying),
            kept=apart.refused_to_forget,
            restored=restored,
            in_bin=DraftBin(vault.root).count(vault.now()) if not as_user else 0,
            results=tuple(_beside_its_turn(vault, _shown(note)) for note in (_lying(vault, left) if bin else left))
            + (() if as_user or bin else tuple(others_waiting(vault))),
            unsettled=() if as_user or bin else two_texts(vault.with_withheld()),
        )


def _reviewer(vault: Context, as_user: str, *, bin: bool) -> Context:
    """The vault as the person who decides asks it. Raises Refused where no person asks, UsageError for a `bin` of another's."""
    person.require_person(vault, _ACT)
    vault.for_user(as_user)
    if as_user and bin:
        raise UsageError("what lies in the bin is the owner's to look at", f"leave {option('as_user')} out")
    return vault if as_user else person.acting(vault, _ACT)


def _to_be_in_place(vault: Context, inbox: Inbox, named: str) -> tuple[str, str]:
    """The id of a waiting memory, and that of the memory that it was found to be nearly."""
    note = _find(_notes(vault, inbox), named)
    old = note.about.context.get(INSTEAD, "")
    if not vault.index.catalog.get(old):
        raise UsageError(f"{note.path} was proposed in place of no memory that is there", "accept it as it is, or refuse it")
    return note.id, old


def _changing(vault: Context, note: _Note, old: str) -> _Note:
    """A waiting memory as it says that it changes another once it is accepted; its draft stays as it is until then."""
    changes = (Set("change_targets", [old]),)
    parsed = parse(note.path, frontmatter.edit(note.data, changes), vault.settings.types)
    return replace(note, parsed=parsed, changes=changes)


def _beside_its_turn(vault: Context, waiting: Waiting) -> Waiting:
    """A memory that a model proposed, with the words of the session that it rests on, while the client keeps them."""
    context = waiting.context
    line = context.get("line", "").removeprefix("L")
    if not (line.isdecimal() and context.get(SESSION_FILE)):
        return waiting
    words = turn_at(context[SESSION_FILE], context.get("client", ""), vault.environ, int(line))
    return replace(waiting, context={**context, "said": words}) if words else waiting


def _vouched(vault: Context, inbox: Inbox, accept: Sequence[str]) -> tuple[list[Accepted], Sequence[str], Saved]:
    """Review what is named and is in the vault already; what was, the names that mean something else, and the commit."""
    if not accept:
        return [], accept, Saved()
    notes, before, whole = _notes(vault, inbox), inbox.decided(), resolve.unrestricted(vault)
    left, entries = [], []
    finished = drafts.finished(vault)
    for named in accept:
        # What a killed review made a memory was accepted then.
        if done := [identity for identity in finished if identity.startswith(canonical(named) or as_prefix(named) or "-")]:
            left += done
            continue
        waits = before.get(canonical(named) or "") == "accepted" or any(_means(note, named) for note in notes)
        candidates = [] if waits else resolve.candidates(whole, named)
        entries += [resolve.find(whole, named)] if candidates else []
        left += [] if candidates else [named]
    if not entries:
        return [], left, Saved()
    with writing(whole, "review") as op:
        for entry in entries:
            vouching.vouch(op, entry)
        title = entries[0].title if len(entries) == 1 else f"{len(entries)} memories"
        saved = op.carry_out(title, [entry.id for entry in entries])
    return [Accepted(id=entry.id, title=entry.title, path=entry.path) for entry in entries], left, saved


@verb
@looks
def edit_waiting(vault: Context, named: str, editor: Editor | None = None, *, text: str = "", was: str = "") -> Waiting:
    """Let a person edit a waiting memory in its place; it goes on waiting, and what they left is what can be accepted.

    In place of an `editor` goes the whole `text` below its head, with the one that it was made from (`was`): StaleEdit where
    its file says something else by now.
    """
    vault = person.acting(vault, _ACT)
    inbox = Inbox(vault.root)
    note = _find(_notes(vault, inbox), named)
    if editor is not None:
        editor(vault.root / note.path)
    else:
        if not text.strip():
            raise UsageError("a memory without text says nothing", "write it, or refuse it")
        if note.parsed.body.strip("\n") != was.strip("\n"):
            raise StaleEdit(f"{note.path} was saved by somebody else since; nothing was written", "look at what it says now")
        below = frontmatter.split(note.data).body_start
        inbox.put(note.id, note.name, note.data[:below] + f"{text.strip()}\n".encode(), note.about)
    left = next((waiting for waiting in _notes(vault, Inbox(vault.root)) if waiting.name == note.name), None)
    if left is None:
        raise NotFound(f"{note.path} is gone", "its memory was not accepted")
    return _shown(left)


def short_in(results: Iterable[Waiting], identity: str) -> str:
    """The shortest prefix by which one of the waiting memories can be named."""
    return shortest_unambiguous(identity, [result.id for result in results])


def _notes(vault: Context, inbox: Inbox) -> list[_Note]:
    notes = []
    for name, data in drafts.undecided(vault):
        parsed = parse(f"{INBOX}/{name}", data, vault.settings.types)
        notes.append(_Note(name, data, parsed, inbox.about(str(parsed.head.get("id") or ""))))
    return sorted(notes, key=lambda note: (note.about.at, note.name))


def _waiting_notes(vault: Context, inbox: Inbox, user: str = "") -> list[_Note]:
    """The notes that wait (about `user`, where one is named), without those that a killed review had decided already."""
    drafts.finish_decided(vault)
    return [note for note in _notes(vault, inbox) if not user or note.parsed.head.get("user") == user]


def _unique(notes: Iterable[_Note]) -> list[_Note]:
    return list({note.id: note for note in notes}.values())


def _accept(
    op: Operation,
    inbox: Inbox,
    named: Sequence[_Note],
    others: Sequence[_Note],
    join: bool,
    dropped: Sequence[_Note],
    as_user: str = "",
) -> tuple[list[Accepted], Saved]:
    """Move notes into the vault as one operation, and refuse those that are `dropped`.

    Nothing is decided where a `named` one cannot be accepted; `others` that cannot go on waiting.
    """
    accepted, moved, remarks = [], [], []
    taken: list[Understanding] = []
    for note in (*named, *others):
        if faults := _faults(note):
            hint = f"mend it: {step('review', edited=note.name)}"
            raise UsageError(f"{note.path}:{faults[0].line}: {faults[0].message}", faults[0].hint or hint)
        try:
            replaced = _may_move(op.vault, note, taken, join)
        except Refused as fault:
            if note in named:
                raise
            remarks.append(fault.message)
            continue
        planned, data = _plan(op, note, replaced, as_user)
        accepted.append(planned)
        moved.append((note, data))
    for note, _ in moved:
        if inbox.read(note.name) != note.data:
            raise StaleEdit(f"{note.path} was changed meanwhile", "look at it again, then accept it")
    for note in dropped:
        _bin(op.vault, inbox, note, as_user)
        inbox.decide(note.id, "refused", op.vault.now())
        inbox.discard(note.id, note.name)
    if not moved:
        return [], Saved(warnings=tuple(remarks))
    title = accepted[0].title if len(accepted) == 1 else f"{len(accepted)} memories"
    # What the file in the vault will hold is put into the inbox first: after a kill the two are known to be one.
    for note, data in moved:
        _bin(op.vault, inbox, note, as_user, accepted=True)
        if data != note.data:
            inbox.put(note.id, note.name, data, note.about)
    saved = op.carry_out(title, [memory.id for memory in accepted])
    for note, data in moved:
        inbox.decide(note.id, "accepted", op.vault.now())
        inbox.discard(note.id, note.name, data)
    return accepted, replace(saved, warnings=(*saved.warnings, *remarks))


def _bin(vault: Context, inbox: Inbox, note: _Note, as_user: str, *, accepted: bool = False) -> None:
    """Keep a draft that is decided, as its file is now, where it may be kept; an older decision on it is over."""
    data = inbox.read(note.name) or note.data
    draft = DecidedDraft(note.id, note.name, data, note.about, vault.now(), accepted)
    consent = bool(as_user) or note.about.context.get("mode") == CONSENT_MODE
    record = record_in(note.path, data, vault.settings.types)
    buried = no_return.is_buried(vault, note.id) or no_return.buried_in(vault, record)
    if consent or buried or screening.looks_secret(draft.told):
        DraftBin(vault.root).discard(note.id)
    else:
        DraftBin(vault.root).keep(draft)


def _lying(vault: Context, waiting: Iterable[_Note]) -> Iterator[_Note]:
    """The drafts of the bin, but for those that wait (again)."""
    waits = {note.id for note in waiting}
    for draft in DraftBin(vault.root).refused(vault.now()):
        if draft.id not in waits:
            yield _Note(
                draft.name, draft.data, parse(f"{BIN}/{draft.name}", draft.data, vault.settings.types), draft.about, draft.at
            )


def _restored(vault: Context, inbox: Inbox, named: Sequence[str]) -> tuple[str, ...]:
    """Put drafts of the bin back to where they waited; returns their ids."""
    if not named:
        return ()
    lying = list(_lying(vault, _notes(vault, inbox)))
    chosen = _unique(
        _find(lying, name, "lies in the bin", f"{step('review', binned=True)} lists what lies there") for name in named
    )
    for note in chosen:
        if vault.index.catalog.get(note.id):
            raise Refused(f"there is a memory with the id of {note.name} already", "it was accepted meanwhile")
        no_return.refuse_id(vault, note.id, note.name, "it stays where it is for a month at most")
    for note in chosen:
        drafts.wait_again(vault, note.id, note.name, note.data, note.about)
        DraftBin(vault.root).discard(note.id)
    return tuple(note.id for note in chosen)


def _record(note: _Note) -> Record:
    assert note.parsed.record_class is not None  # `_faults` named a page
    return from_head(note.parsed.record_class, note.parsed.head, note.parsed.body)


def _may_move(vault: Context, note: _Note, taken: list[Understanding], join: bool) -> tuple[str, ...]:
    """The ids a note supersedes once it is accepted, after those that are `taken` with it; Refused where it must wait."""
    _require_new(vault, note)
    record = _record(note)
    if not isinstance(record, Understanding):
        return ()
    # Those accepted in the same review are in no index yet, and two for one place would both be active.
    place = _place(record)
    beside = [record.id for record in taken if place is not None and _place(record) == place]
    superseded = _superseded(vault, note, record, beside, join)
    taken[:] = [*(record for record in taken if record.id not in superseded), record]
    return superseded


def _place(record: Understanding) -> Place | None:
    return place_of(record.type, record.user, frozenset(map(normal_name, record.subjects)))


def _plan(op: Operation, note: _Note, superseded: tuple[str, ...], as_user: str = "") -> tuple[Accepted, bytes]:
    """Plan a note's move into the vault; its bytes stay as their person left them, but for the fields that are of today."""
    vault = op.vault
    record = _record(note)
    changes = [*note.changes]
    generation = vault.index.catalog.generation()
    if isinstance(record, Remembered) and (record.generation or 0) != generation:
        changes.append(Set("generation", generation))
    if isinstance(record, Understanding) and superseded != record.supersedes:
        changes.append(Set("supersedes", list(superseded)))
    data = frontmatter.edit(note.data, changes) if changes else note.data
    names = record.subjects if isinstance(record, Remembered) else ()
    tagging = resolve_subjects(op, names)
    path = op.create_as_written(record, data)
    op.log(record, path)
    _plan_consent(op, note, record, as_user)
    if not as_user:
        op.signal(Signal(id=new_id(), at=vault.now(), target=record.id, kind=SignalKind.REVIEWED, origin="owner"))
    _plan_edges(op, note)
    return Accepted(
        id=record.id, title=note.parsed.title, path=path, subjects_created=tagging.created, superseded=superseded
    ), data


def _plan_consent(op: Operation, note: _Note, record: Record, as_user: str) -> None:
    """Record that consent was asked for, where a turn's judge did, and that it is given now."""
    turn, asked = getattr(record, "turn", ""), note.about.context.get("mode") == CONSENT_MODE
    if asked:
        consents.record(op, record.id, ConsentState.ASKED, turn=turn, at=note.about.at)
    if asked or as_user:
        consents.record(op, record.id, ConsentState.GIVEN, as_user=as_user, turn=turn)


def _plan_edges(op: Operation, note: _Note) -> None:
    """The links that were to be written with it, where their other end is still there."""
    catalog = op.vault.index.catalog
    for text in note.about.edges:
        edge = record_in(f"{note.path}#edge", text.encode("utf-8"), op.vault.settings.types)
        if isinstance(edge, Edge) and not catalog.get(edge.id):
            ends = {edge.from_id, edge.to_id} - {note.id}
            if all(catalog.get(end) for end in ends):
                op.create(edge)


def _require_new(vault: Context, note: _Note) -> None:
    if vault.index.catalog.get(note.id):
        message = f"there is a memory with the id of {note.path} already"
        raise Refused(message, "give it an `id` of its own in an editor, or refuse it")
    record = _record(note)
    hint = f"take the id out of it: {step('review', edited=note.name)}, or refuse it"
    no_return.refuse(vault, record, note.path, hint, own="refuse it, or give it an `id` of its own")
    if isinstance(record, Observation) and (twin := repeats.twin_of(vault, record)):
        known = resolve.short(vault, twin.id)
        raise Refused(
            f"{note.path} says what {known} says already",
            f"refuse it; {step('edit', memory_id=known)} reviews the one that is there",
        )


def _superseded(vault: Context, note: _Note, record: Understanding, beside: Sequence[str], join: bool) -> tuple[str, ...]:
    """The ids an understanding supersedes today, which may be more than its writer saw."""
    placed = holding_the_place(vault, record.type, record.subjects, record.user)
    present = dict.fromkeys(entry.id for entry in placed)
    for replaced in record.supersedes:
        if vault.index.catalog.get(replaced):
            present.update(dict.fromkeys(heads_above(vault, replaced)))
    unseen = [identity for identity in (*present, *beside) if identity not in record.supersedes]
    if unseen and not join:
        shown = " and ".join(resolve.short(vault, identity) for identity in unseen)
        message = f"`{one_line(note.parsed.title, 60)}` was written before {shown} took its place"
        raise Refused(message, f"look at both; {option('join', True)} accepts it in place of that too")
    return tuple(dict.fromkeys((*record.supersedes, *unseen)))


def _find(notes: Sequence[_Note], named: str, where: str = "waits", hint: str = f"{step('review')} lists what does") -> _Note:
    """The note among those that wait, or lie in the bin, that an id, a prefix of one or a file's name means."""
    start = named.strip()
    matches = [note for note in notes if _means(note, start)]
    if not matches:
        raise NotFound(f"nothing that {where} answers to `{one_line(start, 60)}`", hint)
    if len(matches) > 1:
        raise Ambiguous(f"`{one_line(start, 60)}` could be {', '.join(note.name for note in matches[:5])}", "type more of it")
    return matches[0]


def _means(note: _Note, named: str) -> bool:
    start = named.strip()
    prefix = as_prefix(start)
    return start in (note.name, note.path) or note.id == canonical(start) or bool(prefix and note.id.startswith(prefix))


def _faults(note: _Note) -> list[Problem]:
    """Why a note cannot be accepted as it stands."""
    faults = [problem for problem in note.parsed.problems if problem.severity == "error"]
    if not faults and note.parsed.record_class is None:
        message, hint = "it lost its `id` or `type`, so it is no memory", "put the lines back, or refuse it"
        faults = [error(note.path, 1, "page", message, hint)]
    return faults


def _shown(note: _Note) -> Waiting:
    head = note.parsed.head
    fields: Mapping[str, Any] = {
        name: str(head.get(name) or "") for name in ("type", "origin", "model", "session", "user", "project")
    }
    return Waiting(
        **fields,
        id=note.id,
        record_class=note.parsed.record_class.value if note.parsed.record_class else "page",
        title=note.parsed.title or note.name,
        content=note.parsed.body.strip("\n"),
        details=details_of(head),
        subjects=tuple(map(str, head.get("subjects") or ())),
        path=note.path,
        since=note.about.at or str(head.get("created") or ""),
        reason=note.about.reason or "somebody put it here",
        context=note.about.context,
        supersedes=tuple(map(str, head.get("supersedes") or ())),
        refused_at=note.refused_at,
        problems=tuple(_faults(note)),
    )
