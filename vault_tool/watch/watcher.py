"""The watcher: hears of changes, lets saves settle, takes them into the indexes, and compares everything in doubt."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable

from msgspec.structs import replace

from vault_tool.errors import Refused, StorageError, VaultError, VaultGone
from vault_tool.files import reader, watcher_presence
from vault_tool.files.layout import CACHE, LOCAL, SETTINGS_FILE, VAULT, FileKind, file_kind
from vault_tool.files.parse import parse
from vault_tool.files.watcher_presence import LOCK_FILE, WATCH_FILE, Watch
from vault_tool.index.catalog import UNREADABLE
from vault_tool.index.refresh.diff import head_signature
from vault_tool.index.vault_index import Refresh
from vault_tool.util.atomic import temporary_name
from vault_tool.util.folder import opened
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.context import Context
from vault_tool.watch.change_feed import ChangeFeed, NoteChange
from vault_tool.watch.debounce import FirstLook, Settling
from vault_tool.watch.jobs import Jobs
from vault_tool.watch.observer import CannotHear, FileObserver, unheard
from vault_tool.watch.pending_paths import OVERFLOW, Cookie, PendingPaths

# Seconds after which the watcher looks up even if nothing was heard, to see whether it should stop.
TICK = 0.5

QUIET = 0.08
# Seconds of silence that end a burst, and after which one is looked at though it goes on (longer where looking takes long).
LONGEST = 0.5

# The same where no caller waits, as in an owner for commands alone: files being deleted are then gone before the look.
UNHURRIED_QUIET, UNHURRIED_LONGEST = 1.0, 3.0

POLL = 1.0
_SHARE = 25
_BUSY_SHARE = 4
_FEW_PATHS = 200
_FEW_GONE = 4
_GAP = 2.0
_AGAIN = 2.0
_PROOF = 2.0
_EVENTS, _POLLING = "events", "polling"


class WatchReport(Struct):
    """A watcher's report: changes of notes, or one `remark` on its own work."""

    changes: tuple[NoteChange, ...] = ()
    remark: str = ""


class Watcher:
    """Keeps the indexes of one vault up to date. `tell` hears of every change; `reconcile` is seconds between comparisons."""

    def __init__(
        self,
        vault: Context,
        tell: Callable[[WatchReport], None],
        *,
        reconcile: float = 300.0,
        poll: bool = False,
        chores: bool = True,
        exports_only: Callable[[], bool] = lambda: False,
        asked: bool = False,
        deserted: Callable[[], None] = lambda: None,
    ) -> None:
        self._vault = vault
        self._tell = tell
        self._every = reconcile
        self._inbox = PendingPaths()
        self._observer = FileObserver(vault.root, self._inbox)
        self._debounce = Settling()
        self._jobs = Jobs(self._remark, exports_only, asked=asked) if chores else None
        self._exports_only = exports_only
        self._deserted = deserted
        self._marks: tuple[str, ...] = ()
        self._record = Watch(os.getpid(), platform.node(), vault.now(), _POLLING if poll else _EVENTS)
        self._change_feed: ChangeFeed | None = None
        self._holds_back = False
        self._looked_seconds = 0.0
        self._changed_at = time.monotonic()
        self._reconcile_at = 0.0
        self._again_at = float("inf")
        self._again_after = _AGAIN
        self._head = ""
        self._remarks: set[str] = set()
        self._is_gone = False
        self._settings = self._settings_stat()

    @property
    def mode(self) -> str:
        """`events` where the system notifies of changes, else `polling`."""
        return self._record.mode

    @property
    def degraded(self) -> str:
        """Why it polls although it was not told to; empty when all is well."""
        return self._record.degraded

    def run(self, stop: threading.Event) -> None:
        """Watch until `stop` is set. Raises what cannot be got over at the start; later faults are told and tried again."""
        self._change_feed = ChangeFeed(self._vault.index.catalog)
        try:
            self._listen()
            self._check_head()
            self._reconcile()
            self._publish_mode()
            marks = (
                f"{self._vault.root}/{name}" for name in (CACHE, f"{LOCAL}/{LOCK_FILE}", SETTINGS_FILE, f"{VAULT}/workspace.md")
            )
            self._marks = tuple(filter(os.path.lexists, marks))
            while not stop.is_set():
                self._round()
        finally:
            self._observer.stop()
            if self._jobs is not None:
                self._jobs.stop()
            watcher_presence.unsay(self._vault.root, WATCH_FILE)

    def once(self) -> None:
        """One comparison with everything that hangs on it, without listening."""
        self._change_feed = ChangeFeed(self._vault.index.catalog)
        self._look_at_all("")
        if self._jobs is not None:
            self._jobs.now(self._vault)

    def fresh(self, timeout: float = 1.0) -> bool:
        """Whether the indexes hold every change that was made before this call: proven by a cookie, without a walk.

        For other threads than the one that runs the watcher. False after `timeout` seconds, and where changes are not
        heard of: then the caller must compare. A file whose save is under way is served as it was before.
        """
        if not self.hears:
            return False
        cookie = self._cookie()
        try:
            return cookie is not None and cookie.looked.wait(timeout)
        finally:
            if cookie is not None:
                self._inbox.expect_no_more(cookie)

    def fresh_and_quiet(self, timeout: float = 1.0) -> bool:
        """The same, where no save is under way either: then an answer is what a comparison would make it."""
        return self.fresh(timeout) and not len(self._debounce)

    @property
    def hears(self) -> bool:
        """Whether it is told of what changes: then the indexes are behind by moments at most."""
        return self._record.mode == _EVENTS and self._observer.alive and not self._holds_back

    def _round(self) -> None:
        """Wait for news or for what is due, and do it."""
        monotonic, wall = time.monotonic(), time.time()
        wait = self._wait()
        self._inbox.wait(wait)
        # By both clocks, for one of them stands still while a laptop sleeps; what changed meanwhile may never be told of.
        gap = max(time.monotonic() - monotonic, time.time() - wall) - wait
        if gap > _GAP:
            self._inbox.doubt("this process stood still")
            self._again_at = time.monotonic() + _AGAIN
        if self._exports_only() and not all(map(os.path.lexists, self._marks)):
            # Whatever it wrote now would be in the way of whoever deletes the vault.
            if self._jobs is not None:
                self._jobs.stop()
            self._deserted()
        if not self._is_there():
            return
        self._see_to_settings()
        self._check_head()
        if self._record.mode == _EVENTS and not (self._observer.alive and self._observer.same_tree):
            self._listen_again()
        now = time.monotonic()
        if now >= self._reconcile_at:
            self._reconcile()
        elif now >= self._again_at:
            self._again_at = float("inf")
            self._inbox.doubt("a burst")
        # A look that takes long is made more seldom, or a burst would keep us looking at nothing else.
        if self._due_in() <= 0 or self._ready_paths():
            self._look()
        elif self._jobs is not None:
            self._guarded(self._idle_tasks)

    def _is_there(self) -> bool:
        """Whether the vault is at its place: nothing is looked at or written in what lies there instead, until it is back."""
        try:
            self._vault.require_present()
        except VaultGone as fault:
            self._miss(fault)
            self._inbox.take()
            self._inbox.wait(TICK)
            return False
        if self._is_gone:
            self._is_gone = False
            self._tell(WatchReport(remark="the vault is back"))
            self._inbox.doubt("the vault is back")
        return True

    def _miss(self, fault: VaultGone) -> None:
        """Say once that the vault is not at its place, whoever noticed first: until it is back, and that is said too."""
        if not self._is_gone:
            self._tell(WatchReport(remark=fault.marked))
        self._is_gone = True

    def _due_in(self) -> float:
        """Seconds until what was heard of is looked at."""
        quiet, longest = (UNHURRIED_QUIET, UNHURRIED_LONGEST) if self._exports_only() else (QUIET, LONGEST)
        return self._inbox.due(quiet, max(longest, _BUSY_SHARE * self._looked_seconds))

    def _wait(self) -> float:
        wait = max(0.0, min(TICK, self._due_in(), self._reconcile_at - time.monotonic()))
        # With more of them everything is compared at once, whatever each is waiting for.
        for path in self._debounce.paths()[:_FEW_PATHS]:
            wait = min(wait, max(0.1, self._debounce.ready_at(path, FirstLook.WHOLE) - time.monotonic()))
        return wait

    def _look(self) -> None:
        """Take in what was heard of, as far as it has settled; answer the cookies that came back."""
        self._check_head()
        batch = self._inbox.take()
        self._debounce.add(batch.touched)
        # Folders are listened to again only after the doubt is raised: a second look finds what came in between.
        if batch.doubt == OVERFLOW:
            self._again_at = time.monotonic() + _AGAIN
        if batch.doubt or len(self._debounce) > _FEW_PATHS:
            done = self._look_at_all(batch.doubt)
        else:
            done = self._look_at(self._ready_paths())
        # Unanswered, its asker compares by itself: late, and never wrong.
        for cookie in batch.cookies if done else ():
            cookie.looked.set()

    def _ready_paths(self) -> list[str]:
        now = time.monotonic()
        paths = self._debounce.paths()
        return [path for path in paths if self._debounce.ready_at(path, FirstLook.WHOLE) <= now and self._is_ready(path, now)]

    def _is_ready(self, path: str, now: float) -> bool:
        return self._debounce.ready_at(path, self._first_look(path)) <= now

    def _first_look(self, path: str) -> FirstLook:
        """Whether a file is there and can be read as what it is; a note that was broken before need not wait to be it."""
        try:
            data = reader.read(self._vault.root, path)
        except FileNotFoundError:
            return FirstLook.GONE
        except (OSError, Refused):
            return FirstLook.BROKEN
        was = self._change_feed.kind(path) if self._change_feed is not None else ""
        if file_kind(path) is not FileKind.NOTE or was == UNREADABLE:
            return FirstLook.WHOLE
        # An empty note is probably about to be written.
        if was and not data:
            return FirstLook.BROKEN
        return FirstLook.WHOLE if parse(path, data, self._vault.settings.types).readable else FirstLook.BROKEN

    def _look_at(self, paths: list[str]) -> bool:
        if not paths:
            return True
        present = reader.present(self._vault.root, paths)
        if len(paths) - len(present) > _FEW_GONE:
            # Losses in bulk are for the comparison to judge: an unmounted disk looks the same.
            return self._look_at_all("many files are gone")
        self._debounce.take(paths)
        return self._guarded(lambda: self._taken_in(self._vault.index.recheck(paths), paths))

    def _look_at_all(self, reason: str) -> bool:
        self._debounce.clear()
        done = self._guarded(lambda: self._taken_in(self._vault.index.refresh(progress=self._vault.progress), None))
        if not done:
            self._again_at = time.monotonic() + _AGAIN
        return done

    def _taken_in(self, refresh: Refresh, paths: list[str] | None) -> None:
        vault, news = self._vault, self._change_feed
        assert news is not None
        self._looked_seconds = refresh.seconds
        if self._jobs is not None:
            vault.index.flush()
        if refresh.held_back:
            self._remark(refresh.held_back)
        if paths is None:
            self._holds_back = bool(refresh.held_back)
            # Git takes files away before it moves HEAD, which explains it: look again, ever more seldom.
            self._again_after = min(2 * self._again_after, self._every) if refresh.held_back else _AGAIN
            if refresh.held_back:
                self._again_at = time.monotonic() + self._again_after
        if refresh.behind:
            self._again_at = time.monotonic() + _AGAIN
        changes = news.of(vault.index.catalog, paths)
        if changes:
            self._changed_at = time.monotonic()
            self._tell(WatchReport(tuple(changes)))

    def _reconcile(self) -> None:
        """Compare everything, and see to it that we still hear."""
        begun = time.monotonic()
        batch = self._inbox.take()
        done = self._look_at_all("")
        for cookie in batch.cookies if done else ():
            cookie.looked.set()
        if self._record.mode == _EVENTS:
            # In this order: where hearing fails the proof, the next comparison is due at once and then every second.
            self._reconcile_at = time.monotonic() + self._every
            self._prove_observer()
        else:
            # A 25th of the time at most: walking a large vault every second would keep a core busy.
            self._reconcile_at = time.monotonic() + max(min(POLL, self._every), _SHARE * (time.monotonic() - begun))
            if self._record.reconciled:
                return
        self._record = replace(self._record, reconciled=self._vault.now())
        self._write_record()

    def _listen(self) -> None:
        if self._record.mode != _EVENTS:
            return
        if reason := unheard(self._vault):
            self._degrade(reason)
            return
        try:
            self._observer.start()
        except CannotHear as fault:
            self._degrade(str(fault))

    def _listen_again(self) -> None:
        """The folder was replaced, or a thread died: begin anew where there is a folder, and compare."""
        alive = self._observer.alive
        self._observer.stop()
        if (self._vault.root / VAULT).is_dir():
            self._observer = FileObserver(self._vault.root, self._inbox)
            self._listen()
        elif alive:
            self._inbox.doubt(f"{VAULT}/ is gone")
        if self._observer.alive:
            self._inbox.doubt(f"{VAULT}/ is another folder")

    def _prove_observer(self) -> None:
        """A file of ours must be heard of, and each folder have its watch; else we poll."""
        if not (self._vault.root / VAULT).is_dir():
            return
        cookie = self._cookie()
        try:
            if cookie is not None and not cookie.heard.wait(_PROOF):
                self._degrade("the system does not notify of changes here")
                return
        finally:
            if cookie is not None:
                self._inbox.expect_no_more(cookie)
        if self._observer.deaf_folders():
            time.sleep(0.2)  # folders that are being made have no watch yet
            if missing := self._observer.deaf_folders():
                self._degrade(f"the system's limit of watches is met: {counted(missing, 'folder')} without notice")

    def _degrade(self, reason: str) -> None:
        self._observer.stop()
        self._record = replace(self._record, mode=_POLLING, degraded=reason)
        self._reconcile_at = 0.0
        self._write_record()
        self._remark(f"{reason}; looking every second instead")

    def _cookie(self) -> Cookie | None:
        """Write a cookie into the tree and take it away again: hidden, and ignored by git; None where that cannot be done."""
        cookie = Cookie(temporary_name("cookie"))
        self._inbox.expect(cookie)
        try:
            with opened(self._vault.root, (VAULT,)) as folder:
                folder.write_new(cookie.name, b"", mode=0o600, durable=False)
                folder.discard(cookie.name)
        except (OSError, Refused):
            self._inbox.expect_no_more(cookie)
            return None
        return cookie

    def _see_to_settings(self) -> None:
        """Begin anew with the settings when their file changed."""
        now = self._settings_stat()
        if now == self._settings:
            return
        self._settings = now
        vault = self._vault.reopened()
        vault.progress = self._vault.progress
        if fault := vault.settings_fault:
            self._remark(fault)
        self._vault.close()
        self._vault = vault
        self._inbox.doubt("the settings changed")

    def _check_head(self) -> None:
        """Compare everything when HEAD moved: losses that git explains must be seen together with its move."""
        repo = self._vault.repo
        now = head_signature(repo) if repo is not None else ""
        if now != self._head:
            self._head = now
            self._inbox.doubt("HEAD moved")

    def _settings_stat(self) -> tuple[int, int, int]:
        try:
            stat = (self._vault.root / SETTINGS_FILE).stat()
        except OSError:
            return 0, 0, 0
        return stat.st_size, stat.st_mtime_ns, stat.st_ino

    def _idle_tasks(self) -> None:
        if self._jobs is not None and not len(self._debounce):
            self._jobs.when_quiet(self._vault, time.monotonic() - self._changed_at)

    def _guarded(self, work: Callable[[], None]) -> bool:
        """Do it; what fails now is told once and may work later."""
        try:
            work()
        except VaultGone as fault:
            self._miss(fault)
            return False
        except VaultError as fault:
            self._remark(fault.marked)
            return False
        return True

    def _publish_mode(self) -> None:
        how = "listening for changes" if self._record.mode == _EVENTS else "looking for changes every second"
        self._tell(WatchReport(remark=f"watching {self._vault.root}: {how}"))

    def _remark(self, text: str) -> None:
        if text not in self._remarks:
            self._remarks.add(text)
            self._tell(WatchReport(remark=text))

    def _write_record(self) -> None:
        try:
            watcher_presence.say(self._vault.root, self._record)
        except StorageError as fault:
            self._remark(fault.marked)
