"""JSON with comments and trailing commas as text: one member is put in or taken out, every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import field

from vault_tool.util.structs import Struct

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_DEEPEST = 100

Step: TypeAlias = "str | int"


class InvalidJsonc(ValueError):
    """A text that is no JSON, with or without comments: `line` and what was expected there."""

    def __init__(self, text: str, place: int, expected: str) -> None:
        self.line = text.count("\n", 0, place) + 1
        super().__init__(f"line {self.line}: expected {expected}")


class Node(Struct):
    """A value and where it stands. `members` are those of an object or a list, each with its name or place and its start."""

    value: Any
    start: int
    end: int
    members: list[tuple[Step, int, Node]] = field(default_factory=list)
    trailing: bool = False

    def at(self, path: Sequence[Step]) -> Node | None:
        """The value at a path below, or None; of a name that comes twice the last one counts."""
        node: Node | None = self
        for step in path:
            members = [member for name, _, member in node.members if name == step] if node else []
            node = members[-1] if members else None
        return node


def parse(text: str) -> Node:
    """The value of a whole text with its places; InvalidJsonc where it is none."""
    start = _skip(text, 0)
    node = _value(text, start, 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise InvalidJsonc(text, end, "the end")
    return node


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path of names, in place of what is there; what leads to it is made. May raise InvalidJsonc."""
    root = parse(text) if text.strip() else None
    if root is None:
        return _dumped(_nested(path, value), "", "\n") + "\n"
    for depth in range(len(path), 0, -1):
        parent = root.at(path[: depth - 1])
        if parent is None:
            continue
        if not isinstance(parent.value, dict):
            raise InvalidJsonc(text, parent.start, f"an object at {'.'.join(path[: depth - 1]) or 'the top'}")
        node = parent.at(path[depth - 1 : depth]) if depth == len(path) else None
        if node is not None and node.value == value:
            return text
        if node is not None:
            inner = _dumped(value, _indent(text, node.start), _newline(text))
            return text[: node.start] + inner + text[node.end :]
        return _inserted(text, parent, path[depth - 1], _nested(path[depth:], value))
    raise AssertionError("the empty path is always there")


def append(text: str, path: Sequence[str], value: Any) -> str:
    """The text with one more item at the end of the list at a path; the list is made where there is none."""
    node = parse(text).at(path) if text.strip() else None
    if node is None:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise InvalidJsonc(text, node.start, f"a list at {'.'.join(path)}")
    return _inserted(text, node, None, value)


def drop(text: str, path: Sequence[Step]) -> str:
    """The text without the member or item at a path, and without the comma that it needed: what undoes `put` and `append`."""
    parent = parse(text).at(path[:-1])
    places = [n for n, (name, _, _) in enumerate(parent.members) if name == path[-1]] if parent else []
    if parent is None or not places:
        return text
    at = places[-1]
    _, start, node = parent.members[at]
    before = parent.members[at - 1][2].end if at else parent.start + 1
    last = at == len(parent.members) - 1
    end = node.end
    if not last or parent.trailing:
        end = text.index(",", _skip(text, node.end)) + 1
    while text[start - 1] in " \t\r\n" and start > before:
        start -= 1
    cut = text[:start] + (text[end:].lstrip() if len(parent.members) == 1 else text[end:])
    if last and at and not parent.trailing:
        comma = text.index(",", _skip(text, before))
        cut = cut[:comma] + cut[comma + 1 :]
    return cut


def _inserted(text: str, parent: Node, name: str | None, value: Any) -> str:
    """One more member at the end of an object or list, in the style of the one before it."""
    newline, close = _newline(text), parent.end - 1
    outer = _indent(text, parent.start)
    broken = "\n" in text[parent.start : parent.end] or not parent.members
    inner = _indent(text, parent.members[-1][1]) if parent.members and broken else outer + _unit(text)
    inner = inner if len(inner) > len(outer) else outer + _unit(text)
    dumped = _dumped(value, inner, newline) if broken else json.dumps(value, ensure_ascii=False)
    dumped = dumped if name is None else f"{json.dumps(name, ensure_ascii=False)}: {dumped}"
    if not parent.members:
        begun = text[: parent.start + 1] + text[parent.start + 1 : close].rstrip()
        return f"{begun}{newline}{inner}{dumped}{newline}{outer}{text[close:]}"
    last = parent.members[-1][2].end
    # Behind what is said of the last member on its line, and before the space that belongs to the bracket.
    place = last + len(text[last:close].rstrip())
    between = f"{newline}{inner}" if broken else " "
    if parent.trailing:
        return f"{text[:place]}{between}{dumped},{text[place:]}"
    return f"{text[:last]},{text[last:place]}{between}{dumped}{text[place:]}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _dumped(value: Any, indent: str, newline: str) -> str:
    lines = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    return f"{newline}{indent}".join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    indent = re.search(r"\n([ \t]+)\S", text)
    return indent[1] if indent else "  "


def _indent(text: str, place: int) -> str:
    """The space that the line of a place begins with."""
    start = text.rfind("\n", 0, place) + 1
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))]


def _skip(text: str, place: int) -> int:
    """The next place that is neither space nor comment."""
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _value(text: str, start: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise InvalidJsonc(text, start, f"at most {_DEEPEST} levels")
    opening = text[start : start + 1]
    if opening in ("{", "["):
        return _group(text, start, depth, named=opening == "{")
    token = _STRING.match(text, start) if opening == '"' else _WORD.match(text, start)
    if not token:
        raise InvalidJsonc(text, start, "a value")
    try:
        return Node(json.loads(token[0]), start, token.end())
    except ValueError as fault:
        raise InvalidJsonc(text, start, "a value") from fault


def _group(text: str, start: int, depth: int, *, named: bool) -> Node:
    closing = "}" if named else "]"
    members = list[tuple[Step, int, Node]]()
    place, comma = _skip(text, start + 1), False
    while text[place : place + 1] != closing:
        if members and not comma:
            raise InvalidJsonc(text, place, f"a comma or `{closing}`")
        begin, name = place, len(members)
        step: Step = name
        if named:
            key = _STRING.match(text, place)
            colon = _skip(text, key.end()) if key else place
            if not key or text[colon : colon + 1] != ":":
                raise InvalidJsonc(text, colon, "a name in double quotes and a colon")
            step, place = json.loads(key[0]), _skip(text, colon + 1)
        node = _value(text, place, depth + 1)
        members.append((step, begin, node))
        place = _skip(text, node.end)
        comma = text[place : place + 1] == ","
        place = _skip(text, place + 1) if comma else place
    value: Any = {step: node.value for step, _, node in members} if named else [node.value for _, _, node in members]
    return Node(value, start, place + 1, members, comma)


def items(node: Node | None) -> Iterator[tuple[int, Any]]:
    """The items of a list by their places, the last first, so that one can be dropped after the other."""
    if node is not None and isinstance(node.value, list):
        yield from reversed(list(enumerate(node.value)))
