"""The query and the results of a recall, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from vault_tool.model.fields import FILTERED, LISTS, NARROWING, by_parameter
from vault_tool.util.structs import Struct
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, Headline
from vault_tool.vault.lean import Short, lean_details, provenance_note, title_if_new, without_empty

ProfileName = Literal["targeted", "ambient", "core"]

# What a result is to the answer: found for itself, or come along with another (`of`) by one of the chains.
Part = Literal["answer", "chain", "update", "solution", "caution", "problem", "related"]

# Where a memory can fall out, in the order in which an answer is made.
Stage = Literal[
    "answered", "filtered", "not found", "not weighed", "disbelieved", "no match", "folded", "crowded out", "limit", "budget",
    "unreadable",
]  # fmt: skip


class Query(Struct, kw_only=True):
    """One question to the vault's memory, with everything that narrows it.

    `profile` is how strict the answer is: `targeted` when somebody asks, `ambient` unprompted. `kinds` are types or classes of
    which any will do, `tags` all wanted and `not_tags` none of them, `project` the only one, `words` the only words of fields
    by their names, `since` and `until` bounds on when it was observed (as `require_moment` reads them), `budget` one on the
    answer in tokens, `hops` how far what is merely alike is followed (0 to 3), `with_changes` whether what overtook a result
    comes with it in any case, `exclude` ids that are not wanted again, `doubtful` whether what is believed to be false is
    shown too, `problem` the id of a problem that the answer is to serve, `why_not` the id of a memory of which it is asked
    what became of it,
    `vaults` the names of other vaults that are asked too.
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
    """The filters among a verb's parameters as fields of its query; TypeError for a parameter that is no filter."""
    values = by_parameter(parameters, NARROWING)
    words = {field.name: values.pop(field.name) for field in FILTERED}
    narrows = {field.name: tuple(values[field.name]) for field in NARROWING if field.kind in LISTS}
    return {**values, **narrows, "words": tuple((name, word) for name, word in words.items() if word)}


class Recalled(Headline, kw_only=True):
    """One result. `score` orders within one answer, `match` (0..1) says how well it fits on an absolute scale.

    `weak` marks what is not sure to answer, and `weak_why` says for what; `why` says how it was found; `caution` is said of a
    failed tactic; `solved_by` is the id of the newest solution of what a tactic failed at before; `of` is the id of the result
    that a chained one came with; `like_it` are the ids of its exact copies; `cut` says which part of a text is given where the
    budget has no room for all of it; `factors` explain the score when asked for. `scope` is the vault that it is from: `repo` for
    this one, else its name; `vaults` are all that hold it, where several were asked.
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
        """The fields that an agent needs. An id of another vault is given whole, for no prefix of it means anything here."""
        # What came along says with what; what was found says by what.
        short = short if self.scope == "repo" else str
        why = f"{self.role} of {short(self.of)}" if self.of else "".join(self.why[:1])
        status = self.lean_status(short)
        if self.caution:
            # That it failed is what the caution says.
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
    """The way of one memory through an answer: it was `answered`, or at which stage it fell out, and why.

    `place` is where it stands, from 1: among the results, else among the `of` that it is compared with there. `match` is how
    well it fits, `weak` whether it is not sure to answer, and for what (`weak_why`), and `least` what the profile asks for;
    `factors` are those of its score, as far as it came.
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
        """Where it fell out, and why."""
        return without_empty({"id": short(self.id), "title": self.title, "stage": self.stage, "reason": self.reason})


class Fit(NamedTuple):
    """How well a memory fits a question, whether it is not sure to answer it, and why."""

    match: float
    weak: bool
    weak_why: str


class RecallAnswer(Struct, kw_only=True):
    """The answer to a question, best first; `degraded` says what it had to do without, `warnings` what nothing here has.

    `fits` says of those of these paths that were weighed in this vault how well each fits.
    """

    query: str
    results: tuple[Recalled, ...]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    why_not: Explanation | None = None
    fits: Callable[[Sequence[str]], Mapping[str, Fit]] = lambda _: {}
    notice: str = HYPOTHESIS_NOTICE
