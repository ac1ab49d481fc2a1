"""`consent` and `list_consents`: what the people whom memories are about were asked and answered, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vault_tool.errors import NotFound, UsageError
from vault_tool.features.erasing import erasing
from vault_tool.features.remember.judging import judged, mark_signal
from vault_tool.files import bin as draft_bin
from vault_tool.files.parse import parse
from vault_tool.generate.escape import link_path
from vault_tool.model.consent import Consent, ConsentRecord, consent_of
from vault_tool.model.signals import ConsentState, SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import generated_pages, person, resolve, screening, vector_upkeep
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import Answer, looks, verb

if TYPE_CHECKING:
    from vault_tool.files.bin import DecidedDraft

ANSWERS = (ConsentState.GIVEN, ConsentState.REFUSED, ConsentState.WITHDRAWN)

_ACT = "answer for consent"


class Consented(Saved, kw_only=True):
    """A memory's consent now: `withheld` says that no reader is shown it, `citing` are the ids of memories that repeat it."""

    id: str
    title: str
    state: ConsentState | None
    withheld: bool
    records: tuple[ConsentRecord, ...]
    citing: tuple[str, ...]
    path: str


class ConsentOf(Struct, kw_only=True):
    """One memory with the consent to it."""

    id: str
    title: str
    user: str
    state: ConsentState | None
    withheld: bool
    records: tuple[ConsentRecord, ...]


class Consents(Answer, kw_only=True):
    """The answer of `list_consents`, those that were answered or asked last first."""

    results: tuple[ConsentOf, ...]


@verb
@looks
def consent(vault: Context, memory_id: str, state: str, *, as_user: str = "", turn: str = "", reason: str = "") -> Consented:
    """Record that consent to a memory was asked for, given, refused or withdrawn, by whom and in which turn.

    A memory whose consent was refused or withdrawn is told to nobody, in no answer, page or packet, until it is given: the
    vault's owner alone sees it by its id. The note stays as it is. The owner answers for everybody, and with `as_user` a
    person for the memories that are about them, which a product sets that knows who is speaking. An agent may only say that
    it asked. Raises UsageError for a state that is none, Refused for an answer where no person asks.
    """
    new_state = _state(state)
    if not vault.allow_secrets:
        screening.refuse_secrets(vault, screening.named_texts(reason=reason, turn=turn, as_user=as_user))
    if as_user:
        person.require_person(vault, _ACT)
    elif new_state in ANSWERS:
        vault = person.acting(vault, _ACT)
    home = _for(vault, as_user)
    with writing(home, f"consent-{new_state.value}") as op:
        entry = _own(home, memory_id, as_user) if as_user else judged(home, memory_id)
        record(op, entry.id, new_state, as_user=as_user, turn=turn, reason=reason)
        saved = op.carry_out(entry.title, [entry.id])
    now = _consent(home, entry)
    unmade = list(made_anew_without(home, entry)) if now.withheld else []
    if now.withheld:
        _empty_bin(home, entry)
        unmade += vector_upkeep.withdraw(home, entry.path)
    citing = tuple(note.id for field, note in home.index.catalog.pointing_at(entry.id, ("sources",))) if now.withheld else ()
    remarks = [
        f"{resolve.short(home, identity)} was made from it, and may repeat it: that is yours to mend" for identity in citing
    ]
    return Consented(
        **saved.fields(*remarks, *unmade), id=entry.id, title=entry.title, state=now.state,
        withheld=now.withheld, records=now.records, citing=citing, path=entry.path,
    )  # fmt: skip


def _empty_bin(vault: Context, entry: Entry) -> None:
    """Remove the decided drafts that repeat a memory which is now withheld, and those about the same person."""
    lying = draft_bin.DraftBin(vault.root)
    if not lying.drafts(vault.now()):
        return
    traces, user = erasing.traces_of(vault, {entry.id: [entry]}, []), entry.text("user")

    def told_of(draft: DecidedDraft) -> bool:
        theirs = user and parse(draft.name, draft.data, vault.settings.types).head.get("user") == user
        return bool(theirs) or traces.mentioned_in(draft.told)

    lying.forget(told_of)


def made_anew_without(vault: Context, entry: Entry) -> Iterator[str]:
    """Regenerate the pages that show a memory which is now withheld; remarks on those that cannot be."""
    # By the vault itself, as a timer would: the page is of everything that may be told.
    yield from generated_pages.make_anew(vault.served(), lambda text: link_path(entry.path) in text or entry.title in text)


@verb
@looks
def list_consents(vault: Context, *, state: str = "", as_user: str = "") -> Consents:
    """The memories whose consent was asked for or answered, with all records; of one `state`, or with `as_user` a person's own.

    Those that are told to nobody are named to the vault's owner, and to whom they are about, alone.
    """
    asked_state = _state(state) if state else None
    home = _for(vault, as_user)
    listed = (
        consented
        for consented in _all(home)
        if asked_state in (None, consented.state) and (not as_user or consented.user == as_user)
    )
    results = tuple(sorted(listed, key=lambda consented: consented.records[-1].at, reverse=True))
    return Consents(results=results)


def record(
    op: Operation, target: str, state: ConsentState, *, as_user: str = "", turn: str = "", reason: str = "", at: str = ""
) -> None:
    """Plan one consent record; `at` is when, by default now."""
    signal = mark_signal(op.vault, target, SignalKind.CONSENT, reason)
    op.signal(replace(signal, consent=state.value, answered_by=as_user, turn=turn, at=at or signal.at))


def _state(text: str) -> ConsentState:
    if text not in list(ConsentState):
        raise UsageError(f"`{one_line(text, 40)}` is no answer", f"say {', '.join(ANSWERS)}, or {ConsentState.ASKED}")
    return ConsentState(text)


def _for(vault: Context, as_user: str) -> Context:
    """The vault as whoever answers may see it: a person what is theirs, the owner everything."""
    vault.for_user(as_user)
    # What is theirs is theirs to see also where nobody is told of it; that nothing else is touched is asked of each.
    return vault.with_withheld() if as_user and person.is_person(vault) else resolve.unrestricted(vault)


def _own(vault: Context, named: str, user: str) -> Entry:
    """The memory about `user` that is meant; what else answers to the name is neither found nor told of."""
    matches = [entry for entry in resolve.candidates(vault, named.strip()) if entry.text("user") == user]
    if len({entry.id for entry in matches}) != 1:
        counted = "several memories" if matches else "no memory"
        message = f"`{one_line(named, 60)}` means {counted} about {one_line(user, 40)}"
        raise NotFound(message, f"{step('consent', as_user=one_line(user, 40))} lists those that were asked about, by their ids")
    return matches[0]


def _consent(vault: Context, entry: Entry) -> Consent:
    return consent_of(entry, vault.index.catalog.signals(entry.id))


def _all(vault: Context) -> Iterator[ConsentOf]:
    catalog = vault.index.catalog
    for target in catalog.consented():
        entries: Sequence[Entry] = catalog.get(target)
        for entry in entries[:1]:
            consented = _consent(vault, entry)
            yield ConsentOf(
                id=entry.id, title=entry.title, user=entry.text("user"), state=consented.state, withheld=consented.withheld,
                records=consented.records,
            )  # fmt: skip
