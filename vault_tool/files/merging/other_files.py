"""The merge of a file by its kind: notes, journals, settings, lists of lines, and files of other kinds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from vault_tool.files.frontmatter import split
from vault_tool.files.layout import GIT_FILES, MADE_PAGES, SETTINGS_FILE, FileKind, file_kind
from vault_tool.files.merging.note_merge import Merged, merge
from vault_tool.files.signal_lines import read_signals
from vault_tool.util.deferred import tomlkit

_MISSING = object()
_ENTRY = re.compile(rb"^(?=## )", re.MULTILINE)


def merge_file(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Merged | None:
    """Both sides' changes to a file of any kind, and what a rule decided; None where both texts have to be kept.

    The result is the same whichever side is named first. Of a generated page one side is it: it is made anew anyhow.
    """
    kind = file_kind(path)
    if kind is FileKind.NOTE:
        return merge(base, ours, theirs)
    if ours == theirs or base == theirs:
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    first, other = sorted((ours, theirs))
    if path in MADE_PAGES:
        return Merged(first)
    if path == SETTINGS_FILE:
        return _settings(base, first, other)
    if kind is FileKind.SIGNALS:
        return Merged(_joined(_lines(base), _lines(first), _lines(other), _signal_key))
    if kind is FileKind.EPISODE:
        return Merged(_joined(_entries(base), _entries(first), _entries(other), bytes))
    if path in GIT_FILES:
        return Merged(_joined(_lines(base), _lines(first), _lines(other), bytes))
    # A tombstone that was confirmed says more than one that was not.
    if path.startswith("vault/forgotten/"):
        return Merged(max(first, other, key=len))
    if not any(split(text).has_head for text in (first, other)):
        merged = merge(base, first, other)
        if merged is not None and not merged.left:
            return merged
    return None


def _lines(data: bytes | None) -> list[bytes]:
    return [line for line in (data or b"").splitlines(keepends=True) if line.strip()]


def _entries(data: bytes | None) -> list[bytes]:
    return _ENTRY.split(data) if data else []


def _signal_key(line: bytes) -> bytes:
    signals, _ = read_signals("", line)
    return signals[0].id.encode() if signals else line.strip()


def _joined(base: Sequence[bytes], first: Sequence[bytes], other: Sequence[bytes], key: Any) -> bytes:
    """The parts of the base that both still have, and after them those that either added, each once."""
    left = Counter(base) & Counter(first) & Counter(other)
    parts: list[bytes] = []
    for part in base:
        if left[part] > 0:
            left[part] -= 1
            parts.append(part)
    known = {key(part) for part in parts}
    before = Counter(base)
    for side in (first, other):
        own = Counter(side) - before
        for part in side:
            if own[part] > 0:
                own[part] -= 1
                if key(part) not in known:
                    known.add(key(part))
                    parts.append(part)
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)


def _settings(base: bytes | None, first: bytes, other: bytes) -> Merged | None:
    """Settings by their keys; of a key that both changed the lesser text stays, and a remark names it."""
    try:
        known, into, their = (tomlkit.parse((text or b"").decode("utf-8")) for text in (base, first, other))
    except (UnicodeDecodeError, ValueError):
        return None
    remarks: list[str] = []
    _take_over(known, into, their, remarks, "")
    return Merged(tomlkit.dumps(into).encode("utf-8"), told=tuple(remarks))


def _take_over(base: Any, into: Any, other: Any, remarks: list[str], where: str) -> None:
    """Bring into one table what another has other than the base, table by table."""
    for key in [*other, *(key for key in into if key not in other)]:
        was, ours, theirs = (table.get(key, _MISSING) for table in (base, into, other))
        if _same(ours, theirs) or _same(was, theirs):
            continue
        if all(isinstance(value, dict) for value in (ours, theirs)):
            _take_over(was if isinstance(was, dict) else {}, ours, theirs, remarks, f"{where}{key}.")
            continue
        if _same(was, ours):
            pass
        elif _MISSING in (ours, theirs):
            # Taken out by one and changed by the other: the change stays.
            if theirs is _MISSING:
                continue
        else:
            texts = sorted((_text(ours), _text(theirs)))
            remarks.append(f"{SETTINGS_FILE}: {where}{key} is {texts[0]}; the other had {texts[1]}")
            if _text(ours) == texts[0]:
                continue
        if theirs is _MISSING:
            del into[key]
        else:
            into[key] = theirs


def _same(first: Any, other: Any) -> bool:
    return first is other if _MISSING in (first, other) else bool(first == other)


def _text(value: Any) -> str:
    return str(tomlkit.item(value).as_string()) if not isinstance(value, dict) else str(dict(value))
