"""The first layer: the shape of requests, by the JSON schemas that are published."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from vault_tool.errors import NotFound
from vault_tool.model.fields import FILTERED, LISTS, SHARED, Field, FieldKind
from vault_tool.util.deferred import deferred
from vault_tool.util.json_text import flaw_in
from vault_tool.util.text import one_line
from vault_tool.vault.leniency import as_meant
from vault_tool.vault.request_faults import InvalidRequest, RequestFault, pointer

if TYPE_CHECKING:
    import jsonschema
    from jsonschema.exceptions import ValidationError
else:
    jsonschema = deferred("jsonschema")  # 0.1 s

OPERATIONS = ("read", "write", "update", "correct", "understand")

_FORM = "memory.{}.request"
_LONGEST = 120


def schema(name: str) -> dict[str, Any]:
    """The schema of one kind of request: by its operation (`write`) or its whole name (`memory.write.request`)."""
    operation = name.removeprefix("memory.").removesuffix(".request")
    if operation not in OPERATIONS:
        raise NotFound(
            f"there is no contract `{one_line(name, 60)}`", f"the contracts are {', '.join(map(_FORM.format, OPERATIONS))}"
        )
    document: dict[str, Any] = json.loads(_text(operation))
    if operation == "write":
        memory = document["properties"]["memory"]["properties"]
        links = memory["links"]["properties"]
        memory.update({field.contract: _of(field) for field in SHARED if field.contract not in {"", *memory, *links}})
    elif operation == "read":
        document["properties"].update({field.name: {"type": "string", "description": field.narrows} for field in FILTERED})
    return document


def schemas() -> dict[str, dict[str, Any]]:
    """All schemas by their names."""
    return {_FORM.format(operation): schema(operation) for operation in OPERATIONS}


def shaped(request: object) -> object:
    """A request in which lists that came as text are lists; what is no request at all stays as it is, to be named."""
    op = request.get("op") if isinstance(request, Mapping) else None
    return as_meant(request, schema(op)) if isinstance(op, str) and op in OPERATIONS and flaw_in(request) is None else request


def require_shape(request: object, operation: str = "") -> tuple[str, ...]:
    """Check a request's shape; returns remarks on keys that no contract knows, and which are passed over.

    `operation` is the one that it must be; by default the request's own `op` says. Raises InvalidRequest with all faults.
    """
    if (flaw := flaw_in(request)) is not None:
        raise InvalidRequest([RequestFault(one_line(pointer(*flaw.place), _LONGEST), f"it {flaw.message}", flaw.hint)])
    if not isinstance(request, Mapping):
        raise InvalidRequest([RequestFault("", "a request is a JSON object", 'begin with {"op": "read", ...}')])
    op = request.get("op")
    if not isinstance(op, str) or op not in OPERATIONS or operation not in ("", op):
        expected = operation or ", ".join(OPERATIONS)
        raise InvalidRequest(
            [RequestFault("/op", f"`op` must be one of {expected}" if not operation else f"`op` must be {expected}")]
        )
    faults = [fault for error in _validator(op).iter_errors(request) for fault in faults_of(error)]
    if faults:
        raise InvalidRequest(faults)
    return tuple(_unknown(request, schema(op), ()))


def _of(field: Field) -> dict[str, Any]:
    """The schema of a field that a request may say beyond what its contract was published with."""
    assert field.given is not None
    typed: dict[str, Any] = {"type": "string"}
    if field.kind in LISTS:
        typed = {"type": "array", "items": {"type": "string", "minLength": 1}}
    elif field.kind is FieldKind.UNIT:
        typed = {"type": "number", "minimum": 0, "maximum": 1}
    return {**typed, "description": field.given.help}


@cache
def _text(operation: str) -> str:
    return files(__package__).joinpath("schemas", f"{_FORM.format(operation)}.json").read_text(encoding="utf-8")


@cache
def _validator(operation: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(operation))


def faults_of(error: ValidationError) -> Iterator[RequestFault]:
    """A fault of the schema in the words of a person; what is missing is named where it should stand."""
    place, expected, value = tuple(error.absolute_path), cast(Any, error.validator_value), cast(Any, error.instance)
    match error.validator:
        case "required":
            for name in expected:
                if name not in value:
                    yield RequestFault(pointer(*place, name), "it is missing")
        case "anyOf":
            names = [name for branch in expected for name in branch.get("required", ())]
            yield RequestFault(pointer(*place), f"it needs {' or '.join(f'`{name}`' for name in names)}")
        case "enum":
            yield RequestFault(
                pointer(*place), f"{_shown(value)} is none of the choices", f"one of {', '.join(map(str, expected))}"
            )
        case "const":
            yield RequestFault(pointer(*place), f"{_shown(value)} must be {_shown(expected)}")
        case "type":
            yield RequestFault(
                pointer(*place), f"{_shown(value)} must be {_article(str(expected))}", _number_hint(expected, value)
            )
        case "minLength" | "minItems":
            yield RequestFault(pointer(*place), "it is empty")
        case "minimum" | "maximum":
            word = "at least" if error.validator == "minimum" else "at most"
            yield RequestFault(pointer(*place), f"{_shown(value)} must be {word} {expected}")
        case _:
            yield RequestFault(pointer(*place), one_line(error.message, _LONGEST))


def _number_hint(expected: object, value: object) -> str:
    """A hint for a value that must be a number."""
    if expected not in ("integer", "number"):
        return ""
    if isinstance(value, str) and value.strip().lstrip("-").replace(".", "", 1).isdecimal():
        return f"write {one_line(value, 20)} without quotation marks"
    return "a whole number, for example 5" if expected == "integer" else "a number, for example 0.5"


def _unknown(value: object, part: Mapping[str, Any], place: tuple[str | int, ...]) -> Iterator[str]:
    known = part.get("properties")
    if not isinstance(value, Mapping) or not isinstance(known, Mapping):
        return
    for key, inner in value.items():
        if key in known:
            yield from _unknown(inner, known[key], (*place, key))
        else:
            yield f"{one_line(pointer(*place, key), 80)} is not known and was passed over"


def _shown(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 40)


def _article(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
