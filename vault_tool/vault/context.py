"""The composition root: find the vault, read its settings, open its indexes. The one reader of the environment."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypedDict

from msgspec.structs import replace

from vault_tool import machine
from vault_tool.config import Config, load
from vault_tool.errors import ConfigError, GitError, Refused, StorageError, UsageError, VaultError
from vault_tool.files import bin as draft_bin
from vault_tool.files import git, layout, tombstones, watcher_presence
from vault_tool.files.local import LocalFolder
from vault_tool.index import graves
from vault_tool.index.trusted_authors import TrustedAuthors
from vault_tool.index.vault_index import Index, Refresh
from vault_tool.index.viewing import UserIndex
from vault_tool.machine import Machine
from vault_tool.model.snapshot import pulled, trusted
from vault_tool.util.clock import Clock, stamp
from vault_tool.util.hints import option, shell
from vault_tool.util.json_text import flaw_in
from vault_tool.util.location import Location
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line, with_article
from vault_tool.util.user_folder import global_vault_at
from vault_tool.vault import registered, settings_in_force
from vault_tool.vault.embedding_in_force import Embedding, machine_settings
from vault_tool.vault.finding import checked_root, find
from vault_tool.vault.person import Presence
from vault_tool.vault.standing import Standings, Uses

if TYPE_CHECKING:
    from vault_tool.index.graves import Graves
    from vault_tool.index.refresh.refresher import Follower
    from vault_tool.vault.together import Together

ORIGINS = ("owner", "agent", "import")

_LONGEST_NAME = 2000

# A function called with the number done and the total; at most a few times a second.
Progress = Callable[[int, int], None]


class Provenance(TypedDict):
    """The fields of a head that name a record's writer."""

    session: str
    model: str
    origin: str
    user: str
    project: str


class Closes(Protocol):
    """An object that stays open with a vault, and is closed with it."""

    def close(self) -> None:
        """Release its resources."""


class Who(Struct):
    """The caller: written into its records as provenance. Raises UsageError for values that are not Unicode text."""

    origin: str = "agent"
    session: str = ""
    model: str = ""
    user: str = ""
    project: str = ""
    author: str = ""
    """The author of the commits, `ann <HASH@people.invalid>`, if a served person writes by a token; empty for the owner."""

    def __post_init__(self) -> None:
        for name in ("session", "model", "user", "project"):
            if not isinstance(getattr(self, name), str):
                raise UsageError(f"{name} must be a text", "give a name or an id")
            if (flaw := flaw_in(getattr(self, name))) is not None:
                raise UsageError(f"{name} {flaw.message}", flaw.hint)
            if len(getattr(self, name)) > _LONGEST_NAME:
                raise UsageError(f"{name} has more than {_LONGEST_NAME} characters", "give a name or an id")

    def provenance(self) -> Provenance:
        """The fields that the head of each of this caller's records gets."""
        return {
            "session": self.session, "model": self.model, "origin": self.origin, "user": self.user, "project": self.project,
        }  # fmt: skip


class Freshness(Struct):
    """The state of an answer's indexes against the files: the changes just taken in, and the files that could not be."""

    checked: str
    changed: int = 0
    behind: int = 0
    stale: tuple[str, ...] = ()
    problems: int = 0
    held_back: str = ""
    unreadable: int = 0
    """The number of files that cannot be read or parsed: their present text is in no answer."""
    settings: str = ""
    """The reason why the settings in force are not those of `vault.toml`; else empty."""


NOT_COMPARED = Freshness(checked="")


class Looks(threading.local):
    """The comparisons with the files: the `last` one, and `told`, the last one of the present call, which its answer reports.

    All views of an open vault share this object, but each thread has its own values.
    """

    def __init__(self) -> None:
        self.last = NOT_COMPARED
        self.told: Freshness | None = None
        self.is_answering = False
        """Whether a verb runs in this thread: a verb that it calls is a part of it."""

    def note(self, freshness: Freshness) -> Freshness:
        """Keep the result of a comparison."""
        self.last = self.told = freshness
        return freshness


class Hearing(Protocol):
    """The record of file changes that a process was notified of: its comparisons are counted, and changes are kept per count."""

    comparisons: int

    def heard_since(self, comparison: int) -> frozenset[str] | None:
        """The files that changed since a comparison; None if others may have changed too."""


class Context:
    """An open vault: its root, its settings, its indexes and who is asking. Verbs are functions of it."""

    def __init__(self, root: Path, who: Who | None = None, clock: Clock | None = None) -> None:
        self.root = checked_root(root)
        self.location = Location(self.root)
        self.who = who or Who()
        self.viewer: str | None = self.who.user or None
        """The user whose memories are seen, beside the memories about no user. Empty: only the latter. None: those of all users
        (`sees_everyone`), as the vault's owner sees it."""
        self.sees_withheld = False
        """Whether withheld memories are seen too, to which consent was refused or withdrawn."""
        self._views: dict[str | None, UserIndex] = {}
        self.presence = Presence.NOBODY
        """Whether a person asks, as far as is known: see `person`."""
        self.clock = clock or Clock()
        self.looks = Looks()
        self.process = os.getpid()
        self.local = LocalFolder(self.root)
        self.progress: Progress | None = None
        self.allow_secrets = False
        """Whether a write may contain a text that looks like a secret: set for one command, or by a program."""
        self.is_current: Callable[[], bool] | None = None
        """Called before every answer if a watcher runs in this process: true spares the comparison with the files."""
        self.hearing: Hearing | None = None
        """The record of file changes, if this process is notified of them."""
        self.is_past = False
        """Whether this is the state of the vault at an earlier time, which is never written to."""
        self.hurried_until: float | None = None
        """The time (monotonic) until which a lock of another process is waited for; None: as long as the settings say."""
        self.together: Together[Any] | None = None
        """The collector for commits of several operations under one hold of the write lock; None: each operation commits."""
        self.ids_being_forgotten: set[str] = set()
        """The ids that this process is forgetting at the moment, so that no other call finishes that."""
        self.embedding = Embedding(self)
        self._whole_index: Index | None = None
        self._standings: Standings | None = None
        self._global_vault: Context | None = None
        self._looked_for_global = False
        self.neighbours: dict[str, Closes] = {}
        """The other vaults that were asked beside this one, by their folders; all views of this vault share them."""
        self._is_lent = False
        self._bin_emptied = ""
        self._settings_fault = ""
        self.environ: Mapping[str, str] = os.environ
        """The environment variables, which no other module reads."""

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        origin: str | None = None,
        session: str | None = None,
        model: str = "",
        user: str = "",
        project: str = "",
        person: bool = False,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Open the vault at `path`, else at `$VAULT_ROOT`, else the nearest one above this folder, else the global one.

        Only `vault.toml` is read until a verb is called. Raises NotFound when there is no vault, ConfigError when its settings
        cannot be used, UsageError for an unknown origin. With `person` the program states that a person asks through it: acts
        for people alone are then allowed, and writes are the owner's.
        """
        env = os.environ if environ is None else environ
        chosen = origin or ("owner" if person else env.get("VAULT_ORIGIN") or "agent")
        if chosen not in ORIGINS:
            raise UsageError(f"origin `{chosen}` is none of {', '.join(ORIGINS)}", f"pass {option('origin')} or set VAULT_ORIGIN")
        if person and chosen != "owner":
            raise UsageError(f"a person is asking, and not {with_article(chosen)}", "leave `origin` away, or `person`")
        who = Who(chosen, session or env.get("VAULT_SESSION", ""), model or env.get("VAULT_MODEL", ""), user, project)
        opened = cls(find(path, env), who, clock)
        opened.environ = env
        opened.presence = Presence.PERSON if person else Presence.NOBODY
        return opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Release the files of the indexes, and write the exports if they are due; a lent vault stays open."""
        if self._is_lent:
            return
        self.settle()
        self.embedding.close()
        for view in self._views.values():
            view.close()
        if self._whole_index is not None:
            self._whole_index.close()
        if self._global_vault is not None:
            self._global_vault.close()
        for neighbour in self.neighbours.values():
            neighbour.close()

    def as_(self, **changes: str) -> Self:
        """The same vault as another asker: `vault.as_(session="s1", model="m")`; indexes are shared."""
        viewer = changes["user"] or None if "user" in changes else self.viewer
        return self._view(replace(self.who, **changes), viewer, self.sees_withheld and viewer is None)

    def unserved(self) -> Self:
        """The same vault as its owner's agents ask it, for work of the vault's own during a served person's call."""
        return self.as_(author="") if self.who.author else self

    def for_user(self, user: str) -> Self:
        """The same vault for the user that a call names; without a name, for the user that it was opened for.

        Raises Refused for a user other than the one it was opened for: the argument of a call cannot change who asks.
        """
        if not user or user == self.who.user:
            return self
        if self.who.user:
            asked = one_line(self.who.user, 40)
            raise Refused(f"this is asked for {asked}, and a call names another user", "leave the user away")
        return self.as_(user=user)

    def as_person(self) -> Self:
        """The same vault asked by a person, as this program states: see `open`."""
        other = self.as_(origin="owner")
        other.presence = Presence.PERSON
        return other

    def seen_by(self, user: str) -> Self:
        """The same vault and asker, with the memories that `user` may see: see `viewer`."""
        return self._view(self.who, user, False)

    def with_withheld(self) -> Self:
        """The same vault and asker, with withheld memories: see `sees_withheld`."""
        return self._view(self.who, None, True)

    def seen_as(self, vault: Context) -> Self:
        """The same vault for the asker and viewer of another vault, without withheld memories."""
        return self._view(vault.who, vault.viewer, False)

    def lent(self, who: Who) -> Self:
        """The same vault for another asker. Closing the result leaves the vault open and its caches warm."""
        self.embedding.open()
        _ = self.standings
        if self.global_vault is not None:
            self.global_vault.embedding.open()
            _ = self.global_vault.standings
        other = self._view(who, who.user or None, False)
        other._is_lent = True
        if other.global_vault is not None:
            other.global_vault._is_lent = True
        return other

    def served(self) -> Self:
        """The same vault and caller with the memories of all users, without withheld memories."""
        return self._view(self.who, None, False)

    def _view(self, who: Who, viewer: str | None, sees_withheld: bool) -> Self:
        _ = self.whole_index  # opened first, or each would open its own
        other = copy(self)
        other.who, other.viewer, other.sees_withheld = who, viewer, sees_withheld
        if who.origin not in ("owner", self.who.origin):
            other.presence = Presence.NOBODY
        if (viewer, sees_withheld) != (self.viewer, self.sees_withheld):
            other._standings = None
        if who.author:
            # The owner's global vault is not served together with this one.
            other._global_vault, other._looked_for_global = None, True
        elif self._global_vault is not None:
            other._global_vault = self._global_vault._view(who, viewer, sees_withheld)
        elif self.who.author:
            other._looked_for_global = False
        return other

    def reopened(self) -> Self:
        """The same vault opened again, with its settings and indexes as they are now."""
        other = type(self)(self.root, self.who, self.clock)
        other.location = self.location
        other.viewer, other.sees_withheld = self.viewer, self.sees_withheld
        other.environ, other.presence = self.environ, self.presence
        other.is_current, other.hearing = self.is_current, self.hearing
        return other

    def require_present(self) -> None:
        """Raise VaultGone if the opened vault is no longer at its place.

        Long-lived processes call it before each call: they would read an empty folder as an empty vault, and write to it. If the
        global vault is gone, it is looked for anew.
        """
        self.location.require()
        if self._global_vault is not None and not self._global_vault.location.is_there():
            self._global_vault, self._looked_for_global = None, False

    @cached_property
    def settings(self) -> Config:
        """The settings in force, read once: those of `vault.toml`, or the defaults if there is no such file.

        If the file cannot be used, the settings committed last are in force, and `settings_fault` says so.
        """
        with suppress(FileNotFoundError):
            try:
                return load((self.root / layout.SETTINGS_FILE).read_bytes().decode("utf-8"))
            except (ConfigError, OSError, UnicodeDecodeError) as fault:
                if isinstance(fault, FileNotFoundError):
                    raise
                settings = settings_in_force.in_force(self.root, self._looked_for_git[0])
                self._settings_fault = settings.remark
                return settings.config
        return Config()

    @property
    def settings_fault(self) -> str:
        """The reason, in one line, why the settings in force are not those of `vault.toml`; empty if they are."""
        _ = self.settings
        return self._settings_fault

    def lock_wait(self) -> float:
        """Seconds to wait for a lock that another process holds; see `hurried_until`."""
        most = self.settings.lock_wait
        return most if self.hurried_until is None else max(0.0, min(most, self.hurried_until - time.monotonic()))

    @cached_property
    def _looked_for_git(self) -> tuple[git.Repo | None, str]:
        return git.look_for(self.root)

    @cached_property
    def repo(self) -> git.Repo | None:
        """The git repository of the vault, or None; a surrounding repository that ignores the vault does not count."""
        repo, _ = self._looked_for_git
        if repo is not None and repo.prefix and self.local.around():
            with suppress(GitError):
                return None if git.ignored(repo, [layout.SETTINGS_FILE]) else repo
        return repo

    @property
    def sees_everyone(self) -> bool:
        """Whether the memories about all users are seen."""
        return self.viewer is None

    def sees(self, user: str) -> bool:
        """Whether the memories about `user` are seen."""
        return self.viewer in (None, user)

    @property
    def index(self) -> Index:
        """The derived indexes, limited to the records that the viewer may see."""
        if self.sees_withheld:
            return self.whole_index
        if self.viewer not in self._views:
            self._views[self.viewer] = UserIndex(self.whole_index, self.viewer)
        return self._views[self.viewer]

    @property
    def whole_index(self) -> Index:
        """The derived indexes of all records, opened once; not yet compared with the files."""
        if self._whole_index is None:
            around = self.notes_folder is not None
            self._whole_index = Index(
                self.root, self.settings, self.repo, self.clock, self.owners, around=around, location=self.location,
                followers=self._followers,
            )  # fmt: skip
        return self._whole_index

    def _followers(self) -> list[Follower]:
        """The functions that keep added stores up to date with the notes."""
        return [make(self.with_withheld()).refresh for make in registered.added_stores()]

    @cached_property
    def notes_folder(self) -> Path | None:
        """The folder of notes around the vault, if it is served too.

        `vault.toml` alone does not decide that: it may have come with a pull, and would make the tool read any folder that the
        vault is put into. The folder has to be tracked together with the vault, or named on this machine.
        """
        folder = self.root.parent
        if self.settings.notes and ((self.repo is not None and self.repo.prefix) or self.local.around() == str(folder)):
            return folder
        return None

    def owners(self) -> TrustedAuthors:
        """The owners: the authors whose commits count as the owner's, by this machine's settings and git's."""
        try:
            settings = machine_settings(self)
        except VaultError:
            settings = Machine()  # settings that cannot be read, or came with a pull, are ignored
        addresses = settings.owners or ((git.own_address(self.repo),) if self.repo is not None else ())
        return TrustedAuthors(frozenset(filter(None, addresses)), settings.owners_sign == "on", frozenset(settings.trusted))

    def counted_origin(self, origin: str) -> str:
        """The origin by which a new record counts: the given one; for a served person, the origin that their commit will get."""
        author = self.who.author
        if not author:
            return origin
        address, settings = author.rpartition("<")[2].rstrip(">"), self.machine
        is_trusted = not {address, f"*{machine.SERVED_DOMAIN}"}.isdisjoint(settings.trusted) and settings.owners_sign == "off"
        return trusted(pulled(author)) if is_trusted else pulled(author)

    @property
    def standings(self) -> Standings:
        """The beliefs about the memories and how far they have faded."""
        if self._standings is None:
            self._standings = Standings(self.root, self.index, self.local, self.settings.types, self.clock)
        return self._standings

    @property
    def global_vault(self) -> Context | None:
        """The person's global vault, which reading verbs ask beside this one; None where there is none, or it is this."""
        if self.who.author:
            return None  # the global vault belongs to the owner, and a token gives no access to it
        if not self._looked_for_global:
            self._global_vault, self._looked_for_global = self._open_global(), True
        return self._global_vault

    def _open_global(self) -> Context | None:
        shared = global_vault_at(self.environ)
        if not shared or Path(shared).resolve() == self.root:
            return None
        return opened_beside(self, Path(shared))

    @property
    def machine(self) -> Machine:
        """The settings of this machine; if they cannot be read, settings that send nothing anywhere and give the reason."""
        return self.embedding.machine

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Keep the indexes in one state until the block ends, so that an answer is made from one state."""
        with self.index.consistent_read(), self.embedding.consistent_read():
            yield

    def graves(self) -> Graves | None:
        """The tombstones in the vault with their authors, as of the last comparison with the history; None if there are none."""
        return graves.graves(self.root, self.whole_index.catalog) if tombstones.files(self.root) else None

    def forgotten(self) -> frozenset[str]:
        """The ids of all forgotten records: no new record may have such an id or refer to one."""
        graves = self.graves()
        return graves.counting if graves else frozenset()

    def now(self) -> str:
        """The present as records write it."""
        return stamp(self.clock.now())

    def fresh(self, progress: Progress | None = None) -> Freshness:
        """Compare the files with the indexes and take in the changes: before every answer.

        Nothing is compared if a watcher in this process confirms that every change so far was taken in. The embedder is chosen
        anew if this machine's settings changed, because an agent's process lives for days.
        """
        self._finish_forgetting()
        self._empty_bin()
        self.embedding.refresh()
        if self.is_current is not None and self.is_current():
            with self.index.consistent_read():
                return self._freshness(self.index.recheck(()))
        return self._freshness(self.index.refresh(progress=progress or self.progress))

    def settle(self) -> None:
        """Update the exports (`_index.json`, `_state.json`, `_embeddings.json`) at the end of a process.

        Other programs read them; no answer of this one is made from them. They contain all records, whoever the asker is. If a
        watcher runs, it writes them in a quiet moment, whichever process made the change.
        """
        if self.hurried_until is not None:
            return
        if self._whole_index is None or not self._whole_index.is_open or self.process != os.getpid():
            return
        if not self._is_watched():
            with suppress(VaultError):
                self.export_if_due()

    def export_if_due(self) -> None:
        """Write the exports that are due; a file that cannot be written stays as it is."""
        self.whole_index.export_if_due()
        self.whole_standings.save_if_due()
        self.embedding.export_if_due()

    def _is_watched(self) -> bool:
        """Whether another process watches the vault."""
        # This test spares loading the reader of that file. The file only names a process, so its folder need not be trusted.
        if not os.path.lexists(f"{self.root}/{layout.LOCAL}/{layout.OWNER_FILE}"):
            return False
        holder = watcher_presence.owner(self.root)
        return holder is not None and holder.pid != self.process

    @cached_property
    def uses(self) -> Uses:
        """The uses of memories that this machine has not shared yet."""
        return Uses(self.local, self.whole_index)

    @property
    def whole_standings(self) -> Standings:
        """The standings of all memories, whoever the asker is."""
        same = self.sees_withheld or (self.sees_everyone and not self.whole_index.catalog.withheld())
        return (self if same else self.with_withheld()).standings

    def refresh_names(self) -> Freshness:
        """Take in files that were added, removed, moved or replaced, and every change to a subject: enough before an append.

        The next answer takes in files that another program changed in place. The first call compares all files.
        """
        self._finish_forgetting()
        self._empty_bin()
        return self._freshness(self.index.refresh(refresh_names=True, progress=self.progress))

    def _finish_forgetting(self) -> None:
        """Finish a forgetting that a killed process began, before any answer or write."""
        begun = any(identity not in self.ids_being_forgotten for identity in self.local.forgetting())
        if begun or (os.path.lexists(f"{self.root}/{layout.LOCAL}/{layout.SYNCING}") and self.local.syncing()):
            for finish in registered.finishers():
                finish(self.unserved())

    def _empty_bin(self) -> None:
        """Delete drafts that were in the bin for a month: once a day, and at the first answer of a process."""
        today = self.now()[:10]
        if self._bin_emptied == today:
            return
        self._bin_emptied = today
        if (self.local.place / layout.LOCAL / "bin").is_dir():
            with suppress(StorageError):
                draft_bin.DraftBin(self.root).empty(self.now())

    def _freshness(self, refresh: Refresh) -> Freshness:
        """The freshness of an answer after a refresh."""
        changed = refresh.added + refresh.modified + refresh.removed
        unreadable = self.index.catalog.counts().unreadable
        stale = tuple(refresh.stale)
        return self.looks.note(
            Freshness(
                self.now(), changed, refresh.behind, stale, refresh.problems, refresh.held_back, unreadable, self.settings_fault
            )
        )

    def require_repo(self) -> git.Repo:
        """The git repository of the vault; raises GitError if there is none, with the reason and a remedy."""
        if self.repo is None:
            reason, _, advice = self.git_absence().partition("; ")
            raise GitError(f"this vault has no git history: {reason}", advice or f"{shell(f'git init {self.root}')} starts one")
        return self.repo

    def git_absence(self) -> str:
        """The reason why there is no git repository; empty if there is one."""
        return "" if self.repo else self._looked_for_git[1]


def opened_beside(vault: Context, root: Path) -> Context:
    """Another vault of this user, opened for the asker and viewer of `vault`."""
    beside = Context(root, vault.who, vault.clock)
    beside.viewer, beside.sees_withheld = vault.viewer, vault.sees_withheld
    beside.environ, beside.presence = vault.environ, vault.presence
    return beside
