"""The status of a memory for its reader now: one status, by whom, and the marks that are told beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, cast, get_args

from vault_tool.belief.fold import Belief, question_of
from vault_tool.belief.gates import doubtful
from vault_tool.index import claims
from vault_tool.index.visibility import Request, visible
from vault_tool.model.authority import contributor_of
from vault_tool.model.snapshot import Entry, is_trusted
from vault_tool.model.types import MEMORIES
from vault_tool.recall.update_pairs import Update
from vault_tool.vault.answers import HasStatus, Mark, Rival
from vault_tool.vault.contests import Pointed, all_contested, changes_of, contested
from vault_tool.vault.context import Context
from vault_tool.vault.perhaps_changed import PERHAPS, perhaps_changed, told_as
from vault_tool.vault.review_dates import REVIEW_DUE, review_due, since_when
from vault_tool.vault.standing import FAILED_TACTIC
from vault_tool.vault.viewer import request_of

# In the order in which they are looked for: the first that holds is the status.
StatusName = Literal[
    "waiting", "expired", "superseded", "overtaken", "contested", "failed", "solved", "questioned", "doubtful", "current"
]

STATUS_NAMES: tuple[StatusName, ...] = get_args(StatusName)

SOLVES = "SOLVES"
# So many are looked up at once: a question to the catalogue has no more places.
_TOGETHER = 5000
# The fields by which a memory is found to be changed, contested or solved.
POINTING = (*claims.ON, "from_id", "problem")

CURRENT = HasStatus()


def statuses(
    vault: Context,
    entries: Iterable[Entry],
    *,
    pointed: Pointed | None = None,
    believed: Mapping[str, Belief] | None = None,
    rivals: Mapping[str, tuple[Rival, ...]] | None = None,
    alike: Iterable[tuple[Entry, Entry]] = (),
    overtaken: Mapping[str, Entry] | None = None,
    perhaps: Mapping[str, Update] | None = None,
) -> dict[str, HasStatus]:
    """The status of each memory by its path, as the viewer of this vault is told of it now.

    `pointed` is what points at them by the fields of `POINTING`, `believed` what is believed of them by id, and `rivals` what
    contests them by id, where that was looked up; without `rivals`, `alike` are further pairs that contest each other by their
    words. `overtaken` is what overtook some of them, by path, beside what links say, and `perhaps` what seems to have changed
    some of them, where that was looked for.
    """
    memories = [entry for entry in entries if entry.record_class in MEMORIES]
    if not memories:
        return {}
    by_path: dict[str, HasStatus] = {}
    for start in range(0, len(memories), _TOGETHER):
        batch = memories[start : start + _TOGETHER]
        facts = _Found(vault, batch, pointed, believed, rivals, alike, overtaken or {}, perhaps)
        by_path.update((entry.path, facts.status(entry)) for entry in batch)
    return by_path


def contested_now(vault: Context) -> int:
    """How many memories have the status contested."""
    entries = [entry for identity in all_contested(vault) for entry in vault.index.catalog.get(identity)]
    return sum(status.status == "contested" for status in statuses(vault, entries).values())


class _Found:
    """The facts of some memories, looked up together."""

    def __init__(
        self,
        vault: Context,
        memories: Sequence[Entry],
        pointed: Pointed | None,
        believed: Mapping[str, Belief] | None,
        rivals: Mapping[str, tuple[Rival, ...]] | None,
        alike: Iterable[tuple[Entry, Entry]],
        overtaken: Mapping[str, Entry],
        perhaps: Mapping[str, Update] | None,
    ) -> None:
        catalog = vault.index.catalog
        self._vault = vault
        self._now = vault.clock.now()
        self._request = request_of(vault, reviewed=lambda entry: self._believed[entry.id].reviewed)
        ids = {entry.id for entry in memories}
        self._pointed = catalog.pointing_at_each(ids, POINTING) if pointed is None else pointed
        self._believed = vault.standings.beliefs(memories) if believed is None else believed
        self._rivals = contested(vault, memories, self._pointed, alike) if rivals is None else rivals
        self._changes = changes_of(vault, memories, self._pointed)
        for path, change in overtaken.items():
            others = [other for other in self._changes.get(path, ()) if other.id != change.id]
            self._changes[path] = sorted([change, *others], key=lambda change_entry: change_entry.observed_sort_key, reverse=True)
        self._perhaps = perhaps_changed(vault, memories) if perhaps is None else perhaps
        self._solutions = {entry.path: self._solving(entry) for entry in memories if entry.type == "problem"}
        self._unsettled = catalog.derived("unsettled", lambda: frozenset(catalog.with_problem("unsettled")))

    def status(self, entry: Entry) -> HasStatus:
        """The first that holds, with the others as marks."""
        holding = list(self._holding(entry))
        name, by, why = holding[0]
        # What is over is told by when, and what took a place by itself: a mark of it would say the same again.
        rest = [Mark(name, by, why) for name, by, why in holding[1:] if name in _TOLD_BESIDE]
        return HasStatus(status=name, status_by=by, status_why=why, marks=(*rest, *self._marks(entry)))

    def _holding(self, entry: Entry) -> Iterator[tuple[StatusName, tuple[str, ...], str]]:
        if past := visible(entry, self._request, "past"):
            yield cast("StatusName", past), self._request.superseded[entry.id] if past == "superseded" else (), ""
        if changes := self._changes.get(entry.path):
            yield "overtaken", tuple(change.id for change in changes), ""
        if rivals := self._rivals.get(entry.id):
            yield "contested", tuple(other.id for other in rivals), "; ".join(map(_line, rivals))
        if entry.type == FAILED_TACTIC:
            yield "failed", tuple(filter(None, [entry.text("problem")])), ""
        if solutions := self._solutions.get(entry.path):
            yield "solved", tuple(solution.id for solution in solutions), ""
        belief = self._believed[entry.id]
        if belief.questionable or belief.told:
            yield "questioned", (), question_of(belief)
        if doubtful(belief):
            yield "doubtful", (), ""
        yield "current", (), ""

    def _marks(self, entry: Entry) -> Iterator[Mark]:
        belief = self._believed[entry.id]
        reviewed = belief.reviewed
        if "review_by" in entry.head and (due := review_due(entry, belief.reviewed_at)) and due <= self._now:
            yield Mark(REVIEW_DUE, (), since_when(entry, belief.reviewed_at))
        if entry.pulled:
            yield Mark("trusted" if is_trusted(entry.origin) else "pulled", (contributor_of(entry.origin),))
        if not (reviewed or entry.origin == "owner" or is_trusted(entry.origin)):
            yield Mark("not_reviewed")
        perhaps = self._perhaps.get(entry.path)
        # What is known to have changed it is told as that.
        if perhaps is not None and entry.path not in self._changes:
            yield Mark(PERHAPS, (perhaps.newer.id,), told_as(perhaps))
        if entry.path in self._unsettled:
            yield Mark("unsettled", (), "two texts of one place are kept in it")

    def _solving(self, problem: Entry) -> list[Entry]:
        """The solutions of a problem that hold now, by their own word or by an edge's, the newest first.

        What others brought says so of what they brought alone.
        """
        catalog = self._vault.index.catalog
        by_id: dict[str, Entry] = {}
        for field, entry in self._pointed.get(problem.id, ()):
            if field == "problem" and entry.type == "solution":
                by_id[entry.id] = entry
            elif field == "to_id" and entry.type == SOLVES and (not entry.pulled or problem.pulled):
                by_id |= {other.id: other for other in catalog.cached_by_id(entry.text("from_id"))}
        believed = self._believed_of(by_id.values())
        return sorted(
            (
                solution
                for solution in by_id.values()
                if could_solve(solution, believed[solution.id], self._now)
                and solution.id not in self._request.superseded
                and (not solution.pulled or problem.pulled or believed[solution.id].reviewed)
                and solution.text("user") in ("", problem.text("user"))
            ),
            key=lambda solution: solution.observed_sort_key,
            reverse=True,
        )

    def _believed_of(self, entries: Iterable[Entry]) -> Mapping[str, Belief]:
        others = [entry for entry in entries if entry.id not in self._believed]
        return {**self._believed, **self._vault.standings.beliefs(others)} if others else self._believed


def could_solve(entry: Entry, belief: Belief, now: datetime) -> bool:
    """Whether a memory that says that it solves a problem holds now, as far as it can be told of it alone."""
    return visible(entry, Request(now=now), "observed") is None and not doubtful(belief)


def _line(rival: Rival) -> str:
    """The text of a memory that contests another, and its author if that is not the vault's owner."""
    return rival.line if rival.origin == "owner" else f"{rival.line} ({rival.origin})"


_TOLD_BESIDE = frozenset({"contested", "failed", "questioned", "doubtful"})
