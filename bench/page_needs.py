"""How many needs of a next session its page meets: `python -m bench page`.

A story of forty memories of three sessions is written beside others: none, 300, 2,000 of ten projects. Needs are words that a
line of the page must say, or must not; they were written before any page was looked at. A line that is marked as past meets none.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.page_crowd import OTHERS, crowd
from bench.table import table
from vault_tool import Vault
from vault_tool.files import layout
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.model.records import Observation, Record, Subject, Workspace
from vault_tool.util.clock import FixedClock
from vault_tool.util.text import BYTES_A_TOKEN, first_sentence
from vault_tool.vault import page_at_start
from vault_tool.vault.core_making import PAGE_TOKENS

STORY = Path(__file__).with_name("page_story.jsonl")
NEEDS = Path(__file__).with_name("page_needs.jsonl")

PROMISES = {0: 28, 300: 26, 2000: 25}
"""Others beside the story, and how many of thirty needs are met at least, on the day after its last session."""

DAYS = (1, 40)
"""So many days after the last session the page is made."""

RULES = frozenset({"preference", "procedure", "instruction"})

_NAMESPACE = uuid.UUID(int=40)
_MARKED = re.compile(r"overtaken|superseded|was:|~~|replaced|until |no longer|before:|perhaps changed by", re.IGNORECASE)
_IN_BETWEEN = 16


@dataclass(frozen=True, slots=True)
class Need:
    """What a page must say, or must not where it is `absent`: one of some words, between bars."""

    id: int
    need: str
    words: str
    absent: bool = False

    def is_met(self, page: str) -> bool:
        """Whether a page meets it."""
        wanted = self.words.casefold().split("|")
        lines = (line.casefold() for line in page.splitlines() if not _MARKED.search(line))
        return self.absent is not any(word in line for line in lines for word in wanted)


@dataclass(frozen=True, slots=True)
class Story:
    """A story's memories as they are written, what its next session needs, and the name of its project."""

    memories: Sequence[Mapping[str, Any]]
    needs: Sequence[Need]

    @classmethod
    def read(cls, story: Path = STORY, needs: Path = NEEDS) -> Story:
        """The story and its needs of these files, ours by default."""
        return cls(_lines(story), [Need(**line) for line in _lines(needs)])

    @property
    def project(self) -> str:
        """The subject that the first memory names first."""
        return str(self.memories[0]["about"][0])

    @property
    def end(self) -> datetime:
        """The evening of its last session."""
        return _moment(max(one["day"] for one in self.memories)) + timedelta(hours=9)

    def missed(self, page: str) -> list[Need]:
        """The needs that a page does not meet."""
        return [need for need in self.needs if not need.is_met(page)]

    def rules_missed(self, page: str) -> list[str]:
        """The standing rules that are not on a page, which shows the first words of each."""
        rules = [str(one["text"]) for one in self.memories if one["kind"] in RULES]
        plain = page.replace("\\", "")
        return [rule for rule in rules if rule[:40] not in plain]


def write(root: Path, story: Story, others: int = 0, order: int | None = None) -> None:
    """Write the story and others beside it as a vault, without git; in an `order` of their own, the catalogue read in between."""
    root.mkdir(parents=True)
    (root / layout.SETTINGS_FILE).write_text(f"projects = {json.dumps([story.project, *OTHERS])}\n", encoding="utf-8")
    records = [*_records(story, others)]
    used: set[str] = set()
    files = []
    for record in records:
        path = place(record, {}, lambda place: place.casefold() in used)
        used.add(path.casefold())
        files.append((path, render(record)))
    if order is not None:
        random.Random(order).shuffle(files)
    for number, (path, data) in enumerate(files):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        if order is not None and number % _IN_BETWEEN == 0:
            with Vault.open(root, environ={}) as vault:
                vault.fresh()


def page_of(root: Path, story: Story, days: int = 1, *, at_rest: bool = False) -> str:
    """The page that a session of the story's project is given so many days after its end; of a choice that is kept where there
    was time for one `at_rest`.
    """
    with Vault.open(root, environ={}, clock=FixedClock(story.end + timedelta(days=days))) as vault:
        vault.fresh()
        if at_rest:
            page_at_start.keep_choice(vault)
        return page_at_start.page_at_start(vault, story.project)(PAGE_TOKENS * BYTES_A_TOKEN)


def add_parser(whats: Any) -> None:
    """The command and its options."""
    parser: argparse.ArgumentParser = whats.add_parser("page", help="needs of a next session that its page meets")
    parser.add_argument(
        "--others", type=int, action="append", metavar="N", help="memories beside the story (default 0, 300, 2000)"
    )
    parser.add_argument("--story", type=Path, default=STORY, help="another story, in the form of bench/page_story.jsonl")
    parser.add_argument("--needs", type=Path, default=NEEDS, help="its needs, in the form of bench/page_needs.jsonl")
    parser.add_argument("--show", action="store_true", help="also each page")
    parser.set_defaults(run=_run)


def _run(asked: argparse.Namespace) -> int:
    story = Story.read(asked.story, asked.needs)
    kept, rows = True, []
    for others in asked.others or PROMISES:
        with TemporaryDirectory(prefix="bench-page-") as folder:
            root = Path(folder) / "vault"
            write(root, story, others)
            for days in DAYS:
                page = page_of(root, story, days)
                missed, rules = story.missed(page), story.rules_missed(page)
                met = len(story.needs) - len(missed)
                kept &= not rules and (days != DAYS[0] or met >= PROMISES.get(others, 0))
                tokens = len(page.encode()) // BYTES_A_TOKEN
                told = ", ".join(f"{need.id} {need.need}" for need in missed)
                rows.append((f"{others:,}", str(days), f"{met} of {len(story.needs)}", str(len(rules)), f"{tokens:,}", told))
                if asked.show:
                    print(f"{page}\n")
    print(table(("others", "days after", "needs met", "rules missing", "tokens", "missed"), rows))
    return 0 if kept else 1


def _records(story: Story, others: int) -> Iterator[Record]:
    first = stamped(_moment("2025-01-01"))
    yield Workspace(id=identity("workspace"), type="workspace", name="story", created=first)
    beside = [*crowd(others, story.project)]
    names = dict.fromkeys(name for one in story.memories for name in one["about"])
    names |= dict.fromkeys(name for one in beside for name in one.about)
    names |= dict.fromkeys(OTHERS if beside else ())
    yield from (Subject(id=identity(f"subject {name}"), type="subject", name=name, created=first) for name in names)
    for at, other in enumerate(beside):
        day = datetime.combine(other.day, time(10), UTC) + timedelta(seconds=at)
        yield _observation(f"other {at}", other.kind, other.text, other.about, day)
    for at, one in enumerate(story.memories):
        changes, problem = one.get("changes"), one.get("problem")
        yield _observation(
            one["name"], one["kind"], one["text"], tuple(one["about"]), _moment(one["day"]) + timedelta(minutes=at),
            change_targets=(identity(changes),) if changes else (), problem=identity(problem) if problem else "",
            session=f"session of {one['day']}",
        )  # fmt: skip


def _observation(name: str, kind: str, text: str, about: tuple[str, ...], at: datetime, **fields: Any) -> Observation:
    return Observation(
        id=identity(name), type=kind, title=first_sentence(text), body=text, subjects=about, created=stamped(at), origin="agent",
        **fields,
    )  # fmt: skip


def identity(name: str) -> str:
    """The id of what a story calls by this name."""
    return str(uuid.uuid5(_NAMESPACE, name))


def stamped(at: datetime) -> str:
    """A moment as a note says it."""
    return at.isoformat(timespec="seconds")


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T09:00:00+00:00")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
