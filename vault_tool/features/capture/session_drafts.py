"""Drafts from sessions that ended: a model is asked what is worth keeping, and what passes all checks waits for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec.structs import replace

from vault_tool.errors import Refused, UsageError, VaultError
from vault_tool.features.capture import capture_log
from vault_tool.features.capture.answer_checks import NotAsAsked, Proposal, checked
from vault_tool.features.capture.asking_lock import alone
from vault_tool.features.capture.capture_log import Reading, State, of_session, readings, state_of
from vault_tool.features.capture.capture_settings import DRAFT, CaptureSettings, settings_of
from vault_tool.features.capture.ended_sessions import EndedSession, ended_sessions
from vault_tool.features.capture.judge import JudgeFault
from vault_tool.features.capture.judges import judge_of
from vault_tool.features.capture.session_digest import RULES, SCHEMA, Digest, digest_of
from vault_tool.features.capture.session_files import (
    CLIENTS,
    FEWEST_TURNS,
    INSTEAD,
    SESSION_FILE,
    ReadSoFar,
    SessionText,
    read_session,
)
from vault_tool.features.capture.signs import pointed
from vault_tool.model.ids import derived_id
from vault_tool.model.records import Observation
from vault_tool.util.structs import Struct
from vault_tool.util.text import tokens
from vault_tool.vault import repeats, resolve, review_policy
from vault_tool.vault.context import Context
from vault_tool.vault.folder_project import project_of
from vault_tool.vault.new_observation import NewObservation, append_operation, draft_of, resolve_subjects
from vault_tool.vault.similar import near

# While so many memories wait for a person, no more are proposed.
MOST_WAITING = 30

# From this likeness on a memory of the same type says the same.
SAME = 0.85

# Tokens that an answer is reckoned at before it is there.
_ANSWER_TOKENS = 400

VERB = "capture"
REASON = "a model proposes it from a session"


class DraftOutcome(Struct):
    """The outcome of one look: a session was `read`, or why nothing is to be done now; `more` sessions may wait."""

    read: Reading | None = None
    why: str = ""
    more: bool = False


def why_not(vault: Context, settings: CaptureSettings, state: State, expected: int = 0) -> str:
    """Why no model is asked now, in a few words; empty where one may be."""
    if state.why:
        return state.why
    if state.calls >= settings.calls:
        return f"{state.calls} of {settings.calls} calls today: the rest waits for tomorrow"
    if state.tokens + expected > settings.tokens or not settings.tokens:
        return f"{state.tokens:,} of {settings.tokens:,} tokens today: the rest waits for tomorrow"
    if (waiting := review_policy.waiting(vault)) >= MOST_WAITING:
        return f"{waiting} memories wait for review: none are proposed until fewer do"
    return ""


def is_due(vault: Context) -> bool:
    """Whether a session may be read now. No client's file is looked at for that."""
    settings = settings_of(vault.root)
    if settings.mode != DRAFT:
        return False
    now = vault.clock.now()
    log = readings(vault.root)
    due = next(_unread(vault, settings, log, now), None)
    return due is not None and not why_not(vault, settings, state_of(log, now))


def draft_next(vault: Context) -> DraftOutcome:
    """Read the session that ended first and was not read, and keep what a model proposes of it as drafts.

    Sessions in which next to nothing was said are passed over. Raises VaultError where nothing can be noted.
    """
    settings = settings_of(vault.root)
    if settings.mode != DRAFT:
        return DraftOutcome(why="drafts are off")
    with alone() as lock:
        if lock is None:
            return DraftOutcome(why="another process asks", more=True)
        now = vault.clock.now()
        log = readings(vault.root)
        for ended in _unread(vault, settings, log, now):
            before, _ = of_session(log, ended.session, ended.at)
            if reason := why_not(vault, settings, state_of(log, now)):
                return DraftOutcome(why=reason)
            begun = Reading(at=vault.now(), session=ended.session, by=settings.by, ended=ended.at)
            try:
                text = read_session(ended.file, ended.client, vault.environ, since=before, errors=True)
            except VaultError as fault:
                _passed(vault, ended, replace(begun, what="read", why=capture_log.why_text(str(fault)), asked=False), now)
                continue
            begun = replace(begun, bytes=text.read.bytes, lines=text.read.lines)
            if text.fault or text.of_person < FEWEST_TURNS:
                _passed(
                    vault, ended, replace(begun, what="read", why=text.fault or "too few turns of a person", asked=False), now
                )
                continue
            return _asked(vault, settings, ended, text, begun, lock)
        return DraftOutcome()


def _asked(
    vault: Context, settings: CaptureSettings, ended: EndedSession, text: SessionText, begun: Reading, lock: int
) -> DraftOutcome:
    """Ask a model about one session; noted before, and after."""
    now = vault.clock.now()
    writer = vault.as_(
        origin="agent", session=ended.session, model=settings.by, user=ended.user, project=project_of(vault, ended.folder)
    )
    writer.fresh()
    digest = digest_of(writer, text.turns, pointed(text.turns))
    expected = tokens(RULES) + tokens(digest.text) + _ANSWER_TOKENS
    if reason := why_not(vault, settings, state_of(readings(vault.root), now), expected):
        return DraftOutcome(why=reason)
    begun = replace(begun, tokens=expected)
    capture_log.note(vault.root, begun, now)
    try:
        judge = judge_of(settings, vault.machine, lock)
        judgement = judge.ask(RULES, digest.text, SCHEMA)
        answer = checked(judgement.text, digest, sorted(vault.owners().addresses))
    except (JudgeFault, NotAsAsked, UsageError) as fault:
        failed = replace(
            begun, at=vault.now(), what="failed", why=capture_log.why_text(str(fault)), stops=getattr(fault, "stops", False)
        )
        capture_log.note(vault.root, failed, vault.clock.now())
        return DraftOutcome(failed)
    drafts, outcomes = 0, Counter(answer.refused)
    for proposal in answer.proposals:
        outcome = _kept(writer, ended, digest, proposal)
        drafts += outcome == ""
        outcomes[outcome] += outcome != ""
    known = outcomes.pop(_KNOWN, 0)
    outcomes.pop("", 0)
    read = replace(
        begun, at=vault.now(), what="read", tokens=max(judgement.tokens, expected - _ANSWER_TOKENS + tokens(judgement.text)),
        drafts=drafts, known=known, refused=dict(outcomes),
    )  # fmt: skip
    capture_log.note(vault.root, read, vault.clock.now())
    _put_away(ended)
    return DraftOutcome(read, more=True)


_KNOWN = "known already"


def _kept(vault: Context, ended: EndedSession, digest: Digest, proposal: Proposal) -> str:
    """Keep a proposal as a draft; else why not, in a few words."""
    line = f"L{proposal.turn.line}"
    try:
        with append_operation(vault, VERB) as op:
            new = NewObservation(
                proposal.content, kind=proposal.kind, confidence=proposal.confidence,
                evidence=(f"session:{ended.session}#{line}",),
            )  # fmt: skip
            draft = _of_session(vault, draft_of(vault, new), ended.session, proposal)
            names = resolve_subjects(op, proposal.subjects).names
            draft = replace(draft, subjects=names)
            if repeats.twin_of(vault, draft) is not None:
                return _KNOWN
            alike = next(iter(near(vault, draft.body, draft.type)), None)
            if alike is not None and alike.likeness >= SAME and alike.same_type:
                return _KNOWN
            instead = digest.known[proposal.replaces].id if proposal.replaces else alike.id if alike is not None else ""
            context = {"client": ended.client, SESSION_FILE: ended.file, "line": line}
            if instead:
                context[INSTEAD] = instead
            held = review_policy.hold(vault, draft, REASON, context, verb=VERB)
            return _KNOWN if held.duplicate_of else ""
    except Refused:
        return "refused as any other would be"
    except UsageError:
        return "not of the form"


def _of_session(vault: Context, draft: Observation, session: str, proposal: Proposal) -> Observation:
    """A draft with its place in the session, and the id that follows from it: two machines that read it make one."""
    label = f"capture/{session}/{proposal.turn.line}/{proposal.kind}"
    return replace(draft, id=derived_id(resolve.workspace_id(vault), label), turn=f"L{proposal.turn.line}")


def _unread(vault: Context, settings: CaptureSettings, log: Sequence[Reading], now: datetime) -> Iterator[EndedSession]:
    for ended in ended_sessions(vault.root, settings, vault.who.user, now.timestamp()):
        if ended.client not in CLIENTS:
            continue
        if of_session(log, ended.session, ended.at)[1]:
            _put_away(ended)
        else:
            yield ended


def unread(vault: Context, settings: CaptureSettings) -> int:
    """How many sessions wait to be read."""
    now = vault.clock.now()
    return sum(1 for _ in _unread(vault, settings, readings(vault.root), now))


def _passed(vault: Context, ended: EndedSession, reading: Reading, now: datetime) -> None:
    """Note that a session was read without a model; what cannot be read is told once."""
    capture_log.note(vault.root, reading, now)
    _put_away(ended)


def _put_away(ended: EndedSession) -> None:
    """Take a note away once it is used up: the next session was told of it, and it was read."""
    if ended.is_told:
        ended.note.unlink(missing_ok=True)


def preview(vault: Context, path: str, client: str) -> tuple[Digest, SessionText]:
    """The digest that would be sent of a session's file, whatever was read of it before."""
    text = read_session(path, client, vault.environ, since=ReadSoFar(), errors=True)
    vault.fresh()
    return digest_of(vault, text.turns, pointed(text.turns)), text
