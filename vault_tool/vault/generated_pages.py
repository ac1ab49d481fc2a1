"""CORE.md and REFLECTION.md as they are made from the vault, written, and made anew where git could not merge them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter

from msgspec.structs import replace

from vault_tool.belief.fold import Belief, question_of
from vault_tool.consolidation.understanding_coverage import Sighting, contested, coverage, current
from vault_tool.errors import Refused, VaultError
from vault_tool.files import git, layout, reader, writer
from vault_tool.files.layout import CORE_FILE, MADE_PAGES, REFLECTION_FILE, FileKind
from vault_tool.generate.core_forms import Rest
from vault_tool.generate.core_page import same_but_for_date
from vault_tool.generate.reflection_page import Beside, Concern, reflection_page
from vault_tool.index.relations import declared_projects, supersession
from vault_tool.index.slight import narrowed, observations_of
from vault_tool.index.visibility import Request, visible
from vault_tool.model.snapshot import ENDS, Entry, Snapshot
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import BYTES_A_TOKEN, counted
from vault_tool.vault import screening
from vault_tool.vault.contests import all_contested
from vault_tool.vault.context import Context
from vault_tool.vault.core_making import PAGE_TOKENS, WholeCore, moment_of, nothing_waits
from vault_tool.vault.folder_project import core_project
from vault_tool.vault.operation import Operation, Saved, SavedAnswer, put, writing
from vault_tool.vault.standing import Weighed
from vault_tool.vault.statuses import statuses

# From so many observations a subject without an understanding, or one that they have overtaken, is named.
WORTH_A_LINE = 3

# The type of a reflection's entry in the day's log: with its hyphen no memory can have it.
REFLECTION = "vault-reflection"

_REFLECTION_MARK = f"- **Type:** {REFLECTION}\n".encode()
_MERGES = re.compile(rb"^- \*\*Type:\*\* vault-merge\r?$", re.MULTILINE)
# In the logs of a cognitive memory a merge is an entry of that type, or one whose title begins with the word.
_IMPORTED_MERGES = re.compile(rb"^## \d\d:\d\d - merged? |^- \*\*Type:\*\* (?:vault-)?merge\r?$", re.MULTILINE | re.IGNORECASE)


class GeneratedPage(SavedAnswer, kw_only=True):
    """A generated page; `changed` says whether the tracked file differs from it in more than a date."""

    path: str
    text: str
    characters: int
    changed: bool


def make_core(vault: Context, budget: int | None = None) -> GeneratedPage:
    """Write CORE.md in at most `budget` characters (a setting by default), and commit it if more than its date changed."""
    return _made(vault, CORE_FILE, lambda: WholeCore(vault).page(budget or vault.settings.core_budget).text)


def make_reflection(vault: Context) -> GeneratedPage:
    """Write REFLECTION.md, and commit it if more than its date changed."""
    return _made(vault, REFLECTION_FILE, lambda: _reflection(vault, _looked(vault), 0))


def _made(vault: Context, path: str, text_of: Callable[[], str]) -> GeneratedPage:
    with writing(vault, path.removesuffix(".md").lower()) as op:
        settled = require_whole(vault)
        text = text_of()
        page = _page(vault, path, text)
        saved = settled or publish(op, [page], path)
    return replace(page, **saved.fields())


def make_anew(vault: Context, shows: Callable[[str], bool]) -> Iterator[str]:
    """Make those pages anew of whose text `shows` is true; yields what is said of each that cannot be made now."""
    makers = {CORE_FILE: make_core, REFLECTION_FILE: make_reflection}
    for path, make in makers.items():
        page = vault.root / path
        text = page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""
        if not text or not shows(text):
            continue
        try:
            make(vault)
        except VaultError as fault:
            # What is to be off the page is done by now; that a merge keeps it from being made is no reason to call that failed.
            yield f"{path} may still show it: {fault.message}; {step(path.removesuffix('.md').lower())} makes it anew"


def core_preview(
    vault: Context, budget: int | None = None, project: str = "", rest: Callable[[Context], Rest] = nothing_waits
) -> GeneratedPage:
    """CORE.md as a prompt is given it: ids and the memories' own words in place of links, in at most `PAGE_TOKENS` tokens.

    It is for the project of this name, or for all where the vault knows none of that name; `rest` says what else its last line
    tells.
    """
    with vault.index.consistent_read():
        chosen = core_project(vault.seen_by(""), project) if project else None
        whole = WholeCore(vault, live=True, prompt=True, project=chosen, rest=rest(vault))
        page = whole.page(PAGE_TOKENS * BYTES_A_TOKEN if budget is None else budget)
    return replace(_page(vault, CORE_FILE, page.text), warnings=whole.warnings)


def reflection_preview(vault: Context) -> GeneratedPage:
    """REFLECTION.md as it would be now, with this machine's own use."""
    return _page(vault, REFLECTION_FILE, _reflection(vault, _looked(vault, live=True), 0))


def changed_pages(vault: Context, new: int = 1) -> list[GeneratedPage]:
    """The generated pages, if they differ from the tracked ones in more than their dates and counts."""
    moment = moment_of(vault, live=False)
    taken: list[Weighed] = []
    weighed = _taken(_weighed_each(vault, moment, live=False), taken)
    core_text = (
        WholeCore(vault, known=((memory.entry, memory.belief) for memory in weighed)).page(vault.settings.core_budget).text
    )
    seen = _seen(vault, taken, moment, live=False)
    texts = ((CORE_FILE, core_text), (REFLECTION_FILE, _reflection(vault, seen, new)))
    pages = [_page(vault, path, text) for path, text in texts]
    return pages if pages[0].changed or _worth_it(vault, pages[1]) else []


def first_pages(vault: Context) -> Saved:
    """CORE.md and REFLECTION.md of a new vault, in one commit; those that are there already stay as they are."""
    with writing(vault, "init") as op:
        pages = [page for page in changed_pages(vault, new=0) if not (vault.root / page.path).exists()]
        return publish(op, pages, "CORE.md and REFLECTION.md")


def _worth_it(vault: Context, page: GeneratedPage) -> bool:
    """Whether REFLECTION.md would change below its header, which counts the reflections themselves."""
    before = _tracked(vault, page.path)
    return _below_header(before) != _below_header(page.text)


def _below_header(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("> Last updated:"))


# What REFLECTION.md reads of a head.
_READ = (
    "created", "observed", "tags", "put_by_others", "subjects", "project", "origin", "user", *ENDS, "model", "sources",
    "supersedes",
)  # fmt: skip


class _Seen(Struct):
    """The material of REFLECTION.md: the memories that nothing supersedes, weighed, with subjects and passes, and as of when.

    Of their heads there is what it reads.
    """

    snapshot: Snapshot
    weighed: list[Weighed]
    moment: datetime
    live: bool


def _looked(vault: Context, *, live: bool = False) -> _Seen:
    """From tracked signals alone as of today's date (UTC), or `live` with this machine's own use as of now."""
    moment, taken = moment_of(vault, live), list[Weighed]()
    for _ in _taken(_weighed_each(vault, moment, live=live), taken):
        pass
    return _seen(vault, taken, moment, live=live)


def _weighed_each(vault: Context, moment: datetime, *, live: bool) -> Iterator[Weighed]:
    # These pages are in everybody's prompt: what is about one user, or was made of it, is not on them.
    seen = vault.seen_by("")
    return seen.standings.weigh_each(supersession(seen.index.catalog), live=live, as_of=moment)


def _taken(weighed: Iterable[Weighed], taken: list[Weighed]) -> Iterator[Weighed]:
    """The same, each kept with what REFLECTION.md reads of it."""
    for memory in weighed:
        taken.append(replace(memory, entry=narrowed(memory.entry, _READ)))
        yield memory


def _seen(vault: Context, weighed: list[Weighed], moment: datetime, *, live: bool) -> _Seen:
    vault = vault.seen_by("")
    catalog = vault.index.catalog
    weighed.sort(key=lambda memory: memory.entry.path)
    others = (entry for kind in (RecordClass.SUBJECT, RecordClass.CONSOLIDATION) for entry in catalog.of_class(kind))
    # What an understanding says that it replaces may be an observation: that stays evidence.
    replaced = observations_of(catalog, supersession(vault.index.catalog))
    entries = sorted((*others, *replaced, *(memory.entry for memory in weighed)), key=attrgetter("path"))
    return _Seen(Snapshot(tuple(entries), barred=catalog.barred()), weighed, moment, live)


def _reflection(vault: Context, seen: _Seen, new: int) -> str:
    """The page; `new` is 1 when it is made by a reflection that will be logged."""
    today = seen.moment.date().isoformat()
    beliefs = {memory.entry.id: memory.belief for memory in seen.weighed}
    days, merges = _reflection_days(vault)
    catalog = vault.seen_by("").index.catalog
    request = Request(now=seen.moment)
    current = [memory.entry for memory in seen.weighed if visible(memory.entry, request, "observed") is None]
    return reflection_page(
        [*current, *seen.snapshot.of_class(RecordClass.CONSOLIDATION)],
        {identity: belief.access_count for identity, belief in beliefs.items()},
        [*_contested_changes(vault.seen_by(""), seen.snapshot), *_concerns(seen.snapshot, seen.weighed)],
        as_of=seen.moment.date(),
        last_reflection=today if new else max(days, default=""),
        reflections=len(days) + new,
        merges=merges,
        reviewed=lambda identity: identity in beliefs and beliefs[identity].reviewed,
        projects=declared_projects(vault.settings.projects, seen.snapshot.of_class(RecordClass.SUBJECT)),
        live=seen.live,
        preview=lambda entry: (catalog.by_path(entry.path) or entry).preview,
        said_beside=lambda entries: _said_beside(vault.seen_by(""), entries, beliefs),
    )


def _said_beside(vault: Context, entries: Sequence[Entry], beliefs: Mapping[str, Belief]) -> dict[str, list[Beside]]:
    """By path the statuses that a list tells beside each memory, with the memories that they are by."""
    catalog = vault.index.catalog
    whole = [catalog.by_path(entry.path) or entry for entry in entries]
    return {
        path: [
            Beside(mark.words, tuple(other for identity in mark.by for other in catalog.get(identity)[:1]), mark.why)
            for mark in status.said_beside
        ]
        for path, status in statuses(vault, whole, believed=beliefs).items()
    }


def _concerns(snapshot: Snapshot, weighed: Iterable[Weighed]) -> list[Concern]:
    """Matters for a person to settle: contested, questioned, overtaken by evidence, and subjects without an understanding."""
    disputes = [
        Concern("contested", entries, "more than one is active; one that supersedes all settles it")
        for entries in contested(current(snapshot))
    ]
    questions = [Concern("questionable", (memory.entry,), asked) for memory in weighed if (asked := question_of(memory.belief))]
    return [*disputes, *questions, *_unsaid(snapshot)]


def _contested_changes(vault: Context, snapshot: Snapshot) -> Iterator[Concern]:
    """The observations of which one says that it changed the other, by a writer without the authority."""
    for identity, others in sorted(all_contested(vault).items()):
        for other in others:
            pair = [entry for member in (identity, other.id) for entry in snapshot.by_id.get(member, ())[:1]]
            if identity < other.id and all(entry.record_class is RecordClass.OBSERVATION for entry in pair):
                yield Concern("contested", tuple(pair), "one says that it changes the other: the owner settles it by a review")


def _unsaid(snapshot: Snapshot) -> Iterator[Concern]:
    """Understandings that enough evidence has overtaken, and subjects with as much and no understanding."""
    current = [entry for entry in snapshot.of_class(RecordClass.UNDERSTANDING) if snapshot.active(entry)]
    uncovered = coverage(
        (Sighting(e.id, _keys(snapshot, e), e.text("created")) for e in snapshot.of_class(RecordClass.OBSERVATION)),
        [(entry, _keys(snapshot, entry)) for entry in current],
    )
    late = [entry for entry in current if uncovered.behind.get(entry.id, 0) >= WORTH_A_LINE]
    for entry in sorted(late, key=lambda e: (-uncovered.behind[e.id], e.path)):
        yield Concern("stale", (entry,), f"{uncovered.behind[entry.id]} observations came after it")
    for key in uncovered.uncovered():
        count = uncovered.subjects[key].observations
        subject = snapshot.by_id.get(key, ())
        if count >= WORTH_A_LINE and subject:
            yield Concern("uncovered", subject[:1], f"{counted(count, 'observation')} and no understanding")


def _keys(snapshot: Snapshot, entry: Entry) -> frozenset[str]:
    return frozenset(snapshot.subject_key(name) for name in entry.subjects)


def _reflection_days(vault: Context) -> tuple[list[str], int]:
    """The day of each reflection so far, and how many subjects were merged, from the logs of all writers."""
    days: list[str] = []
    merges = 0
    for path in sorted(vault.index.catalog.of_kind(FileKind.EPISODE.value)):
        data = reader.read(vault.root, path)
        days.extend([layout.journal_date(path)] * data.count(_REFLECTION_MARK))
        merges += _merges(path, data)
    return days, merges


def _merges(path: str, data: bytes) -> int:
    """How many entries of a log tell of a merge."""
    if layout.IMPORTED_LOG not in path:
        return len(_MERGES.findall(data))
    return sum(bool(_IMPORTED_MERGES.search(entry)) for entry in re.split(rb"^(?=## )", data, flags=re.MULTILINE))


def resolve_page_conflicts(vault: Context) -> Saved | None:
    """Make those generated pages anew that git could not merge, and tell git that they are settled; None when it cannot be.

    That is so where something else is in conflict as well, for a page is made from notes. Call it under the write lock.
    """
    repo = vault.repo
    conflicts = sorted(git.in_conflict(repo)) if repo else []
    if repo is None or not conflicts or not set(MADE_PAGES).issuperset(conflicts):
        return None
    pages: dict[str, bytes] = {}
    for path in conflicts:
        core = path == CORE_FILE
        text = WholeCore(vault).page(vault.settings.core_budget).text if core else _reflection(vault, _looked(vault), 0)
        pages[path] = screening.masked(text).encode("utf-8")
        put(vault, path, pages[path])
    git.resolve_conflicts(repo, pages, vault.settings.lock_wait)
    message = f"the conflict in {' and '.join(conflicts)} is settled: made anew from the notes, and added to git's index"
    return Saved(reason="; ".join(filter(None, (message, git.obstacle(repo)))), attention=True)


def require_whole(vault: Context) -> Saved | None:
    """A page of a vault that is half there must not replace one of the whole.

    During a merge pages are made only to settle their own conflict: what that came to is returned.
    """
    require_known(vault)
    settled = resolve_page_conflicts(vault)
    if vault.repo and not settled:
        git.require_free(vault.repo, "no page is written now")
    return settled


def require_known(vault: Context) -> None:
    """Raise Refused where the last look at the files found notes missing in bulk."""
    if held_back := vault.looks.last.held_back:
        what, _, advice = held_back.partition("; ")
        raise Refused(f"no page is written: {what}", advice)


def _tracked(vault: Context, path: str) -> str:
    return writer.read(vault.root, path).decode("utf-8", "replace") if (vault.root / path).exists() else ""


def _page(vault: Context, path: str, text: str) -> GeneratedPage:
    """A page that is not written yet."""
    text = screening.masked(text)
    changed = not same_but_for_date(_tracked(vault, path), text)
    return GeneratedPage(path=path, text=text, characters=len(text), changed=changed)


def publish(op: Operation, pages: Sequence[GeneratedPage], title: str) -> Saved:
    """Write those of the pages that changed, in one commit."""
    for page in pages:
        if page.changed:
            op.page(page.path, page.text)
    return op.carry_out(title)
