"""Every verb by name: its parameters, the fields of its result, its method, its command and its place in the documents."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.cli.method_table import method_table
from vault_tool.cli.output import to_json
from vault_tool.cli.table import command_of
from vault_tool.cli.verb_table import verb_table, verbs
from vault_tool.util.clock import FixedClock

ROOT = Path(__file__).parent.parent

PERSON_ONLY = frozenset({"review", "forget", "undo"})
"""What no agent may do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One verb: its parameters, and the fields of its result as paths (`results[].id`, `subject.name`)."""

    parameters: tuple[str, ...]
    fields: tuple[str, ...]


_CARD = tuple(
    f"results[].{name}"
    for name in (
        "name", "summary", "tags", "single_subject_understanding.id", "single_subject_understanding.summary",
        "single_subject_understanding.generation", "structural_understanding.id", "structural_understanding.summary",
        "observation_count", "last_observation_at",
    )
)  # fmt: skip

PRIMARY: Mapping[str, Row] = {
    "orient": Row(
        (),
        (
            "soul.content", "soul.summary", "soul.updated_at", "soul.compaction_note", "protocol.content", "protocol.summary",
            "protocol.updated_at", "protocol.compaction_note", "orientation.content", "orientation.summary",
            "orientation.updated_at", "pending_consolidation_count", "recent_activity.since",
            "recent_activity.subjects_with_new_observations", "recent_activity.subjects_with_new_understandings",
        ),
    ),
    "bring_to_mind": Row(
        ("topic_or_context", "last_token", "include_seen"),
        (
            "compaction_note", "heartbeat_token", "compaction_detected", "results[].id", "results[].source",
            "results[].subject_names", "results[].summary", "results[].content", "results[].relevance_score",
            "results[].generation",
        ),
    ),
    "recall": Row(
        ("query",),
        (
            "best_answer.subject_names", "best_answer.content", "best_answer.confidence", "best_answer.kind",
            "best_answer.source", "supporting[].subject_names", "supporting[].content", "supporting[].score",
            "provenance.session_id", "provenance.model_tier", "provenance.created_at",
        ),
    ),
    "recall by name": Row(
        ("query",),
        (
            "subject.name", "subject.summary", "subject.tags", "single_subject_understanding.id",
            "single_subject_understanding.content", "single_subject_understanding.summary",
            "single_subject_understanding.generation", "single_subject_understanding.updated_at",
            "structural_understanding.id", "structural_understanding.content", "structural_understanding.updated_at",
            "recent_observations[].id", "recent_observations[].content", "recent_observations[].kind",
            "recent_observations[].observed_at",
        ),
    ),
    "reset_seen": Row((), ("cleared",)),
    "open_around": Row(
        ("subject_name",),
        (
            "subject.name", "subject.summary", "subject.tags", "neighbors[].subject.name", "neighbors[].subject.summary",
            "neighbors[].intersection_size", "neighbors[].similarity_score", "neighbors[].intersection_understanding.id",
            "neighbors[].intersection_understanding.summary",
        ),
    ),
    "open_intersection": Row(
        ("subject_a", "subject_b"),
        (
            "subject_a.name", "subject_a.summary", "subject_b.name", "subject_b.summary", "relationship_understanding.id",
            "relationship_understanding.content", "relationship_understanding.summary", "relationship_understanding.generation",
            "relationship_understanding.model_tier", "relationship_understanding.created_at", "other_understandings",
            "observations[].id", "observations[].content", "observations[].kind", "observations[].observed_at",
            "intersection_size", "provenance",
        ),
    ),
    "remember": Row(
        ("subject_names", "content", "kind", "confidence", "related_to"),
        ("id", "content", "subject_names", "subjects_created", "similar_subjects", "similar"),
    ),
    "update_understanding": Row(
        ("understanding_id", "new_content", "new_summary", "subject_names", "reason", "kind"),
        ("old_understanding_id", "new_understanding_id", "subjects"),
    ),
    "mark_useful": Row(("id", "reason"), ("id",)),
    "mark_questionable": Row(("id", "reason"), ("id",)),
}  # fmt: skip

OTHER: Mapping[str, Row] = {
    "create_subjects": Row(("subjects",), ("results[].id", "results[].name", "results[].created")),
    "get_subjects": Row(("names",), _CARD),
    "update_subject_summary": Row(("name", "summary"), ("name", "summary")),
    "set_structural_understanding": Row(("subject_name", "content"), ("subject_name", "understanding_id", "created")),
    "add_observations": Row(
        ("observations",), ("results[].id", "results[].content", "results[].subject_names", "results[].subjects_created")
    ),
    "delete_observations": Row(("ids",), ("deleted", "rejected[].id", "rejected[].reason")),
    "search_observations": Row(
        ("subject_names", "query", "mode", "limit"), ("results[].id", "results[].content", "results[].subjects", "mode")
    ),
    "create_understanding": Row(
        ("subject_names", "content", "summary", "kind", "source_observation_ids"), ("id", "subjects", "type", "created")
    ),
    "get_understandings": Row(
        ("subject_names",), ("results[].id", "results[].summary", "results[].generation", "results[].session")
    ),
    "get_understanding_history": Row(("understanding_id",), ("results[].id", "results[].content", "results[].created")),
    "search": Row(
        ("query", "limit"),
        (
            "results[].id", "results[].class", "results[].subjects", "results[].summary", "results[].matched_content",
            "results[].matched_perspective", "results[].score",
        ),
    ),
    "get_consolidation_report": Row(
        (),
        (
            "subjects_needing_understanding[].name", "subjects_needing_understanding[].observation_count",
            "subjects_needing_understanding[].generation", "stale_understandings[].id", "stale_understandings[].subject_names",
            "stale_understandings[].summary", "stale_understandings[].generation", "stale_understandings[].last_updated",
            "intersections_needing_synthesis[].subject_a", "intersections_needing_synthesis[].subject_b",
            "intersections_needing_synthesis[].intersection_size", "intersections_needing_synthesis[].new_generation_count",
            "intersections_needing_synthesis[].existing_understanding", "semantically_dense_intersections",
            "unlinked_observations[].subject_names", "unlinked_observations[].content", "unlinked_observations[].created_at",
            "questionable_items[].id", "questionable_items[].kind", "questionable_items[].reason",
            "questionable_items[].flagged_at", "pending_consolidation_count",
        ),
    ),
    "get_pending_consolidation": Row((), ("subjects", "intersections")),
    "find_similar_subjects": Row((), ("results",)),
    "merge_subjects": Row(("primary", "duplicate"), ("primary", "duplicate")),
    "get_stats": Row(
        (),
        (
            "subject_count", "observation_count", "understanding_count", "embedding_coverage", "current_generation",
            "workspace.name", "workspace.description",
        ),
    ),
}  # fmt: skip

BESIDES = (
    "begin_consolidation", "get", "link", "related", "pin", "episode", "review", "read", "write", "update",
    "get_session_context", "list", "turn", "backstop", "list_turns", "get_turn", "end_session", "forget", "undo", "snapshot",
)  # fmt: skip
"""Verbs without a contract of old: they need a method, a command and a page."""

VERBS = {**PRIMARY, **OTHER}
NAMES = sorted({verb.partition(" ")[0] for verb in VERBS})

WITHOUT_COMMAND = frozenset({"schedule"})
"""What only programs ask for: the words of `vt core --schedule`."""


@pytest.mark.parametrize("verb", sorted({*NAMES, *BESIDES}))
def test_every_verb_has_a_method_a_command_and_its_row(verb: str) -> None:
    assert inspect.getdoc(getattr(Vault, verb))
    assert command_of(verb)
    assert f"| `{verb}` |" in (ROOT / "docs/verbs.md").read_text(encoding="utf-8")


def test_every_public_method_has_a_command_that_is_documented() -> None:
    commands = {name: command_of(name) for name in verbs() if name not in WITHOUT_COMMAND}
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert [name for name, command in commands.items() if f"## vt {command}\n" not in page] == []


def test_the_table_of_verbs_is_current() -> None:
    written = (ROOT / "docs/verbs.md").read_text(encoding="utf-8")
    assert written == verb_table(), "run `python -m vault_tool.cli.verb_table > docs/verbs.md`"


@pytest.mark.parametrize("verb", NAMES)
def test_every_verb_takes_the_parameters_of_its_contract(verb: str) -> None:
    assert set(VERBS[verb].parameters) <= set(inspect.signature(getattr(Vault, verb)).parameters)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The answer of every verb with a contract, as JSON, in one vault in which each has something to say."""
    root = tmp_path_factory.mktemp("told") / "notes"
    clock = FixedClock(datetime(2026, 11, 20, 10, tzinfo=UTC))
    Vault.init(root, name="Lab", clock=clock)
    with (
        FakeOllama() as ollama,
        Vault.open(root, session="s1", model="m", clock=clock, environ={"OLLAMA_HOST": ollama.url}) as vault,
    ):
        return {verb: json.loads(to_json(value)) for verb, value in _answers(vault, clock)}


def _answers(vault: Vault, clock: FixedClock) -> Iterator[tuple[str, object]]:
    yield (
        "create_subjects",
        vault.create_subjects([{"name": "James", "summary": "A person.", "tags": ["people"]}, {"name": "Audrey"}]),
    )
    yield "update_subject_summary", vault.update_subject_summary("James", "A person who builds.")
    yield "set_structural_understanding", vault.set_structural_understanding("James", "Also called Jim.")
    first = vault.remember("James and Audrey are married.", ["James", "Audrey"], kind="fact", confidence=0.9)
    added = vault.add_observations([{"content": "James builds a memory.", "subject_names": ["James", "Memory"]}])
    yield "add_observations", added
    alone = vault.create_understanding(["James"], "James builds.", "James builds.", source_observation_ids=[first.id])
    yield "create_understanding", alone
    pair = vault.create_understanding(["James", "Audrey"], "They are married.", "A married pair.", kind="relationship")
    yield "remember", vault.remember("James likes tea.", ["James"], kind="preference", confidence=0.9, related_to=[alone.id])
    revised = vault.update_understanding(
        alone.id, "James builds and likes tea.", "James builds.", subject_names=["James"], reason="tea"
    )
    yield "update_understanding", revised
    yield "mark_useful", vault.mark_useful(first.id, reason="it helped")
    yield "mark_questionable", vault.mark_questionable(added.results[0].id, reason="is it so?")
    vault.begin_consolidation()
    clock.advance(timedelta(days=40))
    vault.add_observations(
        [{"content": f"James and Memory, part {n}.", "subject_names": ["James", "Memory", "Audrey"]} for n in range(4)]
    )
    vault.embedding.vectors.catch_up()
    yield "orient", vault.orient()
    yield "bring_to_mind", vault.bring_to_mind("James and Audrey are married", last_token=None, include_seen=True)
    yield "recall", vault.recall("James and Audrey are married")
    yield "recall by name", vault.recall("James")
    yield "reset_seen", vault.reset_seen()
    yield "open_around", vault.open_around("Audrey")
    yield "open_intersection", vault.open_intersection("James", "Audrey")
    yield "get_subjects", vault.get_subjects(["James"])
    yield "search_observations", vault.search_observations(["James"], "memory", mode="text", limit=5)
    yield "get_understandings", vault.get_understandings(["James"])
    yield "get_understanding_history", vault.get_understanding_history(pair.id)
    yield "search", vault.search("James builds", limit=5)
    yield "get_consolidation_report", vault.get_consolidation_report()
    yield "get_pending_consolidation", vault.get_pending_consolidation()
    yield "find_similar_subjects", vault.find_similar_subjects()
    yield "get_stats", vault.get_stats()
    mistake = vault.remember("A slip.")
    yield "delete_observations", vault.delete_observations([mistake.id, "0000aaaa"])
    vault.create_subjects([{"name": "Jimmy"}])
    yield "merge_subjects", vault.merge_subjects("James", "Jimmy")


def test_every_result_has_the_fields_of_its_contract(told: Mapping[str, Any]) -> None:
    missing = {verb: lacking for verb, row in VERBS.items() if (lacking := [f for f in row.fields if not _has(told[verb], f)])}
    assert missing == {}


def _has(value: Any, path: str) -> bool:
    """Whether a path of names leads somewhere; `[]` goes into the items of a list, which must not be empty."""
    for step in path.split("."):
        name = step.removesuffix("[]")
        items = value if isinstance(value, list) else [value]
        found = [item[name] for item in items if isinstance(item, dict) and name in item and item[name] is not None]
        leaf = [item for item in items if isinstance(item, dict) and name in item]
        if step.endswith("[]"):
            value = [one for part in found for one in part]
            if not value:
                return False
        elif path.endswith(step):
            return bool(leaf)
        else:
            value = found
            if not value:
                return False
    return True


def test_the_class_of_all_verbs_is_made_of_them() -> None:
    kept = (ROOT / "vault_tool/verbs/vault.py").read_text(encoding="utf-8")
    assert kept == method_table(), "python -m vault_tool.cli.method_table > FILE, and FILE to vault_tool/verbs/vault.py"
