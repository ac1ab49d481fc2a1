"""Lines of ours put into the head of another person's page, with whatever stood under their names kept beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import Change, Head, Plain, Raw, Set, Value, lists

_NULLS = lists.NULLS


def with_fields(
    data: bytes, fields: Sequence[tuple[str, Value]], changes: Sequence[Change] = (), head: Head | None = None
) -> bytes:
    """The page with `fields` in its head, which is made if there is none; then `changes`.

    What the head has under one of the names and says something else is kept as `source_<name>`. Every other byte stays
    as it is. Raises EditRefused for a head that cannot be edited. `head` is the page's own, where the caller has read it.
    """
    head = head or frontmatter.read(data)[0]
    if head is None:
        return frontmatter.edit(frontmatter.add_head(data, fields), changes)
    steps: list[Change] = []
    added: list[tuple[str, Value]] = []
    for key, value in fields:
        if key not in head.values:
            added.append((key, value))
            continue
        old = head.values[key]
        if says(old) and str(old) != str(value):
            added.append((_free(f"source_{key}", head.values), _value(old)))
        steps.append(Set(key, value))
    if not steps and not changes:
        return frontmatter.add_fields(data, added, head)
    return frontmatter.add_fields(frontmatter.edit(data, [*steps, *changes]), added)


def says(raw: Raw) -> bool:
    """Whether a head's value is anything but empty or null."""
    return raw is not None and raw != "" and not (isinstance(raw, Plain) and raw in _NULLS)


def _free(key: str, values: Mapping[str, Raw]) -> str:
    while key in values:
        key = f"source_{key}"
    return key


def _value(raw: Raw) -> Value:
    """A value to be written as it was: a plain whole number stays one, all else is text, a list or a map."""
    if isinstance(raw, Plain) and raw.isascii() and raw.isdigit() and str(int(raw[:15])) == raw:
        return int(raw)
    return raw
