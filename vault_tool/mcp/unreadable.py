"""A line that is no message of the protocol is answered: by an error under the id that it was sent with, or under none.

Whoever waits for an answer to it would wait for ever; the stream goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from pydantic import ValidationError

from vault_tool.util.json_text import flaw_in, shown_place
from vault_tool.util.text import is_unicode

# What tells at which depth a key stands, and a key with its value: for a line that no parser takes.
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_VALUE = re.compile(r'\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,18}(?![\d.eE]))', re.DOTALL)

_NO_JSON = ("json_invalid", "string_unicode")
_OF_NOTIFICATIONS = "notifications/"


def refusal(message: Exception | types.JSONRPCMessage) -> types.JSONRPCError | None:
    """The answer to an unreadable message, and to a request without a valid id; None where no answer is expected."""
    if isinstance(message, Exception):
        line, value = _sent(message)
        code, reason = _fault(line, value)
        identity = value.get("id") if isinstance(value, Mapping) else _id_in(line)
    elif isinstance(message, types.JSONRPCNotification) and not message.method.startswith(_OF_NOTIFICATIONS):
        code, reason, identity = types.INVALID_REQUEST, "the id is neither a text nor a whole number", None
    else:
        return None
    # Half a character in it could not be written back.
    is_id = isinstance(identity, (str, int)) and not isinstance(identity, bool) and is_unicode(str(identity))
    known = identity if is_id else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=reason))


def _sent(fault: Exception) -> tuple[str, object]:
    """The line that was sent, where it is no JSON for the protocol's library, and the value, as far as Python reads one."""
    errors = fault.errors(include_url=False, include_context=False) if isinstance(fault, ValidationError) else []
    raw = next((error["input"] for error in errors if error["type"] in _NO_JSON), "")
    # Bytes that are no UTF-8 become half characters, which are told of by their place.
    line = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else str(raw)
    if not line:
        objects = (error["input"] for error in errors if isinstance(error["input"], Mapping))
        return "", next(
            (sent for sent in objects if "jsonrpc" in sent or "id" in sent or "method" in sent),
            None,
        )
    try:
        return line, json.loads(line)
    except (ValueError, RecursionError):
        return line, None


def _fault(line: str, value: object) -> tuple[int, str]:
    """The protocol's code for what is wrong, and the words."""
    if isinstance(value, Mapping):
        flaw = flaw_in(value)
        if flaw is not None:
            return types.INVALID_REQUEST, f"{shown_place(flaw.place).lstrip('.')} {flaw.message}; {flaw.hint}"
        return types.INVALID_REQUEST, "this is no message of JSON-RPC 2.0"
    if not line:
        return types.INVALID_REQUEST, "this is no message of JSON-RPC 2.0: it is no object"
    return types.PARSE_ERROR, "this is no JSON, or has numbers or nesting without end; send plain objects"


def _id_in(line: str) -> Any:
    """The id of an object that cannot be read whole."""
    depth = 0
    for match in _PART.finditer(line):
        part = match[0]
        if part in "[{":
            depth += 1
        elif part in "]}":
            depth -= 1
        elif depth == 1 and part == '"id"' and (value := _VALUE.match(line, match.end())):
            return json.loads(value[1])
    return None
