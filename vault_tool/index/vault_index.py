"""The indexes of one vault: compared with the files before every answer, brought up to date, built anew when spoilt."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from vault_tool.config import Config
from vault_tool.errors import Busy, StorageError, VaultGone
from vault_tool.files import git, reader
from vault_tool.files.layout import INDEX_FILE
from vault_tool.index.catalog import Catalog
from vault_tool.index.export import ExportedFile, index_json
from vault_tool.index.fulltext.documents import TextHit
from vault_tool.index.refresh.diff import Progress, stat_of
from vault_tool.index.refresh.refresher import Refresh, Refresher, report
from vault_tool.index.seals import SealedFile
from vault_tool.index.store import Replaced, Store
from vault_tool.index.text_search import Spoilt, TermMatch, TextSearch
from vault_tool.index.trusted_authors import TrustedAuthors
from vault_tool.util.clock import Clock, stamp
from vault_tool.util.location import Location

__all__ = ["Index", "Progress", "Refresh"]

if TYPE_CHECKING:
    from vault_tool.index.refresh.refresher import Follower

T = TypeVar("T")

_ATTEMPTS = 5


class Index:
    """The derived indexes of one vault. Every answer of `catalog` and `search` is of the last refresh."""

    def __init__(
        self,
        root: Path,
        config: Config,
        repo: git.Repo | None,
        clock: Clock,
        owners: Callable[[], TrustedAuthors] | None = None,
        *,
        around: bool = False,
        location: Location | None = None,
        followers: Callable[[], Sequence[Follower]] = tuple,
    ) -> None:
        """Nothing is read or written before something is asked; VaultGone once the vault of `location` is not at its place.

        `owners` says, when it matters, whose commits are the owner's; else theirs whom git would name as the author here.
        The `followers` are told of each note that was taken in or is gone; where the indexes are built anew nothing is told.
        With `around` they hold the notes of the folder that the vault lies in as well.
        """
        self._root = root
        self._config = config
        self._clock = clock
        self._store = Store(root, config, around=around, location=location)
        self._search = TextSearch(self._store, config)
        self._refresher = Refresher(root, config, repo, clock, owners, self._store, self._search, around, followers)

    def close(self) -> None:
        """Let go of all files."""
        self._search.close()
        self._store.close()

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the last refresh, built first when there is none that can be trusted."""
        for _ in range(_ATTEMPTS):
            catalog = self._with_room(self._store.ready)
            if catalog is not None:
                return catalog
            self.refresh()
        raise StorageError("the index is spoilt as soon as it is built", "look whether another program writes to `_cache`")

    def hurried(self, until: float) -> AbstractContextManager[None]:
        """Wait for no other process after `until` (monotonic), as long as this lasts: what is asked then may raise Busy."""
        return self._store.hurried(until)

    def consistent_read(self) -> AbstractContextManager[None]:
        """Answer all that is asked until the end as of one look at the indexes: what an answer is made of belongs together."""
        return self._search.consistent_read()

    def refresh(
        self, *, full: bool = False, confirm: bool = False, refresh_names: bool = False, progress: Progress | None = None
    ) -> Refresh:
        """Compare all files with the indexes and take in what changed; `full` reads every file again.

        A `refresh_names`, once a comparison was made, looks only into folders whose own times changed and into those of subjects:
        it notices what came, went, was moved or replaced, not what was written in place elsewhere. It is for appending.

        When notes vanished in bulk nothing is forgotten unless git explains it or `confirm` says that it is meant.
        Raises Busy when another process holds the indexes for longer than the bounded wait, and StorageError.
        """
        begun = time.perf_counter()
        compared = partial(self._refresher.refresh, full=full, confirm=confirm, refresh_names=refresh_names, progress=progress)
        refreshed = self._with_room(compared)
        return replace(refreshed, seconds=time.perf_counter() - begun)

    def wrote(self, paths: Sequence[str]) -> Refresh:
        """Take in just these files, which we wrote or removed ourselves: no walk. Those that are not the vault's are passed over.

        Where HEAD is is not noted: a later comparison may need to know from where it came.
        """
        begun = time.perf_counter()
        refreshed = self._with_room(partial(self._refresher.wrote, paths))
        if refreshed is None:
            return self.refresh()
        return replace(refreshed, seconds=time.perf_counter() - begun)

    def _with_room(self, ask: Callable[[], T]) -> T:
        """An answer of the indexes; if they cannot be written since the disk is full, of indexes made anew elsewhere."""
        try:
            return ask()
        except StorageError as fault:
            if isinstance(fault, VaultGone) or not self._store.borrow_for_room():
                raise
        return ask()

    def recheck(self, paths: Iterable[str]) -> Refresh:
        """Compare just these files with the indexes: what a lookup by id does before it answers, without a walk."""
        catalog = self.catalog
        named = sorted(set(paths))
        if not named:
            return report(catalog)
        present = reader.present(self._root, named)
        return self.wrote([path for path in named if present.get(path) != stat_of(catalog, path)])

    def adding(self) -> AbstractContextManager[Catalog]:
        """The catalogue, to add what is no file of the vault; raises Busy and StorageError."""
        return self._adding()

    @contextmanager
    def _adding(self) -> Iterator[Catalog]:
        catalog = self.catalog
        try:
            with self._store.writing(catalog), catalog.transaction():
                yield catalog
        except Replaced as fault:
            raise Busy("another process built the index anew", "try again") from fault

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
        """The best files for a person's text, best first, as of the last refresh; waiting changes are in the answer.

        `classes` and `types` limit the answer (`page` is the class of pages). With `near`, words that stand close
        together as they do in the text count more. With `waiting`, a few changes that wait are answered for from beside
        the index and not written first: for what is asked in the middle of a write. Raises Busy and StorageError.
        """
        return _built(self._lexically(lambda: self._search.search(self.catalog, text, limit, classes, types, near, waiting)))

    def flush(self) -> None:
        """Write the changes that wait for the full-text index now, so that no search has to; what cannot be written waits on."""
        self._lexically(lambda: self._search.caught_up(self.catalog))

    def term_match(self, text: str, limit: int, classes: Collection[str], whole: str = "") -> dict[str, TermMatch]:
        """How the words of the best files of these classes stand to a question, best first; see `search` for what it raises."""
        return _built(self._lexically(lambda: self._search.term_match(self.catalog, text, limit, classes, whole)))

    def shared(self, text: str, others: Sequence[str]) -> tuple[int, list[int]]:
        """How many words of a question are looked for, and how many of them each of these texts has; see `search`."""
        return _built(self._lexically(lambda: self._search.shared(self.catalog, text, others)))

    def mentioned(
        self, sentences: Sequence[Mapping[str, float]], limit: int, classes: Collection[str], among: Collection[str] | None = None
    ) -> dict[str, float]:
        """The likeness of files of these classes to the sentences of a conversation, beyond chance; see `search`.

        The best for each sentence are looked at, or those `among` the given.
        """
        return _built(self._lexically(lambda: self._search.mentioned(self.catalog, sentences, limit, classes, among)))

    def _lexically(self, ask: Callable[[], T]) -> T | None:
        """The full-text index's answer, after a new build if it is spoilt; None if that does not help."""
        for _ in range(_ATTEMPTS):
            try:
                return self._with_room(ask)
            except Spoilt:
                self._with_room(self._refresher.mend)
        return None

    def export(self) -> None:
        """Write `_index.json` as of the last refresh; nothing is done where it stands so already."""
        catalog = self.catalog
        build, changes = _exported_as(catalog)
        if self._exported.lacks(build, changes) != 0:
            self._exported.write(lambda: index_json(catalog, stamp(self._clock.now()), self._config.types), build, changes)

    @property
    def _exported(self) -> ExportedFile:
        cache = self._store.cache
        return ExportedFile(
            SealedFile(self._root / INDEX_FILE, cache / "index.seal"), cache / "export.lock", self._store.patience()
        )

    def export_if_due(self) -> None:
        """Write `_index.json` when it is not as we left it, and otherwise when enough has changed to be worth its size.

        For a moment of rest: no answer is made from the file, so no answer waits for it.
        """
        # Nothing reads it here, so an answer must not fail for it (a read-only folder, a full disk, another's lock).
        with suppress(Busy, StorageError):
            if self.export_is_due():
                self.export()

    def export_is_due(self) -> bool:
        """Whether `export_if_due` would write."""
        catalog = self._store.ready()
        return catalog is not None and self._exported.is_due(*_exported_as(catalog), catalog.counts().entries)

    @property
    def is_open(self) -> bool:
        """Whether anything was asked of the catalogue here."""
        return self._store.is_open


def _exported_as(catalog: Catalog) -> tuple[str, int]:
    """The seal of `_index.json`: the build that it is of, and after how many changes."""
    return catalog.meta("nonce"), int(catalog.meta("changes") or 0)


def _built(answer: T | None) -> T:
    """The full-text index's answer; StorageError if it could not even be built anew."""
    if answer is None:
        raise StorageError("the full-text index cannot be built", "look at the free space and the permissions of `_cache`")
    return answer
