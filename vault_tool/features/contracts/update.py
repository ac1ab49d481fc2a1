"""`update`: move the truth or the utility of a memory, a bounded step at a time; the memory itself stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from vault_tool.belief.fold import Move
from vault_tool.features.contracts.meaning import RequestChecker, scope_of
from vault_tool.features.contracts.schemas import require_shape
from vault_tool.features.remember.judging import mark_signal, moved, superseded_remark
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import pinned_to_head
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import verb

_KINDS = {"truth": SignalKind.TRUTH, "utility": SignalKind.UTILITY}


class Updated(Saved, kw_only=True):
    """The outcome of an update or of its dry run: each value before and after, in 0..1, the step and its reason.

    With a problem `utility` is the utility for that problem, and `global_utility` what becomes of the overall one.
    """

    ok: bool = True
    memory_id: str
    mode: str
    truth: Move | None = None
    utility: Move | None = None
    global_utility: Move | None = None
    context_problem_id: str | None = None
    scope: str = "repo"


@verb
def update(
    vault: Context,
    memory_id: str,
    *,
    truth: Mapping[str, Any] | None = None,
    utility: Mapping[str, Any] | None = None,
    mode: str = "commit",
    repo_id: str | None = None,
) -> Updated:
    """Move truth or utility, by the contract `memory.update.request`; `mode` dry_run says only what would happen.

    Each of the two is `{target, confidence, rationale, evidence_refs}`, numbers in 0..1; truth needs evidence, utility
    may name a `context_problem_id`. Raises InvalidRequest with every fault at once.
    """
    updates = {name: dict(value) for name, value in (("truth", truth), ("utility", utility)) if value is not None}
    request = {"op": "update", "repo_id": repo_id or "", "memory_id": memory_id, "mode": mode, "updates": updates}
    require_shape(request)
    return updated(vault, {**request, "repo_id": repo_id})


def updated(vault: Context, request: Mapping[str, Any]) -> Updated:
    """Carry out a request whose shape is right; raises InvalidRequest for one that cannot be meant."""
    meaning = RequestChecker(vault)
    meaning.repo(request["repo_id"])
    meaning.look()
    home = resolve.vault_holding(vault, request["memory_id"])
    entry = meaning.memory(home, "/memory_id", request["memory_id"])
    for name, change in _wanted(request).items():
        meaning.evidence(home, ("updates", name, "evidence_refs"), change.get("evidence_refs", ()))
    problem = _problem(meaning, home, request)
    meaning.require()
    assert entry is not None  # what was not found is a fault
    if request["mode"] == "dry_run":
        return _moves(home, entry, request, _signals(home, entry, request, problem))
    with writing(home, "update") as op:
        # Made anew under the lock: another judgement may have moved the value since it was looked at.
        signals = _signals(home, entry, request, problem)
        outcome = _moves(home, entry, request, signals)
        for signal in signals:
            # What is within reach of its target already is left alone: nothing is written for it.
            if any(move is not None and move.step for move in _steps(outcome, signal.kind)):
                op.signal(signal)
        saved = op.carry_out(entry.title, [entry.id])
    return replace(outcome, **saved.fields(*outcome.warnings))


def _problem(meaning: RequestChecker, home: Context, request: Mapping[str, Any]) -> str:
    """The id of the problem that a utility is for: of this vault, also for a global memory, or of the memory's own."""
    named = _wanted(request).get("utility", {}).get("context_problem_id", "").strip()
    if not named:
        return ""
    local = resolve.candidates(meaning.vault, named) or home is meaning.vault
    resolved = meaning.problem(meaning.vault if local else home, "/updates/utility/context_problem_id", named)
    return resolved.id if resolved else ""


def _wanted(request: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {name: request["updates"][name] for name in _KINDS if name in request["updates"]}


def _signals(home: Context, entry: Entry, request: Mapping[str, Any], problem: str) -> list[Signal]:
    signals = []
    for name, change in _wanted(request).items():
        base = mark_signal(home, entry.id, _KINDS[name], change["rationale"], problem if name == "utility" else "")
        references = pinned_to_head(home, change.get("evidence_refs", ()))
        signals.append(replace(base, value=float(change["target"]), confidence=float(change["confidence"]), evidence=references))
    return signals


def _moves(home: Context, entry: Entry, request: Mapping[str, Any], signals: Sequence[Signal]) -> Updated:
    moves = {signal.kind: moved(home, entry, signal) for signal in signals}
    local = next((signal for signal in signals if signal.problem), None)
    return Updated(
        memory_id=entry.id, mode=request["mode"], truth=moves.get(SignalKind.TRUTH), utility=moves.get(SignalKind.UTILITY),
        global_utility=moved(home, entry, replace(local, problem="")) if local else None,
        context_problem_id=local.problem if local else None, scope=scope_of(home),
        warnings=tuple(superseded_remark(home, entry)),
    )  # fmt: skip


def _steps(outcome: Updated, kind: SignalKind) -> tuple[Move | None, ...]:
    """The moves a judgement causes: in its own value, and for a utility in a problem's context in the overall one."""
    return (outcome.truth,) if kind is SignalKind.TRUTH else (outcome.utility, outcome.global_utility)
