"""What a pass over a story of forty memories takes, and a second one after ten more: `python -m bench consolidation --story`.

No model writes: each packet is answered with a text of two sentences that rests on all that the packet shows.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.page_needs import Story, write
from bench.table import table
from vault_tool import Vault
from vault_tool.features.consolidation.passes import due, pending
from vault_tool.features.consolidation.round_trip import GivenPacket, NextPacket
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import tokens

MOST_CALLS, MOST_TOKENS, LEAST_SETTLED = 8, 1500, 0.7

MORE = (
    ("decision", ("Sender", "Mail"), "Bounces that Postmark calls soft are tried again twice, a day apart."),
    ("fact", ("Sender",), "An issue for 40,000 subscribers leaves the sender in eleven minutes."),
    ("problem", ("Sender",), "The sender counts a retried batch twice in its report."),
    ("solution", ("Sender",), "The report counts by message id, so that a retried batch is in it once."),
    ("preference", ("Tests",), "Tests of templates compare text, not pixels."),
    ("procedure", ("Tests", "Tooling"), "Run one app's tests with `uv run pytest sender/`."),
    ("fact", ("Quill",), "Two more publishers begin in December."),
    ("decision", ("Quill", "Archive"), "The archive is served as static files from January on."),
    ("insight", ("Archive",), "Old issues are read most in the week after a new one."),
    ("fact", ("Archive",), "The archive holds 1,900 issues."),
)
"""Ten memories of a later session: type, subjects, text."""

_LINE = re.compile(r"^(?P<id>[0-9a-f]{4,}) (?!was: )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PassCost:
    """A pass walked to its end: its calls, the tokens of what they answered and of the packets in it, and what it settled."""

    calls: int
    tokens: int
    packet_tokens: int
    packets: int
    waiting: int
    settled: int

    @property
    def share(self) -> float:
        """The share settled of the observations that waited in a packet."""
        return self.settled / self.waiting if self.waiting else 1.0


def write_story(root: Path, story: Story) -> Vault:
    """The vault of a story, the day after its end."""
    write(root, story)
    return Vault.open(root, environ={}, clock=FixedClock(story.end + timedelta(days=1)))


def add_ten(vault: Vault) -> None:
    """The later session."""
    for kind, subjects, text in MORE:
        vault.remember(text, list(subjects), kind=kind)


def walked(vault: Vault) -> PassCost:
    """Walk a pass to its end, an answer to each packet."""
    vault.fresh()
    planned = pending(vault)
    waiting = {identity for plan in (*planned.next, *planned.left) for identity in plan.due.weights}
    step, calls, packets = vault.consolidate_next(), 1, 0
    answered = _size(step)
    while step.packet is not None:
        packets += 1
        step = _answered(vault, step.packet)
        calls += 1
        answered += _size(step)
    settled = waiting & {source for entry in _understandings(vault) for source in entry}
    return PassCost(calls, answered, step.spent, packets, len(waiting), len(settled))


def counts(vault: Vault) -> dict[str, tuple[int, int]]:
    """Observations and packets that wait, as each verb tells them."""
    vault.fresh()
    waits, status, report = due(vault), vault.status(), vault.get_consolidation_report()
    oriented, listed = vault.orient(), vault.get_pending_consolidation()
    return {
        "due": (waits.observations, waits.packets),
        "orient": (oriented.pending_consolidation_count, oriented.due_packets),
        "pending": (listed.pending_consolidation_count, listed.due_packets),
        "report": (report.pending_consolidation_count, report.due_packets),
        "status": (status.due_observations, status.due_packets),
    }


def run(asked: argparse.Namespace) -> int:
    """Measure the passes, and one over what they left; 1 where one takes more than it may, or two verbs count differently."""
    with TemporaryDirectory(prefix="bench-pass-") as folder, write_story(Path(folder) / "vault", Story.read()) as vault:
        first = walked(vault)
        after = counts(vault)
        add_ten(vault)
        second = walked(vault)
        later = counts(vault)
        third = walked(vault)
        at_last = counts(vault)
    rows = [
        (name, str(cost.calls), str(cost.packets), f"{cost.tokens:,}", f"{cost.packet_tokens:,}",
         f"{cost.settled} of {cost.waiting} ({cost.share:.0%})", _told(by_verb))
        for name, cost, by_verb in (
            ("a story of forty", first, after), ("ten more", second, later), ("what these left", third, at_last),
        )
    ]  # fmt: skip
    heads = ("pass", "calls", "packets", "tokens read", "of them packets", "observations settled", "waiting after")
    print(table(heads, rows))
    is_one_count = all(len({*by_verb.values()}) == 1 for by_verb in (after, later, at_last))
    return 0 if is_kept(first) and is_kept_later(second) and is_one_count else 1


def is_kept(first: PassCost) -> bool:
    """Whether a pass over the story keeps what is promised of it."""
    return first.calls <= MOST_CALLS and first.tokens <= MOST_TOKENS and first.share >= LEAST_SETTLED


def is_kept_later(second: PassCost) -> bool:
    """Whether the pass after ten more reads half of that, settles as much, and takes fewer calls."""
    return second.calls < MOST_CALLS and second.tokens <= MOST_TOKENS // 2 and second.share >= LEAST_SETTLED


def _told(by_verb: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{verb} {waiting}" for verb, waiting in by_verb.items())


def _answered(vault: Vault, packet: GivenPacket) -> NextPacket:
    about = packet.subject or "the work"
    sources = _LINE.findall(packet.text)
    content = f"What matters of {about} is in {len(sources)} memories, the newest of them first. It holds as they say it."
    return vault.consolidate_next(packet=packet.id, content=content, summary=f"What matters of {about}.", sources=sources)


def _size(step: NextPacket) -> int:
    return tokens(json.dumps(step.lean(lambda identity: identity[:6]), ensure_ascii=False))


def _understandings(vault: Vault) -> Iterator[tuple[str, ...]]:
    vault.fresh()
    for entry in vault.index.catalog.of_class(RecordClass.UNDERSTANDING):
        yield tuple(entry.texts("sources"))
