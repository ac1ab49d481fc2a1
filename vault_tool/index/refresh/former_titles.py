"""Titles that an earlier committed text of a note made: what such a note is called follows the text that it has now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from msgspec.structs import replace

from vault_tool.errors import GitError
from vault_tool.files import frontmatter, git
from vault_tool.files.layout import is_around
from vault_tool.files.parse import parse
from vault_tool.files.title_lines import says_itself
from vault_tool.index.catalog import Catalog
from vault_tool.index.fulltext.documents import body_in, document
from vault_tool.index.refresh.reading import Seen
from vault_tool.model.made_titles import is_made, is_made_of, made_title
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, Registry
from vault_tool.util.text import one_line

_CUTS = ".。… "
_SUMMARY = b"summary"


def followed(
    repo: git.Repo | None, catalog: Catalog, head: str, seen: Iterable[Seen], registry: Registry, *, moved: bool
) -> tuple[Seen, ...]:
    """The files read, where a note has its title by an earlier text. Git is asked where a changed text leaves a title that the
    one before it made, or where HEAD `moved` with texts that were never looked at.
    """
    by_path = {file.path: file for file in seen}
    titles = {path: title for path, file in by_path.items() if (title := _given(file))} if repo is not None and head else {}
    if not titles:
        return tuple(by_path.values())
    before = catalog.by_paths(titles)
    asked: dict[str, str] = {}
    for path, title in titles.items():
        old, now = before.get(path), by_path[path].entry
        if old is None or now is None or stored(old) != title:
            continue
        if old.body_hash == now.body_hash:
            if old.title != title:
                by_path[path] = renamed(by_path[path])
        elif old.title != title or moved or _begins(old, title):
            asked[path] = title
    for path in made_before(repo, head, asked, registry):
        by_path[path] = renamed(by_path[path])
    return tuple(by_path.values())


def given_in(catalog: Catalog) -> dict[str, str]:
    """The titles of all memories that are called by one that stands in their head, by path."""
    return {path: one_line(title) for path, title in catalog.stored_titles().items() if not is_around(path)}


def made_before(
    repo: git.Repo | None, head: str, titles: Mapping[str, str], registry: Registry, *, whole: bool = False
) -> frozenset[str]:
    """The paths of those titles that an earlier committed text of the note made; `whole` where they are most of a vault's."""
    if repo is None or not titles:
        return frozenset()
    with suppress(GitError):
        earlier = git.earlier_blobs(repo, head, () if whole else sorted(titles))
        blobs = {path: blobs_of_path for path, blobs_of_path in earlier.items() if path in titles}
        texts = git.blobs(repo, sorted(set[str]().union(*blobs.values())))
        return frozenset(
            path
            for path, blobs_of_path in blobs.items()
            if any(_makes(path, texts[blob], titles[path], registry) for blob in blobs_of_path if blob in texts)
        )
    return frozenset()


def _makes(path: str, data: bytes, title: str, registry: Registry) -> bool:
    """Whether a note as it was made this title. Most are told by their text alone, at a fifth of the cost of a parse."""
    if _SUMMARY not in data and not is_made(title, frontmatter.read_body(data)):
        return False
    return says_itself(parse(path, data, registry), title)


def stored(entry: Entry) -> str:
    """The title that stands in a note's head."""
    title = entry.head.get("title")
    return one_line(title) if isinstance(title, str) else ""


def renamed(file: Seen) -> Seen:
    """The note as it was read, titled by its text."""
    if file.entry is None or file.text is None:
        return file
    body = body_in(file.text, file.entry)
    title = made_title(file.entry.record_class, file.entry.text("summary"), body)
    if not title:
        return file
    entry = replace(file.entry, title=title)
    return replace(file, entry=entry, text=document(entry, body))


def _given(file: Seen) -> str:
    """The title of a memory that its text does not make; empty where it has none."""
    entry = file.entry
    if entry is None or file.text is None or entry.record_class not in MEMORIES or is_around(file.path):
        return ""
    title = stored(entry)
    if not title or title != entry.title:
        return ""
    return "" if is_made_of(title, entry.record_class, entry.text("summary"), body_in(file.text, entry)) else title


def _begins(old: Entry, title: str) -> bool:
    """Whether the text that was known begins with this title: then it may have made it."""
    beginning = title.rstrip(_CUTS)
    return any(text.lstrip("#*_> ").startswith(beginning) for text in (old.preview, one_line(old.text("summary"))) if text)
