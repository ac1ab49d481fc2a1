"""Calls that wait to write: made under one hold of the write lock, their commits at once, then each answered."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import VaultError
from vault_tool.mcp.backends import Answer, Call
from vault_tool.util.outcome import outcome_of
from vault_tool.vault.operation import Saved, writing_together
from vault_tool.vault.pending import take_in_authors
from vault_tool.vault.together import Together, stands_for_a_commit
from vault_tool.verbs.vault import Vault

# The tools that do nothing after their writes but tell of them: of these several may be committed together.
GATHERED = frozenset({"remember", "add_observations", "mark_useful", "mark_questionable"})

# So many are made under one hold of the lock: other processes wait for it.
_MOST = 24

# Whoever was just answered is often back at once. They are waited for this share of what it took to answer them, and so many
# seconds at most, if others wait already: a call more in a group costs a third of one that is alone.
_SHARE, _LONGEST = 0.2, 0.05

# How the vault is used: as long as this lasts it is this thread's alone, given the identity that is meant.
Exclusive = Callable[[str], AbstractContextManager[Vault]]


class _Waiting(msgspec.Struct):
    """A call that waits, and what became of it."""

    call: Call
    identity: str
    go_on: threading.Event = field(default_factory=threading.Event)
    """Set once it is done, or first of those that wait: then its thread writes for all of them."""
    is_done: bool = False
    asking: Vault | None = None
    result: Any = None
    answer: Answer | None = None
    fault: BaseException | None = None

    def attempt(self, step: Callable[[], None]) -> None:
        """Take a step of it, unless one failed."""
        if self.fault is None:
            self.fault = outcome_of(step).fault


class Gathering:
    """The calls of one open vault that wait to write. Whoever is first of them writes for all that came meanwhile."""

    def __init__(self, exclusive: Exclusive, guard: AbstractContextManager[Any]) -> None:
        self._exclusive = exclusive
        self._guard = guard
        self.is_under_way = False
        """Whether calls are between two of their steps: until then the vault must stay the one that they asked."""
        self._waiting: deque[_Waiting] = deque()
        self._came = threading.Condition()
        self._is_led = False
        self._expected = 0
        self._back_until = 0.0
        self._writer = threading.Lock()

    def use(self, call: Call, identity: str) -> Answer:
        """The answer to a call, once all that it wrote is committed. Raises what the call raises."""
        waiting = _Waiting(call, identity)
        with self._came:
            self._waiting.append(waiting)
            leads, self._is_led = not self._is_led, True
            self._came.notify()
        # An answer that is ready waits for no lock: the thread that makes it sets the event.
        if not leads:
            waiting.go_on.wait()
        if not waiting.is_done:
            self._lead()
        if waiting.fault is not None:
            raise waiting.fault
        assert waiting.answer is not None
        return waiting.answer

    def _lead(self) -> None:
        """Write for those who wait, and let the first who is left go on."""
        self._await_return()
        calls: list[_Waiting] = []
        begun = ended = 0.0
        try:
            with self._writer:
                with self._came:
                    calls = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
                begun = time.monotonic()
                self._write(calls)
                ended = time.monotonic()
        finally:
            with self._came:
                self._expected = len(calls) + len(self._waiting)
                self._back_until = ended + min(_LONGEST, _SHARE * (ended - begun))
                if self._waiting:
                    self._waiting[0].go_on.set()
                else:
                    self._is_led = False

    def _await_return(self) -> None:
        """Give those who were just answered a moment to come back, if there were others beside whoever writes now."""
        with self._came:
            while len(self._waiting) < min(_MOST, self._expected) and (left := self._back_until - time.monotonic()) > 0:
                self._came.wait(left)

    def alone(self) -> AbstractContextManager[Any]:
        """No call is between two of its steps as long as this lasts: for what writes in one, and would wait for the lock."""
        return self._writer

    def _write(self, calls: list[_Waiting]) -> None:
        """Write what some calls have to write, commit it, and answer each."""
        fault = outcome_of(partial(self._written, calls)).fault
        self.is_under_way = False
        for waiting in calls:
            waiting.fault = waiting.fault or fault
            waiting.is_done = True
            waiting.go_on.set()

    def _written(self, calls: list[_Waiting]) -> None:
        with self._exclusive("") as vault:
            self.is_under_way = True
        with writing_together(vault, calls[0].call.tool.replace("_", "-")) as together:
            for waiting in calls:
                waiting.attempt(partial(self._ask, waiting, together))
            # Others read meanwhile.
            outcomes = together.publish()
            if any(waiting.call.caller.author for waiting in calls):
                with self._exclusive("") as vault:
                    take_in_authors(vault)
        for waiting in calls:
            waiting.attempt(partial(self._tell, waiting, outcomes))

    def _ask(self, waiting: _Waiting, together: Together[Saved]) -> None:
        with self._exclusive(waiting.identity) as vault:
            vault.together = together
            try:
                waiting.asking, waiting.result = waiting.call.asked(vault)
            finally:
                vault.together = None

    def _tell(self, waiting: _Waiting, outcomes: Mapping[str, Saved]) -> None:
        assert waiting.asking is not None
        with self._guard:
            waiting.answer = waiting.call.answer(waiting.asking, _with_commit(waiting.result, outcomes))


def _with_commit(result: object, outcomes: Mapping[str, Saved]) -> object:
    """A verb's result with what became of its commit. Raises VaultError where that was never tried."""
    if not isinstance(result, Saved) or not stands_for_a_commit(result.commit):
        return result
    saved = outcomes.get(result.commit or "")
    if saved is None:
        raise VaultError("it was written, but not committed", "the next write commits it")
    return replace(result, committed=saved.committed, commit=saved.commit, reason=saved.reason, attention=saved.attention)
