"""The plain meaning of arguments of nearly the right shape: lists that came as text, whole numbers as 5.0.

Schemas go on stating arrays and integers; a number that came as text stays refused, for nothing says that it is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from vault_tool.errors import UsageError
from vault_tool.files.frontmatter import lists
from vault_tool.util.text import one_line
from vault_tool.vault.request_faults import InvalidRequest, RequestFault, pointer

_LIST = 'write it like ["one", "two"]'


def listed(name: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """The texts that were given for the list `name`; UsageError where a text begins as a list and is none."""
    try:
        return lists.given(name, value)
    except ValueError as fault:
        raise UsageError(f"{name}: `{one_line(str(value), 40)}` {fault}", _LIST) from fault


def as_meant(value: Any, schema: Mapping[str, Any], place: tuple[str | int, ...] = ()) -> Any:
    """A value as its schema has it; what cannot be meant otherwise stays as it is, for the schema's check to name.

    Raises InvalidRequest, with its place, for a text that begins as a list and is none.
    """
    kind = schema.get("type")
    if kind == "array":
        return _list_meant(value, schema.get("items", {}), place)
    if kind == "object" and "properties" in schema:
        if isinstance(value, str):
            value = _of_json(value, dict)
        known = schema["properties"]
        if isinstance(value, Mapping):
            return {key: as_meant(member, known[key], (*place, key)) if key in known else member for key, member in value.items()}
        return value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _list_meant(value: Any, items: Mapping[str, Any], place: tuple[str | int, ...]) -> Any:
    if items.get("type") == "object":
        value = _of_json(value, list) if isinstance(value, str) else value
        return (
            [as_meant(item, items, (*place, number)) for number, item in enumerate(value)] if isinstance(value, list) else value
        )
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        try:
            return list(lists.given(str(place[-1]), value))
        except ValueError as fault:
            raise InvalidRequest([RequestFault(pointer(*place), f"`{one_line(str(value), 40)}` {fault}", _LIST)]) from fault
    return value


def _of_json(text: str, kind: type) -> Any:
    """The list or object of JSON that a text is, or the text itself."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if isinstance(value, kind) else text
