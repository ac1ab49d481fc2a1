"""A memory in the cognitive-memory format (`graph/`, `episodes/`, `_state.json`) as values of a vault."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from vault_tool.files.frontmatter import Plain, Raw, read
from vault_tool.model.ids import canonical
from vault_tool.model.types import RecordClass, Registry, is_type_name
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# What such a memory computes or keeps for one machine: made anew by the vault, never copied.
DERIVED = frozenset({"CORE.md", "REFLECTION.md", "_index.json", "_state.json", "_embeddings.json", "_config.json"})

_EPISODE = re.compile(r"(?:.*/)?episodes/(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_PLACE = re.compile(r"([^,()]{1,80}) \(\d+\)")
_MOST_USES = 10**9
_LINK = re.compile(r"(\]\()([^)\]\s]+\.md)(\))")


class SourceLink(Struct, kw_only=True):
    """One link as a head tells it, turned so that it goes from `start` to `end`."""

    kind: str
    start: str
    end: str
    strength: float | None = None
    context: str = ""
    edge_id: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of a link: two tellings with the same key are one link."""
        return self.kind, self.start, self.end


class SourceUse(Struct):
    """How often a memory was used, and when last; `last` is empty where that is not said."""

    target: str
    count: int
    last: str


class SourceState(Struct):
    """The content of a `_state.json`: uses, pinned ids, and the faults of what cannot be used."""

    uses: tuple[SourceUse, ...] = ()
    pinned: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()


def relations(data: bytes, identity: str, registry: Registry) -> tuple[list[SourceLink], int]:
    """The `relations:` of a head, and how many of its items say none."""
    head, _, _ = read(data)
    raw = head.values.get("relations") if head is not None else None
    items = raw if isinstance(raw, list) else []
    links = [link for relation in items if isinstance(relation, dict) and (link := _relation(relation, identity, registry))]
    return links, len(items) - len(links)


def merged(first: SourceLink, other: SourceLink | None) -> SourceLink:
    """Both ends' tellings of one link as one: what the first lacks is taken from the other, and no context is lost."""
    if other is None:
        return first
    contexts = dict.fromkeys(text for text in (first.context, other.context) if text)
    return SourceLink(
        kind=first.kind, start=first.start, end=first.end,
        strength=first.strength if first.strength is not None else other.strength,
        context="\n\n".join(contexts), edge_id=first.edge_id or other.edge_id,
    )  # fmt: skip


def episode_day(path: str) -> str:
    """The day of an episode file of that format; empty for any other file."""
    match = _EPISODE.fullmatch(path)
    return match[1] if match else ""


def episode(data: bytes, old: str, new: str, moved: Callable[[str], str]) -> bytes:
    """A day's log with its links to memories leading to where they are now; every other byte is kept.

    `old` and `new` are the paths of the log in its folder and in the vault; `moved` maps a memory's old path to its new
    one, or to nothing.
    """

    def relinked(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(old), unquote(match[2])))
        place = moved(target)
        return f"{match[1]}{posixpath.relpath(place, posixpath.dirname(new))}{match[3]}" if place else match[0]

    return _LINK.sub(relinked, data.decode("utf-8")).encode("utf-8")


def state(data: bytes) -> SourceState:
    """Read a `_state.json`; ValueError for any other file."""
    stored = read_own(data)
    if not isinstance(stored, dict):
        raise ValueError("it is no JSON object")
    entries = stored.get("entries")
    rows = entries.items() if isinstance(entries, dict) else ()
    listed = stored.get("pinned")
    pinned = [identity for pin in (listed if isinstance(listed, list) else ()) if (identity := canonical(str(pin)))]
    pinned += [identity for key, row in rows if _pinned(row) and (identity := canonical(str(key)))]
    uses: list[SourceUse] = []
    faults: list[str] = []
    for key, row in rows:
        _use(str(key), row, uses, faults)
    return SourceState(tuple(uses), frozenset(pinned), tuple(faults))


def projects(data: bytes) -> list[str]:
    """The projects that a REFLECTION.md counts tags in."""
    text = data.decode("utf-8", "replace")
    places = (line.split(": appears in ", 1)[1] for line in text.splitlines() if ": appears in " in line)
    return list(dict.fromkeys(name.strip() for place in places for name in _PLACE.findall(place)))


def _relation(relation: Mapping[str, Raw], identity: str, registry: Registry) -> SourceLink | None:
    target = canonical(str(relation.get("target") or ""))
    kind = str(relation.get("type") or "").upper().replace("-", "_")
    if target is None or not is_type_name(kind) or registry.spec(kind).record_class is not RecordClass.EDGE:
        return None
    incoming = str(relation.get("direction") or "").lower() == "incoming"
    return SourceLink(
        kind=kind, start=target if incoming else identity, end=identity if incoming else target,
        strength=_unit(relation.get("strength")), context=_plain_text(relation.get("context")),
        edge_id=canonical(str(relation.get("edge_id") or "")) or "",
    )  # fmt: skip


def _plain_text(raw: Raw) -> str:
    return str(raw).strip() if isinstance(raw, str) and not (isinstance(raw, Plain) and raw in ("null", "~")) else ""


def _unit(raw: Raw) -> float | None:
    try:
        number = float(str(raw))
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 else None


def _use(key: str, row: object, uses: list[SourceUse], faults: list[str]) -> None:
    """Take up the use of one memory; what is no count, or no time, is told. A count without a time is kept."""
    shown, identity = one_line(key, 40), canonical(key)
    if not isinstance(row, dict) or identity is None:
        faults.append(f"the entry `{shown}` is {'no object' if identity else 'of no id'}, and is left out")
        return
    access_count, when = row.get("access_count"), row.get("last_accessed")
    count = _count(access_count)
    if count is None:
        faults.append(f"access_count of {shown} is no count ({one_line(repr(access_count), 40)}): its use is left out")
        return
    last = parse_time(str(when or ""))
    if count and last is None:
        fault = f"is no time ({one_line(repr(when), 40)})"
        faults.append(f"last_accessed of {shown} {fault}: its {count} uses are kept, as of when the memory was written")
    if count:
        uses.append(SourceUse(identity, count, stamp(last) if last else ""))


def _count(value: object) -> int | None:
    """A count, also one written as text or with a point; None for what is none."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < len(str(_MOST_USES)):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= _MOST_USES else 0 if value is None else None  # type: ignore[operator, return-value]


def _pinned(row: object) -> bool:
    return isinstance(row, dict) and row.get("pinned") is True


def pinned_by_place(path: str) -> bool:
    """Whether a memory lies in the folder of those that never fade."""
    return path.startswith("vault/")


def uses_since(uses: Iterator[SourceUse], known: Callable[[str], float]) -> Iterator[tuple[SourceUse, int]]:
    """The uses with how many of them are not known yet."""
    for use in uses:
        more = use.count - int(known(use.target))
        if more > 0:
            yield use, more
