"""Consent: whether the person whom a memory is about was asked, and what they answered; a fold over its consent records."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.model.signals import REFUSALS, ConsentState, Signal, SignalKind
from vault_tool.model.snapshot import Entry, is_from_others
from vault_tool.util.structs import Struct

_OWNER = "owner"


class ConsentRecord(Struct, kw_only=True):
    """One consent record: who answered (a user, or `owner`; empty for a question), when, in which turn.

    `counts` is false for an answer of somebody who may not give it.
    """

    state: ConsentState
    by: str
    at: str
    turn: str
    reason: str
    counts: bool


class Consent(Struct):
    """The consent records of one memory, oldest first."""

    records: tuple[ConsentRecord, ...] = ()

    @property
    def state(self) -> ConsentState | None:
        """The last answer that counts, else that it was asked, else None."""
        counted = [record.state for record in self.records if record.counts]
        answers = [state for state in counted if state is not ConsentState.ASKED]
        return answers[-1] if answers else ConsentState.ASKED if counted else None

    @property
    def withheld(self) -> bool:
        """Whether the memory is withheld from all, for the last answer was no."""
        return self.state in REFUSALS


def consent_of(entry: Entry, signals: Iterable[Signal]) -> Consent:
    """The consent to a memory by the records among its `signals` (each id once), in the order of their times."""
    records = (signal for signal in signals if signal.kind is SignalKind.CONSENT)
    # A question comes before an answer of the same second.
    ordered = sorted(records, key=lambda record: (record.at, record.consent != ConsentState.ASKED, record.id))
    return Consent(tuple(_record(entry, signal) for signal in ordered))


def _record(entry: Entry, signal: Signal) -> ConsentRecord:
    state = ConsentState(signal.consent)
    by = "" if state is ConsentState.ASKED else signal.answered_by or signal.origin
    return ConsentRecord(
        state=state, by=by, at=signal.at, turn=signal.turn, reason=signal.rationale, counts=_counts(entry, signal, state)
    )


def _counts(entry: Entry, signal: Signal, state: ConsentState) -> bool:
    """Whether a record's author may give it.

    A memory's user answers for it, and the vault's owner. What a pull brought answers for what a pull brought alone: else
    one line of somebody's would take a person's own memories out of every answer.
    """
    if is_from_others(signal.origin) and not entry.pulled:
        return False
    if state is ConsentState.ASKED:
        return True
    if signal.answered_by:
        return signal.answered_by == entry.text("user")
    return signal.origin == _OWNER or is_from_others(signal.origin)
