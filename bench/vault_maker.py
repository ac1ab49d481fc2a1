"""A large, plausible vault in the tool's own format, the same for the same seed: what the figures are measured on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.prose import Prose
from vault_tool.features.setup.setup import ATTRIBUTES, IGNORED, default_settings
from vault_tool.files import layout
from vault_tool.files.episode_text import day_heading, entry_text
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.files.signal_lines import signal_line
from vault_tool.generate.starter import starters
from vault_tool.model.records import Consolidation, Edge, Observation, Record, Remembered, Subject, Understanding, Workspace
from vault_tool.model.signals import EpisodeEntry, Signal, SignalKind
from vault_tool.util.clock import stamp
from vault_tool.util.text import one_line

BEGINNING = datetime(2023, 1, 1, tzinfo=UTC)
DAYS = 3 * 365
WRITER = "bench001"

_TYPES = (
    *("fact",) * 6, "decision", "solution", "problem", "fix", "insight", "preference", "configuration", "workflow", "error",
    "general", "failed_tactic",
)  # fmt: skip
_EDGES = ("SOLVES", "CAUSES", "BUILDS_ON", "REQUIRES", "FOLLOWS", "RELATED_TO")
_JUDGEMENTS = (*("use",) * 7, "useful", "useful", "questionable")
_SUBJECTS_OF_A_NOTE = (1, 1, 1, 2, 2, 3)
_LONG_EVERY, _SYNTHESIS_EVERY, _SESSION_EVERY = 50, 20, 20
_LONG, _SHORT = 2000, (15, 105)
_PASSES = 8


class VaultMaker:
    """Writes one vault of `count` notes (observations and understandings) below `root`, which must not exist.

    Notes have 60 words on average and one in 50 has 2,000; one in 20 is an understanding that supersedes the one before
    it on the same subjects; subjects grow with the square root of `count`, edges are one for 20 notes, signals one for
    four, and each observation has its entry in the day's log. The notes are spread evenly over `days` from `beginning` on.
    """

    def __init__(self, root: Path, count: int, seed: int = 1, beginning: datetime = BEGINNING, days: int = DAYS) -> None:
        self.root = root
        self.count = count
        self._beginning = beginning
        self._days = days
        self._prose = Prose(seed)
        self._used: set[str] = set()
        self._logs: dict[str, str] = {}
        self._subjects: list[str] = []
        self._observations: list[Observation] = []

    def make(self) -> None:
        """Write every file; git is not touched."""
        (self.root / layout.VAULT).mkdir(parents=True)
        self._write(layout.SETTINGS_FILE, default_settings().encode())
        self._write(".gitignore", "".join(f"{line}\n" for line in IGNORED).encode())
        self._write(".gitattributes", f"{ATTRIBUTES}\n".encode())
        for record in self._records():
            path = place(record, {}, self._taken)
            self._used.add(path.casefold())
            self._write(path, render(record))
            if isinstance(record, Observation):
                self._log(record, path)
        self._write_journals()

    def _records(self) -> Iterator[Record]:
        first = stamp(self._beginning)
        yield Workspace(id=self._prose.identity(), type="workspace", name="bench", created=first)
        for kept in starters():
            yield Understanding(
                id=self._prose.identity(), type=kept.type, title=kept.title, summary=kept.summary, body=kept.body,
                generation=0, created=first, origin="owner",
            )  # fmt: skip
        yield from self._made_subjects()
        yield from self._made_notes()
        yield from self._made_passes()
        yield from self._made_edges()

    def _made_subjects(self) -> Iterator[Subject]:
        names = {" ".join(self._prose.words(2)).title() for _ in range(max(5, math.isqrt(self.count)))}
        self._subjects = sorted(names)
        for name in self._subjects:
            yield Subject(
                id=self._prose.identity(), type="subject", name=name, summary=self._prose.text(10),
                tags=tuple(self._prose.words(1)), created=stamp(self._beginning),
            )  # fmt: skip

    def _made_notes(self) -> Iterator[Remembered]:
        current: dict[tuple[str, ...], str] = {}
        for number in range(self.count):
            if number % _SYNTHESIS_EVERY == _SYNTHESIS_EVERY - 1:
                yield self._understanding(number, current)
            else:
                self._observations.append(self._observation(number))
                yield self._observations[-1]

    def _observation(self, number: int) -> Observation:
        when = stamp(self._moment(number))
        choose = self._prose.random.choice
        return Observation(
            id=self._prose.identity(), type=self._prose.one_of(_TYPES), title=self._prose.phrase(3, 8),
            subjects=self._some_subjects(), tags=tuple(self._prose.words(2)), importance=choose((0.3, 0.5, 0.7, 0.9)),
            confidence=0.8, generation=self._generation(number), observed=when, created=when,
            session=f"s{number // _SESSION_EVERY}", model="bench", origin="agent", body=self._body(number),
        )  # fmt: skip

    def _understanding(self, number: int, current: dict[tuple[str, ...], str]) -> Understanding:
        subjects = self._some_subjects()
        made = Understanding(
            id=self._prose.identity(), type="single_subject" if len(subjects) == 1 else "relationship",
            title=self._prose.phrase(3, 8), summary=self._prose.text(12), subjects=subjects,
            tags=tuple(self._prose.words(2)), generation=self._generation(number),
            supersedes=(current[subjects],) if subjects in current else (), created=stamp(self._moment(number)),
            session=f"s{number // _SESSION_EVERY}", model="bench", origin="agent", body=self._body(number),
        )  # fmt: skip
        current[subjects] = made.id
        return made

    def _made_passes(self) -> Iterator[Consolidation]:
        parents: tuple[str, ...] = ()
        for number in range(1, _PASSES + 1):
            when = self._beginning + timedelta(days=number * self._days // (_PASSES + 1))
            made = Consolidation(
                id=self._prose.identity(), type="consolidation", generation=number, parents=parents, created=stamp(when),
                model="bench", body=f"Pass {number}.",
            )  # fmt: skip
            parents = (made.id,)
            yield made

    def _made_edges(self) -> Iterator[Edge]:
        for _ in range(self.count // 20):
            start, end = self._prose.random.sample(self._observations, 2)
            yield Edge(
                id=self._prose.identity(), type=self._prose.one_of(_EDGES), from_id=start.id, from_title=start.title,
                to_id=end.id, to_title=end.title, strength=self._prose.random.choice((0.4, 0.6, 0.8)), created=end.created,
                body=self._prose.text(12),
            )  # fmt: skip

    def _signals(self) -> Iterator[Signal]:
        for _ in range(self.count // 4):
            target = self._prose.random.choice(self._observations)
            at = datetime.fromisoformat(target.created or "") + timedelta(days=self._prose.random.randint(0, 60))
            kind = SignalKind(self._prose.one_of(_JUDGEMENTS))
            yield Signal(id=self._prose.identity(), at=stamp(at), target=target.id, kind=kind, model="bench", origin="agent")

    def _log(self, record: Observation, path: str) -> None:
        at = record.created or ""
        journal = layout.episode_path(at[:10], WRITER)
        before = self._logs.get(journal) or day_heading(at[:10])
        summary = one_line(record.body, 200)
        entry = EpisodeEntry(at=at, title=record.title, type=record.type, tags=record.tags, path=path, summary=summary)
        self._logs[journal] = before + entry_text(entry, journal, before)

    def _write_journals(self) -> None:
        months: dict[str, list[Signal]] = defaultdict(list)
        for signal in sorted(self._signals(), key=lambda one: (one.at, one.id)):
            months[signal.at[:7]].append(signal)
        for month, signals in months.items():
            lines = "".join(f"{signal_line(signal)}\n" for signal in signals)
            self._write(layout.signals_path(month, WRITER), lines.encode())
        for path, text in self._logs.items():
            self._write(path, text.encode())

    def _moment(self, number: int) -> datetime:
        return self._beginning + timedelta(minutes=number * self._days * 24 * 60 // self.count)

    def _generation(self, number: int) -> int:
        return number * (_PASSES + 1) // self.count

    def _some_subjects(self) -> tuple[str, ...]:
        count = min(len(self._subjects), self._prose.random.choice(_SUBJECTS_OF_A_NOTE))
        return tuple(sorted(self._prose.random.sample(self._subjects, count)))

    def _body(self, number: int) -> str:
        long = number % _LONG_EVERY == _LONG_EVERY - 1
        return self._prose.text(_LONG if long else self._prose.random.randint(*_SHORT))

    def _taken(self, path: str) -> bool:
        return path.casefold() in self._used

    def _write(self, path: str, data: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
