"""The memory as a bundle of the Open Knowledge Format 0.2: a file a concept, index.md in each folder, and log.md."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from posixpath import dirname, relpath
from typing import Any

from vault_tool.errors import NotFound, Refused
from vault_tool.features.exports.outgoing import SECRET, USERS, Leaving, Outgoing
from vault_tool.files import frontmatter, layout, writer
from vault_tool.generate.escape import inline, link_path, readable
from vault_tool.importing.bundles import HASH, INDEX, LOG, RESERVED
from vault_tool.model.snapshot import ENDS, Entry, is_trusted
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.clock import end_of, parse_time
from vault_tool.util.link_rewriting import with_links
from vault_tool.util.note_links import led_to, path_of
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, one_line
from vault_tool.vault import link_meaning, screening
from vault_tool.vault.context import Context

FORM = "okf"
VERSION = "0.2"
_ABOUT = 200
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_TOP = f"{layout.VAULT}/"


class _Concept(Struct):
    """A file of the bundle: where it stands there, its head, its text, and when it was made."""

    path: str
    fields: Mapping[str, Any]
    body: str
    at: str


def okf_files(vault: Context, since: str | None, subjects: Sequence[str]) -> tuple[dict[str, bytes], Outgoing, list[str]]:
    """The files of the bundle by their paths, what went into them and did not, and the notes that got another name."""
    out = Outgoing(vault, since, subjects, (*MEMORIES, RecordClass.SUBJECT))
    pages = {} if out.is_narrowed else dict(_pages(out))
    places, renamed = _places([*(record.entry.path for record in out.leaving), *pages])
    rewriting = _Rewriting(out, places)
    by_id = {record.entry.id: places[record.entry.path] for record in out.leaving}
    concepts = [_of_record(record, places[record.entry.path], rewriting, by_id) for record in out.leaving]
    concepts += [_of_page(path, data, places[path], rewriting) for path, data in pages.items()]
    files = {concept.path: _written(concept) for concept in concepts}
    files.update(_indexes(concepts))
    if concepts:
        files[LOG] = _log(concepts)
    if not out.is_narrowed:
        out.lost()
    out.left_out["links that lead nowhere"] += rewriting.nowhere
    return files, out, renamed


def _pages(out: Outgoing) -> Iterator[tuple[str, bytes]]:
    """The pages of the vault, conversations and those of a user left out."""
    for path in out.seen.index.catalog.of_kind("page"):
        if layout.is_around(path):
            continue
        try:
            data = writer.read(out.seen.root, path)
            text = data.decode("utf-8")
        except (NotFound, Refused, UnicodeDecodeError):
            out.left_out["not text"] += 1
            continue
        head, _, _ = frontmatter.read(data)
        values: Mapping[str, Any] = head.values if head is not None else {}
        if values.get("chat"):
            out.left_out["conversations"] += 1
        elif values.get("user"):
            out.left_out[USERS] += 1
        elif screening.masked(text) != text:
            out.left_out[SECRET] += 1
        else:
            yield path, data


def _places(paths: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Where each file stands in the bundle: as in the vault, but for names that the format keeps for itself."""
    places = {path: path.removeprefix(_TOP) for path in paths}
    taken = {place.casefold() for place in places.values()}
    renamed = []
    for path, place in sorted(places.items()):
        folder, _, name = place.rpartition("/")
        if name.casefold() not in RESERVED:
            continue
        stem, number = name[:-3], 1
        while (other := f"{folder}/{stem}-note{'' if number == 1 else f'-{number}'}.md".lstrip("/")).casefold() in taken:
            number += 1
        taken.add(other.casefold())
        places[path] = other
        renamed.append(f"{path} is {other}")
    return places, renamed


class _Rewriting:
    """The links of notes as links between the files of the bundle."""

    def __init__(self, out: Outgoing, places: Mapping[str, str]) -> None:
        self._out = out
        self._places = places
        self.nowhere = 0

    def text(self, path: str, body: str) -> str:
        """A note's text with relative links."""
        here = dirname(self._places[path])

        def to(other: str) -> str:
            return link_path(relpath(self._places[other], here or "."))

        def linked(link: str, label: str) -> str:
            entries = link_meaning.meant(self._out.seen, path, link)
            target = next((entry.path for entry in entries if entry.path in self._places), self._page(path, link))
            if target:
                return f"[{label}]({to(target)})"
            self.nowhere += 1
            return label

        def along(url: str) -> str:
            link = path_of(url)
            full = led_to(link, path, layout.VAULT) if link else ""
            return to(full) if full in self._places and (link.startswith("/") or self._is_renamed(full)) else url

        return with_links(body, linked, along)

    def _page(self, path: str, link: str) -> str:
        """The one page that a wikilink names by its path or its file's name."""
        name = link.partition("|")[0].partition("#")[0].strip().removesuffix(".md").casefold()
        ends = [other for other in self._places if f"/{other[:-3].casefold()}".endswith(f"/{name}")] if name else []
        return ends[0] if len(ends) == 1 else ""

    def _is_renamed(self, path: str) -> bool:
        return self._places[path] != path.removeprefix(_TOP)


def _of_record(record: Leaving, place: str, rewriting: _Rewriting, by_id: Mapping[str, str]) -> _Concept:
    entry, reviewed = record.entry, record.belief is not None and record.belief.reviewed
    at = entry.observed or entry.text("created")
    about = entry.text("summary") or entry.preview
    fields: dict[str, Any] = {
        "type": entry.type or str(entry.record_class), "title": entry.title, "description": one_line(about, _ABOUT),
        "tags": list(entry.own("tags")), "generated": {"by": _actor(entry), "at": at} if at else {"by": _actor(entry)},
    }  # fmt: skip
    if reviewed and record.belief is not None:
        fields["verified"] = [{"by": "human:owner", "at": record.belief.reviewed_at}]
    if record.is_over:
        fields["status"] = "deprecated"
    elif _actor(entry).partition(":")[0] != "human" and not reviewed:
        fields["status"] = "draft"
    if ends := [end for name in ENDS if (end := end_of(entry.text(name))) is not None]:
        fields["stale_after"] = (min(ends) - timedelta(seconds=1)).date().isoformat()
    resources = [{"resource": _resource(reference)} for reference in entry.texts("evidence")]
    resources += [{"resource": f"/{by_id[identity]}"} for identity in entry.texts("sources") if identity in by_id]
    body = rewriting.text(entry.path, record.text)
    # By these an import knows what comes back.
    digest = content_hash(_text(body).encode("utf-8", "replace"))
    fields |= {"sources": resources, "subjects": list(entry.subjects), "id": entry.id, HASH: digest}
    return _Concept(place, fields, body, at)


def _resource(reference: str) -> str:
    return reference.removeprefix("url:") if reference.startswith("url:") else reference


def _actor(entry: Entry) -> str:
    """The writer of a record, in the format's words."""
    if is_trusted(entry.origin):
        return "human:trusted"
    if entry.origin in ("", "owner"):
        return "human:owner"
    if entry.origin == "import":
        return "process:import"
    model = one_line(entry.text("model"), 60)
    return f"agent/{model}" if model else "agent/unknown"


def _of_page(path: str, data: bytes, place: str, rewriting: _Rewriting) -> _Concept:
    head, body, _ = frontmatter.read(data)
    usable = head is not None and head.usable
    values: dict[str, Any] = dict(head.values) if head is not None and usable else {}
    text = body if usable or head is None else data.decode("utf-8", "replace")
    kind, title = values.pop("type", ""), values.pop("title", "")
    name = place.rpartition("/")[2][:-3]
    fields = {
        "type": kind if isinstance(kind, str) and kind.strip() else "Page",
        "title": one_line(title, _ABOUT) if isinstance(title, str) and title.strip() else name,
        **values,
    }
    at = values.get("created")
    return _Concept(place, fields, rewriting.text(path, text.strip("\r\n").rstrip()), at if isinstance(at, str) else "")


def _written(concept: _Concept) -> bytes:
    lines = [f"{_key(name)}: {_value(value)}\n" for name, value in concept.fields.items() if value not in ("", None, [], {})]
    return f"---\n{''.join(lines)}---\n{_text(concept.body)}".encode("utf-8", "replace")


def _text(body: str) -> str:
    """A body as it stands below a head."""
    return f"\n{body}\n"


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(readable(name), ensure_ascii=False)


def _value(value: Any) -> str:
    """A value on one line, in the part of YAML that is JSON."""
    return json.dumps(_seen(value), ensure_ascii=False, default=str)


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, Mapping):
        return {readable(str(key)): _seen(inner) for key, inner in value.items()}
    return [_seen(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _indexes(concepts: Sequence[_Concept]) -> Iterator[tuple[str, bytes]]:
    """index.md of each folder that holds a concept, or a folder that does."""
    here: dict[str, list[_Concept]] = defaultdict(list)
    below: dict[str, set[str]] = defaultdict(set)
    counts: dict[str, int] = defaultdict(int)
    for concept in concepts:
        folder = dirname(concept.path)
        here[folder].append(concept)
        while folder:
            counts[folder] += 1
            below[dirname(folder)].add(folder)
            folder = dirname(folder)
    for folder in {"", *here, *below}:
        lines = [f'---\nokf_version: "{VERSION}"\n---\n'] if not folder else []
        if below[folder]:
            lines.append("# Folders\n")
            lines += [
                f"* [{inline(name.rpartition('/')[2], 80)}]({link_path(name.rpartition('/')[2])}/) - {counts[name]} concepts"
                for name in sorted(below[folder])
            ]
            lines.append("")
        if here[folder]:
            lines.append("# Concepts\n")
            lines += [f"* {_entry(concept, folder)}" for concept in sorted(here[folder], key=lambda each: each.path)]
            lines.append("")
        yield f"{folder}/{INDEX}".lstrip("/"), "\n".join(lines).encode("utf-8", "replace")


def _entry(concept: _Concept, folder: str) -> str:
    title = inline(str(concept.fields.get("title", "")), 120) or inline(concept.path, 120)
    about = inline(str(concept.fields.get("description", "") or ""), _ABOUT)
    return f"[{title}]({link_path(relpath(concept.path, folder or '.'))}){f' - {about}' if about else ''}"


def _log(concepts: Sequence[_Concept]) -> bytes:
    """log.md: what was made on which day, the newest first."""
    days: dict[str, list[_Concept]] = defaultdict(list)
    for concept in concepts:
        if moment := parse_time(concept.at) if concept.at else None:
            days[moment.date().isoformat()].append(concept)
    lines = ["# Directory Update Log", ""]
    for day in sorted(days, reverse=True):
        concepts_of_day = sorted(days[day], key=lambda each: each.path)
        lines += [f"## {day}", *(f"* **Creation**: {_entry(concept, '')}" for concept in concepts_of_day), ""]
    return "\n".join(lines).encode("utf-8", "replace")
