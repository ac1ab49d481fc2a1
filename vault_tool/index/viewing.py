"""Catalogue and full text restricted to what one user may see, without memories that are withheld from all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from vault_tool.index.catalog import Catalog
from vault_tool.index.derived import Derived
from vault_tool.index.fulltext.documents import TextHit
from vault_tool.index.schema import JUDGED_FOR, USER
from vault_tool.index.text_search import TermMatch
from vault_tool.index.vault_index import Index, Progress, Refresh
from vault_tool.index.visibility import Request, visible

T = TypeVar("T")

_HIDDEN = """
CREATE TEMP TABLE hidden (n INTEGER PRIMARY KEY, id TEXT NOT NULL, path TEXT NOT NULL);
CREATE INDEX temp.hidden_by_id ON hidden (id);
CREATE INDEX temp.hidden_by_path ON hidden (path);
CREATE TEMP TABLE viewer (name TEXT PRIMARY KEY);
"""

_NOT_HIDDEN = "n NOT IN (SELECT n FROM temp.hidden)"
# Views of the same names stand before the tables: no query that is asked through here can pass them by.
_HIDES = {
    **dict.fromkeys(("entries", "names", "memberships", "titles", "links", "relations"), _NOT_HIDDEN),
    "signals": "target NOT IN (SELECT id FROM temp.hidden)",
    "problems": "path NOT IN (SELECT path FROM temp.hidden)",
    "files": "path NOT IN (SELECT path FROM temp.hidden)",
    "pages": "path NOT IN (SELECT path FROM main.files WHERE kind <> 'page')",
}

_HIDES_FROM_A_USER = {
    "signals": f"{JUDGED_FOR} IN (SELECT name FROM temp.viewer)",
    # Whose a note is whose head cannot be read, and what a day's log tells, nobody knows.
    "files": "kind NOT IN ('unreadable', 'episode', 'conflict')",
}

_OTHERS = f"""
INSERT OR IGNORE INTO hidden SELECT n, id, path FROM main.entries WHERE {USER} <> '' AND {USER} <> ?
"""

# An understanding tells of what it was made from and of what it revises; one that names its user was made for them.
_DERIVED = """
INSERT OR IGNORE INTO hidden SELECT e.n, e.id, e.path FROM hidden h JOIN main.relations r ON r.target = h.id
    JOIN main.entries e ON e.n = r.n
    WHERE (r.field IN ('from_id', 'to_id'))
       OR (r.field IN ('sources', 'supersedes') AND coalesce({user}, '') = '')
""".format(user=USER.replace("head", "e.head"))

_ONE = "INSERT OR IGNORE INTO hidden SELECT n, id, path FROM main.entries WHERE id = ?"
# An understanding made from other things as well stays: its text is a person's to mend, as after `forget`.
_MADE_OF_NOTHING_ELSE = """
INSERT OR IGNORE INTO hidden SELECT e.n, e.id, e.path FROM main.entries e WHERE e.class = 'understanding'
    AND EXISTS (SELECT 1 FROM main.relations r JOIN hidden h ON h.id = r.target WHERE r.n = e.n AND r.field = 'sources')
    AND NOT EXISTS (SELECT 1 FROM main.relations r WHERE r.n = e.n AND r.field = 'sources'
        AND r.target NOT IN (SELECT id FROM hidden))
"""

_LINKS = """
INSERT OR IGNORE INTO hidden SELECT e.n, e.id, e.path FROM hidden h JOIN main.relations r ON r.target = h.id
    JOIN main.entries e ON e.n = r.n WHERE r.field IN ('from_id', 'to_id')
"""

# A subject that only others' memories are tagged with is known from them alone.
_SUBJECTS = """
INSERT OR IGNORE INTO hidden SELECT e.n, e.id, e.path FROM main.entries e WHERE e.class = 'subject'
    AND EXISTS (SELECT 1 FROM main.names s JOIN main.memberships m ON m.normal = s.normal
        WHERE s.n = e.n AND m.n IN (SELECT n FROM hidden))
    AND NOT EXISTS (SELECT 1 FROM main.names s JOIN main.memberships m ON m.normal = s.normal
        WHERE s.n = e.n AND m.n NOT IN (SELECT n FROM hidden))
"""


class _VisibleCatalog(Catalog):
    """A catalogue of which the memories of other users are hidden, those that are withheld, and what only they lead to."""

    user: str | None = ""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._hiding = Derived()

    @classmethod
    def of(cls, path: Path, user: str | None) -> _VisibleCatalog:
        """The catalogue at `path` as `user` sees it; the empty text is no user in particular, None is the vault's keeper."""
        seen = cls.open(path)
        seen.user = user
        seen.connection.executescript(_HIDDEN)
        seen.connection.executemany("INSERT INTO temp.viewer VALUES (?)", [(name,) for name in {"", user or ""}])
        for table, where in _HIDES.items():
            also = _HIDES_FROM_A_USER.get(table) if user is not None else None
            query = f"SELECT * FROM main.{table} WHERE {where}" + (f" AND {also}" if also else "")
            seen.connection.execute(f"CREATE TEMP VIEW {table} AS {query}")
        return seen

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query over what may be seen; see `Catalog.rows`."""
        self._look_whether_hidden()
        return super().rows(query, values)

    def each(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The same one by one; see `Catalog.each`."""
        self._look_whether_hidden()
        return super().each(query, values)

    def _look_whether_hidden(self) -> None:
        now = super().rows("SELECT value FROM main.meta WHERE key = 'seq'")
        seq = str(now[0][0]) if now else ""
        self._hiding.of(seq, "hidden", self._hide)

    @property
    def hides(self) -> int:
        """How many records are hidden."""
        return int(self.rows("SELECT count(*) FROM temp.hidden")[0][0])

    def visible(self, paths: Iterable[str]) -> set[str]:
        """Which of these files may be seen."""
        asked = list(paths)
        entries = self.cached_by_paths(asked).values()
        records = (entry.path for entry in entries if visible(entry, Request(self.user), "named") is None)
        return {*records, *(path for path in asked if self.page(path) is not None)}

    def _hide(self) -> None:
        """Note anew what is hidden. What was kept in memory is let go of, for it was kept by what was hidden then."""
        self._derived = Derived()
        ask = super().rows
        ask("DELETE FROM temp.hidden")
        if self.user is not None:
            ask(_OTHERS, (self.user,))
            before = -1
            while before != (before := int(ask("SELECT count(*) FROM temp.hidden")[0][0])):
                ask(_DERIVED)
        for identity in self._withheld():
            ask(_ONE, (identity,))
        ask(_MADE_OF_NOTHING_ELSE)
        ask(_SUBJECTS)
        ask(_LINKS)


class UserIndex(Index):
    """The indexes of a vault as one user, or whoever keeps it (None), is told of them; comparing and writing is the whole's."""

    def __init__(self, whole: Index, user: str | None) -> None:
        self._whole = whole
        self._user = user
        self._open: _VisibleCatalog | None = None

    def close(self) -> None:
        """Let go of the file that it reads; the whole is not closed."""
        if self._open is not None:
            self._open.close()
            self._open = None

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the last refresh, as this user sees it."""
        whole = self._whole.catalog
        path = whole.path
        hides = bool(self._user) or (self._user == "" and whole.has_users()) or bool(whole.withheld())
        if not hides:
            return whole
        if self._open is None or self._open.path != path:
            self.close()
            self._open = _VisibleCatalog.of(path, self._user)
        return self._open

    def consistent_read(self) -> AbstractContextManager[None]:
        """Answer of one look at the indexes."""
        return self._whole.consistent_read()

    def refresh(
        self, *, full: bool = False, confirm: bool = False, refresh_names: bool = False, progress: Progress | None = None
    ) -> Refresh:
        """Compare all files with the indexes; see `Index.refresh`."""
        return self._whole.refresh(full=full, confirm=confirm, refresh_names=refresh_names, progress=progress)

    def wrote(self, paths: Sequence[str]) -> Refresh:
        """Take in what we wrote; see `Index.wrote`."""
        return self._whole.wrote(paths)

    def adding(self) -> AbstractContextManager[Catalog]:
        """The whole catalogue, to add to it; see `Index.adding`."""
        return self._whole.adding()

    def recheck(self, paths: Iterable[str]) -> Refresh:
        """Compare just these files; see `Index.recheck`."""
        return self._whole.recheck(paths)

    def search(
        self,
        text: str,
        limit: int,
        classes: Collection[str] | None = None,
        types: Collection[str] | None = None,
        *,
        near: bool = False,
        waiting: bool = False,
    ) -> list[TextHit]:
        """The best files that this user may see; see `Index.search`."""
        ask = self._whole.search
        hits = self._seen(limit, lambda most: {h.path: h for h in ask(text, most, classes, types, near=near, waiting=waiting)})
        return list(hits.values())

    def flush(self) -> None:
        """Write the changes that wait for the full-text index."""
        self._whole.flush()

    def shared(self, text: str, others: Sequence[str]) -> tuple[int, list[int]]:
        """The words that texts share; the given texts are in no index, so no user's view changes the answer."""
        return self._whole.shared(text, others)

    def term_match(self, text: str, limit: int, classes: Collection[str], whole: str = "") -> dict[str, TermMatch]:
        """How the words of the best files stand to a question; see `Index.term_match`."""
        return self._seen(limit, lambda most: self._whole.term_match(text, most, classes, whole))

    def mentioned(
        self, sentences: Sequence[Mapping[str, float]], limit: int, classes: Collection[str], among: Collection[str] | None = None
    ) -> dict[str, float]:
        """The likeness of files to a conversation; see `Index.mentioned`."""
        if among is not None:
            return self._whole.mentioned(sentences, limit, classes, among)
        return self._seen(limit, lambda most: self._whole.mentioned(sentences, most, classes))

    def export(self) -> None:
        """Write `_index.json`, which is of everything."""
        self._whole.export()

    def _seen(self, limit: int, ask: Callable[[int], dict[str, T]]) -> dict[str, T]:
        """The best `limit` visible hits; more are asked for where others' notes took their places."""
        catalog = self.catalog
        if not isinstance(catalog, _VisibleCatalog):
            return ask(limit)
        most, every = limit, limit + catalog.hides
        while True:
            scores = ask(most)
            visible = catalog.visible(scores)
            if len(visible) >= limit or len(scores) < most or most >= every:
                return dict([(path, score) for path, score in scores.items() if path in visible][:limit])
            most = min(4 * most, every)
