"""After a merge by git alone: what sync settles in its own merges, and git knows nothing of, is settled before it is sent."""

from __future__ import annotations

from collections import defaultdict

from vault_tool.features.erasing import forgotten_words
from vault_tool.features.erasing.erasing import erased
from vault_tool.files import git, reader
from vault_tool.files.git.run import output
from vault_tool.files.merging.tree_merge import one_link
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context
from vault_tool.vault.operation import writing


class Mended(Struct):
    """The files that were rid of words of forgotten memories, and the ids of links that went into older ones."""

    redacted: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


def mend(vault: Context, repo: git.Repo, ours: str, theirs: str) -> Mended:
    """Take out words of what was forgotten, and fold links that were made twice, where a merge that is not ours is to be sent."""
    beyond = ("--not", theirs) if theirs else ()
    asked = ("rev-list", "--merges", "--max-count=1", "--invert-grep", "--grep=^Vault-Op: sync$", ours, *beyond)
    if not output(repo.work_tree, "look for merges", *asked).strip():
        return Mended()
    whole = vault.with_withheld()
    return Mended(_without_forgotten_words(whole), _folded(whole))


def _without_forgotten_words(vault: Context) -> tuple[str, ...]:
    with writing(vault, "sync") as op:
        remaining = dict(forgotten_words.remaining(vault))
        return erased(op, {identity: [] for identity in remaining}, remaining).redacted


def _folded(vault: Context) -> tuple[str, ...]:
    """The ids of the newer of links of one kind between the same two; the older keeps the words of both."""
    with writing(vault, "sync") as op:
        alike: dict[tuple[str, str, str], list[Entry]] = defaultdict(list)
        for entry in vault.index.catalog.of_class(RecordClass.EDGE):
            # Of others' links none takes the place of the owner's.
            if not entry.stale and not entry.pulled:
                alike[entry.text("from_id"), entry.type, entry.text("to_id")].append(entry)
        gone: list[str] = []
        for entries in alike.values():
            older, *newer = sorted(entries, key=lambda entry: (entry.text("created"), entry.id))
            before = text = reader.read(vault.root, older.path)
            for entry in newer:
                joined = one_link(text, reader.read(vault.root, entry.path), older.id)
                if joined is not None:
                    text = joined
                    op.remove(entry.path)
                    gone.append(entry.id)
            if text != before:
                op.rewrite(older.path, before, text)
        if gone:
            op.carry_out("links made twice", gone)
        return tuple(gone)
