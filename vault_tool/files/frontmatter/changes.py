"""Requests for changes of a head, and the result of each once the present values are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from vault_tool.errors import EditRefused
from vault_tool.files.frontmatter import lists
from vault_tool.files.frontmatter.head_writer import as_raw
from vault_tool.files.frontmatter.values import Head, Plain, Raw, Value
from vault_tool.util.structs import Struct

# Stands for what is in a list and is no text.
_OTHER = lists.Item("\0", "\0")

_WHOLE = re.compile(r"-?\d{1,4000}", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", re.ASCII)


class Set(Struct):
    """Give `key` the value; None leaves it empty (`key:`)."""

    key: str
    value: Value


class Remove(Struct):
    """Take `key` out; one that is not there is no change."""

    key: str


class AddItems(Struct):
    """Append to the list at `key` those of `items` that it lacks; a text there becomes the list that it reads as."""

    key: str
    items: Sequence[str]


class RemoveItems(Struct):
    """Take every one of `items` out of the list at `key`, as they are written or as they read."""

    key: str
    items: Sequence[str]


class DropItem(Struct):
    """Take one item, by its place, out of a list that has others."""

    key: str
    index: int


Change: TypeAlias = Set | Remove | AddItems | RemoveItems
Step: TypeAlias = Set | Remove | AddItems | DropItem


def next_step(change: Change, head: Head) -> Step | None:
    """The next single splice towards `change`, or None when the head is as it asks.

    A list that goes by another spelling in this head (`Tags`, `alias`) is changed under that one.
    """
    values = head.values
    keys = list(lists.spelled(values, change.key)) or [change.key]
    match change:
        case Remove():
            return next((Remove(key) for key in keys if key in values), None)
        case Set():
            key = keys[0]
            return None if key in values and _holds(values[key], change.value) else Set(key, change.value)
        case AddItems():
            return _adding(change, head, keys)
        case RemoveItems():
            steps = (_removing(change, key, values.get(key)) for key in keys)
            return next((step for step in steps if step is not None), None)


def expected(step: Step, values: Mapping[str, Raw]) -> dict[str, Raw]:
    """The values, in their order, that the head must read as after `step`."""
    if isinstance(step, Remove):
        return {key: raw for key, raw in values.items() if key != step.key}
    raw = values.get(step.key)
    present = raw if isinstance(raw, list) else []
    if isinstance(step, Set):
        return {**values, step.key: None if step.value is None else as_raw(step.value)}
    if isinstance(step, AddItems):
        return {**values, step.key: [*present, *step.items]}
    return {**values, step.key: present[: step.index] + present[step.index + 1 :]}


def agree(raw: Raw, other: Raw) -> bool:
    """Whether `raw` reads as `wanted`; a text may be plain or quoted, but a number, truth value or null must be plain."""
    if isinstance(other, list):
        return isinstance(raw, list) and len(raw) == len(other) and all(map(agree, raw, other))
    if isinstance(other, dict):
        return isinstance(raw, dict) and list(raw) == list(other) and all(agree(raw[key], other[key]) for key in other)
    if isinstance(other, Plain) and not isinstance(raw, Plain):
        return False
    return raw == other


def _holds(raw: Raw, value: Value) -> bool:
    if value is None:
        return raw is None
    if isinstance(value, bool | int | float):
        return isinstance(raw, Plain) and _same_value(raw, value)
    return agree(raw, as_raw(value))


def _same_value(raw: Plain, value: float) -> bool:
    if isinstance(value, bool):
        return raw.lower() == ("true" if value else "false")
    if isinstance(value, int) and _WHOLE.fullmatch(raw):
        return int(raw) == value
    return bool(_NUMBER.fullmatch(raw)) and float(raw) == value


def _adding(change: AddItems, head: Head, keys: Sequence[str]) -> Step | None:
    for key in keys:
        if isinstance(head.values.get(key), dict):
            raise EditRefused(f"line {head.lines[key]}: `{key}` is a map, not a list", "edit the file by hand")
    read = {key: _read(change.key, head.values.get(key)) for key in keys}
    known = {text for items in read.values() for item in items for text in item}
    lacking = [item for item in dict.fromkeys(_texts(change.items)) if item not in known]
    if not lacking:
        return None
    raw = head.values.get(keys[0])
    if isinstance(raw, list) and raw:
        return AddItems(keys[0], lacking)
    return Set(keys[0], [*(item.written for item in read[keys[0]]), *lacking])


def _removing(change: RemoveItems, key: str, raw: Raw) -> Step | None:
    leaving = frozenset(_texts(change.items))
    read = _read(change.key, raw)
    indexes = [index for index, item in enumerate(read) if not leaving.isdisjoint(item)]
    if not indexes:
        return None
    if isinstance(raw, list) and len(raw) == len(read) > len(indexes):
        return DropItem(key, indexes[0])
    return Set(key, [item.written for item in read if leaving.isdisjoint(item)])


def _read(name: str, raw: Raw) -> list[lists.Item]:
    """The items at a key: of a list that goes one by one those that stand there, of a text those that it reads as."""
    form = lists.form_of(name)
    if isinstance(raw, list):
        return [
            lists.item_of(item, form) if isinstance(item, str) else next(iter(lists.items([item], form) or ()), _OTHER)
            for item in raw
        ]
    if isinstance(raw, str) and form is None:
        return [lists.Item(raw, raw)]
    return lists.items(raw, form) or []


def _texts(items: Sequence[str]) -> Sequence[str]:
    # A text is a sequence of texts too, and would fall apart into letters.
    return (items,) if isinstance(items, str) else items
