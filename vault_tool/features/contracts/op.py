"""`op`: one JSON request in, one JSON answer out, whatever goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import to_builtins

from vault_tool.errors import Exit, VaultError
from vault_tool.features.contracts.meaning import RequestChecker
from vault_tool.features.contracts.read import answered
from vault_tool.features.contracts.schemas import require_shape, shaped
from vault_tool.features.contracts.update import updated
from vault_tool.features.contracts.write import written
from vault_tool.features.remember import correcting
from vault_tool.features.understandings import understandings
from vault_tool.model.types import RecordClass
from vault_tool.util.json_text import json_name, told_fields
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.request import in_envelope, verb
from vault_tool.vault.request_faults import InvalidRequest, RequestFault, pointer

_WHO = {"session_id": "session", "model": "model", "project": "project"}


class OpAnswer(Struct):
    """The answer to a request, as plain JSON values, with the exit code that it means."""

    answer: Mapping[str, Any]
    exit: Exit = Exit.DONE


@verb
def op(vault: Context, request: object) -> Mapping[str, Any]:
    """The answer to one request as plain values. Raises nothing that a request can cause: `ok` is then false.

    `errors` has every fault with its JSON pointer, `code` and `exit_code` the kind of failure.
    """
    return outcome(vault, request).answer


def outcome(vault: Context, request: object) -> OpAnswer:
    """The same with the exit code that it means."""
    try:
        request = shaped(request)
        remarks = require_shape(request)
        assert isinstance(request, Mapping)  # its shape was just checked
        asking = _asker(vault, request)
        payload = in_envelope(asking, _DO[request["op"]](asking, request))
    except VaultError as fault:
        operation = request.get("op") if isinstance(request, Mapping) else None
        return refusal(fault, one_line(operation, 40) if isinstance(operation, str) else None)
    values = to_builtins(payload)
    for result in values.get("results", ()):
        result.pop("vaults", None)  # no contract asks other vaults
    answer = {json_name(name): values[name] for name in told_fields(type(payload))}
    answer["warnings"] = [*filter(None, [vault.settings_fault]), *remarks, *answer["warnings"]]
    code = Exit.ATTENTION if answer.get("attention") else Exit.DONE
    return OpAnswer({"ok": True, "op": request["op"], **answer}, code)


def refusal(fault: VaultError, op: object = None) -> OpAnswer:
    """The answer to what could not be done, with the operation that it says it was."""
    faults = fault.faults if isinstance(fault, InvalidRequest) else (RequestFault("", fault.message, fault.hint),)
    code = re.sub(r"(?<!^)(?=[A-Z])", "-", type(fault).__name__).lower()
    errors = [to_builtins(fault) for fault in faults]
    answer = {"ok": False, "op": op, "errors": errors, "code": code, "exit_code": int(fault.exit_code)}
    return OpAnswer(answer, fault.exit_code)


def _asker(vault: Context, request: Mapping[str, Any]) -> Context:
    """The vault as the request's own session, model, user and project ask, where it names them; Refused for another user."""
    asking = vault.for_user(request.get("user", ""))
    names = {ours: request[theirs] for theirs, ours in _WHO.items() if request.get(theirs)}
    return asking.as_(**names) if names else asking


def _corrected(vault: Context, request: Mapping[str, Any]) -> correcting.Corrected:
    """`correct` as a request: its own parameters; what names nothing that is there is told by its pointer."""
    meaning = _meaning(vault, request)
    meaning.memory(resolve.vault_holding(vault, request["id"]), "/id", request["id"])
    meaning.require()
    return correcting.correct(vault, request["id"], request["why"], request.get("content", ""))


def _understood(vault: Context, request: Mapping[str, Any]) -> understandings.Understood:
    """`understand` as a request, likewise."""
    meaning = _meaning(vault, request)
    sources, replaces = request.get("sources", ()), request.get("replaces", "")
    for number, source in enumerate(sources):
        meaning.memory(vault, pointer("sources", number), source, (RecordClass.OBSERVATION,))
    if replaces:
        meaning.memory(vault, "/replaces", replaces, (RecordClass.UNDERSTANDING,))
    meaning.require()
    return understandings.understand(
        vault, request["subjects"], request["content"], request["summary"], sources, replaces,
        kind=request.get("kind"), why=request.get("why", ""),
    )  # fmt: skip


def _meaning(vault: Context, request: Mapping[str, Any]) -> RequestChecker:
    meaning = RequestChecker(vault)
    meaning.repo(request["repo_id"])
    meaning.look()
    return meaning


_DO: Mapping[str, Callable[[Context, Mapping[str, Any]], Any]] = {
    "read": answered,
    "write": written,
    "update": updated,
    "correct": _corrected,
    "understand": _understood,
}
