"""Journals of judgements as the catalogue has them: how far each was taken in, and which memories it judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vault_tool.index.catalog import Catalog


def progress(catalog: Catalog) -> Mapping[str, tuple[int, int]]:
    """How far each journal was taken in: a line that is written has a higher number than all before it."""
    # Of everything: what one user is not told of has its number all the same.
    rows = catalog.rows("SELECT path, max(rowid), count(*) FROM main.signals GROUP BY path")
    return {path: (newest, lines) for path, newest, lines in rows}


def journals_of(catalog: Catalog, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The journals in which memories are judged: pairs of a journal and an id."""
    yield from catalog.rows_in("SELECT DISTINCT path, target FROM signals WHERE target IN ({})", ids)


def judged_in(catalog: Catalog, journals: Iterable[str]) -> set[str]:
    """The ids of the memories that these journals judge."""
    return {row[0] for row in catalog.rows_in("SELECT DISTINCT target FROM signals WHERE path IN ({})", journals)}
