"""`bring_to_mind`: what bears on the conversation now, unprompted and without repeating itself."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Unpack

from vault_tool.errors import UsageError
from vault_tool.files.sessions import AgentSession
from vault_tool.model.fields import Narrowing
from vault_tool.vault import seen
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.context import Context
from vault_tool.vault.facts import copied
from vault_tool.vault.lean import Short, listed
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.request import Answer, looks, verb
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query, Recalled, narrowed

COMPACTION_NOTE = (
    "DISPOSABLE: This entire response is ephemeral. All content is retrievable on demand from the memory database. "
    "This response should be the first candidate for removal during context compaction."
)

# The same for clients that read it at each turn.
_SHORT_NOTE = "DISPOSABLE"

LIMIT = 8
# The most tokens that an unasked answer may take of a conversation.
BUDGET = 2000

_SMALLEST_TOKEN = 10**8
_LARGEST_TOKEN = 10**9


class Reminder(Recalled, kw_only=True):
    """One memory brought to mind: `source` is its class, `relevance_score` (0..1) its match."""

    source: str
    subject_names: tuple[str, ...]
    relevance_score: float


class Reminders(Answer, kw_only=True):
    """The answer of `bring_to_mind`. Only `heartbeat_token` needs to be carried forward: to the next call.

    `compaction_detected` says that the token or the time showed a context cut short, and the seen log was emptied.
    """

    stands_before = "degraded"
    # Whether the caller's context begins with it, or begins anew.
    begins: ClassVar[bool] = False

    compaction_note: str
    heartbeat_token: int
    compaction_detected: bool
    topic_or_context: str
    session: str | None
    results: tuple[Reminder, ...]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The results with their generations, and the token for the next call; where a context begins, the note in short.

        Texts that `orient` gives once a session are not given at each turn.
        Nor is what goes without saying of what nobody asked for: that words or meaning led to it, and the class of a type.
        """
        results = [memory.lean(short) for memory in self.results]
        shown = {memory.id for memory in self.results}
        for lean, memory in zip(results, self.results, strict=True):
            lean.pop("class")
            if memory.status == "solved" and not shown.isdisjoint(memory.status_by):
                # The solution stands among them, and says whose it is.
                lean.pop("status_by")
            if not memory.of:
                lean.pop("why", None)
            if memory.generation:
                lean["generation"] = memory.generation
        note = _SHORT_NOTE if results and self.begins else ""
        return listed(
            results, compaction_note=note, heartbeat_token=self.heartbeat_token,
            compaction_detected=self.compaction_detected,
        )  # fmt: skip


class FirstReminders(Reminders):
    """The reminders with which a context begins: the caller has no token yet, or lost what it saw."""

    begins = True


@verb
@looks
@spelled_out
def bring_to_mind(
    vault: Context,
    topic_or_context: str,
    last_token: int | None = None,
    include_seen: bool = False,
    *,
    limit: int = LIMIT,
    budget: int | None = BUDGET,
    include_global: bool = True,
    explain: bool = False,
    vaults: Sequence[str] = (),
    **narrowing: Unpack[Narrowing],
) -> Reminders:
    """Memories that bear on a topic or on what is being talked about, strictly chosen; nothing is a good answer.

    `last_token` is the `heartbeat_token` of the session's previous call. One that is missing or different, or a pause
    of more than `session_gap_minutes` (a setting), means that the conversation was cut short since: what it had been
    shown may be shown again. Otherwise what this session has seen is left out, unless `include_seen`. Without a
    session nothing is kept and nothing is left out. `limit` and `budget` (tokens) bound the answer. `vaults`
    are other vaults that are asked too, as in `recall`.
    """
    if not topic_or_context.strip():
        raise UsageError("there is no topic: the text is empty", "say in a few words what the conversation is about")
    # It goes into a prompt unasked: without a user that is anybody's, and nobody's own memories are for it.
    vault = vault.seen_by(vault.who.user)
    moment = vault.clock.now()
    before, compacted = _taken_up(vault, last_token, moment)
    asked = Query(
        query=topic_or_context,
        profile="ambient",
        limit=limit,
        budget=budget,
        include_global=include_global,
        exclude=frozenset() if include_seen or before is None else frozenset(before.seen),
        explain=explain,
        vaults=tuple(vaults),
        **narrowed(narrowing),
    )
    recalled = gather(vault, asked)
    token = _new_token(before)
    warnings = _put_down(vault, [memory.id for memory in recalled.results], token, moment, compacted)
    answer = FirstReminders if last_token is None or compacted else Reminders
    return answer(
        compaction_note=COMPACTION_NOTE,
        heartbeat_token=token,
        compaction_detected=compacted,
        topic_or_context=topic_or_context,
        session=vault.who.session or None,
        results=tuple(map(_reminder, recalled.results)),
        degraded=recalled.degraded,
        warnings=(*warnings, *recalled.warnings),
        notice=recalled.notice,
    )


def _taken_up(vault: Context, last_token: int | None, moment: datetime) -> tuple[AgentSession | None, bool]:
    """The session as it stands for this call, and whether its context was cut short (it has then seen nothing)."""
    state = seen.current(vault)
    gap = timedelta(minutes=vault.settings.session_gap_minutes)
    if state is None or not state.compacted(last_token, moment, gap):
        return state, False
    return state.forgets(), True


def _put_down(vault: Context, ids: Sequence[str], token: int, moment: datetime, compacted: bool) -> tuple[str, ...]:
    """Keep the new token and what was shown, in one step; returns a warning where nothing is kept."""
    if not vault.who.session:
        return (seen.NO_SESSION,)
    at = moment.isoformat()
    try:
        # One step for both: a kill in between would leave a token whose answer no log knows.
        seen.store(vault).update(
            vault.who.session,
            moment,
            lambda state: state.hands_out(token, at, compacted=compacted).shows(ids, "bring_to_mind", at),
        )
    except seen.UNKEPT as fault:
        return (f"what was shown is not kept: {fault.message}",)
    return ()


def _new_token(before: AgentSession | None) -> int:
    """A random number of nine digits that is not the one before: it means nothing and fits every JSON reader."""
    while True:
        token = _SMALLEST_TOKEN + secrets.randbelow(_LARGEST_TOKEN - _SMALLEST_TOKEN)
        if before is None or token != before.token:
            return token


def _reminder(memory: Recalled) -> Reminder:
    return copied(Reminder, memory)
