"""The text of a head as values: most heads by one regular expression, all others by the YAML parser's events."""

from __future__ import annotations

from vault_tool.files.frontmatter.simple import read_simple
from vault_tool.files.frontmatter.split import Parts, split, undecodable
from vault_tool.files.frontmatter.values import Head, HeadFault


def read(data: bytes) -> tuple[Head | None, str, tuple[HeadFault, ...]]:
    """A file's head (None: it has none), its body (line ends as they are) and its faults, which are also the head's.

    A file that is not text, or whose head never closes, gives a head without values and the fault that says so.
    """
    cut = _decoded(data)
    if isinstance(cut, HeadFault):
        return _unusable(cut, "")
    parts, text, body = cut
    if not parts.has_head:
        return None, body, ()
    if parts.fault is not None and parts.fault.fatal:
        return _unusable(parts.fault, body)
    head = _with_fault(read_head(text, parts.first_line), parts)
    return head, body, head.faults


def read_body(data: bytes) -> str:
    """The body that `read` gives, without reading the head."""
    cut = _decoded(data)
    return "" if isinstance(cut, HeadFault) else cut[2]


def _decoded(data: bytes) -> tuple[Parts, str, str] | HeadFault:
    """How a file is cut, the text of its head and its body; the fault of one that is not text."""
    parts = split(data)
    if parts.fault is not None and parts.fault.code == "not-text":
        return parts.fault
    at = parts.start
    try:
        text = data[at : parts.end].decode("utf-8")
        at = parts.body_start
        return parts, text, data[at:].decode("utf-8")
    except UnicodeDecodeError as error:
        return undecodable(error, data, at)


def _unusable(fault: HeadFault, body: str) -> tuple[Head, str, tuple[HeadFault, ...]]:
    return Head({}, {}, (fault,), editable=False), body, (fault,)


def _with_fault(head: Head, parts: Parts) -> Head:
    if parts.fault is None:
        return head
    return Head(head.values, head.lines, (parts.fault, *head.faults), head.editable)


def read_head(text: str, first_line: int = 2) -> Head:
    """Read the lines between the fences; `first_line` is the number of the first of them in the file."""
    return read_simple(text, first_line) or _read_by_events(text, first_line)


def _read_by_events(text: str, first_line: int) -> Head:
    # The YAML library costs 10 ms to import, and most heads do without it.
    from vault_tool.files.frontmatter.events import Reading

    reading = Reading(text, first_line)
    values, lines = reading.run()
    faults = tuple(reading.faults)
    return Head(values, lines, faults, editable=reading.editable and not any(fault.fatal for fault in faults))
