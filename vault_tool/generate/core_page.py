"""CORE.md: the page that a system prompt loads, never longer than its budget; values in, text out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from vault_tool.generate.budget import cut, in_turn, shares
from vault_tool.generate.core_forms import CoreItem, CoreText, Form, ImportMap, TrackedForm
from vault_tool.generate.escape import block, inline, quote
from vault_tool.generate.page_lines import origin, vouched
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, CoreSection, RecordClass, Registry
from vault_tool.util.clock import end_of, parse_time

LEAST_SCORE = 0.2
LEAST_TRUTH = 0.3
FILL_UP = 10
SCORE_DIGITS = 3
WARNING_LENGTH = 300

# After so many lines in a row for which there was no room the page is full: a few that do not fit are passed over.
_MISSES = 20
# So many of a section are looked at for one whose source may have a line now: they come in turn already.
_LOOKED_AT = 4

Order: TypeAlias = tuple[float, float, float, str, str]

_DATE = re.compile(r"^(> Last updated: )\d{4}-\d{2}-\d{2}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CorePage:
    """The page, the ids of what its lines show, how many memories were left out for what reason, and how many of one section
    were looked at at most.
    """

    text: str
    shown: tuple[str, ...]
    left_out: Mapping[str, int]
    reach: int = 0


def core_page(
    items: Iterable[CoreItem],
    kept: Sequence[CoreText],
    *,
    budget: int,
    section_limit: int,
    registry: Registry,
    as_of: date,
    active: int | None,
    total: int,
    live: bool = False,
    warnings: Sequence[str] = (),
    imports: Sequence[ImportMap] = (),
    form: Form | None = None,
) -> CorePage:
    """The page as of a UTC date in at most `budget` characters; equal values give an equal page on every machine.

    Of several `kept` of one type the first is shown: give the newest first, as `orient` serves it.
    `active` (None: nobody counted) and `total` are the counts of its header; `live` says that this machine's own use is
    counted too; `warnings` are lines about the texts that are given whole; `imports` tell of what was imported and is not
    among the items. Each section that has something gets its lines in turn, so that none is empty for another's sake.
    `form` is the tracked page's by default.
    """
    form = form or TrackedForm()
    header = form.header(as_of, active, total, live)
    if len(header) > budget:
        return CorePage(cut(header, budget), (), {})
    head = f"{header}\n{form.how}" if len(header) + 1 + len(form.how) <= budget else header
    head += _warned(warnings, (budget - len(head)) // 4)
    whole = [one for one in kept if not _expired(one.entry, as_of)]
    texts = _identity_texts(whole, min(budget // 2, budget - len(head)), form)
    left_out: Counter[str] = Counter()
    found = _Sections(_ranked(items, registry, as_of, left_out), registry, form, as_of, section_limit)
    imported = form.imported(imports)
    room = budget - len(head) - len(texts)
    imported = imported if len(imported) <= room // 2 else ""
    sections, shown = found.filled(room - len(imported), left_out)
    return CorePage(head + texts + sections + imported, shown, dict(left_out), found.reach)


def same_but_for_date(old: str, new: str) -> bool:
    """Whether two pages differ in nothing but the date of their header: then the tracked one is left alone."""
    return _DATE.sub(r"\1", old, count=1) == _DATE.sub(r"\1", new, count=1)


def _warned(warnings: Sequence[str], room: int) -> str:
    """What the owner should settle of soul, protocol and orientation: a line each, while there is room."""
    lines = ""
    for said in warnings:
        line = f"\n> Warning: {inline(said, WARNING_LENGTH)}\n"
        if len(lines) + len(line) <= room:
            lines += line
    return lines


def _identity_texts(kept: Sequence[CoreText], room: int, form: Form) -> str:
    """Soul, protocol and orientation in this order, each cut to its fair share of `room` characters.

    One that is as every new vault has it is a line; that of an orientation would say that nothing is known.
    """
    by_type = {one.entry.type: one for one in reversed(kept) if one.text.strip()}
    ordered = [by_type[name] for name in KEPT_TYPES if name in by_type]
    starters = "".join(form.untouched(one) for one in ordered if one.untouched and one.entry.type != "orientation")
    ordered = [one for one in ordered if not one.untouched]
    starters = starters if len(starters) <= room else ""
    room -= len(starters)
    while ordered:
        frames = [form.frame(one) for one in ordered]
        texts = [quote(block(one.text)) for one in ordered]
        fixed = sum(len(before) + len(after) for before, after in frames)
        if fixed <= room:
            granted = shares([len(text) for text in texts], room - fixed)
            return starters + "".join(_framed(*parts) for parts in zip(frames, texts, granted, strict=True))
        ordered.pop()
    return starters


def _framed(frame: tuple[str, str], text: str, granted: int) -> str:
    before, after = frame
    shown = cut(text, granted)
    if shown == text:
        return f"{before}{text}\n"
    return f"{before}{shown}{after}" if shown else f"{before}{after.lstrip()}"


def _ranked(items: Iterable[CoreItem], registry: Registry, as_of: date, left_out: Counter[str]) -> list[tuple[CoreItem, bool]]:
    """What may stand on the page, best first, with whether it has faded."""
    passing: list[CoreItem] = []
    faded: list[CoreItem] = []
    for item in items:
        reason = barred(item, registry, as_of)
        if reason:
            left_out[reason] += 1
        else:
            (passing if item.score >= LEAST_SCORE else faded).append(item)
    ranked = [(item, False) for item in sorted(passing, key=order)]
    missing = max(0, FILL_UP - len(passing))
    faded.sort(key=order)
    if len(faded) > missing:
        left_out["faded"] += len(faded) - missing
    return ranked + [(item, True) for item in faded[:missing]]


def candidates(items: Iterable[CoreItem], registry: Registry, as_of: date, most: int) -> list[CoreItem]:
    """Those of which a page is filled whatever its budget: of each type the first `most` that a person stands behind, and as many
    of the rest, their sources in turn.
    """
    groups: dict[tuple[str, bool], list[CoreItem]] = defaultdict(list)
    for item in sorted((item for item in items if not barred(item, registry, as_of)), key=order):
        groups[item.entry.type, _unvouched(item)].append(item)
    return [item for ranked in groups.values() for item in in_turn(ranked, source)[:most]]


def barred(item: CoreItem, registry: Registry, as_of: date) -> str:
    """Why an item may not stand on the page, or the empty string."""
    entry = item.entry
    if entry.record_class not in (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING) or registry.spec(entry.type).always_kept:
        return "not listed"
    if entry.stale:
        return "cannot be read now"
    if entry.text("user"):
        return "about a user"
    if item.set_aside:
        return "questionable"
    if item.solved:
        return "solved"
    if item.truth < LEAST_TRUTH:
        return "doubted"
    return "expired" if _expired(entry, as_of) else ""


def _expired(entry: Entry, as_of: date) -> bool:
    """Whether its time is over on that day: the page is read all day long, so its last day counts as over."""
    over = end_of(entry.text("expires")) if entry.text("expires") else None
    return over is not None and over.date() <= as_of


def order(item: CoreItem) -> Order:
    """Best first; of equals the more trusted, then what was observed last, then by id: nothing that machines differ in."""
    return order_of(item.entry, item.score, item.truth)


def order_of(entry: Entry, score: float, truth: float) -> Order:
    """The same of a memory with this score and truth."""
    seen = parse_time(entry.observed)
    return (-round(score, SCORE_DIGITS), -truth, -seen.timestamp() if seen else 0.0, entry.id, entry.path)


def source(item: CoreItem) -> str:
    """Who could flood the page: an origin and model that no person vouches for; nobody for the rest."""
    return source_of(item.entry, item.reviewed)


def source_of(entry: Entry, reviewed: bool) -> str:
    """The same of a memory, by whether a person reviewed it."""
    return "" if vouched(entry, reviewed) else f"{origin(entry)} {entry.text('model')}"


def _unvouched(item: CoreItem) -> bool:
    return not vouched(item.entry, item.reviewed)


# The lines of a section that a person stands behind, and (True) the rest of them.
_Group: TypeAlias = tuple[CoreSection, bool]


class _Sections:
    """The sections of one page, each with its candidates best first; `_typical` are those by which its heading is made."""

    def __init__(
        self, ranked: Sequence[tuple[CoreItem, bool]], registry: Registry, form: Form, as_of: date, section_limit: int
    ) -> None:
        self._form = form
        self._as_of = as_of
        self._limit = section_limit
        self.reach = section_limit
        """How many of one section were looked at at most."""
        self._candidates: dict[CoreSection, list[tuple[CoreItem, bool]]] = defaultdict(list)
        for item, faded in ranked:
            self._candidates[registry.spec(item.entry.type).section or CoreSection.WORTH_KNOWING].append((item, faded))
        for section, candidates in self._candidates.items():
            in_turns = in_turn(_each_type_first(candidates), lambda one: source(one[0]))
            # Nothing that an agent says of its own memory puts it above what a person stands behind.
            self._candidates[section] = sorted(in_turns, key=lambda one: _unvouched(one[0]))
        self._typical: dict[_Group, list[CoreItem]] = defaultdict(list)
        for section, ordered in self._candidates.items():
            for item, _ in ordered[:section_limit]:
                self._typical[section, _unvouched(item)].append(item)

    def filled(self, room: int, left_out: Counter[str]) -> tuple[str, tuple[str, ...]]:
        """The lines in their sections, a section's next best in its turn, while they fit; and the ids of what they show."""
        lines: dict[_Group, list[str]] = defaultdict(list)
        both = [(section, more) for section in CoreSection if section in self._candidates for more in (False, True)]
        shown: list[str] = []
        sources: Counter[str] = Counter()
        waits, misses = True, 0
        taken: Counter[CoreSection] = Counter()
        while misses < _MISSES and any(self._candidates.values()):
            before = len(shown)
            for section in (one for one in CoreSection if self._candidates.get(one)):
                if len(lines[section, False]) + len(lines[section, True]) >= self._limit:
                    left_out["section full"] += len(self._candidates[section])
                    self._candidates[section] = []
                    continue
                place = self._next(section, sources, len(shown)) if waits else 0
                if place is None:
                    continue
                item, faded = self._candidates[section].pop(place)
                taken[section] += 1
                self.reach = max(self.reach, taken[section] + _LOOKED_AT)
                group = section, _unvouched(item)
                cost = 0 if lines[group] else len(self._head(group, lines))
                line = self._form.line(item, faded, self._typical[group], self._as_of)
                if cost + len(line) > room:
                    left_out["no room"] += 1
                    misses += 1
                    continue
                misses = 0
                room -= cost + len(line)
                lines[group].append(line)
                shown.append(item.entry.id)
                sources[source(item)] += 1
            # Who waited for others gets what room is left once none of these is waiting.
            waits = waits and len(shown) > before
        if left := sum(map(len, self._candidates.values())):
            left_out["no room"] += left
        return "".join(self._head(group, lines) + "".join(lines[group]) for group in both if lines[group]), tuple(shown)

    def _head(self, group: _Group, lines: Mapping[_Group, Sequence[str]]) -> str:
        """The heading of what a person stands behind in a section, or of the rest of it."""
        section, unvouched = group
        return self._form.section(section, self._typical[group], more=unvouched and bool(lines.get((section, False))))

    def _next(self, section: CoreSection, sources: Counter[str], shown: int) -> int | None:
        """Where the next of a section stands whose source does not make more than half of the page already."""
        for place, (item, _) in enumerate(self._candidates[section][:_LOOKED_AT]):
            who = source(item)
            if not who or 2 * (sources[who] + 1) <= shown + 2:
                return place
        return None


def _each_type_first(candidates: Sequence[tuple[CoreItem, bool]]) -> list[tuple[CoreItem, bool]]:
    """The same, with the best of each type before the second of any: else one type can fill a section of several."""
    seen: set[str] = set()
    first: list[tuple[CoreItem, bool]] = []
    rest: list[tuple[CoreItem, bool]] = []
    for one in candidates:
        (rest if one[0].entry.type in seen else first).append(one)
        seen.add(one[0].entry.type)
    return [*first, *rest]
