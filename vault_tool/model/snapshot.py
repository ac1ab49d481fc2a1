"""The contents of the vault as values: one entry a file that is a record, and the relations between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from vault_tool.model.ids import canonical
from vault_tool.model.problems import Problem
from vault_tool.model.supersession import longest_chain, superseded_by
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import end_of, moment
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

_PULLED = "pulled ("
_TRUSTED = "trusted ("

# Under this name an entry's head holds what others put to a note of the owner's, or took from it: see `Put`.
PUT = "put_by_others"


def pulled(who: str) -> str:
    """The origin of what another person's commit brought."""
    return f"{_PULLED}{who})"


def is_from_others(origin: str) -> bool:
    """Whether an origin says that another person's commit brought it: no person here vouches for it."""
    return origin.startswith((_PULLED, _TRUSTED))


def is_trusted(origin: str) -> bool:
    """Whether an origin says that a person brought it whom the owner trusts: told under their name."""
    return origin.startswith(_TRUSTED)


def from_trusted(origin: str) -> str:
    """The words for what a trusted person brought: `from bob@example.org`."""
    name = origin.removeprefix(_TRUSTED).removesuffix(")")
    return f"from {name.rpartition('<')[2].rstrip('>')}"


def trusted(origin: str) -> str:
    """The origin of what a trusted person's commit brought, of that for any other person's."""
    return _TRUSTED + origin.removeprefix(_PULLED)


class Put(NamedTuple):
    """An item that another person added to a list field of an owner's note, or removed from it: it is shown as theirs."""

    field: str
    item: str
    by: str
    taken: bool = False


# The fields of a head that say until when: past the first of them a memory is history.
ENDS = ("expires", "until")


class Entry(Struct):
    """One record without its body: its typed head, where it is, and what was read off its text.

    `title` is never empty (a subject's is its name). `links` are weak links: the targets of `[[...]]` in the body.
    `preview` is the body's beginning on one line. `stale` marks what is served as HEAD has it, because the file
    cannot be parsed now. Times are nanoseconds, `hash` is of the file's bytes, `body_hash` of the normalised body.
    """

    path: str
    id: str
    record_class: RecordClass
    type: str
    title: str
    head: Mapping[str, Any]
    preview: str = ""
    body_hash: str = ""
    links: tuple[str, ...] = ()
    size: int = 0
    mtime_ns: int = 0
    hash: str = ""
    stale: bool = False

    def text(self, name: str) -> str:
        """A text field of the head, or the empty string."""
        value = self.head.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A list field of the head, or nothing."""
        value = self.head.get(name)
        return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()

    def own(self, name: str) -> tuple[str, ...]:
        """A list field as its owner wrote it: what others put there counts in no order, and what they took away still does."""
        if PUT not in self.head:
            return self.texts(name)
        changes = [change for change in self.put_by_others if change.field == name]
        put = {change.item for change in changes if not change.taken}
        items = (item for item in self.texts(name) if item not in put)
        return tuple(dict.fromkeys((*items, *(change.item for change in changes if change.taken))))

    @property
    def put_by_others(self) -> tuple[Put, ...]:
        """The changes that others made to its lists."""
        stored = self.head.get(PUT)
        rows = stored if isinstance(stored, (list, tuple)) else ()
        whole = (row for row in rows if isinstance(row, (list, tuple)) and len(row) == len(Put._fields))
        return tuple(Put(str(field), str(item), str(by), taken is True) for field, item, by, taken in whole)

    @property
    def also(self) -> tuple[str, ...]:
        """The ids of subjects that became one with this one: whatever names them means it."""
        if self.record_class is not RecordClass.SUBJECT or "also" not in self.head:
            return ()
        texts = self.texts("also") or (self.text("also"),)
        # Of a link its target: `[[id|Name]]`.
        ids = (canonical(text.strip().strip("[]").partition("|")[0]) for text in texts)
        return tuple(identity for identity in ids if identity and identity != self.id)

    def number(self, name: str) -> float | None:
        """A number of the head, or None."""
        value = self.head.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def subjects(self) -> tuple[str, ...]:
        """The names of the subjects that its writer tagged it with, as they wrote them."""
        return self.own("subjects")

    @property
    def pinned(self) -> bool:
        """Whether a person keeps it from fading."""
        return self.head.get("pinned") is True

    @property
    def not_at_start(self) -> bool:
        """Whether its head keeps it off the page of a session's start; an importance of 0 said so before there was a field."""
        return self.head.get("not_at_start") is True or self.number("importance") == 0

    @property
    def origin(self) -> str:
        """The channel of its writer: an agent, a person's turn, an import; without an origin it is the owner's."""
        return self.text("origin") or "owner"

    @property
    def of_folder(self) -> bool:
        """Whether it is a note of a folder, served where it lies or imported."""
        return self.origin == "import" or self.path.startswith("../")

    @property
    def pulled(self) -> bool:
        """Whether another person's commit brought it."""
        return is_from_others(self.origin)

    @property
    def observed(self) -> str:
        """When it was so, as written: the time of what is told, else the time of its writing."""
        return self.text("observed") or self.text("created")

    @property
    def created_sort_key(self) -> tuple[datetime, str]:
        """Orders memories by when they were written, whatever zones they name; of one moment the larger id counts as newer."""
        return moment(self.text("created")), self.id

    @property
    def observed_sort_key(self) -> tuple[datetime, str]:
        """Orders memories by when they were so, as `created_sort_key` does by their writing."""
        return moment(self.observed), self.id

    @property
    def generation(self) -> int | None:
        """The consolidation cycle that it was written in, or None for what was written before counting began."""
        number = self.number("generation")
        return None if number is None else int(number)

    def expired(self, moment: datetime) -> bool:
        """Whether its time is over at `moment`: from then on it is history and no answer."""
        head = self.head
        return ("expires" in head or "until" in head) and is_over(map(head.get, ENDS), moment)


def is_over(ends: Iterable[object], moment: datetime) -> bool:
    """Whether what the fields `ENDS` of a head say is over at `moment`."""
    over = end_of_all(ends)
    return over is not None and over <= moment


def end_of_all(ends: Iterable[object]) -> datetime | None:
    """The first moment at which one of these ends is over; None where none is said. What is no text says nothing."""
    moments = [over for end in ends if end and isinstance(end, str) and (over := end_of(end)) is not None]
    return min(moments, default=None)


def owners_first(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Entries of one id or name, those from other people's commits last: a copy that came takes nothing away."""
    return tuple(entries) if len(entries) < 2 else tuple(sorted(entries, key=lambda entry: entry.pulled))


def owners_entry(entries: Sequence[Entry]) -> Entry | None:
    """The owner's among several files with one id, or subjects with one name; None where none or several are the owner's."""
    own = [entry for entry in entries if not entry.pulled]
    return own[0] if len(own) == 1 else None


def own_id_for(path: str) -> str:
    """The advice where two files have one id, of which the one at `path` is to give way."""
    return f"{step('adopt', paths=path)} gives that file an id of its own; or delete it"


class Snapshot(Struct, dict=True):
    """All entries of a vault at one moment, in the order of their paths, with the relations that follow from them.

    `barred` are the supersessions (the newer one's id, the older one's) for which their writer had no authority.
    """

    entries: tuple[Entry, ...] = ()
    pages: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    barred: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def by_id(self) -> Mapping[str, tuple[Entry, ...]]:
        """Entries by id, the owner's first; more than one where an id was copied."""
        entries: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            entries[entry.id].append(entry)
        for entry in self.entries:
            for identity in entry.also:
                if identity not in entries:
                    entries[identity].append(entry)
        return {key: owners_first(entries) for key, entries in entries.items()}

    @cached_property
    def subjects_by_name(self) -> Mapping[str, tuple[Entry, ...]]:
        """Subjects by normalised name and alias; more than one where two claim the same name."""
        subjects: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.of_class(RecordClass.SUBJECT):
            for name in dict.fromkeys(normal_name(n) for n in (entry.text("name"), *entry.texts("aliases"), *entry.also) if n):
                subjects[name].append(entry)
        return {key: tuple(entries) for key, entries in subjects.items()}

    @cached_property
    def tagged(self) -> Mapping[str, tuple[Entry, ...]]:
        """The entries tagged with each subject, by the normalised name that they give it."""
        tagged: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            for name in dict.fromkeys(map(normal_name, entry.subjects)):
                tagged[name].append(entry)
        return {key: tuple(entries) for key, entries in tagged.items()}

    @cached_property
    def superseded_by(self) -> Mapping[str, tuple[str, ...]]:
        """For each replaced understanding the ids of what replaces it (members of a cycle replace nothing)."""
        edges = {e.id: e.texts("supersedes") for e in self.of_class(RecordClass.UNDERSTANDING) if e.texts("supersedes")}
        return superseded_by(edges, self.barred)

    @cached_property
    def generation(self) -> int:
        """The consolidation cycle that the vault is in: the length of the longest chain of passes."""
        return longest_chain({e.id: e.texts("parents") for e in self.of_class(RecordClass.CONSOLIDATION)})

    def of_class(self, record_class: RecordClass) -> Iterable[Entry]:
        """The entries of one class."""
        return (entry for entry in self.entries if entry.record_class is record_class)

    def active(self, entry: Entry) -> bool:
        """Whether nothing supersedes it."""
        return entry.id not in self.superseded_by

    def subject_key(self, name: str) -> str:
        """The identity of a subject's name: the id of the one subject that answers to it, else the normalised name."""
        normal = normal_name(name)
        owners = self.subjects_by_name.get(normal, ())
        return owners[0].id if len(owners) == 1 else normal
