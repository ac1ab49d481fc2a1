"""Candidates that a caller extracted from a turn: checked whole, and put into the one form that the queue keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vault_tool.errors import UsageError
from vault_tool.model.types import RecordClass, Registry, is_type_name
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault.leniency import listed

# The type of a candidate that names none.
BEAT = "relationship_beat"

LOCATION = "location"

# The fields of a candidate; `anchors` are names, or objects with `name` and perhaps `key` and `role`.
FIELDS = (
    "content", "title", "kind", "anchors", "location", "thread", "tags", "importance", "confidence", "rationale", "evidence",
)  # fmt: skip

_TEXTS = ("title", "thread", "rationale")
_LISTS = ("tags", "evidence")
_SHARES = ("importance", "confidence")


def checked(candidates: Sequence[Mapping[str, Any]], types: Registry) -> tuple[dict[str, Any], ...]:
    """The candidates in their one form; UsageError names every fault of every candidate at once."""
    if isinstance(candidates, Mapping):
        raise UsageError("the candidates are a list, and an object was given", 'write them like [{"content": "..."}]')
    faults = [f"candidates[{n}]{fault}" for n, candidate in enumerate(candidates) for fault in _faults(candidate, types)]
    if faults:
        raise UsageError("; ".join(faults), f"a candidate has `content` and may have {', '.join(FIELDS[1:])}")
    return tuple(_normal(candidate) for candidate in candidates)


def _faults(candidate: object, types: Registry) -> Iterator[str]:
    if not isinstance(candidate, Mapping):
        yield " is not an object"
        return
    yield from (f" has an unknown field `{one_line(str(key), 40)}`" for key in candidate if key not in FIELDS)
    content = candidate.get("content")
    if not isinstance(content, str) or not content.strip():
        yield ".content is missing or empty"
    kind = candidate.get("kind") or BEAT
    if not isinstance(kind, str) or not is_type_name(kind):
        yield ".kind is no type"
    elif types.spec(kind).record_class is not RecordClass.OBSERVATION:
        yield f".kind `{kind}` is no type of observation"
    yield from (f".{name} is no text" for name in _TEXTS if not isinstance(candidate.get(name) or "", str))
    for name in _LISTS:
        value = candidate.get(name) or []
        if not isinstance(value, Sequence) or not all(isinstance(text, str) for text in value):
            yield f".{name} is no list of texts"
    yield from (
        f".{name} is not from 0 to 1" for name in _SHARES if candidate.get(name) is not None and not _is_share(candidate[name])
    )
    anchors = candidate.get("anchors") or []
    if isinstance(anchors, (str, Mapping)) or not isinstance(anchors, Sequence):
        yield ".anchors is no list"
    else:
        yield from (f".anchors[{n}] has no name" for n, anchor in enumerate(anchors) if not _named(anchor))
    if candidate.get("location") and not _named(candidate["location"]):
        yield ".location has no name"


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _named(anchor: object) -> str:
    """The name of an anchor, empty where it has none."""
    name = anchor.get("name") or anchor.get("key") if isinstance(anchor, Mapping) else anchor
    return one_line(name) if isinstance(name, str) and normal_name(name) else ""


def _normal(candidate: Mapping[str, Any]) -> dict[str, Any]:
    anchors = [_anchor(anchor) for anchor in candidate.get("anchors") or []]
    if candidate.get("location"):
        anchors.append({**_anchor(candidate["location"]), "role": LOCATION})
    texts = {name: one_line(str(candidate.get(name) or "")) for name in _TEXTS}
    lists = {name: [one_line(text) for text in listed(name, candidate.get(name) or ()) if one_line(text)] for name in _LISTS}
    shares = {name: None if candidate.get(name) is None else float(candidate[name]) for name in _SHARES}
    return {
        "content": str(candidate["content"]),
        "kind": str(candidate.get("kind") or BEAT),
        "anchors": anchors,
        **texts,
        **lists,
        **shares,
    }


def _anchor(anchor: Any) -> dict[str, str]:
    fields = anchor if isinstance(anchor, Mapping) else {}
    return {"name": _named(anchor), **{name: one_line(str(fields.get(name) or "")) for name in ("key", "role")}}
