"""The decay score of memories, which falls while they are unused, and the standing that follows from it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from math import exp, log2

from vault_tool.belief.fold import Belief
from vault_tool.model.authority import weights
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import TypeSpec
from vault_tool.util.clock import days_between, parse_time

# The share lost each day; a half-life of about 23 days.
RATE = 0.03

UNUSED = 0.5
PINNED = 999.0


class Standing(StrEnum):
    """How present a memory is."""

    ACTIVE = "active"
    FADING = "fading"
    DORMANT = "dormant"
    ARCHIVED = "archived"


THRESHOLDS = ((0.5, Standing.ACTIVE), (0.2, Standing.FADING), (0.05, Standing.DORMANT))


def standing(score: float) -> Standing:
    """The standing of a memory with this decay score."""
    return next((band for least, band in THRESHOLDS if score >= least), Standing.ARCHIVED)


def usage(access_count: int) -> float:
    """The factor of use: `log2(n + 1)`, and a half for a memory that was never accessed."""
    return log2(access_count + 1) if access_count > 0 else UNUSED


def decay_score(importance: float, days: float, access_count: int, weight: float, *, pinned: bool = False) -> float:
    """`importance * exp(-0.03 * days) * usage * weight`, and 999 for a pinned memory.

    `days` count from the last access, or from creation if there was none; `importance` is in 0..1.
    """
    return PINNED if pinned else importance * exp(-RATE * max(0.0, days)) * usage(access_count) * weight


def entry_decay(entry: Entry, belief: Belief, spec: TypeSpec, now: datetime) -> float:
    """The decay score of a record at `now`; a record without any time counts as new, whatever its file's date.

    Pinned records do not fade, nor do the notes that every session reads first (soul, protocol, orientation). A pin, or an
    importance above the type's, counts only once the owner has reviewed the memory.
    """
    pinned, importance = weights(entry, spec.importance, belief.reviewed)
    since = _moment(belief.last_accessed) or _moment(entry.text("created")) or _moment(entry.text("observed")) or now
    return decay_score(
        importance,
        days_between(since, now),
        belief.access_count,
        spec.weight,
        pinned=pinned or spec.always_kept,
    )


def _moment(text: str | None) -> datetime | None:
    return parse_time(text) if text else None
