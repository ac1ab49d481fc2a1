"""Keeping notes findable by meaning without being asked: what a watcher does in quiet moments, and what doctor says of it."""

from __future__ import annotations

from collections.abc import Iterator

from vault_tool.errors import Busy
from vault_tool.model.problems import Problem, note
from vault_tool.verbs.context import Context


def keep_vectors(vault: Context, budget_seconds: float) -> int:
    """Embed what is behind and bring Chroma, where it answers, up to it, for about so many seconds; how many texts and notes.

    To be called again while it returns more than 0. Where there is no embedder, or another process is at it, nothing
    is done; what failed is in the next answer's and in `vt status`. Texts leave this machine only where a person chose
    that.
    """
    from vault_tool.index.vectors.port import StoreUnavailable  # only what compares meanings needs it

    vectors = vault.vectors
    done = vectors.catch_up(seconds=budget_seconds).embedded if vectors.embedder is not None else 0
    vectors.export()
    try:
        return done + vectors.mirror(budget_seconds)
    except (Busy, StoreUnavailable):
        return done


def not_embedded(vault: Context) -> Iterator[Problem]:
    """The notes of which a text is not embedded because it was refused, each with the reason."""
    for refusal in vault.vectors.refusals():
        hint = "it is tried again after a day, or once the note has changed"
        yield note(refusal.path, 0, "not-embedded", f"not embedded: {refusal.reason}", hint)
