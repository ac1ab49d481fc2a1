"""The uses that this machine has not shared yet: older ones are read from the catalogue, the newest from the log files."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from vault_tool.errors import Busy, StorageError
from vault_tool.files.local import LocalFolder, UseLog
from vault_tool.index.vault_index import Index
from vault_tool.model.signals import Use

# The number of uses at the end of the logs from which they are taken into the catalogue; fewer are read by each process.
MANY = 200

_LOGS = "SELECT day, size, mark FROM use_logs"
_OF = "SELECT day, until, at, target, session FROM uses WHERE target IN ({})"
_ALL = "SELECT day, until, at, target, session FROM uses"
_ADD = "INSERT INTO uses VALUES (?,?,?,?,?)"
_ADD_LOG = "INSERT OR REPLACE INTO use_logs VALUES (?,?,?)"


def uses_of(local: LocalFolder, index: Index, ids: set[str] | None) -> list[Use]:
    """The uses of some memories, or of all, oldest first."""
    catalog = index.catalog
    known = _known(catalog.rows(_LOGS))
    logs = local.use_logs(known)
    rows = (catalog.rows(_ALL) if ids is None else catalog.rows_in(_OF, ids)) if known else ()
    # Rows that another process adds meanwhile are past the known end of a log, so they are skipped here and read from the log.
    starts = {log.day: log.start for log in logs}
    counted = (row for row in rows if row[1] <= starts.get(row[0], 0))
    uses = [Use(at=at, target=target, session=session) for _, _, at, target, session in counted]
    uses += [use for log in logs for use in (*log.uses, *log.torn) if ids is None or use.target in ids]
    if sum(len(log.uses) for log in logs) >= MANY:
        # An answer neither waits for this nor fails with it.
        with suppress(Busy, StorageError):
            _take_in(index, known, logs)
    return sorted(uses, key=lambda use: (use.at, use.target))


def clear(index: Index) -> None:
    """Delete all uses from the catalogue, so that it has none that were removed from the logs."""
    with index.adding() as catalog:
        for table in ("uses", "use_logs"):
            catalog.many(f"DELETE FROM {table} WHERE day <> ?", [("",)])


def _take_in(index: Index, known: dict[str, tuple[int, str]], logs: Iterable[UseLog]) -> None:
    with index.adding() as catalog:
        if _known(catalog.rows(_LOGS)) != known:
            return  # another process did
        days = {log.day for log in logs}
        anew = [(day,) for day in known if day not in days] + [(log.day,) for log in logs if not log.start]
        catalog.many("DELETE FROM uses WHERE day = ?", anew)
        catalog.many("DELETE FROM use_logs WHERE day = ?", anew)
        for log in logs:
            catalog.many(_ADD, [(log.day, log.end, use.at, use.target, use.session) for use in log.uses])
            catalog.many(_ADD_LOG, [(log.day, log.end, log.mark)])


def _known(rows: Iterable[tuple[str, int, str]]) -> dict[str, tuple[int, str]]:
    return {day: (size, mark) for day, size, mark in rows}
