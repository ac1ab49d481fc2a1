"""The YAML grammar of a head: the parser's events as source texts, within bounds, and its errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, Protocol

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from vault_tool.files.frontmatter.complaints import IN_QUOTES, conflict, explain
from vault_tool.files.frontmatter.values import MAX_DEPTH, MAX_HEAD_BYTES, MAX_VALUES, HeadFault, Plain, Raw

FAULTS_SHOWN = 20

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|\r(?!\n)")
_NOT_ENDS = "\x85\u2028\u2029"


class EventSource(Protocol):
    """A YAML parser, the C one or the one in Python."""

    def get_event(self) -> Event | None:
        """The next event, or None after the last."""


def parser_of(text: str) -> EventSource:
    """The C parser where PyYAML was built with it, else the slower one in Python."""
    loader: Callable[[str], EventSource] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return loader(text)


def shield(text: str) -> tuple[str, dict[int, str]]:
    """`text` with the characters that YAML 1.1 takes for line ends replaced by private ones, and the table to put them back."""
    if not any(char in text for char in _NOT_ENDS):
        return text, {}
    free = (char for char in map(chr, range(0xE000, 0xF900)) if char not in text)
    private_of = {ord(char): private for char, private in zip(_NOT_ENDS, free, strict=False)}
    back = {ord(private): chr(code) for code, private in private_of.items()}
    return text.translate(private_of), back


class _Stop(Exception):
    """Reading further is useless; carries the fault."""

    def __init__(self, fault: HeadFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Reading:
    """One pass over a head; `faults` and `editable` are meaningful after `run`."""

    def __init__(self, text: str, first_line: int, parser: Callable[[str], EventSource] = parser_of) -> None:
        self.faults: list[HeadFault] = []
        self.editable = True
        self._text = text
        self._first_line = first_line
        self._parser = parser
        self._count = 0
        self._lines: dict[str, int] = {}
        self._root_column: int | None = 0

    def run(self) -> tuple[dict[str, Raw], dict[str, int]]:
        """The values and the line of each top-level key; empty after a fault that stops the reading."""
        try:
            self._check_characters()
            shielded, table = shield(self._text)
            self._source = self._parser(shielded)
            values = self._document()
            if table:
                self._lines = {key.translate(table): line for key, line in self._lines.items()}
                values = _unshielded(values, table)
            return values, self._lines
        except _Stop as stop:
            fault = stop.fault
        except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
            fault = explain(error, self._text, self._first_line)
        self.faults.append(conflict(self._text, self._first_line) or fault)
        return {}, {}

    def _check_characters(self) -> None:
        if len(self._text) > MAX_HEAD_BYTES:
            raise _Stop(HeadFault(self._first_line - 1, "head-too-large", f"the head is over {MAX_HEAD_BYTES:,} characters long"))
        control = _CONTROL.search(self._text)
        if control:
            line = self._first_line + self._text.count("\n", 0, control.start())
            message = f"a control character (U+{ord(control[0]):04X}) in the head"
            raise _Stop(HeadFault(line, "control-character", message, "delete it"))

    def _next(self) -> Event:
        event = self._source.get_event()
        if event is None:
            raise ValueError("the head ends too early")
        return event

    def _document(self) -> dict[str, Raw]:
        self._next()
        event = self._next()
        if isinstance(event, StreamEndEvent):
            return {}
        root = self._next()
        values = self._root(root)
        end = self._next()
        after = self._next() if isinstance(end, DocumentEndEvent) else end
        if isinstance(after, DocumentStartEvent):
            self._stop(after, "bad-yaml", "a second document starts here", "a fence is `---` alone on its line")
        return values

    def _root(self, event: Event) -> dict[str, Raw]:
        if isinstance(event, ScalarEvent) and not event.value and not event.style:
            return {}
        if not isinstance(event, MappingStartEvent):
            what = "a list" if isinstance(event, SequenceStartEvent) else "text"
            self._stop(event, "head-not-a-mapping", f"the head is {what}, not lines of `key: value`", "write `key: value` lines")
        self._check_properties(event)
        if event.flow_style:
            self.editable = False
            self._add(event, "flow-head", "the head is one `{...}`: it can be read but not edited", "a field a line", fatal=False)
        self._root_column = None if event.flow_style else _position(event)[1]
        return self._mapping(0)

    def _mapping(self, depth: int) -> dict[str, Raw]:
        values: dict[str, Raw] = {}
        while not isinstance(event := self._next(), MappingEndEvent):
            key = self._key(event, depth)
            if key in values:
                self._add(event, "duplicate-key", f"`{key}` is given twice", "keep one of them")
            if depth == 0:
                self._note_key(event, key)
            values[key] = self._value(self._next(), depth + 1)
        return values

    def _note_key(self, event: Event, key: str) -> None:
        line, column = _position(event)
        self._lines.setdefault(key, line + self._first_line)
        if self._root_column is not None and column != self._root_column:
            self.editable = False
            self._add(event, "explicit-key", f"`? {key}` can be read but not edited", f"write `{key}: ...`", fatal=False)

    def _key(self, event: Event, depth: int) -> str:
        self._check_properties(event)
        if not isinstance(event, ScalarEvent):
            self._stop(event, "complex-key", "a key that is a list or a map (`{{...}}`, `? [...]`)", IN_QUOTES)
        if event.value == "<<" and not event.style:
            self._add(event, "merge-key", "`<<` merges another map, which heads cannot", "write the fields out")
        self._tally(event, depth)
        return event.value

    def _value(self, event: Event, depth: int) -> Raw:
        self._tally(event, depth)
        self._check_properties(event)
        if isinstance(event, ScalarEvent):
            if event.style:
                return event.value
            return Plain(event.value) if event.value else None
        if isinstance(event, SequenceStartEvent):
            items: list[Raw] = []
            while not isinstance(inner := self._next(), SequenceEndEvent):
                items.append(self._value(inner, depth + 1))
            return items
        return self._mapping(depth) if isinstance(event, MappingStartEvent) else None

    def _tally(self, event: Event, depth: int) -> None:
        self._count += 1
        if self._count > MAX_VALUES:
            self._stop(event, "head-too-large", f"the head holds over {MAX_VALUES:,} values", "move data below the closing `---`")
        if depth > MAX_DEPTH:
            self._stop(event, "too-deep", f"values are nested deeper than {MAX_DEPTH} levels", "flatten them")

    def _check_properties(self, event: Event) -> None:
        if isinstance(event, AliasEvent):
            self._add(event, "alias", f"`*{event.anchor}` repeats another value, which heads cannot", IN_QUOTES)
        elif isinstance(event, ScalarEvent | CollectionStartEvent):
            if event.anchor:
                self._add(event, "anchor", f"`&{event.anchor}` names a value, which heads cannot", IN_QUOTES)
            if event.tag:
                self._add(event, "tag", f"`{_written_tag(event.tag)}` is a type tag, which heads cannot have", IN_QUOTES)

    def _add(self, event: Event, code: str, message: str, hint: str, *, fatal: bool = True) -> None:
        self.faults.append(HeadFault(_position(event)[0] + self._first_line, code, message, hint, fatal))
        if len(self.faults) >= FAULTS_SHOWN:
            self._stop(event, "too-many-faults", "there is more wrong with this head", "mend these first")

    def _stop(self, event: Event, code: str, message: str, hint: str) -> NoReturn:
        raise _Stop(HeadFault(_position(event)[0] + self._first_line, code, message, hint))


def _position(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line, mark.column) if mark is not None else (0, 0)


def _written_tag(tag: str) -> str:
    return "!!" + tag.removeprefix("tag:yaml.org,2002:") if tag.startswith("tag:yaml.org,2002:") else tag


def _unshielded(values: dict[str, Raw], table: dict[int, str]) -> dict[str, Raw]:
    return {key.translate(table): _text_back(value, table) for key, value in values.items()}


def _text_back(value: Raw, table: dict[int, str]) -> Raw:
    if isinstance(value, Plain):
        return Plain(value.translate(table))
    if isinstance(value, str):
        return value.translate(table)
    if isinstance(value, list):
        return [_text_back(item, table) for item in value]
    return _unshielded(value, table) if isinstance(value, dict) else None
