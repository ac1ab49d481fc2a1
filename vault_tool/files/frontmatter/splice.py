"""One step of an edit as one replaced stretch of the head's text, in the style that the field was written in."""

from __future__ import annotations

from collections.abc import Sequence

from yaml.nodes import ScalarNode, SequenceNode

from vault_tool.errors import EditRefused
from vault_tool.files.frontmatter.changes import AddItems, DropItem, Remove, Set, Step
from vault_tool.files.frontmatter.field_lines import FieldLines, Layout, lay_out
from vault_tool.files.frontmatter.head_writer import BLOCK_INDENT, UNSEEN, field, fits, inline, is_list
from vault_tool.files.frontmatter.values import Value
from vault_tool.util.structs import Struct

_BLOCK_STYLES = ("|", ">")


class Splice(Struct):
    """`text[start:stop]` becomes `new`."""

    start: int
    stop: int
    new: str


def spliced(text: str, step: Step, newline: str, line: int) -> str:
    """The head's text after one step; new keys go last, with `newline`. `line`, the field's, is for the refusal."""
    layout = lay_out(text)
    place = layout.places.get(step.key)
    if place is None:
        value = step.value if isinstance(step, Set) else None
        return text + field(step.key, value, newline, layout.indent)
    try:
        splice = _splice(layout, place, step)
    except _Unclear as unclear:
        raise EditRefused(f"line {line}: `{step.key}` {unclear}", "edit the file by hand") from unclear
    return text[: splice.start] + splice.new + text[splice.stop :]


class _Unclear(Exception):
    """No stretch could be replaced without touching text outside of the request."""


def _splice(layout: Layout, place: FieldLines, step: Step) -> Splice:
    match step:
        case Remove():
            return Splice(layout.offset(place.first), layout.offset(place.last + 1), "")
        case AddItems():
            style = _style_of(place.node.value[-1])
            return _items_added(layout, place, [inline(item, style, flow=place.in_brackets) for item in step.items])
        case DropItem():
            return _item_dropped(layout, place, step.index)
        case Set():
            return _value_set(layout, place, step.value)


def _value_set(layout: Layout, place: FieldLines, value: Value) -> Splice:
    if isinstance(place.node, SequenceNode) and is_list(value) and value:
        return _list_set(layout, place, value)
    # A text in lines stays one where it can: in quotes its paragraphs would stand on one line.
    in_block = place.style in _BLOCK_STYLES
    if in_block and isinstance(value, str) and (block := _block_scalar(layout, place, value)):
        return block
    name = layout.lines[place.first][: place.colon]
    whole_lines = in_block or _starts_below(place) or (is_list(value) and bool(value) and not fits(name, value))
    return _lines_replaced(layout, place, value) if whole_lines else _value_replaced(layout, place, value)


def _list_set(layout: Layout, place: FieldLines, value: Sequence[Value]) -> Splice:
    """A list in the style of the one before it; items that it had keep their quotes."""
    written = _sources(layout, place)
    items = [written.get(item) if isinstance(item, str) else None for item in value]
    texts = [old or inline(item, flow=place.in_brackets) for old, item in zip(items, value, strict=True)]
    if place.in_brackets:
        start, stop = place.node.start_mark, place.node.end_mark
        return Splice(layout.offset(start.line, start.column), layout.offset(stop.line, stop.column), f"[{', '.join(texts)}]")
    lines = _item_lines(layout, place, texts)
    return Splice(layout.offset(layout.item_first(place, 0)), layout.offset(place.last + 1), lines)


def _sources(layout: Layout, place: FieldLines) -> dict[str, str]:
    """The source of each text of a list that stands on one line."""
    sources: dict[str, str] = {}
    for item in place.node.value:
        start, stop = item.start_mark, item.end_mark
        if isinstance(item, ScalarNode) and start.line == stop.line and item.style not in _BLOCK_STYLES:
            sources[item.value] = layout.lines[start.line][start.column : stop.column]
    return sources


def _style_of(item: object) -> str:
    """The quotes of a list's item."""
    return item.style if isinstance(item, ScalarNode) and item.style in ("'", '"') else ""


def _starts_below(place: FieldLines) -> bool:
    """Whether the value begins under its key, as block lists and maps do and others may."""
    return not place.is_empty and bool(place.node.start_mark.line > place.first)


def _value_replaced(layout: Layout, place: FieldLines, value: Value) -> Splice:
    """Only the value's own text, so that a comment after it stays."""
    node = place.node
    after_colon = layout.offset(place.first, place.colon)
    stop = layout.offset(node.end_mark.line, node.end_mark.column)
    if value is None:
        return Splice(after_colon, stop, "")
    if place.is_empty:
        return Splice(after_colon, after_colon, " " + inline(value))
    return Splice(layout.offset(node.start_mark.line, node.start_mark.column), stop, inline(value, place.style))


def _lines_replaced(layout: Layout, place: FieldLines, value: Value) -> Splice:
    """All of the field from its colon on; of comments only one on the line of the key stays."""
    line = layout.lines[place.first].removesuffix("\r")
    newline = _newline(layout, place.first)
    tail = line[place.colon :].rstrip() if _starts_below(place) else ""
    if is_list(value) and value and not fits(line[: place.colon], value):
        margin = " " * (layout.indent + BLOCK_INDENT)
        new = tail + newline + "".join(f"{margin}- {inline(item)}{newline}" for item in value)
    else:
        new = ("" if value is None else " " + inline(value)) + tail + newline
    return Splice(layout.offset(place.first, place.colon), layout.offset(place.last + 1), new)


def _block_scalar(layout: Layout, place: FieldLines, text: str) -> Splice | None:
    """A text under `|` or `>` where its lines can stand there as they are; None where quotes are needed."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    # What YAML drops, folds or counts as indentation reads back only from quotes.
    if (
        not body
        or any(line != line.rstrip() or UNSEEN.search(line) for line in lines)
        or lines[0][:1] in ("", " ")
        or not lines[-1]
    ):
        return None
    old = layout.lines[place.first + 1 : place.last + 1]
    indent = next((len(line) - len(line.lstrip(" ")) for line in old if line.strip()), layout.indent + BLOCK_INDENT)
    mark = "|" if len(lines) > 1 else place.style
    newline = _newline(layout, place.first)
    header = f" {mark}{'' if text != body else '-'}"
    new = newline.join([header, *(" " * indent + line if line else "" for line in lines)]) + newline
    return Splice(layout.offset(place.first, place.colon), layout.offset(place.last + 1), new)


def _item_lines(layout: Layout, place: FieldLines, items: list[str]) -> str:
    """Lines of a block list, indented and spaced as its first item is."""
    first, column = place.node.value[0], place.node.start_mark.column
    beside = first.start_mark.line == layout.item_first(place, 0) and (first.end_mark.index > first.start_mark.index)
    gap = " " * (first.start_mark.column - column - 1 if beside else 1)
    newline = _newline(layout, place.first)
    return "".join(f"{' ' * column}-{gap}{item}{newline}" for item in items)


def _items_added(layout: Layout, place: FieldLines, items: list[str]) -> Splice:
    last = place.node.value[-1]
    if place.in_brackets:
        end = layout.offset(last.end_mark.line, last.end_mark.column)
        return Splice(end, end, "".join(f", {item}" for item in items))
    below = layout.offset(layout.item_last(place, len(place.node.value) - 1) + 1)
    return Splice(below, below, _item_lines(layout, place, items))


def _item_dropped(layout: Layout, place: FieldLines, index: int) -> Splice:
    items = place.node.value
    if not place.in_brackets:
        return Splice(layout.offset(layout.item_first(place, index)), layout.offset(layout.item_last(place, index) + 1), "")
    # With its own comma: the one after it or, for the last item, the one before it.
    left, right = (items[index], items[index + 1]) if index + 1 < len(items) else (items[index - 1], items[index])
    gap_start = layout.offset(left.end_mark.line, left.end_mark.column)
    gap_stop = layout.offset(right.start_mark.line, right.start_mark.column)
    if layout.text[gap_start:gap_stop].strip() != ",":
        raise _Unclear("has a comment between the items of its list")
    if index + 1 < len(items):
        return Splice(layout.offset(left.start_mark.line, left.start_mark.column), gap_stop, "")
    return Splice(gap_start, layout.offset(right.end_mark.line, right.end_mark.column), "")


def _newline(layout: Layout, line: int) -> str:
    return "\r\n" if layout.lines[line].endswith("\r") else "\n"
