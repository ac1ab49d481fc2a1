"""Where each field of a head stands, line by line: what an edit may touch."""

from __future__ import annotations

from typing import TypeAlias

import yaml
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from vault_tool.files.frontmatter.events import shield
from vault_tool.util.structs import Struct

Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


class FieldLines(Struct):
    """One field: its first and last line (from 0, within the head), the column after its colon, and its value's node."""

    first: int
    last: int
    colon: int
    node: Node

    @property
    def in_brackets(self) -> bool:
        """Whether the value is a `[...]` or `{...}`."""
        return not isinstance(self.node, ScalarNode) and bool(self.node.flow_style)

    @property
    def style(self) -> str:
        """How a text is written: `'`, `"`, `|`, `>`, or nothing for a plain one and for what is no text."""
        return str(self.node.style or "") if isinstance(self.node, ScalarNode) else ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing follows the colon."""
        return isinstance(self.node, ScalarNode) and not self.node.value and not self.style


class Layout(Struct):
    """A head's lines (without `\\n`), the offset at which each starts, and the place of each field."""

    text: str
    lines: tuple[str, ...]
    starts: tuple[int, ...]
    places: dict[str, FieldLines]
    indent: int

    def offset(self, line: int, column: int = 0) -> int:
        """The offset in `text` of a position; the line after the last one starts at the end."""
        return min(self.starts[line] + column, len(self.text))

    def item_first(self, place: FieldLines, index: int) -> int:
        """The line of the dash of a block list's item."""
        column = place.node.start_mark.column
        line: int = place.node.value[index].start_mark.line
        while line > place.first and self.lines[line][: column + 1] != " " * column + "-":
            line -= 1
        return line

    def item_last(self, place: FieldLines, index: int) -> int:
        """The last line of a block list's item; comments that follow it are not its own."""
        items = place.node.value
        limit = self.item_first(place, index + 1) - 1 if index + 1 < len(items) else place.last
        return _trimmed(self.lines, limit, _last_content(items[index], self.lines), place.node.start_mark.column)


def lay_out(text: str) -> Layout:
    """The layout of a head that was read without a fatal fault and is editable."""
    shielded, table = shield(text)
    root = yaml.compose(shielded, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    lines = tuple(text.split("\n"))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    if not isinstance(root, MappingNode):
        return Layout(text, lines, tuple(starts), {}, 0)
    indent = root.start_mark.column
    places: dict[str, FieldLines] = {}
    following = [key.start_mark.line for key, _ in root.value[1:]] + [len(lines)]
    for (key, node), limit in zip(root.value, following, strict=True):
        first = key.start_mark.line
        last = _trimmed(lines, limit - 1, max(first, _last_content(node, lines)), indent)
        colon = lines[first].index(":", key.end_mark.column) + 1
        places[key.value.translate(table)] = FieldLines(first, last, colon, node)
    return Layout(text, lines, tuple(starts), places, indent)


def _last_content(node: Node, lines: tuple[str, ...]) -> int:
    """The last line on which a value surely has content."""
    if isinstance(node, ScalarNode):
        return _block_end(node.start_mark.line, lines) if node.style in ("|", ">") else int(node.end_mark.line)
    if node.flow_style or not node.value:
        return int(node.end_mark.line)
    if isinstance(node, SequenceNode):
        return max(_last_content(item, lines) for item in node.value)
    return max(_last_content(part, lines) for pair in node.value for part in pair)


def _block_end(header: int, lines: tuple[str, ...]) -> int:
    """The last line of a `|` or `>` text, whose end mark lies; spaces beyond its indentation are text too."""
    end, indent = header, 0
    for number in range(header + 1, len(lines)):
        line = lines[number].removesuffix("\r")
        depth = len(line) - len(line.lstrip(" "))
        if line.strip(" ") and indent == 0:
            indent = depth
        if line.strip(" ") and depth < max(indent, 1):
            break
        if indent and len(line) > indent:
            end = number
    return end


def _trimmed(lines: tuple[str, ...], last: int, least: int, indent: int) -> int:
    """`last` moved up over blank lines and comments that are not indented deeper than `indent`, but not above `least`."""
    while last > least:
        line = lines[last]
        bare = line.lstrip(" ")
        if line.strip() and not (bare.startswith("#") and len(line) - len(bare) <= indent):
            break
        last -= 1
    return last
