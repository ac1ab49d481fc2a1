"""The standing of memories: their belief, their use and how far they have faded, by the fold over the journals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from vault_tool.belief.decay import Standing, entry_decay, standing
from vault_tool.belief.fold import Belief, fold, untouched
from vault_tool.belief.gates import doubtful
from vault_tool.errors import Busy, StorageError
from vault_tool.files.local import LocalFolder
from vault_tool.index import relations
from vault_tool.index import uses as long_logs
from vault_tool.index.export import StateFile
from vault_tool.index.export import StateRow as Row
from vault_tool.index.slight import slight
from vault_tool.index.vault_index import Index
from vault_tool.index.visibility import Request, visible
from vault_tool.model.authority import by_origin, is_review, vouches
from vault_tool.model.signals import Signal, Use
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import DEFAULT_CONFIDENCE, Registry
from vault_tool.util.clock import Clock, stamp
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# The bytes of use logs from which their older parts are read from the catalogue instead.
_LONG = 12_000

FAILED_TACTIC = "failed_tactic"
# The most characters of a tactic's failure mode in a caution.
_MODE = 200

# The digits of a score in `_state.json`.
SCORE_DIGITS = 4

# In a vault of at most so many records each process updates `_state.json`; in a larger one a watcher, `decay` or `reflect` does.
SMALL = 2000


class Weighed(Struct):
    """One memory with its belief and its decay score."""

    entry: Entry
    belief: Belief
    score: float


class Uses:
    """The uses that this machine has not shared yet, oldest first."""

    def __init__(self, local: LocalFolder, index: Index) -> None:
        self._local = local
        self._index = index

    def of(self, ids: Collection[str]) -> list[Use]:
        """The uses of some memories."""
        return self._found({*ids})

    def all(self) -> list[Use]:
        """The uses of all memories."""
        return self._found(None)

    def clear(self) -> None:
        """Delete the catalogue's copy of the logs, after lines were removed from them."""
        long_logs.clear(self._index)

    def _found(self, ids: set[str] | None) -> list[Use]:
        if self._local.use_size() < _LONG:
            return [use for use in self._local.uses() if ids is None or use.target in ids]
        return long_logs.uses_of(self._local, self._index, ids)


class Standings:
    """The standing of a vault's memories, computed from signals and use whenever it is asked for."""

    def __init__(self, root: Path, index: Index, local: LocalFolder, registry: Registry, clock: Clock) -> None:
        self._index = index
        self._local = local
        self._uses = Uses(local, index)
        self._registry = registry
        self._clock = clock
        self._file = StateFile(root)

    def belief_of(self, entry: Entry) -> Belief:
        """The belief in one memory by all writers' signals and the uses that this machine has not shared yet."""
        uses = self._uses.of([entry.id])
        return belief_in(entry, self._index.catalog.signals(entry.id), uses)

    def judged(self, entry: Entry) -> Belief:
        """The belief in one memory by its signals alone: enough to see whether it is doubtful or reviewed."""
        return belief_in(entry, self._index.catalog.signals(entry.id), ())

    def beliefs(self, entries: Iterable[Entry], *, live: bool = True) -> dict[str, Belief]:
        """The beliefs about several memories, by id, looked up together; `live` adds the uses that only this machine has."""
        by_id = {entry.id: entry for entry in entries}
        signals: dict[str, list[Signal]] = defaultdict(list)
        for signal in self._index.catalog.signals_of(by_id):
            signals[signal.target].append(signal)
        uses: dict[str, list[Use]] = defaultdict(list)
        for use in self._uses.of(by_id) if live else ():
            uses[use.target].append(use)
        return {
            identity: belief_in(entry, signals.get(identity, ()), uses.get(identity, ()))
            if identity in signals or identity in uses
            else untouched(confidence_of(entry))
            for identity, entry in by_id.items()
        }

    def judged_each(self, entries: Collection[Entry]) -> Iterator[tuple[Entry, Belief]]:
        """The beliefs in several memories as by `judged`, also for copies of one id."""
        signals: dict[str, list[Signal]] = defaultdict(list)
        for signal in self._index.catalog.signals_of({entry.id for entry in entries}):
            signals[signal.target].append(signal)
        yield from ((entry, belief_in(entry, signals.get(entry.id, ()))) for entry in entries)

    def doubted(self, entry: Entry) -> bool:
        """Whether a memory is shown as doubtful."""
        return doubtful(self.judged(entry))

    def reviewed(self, entry: Entry) -> bool:
        """Whether a person reviewed a memory."""
        return self.judged(entry).reviewed

    def solved_since(self, entries: Iterable[Entry]) -> dict[str, Entry]:
        """The newest believed solution of each failed tactic's problem that is later than the tactic, by the tactic's id."""
        failed = [entry for entry in entries if entry.type == FAILED_TACTIC and entry.text("problem")]
        if not failed:
            return {}
        pointed = self._index.catalog.pointing_at_each({entry.text("problem") for entry in failed}, ("problem",))
        request = Request(now=self._clock.now())
        solutions_of: dict[str, Entry] = {}
        for entry in failed:
            solutions = [
                solution
                for _, solution in pointed[entry.text("problem")]
                if solution.type == "solution" and solution.observed_sort_key > entry.observed_sort_key
            ]
            ours = (solution for solution in solutions if solution.text("user") in ("", entry.text("user")))
            current = [solution for solution in ours if visible(solution, request, "observed") is None]
            for solution in sorted(current, key=lambda solution_entry: solution_entry.observed_sort_key, reverse=True):
                if not self.doubted(solution):
                    solutions_of[entry.id] = solution
                    break
        return solutions_of

    def score_of(self, entry: Entry, belief: Belief, moment: datetime) -> float:
        """The decay score of one memory at `moment`."""
        return entry_decay(entry, belief, self._registry.spec(entry.type), moment)

    def weigh(self, entries: Iterable[Entry], *, live: bool, as_of: datetime | None = None, few: bool = False) -> list[Weighed]:
        """Belief and decay of many memories; without `live` from tracked signals alone, so that a clone gets the same.

        With `few`, only the signals of these memories are read, by their ids.
        """
        moment = as_of or self._clock.now()
        entries = list(entries) if few else entries
        signals, uses = self._said(live, {entry.id for entry in entries} if few else None)
        weighed = []
        for entry in entries:
            belief = belief_in(entry, signals.get(entry.id, ()), uses.get(entry.id, ()))
            weighed.append(Weighed(entry, belief, self.score_of(entry, belief, moment)))
        return weighed

    def weigh_each(
        self, replaced: Container[str], *, live: bool, as_of: datetime | None = None, at_once: bool = False
    ) -> Iterator[Weighed]:
        """Belief and decay of all memories except the `replaced` ids, one after another, with entries as from `slight`."""
        moment = as_of or self._clock.now()
        for entry, belief in self.believed_each(replaced, live=live, at_once=at_once):
            yield Weighed(entry, belief, self.score_of(entry, belief, moment))

    def believed_each(self, replaced: Container[str], *, live: bool, at_once: bool = False) -> Iterator[tuple[Entry, Belief]]:
        """The belief in each memory except the `replaced` ids, one after another, with entries as from `slight`."""
        signals, uses = self._said(live)
        for entry in slight(self._index.catalog, at_once=at_once):
            if entry.id not in replaced:
                signals_of, used = signals.get(entry.id, ()), uses.get(entry.id, ())
                yield entry, belief_in(entry, signals_of, used) if signals_of or used else untouched(confidence_of(entry))

    def _said(
        self, live: bool, ids: Collection[str] | None = None
    ) -> tuple[Mapping[str, Sequence[Signal]], Mapping[str, Sequence[Use]]]:
        """The signals of each memory (or of `ids`), and with `live` the uses that this machine has not shared yet."""
        signals: dict[str, list[Signal]] = defaultdict(list)
        catalog = self._index.catalog
        for signal in catalog.signals() if ids is None else catalog.signals_of(ids):
            signals[signal.target].append(signal)
        uses: dict[str, list[Use]] = defaultdict(list)
        if live:
            for use in self._uses.all() if ids is None else self._uses.of(ids):
                uses[use.target].append(use)
        return signals, uses

    def present(self) -> list[Weighed]:
        """All memories that no other supersedes, with their present standing, best first."""
        return sorted(self.each_present(), key=best_first)

    def each_present(self) -> Iterator[Weighed]:
        """All memories that no other supersedes, one after another in no order, with entries as from `slight`."""
        return self.weigh_each(relations.supersession(self._index.catalog), live=True, at_once=True)

    def saved_scores(self) -> dict[str, float]:
        """The decay scores in `_state.json`, by id; empty if the file cannot be trusted."""
        return {identity: row.decay_score for identity, row in self._file.each()}

    def active_ids(self) -> set[str]:
        """The ids of active memories; in a large vault from `_state.json`, and none if that file cannot be trusted."""
        if self.behind() and self._index.catalog.counts().entries <= SMALL:
            return {memory.entry.id for memory in self.present() if standing(memory.score) is Standing.ACTIVE}
        return {identity for identity, row in self._file.each() if standing(row.decay_score) is Standing.ACTIVE}

    def behind(self) -> bool:
        """Whether `_state.json` was changed by another program, or lacks changes or uses."""
        return not self._file.intact() or self._file.of() != self.known()

    def save(self) -> None:
        """Write the present standings to `_state.json`. Raises Busy and StorageError."""
        for _ in self.saving():
            pass

    def saving(self) -> Iterator[Weighed]:
        """The memories that no other supersedes, in no order; after the last one, their standings are written to `_state.json`.

        Raises Busy and StorageError.
        """
        with self._file.alone():
            # This is noted before anything is read, so that a write of another process meanwhile makes the file count as behind.
            of = self.known()
            copied = self._index.catalog.copied_ids()
            rows: dict[str, Row] = {}
            copies: list[Weighed] = []
            for memory in self.each_present():
                rows[memory.entry.id] = _row(memory)
                if memory.entry.id in copied:
                    copies.append(memory)
                yield memory
            # For copies of one id the file has the one that is last in order.
            rows.update((memory.entry.id, _row(memory)) for memory in sorted(copies, key=best_first))
            self._file.write(rows, stamp(self._clock.now()), of=of)

    def save_if_due(self) -> None:
        """Write `_state.json` if it is missing or damaged, and in a small vault also if it is behind.

        Call it in a quiet moment. A failure is ignored: on a disk that cannot be written the file stays as it is.
        """
        with suppress(Busy, StorageError):
            if self.is_due():
                self.save()

    def is_due(self) -> bool:
        """Whether `save_if_due` would write; changes of a killed process count too."""
        return self.behind() and not (self._file.intact() and self._index.catalog.counts().entries > SMALL)

    def known(self) -> str:
        """A stamp of the catalogue's build, its number of changes, and the size of the use logs."""
        catalog = self._index.catalog
        return f"{catalog.meta('nonce')} {catalog.meta('changes')} {self._local.use_size()}"


def best_first(memory: Weighed) -> tuple[float, str, str, str]:
    """A sort key by standing: the highest decay score first."""
    return -memory.score, memory.entry.text("created"), memory.entry.id, memory.entry.path


def _row(memory: Weighed) -> Row:
    belief = memory.belief
    last = belief.last_accessed or ""
    return Row(belief.access_count, last, round(memory.score, SCORE_DIGITS), round(belief.truth, 4), round(belief.utility, 4))


def confidence_of(entry: Entry) -> float:
    """The truth (0..1) with which a memory starts."""
    confidence = entry.number("confidence")
    return DEFAULT_CONFIDENCE if confidence is None else confidence


def belief_in(entry: Entry, signals: Sequence[Signal], uses: Sequence[Use] = ()) -> Belief:
    """The belief about a memory by its signals and uses."""
    return fold(about(entry, signals), start=confidence_of(entry), writer=by_origin(entry.origin), uses=uses)


def about(entry: Entry, signals: Sequence[Signal]) -> Sequence[Signal]:
    """The signals of a memory; for another person's text, without reviews of an earlier version of it."""
    return [signal for signal in signals if not is_review(signal) or vouches(signal, entry)] if entry.pulled else signals


def caution_of(entry: Entry) -> str | None:
    """A warning about a failed tactic, so that it is not repeated by mistake; None for any other memory."""
    if entry.type != FAILED_TACTIC:
        return None
    # The failure mode may be in any form: `the disk is full`, `hides the cause`, `The disk was full.`, `No lock?`
    mode = one_line(entry.text("failure_mode"), _MODE).rstrip(".!;。 ")
    return f"did not work ({mode}); reconsider only if that changed" if mode else "did not work; reconsider only if that changed"
