"""Databases of other tools that an export may be: claude-mem's, and mem0's history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection

from vault_tool.errors import Refused
from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources import claude_mem_rows, mem0_history
from vault_tool.importing.sources.foreign_items import Item, LeftOut, Wanted
from vault_tool.index import foreign_database

CLAUDE_MEM, MEM0 = "claude-mem", "mem0"
# The names that claude-mem and mem0 give their databases.
_FILES = ("claude-mem.db", "history.db")
_FEATURES = ("observations", "session_summaries")


def is_database(files: ExportFiles) -> bool:
    """Whether the export is a file of SQLite's on disk."""
    with suppress(Refused, IndexError):
        return files.source.is_file() and files.files[0].begin(16) == foreign_database.HEADER
    return False


def database_within(folder: Path) -> Path | None:
    """The database of one of these tools in the folder where it keeps it; None where there is none, or more than one."""
    if not folder.is_dir():
        return None
    databases = [path for path in map(folder.joinpath, _FILES) if path.is_file() and not path.is_symlink()]
    return databases[0] if len(databases) == 1 else None


def database_kind(files: ExportFiles, asked: str) -> str:
    """The kind of a database: the one that is asked for, else by its tables; Refused for one that is not known."""
    if asked:
        return asked
    with foreign_database.opened(files.source.resolve()) as connection:
        names = foreign_database.tables(connection)
    return MEM0 if mem0_history.TABLE in names and not names.intersection(_FEATURES) else CLAUDE_MEM


def history_items(files: ExportFiles) -> Iterator[Item]:
    """The memories that mem0's history tells of; Refused where it is no such database."""
    with foreign_database.opened(files.source.resolve()) as connection:
        if mem0_history.TABLE not in foreign_database.tables(connection):
            raise Refused(f"{files.source.name} has no table `{mem0_history.TABLE}`", "mem0 calls the file history.db")
        try:
            rows = foreign_database.rows(connection, mem0_history.TABLE, mem0_history.COLUMNS)
            yield from mem0_history.items(files.source.name, rows)
        except Refused as fault:
            yield LeftOut(reason="torn", place=files.source.name, message=fault.message, hint=fault.hint)


def database_items(files: ExportFiles, wishes: Wanted, kind: str) -> Iterator[Item]:
    """The items of a database of this kind; Refused where it has none of the tables that are known."""
    return history_items(files) if kind == MEM0 else _features(files, wishes)


def _features(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The observations and summaries of claude-mem's database."""
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
