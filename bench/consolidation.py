"""What a pass of consolidation costs beside the size of the vault: a fixed number of changed subjects in vaults of any size."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from bench.bed import Bed
from bench.figure import Figure
from bench.machine import Failed
from vault_tool import Vault
from vault_tool.features.consolidation.consolidating import recent_activity
from vault_tool.features.consolidation.packet_texts import Packet, next_packet, skip_packets
from vault_tool.features.consolidation.passes import LATE, due

SUBJECTS = 5
"""Changed subjects in each pass, with so many new observations on each and one on each pair of neighbours:"""

EACH = 4

_WHAT = {
    "pass-begin": "begin a pass over 5 changed subjects: ledger written and committed",
    "pass-packet": "one packet of it, filled with its texts",
    "pass-write": "one understanding of it, written and committed",
    "pass-end": "its ledger completed and committed",
    "pass-nothing": "begin a pass with nothing new",
    "pending": "get_pending_consolidation",
    "orient-part": "the pending count and the recent activity that orient tells",
    "report": "get_consolidation_report, which looks at the whole vault",
}

Result = TypeVar("Result")


def measured(bed: Bed) -> Iterator[Figure]:
    """Passes in a warm process that vouches for its own freshness, so that the comparison of files is not in the figures."""
    times: dict[str, list[float]] = defaultdict(list)
    with Vault.open(bed.root) as vault:
        vault.fresh()
        vault.is_current = lambda: True
        _settle_what_is_there(vault)
        for _ in range(LATE + 1):
            _one_pass(vault, defaultdict(list))
        for _ in range(bed.rebuilds):
            _one_pass(vault, times)
            _timed(times["report"], vault.get_consolidation_report)
    for name, what in _WHAT.items():
        yield Figure(name=name, what=what, notes=bed.notes, values=tuple(times[name]))


def _settle_what_is_there(vault: Vault) -> None:
    """A first pass over all that is new in the vault as it was made, passed over whole: what follows is the usual case."""
    if vault.begin_consolidation().id:
        waiting = vault.get_pending_consolidation(limit=None)
        skip_packets(vault, packets=[one.label for one in (*waiting.subjects, *waiting.intersections)])
        vault.end_consolidation(core=False)


def _one_pass(vault: Vault, times: dict[str, list[float]]) -> None:
    mark = uuid.uuid4().hex[:6]
    names = [f"Measured {mark} {number}" for number in range(SUBJECTS)]
    facts = [{"subject_names": [name], "content": f"Of {name}, part {n}."} for name in names for n in range(EACH)]
    pairs = zip(names, [*names[1:], names[0]], strict=True)
    facts += [{"subject_names": list(pair), "content": f"Of {pair[0]} and {pair[1]}."} for pair in pairs]
    vault.add_observations(facts)
    _timed(times["orient-part"], lambda: _told(vault))
    _timed(times["pending"], vault.get_pending_consolidation)
    begun = _timed(times["pass-begin"], vault.begin_consolidation)
    if begun.id is None or len(begun.packets) != SUBJECTS:
        raise Failed(f"the pass has {len(begun.packets)} packets")
    while (step := _timed(times["pass-packet"], lambda: next_packet(vault))).packet and step.packet.subjects:
        _timed(times["pass-write"], partial(_write, vault, step.packet, begun.id))
    _timed(times["pass-end"], lambda: vault.end_consolidation(core=False))
    if _timed(times["pass-nothing"], vault.begin_consolidation).began:
        raise Failed("a pass began with nothing new")


def _write(vault: Vault, packet: Packet, pass_id: str) -> None:
    sources = [one.id for one in packet.observations]
    said = f"What {packet.label} comes to."
    vault.create_understanding(packet.subjects, said, said, source_observation_ids=sources, pass_id=pass_id)


def _told(vault: Vault) -> None:
    due(vault)
    recent_activity(vault)


def _timed(values: list[float], work: Callable[[], Result]) -> Result:
    begun = time.perf_counter()
    result = work()
    values.append(time.perf_counter() - begun)
    return result
