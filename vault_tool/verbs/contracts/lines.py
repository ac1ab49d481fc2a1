"""Requests as text: one JSON object, or one a line; strictly read, each answered for itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vault_tool.verbs.context import Context
from vault_tool.verbs.contracts.faults import Fault, InvalidRequest
from vault_tool.verbs.contracts.op import Outcome, outcome, refusal


def outcomes(vault: Context, text: str) -> Iterator[Outcome]:
    """The answers to the requests of a text, in their order; a line that is no JSON is answered as what it is."""
    try:
        whole = _json(text)
    except ValueError as fault:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not _begins_with_json(lines[0]):
            yield _not_json(fault)
            return
        yield from (_answered(vault, line) for line in lines)
    else:
        yield outcome(vault, whole)


def _answered(vault: Context, line: str) -> Outcome:
    try:
        request = _json(line)
    except ValueError as fault:
        return _not_json(fault)
    return outcome(vault, request)


def _begins_with_json(line: str) -> bool:
    try:
        _json(line)
    except ValueError:
        return False
    return True


def _json(text: str) -> Any:
    """A JSON value; ValueError for none, for a key that stands twice, and for numbers that JSON does not have."""
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in [other for other, _ in pairs[:number]])
        raise ValueError(f"the key {json.dumps(twice)} stands twice in one object")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON's")


def _not_json(fault: ValueError) -> Outcome:
    hint = "one object, or one object a line; `vt op --schema` prints the contracts"
    return refusal(InvalidRequest([Fault("", f"this is not JSON: {fault}", hint)]))
