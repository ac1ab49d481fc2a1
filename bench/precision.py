"""How well recall keeps silent: questions whose answer is not in the vault, beside questions whose answer is."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.quality import Conversation
from bench.questions import JudgedQuery, QuestionSet, identity
from vault_tool import Vault
from vault_tool.files import layout
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.model.records import Observation, Record, Subject, Workspace
from vault_tool.util.text import first_sentence
from vault_tool.vault.retrieval.engine import Query, gather
from vault_tool.vault.retrieval.query import ProfileName

OWN = Path(__file__).with_name("unanswerable.jsonl")
"""A small vault in our own words: its notes, questions that they answer, and questions that they do not."""

_LIMIT = 10
_AT_MOST = 150
_BEGUN = "2026-01-05T09:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Silence:
    """Of so many questions the share for which ambient recall gave nothing, and for which all that targeted gave was weak."""

    questions: int
    silent: float
    weak: float


def silence(asked: Sequence[tuple[Vault, str]]) -> Silence:
    """How often recall keeps silent on these questions."""
    silent = [not _answers(vault, question, "ambient") for vault, question in asked]
    weak = [all(one.weak for one in _answers(vault, question, "targeted")) for vault, question in asked]
    count = max(1, len(asked))
    return Silence(len(asked), sum(silent) / count, sum(weak) / count)


def _answers(vault: Vault, question: str, profile: ProfileName) -> Sequence[Any]:
    return gather(vault, Query(query=question, profile=profile, limit=_LIMIT, include_global=False)).results


def own_questions() -> tuple[list[str], list[str]]:
    """Our own questions: those that the small vault answers, and those that it does not."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for line in _lines():
        if "question" in line:
            found[bool(line["answered"])].append(str(line["question"]))
    return found[True], found[False]


def make_own_vault(root: Path) -> None:
    """Write the small vault."""
    root.mkdir(parents=True)
    (root / layout.SETTINGS_FILE).write_text("", encoding="utf-8")
    used: set[str] = set()
    for record in _records([line for line in _lines() if "note" in line]):
        path = place(record, {}, lambda place: place.casefold() in used)
        used.add(path.casefold())
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(render(record))


def _records(notes: Sequence[Mapping[str, str]]) -> Iterator[Record]:
    yield Workspace(id=identity("own"), type="workspace", name="own", created=_BEGUN)
    for subject in dict.fromkeys(note["subject"] for note in notes):
        yield Subject(id=identity(f"own {subject}"), type="subject", name=subject, created=_BEGUN)
    for note in notes:
        text = note["note"]
        yield Observation(
            id=identity(text), type="fact", title=first_sentence(text), body=text, subjects=(note["subject"],), created=_BEGUN,
            origin="agent",
        )  # fmt: skip


def elsewhere(one: QuestionSet, conversations: Mapping[str, Conversation]) -> list[tuple[Vault, str]]:
    """Questions of one conversation asked of the next, with the speakers' names changed to those who speak there."""
    names = list(one.conversations)
    if len(names) < 2:
        return []
    asked = []
    for query in _some([query for query in one.queries if query.evidence]):
        there = names[(names.index(query.conv) + 1) % len(names)]
        asked.append((conversations[there].vault, _renamed(one, query, there)))
    return asked


def answerable(one: QuestionSet, conversations: Mapping[str, Conversation]) -> list[tuple[Vault, str]]:
    """Questions asked where their answers are."""
    return [(conversations[query.conv].vault, query.question) for query in _some([q for q in one.queries if q.evidence])]


def _some(queries: Sequence[JudgedQuery]) -> Sequence[JudgedQuery]:
    return random.Random(0).sample(list(queries), min(_AT_MOST, len(queries)))


def _renamed(one: QuestionSet, query: JudgedQuery, there: str) -> str:
    text = query.question
    here, others = ([*dict.fromkeys(row.speaker for row in one.conversations[conv])] for conv in (query.conv, there))
    for mine, theirs in zip(here, others, strict=False):
        text = text.replace(mine, theirs) if mine else text
    return text


def _lines() -> Iterator[dict[str, Any]]:
    with OWN.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())
