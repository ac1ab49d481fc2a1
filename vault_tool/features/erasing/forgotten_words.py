"""Words of forgotten memories that came later, in journals and ledgers: which files hold some, for `vt doctor` to name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress

from vault_tool.errors import GitError
from vault_tool.features.erasing.erasing import Versions, redacted_files, traces_of
from vault_tool.files import git, reader, tombstones
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.files.parse import parse
from vault_tool.model.problems import Problem
from vault_tool.model.types import RecordClass
from vault_tool.util.text import normal_body
from vault_tool.vault.context import Context
from vault_tool.vault.store_interface import Traces


def left(vault: Context) -> Iterator[Problem]:
    """A finding for each file that holds words of a forgotten memory; forgetting that again takes them out."""
    for identity, versions in remaining(vault):
        # What a look at single words suspects, the rule of forgetting decides.
        for path in redacted_files(vault, identity, versions):
            yield tombstones.words_left(path, identity)


def remaining(vault: Context) -> Iterator[tuple[str, Versions]]:
    """The forgotten memories of which a journal or a ledger may hold words, each with the notes that told it."""
    forgotten = vault.forgotten()
    if not forgotten:
        return
    known = taken_away(vault)
    traces = {identity: _traces(vault, identity, known.get(identity, ())) for identity in forgotten}
    suspected = {identity for text in _journals(vault) for identity in _perhaps_in(text, traces)}
    for identity in sorted(suspected):
        yield identity, known.get(identity, ())


def taken_away(vault: Context, tips: Sequence[str] = ()) -> dict[str, list[tuple[str, bytes]]]:
    """The notes that commits took away when they put tombstones, by id, from the history of HEAD or of these commits.

    A few processes for all of them.
    """
    versions: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    repo = vault.repo
    if repo is None:
        return versions
    with suppress(GitError):
        tips = tips or [commit for commit in (git.head(repo).commit,) if commit]
        commits = git.brought(repo, tips, (), [tombstones.FORGOTTEN], signed=False) if tips else []
        removed = [
            removal
            for removal in git.removed_by(repo, [commit.commit for commit in commits])
            if file_kind(removal[1]) is FileKind.NOTE
        ]
        texts = git.blobs(repo, (blob for _, _, blob in removed))
        for _, path, blob in removed:
            data = texts.get(blob, b"")
            versions[str(parse(path, data, vault.settings.types).head.get("id") or "")].append((path, data))
    return versions


def _traces(vault: Context, identity: str, versions: Versions) -> Traces:
    if not versions:
        return Traces(frozenset([identity]), frozenset(), frozenset(), ())
    return traces_of(vault, {identity: []}, (), {identity: versions})


def _journals(vault: Context) -> Iterator[str]:
    catalog = vault.index.catalog
    paths = [*catalog.of_kind("episode"), *catalog.of_kind("signals")]
    paths += [entry.path for entry in catalog.of_class(RecordClass.CONSOLIDATION)]
    for path in paths:
        with suppress(OSError):
            yield reader.read(vault.root, path).decode("utf-8", "replace")


def _perhaps_in(text: str, traces: dict[str, Traces]) -> Iterator[str]:
    """The memories of which a text may hold words: cheap for most, for each phrase must have its longest word in the text."""
    flat = normal_body(text)
    words = set(flat.split())
    for identity, fingerprints in traces.items():
        named = identity in text or any(path.rpartition("/")[2] in text for path in fingerprints.paths)
        if named or any(_stands_in(phrase, flat, words) for phrase in (*fingerprints.titles, *fingerprints.quotes)):
            yield identity


def _stands_in(phrase: str, flat: str, words: set[str]) -> bool:
    # The first and the last may be cut.
    inner = phrase.split()[1:-1]
    return (not inner or max(inner, key=len) in words) and phrase in flat
