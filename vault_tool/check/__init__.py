"""Problems between the notes of a vault: rules over a snapshot, one function a rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from vault_tool.check import ends, evidence_rules, identity, lineage, references, vocabulary
from vault_tool.check.scope import Scope
from vault_tool.model.problems import DATED_AHEAD, Problem
from vault_tool.model.snapshot import Snapshot
from vault_tool.model.types import Registry
from vault_tool.util.deferred import deferred

if TYPE_CHECKING:
    from vault_tool.check import future_dates
else:
    future_dates = deferred("vault_tool.check.future_dates")  # where a note is dated ahead

Rule = Callable[[Scope], Iterable[Problem]]

RULES: tuple[Rule, ...] = (
    identity.duplicate_id,
    identity.duplicate_subject_name,
    identity.path_twins,
    identity.workspaces,
    identity.pages,
    references.dangling_reference,
    references.wrong_class_reference,
    references.self_reference,
    references.edge_shape,
    references.doubled_edges,
    references.relations_in_head,
    lineage.supersession_cycle,
    lineage.consolidation_cycle,
    lineage.supersedes_other_type,
    lineage.relationship_of_one,
    evidence_rules.malformed_evidence,
    ends.ends_before_its_time,
    vocabulary.unknown_type,
    vocabulary.missing_subject_file,
    vocabulary.many_subjects,
    vocabulary.duplicate_body,
    vocabulary.odd_word,
)


def check(snapshot: Snapshot, registry: Registry, forgotten: Collection[str] = ()) -> tuple[Problem, ...]:
    """The problems of the snapshot's own (what reading found) and those of all rules, by path; nothing is changed.

    `forgotten` are the ids of tombstones: what still cites them is told so, and not that they are missing.
    """
    scope = Scope(snapshot, registry, frozenset(forgotten))
    problems = {problem for rule in RULES for problem in rule(scope)}
    problems.update(snapshot.problems)
    return in_order(problems)


def in_order(problems: Collection[Problem]) -> tuple[Problem, ...]:
    """Problems by path, those of dates ahead of the clock as one."""
    return tuple(
        sorted(future_dates.gathered(problems) if any(problem.code == DATED_AHEAD for problem in problems) else problems)
    )
