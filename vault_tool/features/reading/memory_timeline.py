"""How a memory came to stand as it does: what was said of it, how it fades, who was shown it."""

from __future__ import annotations

from contextlib import suppress

from vault_tool.belief.fold import Belief
from vault_tool.belief.steps import Point, Reached, Step, decay_curve, fading, steps
from vault_tool.model.authority import by_origin
from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct
from vault_tool.vault import seen
from vault_tool.vault.context import Context
from vault_tool.vault.standing import about, confidence_of

MOST_STEPS = 200
MOST_SESSIONS = 50


class ShownTo(Struct, kw_only=True):
    """A session of this machine that was shown the memory: when first and last, and by which verbs."""

    session: str
    first: str
    last: str
    how: tuple[str, ...]


class Timeline(Struct, kw_only=True):
    """The signals on a memory and their effects (`steps`, the newest of `step_count`, in order), and its decay over time.

    `start` is the truth that it was written with. `curve` is its decay score from its creation until it will be archived; `fades`
    says when it falls to each lower standing if nobody uses it, and `fades_if_used` if it is used once more now; all three
    are empty for what does not fade. `shown` are the sessions that were shown it, as far as this machine still knows them.
    """

    start: float
    steps: tuple[Step, ...]
    step_count: int
    curve: tuple[Point, ...]
    fades: tuple[Reached, ...]
    fades_if_used: tuple[Reached, ...]
    shown: tuple[ShownTo, ...]


def timeline_of(vault: Context, entry: Entry, belief: Belief) -> Timeline:
    """The timeline of one memory; of sessions only the vault's owner is told."""
    signals = about(entry, vault.index.catalog.signals(entry.id))
    uses = vault.uses.of([entry.id])
    spec, now = vault.settings.types.spec(entry.type), vault.clock.now()
    start = confidence_of(entry)
    moves = steps(signals, start=start, writer=by_origin(entry.origin))
    shown: list[ShownTo] = []
    with suppress(*seen.UNKEPT):
        known = seen.store(vault).shown(entry.id, now)[:MOST_SESSIONS] if vault.sees_everyone else ()
        shown = [
            ShownTo(session=session, first=shown_in.first, last=shown_in.last, how=shown_in.how) for session, shown_in in known
        ]
    return Timeline(
        start=start, steps=moves[-MOST_STEPS:], step_count=len(moves), curve=decay_curve(entry, signals, uses, spec, now),
        fades=fading(entry, belief, spec, now), fades_if_used=fading(entry, belief, spec, now, used=True), shown=tuple(shown),
    )  # fmt: skip
