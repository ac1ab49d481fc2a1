"""Commands that look at the whole vault, and the memory of every command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from bench.bed import Bed
from bench.figure import Figure
from bench.machine import ALONE, in_turn, peak_mb

WHOLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"status": ("status",), "tags": ("tags",), "activity": ("activity",), "core": ("core", "--print")}
)
"""What people ask of a whole vault every day."""

COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{" ".join(words): words for words in WHOLE.values()},
        "orient": ("orient",),
        "bring-to-mind": ("bring-to-mind", "{query}"),
        "recall": ("recall", "{query}"),
        "search": ("search", "{query}"),
        "get": ("get", "{id}"),
        "show": ("show", "{id}"),
        "related": ("related", "{id}"),
        "history": ("history", "{id}"),
        "log": ("log",),
        "log ID": ("log", "{id}"),
        "diff": ("diff",),
        "get-subjects": ("get-subjects",),
        "find-similar-subjects": ("find-similar-subjects",),
        "list-observations": ("list-observations", "{subject}"),
        "search-observations": ("search-observations", "{query}", "--subject", "{subject}"),
        "open-around": ("open-around", "{subject}"),
        "open-map": ("open-map",),
        "get-understandings": ("get-understandings", "{subject}"),
        "get-pending-consolidation": ("get-pending-consolidation",),
        "get-consolidation-report": ("get-consolidation-report",),
        "list-passes": ("list-passes",),
        "list-turns": ("list-turns",),
        "people": ("people",),
        "review --list": ("review", "--list"),
        "get-stats": ("get-stats",),
        "decay": ("decay",),
        "reflect --dry-run": ("reflect", "--dry-run"),
        "reflection --print": ("reflection", "--print"),
        "snapshot": ("snapshot",),
        "doctor": ("doctor",),
        "reindex": ("reindex",),
        "remember": ("remember", "A memory that is measured for what it holds."),
        "add-alias": ("add-alias", "{subject}", "Measured Alias"),
        "pin": ("pin", "{id}"),
        "mark-useful": ("mark-useful", "{id}", "it was measured"),
        "consolidate": ("consolidate",),
        "reflect": ("reflect",),
        "reindex --full": ("reindex", "--full"),
    }
)
"""Commands of a vault with what they are asked: those that read first, for the others change what they read."""


def whole(bed: Bed) -> Iterator[Figure]:
    """Each command on the whole vault, by turns with a `get`, no owner there."""
    floor, *taken = in_turn(
        bed.rebuilds,
        lambda: bed.vt("get", bed.identity),
        *(lambda words=words: bed.vt(*words) for words in WHOLE.values()),
        warm=True,
    )
    for (name, words), seconds in zip(WHOLE.items(), taken, strict=True):
        yield bed.figure(f"whole-{name}", f"vt {' '.join(words)}", seconds, floor_is="vt get ID", floor=tuple(floor))
    peaks = {name: peak_mb(bed.command(*words), env=ALONE) for name, words in WHOLE.items()}
    yield bed.figure("whole-peak", f"most memory of these: {_most(peaks)}", [max(peaks.values())], unit="MB")


def doctor(bed: Bed) -> Iterator[Figure]:
    """The command that looks for every fault."""
    [taken] = in_turn(bed.rebuilds, lambda: bed.vt("doctor", accept=(0, 1)))
    yield bed.figure("doctor", "vt doctor", taken)


def peaks(bed: Bed) -> Iterator[Figure]:
    """The most memory that each command takes, once, no owner there."""
    known = {"id": bed.identity, "query": bed.query, "subject": bed.subject}
    found: dict[str, float] = {}
    for name, words in COMMANDS.items():
        found[name] = peak_mb(bed.command(*(word.format(**known) for word in words)), env=ALONE)
        yield bed.figure(f"peak {name}", f"memory of vt {name}", [found[name]], unit="MB")
    yield bed.figure("command-peak", f"most memory of {len(found)} commands: {_most(found)}", [max(found.values())], unit="MB")


def _most(peaks: Mapping[str, float]) -> str:
    return f"vt {max(peaks, key=peaks.__getitem__)}"


MEASURES: Mapping[Callable[[Bed], Iterator[Figure]], tuple[str, ...]] = {
    whole: (*(f"whole-{name}" for name in WHOLE), "whole-peak"),
    doctor: ("doctor",),
    peaks: (*(f"peak {name}" for name in COMMANDS), "command-peak"),
}
