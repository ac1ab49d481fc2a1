"""Verbs that use decay scores: `decay`, `core`, `reflection` and `reflect`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest

from vault_tool.belief.decay import Standing, standing
from vault_tool.errors import UsageError
from vault_tool.features.consolidation import passes
from vault_tool.generate.core_forms import Rest
from vault_tool.generate.schedule import Schedule
from vault_tool.generate.schedule import schedule as daily
from vault_tool.index.page_choice import memory_count
from vault_tool.model.signals import EpisodeEntry
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault import drafts, generated_pages
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.facts import Memory
from vault_tool.vault.generated_pages import GeneratedPage
from vault_tool.vault.operation import Saved, SavedAnswer, writing
from vault_tool.vault.page_at_start import SMALL
from vault_tool.vault.request import Answer, in_time, looks, looks_to_show, of_the_whole, verb
from vault_tool.vault.standing import SCORE_DIGITS, Weighed, best_first

SMALLEST_BUDGET = 200


class Scored(Struct, kw_only=True):
    """One memory in the decay table."""

    id: str
    type: str
    title: str
    decay_score: float
    standing: str
    access_count: int
    last_accessed: str | None
    truth: float
    utility: float
    pinned: bool
    path: str


class Decay(Answer, kw_only=True):
    """All active memories by decay score, best first, with how many stand where."""

    as_of: str
    counts: dict[str, int]
    results: tuple[Scored, ...]


class Reflection(SavedAnswer, kw_only=True):
    """The outcome of `reflect`: the memories by standing, how that moved, and which pages changed."""

    counts: dict[str, int]
    moved: tuple[str, ...]
    pages: tuple[str, ...]
    memories: int
    dry_run: bool


@verb
@looks
@of_the_whole
def decay(vault: Context, *, limit: int | None = 50, standings: Sequence[str] = (), progress: Progress | None = None) -> Decay:
    """Compute every memory's decay score now, local use included, and write `_state.json`.

    `limit` and `standings` (active, fading, dormant, archived) choose what is returned, not what is computed.
    """
    unknown = [name for name in standings if name not in set(Standing)]
    if unknown:
        raise UsageError(f"`{unknown[0]}` is no standing", f"choose from {', '.join(Standing)}")
    counts = _no_counts()

    def chosen() -> Iterator[Weighed]:
        for weighed in vault.standings.saving():
            counts[standing(weighed.score).value] += 1
            if not standings or standing(weighed.score) in standings:
                yield weighed

    best = sorted(chosen(), key=best_first) if limit is None else nsmallest(limit, chosen(), key=best_first)
    return Decay(as_of=vault.now(), counts=counts, results=tuple(_scored(vault, weighed) for weighed in best))


@verb
@looks_to_show
@of_the_whole
@in_time
def core(
    vault: Context, *, budget: int | None = None, preview: bool = False, project: str | None = None, as_of: str | None = None
) -> GeneratedPage:
    """Make CORE.md and commit it if more than its date changed; with `preview` only return it as a prompt is given it.

    That form has ids and the memories' own words in place of links, says who vouches once a section, and counts this
    machine's own use too, and is for `project` (by default what the caller's writes are about): what is of other projects alone
    is not on it. A project that the vault does not know is none. `budget` is the most characters it may take (a setting by
    default). Nothing is written while notes are missing in bulk, or while git is in the middle of a merge or rebase; but where
    git could merge everything except generated pages, those are made anew and entered as settled, so that the merge can be
    finished. `as_of` gives a preview as of a time.
    """
    if vault.is_past and not preview:
        raise UsageError("a page as of a time is only printed", f"ask for it with {option('preview', True)}")
    if (allowed := vault.settings.core_budget if budget is None else budget) < SMALLEST_BUDGET:
        raise UsageError(f"a budget of {allowed} characters holds no page", f"give at least {SMALLEST_BUDGET}")
    if not preview:
        return generated_pages.make_core(vault, allowed)
    return generated_pages.core_preview(vault, budget, vault.who.project if project is None else project, rest_of_page)


def rest_of_page(vault: Context) -> Rest:
    """The last line of a page: the work that waits; for a large vault without its packets, which take a while to count.

    Indexes must be fresh.
    """
    vault = vault.seen_by("")
    small = memory_count(vault.index.catalog) <= SMALL
    return Rest(drafts=drafts.count(vault), packets=passes.due(vault).packets if small else 0)


@verb
@of_the_whole
def schedule(vault: Context, program: str = "vt") -> Schedule:
    """How vectors and pages can be refreshed daily: texts for systemd and cron, put nowhere. `program` is the path of `vt`."""
    return daily(str(vault.root), program, vault.root.name)


@verb
@looks_to_show
@of_the_whole
def reflection(vault: Context, *, preview: bool = False) -> GeneratedPage:
    """Make REFLECTION.md and commit it if more than its date changed; with `preview` only return it, with today's own use."""
    return generated_pages.reflection_preview(vault) if preview else generated_pages.make_reflection(vault)


@verb
@looks_to_show
@of_the_whole
def reflect(vault: Context, *, dry_run: bool = False, progress: Progress | None = None) -> Reflection:
    """Decay, CORE.md and REFLECTION.md in one step and one commit; says what moved since the last time.

    With `dry_run` nothing tracked is written.
    """
    if dry_run:
        return _reflected(_Stood.now(vault), generated_pages.changed_pages(vault), Saved(), dry_run=True)
    with writing(vault, "reflect", progress=progress) as op:
        generated_pages.require_known(vault)
        stood, changed, saved = _Stood.now(vault), generated_pages.changed_pages(vault), Saved()
        if changed:
            settled = generated_pages.require_whole(vault)
            summary = f"{counted(stood.memories, 'memory', 'memories')}; changed: {', '.join(page.path for page in changed)}"
            op.log_entry(EpisodeEntry(at=vault.now(), title="Reflection", type=generated_pages.REFLECTION, summary=summary))
            saved = settled or generated_pages.publish(op, changed, "CORE.md and REFLECTION.md")
    return _reflected(stood, changed, saved, dry_run=False)


class _Stood(Struct):
    """How many memories stand where now, and those that stood elsewhere the last time."""

    counts: dict[str, int]
    moved: tuple[str, ...]
    memories: int

    @classmethod
    def now(cls, vault: Context) -> _Stood:
        before, counts, memories = vault.standings.saved_scores(), _no_counts(), 0
        moved: list[tuple[tuple[float, str, str, str], str]] = []
        for weighed in vault.standings.saving():
            memories += 1
            counts[standing(weighed.score).value] += 1
            old = before.get(weighed.entry.id)
            here = standing(round(weighed.score, SCORE_DIGITS))
            if old is not None and standing(old) is not here:
                moved.append((best_first(weighed), f"{weighed.entry.title}: {standing(old)} -> {here}"))
        return cls(counts, tuple(line for _, line in sorted(moved)), memories)


def _reflected(stood: _Stood, changed: Sequence[GeneratedPage], saved: Saved, *, dry_run: bool) -> Reflection:
    return Reflection(
        **saved.fields(),
        counts=stood.counts,
        moved=stood.moved,
        pages=tuple(page.path for page in changed),
        memories=stood.memories,
        dry_run=dry_run,
    )


def _no_counts() -> dict[str, int]:
    return dict.fromkeys((kind.value for kind in Standing), 0)


def _scored(vault: Context, weighed: Weighed) -> Scored:
    entry, belief = weighed.entry, weighed.belief
    return Memory(vault, entry, belief=belief).told(
        Scored, decay_score=round(weighed.score, 4), standing=standing(weighed.score).value, truth=round(belief.truth, 4),
        utility=round(belief.utility, 4),
    )  # fmt: skip
