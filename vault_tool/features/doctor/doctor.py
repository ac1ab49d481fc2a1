"""The vault's health: `status`, `doctor` and `reindex`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from vault_tool.check import alike
from vault_tool.check.alike import LikeFindings, Told
from vault_tool.errors import EditRefused, VaultError
from vault_tool.features import stores
from vault_tool.features.consolidation.passes import due
from vault_tool.features.doctor import moved_notes
from vault_tool.features.doctor.local_doubts import in_a_line, local_problems
from vault_tool.features.doctor.note_check import checked
from vault_tool.features.editing import editing
from vault_tool.features.embedding.embedding import EmbedderStatus, embedding_advice, status_of
from vault_tool.features.erasing import forgotten_words, waiting_tombstones
from vault_tool.files import git, layout, local_trust, reader, tombstones, watcher_presence
from vault_tool.files.disks import network_disk
from vault_tool.files.frontmatter import Remove
from vault_tool.files.git import driver, rewriting
from vault_tool.files.parse import record
from vault_tool.files.render import body_text
from vault_tool.index.authorship import taken_away
from vault_tool.index.relations import names_of
from vault_tool.index.trusted_authors import unverified_authors
from vault_tool.model.authority import contributor_of
from vault_tool.model.ids import SHOWN_PREFIX, new_id
from vault_tool.model.problems import Problem, Severity, note, warning
from vault_tool.model.records import Edge
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import RecordClass
from vault_tool.util.atomic import temporary_name
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.hints import shell, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, normal_name, one_line
from vault_tool.vault import (
    another_address,
    asked_reviews,
    beside,
    dead_links,
    note_history,
    resolve,
    screening,
    settings_in_force,
)
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.core_age import behind
from vault_tool.vault.drafts import undecided
from vault_tool.vault.operation import Operation, Saved, SavedAnswer, writing
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.statuses import contested_now

if TYPE_CHECKING:
    from vault_tool.features.erasing.waiting_tombstones import WaitingTombstone

NO_OWNER = "none"
# So long it is told that somebody else deleted a note: whoever agrees has nothing to do.
_TOLD_FOR = timedelta(days=30)


# Problems that `vt status` tells in words of their own.
_NO_ADDRESS = "no-owner"
_ANOTHER_ADDRESS = "another-address"


class GitStatus(Struct, kw_only=True):
    """How the vault stands to git; `absence` says why there is none.

    `ahead` and `behind` count commits beside what was last `fetched` of the upstream; with `lacks_driver` this clone has no
    driver for notes, which the attributes name.
    """

    branch: str | None = None
    commit: str | None = None
    uncommitted: int = 0
    conflicted: tuple[str, ...] = ()
    waiting: int = 0
    obstacle: str | None = None
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


class Diagnosis(SavedAnswer, kw_only=True):
    """The problems and notices of the vault's files; `fixed` says what `fix` mended.

    `problems` are told one by one, those that are `alike` once, and `left_out` not at all; `counts` are of all.
    """

    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    alike: tuple[LikeFindings, ...] = ()
    left_out: int = 0
    fixed: tuple[str, ...] = ()

    @property
    def findings(self) -> bool:
        """Whether anything is at least a warning."""
        return any(self.counts.get(severity.value) for severity in (Severity.ERROR, Severity.WARNING))


class Reindexed(Struct, kw_only=True):
    """The differences found between the files and the indexes; `withheld` says why removals were not applied."""

    added: int
    modified: int
    removed: int
    unchanged: int
    count: int
    problems: int
    stale: tuple[str, ...]
    withheld: str
    seconds: float


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
    pending = _uncommitted(vault, quiet)
    tracked = _git_status(vault, pending, remotes)
    problems_found = list(dict.fromkeys(_problems(vault, pending)))
    problems = Counter(problem.severity.value for problem in problems_found)
    embeddings = status_of(vault)
    remarks = (
        *in_a_line(vault),
        *_advice(vault.looks.last.withheld, tracked, problems),
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


@verb
@looks
@of_the_whole
def doctor(vault: Context, *, fix: bool = False, every: bool = False) -> Diagnosis:
    """The problems of the vault, by path and line; findings that are alike once with how many they are, unless `every` one is
    asked for. With `fix`, pages are adopted and `relations:` become edges first.

    Nothing else is ever mended by itself: what a note means is for a person to say.
    """
    vault = vault.with_withheld()
    saved, fixed, unmended = _fixed(vault) if fix else (Saved(), (), ())
    problems = tuple(
        sorted(
            {
                *_problems(vault, _uncommitted(vault), thorough=True),
                *_secrets(vault),
                *_purged_is_back(vault),
                *(dead_links.dead_links(vault) if vault.index.catalog.has_links() else ()),
                *forgotten_words.left(vault),
            }
        )
    )
    counts = Counter(problem.severity.value for problem in problems)
    shown = Told(problems) if every else alike.told(problems)
    return Diagnosis(
        **saved.fields(*unmended), problems=shown.problems, counts=counts, alike=shown.alike, left_out=shown.left_out,
        fixed=fixed,
    )  # fmt: skip


@verb
@of_the_whole
def reindex(vault: Context, *, full: bool = False, confirm: bool = False, progress: Progress | None = None) -> Reindexed:
    """Compare the files with the indexes, or with `full` build them anew; `confirm` accepts that notes are gone in bulk."""
    refresh = vault.index.refresh(full=full, confirm=confirm, progress=progress)
    vault.index.export()
    vault.export_if_due()
    return Reindexed(
        added=refresh.added,
        modified=refresh.modified,
        removed=refresh.removed,
        unchanged=refresh.unchanged,
        count=refresh.count,
        problems=refresh.problems,
        stale=tuple(refresh.stale),
        withheld=refresh.withheld,
        seconds=round(refresh.seconds, 3),
    )


def _problems(vault: Context, pending: Sequence[git.UncommittedFile], *, thorough: bool = False) -> Iterator[Problem]:
    """The problems of the notes, of the links between them, of git and of the folder."""
    with no_collection():
        graves = vault.forgotten()
        catalog = vault.index.catalog
        problems = catalog.derived(("check", graves), lambda: checked(catalog, vault.settings.types, graves))
    yield from problems
    yield from settings_in_force.in_force(vault.root, vault.repo).problems
    yield from settings_in_force.without_effect(vault.root)
    yield from asked_reviews.problems(vault)
    yield from local_problems(vault)
    yield from _tombstones(vault)
    yield from _taken_away(vault)
    yield from _tracked_by_mistake(vault)
    yield from _renamed(vault, pending)
    if vault.notes_folder is not None:
        yield from moved_notes.lost_notes(vault)
    yield from _no_owner(vault)
    if asked := _another_address(vault):
        message = "all of this vault is by another address than yours, so nothing of it counts as yours"
        yield note(layout.CONFIG_FILE, 0, _ANOTHER_ADDRESS, message, asked)
    yield from _not_served(vault)
    for store in stores.of(vault):
        yield from store.health(thorough=thorough)
    if vault.repo is not None:
        for path in sorted(git.in_conflict(vault.repo)):
            generated = path in layout.MADE_PAGES
            settles = f"{step('review')} settles it, and the last such file ends the merge"
            hint = f"{step('review')} makes it anew, with the last file in conflict" if generated else settles
            yield warning(path, 0, "merge-conflict", "git has not settled a merge of this file", hint)


def _secrets(vault: Context) -> Iterator[Problem]:
    """The likely secrets in the files; only `doctor` reads all of them."""
    catalog = vault.index.catalog
    notes = [path for kind in ("record", "page", "unreadable", "conflict") for path in catalog.of_kind(kind)]
    return screening.in_notes(vault, notes, [path for kind in ("episode", "signals") for path in catalog.of_kind(kind)])


def _purged_is_back(vault: Context) -> Iterator[Problem]:
    """Purged memories whose old history is here again, by a pull, a push or a restored backup."""
    receipts = vault.local.receipts()
    if vault.repo is None or not receipts:
        return
    of = {str(commit): receipt for receipt in receipts for commit in receipt.get("held_by", ())}
    back = {str(identity) for commit in rewriting.present(vault.repo, list(of)) for identity in of[commit].get("ids", ())}
    for identity in sorted(back):
        hint = f"{step('purge', memory_ids=identity)} once whoever brought it has the new history"
        yield warning(
            tombstones.tombstone(identity), 0, "purged-is-back", "commits that held it are in the repository again", hint
        )


def _tracked_by_mistake(vault: Context) -> Iterator[Problem]:
    if vault.repo is None:
        return
    # No temporary file need be there: a kill leaves one at any time, and `git add` would take it.
    temporary = f"{layout.VAULT}/{temporary_name('note.md')}"
    own = [*layout.UNTRACKED, temporary]
    if git.untracked_and_ignored(vault.repo, own).issuperset(own):
        return
    for path in sorted(git.tracked(vault.repo, [name for name in layout.UNTRACKED if name not in local_trust.NAMES])):
        hint = f"{shell('git rm --cached -r ' + path.split('/')[0])}, and see that .gitignore lists it"
        yield warning(path, 0, "derived-tracked", "a derived or local file is tracked by git", hint)
    present = [name for name in layout.UNTRACKED if (vault.root / name).exists()]
    ignored = git.ignored(vault.repo, [*present, temporary])
    hint = f"{step('init', path='.')} adds the missing lines to .gitignore"
    for name in sorted(set(present) - ignored):
        yield warning(name, 0, "derived-not-ignored", "git does not ignore this derived or local file", hint)
    if temporary not in ignored:
        yield warning(".gitignore", 0, "derived-not-ignored", "git does not ignore temporary files of the tool", hint)


def _renamed(vault: Context, pending: Sequence[git.UncommittedFile]) -> Iterator[Problem]:
    """Subjects that a person renamed since the last commit: the unchanged id shows it, and the old name may be an alias."""
    if vault.repo is None:
        return
    changes = [change for change in pending if change.path.startswith(f"{layout.VAULT}/")]
    if {"new", "deleted"} <= {change.state for change in changes}:
        changes = note_history.with_their_old_places(vault.repo, changes)
    for change in changes:
        entry = vault.index.catalog.by_path(change.path)
        if change.state not in ("modified", "renamed") or entry is None or entry.record_class is not RecordClass.SUBJECT:
            continue
        before = record(change.path, git.show(vault.repo, "HEAD", change.was or change.path) or b"", vault.settings.types)
        old = getattr(before, "name", "")
        if before is not None and before.id == entry.id and old and normal_name(old) not in names_of(entry):
            hint = f"add `{old}` to its aliases, so that what is tagged with it stays there"
            yield note(entry.path, 1, "renamed-subject", f"the subject `{old}` is called `{entry.title}` now", hint)


def _uncommitted(vault: Context, quiet: Sequence[tuple[str, str]] | None = None) -> list[git.UncommittedFile]:
    """The vault's own files that differ from HEAD: one comparison for whatever asks."""
    if vault.repo is None:
        return []
    own = [layout.VAULT, layout.CORE_FILE, layout.REFLECTION_FILE, layout.SETTINGS_FILE, layout.TEMPLATES]
    return git.uncommitted(vault.repo, own, quiet)


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
        remotes=remotes,
        upstream=beside.upstream,
        ahead=beside.ahead,
        behind=beside.behind,
        fetched=beside.fetched,
        lacks_driver=beside.lacks_driver,
    )


def _advice(withheld: str, tracked: GitStatus, problems: Mapping[str, int]) -> Iterator[str]:
    if withheld:
        yield withheld
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
    yield from (f"{problem.message}: {problem.hint}" for problem in problems if problem.code == _NO_ADDRESS)
    yield from (problem.hint for problem in problems if problem.code == _ANOTHER_ADDRESS)


def _no_owner(vault: Context) -> tuple[Problem, ...]:
    """A problem where git knows no address of the owner: every committed memory would count as pulled, for no visible reason."""
    if vault.repo is None or vault.owners().addresses:
        return ()
    message = "git knows no address of yours, so all that was committed counts as pulled"
    hint = f"{shell('git config --global user.email you@example.org')}, or {step('config', owners='you@example.org')}"
    return (note(layout.CONFIG_FILE, 0, _NO_ADDRESS, f"{message} (`owners` are not set)", hint),)


def waiting_for_review(vault: Context) -> int:
    """How many drafts, others' tombstones and changes of the settings wait for a person."""
    return len(undecided(vault)) + len(_waiting_tombstones(vault)) + (asked_reviews.waiting(vault) is not None)


def _waiting_tombstones(vault: Context) -> list[WaitingTombstone]:
    graves = vault.graves()
    return waiting_tombstones.waiting(vault) if graves and graves.theirs else []


def _tombstones(vault: Context) -> Iterator[Problem]:
    """Others' tombstones of memories that are not theirs: who brought them, and that the memory is told until it is decided."""
    for tombstone in _waiting_tombstones(vault):
        state = "it is not in the vault" if tombstone.taken else "it is told"
        short = tombstone.id[:SHOWN_PREFIX]
        hint = f"{step('review', refuse=short)} keeps it, {step('review', accept=short)} forgets it"
        yield warning(
            tombstones.tombstone(tombstone.id), 0, "tombstone-waits", f"{tombstone.said}: {state} until you decide", hint
        )


def _taken_away(vault: Context) -> Iterator[Problem]:
    """Notes of the owner's that another person's commit deleted in the last month and that are not back."""
    if vault.repo is None:
        return
    since, catalog, forgotten = (vault.clock.now() - _TOLD_FOR).timestamp(), vault.index.catalog, vault.forgotten()
    lost = [
        deletion
        for deletion in taken_away(catalog)
        if deletion.at >= since and deletion.id not in forgotten and not catalog.get(deletion.id)
    ]
    places = {blob: path for _, path, blob in git.removed_by(vault.repo, {deletion.commit for deletion in lost})}
    for deletion in lost:
        if path := places.get(deletion.blob):
            message = f"{contributor_of(deletion.author)} deleted this note of yours in commit {deletion.commit[:10]}"
            yield warning(
                path, 0, "taken-away", message, f"{shell(f'git checkout {deletion.commit[:10]}~1 -- {path}')} brings it back"
            )


def _another_address(vault: Context) -> str:
    souls = vault.index.catalog.of_class(RecordClass.UNDERSTANDING, "soul")
    return another_address.question(vault) if any(soul.pulled for soul in souls) else ""


def _not_served(vault: Context) -> tuple[Problem, ...]:
    """Settings that came from elsewhere do not have the folder around the vault read."""
    if not vault.settings.notes or vault.notes_folder is not None:
        return ()
    message = f"the notes in {vault.root.parent} are not served, for nobody asked for it on this machine"
    return (
        note(layout.SETTINGS_FILE, 0, "not-served", message, f"{step('init', path=vault.root.parent)} does, or take `notes` out"),
    )


def _waiting(held: int, turns: int) -> Iterator[str]:
    """Hints about work that exists on this machine only and would be lost with it."""
    if held:
        them = counted(held, "memory", "memories")
        yield f"{step('review')} decides on {them} that {'waits' if held == 1 else 'wait'} for a person"
    if turns:
        yield f"{step('drain')} writes {counted(turns, 'turn')} that {'waits' if turns == 1 else 'wait'}"


def _fixed(vault: Context) -> tuple[Saved, tuple[str, ...], tuple[str, ...]]:
    """Adopt the pages that can be, turn hand-written `relations:` into edge files; what was done, and what could not be."""
    unmended: list[str] = []
    with writing(vault, "doctor") as op:
        snapshot = vault.index.catalog.snapshot()
        done = [*_adoptions(op, snapshot.pages), *_relations(op, snapshot, unmended)]
        saved = op.carry_out(f"mended {counted(len(done), 'file')}")
    return saved, tuple(done), tuple(unmended)


def _adoptions(op: Operation, pages: Sequence[str]) -> Iterator[str]:
    """Each page that can be a record, made one; the others stay as they are."""
    for path in pages:
        data = reader.read(op.vault.root, path)
        try:
            adopted, identity, _ = editing.adopted_text(op.vault, path, data, "general")
        except VaultError:
            continue
        if not op.vault.allow_secrets and screening.new_in_file(op.vault, path, adopted):
            continue
        op.rewrite(path, data, adopted)
        yield f"{path}: adopted as {identity}"


def _relations(op: Operation, snapshot: Snapshot, unmended: list[str]) -> Iterator[str]:
    """Each `relations:` entry of a head as an edge file, when its target is known; the list is then taken away.

    A list with one that cannot be is left whole, and what is in its way is added to `unmended`.
    """
    for entry in snapshot.entries:
        listed = entry.head.get("relations")
        if not isinstance(listed, list) or entry.stale:
            continue
        edges = [_edge(op.vault, snapshot, entry, relation) for relation in listed]
        if obstacles := [edge for edge in edges if isinstance(edge, str)]:
            unmended += [f"{entry.path}: its relations stay as they are: {obstacle}" for obstacle in obstacles]
            continue
        try:
            op.edit(entry.path, Remove("relations"))
        except EditRefused:
            continue  # the head's own problem says why
        for edge in edges:
            if not isinstance(edge, str) and not _exists(snapshot, edge):
                op.create(edge)
        yield f"{entry.path}: {len(edges)} relations became edges"


def _edge(vault: Context, snapshot: Snapshot, entry: Entry, relation: object) -> Edge | str:
    """The edge that one relation comes to, or in words why it comes to none."""
    if not isinstance(relation, dict):
        return f"`{one_line(str(relation), 40)}` is no relation: it has a `target` and a `type`"
    named, kind = one_line(str(relation.get("target", "")), 60), one_line(str(relation.get("type", "")), 40)
    target = snapshot.by_id.get(named.lower(), ())
    if len(target) != 1:
        return f"{'several records have' if target else 'no record has'} the id of its target `{named}`"
    spec = vault.settings.types.spec(kind)
    if not spec.known or spec.record_class is not RecordClass.EDGE:
        return f"`{kind}` is no type of edge"
    start, end = (target[0], entry) if relation.get("direction") == "incoming" else (entry, target[0])
    strength = relation.get("strength")
    return Edge(
        id=new_id(), type=kind, from_id=start.id, from_title=start.title, to_id=end.id, to_title=end.title,
        strength=float(strength) if isinstance(strength, (int, float)) else None,
        body=body_text(one_line(str(relation.get("context", "")))),
        created=vault.now(), **vault.who.provenance(),
    )  # fmt: skip


def _exists(snapshot: Snapshot, edge: Edge) -> bool:
    same = (edge.type, edge.from_id, edge.to_id)
    return any((e.type, e.text("from_id"), e.text("to_id")) == same for e in snapshot.of_class(RecordClass.EDGE))
