"""What can be asked of a head, and what each request comes to once the present values are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vault_tool.errors import EditRefused
from vault_tool.files.frontmatter.head_writer import as_raw
from vault_tool.files.frontmatter.values import Head, Plain, Raw, Value

_WHOLE = re.compile(r"-?\d{1,4000}", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Set:
    """Give `key` the value; None leaves it empty (`key:`)."""

    key: str
    value: Value


@dataclass(frozen=True, slots=True)
class Remove:
    """Take `key` out; one that is not there is no change."""

    key: str


@dataclass(frozen=True, slots=True)
class AddItems:
    """Append to the list at `key` those of `items` that it lacks; a single value there becomes the list's first item."""

    key: str
    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class RemoveItems:
    """Take every one of `items` out of the list at `key`."""

    key: str
    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class DropItem:
    """Take one item, by its place, out of a list that has others."""

    key: str
    index: int


Change: TypeAlias = Set | Remove | AddItems | RemoveItems
Step: TypeAlias = Set | Remove | AddItems | DropItem


def next_step(change: Change, head: Head) -> Step | None:
    """The next single splice towards `change`, or None when the head is as it asks."""
    values = head.values
    raw = values.get(change.key)
    match change:
        case Remove():
            return change if change.key in values else None
        case Set():
            return None if change.key in values and _holds(raw, change.value) else change
        case AddItems():
            if isinstance(raw, dict):
                line = head.lines[change.key]
                raise EditRefused(f"line {line}: `{change.key}` is a map, not a list", "edit the file by hand")
            return _adding(change, raw)
        case RemoveItems():
            return _removing(change, raw)


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


def agree(raw: Raw, wanted: Raw) -> bool:
    """Whether `raw` reads as `wanted`; a text may be plain or quoted, but a number, truth value or null must be plain."""
    if isinstance(wanted, list):
        return isinstance(raw, list) and len(raw) == len(wanted) and all(map(agree, raw, wanted))
    if isinstance(wanted, dict):
        return isinstance(raw, dict) and list(raw) == list(wanted) and all(agree(raw[key], wanted[key]) for key in wanted)
    if isinstance(wanted, Plain) and not isinstance(raw, Plain):
        return False
    return raw == wanted


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


def _adding(change: AddItems, raw: list[Raw] | str | None) -> Step | None:
    present = raw if isinstance(raw, list) else [] if raw is None else [raw]
    lacking = [item for item in dict.fromkeys(_texts(change.items)) if item not in present]
    if not lacking:
        return None
    if isinstance(raw, list) and raw:
        return AddItems(change.key, lacking)
    return Set(change.key, [*(str(item) for item in present), *lacking])


def _removing(change: RemoveItems, raw: Raw) -> Step | None:
    present = raw if isinstance(raw, list) else [raw]
    found = [index for index, item in enumerate(present) if isinstance(item, str) and item in _texts(change.items)]
    if not found:
        return None
    return Set(change.key, []) if len(found) == len(present) else DropItem(change.key, found[0])


def _texts(items: Sequence[str]) -> Sequence[str]:
    # A text is a sequence of texts too, and would fall apart into letters.
    return (items,) if isinstance(items, str) else items
