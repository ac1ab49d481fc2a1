"""The query and the results of a recall, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from vault_tool.model.fields import FILTERED, LISTS, NARROWING, by_parameter
from vault_tool.util.structs import Struct
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, Headline
from vault_tool.vault.lean import Short, lean_details, provenance_note, title_if_new, without_empty

ProfileName = Literal["targeted", "ambient", "core"]

# The role of a result: found for itself, or added to another result (`of`) by one of the chains.
Part = Literal["answer", "chain", "update", "solution", "caution", "problem", "related"]

# The stages at which a memory can drop out, in the order in which an answer is made.
Stage = Literal[
    "answered", "filtered", "not found", "not weighed", "disbelieved", "no match", "folded", "crowded out", "limit", "budget",
    "unreadable",
]  # fmt: skip


class Query(Struct, kw_only=True):
    """One question to the vault's memory, with all its filters and limits.

    - `profile` sets how strict the answer is: `targeted` for a question, `ambient` without one.
    - A result has one of `kinds` (types or classes), all of `tags`, none of `not_tags`, the one `project`, and the `words` given
      for fields by their names. Its observation lies between `since` and `until` (as `require_moment` reads them).
    - `exclude` are ids that are not wanted again; `doubtful` also shows memories that are believed to be false.
    - `budget` limits the answer in tokens; `hops` is the length of chains of merely similar memories (0 to 3); `with_changes`
      adds the memory that overtook a result in any case.
    - `problem` is the id of a problem that the answer should help with; `why_not` the id of a memory whose way through the answer
      is to be explained; `vaults` are the names of other vaults to ask too.
    """

    query: str
    profile: ProfileName = "targeted"
    kinds: tuple[str, ...] = ()
    subject_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    project: str | None = None
    words: tuple[tuple[str, str], ...] = ()
    since: str | None = None
    until: str | None = None
    session: str | None = None
    limit: int = 10
    budget: int | None = None
    hops: int = 0
    problem_links: bool = True
    update_links: bool = True
    with_changes: bool = True
    include_global: bool = True
    exclude: frozenset[str] = frozenset()
    doubtful: bool = False
    problem: str | None = None
    perspectives: tuple[str, ...] = ()
    explain: bool = False
    why_not: str | None = None
    vaults: tuple[str, ...] = ()


def narrowed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The filters among a verb's parameters as fields of its query; raises TypeError for a parameter that is not a filter."""
    values = by_parameter(parameters, NARROWING)
    words = {field.name: values.pop(field.name) for field in FILTERED}
    narrows = {field.name: tuple(values[field.name]) for field in NARROWING if field.kind in LISTS}
    return {**values, **narrows, "words": tuple((name, word) for name, word in words.items() if word)}


class Recalled(Headline, kw_only=True):
    """One result. `score` orders the results of one answer, `match` (0..1) is the fit on an absolute scale.

    `weak` marks a result that may not answer the question, `weak_why` gives the reason. `why` says how it was found. `caution`
    warns of a failed tactic, and `solved_by` is the id of the newest solution of the problem that the tactic failed at. `of` is
    the id of the result that a chained one came with, `like_it` are the ids of exact copies. `cut` names the part of the text
    that is given if the budget has no room for all of it. `factors` explain the score on request. `scope` is the vault of the
    result, `repo` for this one, else its name; `vaults` are all vaults that have it, if several were asked.
    """

    told_where_any: ClassVar = ("vaults",)

    content: str
    score: float
    match: float
    weak: bool
    weak_why: str
    why: tuple[str, ...]
    truth: float
    utility: float
    generation: int | None
    created: str
    origin: str
    path: str
    reviewed: bool = False
    scope: str = "repo"
    session: str | None = None
    model: str | None = None
    problem: str | None = None
    evidence: tuple[str, ...] = ()
    matched_perspective: str | None = None
    role: Part = "answer"
    of: str | None = None
    caution: str | None = None
    solved_by: str | None = None
    stale: bool = False
    like_it: tuple[str, ...] = ()
    cut: str = ""
    factors: Mapping[str, float] | None = None
    vaults: tuple[str, ...] = ()

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that an agent needs. An id of another vault is given whole, because this vault cannot resolve its prefix."""
        # `why` names the result that a chained one came with, or says how a result was found.
        short = short if self.scope == "repo" else str
        why = f"{self.role} of {short(self.of)}" if self.of else "".join(self.why[:1])
        status = self.lean_status(short)
        if self.caution:
            # The caution already says that the tactic failed.
            status.pop("status", None)
        return without_empty({
            "id": short(self.id), "vaults": self.vaults, "class": self.record_class, "type": self.type,
            **title_if_new(self.title, self.content), "cut": self.cut, **lean_details(self.details, short, self.caution or ""),
            "subjects": self.subjects, "match": round(self.match, 2), "weak": self.weak, "weak_why": self.weak_why,
            "why": why,
            "observed": self.observed[:10], "caution": self.caution, **status,
            "solved_by": self.solved_by and short(self.solved_by), "stale": self.stale,
            "like_it": list(map(short, self.like_it)) if len(self.vaults) < 2 else self.like_it,
            **provenance_note(self.origin, self.reviewed),
        })  # fmt: skip


class Explanation(Struct, kw_only=True):
    """The way of one memory through an answer: it was `answered`, or it dropped out at a `stage` for a `reason`.

    `place` is its place, from 1: among the results, else among the `of` memories that reached that stage. `match` is its fit,
    `weak` says that it may not answer the question, for the reason `weak_why`, and `least` is the match that the profile
    requires. `factors` are the factors of its score that were computed.
    """

    id: str
    title: str
    type: str
    stage: Stage
    reason: str
    place: int | None = None
    of: int | None = None
    match: float | None = None
    weak: bool | None = None
    weak_why: str = ""
    least: float | None = None
    factors: Mapping[str, float] | None = None

    def lean(self, short: Short) -> dict[str, Any]:
        """The stage at which the memory dropped out, and the reason."""
        return without_empty({"id": short(self.id), "title": self.title, "stage": self.stage, "reason": self.reason})


class Fit(NamedTuple):
    """The match of a memory with a question, and whether and why it may not answer it."""

    match: float
    weak: bool
    weak_why: str


class RecallAnswer(Struct, kw_only=True):
    """The answer to a question, best result first; `degraded` lists what it did without, `warnings` what is unknown here.

    `fits` gives the fit of each of some paths that was weighed in this vault.
    """

    query: str
    results: tuple[Recalled, ...]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    why_not: Explanation | None = None
    fits: Callable[[Sequence[str]], Mapping[str, Fit]] = lambda _: {}
    notice: str = HYPOTHESIS_NOTICE
