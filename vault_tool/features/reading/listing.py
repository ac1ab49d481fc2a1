"""`list`: memories without a question, narrowed by what their heads say, in an order that can be taken up again."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Unpack

from msgspec.structs import replace

from vault_tool.errors import UsageError
from vault_tool.files.layout import AROUND, VAULT
from vault_tool.index.list_rows import ListRows, Place
from vault_tool.index.schema import ENTRY, entry_of
from vault_tool.index.visibility import visible
from vault_tool.model.authority import contributor_of
from vault_tool.model.fields import FILTERED, Narrowing
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.clock import parse_time
from vault_tool.util.deferred import difflib
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line, unwrap_link
from vault_tool.vault.answers import HISTORY, HYPOTHESIS_NOTICE, HasStatus, Headline
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.lean import Short, answer, lean_details, leaned, provenance_note, title_if_new, without_empty
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.request import Answer, for_user, looks, verb
from vault_tool.vault.retrieval.filters import Filters, require_kinds
from vault_tool.vault.retrieval.query import Query, narrowed
from vault_tool.vault.statuses import CURRENT, STATUS_NAMES, statuses
from vault_tool.vault.viewer import request_of

SORTS = ("created", "observed", "decay", "utility")
BY_TIME = ("created", "observed")
_DIGITS = 4
# What is listed: memories unless another class is named.
CLASSES = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT, RecordClass.EDGE)
STATUSES = (*STATUS_NAMES, "all")
_LIMIT = 50
_SHOWN = 240


class ListedMemory(Headline, kw_only=True):
    """One memory of a list; `content` is its beginning, `sorted_by` the value that places it where the list is not by time."""

    content: str
    created: str
    origin: str
    reviewed: bool
    session: str | None
    model: str | None
    project: str | None
    tags: tuple[str, ...]
    path: str
    sorted_by: float | None = None

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that an agent needs."""
        return without_empty({
            "id": short(self.id), "type": self.type, **title_if_new(self.title, self.content),
            **lean_details(self.details, short),
            "subjects": self.subjects, "observed": self.observed[:10], **self.lean_status(short),
            **provenance_note(self.origin, self.reviewed),
        })  # fmt: skip


class MemoryList(Answer, kw_only=True):
    """A part of a list: of `total` memories those after the cursor that was given. `next` is the cursor of what follows, None at
    the end; what is written meanwhile moves nothing that it leads to.
    """

    stands_before = "warnings"

    results: tuple[ListedMemory, ...]
    total: int
    next: str | None
    warnings: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The results, how many there are, and how to go on."""
        answered = answer(leaned(self.results, short), ())
        return without_empty({**answered, "total": self.total, "next": self.next, "warnings": self.warnings})


@verb
@looks
@for_user
@spelled_out
def list_memories(
    vault: Context,
    *,
    record_class: str = "",
    by: str = "",
    session: str | None = None,
    user: str | None = None,
    status: str = "",
    folder: str = "",
    sort: str = "created",
    limit: int = _LIMIT,
    after: str = "",
    **narrowing: Unpack[Narrowing],
) -> MemoryList:
    """Memories without a question, the newest first, or by `observed`, `decay` or `utility`, the highest first.

    `kinds` are types of which any will do, `record_class` is observation, understanding, subject or edge, `by` an origin, a
    model, or the address of who brought it, `folder` a folder of the vault's notes. Without `status` all are listed but those
    that wait, have expired or were superseded; `all` lists these too. The other filters are those of `recall`. `after` is the
    `next` of the part before. UsageError for a word that none of a closed set is.
    """
    _require_one_of("order", sort, SORTS)
    asked = Query(query="", session=session, **narrowed(narrowing))
    require_kinds([vault], asked.kinds)
    chosen = selected(vault, asked, record_class=record_class, by=by, folder=folder, status=status)
    part = part_of(vault, chosen, sort=sort, limit=limit, after=after)
    return part if chosen else replace(part, warnings=tuple(_nearest_names(vault, asked, by)))


def part_of(vault: Context, chosen: Sequence[Entry], *, sort: str, limit: int, after: str) -> MemoryList:
    """A part of the list that these memories make, in an order."""
    _require_one_of("order", sort, SORTS)
    before = _Cursor.read(after, sort) if after else None
    moment = before.moment if before else vault.clock.now()
    places = _places(vault, chosen, sort, moment)
    rest = [place for place in sorted(places, reverse=True) if before is None or place < before.place]
    part = _told(vault, [(place, places[place]) for place in rest[:limit]], sort, len(chosen))
    return replace(part, next=_Cursor(sort, moment, rest[limit - 1]).text()) if len(rest) > limit else part


def part_of_rows(
    vault: Context, rows: ListRows, hidden: Collection[str], *, sort: str, limit: int, after: str
) -> MemoryList:  # fmt: skip
    """The same part of the list that all memories make but those that are hidden, by time."""
    before = _Cursor.read(after, sort) if after else None
    places = list(islice(rows.places(sort, hidden, before.place if before else None), limit + 1))
    entries = vault.index.catalog.cached_by_paths([path for _, path in places[:limit]])
    shown = [(place, entries[place[1]]) for place in places[:limit] if place[1] in entries]
    part = _told(vault, shown, sort, rows.total(hidden))
    moment = before.moment if before else vault.clock.now()
    return replace(part, next=_Cursor(sort, moment, places[limit - 1]).text()) if len(places) > limit else part


def kept_rows(vault: Context) -> tuple[ListRows, set[str]]:
    """The rows of all memories, and the paths of those among them that a list without filters does not have."""
    catalog, request = vault.index.catalog, request_of(vault)
    rows = ListRows.of(catalog)
    hidden = rows.paths({*request.superseded, *request.withheld})
    doubtful = catalog.cached_by_paths(sorted(rows.may_hide - hidden))
    return rows, hidden | {path for path, entry in doubtful.items() if visible(entry, request, "listed") is not None}


def _told(vault: Context, places: Sequence[tuple[Place, Entry]], sort: str, total: int) -> MemoryList:
    known = statuses(vault, [entry for _, entry in places])
    results = [
        _listed(vault, entry, known.get(entry.path, CURRENT), None if sort in BY_TIME else round(value, _DIGITS))
        for (value, _), entry in places
    ]
    return MemoryList(results=tuple(results), total=total, next=None)


def filtered(
    vault: Context, *, user: str | None = None, record_class: str = "", by: str = "", folder: str = "", status: str = "",
    session: str | None = None, **narrowing: Unpack[Narrowing],
) -> list[Entry]:  # fmt: skip
    """The memories of a list by its filters, in no order."""
    asked = Query(query="", session=session, **narrowed(narrowing))
    seen_by = vault.for_user(user) if user else vault
    return selected(seen_by, asked, record_class=record_class, by=by, folder=folder, status=status)


def selected(vault: Context, asked: Query, *, record_class: str, by: str, folder: str, status: str) -> list[Entry]:
    """The memories that a list is of, in no order. UsageError for a class or a status that there is not."""
    _require_one_of("class", record_class, [choice.value for choice in CLASSES])
    _require_one_of("status", status, STATUSES)
    filters = Filters(vault, asked)
    entries = (entry for entry in _of_class(vault, record_class) if filters.wants(entry))
    return _with_status(vault, [entry for entry in entries if _is_by(entry, by) and _is_in(entry, folder)], status)


def listed(vault: Context, ids: Iterable[str]) -> tuple[ListedMemory, ...]:
    """The memories of some ids as a list has them, in the order of the ids; those that are gone, or no memory, are left out."""
    entries = [entry for identity in dict.fromkeys(ids) for entry in vault.index.catalog.cached_by_id(identity)[:1]]
    memories = [entry for entry in entries if entry.record_class in MEMORIES]
    known = statuses(vault, memories)
    return tuple(_listed(vault, entry, known.get(entry.path, CURRENT), None) for entry in memories)


def _require_one_of(what: str, value: str, known: Sequence[str]) -> None:
    if value and value not in known:
        raise UsageError(f"`{one_line(value, 40)}` is no {what}", f"one of {', '.join(known)}").listing()


class _Cursor(Struct):
    """Where a part of a list ended: the order, as of when it was made, and the last place."""

    sort: str
    moment: datetime
    place: Place

    def text(self) -> str:
        """The cursor as it is given out."""
        parts = [self.sort, self.moment.isoformat(), *self.place]
        return urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str, sort: str) -> _Cursor:
        """A cursor that was given out; raises UsageError for any other text, and for one of another order."""
        try:
            order, moment, value, path = json.loads(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
            at = parse_time(moment)
        except (ValueError, TypeError, AttributeError, UnicodeError, binascii.Error):
            at = None
        if at is None or not isinstance(value, (int, float)) or not isinstance(path, str):
            raise UsageError(f"`{one_line(text, 40)}` is no cursor", "give the `next` of the part before, or leave it out")
        if order != sort:
            other = one_line(str(order), 20)
            raise UsageError(f"the cursor is of a list by {other}", f"ask for the order {other}")
        return cls(sort, at, (float(value), path))


def _of_class(vault: Context, name: str) -> Iterator[Entry]:
    classes = [RecordClass(name)] if name else MEMORIES
    query = f"SELECT {ENTRY} FROM entries WHERE class IN ({', '.join('?' * len(classes))})"
    return (entry_of(row) for row in vault.index.catalog.each(query, [record_class.value for record_class in classes]))


def _is_by(entry: Entry, who: str) -> bool:
    """Whether a record has this origin or model, or was brought by a person with this address or name."""
    if not who:
        return True
    return who in (entry.origin, entry.text("model")) or (
        entry.pulled and who.casefold() in contributor_of(entry.origin).casefold()
    )


def _is_in(entry: Entry, folder: str) -> bool:
    """Whether a note lies in a folder, named from the vault's root, its folder of notes, or the folder that it serves."""
    prefix = folder.strip("/")
    return not prefix or entry.path.startswith((f"{prefix}/", f"{VAULT}/{prefix}/", f"{AROUND}{prefix}/"))


def _with_status(vault: Context, entries: list[Entry], status: str) -> list[Entry]:
    """Those of a status; without one all but what is history."""
    if status == "all":
        return entries
    if status and status not in HISTORY:
        known = statuses(vault, entries)
        return [entry for entry in entries if known.get(entry.path, CURRENT).status == status]
    # What is history is told by the heads alone, without looking anything up for most.
    request = request_of(vault)
    return [entry for entry in entries if (visible(entry, request, "listed") or "") == status]


def _places(vault: Context, entries: Sequence[Entry], sort: str, moment: datetime) -> dict[Place, Entry]:
    """Where each stands, as of a moment: what fades meanwhile does not change its place among them."""
    if sort == "created":
        return {(entry.created_sort_key[0].timestamp(), entry.path): entry for entry in entries}
    if sort == "observed":
        return {(entry.observed_sort_key[0].timestamp(), entry.path): entry for entry in entries}
    memories = vault.standings.weigh(entries, live=True, as_of=moment)
    return {
        (weighed.score if sort == "decay" else weighed.belief.utility, weighed.entry.path): weighed.entry for weighed in memories
    }


def _listed(vault: Context, entry: Entry, status: HasStatus, score: float | None) -> ListedMemory:
    return Memory(vault, entry, status).told(
        ListedMemory, content=one_line(entry.preview or entry.text("summary") or entry.title, _SHOWN), sorted_by=score
    )


def _nearest_names(vault: Context, asked: Query, by: str) -> Iterator[str]:
    """A warning for each name asked for that no memory has, with the nearest name that exists."""
    entries = list(_of_class(vault, ""))
    present: Mapping[str, set[str]] = {
        "subject": {unwrap_link(name) for entry in entries for name in entry.subjects},
        "tag": {name for entry in entries for name in entry.texts("tags")},
        "session": {entry.text("session") for entry in entries},
        "project": {entry.text("project") for entry in entries},
        **{field.name: {entry.text(field.name) for entry in entries} for field in FILTERED},
        "origin or model": {name for entry in entries for name in (entry.origin, entry.text("model"))},
    }
    unmatched = {
        "subject": asked.subject_names, "tag": asked.tags, "session": filter(None, [asked.session]),
        "project": filter(None, [asked.project]), **{name: [word] for name, word in asked.words},
        "origin or model": filter(None, [by]),
    }  # fmt: skip
    for what, names in unmatched.items():
        known = {normal_name(name): name for name in present[what] if name}
        for name in names:
            if normal_name(name) not in known:
                near = difflib.get_close_matches(normal_name(name), list(known), 1)
                meant = f": the nearest is `{known[near[0]]}`" if near else ""
                yield f"no memory has the {what} `{one_line(name, 40)}`{meant}"
