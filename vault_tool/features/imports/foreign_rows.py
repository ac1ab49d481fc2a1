"""Databases of other tools that an export may be: claude-mem's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from sqlite3 import Connection

from vault_tool.errors import Refused
from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources import claude_mem_rows
from vault_tool.importing.sources.foreign_items import Item, LeftOut, Wanted
from vault_tool.index import foreign_database

CLAUDE_MEM = "claude-mem"
_FEATURES = ("observations", "session_summaries")


def is_database(files: ExportFiles) -> bool:
    """Whether the export is a file of SQLite's on disk."""
    with suppress(Refused, IndexError):
        return files.source.is_file() and files.files[0].begin(16) == foreign_database.HEADER
    return False


def database_items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The observations and summaries of claude-mem's database; Refused where it has not even one of their tables."""
    with foreign_database.opened(files.source.resolve()) as connection:
        names = foreign_database.tables(connection)
        if not names.intersection(_FEATURES):
            raise Refused(
                f"{files.source.name} has no table `observations`", "claude-mem.db has one; another database is not known"
            )
        try:
            yield from _rows(connection, names, files.source.name, wishes)
        except Refused as fault:
            yield LeftOut(reason="torn", place=files.source.name, message=fault.message, hint=fault.hint)


def _rows(connection: Connection, names: frozenset[str], name: str, wishes: Wanted) -> Iterator[Item]:
    if "observations" in names:
        for number, row in enumerate(foreign_database.rows(connection, "observations", claude_mem_rows.OBSERVATIONS), 1):
            yield claude_mem_rows.observation(f"{name}/observations", number, row, wishes)
    if "session_summaries" in names:
        for row in foreign_database.rows(connection, "session_summaries", claude_mem_rows.SUMMARIES):
            yield from claude_mem_rows.summary(row)
    if "user_prompts" in names:
        yield LeftOut(reason="prompt", count=sum(1 for _ in foreign_database.rows(connection, "user_prompts", ("id",))))
