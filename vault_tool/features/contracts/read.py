"""`read`: memories that bear on a query, by contract, from this vault and the global one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from msgspec.structs import replace

from vault_tool.features.contracts.meaning import RequestChecker
from vault_tool.features.contracts.schemas import require_shape
from vault_tool.features.recall.recall import note_answer
from vault_tool.model.details import Details
from vault_tool.model.fields import LISTS, NARROWING, Narrowing, by_parameter
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import moved_among
from vault_tool.vault.facts import copied
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.request import Answer, verb
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query, RecallAnswer, Recalled, narrowed

_LIMIT = 20
_HOPS = 2

_FOUND_BY = {"words": "word_match", "meaning": "semantic_match", "names its subject": "subject_match"}
_CAME_BY = {
    "chain": "semantic_hop",
    "update": "update_link",
    "solution": "problem_link",
    "caution": "problem_link",
    "problem": "problem_link",
    "related": "link",
}


class ReadMemory(HasStatus, kw_only=True):
    """One result. `kind` is its type; numbers are in 0..1; `details` is what its head says beside the text.

    `retrieval_reason` is how it was found: word_match, semantic_match, subject_match, semantic_hop, problem_link,
    update_link, link, joined by `+`; `why` says the same in words. `came_with` is the id of the result that a chain led
    from; `evidence_moved` says that a file it rests on changed; `solved_by` is the newest solution of what a tactic failed
    at before.
    """

    told_where_any: ClassVar = ("vaults",)

    memory_id: str
    scope: str
    kind: str
    text: str
    details: Details
    truth: float
    utility: float
    problem_id: str | None
    evidence_refs: tuple[str, ...]
    retrieval_reason: str
    why: tuple[str, ...]
    title: str
    summary: str | None
    subject_names: tuple[str, ...]
    score: float
    match: float
    confidence: float | None
    weak: bool
    weak_why: str
    caution: str | None
    solved_by: str | None
    evidence_moved: bool
    came_with: str | None
    observed_at: str
    created: str
    origin: str
    reviewed: bool
    model: str | None
    path: str
    vaults: tuple[str, ...] = ()


class Read(Answer, kw_only=True):
    """The answer of `read`, best first; `degraded` says what it had to do without."""

    stands_before = "degraded"

    ok: bool = True
    query: str
    mode: str
    results: tuple[ReadMemory, ...]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE


@verb
@spelled_out
def read(
    vault: Context,
    query: str,
    *,
    mode: str = "targeted",
    limit: int = _LIMIT,
    include_global: bool = True,
    semantic_hops: int = _HOPS,
    include_problem_links: bool = True,
    include_update_links: bool = True,
    context_problem_id: str = "",
    include_doubtful: bool = False,
    repo_id: str | None = None,
    vaults: Sequence[str] = (),
    **narrowing: Unpack[Narrowing],
) -> Read:
    """Memories that bear on a query, by the contract `memory.read.request`; `mode` ambient is stricter than targeted.

    `vaults` are other vaults that are asked too, as in `recall`; no contract has them.
    The best answer of a targeted read counts as used, once a session. Raises InvalidRequest with every fault at once.
    """
    request: dict[str, Any] = {
        "op": "read", "repo_id": repo_id or "", "mode": mode, "query": query, "include_global": include_global,
        "limit": limit, "context_problem_id": context_problem_id, "include_doubtful": include_doubtful,
        "expand": {
            "semantic_hops": semantic_hops, "include_problem_links": include_problem_links,
            "include_update_links": include_update_links,
        },
    }  # fmt: skip
    filters = by_parameter(narrowing, NARROWING)
    narrows = [field for field in NARROWING if filters[field.name]]
    request |= {field.name: list(filters[field.name]) if field.kind in LISTS else filters[field.name] for field in narrows}
    require_shape(request)
    return answered(vault, {**request, "repo_id": repo_id}, tuple(vaults))


def answered(vault: Context, request: Mapping[str, Any], vaults: tuple[str, ...] = ()) -> Read:
    """Answer a request whose shape is right; raises InvalidRequest for one that cannot be meant."""
    meaning = RequestChecker(vault)
    meaning.repo(request["repo_id"])
    if not request["query"].strip():
        meaning.add("/query", "it is only white space")
    for name in ("since", "until"):
        meaning.moment(f"/{name}", request.get(name) or "")
    problem = _problem(meaning, request.get("context_problem_id", "").strip())
    meaning.require()
    meaning.look()
    answer = gather(vault, replace(_asked(request, problem), vaults=vaults))
    note_answer(vault, answer.results, "read", used=request["mode"] == "targeted")
    return _answer(vault, request["mode"], answer)


def _problem(meaning: RequestChecker, named: str) -> str | None:
    if not named:
        return None
    meaning.look()
    entry = meaning.problem(meaning.vault, "/context_problem_id", named)
    return entry.id if entry else None


def _asked(request: Mapping[str, Any], problem: str | None) -> Query:
    expand = request.get("expand") or {}
    return Query(
        query=request["query"], profile=request["mode"],
        limit=int(request.get("limit", _LIMIT)), include_global=request.get("include_global", True),
        hops=int(expand.get("semantic_hops", _HOPS)), problem_links=expand.get("include_problem_links", True),
        update_links=expand.get("include_update_links", True), with_changes=expand.get("include_update_links", True),
        problem=problem, doubtful=request.get("include_doubtful", False),
        **narrowed({field.name: request[field.name] for field in NARROWING if request.get(field.name)}),
    )  # fmt: skip


def _answer(vault: Context, mode: str, answer: RecallAnswer) -> Read:
    local = {result.id: result.evidence for result in answer.results if result.scope == "repo" and result.evidence}
    moved = moved_among(vault, local)
    results = tuple(_result(result, result.id in moved) for result in answer.results)
    return Read(query=answer.query, mode=mode, results=results, degraded=answer.degraded, warnings=answer.warnings)


def _result(recalled: Recalled, moved: bool) -> ReadMemory:
    return copied(ReadMemory, recalled, retrieval_reason=_reason(recalled), evidence_moved=moved)


def _reason(recalled: Recalled) -> str:
    """The lanes and the link by which a result came."""
    lanes = [token for why in recalled.why for lane, token in _FOUND_BY.items() if why == lane or why.startswith(f"{lane} (")]
    came = [_CAME_BY[recalled.role]] if recalled.role in _CAME_BY else []
    return "+".join(dict.fromkeys([*lanes, *came])) or "match"
