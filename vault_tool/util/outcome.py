"""The outcome of a call that one thread makes for another: a value, or a fault that is raised again where it is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from vault_tool.util.structs import Struct

T = TypeVar("T")


class Outcome(Struct, Generic[T]):
    """The end of a call: `value`, unless `fault` says what went wrong."""

    value: T | None = None
    fault: BaseException | None = None


def outcome_of(call: Callable[[], T]) -> Outcome[T]:
    """The outcome of a call; raises nothing, for what goes wrong is its caller's alone to hear."""
    try:
        return Outcome(call())
    except BaseException as fault:  # noqa: BLE001  (raised again by whoever waits for it)
        return Outcome(fault=fault)
