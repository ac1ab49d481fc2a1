"""`status`: where the vault is, what it holds, and what would be worth doing next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from vault_tool.features import stores
from vault_tool.features.consolidation.passes import due
from vault_tool.features.doctor.local_doubts import in_a_line
from vault_tool.features.doctor.uncommitted_files import uncommitted_files
from vault_tool.features.doctor.vault_problems import (
    ANOTHER_ADDRESS,
    NO_ADDRESS,
    vault_problems,
    waiting_for_agreement,
)
from vault_tool.features.embedding.embedding import EmbedderStatus, embedding_advice, status_of
from vault_tool.files import git, watcher_presence
from vault_tool.files.disks import network_disk
from vault_tool.files.git import driver
from vault_tool.index.trusted_authors import unverified_authors
from vault_tool.model.problems import Problem
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault import asked_reviews, beside, resolve
from vault_tool.vault.context import Context
from vault_tool.vault.core_age import behind
from vault_tool.vault.drafts import undecided
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.statuses import contested_now

NO_OWNER = "none"


class GitStatus(Struct, kw_only=True):
    """How the vault stands to git; `absence` says why there is none.

    `ahead` and `behind` count commits beside what was last `fetched` of the upstream; with `lacks_driver` this clone has no
    driver for notes, which the attributes name, and with `merging` a merge waits for its commit.
    """

    branch: str | None = None
    commit: str | None = None
    uncommitted: int = 0
    conflicted: tuple[str, ...] = ()
    waiting: int = 0
    obstacle: str | None = None
    merging: bool = False
    remotes: tuple[str, ...] = ()
    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    fetched: str = ""
    lacks_driver: bool = False
    absence: str = ""


class OwnerStatus(Struct, kw_only=True):
    """The process that answers for other commands: its start, what is ready, its cost; `absence` is why there is none."""

    pid: int | None = None
    host: str = ""
    started: str = ""
    version: str = ""
    background: bool = False
    answers: bool = False
    warm: tuple[str, ...] = ()
    memory: int | None = None
    """Bytes, where the system says."""

    absence: str = ""


class Status(Answer, kw_only=True):
    """Where the vault is, what it holds, and what would be worth doing next.

    `for_review` memories wait in the inbox for a person, `conflict_copies` are beside notes that two machines wrote,
    `unsettled` notes keep two texts of one place, `contested` memories have another beside them that says otherwise,
    `turns` were accepted and are not written yet, the log of turns keeps `logged_turns` in `logged_bytes`,
    `due_observations` wait for a pass of consolidation in `due_packets`, and CORE.md lacks `core_memories` and is
    `core_days` old, where it lacks any. `vaults` are the person's other vaults: each one's folder, with what is wrong there.
    """

    told_where_any: ClassVar = ("vaults",)

    root: str
    name: str
    counts: Mapping[str, int]
    pages: int
    generation: int
    git: GitStatus
    problems: Mapping[str, int]
    for_review: int
    conflict_copies: int
    unsettled: int
    contested: int
    turns: int
    logged_turns: int
    logged_bytes: int
    due_packets: int
    due_observations: int
    core_memories: int
    core_days: int
    embeddings: EmbedderStatus
    watcher: watcher_presence.Watch | None
    owner: OwnerStatus
    next: tuple[str, ...]
    vaults: Mapping[str, str] | None = None


@verb
@looks
@of_the_whole
def status(vault: Context) -> Status:
    """A short account of the vault, with what to do next."""
    waits = due(vault)  # what is told to nobody is in no packet
    vault = vault.with_withheld()
    catalog = vault.index.catalog
    counts = catalog.counts()
    by_class = Counter[str]()
    for (record_class, _), count in catalog.count_by_type().items():
        by_class[record_class] += count
    quiet, remotes = git.filters_and_remotes(vault.repo) if vault.repo is not None else ((), ())
    pending = uncommitted_files(vault, quiet)
    tracked = _git_status(vault, pending, remotes)
    problems_found = vault_problems(vault, pending)
    problems = Counter(problem.severity.value for problem in problems_found)
    embeddings = status_of(vault)
    remarks = (
        *in_a_line(vault),
        *_advice(vault.looks.last.held_back, tracked, problems),
        *_unknown_authors(vault, problems_found),
    )
    held = waiting_for_review(vault)
    figures = {name: figure for store in stores.of(vault) for name, figure in store.figures().items()}
    contested = contested_now(vault)
    age = behind(vault)
    copies, unsettled = len(catalog.of_kind("conflict")), len(catalog.with_problem("unsettled"))
    return Status(
        root=str(vault.root),
        name=resolve.vault_name(vault),
        counts=by_class,
        pages=counts.pages,
        generation=catalog.generation(),
        git=tracked,
        problems=problems,
        for_review=held,
        conflict_copies=copies,
        unsettled=unsettled,
        contested=contested,
        turns=figures["turns"],
        logged_turns=figures["logged_turns"],
        logged_bytes=figures["logged_bytes"],
        due_packets=waits.packets,
        due_observations=waits.observations,
        core_memories=age.memories,
        core_days=age.days,
        embeddings=embeddings,
        watcher=watcher_presence.watch(vault.root),
        owner=_owner_status(vault),
        vaults=beside.told_folders(vault) if vault.machine.vaults else None,
        next=(
            *remarks,
            *_to_settle(copies, unsettled, contested),
            *_waiting(held, figures["turns"]),
            *embedding_advice(embeddings),
        ),
    )


def _owner_status(vault: Context) -> OwnerStatus:
    holder = watcher_presence.owner(vault.root)
    if holder is None:
        disk = network_disk(vault.root)
        forbidden = "off on this machine" if vault.machine.owner == "off" else ""
        return OwnerStatus(absence=f"none on a network file system ({disk})" if disk else forbidden or NO_OWNER)
    return OwnerStatus(
        pid=holder.pid,
        host=holder.host,
        started=holder.started,
        version=holder.version,
        background=holder.background,
        answers=holder.protocol > 0,
        warm=holder.warm,
        memory=watcher_presence.memory(holder),
    )


def _git_status(vault: Context, pending: Sequence[git.UncommittedFile], remotes: tuple[str, ...]) -> GitStatus:
    repo = vault.repo
    if repo is None:
        return GitStatus(absence=vault.git_absence())
    head = git.head(repo)
    beside = driver.standing(repo, head.branch, remotes) if remotes and head.branch else driver.Standing()
    return GitStatus(
        branch=head.branch,
        commit=head.commit,
        uncommitted=len(pending),
        conflicted=tuple(sorted(p.path for p in pending if p.state == "conflicted")),
        waiting=len(vault.local.pending()),
        obstacle=git.obstacle(repo),
        merging=bool(git.merging(repo)),
        remotes=remotes,
        upstream=beside.upstream,
        ahead=beside.ahead,
        behind=beside.behind,
        fetched=beside.fetched,
        lacks_driver=beside.lacks_driver,
    )


def _advice(held_back: str, tracked: GitStatus, problems: Mapping[str, int]) -> Iterator[str]:
    if held_back:
        yield held_back
    if tracked.obstacle:
        yield tracked.obstacle
    if problems.get("error") or problems.get("warning"):
        named = (counted(count, severity) for severity in ("error", "warning") if (count := problems.get(severity, 0)))
        yield f"{step('doctor')} names {' and '.join(named)}"
    if tracked.uncommitted:
        them = "it" if tracked.uncommitted == 1 else "them"
        files = counted(tracked.uncommitted, "uncommitted file")
        yield f"{step('diff')} shows {files}, {step('commit')} gathers {them}"
    if tracked.ahead or tracked.behind:
        sides = [f"{tracked.behind} behind {tracked.upstream}"] if tracked.behind else []
        sides += [f"{tracked.ahead} ahead{'' if sides else f' of {tracked.upstream}'}"] if tracked.ahead else []
        yield f"{', '.join(sides)}: {step('sync')}"
    if tracked.lacks_driver:
        yield f"git merges notes here as any text: {step('set_up')} gives it the vault's driver"


def _to_settle(copies: int, unsettled: int, contested: int) -> Iterator[str]:
    """A hint to settle the conflicts between two machines or two writers that wait for a person."""
    if copies or unsettled or contested:
        waiting = [counted(copies, "conflict copy", "conflict copies")] if copies else []
        waiting += [counted(unsettled, "unsettled note")] if unsettled else []
        waiting += [counted(contested, "contested memory", "contested memories")] if contested else []
        yield f"{step('review')} settles {' and '.join(waiting)}"


def _unknown_authors(vault: Context, problems: Sequence[Problem]) -> Iterator[str]:
    """The reasons why git cannot tell who wrote the texts, including those among the problems."""
    if reason := unverified_authors(vault.index.catalog):
        yield reason
    yield from (f"{problem.message}: {problem.hint}" for problem in problems if problem.code == NO_ADDRESS)
    yield from (problem.hint for problem in problems if problem.code == ANOTHER_ADDRESS)


def waiting_for_review(vault: Context) -> int:
    """How many drafts, others' tombstones and changes of the settings wait for a person."""
    return len(undecided(vault)) + len(waiting_for_agreement(vault)) + (asked_reviews.waiting(vault) is not None)


def _waiting(held: int, turns: int) -> Iterator[str]:
    """Hints about work that exists on this machine only and would be lost with it."""
    if held:
        them = counted(held, "memory", "memories")
        yield f"{step('review')} decides on {them} that {'waits' if held == 1 else 'wait'} for a person"
    if turns:
        yield f"{step('drain')} writes {counted(turns, 'turn')} that {'waits' if turns == 1 else 'wait'}"
