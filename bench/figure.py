"""One measured figure, its floor and its target, and how a figure grows with the vault."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

LINEAR = 1.15
"""The exponent up to which growth counts as linear: sorting and trees add a logarithm, caches that overflow a little more."""


class Against(Enum):
    """What a target limits."""

    FLOOR = "times the floor"
    ITSELF = "as measured"


@dataclass(frozen=True, slots=True)
class Target:
    """The most that a figure's median may be (with `at_least`: the least), in vaults of up to `notes` notes."""

    limit: float
    against: Against
    notes: int = 100_000
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Whether a ratio or a value, as it is printed, is as it should be."""
        return value >= self.limit if self.at_least else value <= self.limit


_COMMAND_MB = 537.0

TARGETS: Mapping[str, tuple[Target, ...]] = MappingProxyType(
    {
        "rebuild": (Target(2.5, Against.FLOOR),),
        "check": (Target(3.0, Against.FLOOR, 10_000),),
        "remember": (Target(2.5, Against.FLOOR, 1000), Target(1.5, Against.FLOOR)),
        "day-second": (Target(1.3, Against.FLOOR),),
        "day-last": (Target(1.3, Against.FLOOR),),
        "month": (Target(1.0, Against.FLOOR),),
        "get-small": (Target(1.0, Against.FLOOR),),
        "recall-small": (Target(1.0, Against.FLOOR),),
        "recall-ten": (Target(3.0, Against.FLOOR),),
        "hook-start": (Target(8.0, Against.FLOOR),),
        "hook-prompt": (Target(8.0, Against.FLOOR),),
        "hook-empty": (Target(0.0, Against.ITSELF),),
        "second-command": (Target(4.0, Against.FLOOR, 10_000),),
        "crowd-recall": (Target(1.8, Against.FLOOR, at_least=True),),
        "crowd-write": (Target(4.0, Against.FLOOR, at_least=True),),
        "crowd-refused": (Target(0.0, Against.ITSELF),),
        "whole-status": (Target(3.0, Against.FLOOR),),
        "whole-tags": (Target(3.0, Against.FLOOR),),
        "whole-activity": (Target(3.0, Against.FLOOR),),
        "whole-core": (Target(3.0, Against.FLOOR),),
        "whole-peak": (Target(200.0, Against.ITSELF),),
        "command-peak": (Target(_COMMAND_MB, Against.ITSELF),),
        "embed-local": (Target(0.2, Against.FLOOR),),
        "embed-cached": (Target(0.0, Against.ITSELF),),
        "help": (Target(6.0, Against.FLOOR),),
        "get": (Target(12.0, Against.FLOOR, 10_000),),
        "search": (Target(22.0, Against.FLOOR, 10_000),),
        "recall-cold": (Target(24.0, Against.FLOOR, 10_000),),
        "recall-cold-local": (Target(48.0, Against.FLOOR, 10_000),),
        "recall-vectors-p95": (Target(6.0, Against.FLOOR, 10_000), Target(3.0, Against.FLOOR)),
        "recall-second": (Target(3.0, Against.FLOOR),),
        "memory-warm-peak": (Target(_COMMAND_MB, Against.ITSELF),),
        "owner-get": (Target(4.0, Against.FLOOR),),
        "owner-search": (Target(4.0, Against.FLOOR),),
        "owner-recall": (Target(4.0, Against.FLOOR),),
        "owner-recall-local": (Target(8.0, Against.FLOOR, 10_000),),
        "mcp-owner": (Target(12.0, Against.FLOOR),),
        "mcp-alone": (Target(1.5, Against.FLOOR),),
        "mcp-list": (Target(1.2, Against.FLOOR),),
    }
)
"""The targets of a figure by its name, those of smaller vaults first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What was measured at `notes` notes: one value a run, beside its floor's values of the same runs.

    `pace` is what a million multiplications in bare Python took just before and after, in seconds; 0 where nobody measured.
    """

    name: str
    what: str
    notes: int
    values: tuple[float, ...]
    unit: str = "s"
    floor_is: str = ""
    floor: tuple[float, ...] = ()
    pace: float = 0.0

    @property
    def median(self) -> float:
        """The middle value: what a person usually waits for."""
        return statistics.median(self.values)

    @property
    def best(self) -> float:
        """The least value: what it takes when nothing else runs."""
        return min(self.values)

    @property
    def ratio(self) -> float | None:
        """How many times the floor's median the median is; None without a floor."""
        return self.median / statistics.median(self.floor) if self.floor else None

    @property
    def target(self) -> Target | None:
        """The target of this figure's name, if it has one at this size."""
        return next((target for target in TARGETS.get(self.name, ()) if self.notes <= target.notes), None)

    @property
    def ok(self) -> bool | None:
        """Whether the target is met, by the median as it is printed; None where there is no target."""
        if self.target is None:
            return None
        if self.target.against is Against.FLOOR:
            return self.ratio is not None and self.target.holds(round(self.ratio, 2))
        return self.target.holds(_as_printed(self.median))

    def to_json(self) -> dict[str, Any]:
        """The figure as JSON; seconds and megabytes unrounded."""
        floor = {"what": self.floor_is, "min": min(self.floor), "median": statistics.median(self.floor)} if self.floor else None
        target = None
        if self.target is not None:
            target = {"limit": self.target.limit, "against": self.target.against.value, "at_least": self.target.at_least}
        return {
            "name": self.name, "what": self.what, "notes": self.notes, "unit": self.unit, "min": self.best,
            "median": self.median, "runs": len(self.values), "values": list(self.values), "floor": floor,
            "ratio": self.ratio, "target": target, "ok": self.ok,
            "pace": self.pace,
        }  # fmt: skip


def slow_one(seconds: Sequence[float]) -> float:
    """The 95th percentile: of twenty the slowest but one."""
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))]


def _as_printed(value: float) -> float:
    """A value with the digits that the table shows: of what is below a second milliseconds, below ten of them two digits more."""
    return round(value, 2 if value >= 1 else 3 if value >= 0.01 else 5)


@dataclass(frozen=True, slots=True)
class Growth:
    """How a figure grows between two sizes: `exponent` 1 is linear, 0 is not at all (of best values: noise is no growth)."""

    name: str
    fewer: int
    more: int
    times: float
    exponent: float

    @property
    def linear(self) -> bool:
        """Whether it grows no worse than linearly."""
        return self.exponent <= LINEAR


def growths(figures: Iterable[Figure]) -> Iterator[Growth]:
    """The growth of each figure from its smallest size to its largest."""
    named: dict[str, list[Figure]] = {}
    for figure in figures:
        named.setdefault(figure.name, []).append(figure)
    for name, found in named.items():
        yield from _growth(name, sorted(found, key=lambda one: one.notes))


def _growth(name: str, found: Sequence[Figure]) -> Iterator[Growth]:
    small, large = found[0], found[-1]
    if large.notes > small.notes and small.best > 0 and large.best > 0:
        times = large.best / small.best
        yield Growth(name, small.notes, large.notes, times, math.log(times) / math.log(large.notes / small.notes))
