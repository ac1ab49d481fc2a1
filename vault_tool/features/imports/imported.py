"""The outcome of an import, which is that of all its batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import field

from vault_tool.model.problems import Problem
from vault_tool.vault.operation import Saved


class Imported(Saved, kw_only=True):
    """The outcome of an import, or with `dry_run` its plan. Paths in `problems` and `attachments` are relative to `source`.

    `imported`, `updated`, `moved` (with their source) and `unchanged` count notes; `pages` says how many of them stay pages
    (no record could be made of them). `changed_on_both_sides` are copies that were edited here and whose source changed or
    went too: left as they are. `gone` are the notes that the source had and has no more, of which `pruned` were removed.
    `skipped` counts by reason what was not taken, each named in `problems` (`hidden` ones aside, templates by folder).
    """

    source: str
    target: str
    dry_run: bool = False
    imported: int = 0
    updated: int = 0
    moved: int = 0
    unchanged: int = 0
    pages: int = 0
    edges: int = 0
    episodes: int = 0
    uses: int = 0
    gone: tuple[str, ...] = ()
    pruned: int = 0
    changed_on_both_sides: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    attachments: tuple[str, ...] = ()
    attachments_copied: int = 0
    subjects_created: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    known_problems: tuple[Problem, ...] = ()
    """Those that an earlier import of the same folder told, and that are there still."""
    commits: tuple[str, ...] = ()
    seconds: float = 0.0
    form: str = ""
    """The form that an export was found to have, and in `tried` on what its reading was tried."""
    tried: str = ""


def together(saved: Sequence[Saved]) -> Imported:
    """The outcome of all batches: committed where each was, with the first reason where one was not."""
    last = saved[-1] if saved else Saved()
    first_fault = next((batch for batch in saved if batch.reason), last)
    return Imported(
        source="", target="",
        committed=bool(saved) and all(batch.committed for batch in saved), commit=last.commit, reason=first_fault.reason,
        attention=any(batch.attention for batch in saved), conflicts=tuple(c for batch in saved for c in batch.conflicts),
        warnings=tuple(dict.fromkeys(w for batch in saved for w in batch.warnings)),
        commits=tuple(batch.commit for batch in saved if batch.commit),
    )  # fmt: skip
