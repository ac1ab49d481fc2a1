"""Judgements and use, and the day's log: what the append-only journals hold, as frozen values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from vault_tool.model.snapshot import is_from_others
from vault_tool.util.structs import Struct

# So many uses of one memory on one day are believed of a journal's line.
MOST_USES = 1_000_000


class SignalKind(StrEnum):
    """The kinds of signal about a memory."""

    USEFUL = "useful"
    QUESTIONABLE = "questionable"
    TRUTH = "truth"
    UTILITY = "utility"
    USE = "use"
    REVIEWED = "reviewed"
    CONSENT = "consent"
    WITHDRAWN = "withdrawn"


class ConsentState(StrEnum):
    """The states of a consent record."""

    ASKED = "asked"
    GIVEN = "given"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


# The answers after which a memory is told to nobody.
REFUSALS = (ConsentState.REFUSED, ConsentState.WITHDRAWN)


class Signal(Struct, kw_only=True):
    """One line of `signals/YYYY-MM.<writer>.jsonl`; ordered by `(at, id)` whatever file it stands in.

    `value` is a target in 0..1 for truth and utility, and a count for `use` (accesses of one memory on one day).
    `consent`, `answered_by` and `turn` are a consent's: a state of `model.consent`, the user who answered (empty: the vault's
    owner), and the turn that asked. `withdraws` is the id of the signal that one of the kind `withdrawn` takes back.
    """

    id: str
    at: str
    target: str
    kind: SignalKind
    value: float = 1.0
    confidence: float | None = None
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    problem: str = ""
    session: str = ""
    model: str = ""
    origin: str = ""
    user: str = ""
    consent: str = ""
    answered_by: str = ""
    turn: str = ""
    withdraws: str = ""

    @property
    def author(self) -> str:
        """The author of a signal: a person is one author, also one whose lines were pulled; an agent is one author a model."""
        return self.origin if self.origin == "owner" or is_from_others(self.origin) else f"{self.origin or 'agent'}:{self.model}"


def withdrawals(ordered: Sequence[Signal]) -> Mapping[str, Signal]:
    """The signals that were taken back, by id, each with one that takes it back.

    The owner takes back anybody's, others their own. A taking back can itself be taken back; what goes round in a circle
    takes back nothing. What was said of consent is never taken back: another answer follows it.
    """
    if not any(signal.kind is SignalKind.WITHDRAWN for signal in ordered):
        return {}
    known = {signal.id: signal for signal in ordered}
    taking: dict[str, str] = {}
    for signal in ordered:
        target = known.get(signal.withdraws) if signal.kind is SignalKind.WITHDRAWN else None
        if target is None or target.kind is SignalKind.CONSENT:
            continue
        if signal.origin == "owner" or signal.author == target.author:
            taking[signal.id] = target.id
    undecided = Counter(taking.values())
    decided = [identity for identity in taking if identity not in undecided]
    by_target: dict[str, Signal] = {}
    while decided:
        identity = decided.pop()
        target_id = taking[identity]
        if identity not in by_target:
            by_target.setdefault(target_id, known[identity])
        undecided[target_id] -= 1
        if not undecided[target_id] and target_id in taking:
            decided.append(target_id)
    return by_target


class Use(Struct, kw_only=True):
    """One access of a memory, known to this machine alone until a commit carries its day's sum as a signal."""

    at: str
    target: str
    session: str = ""


class EpisodeEntry(Struct, kw_only=True):
    """One entry of a day's log: `at` is UTC, `path` is relative to the vault's root (empty for a note of its own).

    `session` is the conversation that it tells of; empty where nobody said.
    """

    at: str
    title: str
    type: str = ""
    tags: tuple[str, ...] = ()
    path: str = ""
    session: str = ""
    summary: str = ""
