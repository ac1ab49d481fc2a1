"""The memories that leave for another program or reader, and how many do not, by the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from vault_tool.belief.fold import Belief
from vault_tool.files import layout
from vault_tool.generate.page_lines import vouched
from vault_tool.model.details import details_of, in_lines
from vault_tool.model.snapshot import Entry, is_from_others, is_trusted
from vault_tool.model.types import KEPT_TYPES, MEMORIES, RecordClass
from vault_tool.util.clock import parse_time
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name
from vault_tool.vault import resolve, screening
from vault_tool.vault.answers import HasStatus, bodies_of
from vault_tool.vault.context import Context
from vault_tool.vault.parameters import require_moment
from vault_tool.vault.statuses import CURRENT, statuses

LINKS, JUDGEMENTS, SECRET, USERS = "links", "judgements", "look like a secret", "about a user"
OVER, OTHERS = "over or superseded", "of others, not reviewed"


class Leaving(Struct):
    """A record that leaves: its body, the same with what its head says beside it, whether it is over, and what is believed."""

    entry: Entry
    body: str
    text: str
    is_over: bool
    belief: Belief | None


class AskedFor:
    """The records that an export is asked for: those since a time, and those of some subjects."""

    def __init__(self, vault: Context, since: str | None, subjects: Sequence[str]) -> None:
        self._since = require_moment(since, vault.clock.now()) if since else None
        self._subjects = frozenset(map(normal_name, subjects))
        self.is_narrowed = self._since is not None or bool(self._subjects)

    def has(self, entry: Entry) -> bool:
        """Whether a record is among them."""
        if self._since is not None:
            at = parse_time(entry.observed or entry.text("created"))
            if at is None or at < self._since:
                return False
        return not self._subjects or bool(self._subjects.intersection(map(normal_name, [*entry.subjects, entry.text("name")])))


class Outgoing:
    """The records of a vault that may leave: none of a user, hidden or forgotten, and of strangers what was reviewed."""

    def __init__(
        self, vault: Context, since: str | None, subjects: Sequence[str], classes: Sequence[RecordClass], *,
        with_hidden: bool = False,
    ) -> None:  # fmt: skip
        """`since` and `subjects` narrow the memories. Indexes must be fresh."""
        self.left_out: Counter[str] = Counter()
        self.told_otherwise: Counter[str] = Counter()
        """Of what leaves, how many are told by another word than they have here."""
        self._whole = vault.with_withheld()
        self.seen = self._whole if with_hidden else vault.seen_by("")
        self._asked = AskedFor(vault, since, subjects)
        self._classes = frozenset(classes)
        self.is_narrowed = self._asked.is_narrowed
        self.leaving = self._chosen()

    def lost(self) -> None:
        """Count what neither a folder of notes nor a graph has a place for: links and judgements of what may be seen."""
        catalog = self.seen.index.catalog
        self.left_out[LINKS] += len(catalog.of_class(RecordClass.EDGE))
        self.left_out[JUDGEMENTS] += len(catalog.signals())

    def without_place(self, record_class: RecordClass, word: str) -> None:
        """Count the records of a class that the form has no place for: those that may not leave by that reason, the others as
        `word`.
        """
        entries = self.seen.index.catalog.of_class(record_class)
        self._count_unseen({entry.path for entry in entries}, record_class)
        believed = self.seen.standings.beliefs(entries)
        self.left_out[word] += sum(self._may_leave(entry, believed.get(entry.id)) for entry in entries if self._asked.has(entry))

    def _chosen(self) -> list[Leaving]:
        catalog = self.seen.index.catalog
        entries = [entry for entry in catalog.snapshot().entries if entry.record_class in self._classes]
        self._count_unseen({entry.path for entry in entries}, *self._classes)
        entries = [entry for entry in entries if self._asked.has(entry)]
        believed = self.seen.standings.beliefs([entry for entry in entries if entry.record_class in MEMORIES])
        entries = [entry for entry in entries if self._may_leave(entry, believed.get(entry.id))]
        texts = bodies_of(self.seen, entries)
        short = resolve.Shortened(self.seen, (entry.id for entry in entries))
        by_path = statuses(self.seen, entries, believed=believed)
        ids = {entry.id for entry in entries}
        leaving = []
        for entry in sorted(entries, key=lambda record: record.path):
            beside = "".join(f"- {label}: {text}\n" for label, text in in_lines(details_of(entry.head), short))
            status = by_path.get(entry.path, CURRENT)
            rivals = _rivals(status, ids)
            beside += f"- contested by: {', '.join(map(short, rivals))}\n" if rivals else ""
            body = texts.get(entry.path, "").strip("\r\n").rstrip()
            text = "\n\n".join(filter(None, (body, beside.rstrip("\n"))))
            shown = f"{entry.title}\n{entry.text('summary')}\n{text}"
            if screening.masked(shown) != shown:
                self.left_out[SECRET] += 1
                continue
            leaving.append(Leaving(entry, body, text, not status.answers, believed.get(entry.id)))
        return leaving

    def _count_unseen(self, seen: set[str], *classes: RecordClass) -> None:
        """Count the records that no answer to everybody has: those of a user, and those that are withheld."""
        for entry in self._whole.index.catalog.snapshot().entries:
            if entry.path not in seen and entry.record_class in MEMORIES and entry.record_class in classes:
                self.left_out[USERS if entry.text("user") else "hidden"] += 1

    def _may_leave(self, entry: Entry, belief: Belief | None) -> bool:
        reason = ""
        if layout.is_around(entry.path):
            reason = "notes around the vault"
        elif entry.text("user"):
            reason = USERS
        elif entry.type in KEPT_TYPES:
            reason = "soul, protocol and orientation"
        elif is_of_others(entry, belief):
            reason = OTHERS
        if reason:
            self.left_out[reason] += 1
        return not reason


def is_of_others(entry: Entry, belief: Belief | None) -> bool:
    """Whether a memory was written by another person, without the owner's trust and without a review."""
    is_another = is_from_others(entry.origin) and not is_trusted(entry.origin)
    return is_another and not vouched(entry, belief is not None and belief.reviewed)


def _rivals(status: HasStatus, ids: Collection[str]) -> tuple[str, ...]:
    """The ids of memories that contest a memory, as far as they leave too."""
    if status.status != "contested":
        return ()
    return tuple(identity for identity in status.status_by if identity in ids)
