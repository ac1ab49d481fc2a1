"""Requests as text: one JSON object, or one a line; strictly read, each answered for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vault_tool.features.contracts.op import OpAnswer, outcome, refusal
from vault_tool.util.hints import step
from vault_tool.util.json_text import read_given
from vault_tool.vault.context import Context
from vault_tool.vault.request_faults import InvalidRequest, RequestFault

# Most bytes of one request.
LONGEST_REQUEST = 10 * 2**20

_BOM = b"\xef\xbb\xbf"
_GOES_ON = (b" ", b"\t", b"}", b"]", b'"')


def outcomes(vault: Context, data: bytes) -> Iterator[OpAnswer]:
    """The answers to the requests of a text, in their order: one to each line that is not blank, bad lines too.

    A text that is one JSON value, on however many lines, is one request.
    """
    lines = [line for line in data.split(b"\n") if line.removeprefix(_BOM).strip()]
    whole = _value(data)
    if not isinstance(whole, ValueError):
        yield outcome(vault, whole)
    elif not lines or _is_one_document(lines):
        yield _not_json(whole)
    else:
        yield from (_answered(vault, line) for line in lines)


def _answered(vault: Context, line: bytes) -> OpAnswer:
    request = _value(line)
    return _not_json(request) if isinstance(request, ValueError) else outcome(vault, request)


def _is_one_document(lines: Sequence[bytes]) -> bool:
    """Whether a text that is no JSON is one spoilt request over many lines: one opens it, and the others only go on.

    Requests that stand one a line each begin with a brace at the very left.
    """
    opens = lines[0].removeprefix(_BOM).lstrip()[:1] in (b"{", b"[") and isinstance(_value(lines[0]), ValueError)
    return opens and all(line.startswith(_GOES_ON) for line in lines[1:])


def _value(data: bytes) -> Any:
    """A JSON value, or the ValueError that says why it is none."""
    if len(data) > LONGEST_REQUEST:
        return ValueError(f"it is longer than {LONGEST_REQUEST // 2**20} MiB")
    try:
        return read_given(data.removeprefix(_BOM).decode("utf-8"))
    except UnicodeDecodeError as fault:
        return ValueError(f"it is not UTF-8 text (byte {fault.start})")
    except ValueError as fault:
        return fault


def _not_json(fault: ValueError) -> OpAnswer:
    hint = f"one object, or one object a line; {step('op', named=...)} prints the contracts"
    return refusal(InvalidRequest([RequestFault("", f"this is not JSON: {fault}", hint)]))
