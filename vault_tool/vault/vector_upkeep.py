"""Keeping notes findable by meaning without being asked: what a watcher does in quiet moments, and what doctor says of it."""

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

# A vault of so few notes is embedded by the first answer that is made of meaning.
_FEW = 50

# Seconds after which no further batch is begun while somebody waits for an answer.
_A_MOMENT = 0.3

# Seconds that an erasing waits for a server of vectors.
SERVER_SECONDS = 2.0

# To choose among more than so many would take longer than the answer.
_SOME = 1_000


class UpkeepResult(Struct, kw_only=True):
    """The result of one run: texts embedded or refused and notes written to Chroma in it, notes still behind, and why.

    `embedder` is empty where nobody embeds; `fault` is empty also where another process is at it.
    """

    done: int = 0
    behind: int = 0
    embedder: str = ""
    fault: str = ""


def keep_vectors(vault: Context, budget_seconds: float) -> UpkeepResult:
    """Embed what is behind, write `_embeddings.json`, and bring Chroma, where it answers, up to it, for about so many seconds.

    To be called again while something was done and more is behind. Texts leave this machine only where a person chose
    that. What could not be done is in `fault`, never raised; a process that is at it already is left to it.
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
    """Embed what was written just now before an answer is made of vectors; how many notes are behind after it.

    No more is begun after a moment, and nothing is waited for after `until` (monotonic; else as long as the settings say).
    Where much waits, or a provider elsewhere is asked, it is left to `embed` and the watcher. Raises nothing.
    """
    vectors = vault.embedding.vectors
    try:
        behind = vectors.missing_count()
        if vectors.configured_embedder is None or vectors.configured_embedder.remote:
            return behind
        if vectors.model_being_filled:
            # Another model was chosen, and the old one's vectors answer: nobody waits for the new ones but this moment.
            if vectors.count <= _SOME:
                vectors.catch_up(seconds=_A_MOMENT, waiting=_A_MOMENT)
                behind = vectors.missing_count()
        elif 0 < behind <= (_SOME if vectors.stored else _FEW):
            waiting = vault.settings.embedding_wait if until is None else until - time.monotonic()
            vectors.catch_up(seconds=_A_MOMENT, waiting=waiting)
            behind = vectors.missing_count()
        vectors.awaited = vectors.awaited or behind > 0
    except VaultError:
        return 0  # the vectors cannot be read: whoever asks them next says why
    return behind


def mirrored(vault: Context, budget_seconds: float | None = None) -> tuple[int, str]:
    """Bring Chroma, where it is to answer, up to the vectors: how many notes were written, and what it could not be for."""
    try:
        return vault.embedding.vectors.mirror(budget_seconds), ""
    except Busy:
        return 0, ""  # whoever is at it does the same
    except VaultError as fault:
        return 0, fault.message


def is_mirrored_elsewhere(vault: Context) -> bool:
    """Whether a server has, or had, vectors of this vault."""
    return (vault.local.place / LOCAL / "vectors-key").is_file()


def withdraw(vault: Context, path: str) -> Iterator[str]:
    """Take the vectors of a withheld note from a server; yields what is left to do where it does not answer."""
    if is_mirrored_elsewhere(vault):
        maintenance.let_go(vault.local.place / CACHE, [path], vault.settings.lock_wait, chroma_client.coder(vault.root))
        if remark := delete_at_server(vault):
            yield remark


def delete_at_server(vault: Context) -> str:
    """Have the server of vectors delete what the vault has no more, if it answers at once; else what is left to do."""
    with suppress(VaultError):  # what is left there says so
        vault.embedding.vectors.delete_gone(SERVER_SECONDS)
    return "; ".join(_undeleted(vault))


def not_deleted(vault: Context) -> Iterator[Problem]:
    """The servers that have vectors of notes which the vault has no more."""
    for message in _undeleted(vault):
        yield note(f"{CACHE}/{VECTORS}", 0, "vectors-not-deleted", message, f"{step('embed')} deletes them once it answers")


def _undeleted(vault: Context) -> Iterator[str]:
    if is_mirrored_elsewhere(vault):
        left = maintenance.undeleted(vault.local.place / CACHE, vault.settings.lock_wait)
        for store, count in left.items():
            yield f"{store} still has the vectors of {counted(count, 'note')} that this vault has no more"


def upkeep_stamp(vault: Context) -> tuple[object, ...]:
    """A value that changes when there may be upkeep to do: as the catalogue does, or when files of vectors were spoilt.

    Cheap enough to be asked again and again: nobody who embeds is looked for, and nothing large is read.
    """
    catalog = vault.index.catalog
    settled = chroma_client.InFolder(place(vault.root) / CACHE / chroma_client.FOLDER).noted_stamp() is not None
    return catalog.meta("nonce"), catalog.seq(), maintenance.exported_well(vault.root), settled


def not_embedded(vault: Context) -> Iterator[Problem]:
    """The notes of which a text is not embedded because it was refused, each with the reason; a model that became another one."""
    if model := vault.embedding.vectors.outdated:
        place = f"{CACHE}/{VECTORS}"
        message = f"{model}: its files are others than those that made the vectors, which answer nothing now"
        yield note(place, 0, "model-changed", message, f"{step('embed')} makes them anew")
    for refusal in vault.embedding.vectors.refusals():
        hint = f"it is tried again after a while, by {step('embed')}, or once the note has changed"
        yield note(refusal.path, 0, "not-embedded", f"not embedded: {refusal.reason}", hint)
