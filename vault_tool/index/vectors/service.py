"""The vectors of a vault's notes: which set of them answers, what is behind, and every question that can be asked of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.config import Config
from vault_tool.errors import Busy, EmbeddingUnavailable, StorageError, VaultError
from vault_tool.files import git, secrets
from vault_tool.files.layout import CACHE
from vault_tool.files.local_trust import place
from vault_tool.index.embedding.embedder import Embedder, Role
from vault_tool.index.seals import lock
from vault_tool.index.vault_index import Index
from vault_tool.index.vectors import (
    backfill,
    calibration,
    chroma,
    chroma_client,
    exact_search,
    maintenance,
    passages,
    sets,
    status,
)
from vault_tool.index.vectors.hits import GENERAL, Background, KnownDown, Matrix, StoreUnavailable, Vector, VectorHit
from vault_tool.index.vectors.sets import Sets
from vault_tool.machine import EXACT, Key
from vault_tool.util.clock import Clock, stamp
from vault_tool.util.hints import step

if TYPE_CHECKING:
    from vault_tool.index.vectors.backfill import Backfill, CaughtUp, Progress
    from vault_tool.index.vectors.chroma import ChromaStore
    from vault_tool.index.vectors.exact_search import Candidates, ExactStore, Similarities
    from vault_tool.index.vectors.passages import Notes
    from vault_tool.index.vectors.status import VectorStatus
    from vault_tool.index.vectors.vector_ledger import Refusal, VectorLedger
    from vault_tool.index.vectors.vector_set import VectorSet

_FILL_WAIT = 0.05
_NO_KEY = Key()
_SMALL = 2000


class Vectors:
    """The vectors of one vault. Opening costs nothing; nothing is embedded but by `query` and `catch_up`."""

    def __init__(
        self,
        root: Path,
        index: Callable[[], Index],
        settings: Config,
        repo: git.Repo | None,
        clock: Clock,
        embedder: Embedder | None,
        other: Callable[[str], Embedder | None] = lambda name: None,
        store: str = EXACT,
        token: Key = _NO_KEY,
    ) -> None:
        """`other` gives the embedder of a name that was used before, as far as it may be asked without leaving this machine.

        `store` is who proposes the best: `exact`, `chroma`, or the URL of a Chroma server.
        """
        self._root = root
        self._cache = place(root) / CACHE
        self._settings = settings
        self._clock = clock
        self._chosen = embedder
        self._index = index
        self._repo = repo
        self._sets = Sets(self._cache, settings.lock_wait, embedder, other)
        self._token = token
        self.store = store
        """Who is to propose the best: `exact`, `chroma` or the address of a server."""
        self.fault = ""
        """Why the store that was asked for did not answer the last question, and the exact one did; empty when all is well."""
        self._chroma: ChromaStore | None = None
        self.export_waits = False
        """Whether something was done here that `_embeddings.json` does not tell yet."""
        self.awaited = False
        """Whether a question was asked that had to do without the vectors of many notes, which nobody has made yet."""
        self._pending_estimate: tuple[str, Path, int] | None = None
        self._last: tuple[Embedder, str, Vector] | None = None

    @cached_property
    def _notes(self) -> Notes:
        return passages.Notes(self._root, self._index, self._settings, self._repo, self._now)

    def close(self) -> None:
        """Let go of all files."""
        self._close_chroma()
        self._sets.close()
        self._pending_estimate = None

    def consistent_read(self) -> AbstractContextManager[None]:
        """Take the set that answers, once it was looked at, for what it is until the end; what this process writes is seen.

        One answer asks a dozen times, and is made of one state.
        """
        return self._sets.consistent_read()

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that turns questions into vectors: the maker of the set that answers now."""
        serving = self._sets.found()
        return serving[1] if serving is not None else self._chosen

    @property
    def ready(self) -> bool:
        """Whether a question can be answered by meaning: there are vectors, and an embedder for the question."""
        return self.embedder is not None and self.stored

    @property
    def stored(self) -> bool:
        """Whether there are vectors, so that neighbours of a note can be found even without an embedder for questions."""
        serving = self._sets.found()
        if serving is None:
            return False
        with suppress(Busy, StorageError):
            return any(partition.rows for partition in serving[0].ledger().partitions().values())
        return False

    @property
    def model(self) -> str:
        """The model whose vectors answer, or the chosen one where there are none yet; empty where there is no embedder."""
        serving = self._sets.found()
        return serving[0].model if serving is not None else self._chosen.name if self._chosen is not None else ""

    @property
    def configured_embedder(self) -> Embedder | None:
        """The embedder of the settings; another may answer until its vectors are whole."""
        return self._chosen

    @property
    def model_being_filled(self) -> str:
        """The model whose vectors are wanted and not whole yet, while another's answer; else empty."""
        chosen = self._chosen.name if self._chosen is not None else ""
        return chosen if chosen != self.model else ""

    @property
    def outdated(self) -> str:
        """The chosen model, where its vectors were made by other files of that name than there are now; else empty."""
        return self._chosen.name if self._chosen is not None and self._sets.outdated else ""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; 0 before the first."""
        serving = self._sets.found()
        return serving[0].dimensions if serving is not None else 0

    @property
    def count(self) -> int:
        """How many notes have all their vectors."""
        serving = self._sets.found()
        if serving is None:
            return 0
        self._refresh(passages.FEW)
        ledger = serving[0].ledger()
        return ledger.count_notes() - self._notes_missing(ledger, serving[1])

    @property
    def coverage(self) -> dict[str, int]:
        """How many notes have all their vectors, by perspective."""
        serving = self._sets.found()
        if serving is None:
            return {}
        self._refresh(passages.FEW)
        ledger = serving[0].ledger()
        partitions, notes = ledger.partitions(), ledger.count_notes()
        return {
            name: notes - ledger.notes_missing([partitions[instruction].number]) if instruction in partitions else 0
            for name, instruction in self._instructions(serving[1]).items()
        }

    def incomplete_perspectives(self) -> tuple[str, ...]:
        """The perspectives of which some text has no vector, where others have all; none where every one is behind."""
        serving = self._sets.found()
        if serving is None:
            return ()
        ledger = serving[0].ledger()
        partitions, instructions = ledger.partitions(), self._instructions(serving[1])
        late = (
            name
            for name, instruction in instructions.items()
            if instruction not in partitions or ledger.count_wanted(partitions[instruction].number)
        )
        behind = tuple(late)
        return behind if len(behind) < len(instructions) else ()

    @property
    def perspectives(self) -> tuple[str, ...]:
        """The perspectives that are embedded and asked."""
        return tuple(self._instructions(self.embedder))

    def query(self, text: str, *others: str, seconds: float | None = None) -> dict[str, Vector]:
        """The vector of a question for each perspective, of several ways to ask it their mean; raises EmbeddingUnavailable.

        `seconds` is how long somebody waits for it, by default as long as the vault's settings say.
        """
        texts = [text, *others]
        embedder = self._asking(texts)
        vectors: dict[str, Vector] = {}
        instructions = self._instructions(embedder)
        each = [instruction for instruction in instructions.values() for _ in texts]
        wait = self._settings.embedding_wait if seconds is None else seconds
        done = embedder.embed(texts * len(instructions), Role.QUERY, each, wait)
        for n, perspective in enumerate(instructions):
            own = range(n * len(texts), (n + 1) * len(texts))
            if perspective == GENERAL and own[0] not in done.refused:
                self._last = embedder, text, done.vectors[own[0]]
            new_vectors = [done.vectors[at] for at in own if at not in done.refused]
            if new_vectors:
                vectors[perspective] = new_vectors[0] if len(new_vectors) == 1 else exact_search.mean_of(new_vectors)
        if not vectors:
            raise EmbeddingUnavailable(f"{embedder.name} makes no vector of this question", "search is by full text for now")
        return vectors

    def sentences(self, texts: Sequence[str], seconds: float) -> Matrix:
        """The vectors of sentences, in one request; nothing but zeros for one that the model refuses."""
        embedder = self._asking(texts)
        if self._last is not None and self._last[0] is embedder and list(texts) == [self._last[1]]:
            # A question of one sentence was embedded a moment ago.
            return self._last[2].reshape(1, -1)
        return embedder.embed(texts, Role.QUERY, self._instructions(embedder).get(GENERAL, ""), seconds).vectors

    def _asking(self, texts: Sequence[str]) -> Embedder:
        """The embedder for these questions; raises EmbeddingUnavailable."""
        embedder = self.embedder
        if embedder is None:
            raise EmbeddingUnavailable("there is no embedder", f"{step('status')} says what was tried")
        if embedder.remote and any(map(secrets.scan, texts)):
            raise EmbeddingUnavailable(
                "the question holds what looks like a secret and stays here", "it is searched for by its words"
            )
        return embedder

    def missing_count(self) -> int:
        """How many notes lack vectors now; those whose texts the model refused aside."""
        if self.embedder is None:
            return 0
        serving = self._sets.found()
        if serving is None:
            return self._notes.count()
        unread = self._refresh(passages.FEW)
        ledger = serving[0].ledger()
        return unread + self._notes_missing(ledger, serving[1])

    def similarities(self, queries: Mapping[str, Vector]) -> Similarities:
        """How every note stands to a question (`query`); raises StoreUnavailable.

        Where Chroma is to answer it proposes the best (`approximate`), and `fault` says when it could not.
        """
        return self._exact().similarities(queries, self._candidates(queries))

    def search(self, queries: Mapping[str, Vector], limit: int) -> list[VectorHit]:
        """The best files for a question, best first; raises StoreUnavailable."""
        return self.similarities(queries).top(limit)

    @property
    def approximate(self) -> bool:
        """Whether the best may be missed, because Chroma proposes them."""
        return self.store != EXACT

    def mirror(self, seconds: float | None = None) -> int:
        """Bring Chroma, where it is to answer, to what the exact store says; how many notes were written.

        For one process at a time: a second raises Busy. Raises StoreUnavailable when Chroma fails.
        """
        store = self._chroma_store() if self.stored else None
        return store.equalise(seconds) if store is not None else 0

    def chroma_missing_count(self) -> int:
        """How many notes Chroma, where it is to answer, does not have as they are, counted up to a few thousand."""
        store = self._chroma_store()
        return store.missing_count() if store is not None else 0

    def nearest(self, path: str, limit: int) -> list[VectorHit]:
        """The other files nearest to one, best first; nothing for one without vectors."""
        return self.nearest_of([path], limit).get(path, [])

    def nearest_of(self, paths: Collection[str], limit: int) -> dict[str, list[VectorHit]]:
        """For each of these files the others that are nearest to it."""
        return self._exact().nearest(paths, limit) if self.stored else {}

    def vectors_of(self, paths: Collection[str]) -> dict[str, Vector]:
        """One vector a file: the mean of its passages', of length 1."""
        return self._exact().vectors_of(paths) if self.stored else {}

    def between(self, paths: Sequence[str], other: Sequence[str]) -> Matrix:
        """The cosine of each file of one list with each of the other; 0 where one has no vectors."""
        return exact_search.table_between(paths, other, self.vectors_of({*paths, *other}))

    def background(self, perspective: str = GENERAL) -> Background:
        """The cosine of unrelated texts here: measured, or in a small vault what is known of the model."""
        serving = self._sets.found()
        if serving is not None:
            with suppress(Busy, StorageError):
                partition = serving[0].ledger().partitions().get(self._settings.perspectives.get(perspective, ""))
                if partition is not None and partition.background is not None:
                    return partition.background
        return calibration.shipped(self.model)

    def refusals(self) -> list[Refusal]:
        """Texts that are not embedded because the model refused them, and why."""
        serving = self._sets.found()
        return serving[0].ledger().refusals() if serving is not None else []

    def catch_up(
        self,
        embedder: Embedder | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
        *,
        seconds: float | None = None,
        waiting: float | None = None,
        again: bool = False,
    ) -> CaughtUp:
        """Embed what is not embedded yet, at most `limit` texts or for about so many seconds. Safe to end at any moment.

        `waiting` says that somebody waits for it, so many seconds in all; `again` has all refused texts tried again now.
        Another process that is at it already is left to it. What could not be done is in `stopped`, never raised.
        """
        maker = embedder or self._chosen
        if maker is None:
            return backfill.CaughtUp(behind=self.missing_count(), stopped="there is no embedder")
        now = time.monotonic()
        bounds = backfill.Bounds(limit, inf if seconds is None else now + seconds, None if waiting is None else now + waiting)
        instructions = list(dict.fromkeys(self._instructions(maker).values()))
        filling: Backfill | None = None
        stopped, busy = "", False
        try:
            vectors = self._sets.to_fill(maker, bounds.left())
            with lock(vectors.folder / "fill.lock", _FILL_WAIT, "the embedding of notes"):
                filling = backfill.Backfill(vectors, maker, self._notes, bounds, self._now())
                try:
                    done = filling.fill(instructions, progress, again=again)
                except backfill.DimensionChanged as fault:
                    vectors = self._sets.of(maker.name, fault.dimensions)
                    filling = backfill.Backfill(vectors, maker, self._notes, bounds, self._now())
                    done = filling.fill(instructions, progress, again=again)
                if done:
                    self._done(vectors)
            # Somebody waits for a bounded call, and the export of a large vault takes seconds.
            if limit is None and seconds is None:
                self._export(vectors)
            else:
                self.export_waits = True
        except backfill.DimensionChanged:
            stopped = f"{maker.name} makes vectors of different lengths"
        except backfill.ModelChanged:
            stopped = f"the files of {maker.name} became others meanwhile"
        except VaultError as fault:
            stopped, busy = fault.message, isinstance(fault, Busy)
        self._sets.look_again()
        count = (filling.embedded, filling.refused) if filling is not None else (0, 0)
        return backfill.CaughtUp(
            embedded=count[0], refused=count[1], behind=self._missing_count(maker), stopped=stopped, busy=busy
        )

    def status(self) -> VectorStatus:
        """How the vault stands by meaning."""
        current = self._sets.found()
        serving = current[0].folder if current is not None else None
        known = [
            status.SetStatus(model=model, dimensions=size, bytes=sets.bytes_of(folder), serving=folder == serving)
            for folder, model, size in sets.folders(self._cache)
        ]
        return status.VectorStatus(
            store=self.store,
            approximate=self.approximate,
            model=self.model,
            dimensions=self.dimensions,
            perspectives=self.perspectives,
            coverage=self.coverage,
            notes=self.count,
            behind=self._missing_count(self._chosen) if self._chosen is not None else 0,
            refused=tuple(self.refusals()),
            sets=tuple(known),
            fault=self.fault,
            mirror_behind=self.chroma_missing_count(),
            mirror_bytes=maintenance.mirror_bytes(self._cache),
            filling=self.model_being_filled,
            outdated=self.outdated,
        )

    def export(self) -> None:
        """Write `_embeddings.json` if that is due; it takes seconds for a hundred thousand notes."""
        serving = self._sets.found()
        if serving is not None:
            with suppress(Busy, StorageError):
                self._export(serving[0])

    def export_if_small(self) -> None:
        """The same for a small vault alone: at the end of a process that changed something."""
        self.export_waits = False
        serving = self._sets.found()
        if serving is not None:
            self._export_small(serving[0])

    def refresh(self) -> int:
        """Look at the texts of all notes that changed, without embedding; how many could not be looked at."""
        return self._refresh(None)

    def _done(self, vectors: VectorSet) -> None:
        """The work that pays once every note has its vectors."""
        if vectors.ledger().meta("whole") != "1":
            with vectors.writing() as ledger, ledger.transaction():
                ledger.say(whole="1")
        calibration.calibrate(vectors)
        maintenance.compact_if_due(vectors, self._now())
        maintenance.discard_old(self._cache, vectors.folder, self._now())

    def _refresh(self, limit: int | None) -> int:
        """Look at the texts of notes that changed, at most `limit` of them; how many were left."""
        serving = self._sets.found()
        if serving is None:
            return 0
        vectors, embedder = serving
        state = self._notes.state()
        if (
            self._pending_estimate is not None
            and self._pending_estimate[:2] == (state, vectors.folder)
            and (limit or not self._pending_estimate[2])
        ):
            return self._pending_estimate[2]
        try:
            window = embedder.window if embedder is not None else int(vectors.ledger().meta("window") or 0)
            left = self._notes.noted(vectors, window, limit) if window else 0
        except (Busy, StorageError):
            # Somebody else is at it, or nothing can be written here: what is known answers, and says that it is behind.
            left = self._notes.unread(vectors)
        self._pending_estimate = state, vectors.folder, left
        self.export_waits = True
        return left

    def _candidates(self, queries: Mapping[str, Vector]) -> Candidates | None:
        """The store that proposes the best so many files; None to look at all. It raises StoreUnavailable, and notes why."""
        store = self._chroma_store()
        if store is None:
            return None

        def propose(limit: int) -> Collection[str]:
            self.fault = ""
            try:
                return store.candidates(queries, limit)
            except StoreUnavailable as fault:
                self.fault = "" if isinstance(fault, KnownDown) else str(fault)
                raise

        return propose

    def _chroma_store(self) -> ChromaStore | None:
        """Chroma beside the set that answers now; None where it is not to propose anything."""
        serving = self._sets.found()
        if not self.approximate or serving is None:
            return None
        if self._chroma is None or self._chroma.vectors is not serving[0]:
            self._close_chroma()
            home = chroma_client.home(self.store, self._root, self._cache, self._token)
            self._chroma = chroma.ChromaStore(home, serving[0], self._settings.perspectives, self._hidden)
        return self._chroma

    def _hidden(self) -> frozenset[str]:
        """The paths of the withheld notes."""
        catalog = self._index().catalog
        return frozenset(entry.path for identity in catalog.withheld() for entry in catalog.get(identity))

    def delete_gone(self, seconds: float) -> None:
        """Delete at a server, within so many seconds, what the vault has no more. Raises Busy and StoreUnavailable."""
        store = self._chroma_store() if self.stored and "://" in self.store else None
        if store is not None:
            store.delete_gone(seconds)

    def _close_chroma(self) -> None:
        if self._chroma is not None:
            self._chroma.close()
            self._chroma = None

    def _exact(self) -> ExactStore:
        serving = self._sets.found()
        if serving is None:
            raise StoreUnavailable("nothing is embedded yet")
        self._refresh(passages.FEW)
        return exact_search.ExactStore(serving[0], self._settings.perspectives)

    def _missing_count(self, maker: Embedder) -> int:
        vectors = self._sets.own(maker)
        if vectors is None:
            return self._notes.count()
        try:
            ledger = vectors.ledger()
            return self._notes.unread(vectors) + self._notes_missing(ledger, maker)
        except (Busy, StorageError):
            return self._notes.count()
        finally:
            self._sets.let_go(vectors)

    def _instructions(self, embedder: Embedder | None) -> dict[str, str]:
        """The active perspectives with their instructions; the general one alone where instructions are not heeded."""
        known = self._settings.perspectives
        general = {GENERAL: known.get(GENERAL, "")}
        active = self._settings.active_perspectives
        # Of a model that nobody knows, who names perspectives may know.
        if embedder is None or embedder.follows_instructions is False or (embedder.follows_instructions is None and not active):
            return general
        active = active or tuple(known)
        return {name: known[name] for name in active if name in known} or general

    def _notes_missing(self, ledger: VectorLedger, embedder: Embedder | None) -> int:
        """How many notes lack a vector; for a perspective that nothing was embedded for yet, all of them."""
        instructions, partitions = set(self._instructions(embedder).values()), ledger.partitions()
        if instructions - partitions.keys():
            return ledger.count_notes()
        return ledger.notes_missing(
            [partition.number for instruction, partition in partitions.items() if instruction in instructions]
        )

    def _export_small(self, vectors: VectorSet) -> None:
        with suppress(Busy, StorageError):
            if vectors.ledger().count_notes() <= _SMALL:
                self._export(vectors)

    def _export(self, vectors: VectorSet) -> None:
        names = {instruction: name for name, instruction in self._settings.perspectives.items()}
        maintenance.export_if_due(self._root, vectors, names, stamp(self._clock.now()), self._settings.lock_wait)

    def _now(self) -> float:
        return self._clock.now().timestamp()
