"""Jobs for a quiet moment: the page of a start, the exports, accepted turns, vectors, ended sessions; hourly skipped turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from vault_tool.features.capture import capture_settings, session_drafts
from vault_tool.features.turns.turns import Turns
from vault_tool.files import git
from vault_tool.files.layout import CONFIG_FILE, SETTINGS_FILE
from vault_tool.machine import EXACT
from vault_tool.vault.context import Context
from vault_tool.vault.page_at_start import choice_is_due
from vault_tool.vault.vector_upkeep import upkeep_stamp
from vault_tool.watch.worker import Remaining, Task, Worker, WorkResult, do

# Seconds without a change before the exports are written.
EXPORT_QUIET = 2.0

# An export that took a second is not written again for so many, and none is put off for longer than this.
EXPORT_SHARE = 20
EXPORT_LATEST = 50.0

PAGE_QUIET = 2.0
# A choice for the page that took a second is not made again for so many.
PAGE_SHARE = 20

TURNS_QUIET = 1.0
# Seconds between two beginnings of writing what turns accepted: where it fails, it is not tried all the time.
TURNS_EVERY = 2.0

BACKSTOP_QUIET = 5.0
# Seconds between two looks at the turns that wrote nothing, where there are new ones.
BACKSTOP_EVERY = 3600.0

# Seconds without a change before a sync that a person asked for by its interval.
SYNC_QUIET = 2.0

VECTORS_QUIET = 2.0
# Seconds after which a failed embedding is tried again, or an embedder is looked for anew.
VECTORS_AGAIN: Mapping[Remaining, float] = {Remaining.MORE: 0.0, Remaining.RETRY_LATER: 60.0, Remaining.NO_EMBEDDER: 300.0}

# Seconds between two looks for sessions that ended and may be read, where a person said so.
CAPTURE_EVERY = 10.0
CAPTURE_QUIET = 2.0

# Seconds between two looks at whether Chroma, where it is to answer, still holds what it held.
CHROMA_EVERY = 300.0


class Jobs:
    """The jobs that one watcher does beside looking at files, one at a time. `say` receives messages for a person.

    While `exports_only` holds it does no more than a command does at its end, and makes the vectors that a question had to do
    without, where a model in our own process makes them; one that was `asked` before it began counts too.
    """

    def __init__(
        self, say: Callable[[str], None], exports_only: Callable[[], bool] = lambda: False, *, asked: bool = False
    ) -> None:
        self._say = say
        self._exports_only = exports_only
        self._worker: Worker | None = None
        self._begun = 0.0
        self._exported = ""
        self._export_after = 0.0
        self._behind_since: float | None = None
        self._page_after = 0.0
        self._page_of = ("", "", "")
        self._turns_after = 0.0
        self._looked_again = float("-inf")
        self._skipped = ""
        self._awaited = asked
        self._embedded: tuple[object, ...] = ()
        self._settings: tuple[object, ...] = ()
        self._embed_after = 0.0
        self._sync_after = 0.0
        self._capture_after = 0.0

    def when_quiet(self, vault: Context, quiet: float) -> None:
        """Begin whatever is due after so many seconds without a change, in another process; and see what has come of it.

        At a hundred thousand notes it takes seconds, in which an edit must not wait.
        """
        if self._worker is not None:
            if not self._worker.over():
                return
            self._ended(self._worker)
        task = self._due(vault, quiet)
        if task is None:
            return
        self._begun = time.monotonic()
        try:
            self._worker = Worker.begin(vault.root, task)
        except OSError as fault:
            self._say(f"no process can be started for {task}: {fault.strerror or fault}")

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._worker is not None and not self._worker.over()

    def now(self, vault: Context) -> None:
        """Do all that is due, here and at once."""
        while (task := self._due(vault, float("inf"))) is not None:
            self._take(task, do(vault, task))

    def stop(self) -> None:
        """End what is under way."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()

    def _ended(self, worker: Worker) -> None:
        self._worker = None
        if worker.task is Task.EXPORTS:
            ended = time.monotonic()
            self._export_after = ended + min(EXPORT_SHARE * (ended - self._begun), EXPORT_LATEST)
        if worker.task is Task.PAGE:
            self._page_after = (ended := time.monotonic()) + PAGE_SHARE * (ended - self._begun)
        self._take(worker.task, worker.outcome())

    def _take(self, task: Task, outcome: WorkResult) -> None:
        """Tell what came of a task, and note when it is to be done again."""
        if task is Task.VECTORS and outcome.left is not Remaining.NOTHING:
            self._embedded = ()
            self._embed_after = time.monotonic() + VECTORS_AGAIN[outcome.left]
        if outcome.message:
            self._say(outcome.message)

    def _due(self, vault: Context, quiet: float) -> Task | None:
        """The first thing that is due; it counts as done from now."""
        exports_only = self._exports_only()
        if self._exports_are_due(vault, quiet):
            return Task.EXPORTS
        if self._page_is_due(vault, quiet):
            return Task.PAGE
        if exports_only:
            return Task.VECTORS if quiet >= VECTORS_QUIET and self._vectors_are_awaited(vault) else None
        if quiet >= TURNS_QUIET and time.monotonic() >= self._turns_after and Turns(vault.root).count():
            self._turns_after = time.monotonic() + TURNS_EVERY
            return Task.TURNS
        if quiet >= BACKSTOP_QUIET and self._backstop_is_due(vault):
            return Task.BACKSTOP
        if quiet >= SYNC_QUIET and self._sync_is_due(vault):
            return Task.SYNC
        if quiet >= VECTORS_QUIET and self._vectors_are_due(vault):
            return Task.VECTORS
        if quiet >= CAPTURE_QUIET and time.monotonic() >= self._capture_after:
            self._capture_after = time.monotonic() + CAPTURE_EVERY
            if capture_settings.settings_of(vault.root).mode == capture_settings.DRAFT and session_drafts.is_due(vault):
                return Task.CAPTURE
        return None

    def _vectors_are_awaited(self, vault: Context) -> bool:
        """Whether a question was asked by meaning, and notes lack vectors that the local model makes."""
        vectors = vault.embedding.opened
        self._awaited = self._awaited or (vectors is not None and vectors.awaited)
        if not self._awaited or not self._vectors_are_due(vault):
            return False
        chosen = vault.embedding.vectors.configured_embedder
        return chosen is not None and chosen.provider == "local" and vault.embedding.vectors.missing_count() > 0

    def _sync_is_due(self, vault: Context) -> bool:
        """Whether a person asked for syncs by themselves, it is time for one, and no merge of theirs is open."""
        every = vault.machine.sync_every
        if not every or time.monotonic() < self._sync_after or vault.repo is None or git.obstacle(vault.repo):
            return False
        self._sync_after = time.monotonic() + every
        return True

    def _vectors_are_due(self, vault: Context) -> bool:
        """Whether search by meaning may be behind, and it is time to try."""
        settings = _stat(vault.local.place / CONFIG_FILE), _stat(vault.root / SETTINGS_FILE)
        if settings != self._settings:
            self._settings, self._embed_after = settings, 0.0
            vault.embedding.reload()
        if time.monotonic() < self._embed_after:
            return False
        every = () if vault.machine.vectors == EXACT else (time.monotonic() // CHROMA_EVERY,)
        now = (*settings, *upkeep_stamp(vault), *every)
        changed, self._embedded = now != self._embedded, now
        return changed

    def _backstop_is_due(self, vault: Context) -> bool:
        """Whether turns were passed over since the last look, which is some time ago."""
        now = vault.clock.now().timestamp()
        if now - self._looked_again < BACKSTOP_EVERY:
            return False
        self._looked_again = now
        skipped = Turns(vault.root).skipped_stamp()
        changed, self._skipped = bool(skipped) and skipped != self._skipped, skipped
        return changed

    def _exports_are_due(self, vault: Context, quiet: float) -> bool:
        """Whether the vault changed, or was used, since its exports were written: once it is quiet, or after long enough."""
        known = vault.whole_standings.known()
        if known == self._exported:
            self._behind_since = None
            return False
        now = time.monotonic()
        if self._behind_since is None:
            self._behind_since = now
        if now < self._export_after or (quiet < EXPORT_QUIET and now - self._behind_since < EXPORT_LATEST):
            return False
        self._exported = known
        return True

    def _page_is_due(self, vault: Context, quiet: float) -> bool:
        """Whether the choice for the page of a session's start is worth making anew; asked once a state of the catalogue."""
        if quiet < PAGE_QUIET or time.monotonic() < self._page_after:
            return False
        state = (vault.index.catalog.nonce, vault.index.catalog.seq(), vault.now()[:10])
        if state == self._page_of:
            return False
        self._page_of = state
        return choice_is_due(vault)


def _stat(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns
