"""The gate of a turn: what follows from the judge's five fields; derived in code, never asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from vault_tool.errors import UsageError
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

Mode = Literal["in_world_answer", "memory_consent", "safe_redirect"]
Risk = Literal["low", "medium", "high"]
# A turn of this mode asks the person whether what it gives may be kept.
CONSENT_MODE: Mode = "memory_consent"

SafetyStatus = Literal["clear", "blocked"]
Destination = Literal["vault", "inbox", "nowhere"]


class Gate(Struct, kw_only=True):
    """The decision on what a turn may write, with its reason.

    `extractMemory` is the judge's as it counts: mode `safe_redirect` sets it to false, and `reason` then says so.
    `safetyStatus` is blocked in mode `safe_redirect` and at high risk. `reviewRequired` is any risk but low.
    `memoryCandidate` says that what was extracted is taken: the judge wanted memory, and the mode is not `safe_redirect`,
    which forbids it whatever it wanted. `destination` is where it goes: what needs consent or review, and so all of a
    turn of high risk, goes to the inbox, where a person decides.
    """

    mode: Mode
    risk: Risk
    flags: tuple[str, ...]
    note: str
    extractMemory: bool
    safetyStatus: SafetyStatus
    reviewRequired: bool
    memoryCandidate: bool
    destination: Destination
    reason: str


def judged(
    mode: str = "in_world_answer", risk: str = "low", flags: Sequence[str] = (), note: str = "", extract: bool = False
) -> Gate:
    """The gate for the judge's fields; raises UsageError for an unknown mode or risk."""
    modes: tuple[Mode, ...] = get_args(Mode)
    risks: tuple[Risk, ...] = get_args(Risk)
    chosen = next((known_mode for known_mode in modes if known_mode == mode), None)
    level = next((known_risk for known_risk in risks if known_risk == risk), None)
    if chosen is None:
        raise UsageError(f"`{one_line(mode, 40)}` is no mode", f"the modes are {', '.join(modes)}")
    if level is None:
        raise UsageError(f"`{one_line(risk, 40)}` is no risk", f"the risks are {', '.join(risks)}")
    blocked = chosen == "safe_redirect" or level == "high"
    # A judge that redirects and asks for memory contradicts itself, and the careful half wins.
    candidate = bool(extract) and chosen != "safe_redirect"
    held = chosen == CONSENT_MODE or level != "low"
    return Gate(
        mode=chosen,
        risk=level,
        flags=tuple(flags),
        note=note,
        extractMemory=candidate,
        safetyStatus="blocked" if blocked else "clear",
        reviewRequired=level != "low",
        memoryCandidate=candidate,
        destination="nowhere" if not candidate else "inbox" if held else "vault",
        reason=_reason(chosen, level, bool(extract)),
    )


def _reason(mode: Mode, risk: Risk, extract: bool) -> str:
    if mode == "safe_redirect":
        overruled = ": the judge's extractMemory was set to false" if extract else ""
        return f"a redirected turn is never remembered{overruled}"
    if not extract:
        return "nothing in the turn was judged worth remembering"
    if mode == CONSENT_MODE:
        return "the turn asks for consent: a person decides"
    return "a risk that is not low is reviewed by a person" if risk != "low" else "worth remembering"
