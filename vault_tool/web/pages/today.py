"""The first page: what a session is given, what changed, what waits, what needs attention, and what is wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import GitError, UsageError
from vault_tool.features.conflicts.settling import is_made_anew
from vault_tool.features.consolidation.passes import waiting_in_words
from vault_tool.features.consolidation.report import NeedingAPerson, needing_a_person
from vault_tool.features.history.undo import undoable
from vault_tool.features.pages.pages import rest_of_page
from vault_tool.features.reading.facets import list_counts, weights, whole_ids
from vault_tool.features.reading.listing import listed
from vault_tool.generate.escape import as_written
from vault_tool.util.structs import Struct
from vault_tool.util.text import BYTES_A_TOKEN, counted, tokens
from vault_tool.vault import another_address
from vault_tool.vault.core_making import PAGE_TOKENS
from vault_tool.vault.page_at_start import page_at_start
from vault_tool.web.asking import act, ask, back_to, cached, done_with, form_of
from vault_tool.web.problem_count import counted_now
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.model.problems import Problem
    from vault_tool.verbs.vault import Vault

_OPERATIONS = 30
# Lines of each list; the page that a list is of has them all.
_MOST = 8

_SECTION = re.compile(r"^## (.+?)(?: \((.*)\))?$", re.MULTILINE)
_CORE_LINE = re.compile(r"^- ([0-9a-f]{6,36}) (.+)$", re.MULTILINE)
# Operations that write no memory that is new.
_NO_NEWS = frozenset(
    {"undo", "delete", "forget", "mark-useful", "mark-questionable", "tag", "pin", "unpin", "hide", "unhide", "review"}
)


class SuggestedStep(Struct):
    """Something that would be worth doing: the sentence, and the button that does it (its name in `STEPS`) or the page for it."""

    text: str
    do: str = ""
    button: str = ""
    page: str = ""


class ContextLine(Struct):
    """A line of what a session is given; `id` is the beginning of the id of the memory that it tells."""

    id: str
    text: str


class ContextSection(Struct):
    """A section of what a session is given: whose it is, about how many tokens it takes, its lines, and its other text."""

    name: str
    source: str
    tokens: int
    lines: tuple[ContextLine, ...] = ()
    text: str = ""


class NewGroup(Struct):
    """The memories that one session wrote, of those that are new; `when` is that of the newest."""

    session: str
    author: str
    when: str
    memories: tuple[Any, ...]

    @property
    def kinds(self) -> list[tuple[str, int]]:
        """How many there are of each type."""
        return Counter(memory.type for memory in self.memories).most_common()


# What a button of this page or of Health does, with what is said when it is done.
STEPS: Mapping[str, tuple[str, Callable[[Vault], Any]]] = MappingProxyType(
    {
        "commit": ("Hand edits are committed", lambda vault: vault.commit()),
        "merge": ("The merge is over", lambda vault: vault.commit()),
        "drain": ("The turns that waited are written", lambda vault: vault.drain()),
        "fix": ("What could be mended is", lambda vault: vault.doctor(fix=True)),
        "reflect": ("CORE.md and REFLECTION.md are up to date", lambda vault: vault.reflect()),
        "embed": ("The missing vectors are made", lambda vault: vault.embed()),
        "reindex": ("The indexes are compared with the files", lambda vault: vault.reindex()),
    }
)


async def today(request: Request) -> Response:
    """The page."""
    return await render(request, "home.html", title="Home", **await ask(request, lambda vault: _found(request, vault)))


async def seen(request: Request) -> Response:
    """Remember that everything up to now was seen."""
    form = await form_of(request)

    def note(vault: Vault) -> None:
        vault.local.looked(form.get("commit", "") or vault.now())

    await act(request, note)
    return done_with(request, "From now on only what is newer is listed as new.", back="/")


async def do(request: Request) -> Response:
    """Do one of `STEPS`."""
    form = await form_of(request)
    name = request.path_params["step"]
    if name not in STEPS:
        raise UsageError(f"there is no step `{name[:40]}`", f"there are {', '.join(STEPS)}")
    message, run = STEPS[name]
    done = await act(request, run)
    return done_with(request, message, back=back_to(request, form, "/"), result=done, undo=name in ("commit", "fix"))


def _found(request: Request, vault: Vault) -> dict[str, Any]:
    status = vault.status()
    looked = vault.local.last_look()
    operations, more = _since(vault, looked)
    can_be_undone = undoable(vault, [operation.commit for operation in operations]) if operations else {}
    core = cached(request, "core", _given)(vault)
    sections = tuple(_sections(core))
    work = cached(request, "work", needing_a_person)(vault)
    groups = tuple(_groups(vault, operations)) if operations else ()
    memories, week = cached(request, "new this week", lambda vault: list_counts(vault, "7d"))(vault)
    dates = cached(request, f"upcoming {vault.now()[:10]}", lambda vault: vault.upcoming(limit=_MOST))(vault)
    ids = whole_ids(vault, (line.id for section in sections for line in section.lines))
    return {
        "status": status, "operations": operations, "more": more, "kept": can_be_undone, "looked": looked,
        "groups": groups, "sections": sections, "ids": ids, "weights": weights(vault, ids.values()),
        "core_parts": [(section.name, section.tokens) for section in sections],
        "core_budget": PAGE_TOKENS,
        "asked_whose": another_address.question(vault),
        "steps": (*_steps(status, work), *_dates(dates)), "problem_count": counted_now(request, vault, status.problems),
        "memories": memories,
        "observations": status.counts.get("observation", 0),
        "week": week.counts["by"], "week_count": week.total, "root": vault.root,
        "kinds": vault.settings.types.observations(),
    }  # fmt: skip


def _given(vault: Vault) -> str:
    """The page that a session's start is given, made as it is made there."""
    return page_at_start(vault, vault.who.project or "", rest_of_page)(PAGE_TOKENS * BYTES_A_TOKEN)


def _groups(vault: Vault, operations: Sequence[Any]) -> Iterator[NewGroup]:
    """The memories that operations wrote and that are there still, by session, the newest first."""
    writing = [operation for operation in operations if operation.op not in _NO_NEWS]
    rows = {row.id: row for row in listed(vault, (identity for operation in writing for identity in operation.ids))}
    by_session: dict[tuple[str, str], list[Any]] = {}
    when: dict[tuple[str, str], str] = {}
    for operation in writing:
        key = (operation.session, "" if operation.session else operation.author)
        when.setdefault(key, operation.at)
        by_session.setdefault(key, []).extend(rows.pop(identity) for identity in operation.ids if identity in rows)
    for (session, author), memories in by_session.items():
        if memories:
            yield NewGroup(session, author, when[session, author], tuple(memories))


def problems_of(request: Request, vault: Vault) -> tuple[Problem, ...]:
    """The problems in the files, with those that are found by reading every text."""
    return cached(request, "doctor", lambda vault: vault.doctor(every=True))(vault).problems


def _since(vault: Vault, looked: str) -> tuple[tuple[Any, ...], bool]:
    """The newest operations, down to the commit that was seen last; and whether that lies further back."""
    try:
        operations = vault.log(_OPERATIONS).results
    except GitError:
        return (), False  # a vault without history
    for at, operation in enumerate(operations):
        if operation.commit == looked:
            return operations[:at], False
    return operations, len(operations) == _OPERATIONS


def _sections(text: str) -> Iterator[ContextSection]:
    """The parts of what a session is given, with what each costs."""
    starts = [(heading.start(), heading.group(1), heading.group(2) or "") for heading in _SECTION.finditer(text)]
    bounds = [*starts, (len(text), "", "")]
    if starts and starts[0][0] > 0:
        yield ContextSection("Head", "", tokens(text[: starts[0][0]]), text=text[: starts[0][0]].strip())
    for (start, name, source), (end, _, _) in pairwise(bounds):
        part = text[start:end]
        lines = tuple(ContextLine(line.group(1), as_written(line.group(2))) for line in _CORE_LINE.finditer(part))
        rest = _CORE_LINE.sub("", part.partition("\n")[2]).strip()
        yield ContextSection(name, source, tokens(part), lines, rest)


def _steps(status: Any, work: NeedingAPerson) -> Iterator[SuggestedStep]:
    """The steps that need attention, each with what settles it."""
    if status.git.conflicted:
        first, *more = sorted(status.git.conflicted, key=lambda path: (is_made_anew(path), path))
        others = f" and {counted(len(more), 'other file')}" if more else ""
        yield SuggestedStep(f"Git left {first}{others} in conflict: choose what stays; the last ends the merge", page="/review")
    elif status.git.merging:
        yield SuggestedStep("A merge waits, and nothing of it is left in conflict", "merge", "End the merge")
    elif status.git.obstacle:
        yield SuggestedStep(status.git.obstacle, page="/health")
    if status.git.uncommitted and not (status.git.conflicted or status.git.merging):
        changed = counted(status.git.uncommitted, "changed file is", "changed files are")
        yield SuggestedStep(f"{changed} not committed", "commit", "Commit them")
    if status.turns:
        yield SuggestedStep(f"{counted(status.turns, 'accepted turn')} not written yet", "drain", "Write them")
    if status.embeddings.vectors is not None and status.embeddings.vectors.behind:
        yield SuggestedStep(f"{counted(status.embeddings.vectors.behind, 'note')} without vectors", "embed", "Embed now")
    if work.contested:
        yield SuggestedStep(f"{counted(work.contested, 'contradiction')} of understandings", page="/consolidate")
    if work.questioned:
        yield SuggestedStep(f"{counted(work.questioned, 'memory is', 'memories are')} questioned", page="/consolidate")
    if work.packets:
        waits = waiting_in_words(work.observations, work.packets)
        yield SuggestedStep(f"{waits} to be consolidated", page="/consolidate")


def _dates(dates: Any) -> Iterator[SuggestedStep]:
    """The memories that are over soon or to be looked at, each with its page."""
    for date in dates.results:
        yield SuggestedStep(f"{date.title}: {date.words}", page=f"/memory/{date.id}")


ROUTES = [
    Route("/", today),
    Route("/seen", seen, methods=["POST"]),
    Route("/do/{step}", do, methods=["POST"]),
]
