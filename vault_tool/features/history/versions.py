"""`versions`: the texts that a note had, by the commits that changed it, for whoever reads how it came to say what it says."""

from __future__ import annotations

from typing import Any

from msgspec import field
from msgspec.structs import replace

from vault_tool.files import git
from vault_tool.files.layout import is_around
from vault_tool.files.parse import parse
from vault_tool.util.structs import Struct
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.note_history import note_history
from vault_tool.vault.request import Answer, looks, of_the_whole, verb


class Version(Struct, kw_only=True):
    """A note as one commit left it: its text and its head; `known` is false where the commit holds no file that can be read."""

    commit: str
    at: str
    author: str
    subject: str
    op: str
    title: str = ""
    text: str = ""
    head: dict[str, Any] = field(default_factory=dict)
    known: bool = False


class Versions(Answer, kw_only=True):
    """The versions of a note, newest first; `more` counts older ones that are not told."""

    results: tuple[Version, ...]
    more: int = 0


@verb
@looks
@of_the_whole
def versions(vault: Context, memory_id: str, *, limit: int = 12) -> Versions:
    """The newest `limit` versions of a note's text and head; nothing where there is no history."""
    vault = resolve.unrestricted(vault)
    entry = resolve.find(vault, memory_id, begun=True)
    # A served note lies in the repository of the folder around the vault, where it has one.
    repo = git.find(vault.root.parent) if is_around(entry.path) else vault.repo
    commits = note_history(vault, entry).commits if repo is not None else ()
    newest = commits[:limit]
    places = [(commit.commit, path) for commit in newest for path in commit.paths[:1]]
    texts = git.show_at(repo, places) if repo is not None else {}
    results = []
    for commit in newest:
        version = Version(commit=commit.commit, at=commit.at, author=commit.author, subject=commit.subject, op=commit.op)
        path = next(iter(commit.paths), "")
        if (data := texts.get((commit.commit, path))) is not None:
            parsed = parse(path, data, vault.settings.types)
            version = replace(version, title=parsed.title, text=parsed.body, head=dict(parsed.head), known=True)
        results.append(version)
    return Versions(results=tuple(results), more=len(commits) - len(newest))
