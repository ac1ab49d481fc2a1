"""`turn`: recall on every turn of a conversation, write only what its judge let through, and never on the response path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any, Literal

from msgspec import to_builtins

from vault_tool.errors import UsageError
from vault_tool.features.turns import candidates as extracted
from vault_tool.features.turns import logged_turns
from vault_tool.features.turns.backstop import oldest_skipped_day
from vault_tool.features.turns.gate import Gate, judged
from vault_tool.features.turns.linking import link_beats
from vault_tool.features.turns.turn_recall import Beat, recollect
from vault_tool.features.turns.turn_writer import apply_turns
from vault_tool.features.turns.turns import QueuedTurn, SkippedTurn, Turns, TurnSource
from vault_tool.files import watcher_presence
from vault_tool.model.ids import new_id
from vault_tool.util.hints import option
from vault_tool.util.text import one_line
from vault_tool.vault import review_policy, screening
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.context import Context
from vault_tool.vault.pending import Saved, caught_up
from vault_tool.vault.request import Answer, looks, of_the_whole, verb

Writes = Literal["child", "later"]

_SPACE = uuid.UUID("0c7c1a52-0f4e-5d5e-8a2f-3a8f6b1f0d11")
# The writers that this process started: kept until they have ended, or they would stay as zombies.
_CHILDREN: list[subprocess.Popen[bytes]] = []


class Turned(Answer, kw_only=True):
    """The answer to a turn: what it recalls and what becomes of it.

    `prompt` is the recalled beats as text. `accepted` candidates are safe in the local queue, where `waiting` turns wait
    to be written: by the `writer`, which is the owner of the vault, a process of its own (`child`), or whatever writes next
    (`later`).
    """

    stands_before = "degraded"

    turn_id: str
    recalled: tuple[Beat, ...]
    prompt: str
    gate: Gate
    accepted: int
    waiting: int
    writer: Literal["owner", "child", "later", ""]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE


class Drained(Saved, kw_only=True):
    """The outcome of waiting turns: ids `written`, `held` in the inbox, or `known` already; links made between beats."""

    turns: int
    written: tuple[str, ...]
    held: int
    known: int
    linked: int
    waiting: int


@verb
@looks
def turn(
    vault: Context,
    session: str,
    user: str,
    world: str,
    text: str,
    *,
    mode: str = "in_world_answer",
    risk: str = "low",
    flags: Sequence[str] = (),
    note: str = "",
    extractMemory: bool = False,
    candidates: Sequence[Mapping[str, Any]] = (),
    turn: str = "",
    limit: int = 8,
    budget: int = 600,
    write: Writes | None = None,
) -> Turned:
    """One turn of a conversation: recall the beats of its user and world, and take what the judge lets through.

    `mode`, `risk`, `flags`, `note` and `extractMemory` are the judge's; `candidates` what the caller extracted, each with
    `content` and perhaps `title, kind, anchors, location, thread, tags, importance, confidence`. Accepted ones are on the
    disk before this returns, and are written after it. The same turn given twice (same session, user, world, `turn`, text
    and candidates) is one. `budget` is in tokens; `write` overrides who writes (`turn_writes`). Without a `user` the
    session alone is remembered.
    """
    if not (session.strip() or user.strip()):
        raise UsageError(
            "a turn belongs to a session or a user, and neither is named", f"pass {option('session')} or {option('user')}"
        )
    vault.for_user(user)
    if not text.strip():
        raise UsageError("the turn has no text", "give what was said as the first argument")
    if not vault.allow_secrets:
        screening.refuse_secrets(vault, screening.named_texts(session=session, user=user, world=world, turn=turn))
    gate = judged(mode, risk, flags, note, extractMemory)
    # Before anything is recalled or kept: a turn that is refused leaves no trace.
    taken = extracted.checked(candidates, vault.settings.types)
    recollection = recollect(vault, text, user=user, world=world, session=session, limit=limit, budget=budget)
    queue = Turns(vault.root)
    at = vault.clock.now().astimezone(UTC).isoformat(timespec="microseconds")
    identity = _identity(session, user, world, turn, text, taken)
    source = TurnSource(id=identity, at=at, session=session, user=user, world=world, turn=turn, text=text)
    accepted = len(taken) if gate.memoryCandidate else 0
    _keep(vault, queue, source, gate, taken)
    # After what it tells of: a kill in between leaves a turn that the log lacks, and never one that was not.
    logged_turns.keep(vault, source, gate, extractMemory, taken, recollection, (limit, budget))
    return Turned(
        turn_id=source.id,
        recalled=recollection.beats,
        prompt=recollection.prompt,
        gate=gate,
        accepted=accepted,
        waiting=queue.count(),
        writer=_sent(vault, write) if accepted else "",
        degraded=recollection.answer.degraded,
        warnings=(review_policy.WAITS,) if accepted and gate.destination == "inbox" else (),
    )


def _keep(vault: Context, queue: Turns, source: TurnSource, gate: Gate, taken: tuple[dict[str, Any], ...]) -> None:
    """Put what the gate lets through on the disk, and keep a turn that it skipped for a second look, unless it was blocked."""
    if gate.memoryCandidate and taken:
        accepted = QueuedTurn(
            **{**to_builtins(source), "text": one_line(source.text, 2000)}, note=gate.note, mode=gate.mode, risk=gate.risk,
            held=gate.destination == "inbox", reason=gate.reason, origin=vault.who.origin, model=vault.who.model,
            candidates=taken,
        )  # fmt: skip
        queue.accept(accepted)
    elif gate.safetyStatus == "clear":
        reason = "nothing was extracted from it" if gate.memoryCandidate else gate.reason
        queue.skip(SkippedTurn(**to_builtins(source), reason=reason, flags=gate.flags), oldest_skipped_day(vault))


@verb
@of_the_whole
def drain(vault: Context, *, link: bool = True) -> Drained:
    """Write all turns that wait, a commit a batch, and (`link`) the links of what was written; nothing is written twice."""
    written: list[str] = []
    counts = {"turns": 0, "held": 0, "known": 0}
    saved = Saved()
    queue = Turns(vault.root)
    # With an empty queue too: what a writer wrote before it was killed still waits for its commit.
    while queue.count() or vault.local.pending():
        with caught_up(vault, "turn"):
            batch, done = apply_turns(vault)
        if not batch.turns:
            break
        saved = done if batch.written else saved
        written += batch.written
        counts["turns"] += len(batch.turns)
        counts["held"] += len(batch.held)
        counts["known"] += len(batch.known)
    linked = link_beats(vault, written=written).linked if link and written else 0
    warnings = (review_policy.WAITS,) if counts["held"] else ()
    return Drained(
        **saved.fields(*warnings),
        turns=counts["turns"],
        held=counts["held"],
        known=counts["known"],
        written=tuple(written),
        linked=linked,
        waiting=queue.count(),
    )


def _identity(session: str, user: str, world: str, turn: str, text: str, taken: Sequence[Mapping[str, Any]]) -> str:
    """The id of a turn: the same for a repeat of a numbered turn, a new one for a turn without a number."""
    # Unnumbered turns may well say the same twice, and mean it.
    if not turn:
        return new_id()
    return str(uuid.uuid5(_SPACE, json.dumps([session, user, world, turn, text, taken], sort_keys=True)))


def _sent(vault: Context, write: Writes | None) -> Literal["owner", "child", "later"]:
    """Have the accepted turns written: by the owner where one is at work, else by a process started here. Says by which.

    The next write does it where that is wished, where no process may run, and where none can be started.
    """
    if (write or vault.settings.turn_writes) != "child":
        return "later"
    if watcher_presence.owner(vault.root) is not None:
        return "owner"
    if vault.machine.owner == "off":
        return "later"
    # Asking a child how it is takes an ended one off the system's list.
    _CHILDREN[:] = [child for child in _CHILDREN if child.poll() is None]
    # `-P`: a file called vault_tool.py in the current folder must not be what is started.
    command = [sys.executable, "-P", "-m", "vault_tool", "--vault", str(vault.root), "turn", "--drain"]
    flags = getattr(subprocess, "DETACHED_PROCESS", 0)
    nowhere = subprocess.DEVNULL
    try:
        child = subprocess.Popen(
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=os.name != "nt", creationflags=flags
        )
    except OSError:
        return "later"
    _CHILDREN.append(child)
    return "child"
