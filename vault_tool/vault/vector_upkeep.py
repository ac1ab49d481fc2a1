"""The upkeep of vectors in the background: the watcher does it in quiet moments, and `doctor` reports its problems."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from vault_tool.errors import Busy, VaultError
from vault_tool.files.layout import CACHE, LOCAL, VECTORS
from vault_tool.files.local_trust import place
from vault_tool.index.vectors import chroma_client, maintenance
from vault_tool.model.problems import Problem, note
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.context import Context

# A vault with at most so many notes is embedded by the first answer that needs vectors.
_FEW = 50

# Seconds after which no further batch is begun while a caller waits for an answer.
_A_MOMENT = 0.3

# Seconds for which an erasure waits for a vector server.
SERVER_SECONDS = 2.0

# The most notes behind that an answer catches up with: to choose among more would take longer than the answer.
_SOME = 1_000


class UpkeepResult(Struct, kw_only=True):
    """The result of one run: `done` counts texts embedded or refused and notes written to Chroma, `behind` the notes left.

    `embedder` is empty if there is no embedder; `fault` says why the run stopped, and is empty if another process does the work.
    """

    done: int = 0
    behind: int = 0
    embedder: str = ""
    fault: str = ""


def keep_vectors(vault: Context, budget_seconds: float) -> UpkeepResult:
    """Embed notes that are behind, write `_embeddings.json`, and update Chroma if it answers, for about `budget_seconds`.

    Call it again while something was done and more is behind. Texts leave this machine only if a person chose that. A failure
    is returned in `fault`, never raised. Embedding is left to another process that does it already.
    """
    vectors = vault.embedding.vectors
    chosen = vault.embedding.choice.embedder
    if chosen is None and not vectors.stored:
        return UpkeepResult()
    done, behind, fault = 0, 0, ""
    if chosen is not None:
        caught = vectors.catch_up(seconds=budget_seconds)
        done, behind = caught.embedded + caught.refused, caught.behind
        fault = "" if caught.busy else caught.stopped
    vectors.export()
    written, unwritten = mirrored(vault, budget_seconds)
    behind = max(behind, vectors.chroma_missing_count())
    return UpkeepResult(done=done + written, behind=behind, embedder=chosen.name if chosen else "", fault=fault or unwritten)


def catch_up_briefly(vault: Context, until: float | None = None) -> int:
    """Embed recent notes before an answer is made from vectors; returns the number of notes that are still behind.

    No batch is begun after a moment, and waiting ends at `until` (monotonic; by default after the seconds in the settings).
    Many notes, and any notes for a remote provider, are left to `embed` and the watcher. Raises nothing.
    """
    vectors = vault.embedding.vectors
    try:
        behind = vectors.missing_count()
        if vectors.configured_embedder is None or vectors.configured_embedder.remote:
            return behind
        if vectors.model_being_filled:
            # Another model was chosen, and the old model's vectors answer: a caller waits only a moment for the new ones.
            if vectors.count <= _SOME:
                vectors.catch_up(seconds=_A_MOMENT, waiting=_A_MOMENT)
                behind = vectors.missing_count()
        elif 0 < behind <= (_SOME if vectors.stored else _FEW):
            waiting = vault.settings.embedding_wait if until is None else until - time.monotonic()
            vectors.catch_up(seconds=_A_MOMENT, waiting=waiting)
            behind = vectors.missing_count()
        vectors.awaited = vectors.awaited or behind > 0
    except VaultError:
        return 0  # the vectors cannot be read: the next search by meaning reports why
    return behind


def mirrored(vault: Context, budget_seconds: float | None = None) -> tuple[int, str]:
    """Update Chroma, if the settings use it; returns the number of notes written, and the failure if there was one."""
    try:
        return vault.embedding.vectors.mirror(budget_seconds), ""
    except Busy:
        return 0, ""  # another process does the same now
    except VaultError as fault:
        return 0, fault.message


def is_mirrored_elsewhere(vault: Context) -> bool:
    """Whether a vector server has, or ever had, vectors of this vault."""
    return (vault.local.place / LOCAL / "vectors-key").is_file()


def withdraw(vault: Context, path: str) -> Iterator[str]:
    """Delete the vectors of a withheld note at the server; yields a remark on what is left if the server does not answer."""
    if is_mirrored_elsewhere(vault):
        maintenance.let_go(vault.local.place / CACHE, [path], vault.settings.lock_wait, chroma_client.coder(vault.root))
        if remark := delete_at_server(vault):
            yield remark


def delete_at_server(vault: Context) -> str:
    """Delete the vectors of gone notes at the server, if it answers at once; returns a remark on those that are left."""
    with suppress(VaultError):  # the remark reports what is left
        vault.embedding.vectors.delete_gone(SERVER_SECONDS)
    return "; ".join(_undeleted(vault))


def not_deleted(vault: Context) -> Iterator[Problem]:
    """A problem for each server that still has vectors of notes that are gone from the vault."""
    for message in _undeleted(vault):
        yield note(f"{CACHE}/{VECTORS}", 0, "vectors-not-deleted", message, f"{step('embed')} deletes them once it answers")


def _undeleted(vault: Context) -> Iterator[str]:
    if is_mirrored_elsewhere(vault):
        left = maintenance.undeleted(vault.local.place / CACHE, vault.settings.lock_wait)
        for store, count in left.items():
            yield f"{store} still has the vectors of {counted(count, 'note')} that this vault has no more"


def upkeep_stamp(vault: Context) -> tuple[object, ...]:
    """A value that changes when there may be upkeep to do: when the catalogue changed, or files of vectors were damaged.

    It is cheap enough to be computed again and again: no embedder is looked for, and no large file is read.
    """
    catalog = vault.index.catalog
    settled = chroma_client.InFolder(place(vault.root) / CACHE / chroma_client.FOLDER).noted_stamp() is not None
    return catalog.meta("nonce"), catalog.seq(), maintenance.exported_well(vault.root), settled


def not_embedded(vault: Context) -> Iterator[Problem]:
    """A problem for each note with a text that the embedder refused, and one for a model whose files have changed."""
    if model := vault.embedding.vectors.outdated:
        place = f"{CACHE}/{VECTORS}"
        message = f"{model}: its files are others than those that made the vectors, which answer nothing now"
        yield note(place, 0, "model-changed", message, f"{step('embed')} makes them anew")
    for refusal in vault.embedding.vectors.refusals():
        hint = f"it is tried again after a while, by {step('embed')}, or once the note has changed"
        yield note(refusal.path, 0, "not-embedded", f"not embedded: {refusal.reason}", hint)
