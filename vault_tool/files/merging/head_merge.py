"""Two heads that came of one, merged by their keys: the rule of each field, and the lines that a person wrote kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import field
from yaml.nodes import ScalarNode, SequenceNode

from vault_tool.errors import EditRefused
from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import Plain, Raw, Set
from vault_tool.files.frontmatter.field_lines import FieldLines, Layout, Node, lay_out
from vault_tool.files.frontmatter.head_reader import read_head
from vault_tool.files.frontmatter.head_writer import field as written
from vault_tool.files.frontmatter.head_writer import inline
from vault_tool.files.frontmatter.lists import form_of
from vault_tool.files.frontmatter.lists import items as read_items
from vault_tool.files.merging.line_merge import merge_lines
from vault_tool.model.ids import is_derived
from vault_tool.util.clock import moment
from vault_tool.util.structs import Struct
from vault_tool.util.text import unwrap_link

UNSETTLED = "unsettled"

_NAMES = ("tags", "subjects", "aliases", "related_to", "sources", "supersedes", "evidence", "change_targets", "parents", "also")
SETS = frozenset((*_NAMES, UNSETTLED))
"""Lists of which only what is in them counts."""

_LATER = frozenset({"updated", "as_of"})
_EARLIER = frozenset({"created", "observed"})
# Of what a person sets, that it is set stays.
_FLAGS = frozenset({"pinned", "not_at_start"})
_NUMBERS = frozenset({"strength", "importance", "confidence"})
_TRUST = ("import", "agent", "owner")
_NULLS = frozenset({"null", "Null", "NULL", "~"})
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_COMMENT = re.compile(r"(?:^|\s)(#[^\n]*)")


class FieldText(Struct):
    """One field as it stands: the comments and blank lines above it, its own lines, and its value."""

    above: tuple[str, ...]
    lines: str
    value: Raw
    comments: tuple[str, ...] = ()


class HeadText(Struct):
    """A head taken apart: its fields in their order, and the lines below the last."""

    fields: dict[str, FieldText]
    below: tuple[str, ...] = ()
    indent: int = 0


class MergedHead(msgspec.Struct):
    """The head's text, by field the two texts of which one stays, and what a rule decided that a person may want to know."""

    text: str
    twice: list[tuple[str, str, str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


_Lists: TypeAlias = tuple[list[str], list[str], list[str]]

NO_HEAD = HeadText({})


def taken_apart(text: str) -> HeadText | None:
    """The fields of a head's text, or None for one that cannot be read or edited."""
    head = read_head(text)
    if not head.usable or not head.editable:
        return None
    layout = lay_out(text)
    fields: dict[str, FieldText] = {}
    at = 0
    for key, place in layout.places.items():
        above, lines = layout.lines[at : place.first], layout.lines[place.first : place.last + 1]
        fields[key] = FieldText(above, "\n".join(lines) + "\n", head.values[key], _comments(layout, place))
        at = place.last + 1
    return HeadText(fields, layout.lines[at:-1] if text else (), layout.indent)


def _comments(layout: Layout, place: FieldLines) -> tuple[str, ...]:
    """The comments among a field's own lines."""
    start, stop = layout.offset(place.first), layout.offset(place.last + 1)
    if "#" not in layout.text[start:stop]:
        return ()
    bare = list(layout.text[start:stop])
    spans = [(start, layout.offset(place.first, place.colon))]
    for leaf in _leaves(place.node):
        if leaf.style in ("|", ">"):
            return ()
        ends = leaf.start_mark, leaf.end_mark
        spans.append((layout.offset(ends[0].line, ends[0].column), layout.offset(ends[1].line, ends[1].column)))
    for first, last in spans:
        bare[first - start : last - start] = "x" * (last - first)
    return tuple(layout.text[start + comment.start(1) : start + comment.end(1)] for comment in _COMMENT.finditer("".join(bare)))


def _leaves(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _leaves(item)
    else:
        for pair in node.value:
            for part in pair:
                yield from _leaves(part)


def merge_heads(base: HeadText | None, ours: HeadText, theirs: HeadText) -> MergedHead | None:
    """Both sides' changes to a head; None where the result would not read as it should."""
    return _Merging(base, ours, theirs).merged()


class _Merging:
    """The merge of two heads, field by field; nothing in it depends on which side is named first."""

    def __init__(self, base: HeadText | None, first: HeadText, other: HeadText) -> None:
        self._base = base or NO_HEAD
        self._sides = first, other
        self._has_base = base is not None
        self._result = MergedHead("")
        self._fields: dict[str, FieldText] = {}
        self._added: dict[str, list[str]] = {"aliases": [], "also": [], UNSETTLED: []}
        self._is_subject = all(_text(side, "type") == "subject" for side in (first, other))
        moments = [moment(_text(side, "updated") or "") for side in self._sides]
        self._later = None if moments[0] == moments[1] else moments.index(max(moments))

    def merged(self) -> MergedHead | None:
        """The head, read back and found to hold what was decided."""
        keys = list(dict.fromkeys([*self._base.fields, *self._sides[0].fields, *self._sides[1].fields]))
        for key in sorted(keys, key=lambda key: key in self._added):
            self._take(key, *(head.fields.get(key) for head in (self._base, *self._sides)))
        for key, items in self._added.items():
            if items and key not in keys:
                self._put(key, None, sorted(set(items)))
        order = self._order()
        above = self._comments(order)
        text = "".join(
            "".join(f"{line}\n" for line in above[key]) + (self._fields[key].lines if key else "") for key in [*order, ""]
        )
        self._result.text = text
        back = read_head(text)
        values = {key: self._fields[key].value for key in order}
        good = back.usable and back.editable and list(back.values) == order
        return self._result if good and all(_same(back.values[key], values[key]) for key in order) else None

    def _take(self, key: str, base: FieldText | None, first: FieldText | None, other: FieldText | None) -> None:
        """Decide one field."""
        added = self._added.get(key, [])
        if first and other and _same(first.value, other.value) and not added:
            # The same value: what differs is how it is written.
            self._fields[key] = (
                other
                if base and first.lines == base.lines
                else first
                if base and other.lines == base.lines
                else (min(first, other, key=lambda side: side.lines))
            )
        elif key in SETS and (lists := _lists(key, base, first, other)):
            self._sets(key, lists, first, other, added)
        elif _unchanged(base, other):
            self._keep(key, first)
        elif _unchanged(base, first):
            self._keep(key, other)
        elif first is None or other is None or _is_empty(first.value) or _is_empty(other.value):
            changed = [side for side in (first, other) if side is not None]
            filled = [side for side in changed if not _is_empty(side.value)]
            self._keep(key, min(filled or changed, key=lambda side: side.lines, default=None))
            if filled:
                self._result.told.append(f"`{key}` was removed by one side and changed by the other: the change stays")
        else:
            self._keep(key, self._chosen(key, base, first, other))

    def _keep(self, key: str, side: FieldText | None) -> None:
        if side is not None:
            self._fields[key] = side

    def _chosen(self, key: str, base: FieldText | None, ours: FieldText, theirs: FieldText) -> FieldText:
        """Which side's field stays where both changed it."""
        texts = _plain(ours.value), _plain(theirs.value)
        by_text = ours if (texts[0], ours.lines) >= (texts[1], theirs.lines) else theirs
        later = None if self._later is None else (ours, theirs)[self._later]
        if key in _LATER | _EARLIER and all(texts) and moment(texts[0]) != moment(texts[1]):
            first = ours if moment(texts[0]) < moment(texts[1]) else theirs
            return first if key in _EARLIER else theirs if first is ours else ours
        if key in _FLAGS and "true" in (texts[0].lower(), texts[1].lower()):
            return ours if texts[0].lower() == "true" else theirs
        if key == "origin":
            return ours if _trust(texts[0]) < _trust(texts[1]) else theirs
        if key in _NUMBERS and all(map(_NUMBER.fullmatch, texts)):
            stays = later or (ours if float(texts[0]) > float(texts[1]) else theirs)
            self._result.told.append(f"`{key}`: {_plain(stays.value)} of {' and '.join(sorted(texts))}")
            return stays
        if key == "id" and self._is_subject:
            # A minted id is the same in every clone; of two of a kind the lesser.
            stays = min((ours, theirs), key=lambda side: (not is_derived(_plain(side.value)), _plain(side.value)))
            self._added["also"].append(_plain((theirs if stays is ours else ours).value))
            return stays
        if key == "name" and self._is_subject:
            stays = later or by_text
            self._added["aliases"].append(_plain((theirs if stays is ours else ours).value))
            return stays
        if (
            isinstance(ours.value, list)
            and isinstance(theirs.value, list)
            and (together := self._in_order(key, base, ours, theirs))
        ):
            return together
        stays, goes = (ours, theirs) if by_text is ours else (theirs, ours)
        self._added[UNSETTLED].append(f"{key}: {_plain(goes.value)}")
        self._result.twice.append((key, min(texts), max(texts)))
        return stays

    def _in_order(self, key: str, base: FieldText | None, first: FieldText, other: FieldText) -> FieldText | None:
        """A list whose order counts, merged item by item; None where both changed one place of it."""
        lists = [_items(key, side.value) if side else [] for side in (base, first, other)]
        if any(items is None or any("\n" in item or not item.strip() for item in items) for items in lists):
            return None
        known, left, right = (items or [] for items in lists)
        merged = merge_lines(known if base else None, left, right)
        return None if merged.twice else self._written(key, min(first, other, key=lambda side: side.lines), merged.lines)

    def _sets(self, key: str, lists: _Lists, first: FieldText | None, other: FieldText | None, added: list[str]) -> None:
        """Merge two sets: an item that either side added is in, an item that either side removed is out."""
        base, left, right = (_by_name(items) for items in lists)
        names = [name for name in base if name in left and name in right]
        new = {name: min(filter(None, (left.get(name), right.get(name)))) for name in {*left, *right} - {*base}}
        new |= {unwrap_link(item): item for item in added if unwrap_link(item) not in {*new, *names}}
        spelled = {name: _stays(base[name], left[name], right[name]) for name in names}
        items = [*spelled.values(), *sorted(new.values())]
        sides = [side for side in (first, other) if side is not None]
        as_one = [side for side in sides if _items(key, side.value) == items]
        base_field = self._base.fields.get(key)
        if not items and len(sides) < 2:
            return
        if first and other and _unchanged(base_field, first) and not added:
            self._fields[key] = other
        elif first and other and _unchanged(base_field, other) and not added:
            self._fields[key] = first
        elif as_one:
            self._fields[key] = min(as_one, key=lambda side: side.lines)
        else:
            self._put(key, min(sides, key=lambda side: (not _items(key, side.value), side.lines), default=None), items)

    def _put(self, key: str, template: FieldText | None, items: list[str]) -> None:
        self._fields[key] = self._written(key, template, items)

    def _written(self, key: str, template: FieldText | None, items: list[str]) -> FieldText:
        """A list written as `template` is, with its comments where they can stay."""
        if template is not None:
            try:
                data = frontmatter.edit(f"---\n{template.lines}---\n".encode(), [Set(key, items)])
                lines = data.decode().removeprefix("---\n").removesuffix("---\n")
                return FieldText(template.above, lines, list(items), template.comments)
            except EditRefused:
                pass
        return FieldText((), written(key, items, indent=self._indent()), list(items))

    def _indent(self) -> int:
        return self._sides[0].indent if self._sides[0].fields else self._sides[1].indent

    def _order(self) -> list[str]:
        """The keys in the order of the side that changed it; what the other added stands after the key that it followed."""
        orders = [[key for key in side.fields if key in self._fields] for side in self._sides]
        shared = [key for key in self._base.fields if all(key in order for order in orders)]
        moved = [[key for key in order if key in shared] != shared for order in orders]
        main = int(moved[1]) if moved[0] != moved[1] else None
        if main is None:
            wider = [set(orders[n]) >= set(orders[1 - n]) for n in (0, 1)]
            main = int(wider[1]) if wider[0] != wider[1] else int(orders[1] < orders[0])
        order = list(orders[main])
        before = None
        for key in orders[1 - main]:
            if key not in order:
                order.insert(order.index(before) + 1 if before is not None else 0, key)
            before = key
        return [*order, *sorted(key for key in self._fields if key not in order)]

    def _comments(self, order: Sequence[str]) -> dict[str, list[str]]:
        """The lines above each field and, under no name, below the last; those of a field that is gone move to the next."""
        above: dict[str, list[str]] = {}
        homeless: list[str] = []
        # In the order in which they stood: a field that is gone comes before what it stood above.
        for key in [*self._followed(order), ""]:
            base, first, other = (_above(head, key) for head in (self._base, *self._sides))
            if key and key not in self._fields:
                for lines in (first, other):
                    homeless.extend(line for line in lines if line.strip() and line not in base and line not in homeless)
                continue
            merged = merge_lines(base if self._has_base else None, first, other, lambda this, that: [*this, *that]).lines
            inner = self._lost_inside(key)
            lacking = [line for line in (*sorted(homeless), *inner) if line not in merged]
            above[key] = [*lacking, *merged]
            homeless = []
        return above

    def _followed(self, order: Sequence[str]) -> list[str]:
        """The keys that stay in their order, each after those of the sides that stood before it and are gone."""
        before: dict[str, list[str]] = {}
        placed: set[str] = set()
        for side in self._sides:
            gone: list[str] = []
            for key in [*side.fields, ""]:
                if key and key not in self._fields:
                    gone.append(key)
                    continue
                before.setdefault(key, []).extend(name for name in gone if name not in placed)
                placed.update(gone)
                gone = []
        return [*(name for key in order for name in [*before.get(key, []), key]), *before.get("", [])]

    def _lost_inside(self, key: str) -> list[str]:
        """Comments that a side added among a field's lines, of which the other's stay."""
        stays = self._fields.get(key)
        if stays is None:
            return []
        known = self._base.fields.get(key)
        added = {
            comment for side in self._sides if (own := side.fields.get(key)) for comment in own.comments
            if comment not in stays.comments and not (known and comment in known.comments)
        }  # fmt: skip
        return sorted(added)


def _above(head: HeadText, key: str) -> tuple[str, ...]:
    if not key:
        return head.below
    field_text = head.fields.get(key)
    return field_text.above if field_text else ()


def _text(head: HeadText, key: str) -> str | None:
    value = head.fields.get(key)
    return str(value.value) if value and isinstance(value.value, str) else None


def _same(first: Raw, other: Raw) -> bool:
    return first == other


def _unchanged(base: FieldText | None, side: FieldText | None) -> bool:
    if base is None or side is None:
        return base is side
    return _same(base.value, side.value)


def _is_empty(raw: Raw) -> bool:
    return raw is None or raw in ("", []) or (isinstance(raw, Plain) and raw in _NULLS)


def _plain(raw: Raw) -> str:
    """A value on one line, or a text as it is."""
    return str(raw) if isinstance(raw, str) else inline(raw)


def _trust(origin: str) -> tuple[int, str]:
    return (_TRUST.index(origin) if origin in _TRUST else -1), origin


def _stays(base: str, first: str, other: str) -> str:
    return first if other == base else other if first == base else min(first, other)


def _by_name(items: Iterable[str]) -> dict[str, str]:
    """Items by what they name: a wikilink names what it links to."""
    named: dict[str, str] = {}
    for item in items:
        named.setdefault(unwrap_link(item), item)
    return named


def _lists(key: str, base: FieldText | None, first: FieldText | None, other: FieldText | None) -> _Lists | None:
    known, left, right = (_items(key, side.value) if side else [] for side in (base, first, other))
    return None if known is None or left is None or right is None else (known, left, right)


def _items(key: str, raw: Raw) -> list[str] | None:
    """The items of a list as its readers take it; None for what is none."""
    if _is_empty(raw):
        return []
    items = read_items(raw, form_of(key))
    return None if items is None else [item.written for item in items]
