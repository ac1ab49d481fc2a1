"""The turns of conversations that this machine keeps, as stores: those that wait or were skipped, and the log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from msgspec import to_builtins

from vault_tool.features.turns.turn_log import LOG, TurnLog
from vault_tool.features.turns.turns import TURNS, Turns, TurnSource
from vault_tool.model.problems import Problem, warning
from vault_tool.vault.store_interface import Cleaned, Store, Traces, by_user


class TurnStore(Store):
    """The queue of accepted turns, and the turns that wrote nothing."""

    sections = ("turns",)
    counted_as = "turns"

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Drop the turns that tell of the memories, or those of a user."""
        turns = Turns(self.vault.root)
        return [Cleaned(TURNS, turns.forget_user(traces.user) if traces.user else turns.forget(traces.mentioned_in))]

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        """The user's turns."""
        yield from (("turns", _line(turn)) for turn in Turns(self.vault.root).of_user(user))

    def people(self) -> Mapping[str, set[str]]:
        """The users' turns."""
        turn_store = Turns(self.vault.root)
        return by_user((turn.user, turn.id) for turn in (*turn_store.waiting(), *turn_store.skipped("")))

    def figures(self) -> Mapping[str, int]:
        """How many wait to be written."""
        return {"turns": Turns(self.vault.root).count()}


class TurnLogStore(Store):
    """The log of turns as they went."""

    sections = ("turn_log",)
    counted_as = "turns"

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Take the words out of the turns that tell of the memories, or drop those of a user."""
        log = TurnLog(self.vault.root)
        return [Cleaned(LOG, log.erase(traces.user) if traces.user else log.forget(traces.ids, traces.mentioned_in))]

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        """The user's turns."""
        yield from (("turn_log", _line(turn)) for turn in TurnLog(self.vault.root).turns_of(user))

    def people(self) -> Mapping[str, set[str]]:
        """The users' turns."""
        return by_user((turn.user, turn.id) for turn in TurnLog(self.vault.root).turns())

    def figures(self) -> Mapping[str, int]:
        """How many turns are kept, in how many bytes."""
        count, size = TurnLog(self.vault.root).size()
        return {"logged_turns": count, "logged_bytes": size}

    def health(self, *, thorough: bool) -> Iterator[Problem]:
        """The files that are no turns."""
        for path in TurnLog(self.vault.root).unreadable():
            yield warning(path, 0, "no-turn", "this file in the log of turns is none: torn, or put there by hand", "delete it")


def _line(turn: TurnSource) -> str:
    return json.dumps(to_builtins(turn), ensure_ascii=False)
