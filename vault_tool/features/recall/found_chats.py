"""Imported conversations beside an answer: they are pages, and found by their words alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from vault_tool.errors import VaultError
from vault_tool.files import frontmatter, reader
from vault_tool.index.fulltext.documents import TextHit
from vault_tool.recall import passage
from vault_tool.recall.question import without_framing
from vault_tool.util.clock import parse_time
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.parameters import require_moment
from vault_tool.vault.retrieval.query import Query

MOST = 5
_SHOWN = 240


class FoundChat(Struct, kw_only=True):
    """A conversation that holds words of a question: its place, its title, when it was, and the passage about it."""

    path: str
    title: str
    created: str
    passage: str


def found(vault: Context, asked: Query) -> tuple[FoundChat, ...]:
    """The conversations that hold the words of a question. A user gets none, for a page names no user."""
    return tuple(_found(vault, asked)) if vault.sees_everyone else ()


def _found(vault: Context, asked: Query) -> Iterator[FoundChat]:
    """The first few; what only a record can have (a type, subjects, tags) none of them has."""
    if any((asked.kinds, asked.subject_names, asked.tags, asked.project, asked.words, asked.session)):
        return
    now = vault.clock.now()
    since, until = (require_moment(text, now) if text else None for text in (asked.since, asked.until))
    known, reach, left = set[str](), 8 * MOST, MOST
    while True:
        hits = vault.index.search(without_framing(asked.query), reach)
        for chat in _chats(vault, [hit for hit in hits if hit.path not in known], asked.query):
            at = parse_time(chat.created) if since or until else None
            if (since or until) and (at is None or (since and at < since) or (until and at > until)):
                continue
            yield chat
            left -= 1
            if not left:
                return
        if len(hits) < reach:
            return
        known |= {hit.path for hit in hits}
        reach *= 4


def _chats(vault: Context, hits: Sequence[TextHit], query: str) -> Iterator[FoundChat]:
    catalog = vault.index.catalog
    for hit in hits:
        if catalog.by_path(hit.path) is not None or catalog.page(hit.path) is None:
            continue
        with suppress(OSError, VaultError):
            head, body, _ = frontmatter.read(reader.read(vault.root, hit.path))
            if head is None or str(head.values.get("chat")).casefold() != "true":
                continue
            title, created = (str(head.values.get(name) or "") for name in ("title", "created"))
            shown = one_line(body, _SHOWN) if len(body) <= _SHOWN else passage.excerpt(body, query, _SHOWN)
            yield FoundChat(path=hit.path, title=one_line(title, 160), created=created, passage=shown)
