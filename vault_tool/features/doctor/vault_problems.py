"""The problems of a vault: of its notes, of the links between them, of git and of its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from vault_tool.features import stores
from vault_tool.features.doctor import moved_notes
from vault_tool.features.doctor.local_doubts import local_problems
from vault_tool.features.doctor.note_check import checked
from vault_tool.features.doctor.uncommitted_files import uncommitted_files
from vault_tool.features.erasing import forgotten_words, waiting_tombstones
from vault_tool.files import git, layout, local_trust, tombstones
from vault_tool.files.git import rewriting
from vault_tool.files.parse import record
from vault_tool.index.authorship import taken_away
from vault_tool.index.relations import names_of
from vault_tool.model.authority import contributor_of
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.model.problems import Problem, note, warning
from vault_tool.model.types import RecordClass
from vault_tool.util.atomic import temporary_name
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.hints import shell, step
from vault_tool.util.text import normal_name
from vault_tool.vault import (
    another_address,
    asked_reviews,
    dead_links,
    note_history,
    screening,
    settings_in_force,
)
from vault_tool.vault.context import Context
from vault_tool.vault.two_texts import left_by_git

if TYPE_CHECKING:
    from vault_tool.features.erasing.waiting_tombstones import WaitingTombstone

# So long it is told that somebody else deleted a note: whoever agrees has nothing to do.
_TOLD_FOR = timedelta(days=30)

# Problems that `vt status` tells in words of their own.
NO_ADDRESS, ANOTHER_ADDRESS = "no-owner", "another-address"


def every_problem(vault: Context) -> tuple[Problem, ...]:
    """All problems of a vault, each once, by path and line: those that `status` counts, and those that need all texts read."""
    vault = vault.with_withheld()
    listed = {
        *_listed(vault, uncommitted_files(vault), thorough=True),
        *_secrets(vault),
        *_purged_is_back(vault),
        *(dead_links.dead_links(vault) if vault.index.catalog.has_links() else ()),
        *forgotten_words.left(vault),
    }
    return tuple(sorted(listed))


def vault_problems(vault: Context, pending: Sequence[git.UncommittedFile]) -> tuple[Problem, ...]:
    """The problems that `status` counts, each once: of the notes, of the links between them, of git and of the folder.

    `pending` are the uncommitted files. Memories that are withheld from readers count too.
    """
    return tuple(dict.fromkeys(_listed(vault.with_withheld(), pending)))


def _listed(vault: Context, pending: Sequence[git.UncommittedFile], *, thorough: bool = False) -> Iterator[Problem]:
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
        yield note(layout.CONFIG_FILE, 0, ANOTHER_ADDRESS, message, asked)
    yield from _not_served(vault)
    for store in stores.of(vault):
        yield from store.health(thorough=thorough)
    if vault.repo is not None:
        for path in sorted(git.in_conflict(vault.repo)):
            yield left_by_git(vault, path)


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


def _no_owner(vault: Context) -> tuple[Problem, ...]:
    """A problem where git knows no address of the owner: every committed memory would count as pulled, for no visible reason."""
    if vault.repo is None or vault.owners().addresses:
        return ()
    message = "git knows no address of yours, so all that was committed counts as pulled"
    hint = f"{shell('git config --global user.email you@example.org')}, or {step('config', owners='you@example.org')}"
    return (note(layout.CONFIG_FILE, 0, NO_ADDRESS, f"{message} (`owners` are not set)", hint),)


def waiting_for_agreement(vault: Context) -> list[WaitingTombstone]:
    graves = vault.graves()
    return waiting_tombstones.waiting(vault) if graves and graves.theirs else []


def _tombstones(vault: Context) -> Iterator[Problem]:
    """Others' tombstones of memories that are not theirs: who brought them, and that the memory is told until it is decided."""
    for tombstone in waiting_for_agreement(vault):
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
