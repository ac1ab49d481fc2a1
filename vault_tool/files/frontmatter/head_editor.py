"""Changes to one field of a head that leave every other byte of the file as it was."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from vault_tool.errors import EditRefused
from vault_tool.files.frontmatter.changes import Change, Remove, RemoveItems, Set, Step, agree, expected, next_step
from vault_tool.files.frontmatter.head_reader import read, read_head
from vault_tool.files.frontmatter.head_writer import field, render_head
from vault_tool.files.frontmatter.split import Parts, split
from vault_tool.files.frontmatter.values import Head, HeadFault, Raw, Value
from vault_tool.util.hints import step

_BY_HAND = "edit the file by hand"


def edit(data: bytes, changes: Sequence[Change]) -> bytes:
    """The file with its head changed: the same object when nothing changes.

    After each splice the head is read again: the changed field reads as asked, every other field as before, and every
    byte outside the field's lines is the same. Anything else raises `EditRefused`, as does a head that is absent, faulty,
    in one `{...}` or with `? ` keys; then nothing was changed.
    """
    head, _, _ = read(data)
    if head is None:
        raise EditRefused("the page has no head to edit", f"give it one with {step('adopt')}")
    if not head.editable:
        raise _refusal(next((fault for fault in head.faults if fault.fatal), head.faults[-1]))
    parts = split(data)
    text = old = data[parts.start : parts.end].decode("utf-8")
    for change in changes:
        splice = next_step(change, head)
        while splice is not None:
            text, head = _taken(text, head, splice, parts)
            # Items go one by one, and a list may stand under two spellings; every other change is one step.
            splice = next_step(change, head) if isinstance(change, Remove | RemoveItems) else None
    if text == old:
        return data
    return _spliced_in(data, parts, text)


def add_fields(data: bytes, fields: Sequence[tuple[str, Value]], head: Head | None = None) -> bytes:
    """The file with fields that its head lacks put after its last one, all at once: cheaper than one edit a field.

    Promises and refusals are those of `edit`. `head` is the file's own, where the caller has read it already.
    """
    head = head or read(data)[0]
    if head is None or not head.editable or any(key in head.values for key, _ in fields):
        return edit(data, [Set(key, value) for key, value in fields])
    parts = split(data)
    text = data[parts.start : parts.end].decode("utf-8")
    # A head may be indented as a whole, and a key in another column would not be one of its.
    first = next((line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    indent = len(first) - len(first.lstrip(" "))
    text += "".join(field(key, value, parts.newline, indent) for key, value in fields)
    target = head.values
    for key, value in fields:
        target = expected(Set(key, value), target)
    after = read_head(text, parts.first_line)
    if not after.editable or not agree(after.values, target):
        raise EditRefused("the head cannot take another field without changing more", _BY_HAND)
    return _spliced_in(data, parts, text)


def add_head(data: bytes, fields: Sequence[tuple[str, Value]]) -> bytes:
    """A page without a head given one: after a byte order mark, before every other byte, with the page's line ends."""
    parts = split(data)
    if parts.fault is not None:
        raise _refusal(parts.fault)
    if parts.has_head:
        raise EditRefused("the page has a head already", "add the fields to it")
    mark = codecs.BOM_UTF8 if parts.bom else b""
    result = mark + render_head(fields).replace("\n", parts.newline).encode("utf-8") + data[len(mark) :]
    head, _, faults = read(result)
    if faults:
        raise _refusal(faults[0])
    target: dict[str, Raw] = {}
    for key, value in fields:
        target = expected(Set(key, value), target)
    if head is None or not agree(head.values, target):
        raise EditRefused("the new head does not read back as asked", "give other values")
    return result


def _spliced_in(data: bytes, parts: Parts, text: str) -> bytes:
    """The file with `text` for its head's; refused where its end would then be found elsewhere."""
    result = data[: parts.start] + text.encode("utf-8") + data[parts.end :]
    # A value with a line `---` in it would end the head there.
    again = split(result)
    if (again.start, again.end) != (parts.start, parts.end + len(result) - len(data)) or again.fault != parts.fault:
        raise EditRefused("the edit would move the end of the head", _BY_HAND)
    return result


def _refusal(fault: HeadFault) -> EditRefused:
    return EditRefused(f"line {fault.line}: {fault.message}", fault.hint or _BY_HAND)


def _taken(text: str, head: Head, step: Step, parts: Parts) -> tuple[str, Head]:
    # The YAML library costs 10 ms to import; the commonest edit, one that changes nothing, does without it.
    from vault_tool.files.frontmatter.splice import spliced

    line = head.lines.get(step.key, parts.first_line)
    result = spliced(text, step, parts.newline, line)
    # Read back rather than reasoned about: the promise must not hang on how clever the splice is.
    after = read_head(result, parts.first_line)
    target = expected(step, head.values)
    if not after.editable or not agree(after.values, target):
        raise EditRefused(f"line {line}: `{step.key}` cannot be changed without changing more", _BY_HAND)
    return result, after
