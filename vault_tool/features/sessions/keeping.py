"""Memories and the state of the work that `end_session` keeps in one call, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vault_tool.errors import UsageError, VaultError
from vault_tool.features.remember.remember import RememberedObservation, remember
from vault_tool.files.frontmatter import lists
from vault_tool.model.memory_names import PLAIN_NAMES
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, one_line
from vault_tool.vault import resolve, seen, work_left
from vault_tool.vault.context import Context

# So many memories are kept of a session in one call: what is worth it is little.
MOST = 6

_TEXTS = frozenset({"subject_names", "change_targets", "evidence"})
_FIELDS = frozenset({"content", "kind", "problem", "failure_mode", *_TEXTS})
_TAKES = "content, kind, subjects, problem, replaces, evidence, failure_mode"


class Item(Struct, kw_only=True):
    """The outcome of one given thing, by its place (`memories[0]`): `written`, `known`, `waits` or `refused`.

    `why` says why it was refused, or what to know of it.
    """

    place: str
    outcome: str
    id: str = ""
    title: str = ""
    why: str = ""


def require_lists(**lists_by_name: object) -> None:
    """UsageError for what is no list: then nothing of the call can be meant."""
    for name, value in lists_by_name.items():
        if not isinstance(value, (list, tuple)):
            raise UsageError(f"`{name}` must be a list, not {one_line(repr(value), 30)}", 'write it like ["one", "two"]')


def kept_memories(vault: Context, memories: Sequence[Any]) -> list[Item]:
    """Write each memory that can be; what cannot is refused by its place, and the others are written all the same."""
    checked: list[dict[str, Any] | VaultError] = []
    for number, memory in enumerate(memories):
        try:
            checked.append(_fields_of(memory, number))
        except VaultError as fault:
            checked.append(fault)
    return [_kept(vault, f"memories[{number}]", fields) for number, fields in enumerate(checked)]


def _fields_of(memory: object, number: int) -> dict[str, Any]:
    """A memory as `remember` takes it, by either names."""
    if number >= MOST:
        raise UsageError(f"it is one of more than {MOST}: of a session that much is worth keeping", "keep the weightier ones")
    if not isinstance(memory, Mapping):
        raise UsageError("it is not an object", 'write it like {"content": "...", "kind": "fact", "subjects": ["..."]}')
    fields: dict[str, Any] = {}
    for field_name, value in memory.items():
        name = PLAIN_NAMES.get(str(field_name), str(field_name))
        if name not in _FIELDS:
            raise UsageError(f"`{one_line(str(field_name), 30)}` is no part of a memory here", f"it has {_TAKES}")
        if name in fields:
            raise UsageError(f"`{one_line(str(field_name), 30)}` says again what another name said", "say it once")
        if value is not None:
            fields[name] = _meant(str(field_name), value) if name in _TEXTS else _text(str(field_name), value)
    if not str(fields.get("content", "")).strip():
        raise UsageError("it says nothing", "give its `content` in a sentence")
    return fields


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"`{one_line(name, 30)}` must be a text, not {one_line(repr(value), 30)}", "put it in quotation marks")
    return value


def _meant(name: str, value: object) -> list[str]:
    if isinstance(value, str):
        try:
            return list(lists.given(name, value))
        except ValueError as fault:
            raise UsageError(f"`{name}`: `{one_line(value, 40)}` {fault}", 'write it like ["one", "two"]') from fault
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"`{one_line(name, 30)}` must be a list of texts", 'write it like ["one", "two"]')
    return list(value)


def _kept(vault: Context, place: str, checked: Mapping[str, Any] | VaultError) -> Item:
    if isinstance(checked, VaultError):
        return refused(place, checked)
    try:
        memory = remember(vault, **checked)
    except VaultError as fault:
        return refused(place, fault)
    return _item(place, memory)


def refused(place: str, fault: VaultError) -> Item:
    """The item for something that cannot be kept, with the reason."""
    hint = f" ({fault.hint})" if fault.hint else ""
    return Item(place=place, outcome="refused", why=f"{fault.message}{hint}")


def _item(place: str, memory: RememberedObservation) -> Item:
    known = bool(memory.duplicate_of) and not memory.added
    outcome = "known" if known else "waits" if memory.pending_review else "written"
    why = "; ".join([*memory.next_steps, *(() if memory.pending_review else memory.warnings)])
    return Item(place=place, outcome=outcome, id=memory.id, title=memory.title, why=why)


def left(vault: Context, text: str) -> Item:
    """Write where the work of the session's project stands, in place of what this session was shown or wrote of it before.

    Sent twice it is once.
    """
    state = seen.current(vault)
    project = vault.who.project or (state.project if state else "")
    asking = vault.as_(project=project)
    subject = resolve.subject(asking, project) if project else None
    try:
        task_state = remember(
            asking, text, [subject.title] if subject else [], kind=work_left.TASK_STATE,
            change_targets=list(_before(asking, text, project)),
        )  # fmt: skip
    except VaultError as fault:
        return refused("left_to_do", fault)
    return _item("left_to_do", task_state)


def _before(vault: Context, text: str, project: str) -> Iterator[str]:
    """The ids of a project's earlier task states, as far as this session knows of them."""
    state = seen.current(vault)
    shown = state.shown if state else {}
    text_hash = body_hash(text)
    for task_state in work_left.task_states(vault):
        is_known = task_state.id in shown or task_state.text("session") == vault.who.session
        if (
            is_known
            and work_left.is_of(task_state, project)
            and task_state.body_hash != text_hash
            and task_state.text("user") == vault.who.user
        ):
            yield task_state.id
