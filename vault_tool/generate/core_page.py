"""CORE.md: the page that a system prompt loads, never longer than its budget; values in, text out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby

import msgspec

from vault_tool.generate.budget import cut, shares
from vault_tool.generate.core_forms import MOST_STATES, NO_REST, CoreItem, CoreText, Form, ImportMap, Rest, TrackedForm, common
from vault_tool.generate.core_order import Claim, Claims, in_order, is_over
from vault_tool.generate.core_project import CoreProject
from vault_tool.generate.escape import block, inline, quote
from vault_tool.model.types import KEPT_TYPES, CoreSection, Registry
from vault_tool.util.structs import Struct

WARNING_LENGTH = 300

# After so many lines in a row for which there was no room a group is full: a few that do not fit are passed over.
_MISSES = 20
_STATE = "task_state"

# By the first so many of a section its heading says who most of them come from.
_TYPICAL = 15

_DATE = re.compile(r"^(> Last updated: )\d{4}-\d{2}-\d{2}", re.MULTILINE)


class CoreGroup(Struct):
    """Sections that serve one need, and the share of the page's room that is theirs, whatever the others want."""

    share: float
    sections: tuple[CoreSection, ...]


GROUPS = (
    CoreGroup(0.22, (CoreSection.PREFERENCES,)),
    CoreGroup(0.12, (CoreSection.WHERE_LEFT,)),
    CoreGroup(0.16, (CoreSection.OPEN_PROBLEMS,)),
    CoreGroup(
        0.36,
        (
            CoreSection.UNDERSTANDINGS, CoreSection.ACTIVE_DECISIONS, CoreSection.CONFIGURATIONS, CoreSection.PATTERNS,
            CoreSection.WORTH_KNOWING,
        ),
    ),
    CoreGroup(0.14, (CoreSection.CRITICAL_SOLUTIONS, CoreSection.KEY_FIXES, CoreSection.DID_NOT_WORK)),
)  # fmt: skip


class CorePage(Struct):
    """The page, the ids of what its lines show, and how many of each section were looked at for it."""

    text: str
    shown: tuple[str, ...]
    reach: Mapping[CoreSection, int]


def core_page(
    items: Iterable[CoreItem],
    core_texts: Sequence[CoreText],
    *,
    budget: int,
    registry: Registry,
    as_of: date,
    total: int,
    live: bool = False,
    warnings: Sequence[str] = (),
    imports: Sequence[ImportMap] = (),
    form: Form | None = None,
    project: CoreProject | None = None,
    rest: Rest = NO_REST,
) -> CorePage:
    """The page as of a UTC date in at most `budget` of what its form counts; equal values give an equal page on every machine.

    Of several `kept` of one type the first is shown: give the newest first, as `orient` serves it. `total` is how many memories
    there are; `live` says that this machine's own use is counted too; `warnings` are lines about the texts that are given whole;
    `imports` tell of what was imported and is not among the items. Each group of sections has its share of the room, and what
    it leaves goes to the others in their order. `form` is the tracked page's by default; the page is for `project`, or for all,
    and `rest` is what else its last line tells.
    """
    form = form or TrackedForm()
    header = form.header(as_of, total, live)
    if form.size(header) > budget:
        return CorePage(_cut(header, budget, form), (), {})
    head = f"{header}\n{form.how}" if form.size(header) + 1 + form.size(form.how) <= budget else header
    head += _warned(warnings, (budget - form.size(head)) // 4, form)
    whole = [text for text in core_texts if not is_over(text.entry, as_of)]
    texts = _identity_texts(whole, min(budget // 2, budget - form.size(head)), form)
    room = budget - form.size(head) - form.size(texts)
    imported = form.imported(imports)
    imported = imported if form.size(imported) <= room // 2 else ""
    room -= form.size(imported)
    end = form.more(total, rest)
    filled = _Sections(items, Claims(registry, as_of, project), form, as_of).filled(max(0, room - form.size(end)))
    # What a map tells of is not left out.
    mapped = sum(import_map.count for import_map in imports) if imported else 0
    left = total - rest.elsewhere - len(filled.shown) - mapped
    end = form.more(max(0, left), rest)
    end = end if form.size(end) <= room else ""
    return CorePage(f"{head}{texts}{filled.text}{imported}{end}", filled.shown, filled.reach)


def same_but_for_date(old: str, new: str) -> bool:
    """Whether two pages differ in nothing but the date of their header: then the tracked one is left alone."""
    return _DATE.sub(r"\1", old, count=1) == _DATE.sub(r"\1", new, count=1)


def _warned(warnings: Sequence[str], room: int, form: Form) -> str:
    """Warnings about soul, protocol and orientation for the owner to settle: a line each, while there is room."""
    lines = ""
    for warning in warnings:
        line = f"\n> Warning: {inline(warning, WARNING_LENGTH)}\n"
        if form.size(lines) + form.size(line) <= room:
            lines += line
    return lines


def _identity_texts(core_texts: Sequence[CoreText], room: int, form: Form) -> str:
    """Soul, protocol and orientation in this order, each cut to its fair share of `room`; untouched starters are left out."""
    by_type = {text.entry.type: text for text in reversed(core_texts) if text.text.strip()}
    ordered = [by_type[name] for name in KEPT_TYPES if name in by_type and not by_type[name].untouched]
    while ordered:
        frames = [form.frame(text) for text in ordered]
        texts = [quote(block(text.text)) for text in ordered]
        fixed = sum(form.size(before) + form.size(after) for before, after in frames)
        if fixed <= room:
            granted = shares([form.size(text) for text in texts], room - fixed)
            return "".join(_framed(*parts, form) for parts in zip(frames, texts, granted, strict=True))
        ordered.pop()
    return ""


def _framed(frame: tuple[str, str], text: str, granted: int, form: Form) -> str:
    before, after = frame
    shown = _cut(text, granted, form)
    if shown == text:
        return f"{before}{text}\n"
    return f"{before}{shown}{after}" if shown else f"{before}{after.lstrip()}"


def _cut(text: str, limit: int, form: Form) -> str:
    """The beginning of a text in at most `limit` of what a form counts."""
    shown, characters = cut(text, limit), limit
    while (size := form.size(shown)) > limit:
        characters = min(characters - 1, characters * limit // size)
        shown = cut(text, characters)
    return shown


class _Filled(msgspec.Struct):
    """The lines of a page, the ids of what they show, and how many of each section were looked at."""

    text: str
    shown: tuple[str, ...]
    reach: Mapping[CoreSection, int]


class _Queue(msgspec.Struct):
    """The items of one group in the order in which they are given room: `at` is the next."""

    share: float
    items: list[tuple[CoreSection, int, CoreItem]]
    at: int = 0


# The lines of a section that a person stands behind (True), and the rest of them.
_Part = tuple[CoreSection, bool]


class _Sections:
    """The sections of one page, each with its candidates in order, and with who most of them come from."""

    def __init__(self, items: Iterable[CoreItem], claims: Claims, form: Form, as_of: date) -> None:
        self._form = form
        self._as_of = as_of
        by_claim = {claim: item for item in items if (claim := claims.of(item.entry, item.belief)) is not None}
        by_worth = in_order(by_claim)
        ordered = {section: _newer_first(claims_there, by_claim) for section, claims_there in by_worth.items()}
        self._vouched = {claim.path: claim.vouched for claim in by_claim}
        typical: dict[_Part, list[CoreItem]] = defaultdict(list)
        for section, claims_there in ordered.items():
            for claim in claims_there[:_TYPICAL]:
                typical[section, claim.vouched].append(by_claim[claim])
        self._common = {part: common(provenances) for part, provenances in typical.items()}
        self._queues = [_Queue(group.share, _interleaved(group, by_worth, by_claim)) for group in GROUPS]
        self._at = {claim.path: at for claims_there in ordered.values() for at, claim in enumerate(claims_there)}
        self._lines: dict[_Part, list[tuple[int, str]]] = defaultdict(list)
        self._shown: dict[str, None] = {}
        self._reach: dict[CoreSection, int] = {}
        self._states = 0

    def filled(self, room: int) -> _Filled:
        """Each group's lines in its share of `room`, and in what others leave of theirs, in the order of the groups."""
        left = room
        for queue in self._queues:
            left -= self._fill(queue, min(left, int(room * queue.share)), passing=False)
        for queue in self._queues:
            left -= self._fill(queue, left, passing=True)
        both = [(section, vouched) for section in CoreSection for vouched in (True, False)]
        text = "".join(
            self._head(part) + "".join(line for _, line in sorted(self._lines[part])) for part in both if self._lines.get(part)
        )
        return _Filled(text, tuple(self._shown), self._reach)

    def _fill(self, queue: _Queue, room: int, *, passing: bool) -> int:
        """Take lines while there is room for the next one, or `passing` over some for which there is none; what they took."""
        used = misses = 0
        while queue.at < len(queue.items) and misses < _MISSES:
            section, place, item = queue.items[queue.at]
            if item.entry.type == _STATE and self._states == MOST_STATES:
                queue.at += 1
                continue
            part = section, self._vouched[item.entry.path]
            dated = section is CoreSection.WHERE_LEFT
            line = self._form.line(item, self._common.get(part, ""), self._as_of, dated=dated)
            cost = self._form.size(line) + (0 if self._lines.get(part) else self._form.size(self._head(part)))
            if used + cost > room:
                if not passing:
                    break
                misses += 1
            else:
                misses = 0
                used += cost
                self._lines[part].append((self._at[item.entry.path], line))
                self._states += item.entry.type == _STATE
                self._shown.update(dict.fromkeys(item.ids))
            queue.at += 1
            self._reach[section] = place
        return used

    def _head(self, part: _Part) -> str:
        """The heading of what a person stands behind in a section, or of the rest of it."""
        section, vouched = part
        return self._form.section(
            section, self._common.get(part, ""), more=not vouched and bool(self._lines.get((section, True)))
        )


def _newer_first(ordered: Sequence[Claim], by_claim: Mapping[Claim, CoreItem]) -> list[Claim]:
    """The claims of a section, what seems to have been changed directly below what changed it, where the first of both stood.

    Nothing of somebody else's comes above what a person stands behind by that.
    """
    by_id = {claim.id: claim for claim in ordered}
    newer = {claim: by_id.get(by_claim[claim].perhaps_changed_by) for claim in ordered if by_claim[claim].perhaps_changed_by}
    older: dict[Claim, list[Claim]] = defaultdict(list)
    for claim, other in newer.items():
        if other is not None and other.rank == claim.rank:
            older[other].append(claim)
    below = {claim for claims in older.values() for claim in claims}
    placed: dict[Claim, None] = {}

    def place(claim: Claim) -> None:
        if claim not in placed:
            placed[claim] = None
            for each in older.get(claim, ()):
                place(each)

    for claim in ordered:
        first, seen = claim, {claim}
        while first in below and (other := newer.get(first)) is not None and other not in seen:
            first = other
            seen.add(other)
        place(first)
        place(claim)
    return list(placed)


def _newest_alone_first(
    claims: Sequence[Claim], by_claim: Mapping[Claim, CoreItem], ids: Container[str]
) -> Iterator[tuple[int, CoreItem]]:
    """The order in which a section's memories are given room, each with how many are looked at for it.

    Of each rank first those that no other of the page seems to have changed: an older value takes no room that something
    else could have. Before one is given room, all of the section are looked at.
    """
    for _, of_rank in groupby(enumerate(claims, 1), lambda pair: pair[1].rank):
        older: list[CoreItem] = []
        for place, claim in of_rank:
            memory = by_claim[claim]
            if memory.perhaps_changed_by in ids:
                older.append(memory)
            else:
                yield place, memory
        yield from ((len(claims), memory) for memory in older)


def _interleaved(
    group: CoreGroup, ordered: Mapping[CoreSection, Sequence[Claim]], by_claim: Mapping[Claim, CoreItem]
) -> list[tuple[CoreSection, int, CoreItem]]:
    """The memories of a group, its sections in turn, each with how many of its section are looked at for it."""
    ids = {claim.id for section in group.sections for claim in ordered.get(section, ())}
    columns = [(section, [*_newest_alone_first(ordered.get(section, ()), by_claim, ids)]) for section in group.sections]
    most = max((len(items) for _, items in columns), default=0)
    return [(section, *items[n]) for n in range(most) for section, items in columns if n < len(items)]
