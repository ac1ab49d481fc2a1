"""The merge of two commits, file by file: a memory is matched by its id, wherever its file is, any other file by its path.

It works on values alone: it reads from no work tree and writes nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import EditRefused
from vault_tool.files import frontmatter
from vault_tool.files.conflict_copies import originals, says_so
from vault_tool.files.git.survey import TreeEntry
from vault_tool.files.layout import MADE_PAGES, FileKind, conflict_name, file_kind, name_key
from vault_tool.files.merging.note_merge import Merged, merge
from vault_tool.files.merging.other_files import merge_file
from vault_tool.files.parse import parse
from vault_tool.model.types import RecordClass, Registry
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, normal_name

# The characters of an id in the name of a file that got another name because of a clash.
_SHOWN_ID = 6
_REGISTRY = Registry()
_ID = re.compile(rb"^id:[ \t]*(\S+)", re.MULTILINE)
# The bytes at the beginning of a note that are searched for its id.
_HEAD = 4096


Tree = Mapping[str, TreeEntry]


class Note(Struct):
    """The fields of a note's head that a merge needs: its id (empty for a page), its type, and the name of a subject."""

    id: str = ""
    type: str = ""
    name: str = ""
    is_edge: bool = False
    ends: tuple[str, str, str] = ("", "", "")
    created: str = ""
    aliases: tuple[str, ...] = ()


class Place(Struct):
    """A file of one side: its path and its blob."""

    path: str
    blob: TreeEntry


class Unit(Struct):
    """One memory, or one other file, with its places in the base and on the two sides."""

    key: str
    base: Place | None = None
    ours: Place | None = None
    theirs: Place | None = None

    @property
    def is_note(self) -> bool:
        return not self.key.startswith("path:")


class Result(Struct):
    """The file that a unit becomes: its path, and `data` if the content is neither side's own."""

    key: str
    path: str
    mode: str = "100644"
    oid: str = ""
    data: bytes | None = None
    is_copy: bool = False


class Outcome(msgspec.Struct):
    """The result of a merge. `tree` has every path that either side touched, with the file there, or None.

    `merged` are the ids of notes merged by fields, `left` those that keep both texts, and `stayed` the paths of files that one
    side deleted but that stay.
    """

    tree: dict[str, Result | None] = field(default_factory=dict)
    merged: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    stayed: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    folded: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    pages: bool = False


class Sides(Struct):
    """The trees of the base and both sides, with every path that either side touched, and the function that reads a blob."""

    base: Tree
    ours: Tree
    theirs: Tree
    read: Callable[[str], bytes]
    moment: str
    others: Collection[str] = ()
    """The paths of files that neither side touched: no result may have one of their names."""


def merge_trees(
    sides: Sides, *, dropped: Collection[str] = (), stays: Callable[[Unit, Note], bool] = lambda unit, note: False
) -> Outcome:
    """Merge both sides' changes to the files that either touched; no conflict is left, and no text of either side is lost.

    Records with an id in `dropped`, and links to them, are left out of the result. `stays` decides whether a memory stays that
    only their side deleted.
    """
    return _Merging(sides, dropped, stays).outcome()


def note_of(path: str, data: bytes) -> Note:
    """The head of a note's file; an empty one for any other kind of file."""
    if file_kind(path) is not FileKind.NOTE:
        return Note()
    parsed = parse(path, data, _REGISTRY)
    head = parsed.head
    identity = str(head.get("id") or "")
    if not identity:
        return Note()
    subject = parsed.record_class is RecordClass.SUBJECT
    aliases = head.get("aliases")
    return Note(
        identity,
        str(head.get("type") or ""),
        normal_name(str(head.get("name") or "")) if subject else "",
        parsed.record_class is RecordClass.EDGE,
        (str(head.get("from_id") or ""), str(head.get("type") or ""), str(head.get("to_id") or "")),
        str(head.get("created") or ""),
        tuple(normal_name(str(name)) for name in aliases) if isinstance(aliases, list) else (),
    )


class _Merging:
    def __init__(self, sides: Sides, dropped: Collection[str], stays: Callable[[Unit, Note], bool]) -> None:
        self._sides = sides
        self._dropped = dropped
        self._stays = stays
        self._notes: dict[tuple[str, str], Note] = {}
        self._texts: dict[str, bytes] = {}
        self._copies: dict[str, tuple[str, str]] = {}
        self.out = Outcome()

    def outcome(self) -> Outcome:
        units = list(self._units())
        results: list[Result] = []
        for unit in self._with_subjects_of_one_name(self._joined_subjects(units)):
            results.extend(self._resolved(unit))
        results = list(self._without_dropped(self._folded(results, units)))
        self._place(self._with_copies_beside_their_notes(results))
        return self.out

    # Reading the sides.

    def _text(self, blob: TreeEntry) -> bytes:
        if blob.oid not in self._texts:
            self._texts[blob.oid] = self._sides.read(blob.oid)
        return self._texts[blob.oid]

    def _note(self, path: str, blob: TreeEntry | None) -> Note:
        if blob is None or file_kind(path) is not FileKind.NOTE:
            return Note()
        if (path, blob.oid) not in self._notes:
            self._notes[path, blob.oid] = note_of(path, self._text(blob))
        return self._notes[path, blob.oid]

    def _stands_still(self, path: str, trees: Collection[Tree]) -> bool:
        """Whether a file has one id on all sides, by a search in its first lines, without parsing."""
        if not all(path in tree for tree in trees):
            return False
        ids = {match[1] if (match := _ID.search(self._text(tree[path]), 0, _HEAD)) else b"" for tree in trees}
        return len(ids) == 1

    def _units(self) -> Iterator[Unit]:
        trees = (self._sides.base, self._sides.ours, self._sides.theirs)
        every = sorted({*trees[0], *trees[1], *trees[2]})
        still = {path for path in every if self._stands_still(path, trees)}
        paths = [path for path in every if path not in still]
        ids: list[dict[str, list[str]]] = [defaultdict(list) for _ in trees]
        keys: list[dict[str, str]] = [{} for _ in trees]
        for path in paths:
            for number, tree in enumerate(trees):
                if identity := self._note(path, tree.get(path)).id:
                    ids[number][identity].append(path)
                    keys[number][path] = identity
        self._copies = _copies(ids)
        for number in range(len(trees)):
            for path in self._copies.keys() & keys[number].keys():
                ids[number][keys[number].pop(path)].remove(path)
        doubled = {identity for by_id in ids for identity, places in by_id.items() if len(places) > 1}
        for number, tree in enumerate(trees):
            for path, identity in list(keys[number].items()):
                if identity in doubled:
                    del keys[number][path]
            # A file whose head cannot be read, or a page that one side adopted, gets the id that its path has on another side.
            for path in tree:
                if path in still or path in self._copies or path in keys[number] or file_kind(path) is not FileKind.NOTE:
                    continue
                for other in keys:
                    identity = other.get(path, "")
                    if identity and not ids[number].get(identity):
                        keys[number][path] = identity
                        ids[number][identity].append(path)
                        break
        moves = [self._moved(number) for number in (1, 2)]
        units: dict[str, dict[str, Place]] = defaultdict(dict)
        for number, (name, tree) in enumerate(zip(("base", "ours", "theirs"), trees, strict=True)):
            for path, blob in tree.items():
                was = moves[number - 1].get(path, path) if number else path
                units[keys[number].get(path) or f"path:{was}"][name] = Place(path, blob)
        for key in sorted(units):
            yield Unit(key, **units[key])

    def _moved(self, number: int) -> dict[str, str]:
        """Files without an id that one side moved unchanged: the new path of each, with the old one."""
        tree = (self._sides.base, self._sides.ours, self._sides.theirs)[number]
        base = self._sides.base
        gone: dict[str, list[str]] = defaultdict(list)
        for path, blob in base.items():
            if path not in tree and not self._note(path, blob).id:
                gone[blob.oid].append(path)
        come: dict[str, list[str]] = defaultdict(list)
        for path, blob in tree.items():
            if path not in base and blob.oid in gone:
                come[blob.oid].append(path)
        return {paths[0]: gone[oid][0] for oid, paths in come.items() if len(paths) == len(gone[oid]) == 1}

    # Merging a unit.

    def _resolved(self, unit: Unit) -> Iterator[Result]:
        base, ours, theirs = unit.base, unit.ours, unit.theirs
        if ours is None and theirs is None:
            return
        if ours is None or theirs is None:
            yield from self._of_one(unit)
            return
        path = _path(base, ours, theirs)
        mode = _picked(base.blob.mode if base else None, ours.blob.mode, theirs.blob.mode)
        if ours.blob.oid == theirs.blob.oid or (base and base.blob.oid == theirs.blob.oid):
            yield Result(unit.key, path, mode, ours.blob.oid)
        elif base and base.blob.oid == ours.blob.oid:
            yield Result(unit.key, path, mode, theirs.blob.oid)
        else:
            texts = [self._text(place.blob) if place else None for place in (base, ours, theirs)]
            yield from self._merged(unit.key, path, mode, texts[0], texts[1] or b"", texts[2] or b"")

    def _of_one(self, unit: Unit) -> Iterator[Result]:
        """The file of a unit that only one side has: it is new, or the other side deleted it."""
        place = unit.ours or unit.theirs
        assert place is not None
        remaining = Result(unit.key, place.path, place.blob.mode, place.blob.oid)
        if unit.base is None:
            yield remaining
            return
        changed = unit.base.blob.oid != place.blob.oid and place.path not in MADE_PAGES
        if changed or (unit.theirs is None and self._stays(unit, self._note(place.path, place.blob))):
            self.out.stayed.append(place.path)
            yield remaining

    def _merged(self, key: str, path: str, mode: str, base: bytes | None, ours: bytes, theirs: bytes) -> Iterator[Result]:
        if path in MADE_PAGES:
            self.out.pages = True
        merged = merge_file(path, base, ours, theirs)
        if merged is not None:
            self._noted(key, path, merged)
            yield Result(key, path, mode, data=merged.data)
            return
        # Two texts that cannot be merged: the lesser one keeps the name, the other becomes a copy beside it, to be settled.
        first, second = sorted((ours, theirs))
        yield Result(key, path, mode, data=first)
        yield Result(f"{key} copy", _beside(path, self._sides.moment, second), mode, data=second, is_copy=True)
        named = key if not key.startswith("path:") else note_of(path, first).id or path
        self.out.left[named] = self.out.left.get(named, 0) + 1

    def _noted(self, key: str, path: str, merged: Merged) -> None:
        if file_kind(path) is FileKind.NOTE:
            key = note_of(path, merged.data).id or path
            self.out.merged.append(key)
        self.out.remarks += [f"{path}: {line}" if not line.startswith(path) else line for line in merged.told]
        if merged.left:
            self.out.left[key] = len(merged.left)

    # Subjects.

    def _joined_subjects(self, units: list[Unit]) -> list[Unit]:
        """The units, with one side's changes to a subject applied to the subject that the other side merged it into."""
        names: dict[str, dict[str, Unit]] = {}
        joined: dict[str, Unit] = {}
        gone: set[str] = set()
        for unit in units:
            if unit.base is None or (unit.ours is None) == (unit.theirs is None):
                continue
            side, other = ("theirs", "ours") if unit.ours is None else ("ours", "theirs")
            place = unit.theirs if unit.ours is None else unit.ours
            assert place is not None
            note = self._note(unit.base.path, unit.base.blob)
            if not note.name or place.blob.oid == unit.base.blob.oid:
                continue
            # On the side that merged them, the subject that stays has the other one's name as an alias.
            if other not in names:
                # This reads all subjects, so it is done only if a subject is gone, which is rare.
                names[other] = self._names(other, units)
            target = names[other].get(note.name)
            if target is None or target.key == unit.key:
                continue
            target = joined.get(target.key, target)
            data = self._told_of_the_one_that_stays(unit.base, place, target, other)
            if data is not None:
                joined[target.key] = replace(target, theirs=data) if side == "theirs" else replace(target, ours=data)
                gone.add(unit.key)
        return [joined.get(unit.key, unit) for unit in units if unit.key not in gone]

    def _names(self, side: str, units: Iterable[Unit]) -> dict[str, Unit]:
        names: dict[str, Unit] = {}
        for unit in units:
            place: Place | None = getattr(unit, side)
            if place is not None:
                names |= dict.fromkeys(self._note(place.path, place.blob).aliases, unit)
        return names

    def _told_of_the_one_that_stays(self, base: Place, changed: Place, target: Unit, merger: str) -> Place | None:
        """The subject that stays, on the other side, with that side's changes to the subject that went applied to it."""
        stays: Place | None = getattr(target, merger)
        side = target.theirs if merger == "ours" else target.ours
        if stays is None or side is None:
            return None
        own = self._note(stays.path, stays.blob)
        try:
            as_base, as_changed = (self._renamed(self._text(place.blob), own, self._text(side.blob)) for place in (base, changed))
        except EditRefused:
            return None
        merged = merge(as_base, as_changed, self._text(side.blob))
        if merged is None:
            return None
        oid = f"made:{len(self._texts)}"
        self._texts[oid] = merged.data
        return Place(side.path, TreeEntry(side.blob.mode, oid))

    def _renamed(self, data: bytes, note: Note, like: bytes) -> bytes:
        head, _, _ = frontmatter.read(like)
        name = str(head.values.get("name")) if head is not None else note.name
        return frontmatter.edit(data, [frontmatter.Set("id", note.id), frontmatter.Set("name", name)])

    def _with_subjects_of_one_name(self, units: list[Unit]) -> list[Unit]:
        """The units, with two new subjects of one name, one from each side, joined into one unit."""
        by_name: dict[str, dict[str, Unit]] = defaultdict(dict)
        for unit in units:
            place = unit.ours or unit.theirs
            if unit.base is None and place is not None and (unit.ours is None) != (unit.theirs is None):
                name = self._note(place.path, place.blob).name
                if name:
                    by_name[name].setdefault("ours" if unit.ours else "theirs", unit)
        pairs = {pair["theirs"].key: pair["ours"] for pair in by_name.values() if len(pair) == 2}
        partners = {ours.key: theirs for theirs, ours in pairs.items()}
        by_key = {unit.key: unit for unit in units}
        return [
            replace(unit, theirs=by_key[partners[unit.key]].theirs) if unit.key in partners else unit
            for unit in units
            if unit.key not in pairs
        ]

    # Links.

    def _folded(self, results: list[Result], units: Iterable[Unit]) -> list[Result]:
        """The results, with two new links of one type between the same records, one from each side, folded into the older."""
        new_units = {unit.key: unit for unit in units if unit.base is None and (unit.ours is None) != (unit.theirs is None)}
        links: dict[tuple[str, str, str], list[tuple[Result, Note]]] = defaultdict(list)
        for result in results:
            unit = new_units.get(result.key)
            place = (unit.ours or unit.theirs) if unit else None
            note = self._note(place.path, place.blob) if place else Note()
            if note.is_edge:
                links[note.ends].append((result, note))
        instead: dict[str, Result | None] = {}
        for alike in links.values():
            older, *newer = sorted(alike, key=lambda link: (link[1].created, link[1].id))
            data = self._data(older[0])
            for result, note in newer:
                link = one_link(data, self._data(result), older[1].id)
                if link is not None:
                    data, instead[result.key] = link, None
                    self.out.folded.append(note.id)
            if newer:
                instead[older[0].key] = replace(older[0], oid="", data=data)
        return [
            each for result in results if (each := instead.get(result.key, result) if not result.is_copy else result) is not None
        ]

    def _data(self, result: Result) -> bytes:
        return result.data if result.data is not None else self._text(TreeEntry(result.mode, result.oid))

    # Dropped records.

    def _without_dropped(self, results: Iterable[Result]) -> Iterator[Result]:
        if not self._dropped:
            yield from results
            return
        for result in results:
            if file_kind(result.path) in (FileKind.NOTE, FileKind.CONFLICT):
                note = note_of(result.path.replace(".conflict-", "-"), self._data(result))
                named = (note.id, note.ends[0], note.ends[2]) if note.is_edge else (note.id,)
                if any(identity in self._dropped for identity in named):
                    self.out.gone.append(result.path)
                    self._unlist(note.id)
                    continue
            yield result

    def _unlist(self, key: str) -> None:
        self.out.left.pop(key, None)
        self.out.merged[:] = [merged for merged in self.out.merged if merged != key]

    # Choosing the paths.

    def _with_copies_beside_their_notes(self, results: list[Result]) -> list[Result]:
        """The results, with copies of a moved note moved along, because only its name says of which note a file is a copy."""
        places = {result.key: result.path for result in results}
        taken = set(places.values())
        beside: list[Result] = []
        for result in results:
            identity, original = self._copies.get(result.path, ("", ""))
            target = places.get(identity, original)
            if original and target != original and original not in taken:
                result = replace(result, path=target.removesuffix(".md") + result.path.removeprefix(original.removesuffix(".md")))
            beside.append(result)
        return beside

    def _place(self, results: list[Result]) -> None:
        touched = {*self._sides.base, *self._sides.ours, *self._sides.theirs}
        taken = {name_key(path) for path in self._sides.others if path not in touched}
        self.out.tree = dict.fromkeys(sorted(touched))
        self.out.stayed[:] = [path for path in self.out.stayed if path not in self.out.gone]
        # A file without an id keeps its path; of two memories, the one with the lesser id keeps it.
        for result in sorted(results, key=lambda result: (result.is_copy, not result.key.startswith("path:"), result.key)):
            path = result.path
            number = 1
            while name_key(path) in taken:
                path = _other_name(result, number)
                number += 1
            taken.add(name_key(path))
            self.out.tree[path] = replace(result, path=path)
            if result.is_copy:
                self.out.copies.append(path)


def _copies(ids: Iterable[Mapping[str, Collection[str]]]) -> dict[str, tuple[str, str]]:
    """The files that are copies of a memory by their names and its id, each with that id and the path of its original.

    A copy is matched by its path, so that its memory can be matched by its id. The original is empty if no side has it.
    """
    paths: dict[str, set[str]] = defaultdict(set)
    for by_id in ids:
        for identity, places in by_id.items():
            paths[identity].update(places)
    copies: dict[str, tuple[str, str]] = {}
    for identity, together in paths.items():
        named = {path: next((note for note, _ in originals(path) if note in together), "") for path in together}
        of_note = {path: (identity, note) for path, note in named.items() if note or says_so(path)}
        if len(of_note) < len(together):
            copies |= of_note
    return copies


def one_link(older: bytes, newer: bytes, identity: str) -> bytes | None:
    """Merge two links into one that keeps the texts of both; None if their heads cannot be merged."""
    try:
        newer = frontmatter.edit(newer, [frontmatter.Set("id", identity)])
    except EditRefused:
        return None
    bodies = []
    for data in (older, newer):
        parts = frontmatter.split(data)
        bodies.append(data[parts.body_start :].strip())
    parts = frontmatter.split(newer)
    merged = merge(None, older, newer[: parts.body_start] + older[frontmatter.split(older).body_start :])
    if merged is None:
        return None
    if bodies[1] in bodies[0]:
        return merged.data
    return merged.data.rstrip() + b"\n\n" + bodies[1] + b"\n"


def _path(base: Place | None, ours: Place, theirs: Place) -> str:
    """The path of a merged file: the path on the side that moved it, or the lesser path if both sides did."""
    return _picked(base.path if base else None, ours.path, theirs.path)


def _picked(base: str | None, ours: str, theirs: str) -> str:
    if ours == theirs or base == theirs:
        return ours
    return theirs if base == ours else min(ours, theirs)


def _beside(path: str, moment: str, data: bytes) -> str:
    folder, _, name = path.rpartition("/")
    if name.lower().endswith(".md"):
        return f"{folder}/{conflict_name(name, moment, 'sync')}".lstrip("/")
    stem, dot, end = name.rpartition(".")
    return f"{folder}/{stem or end}-{content_hash(data)[:6]}{dot if stem else ''}{end if stem else ''}".lstrip("/")


def _other_name(result: Result, number: int) -> str:
    folder, _, name = result.path.rpartition("/")
    stem, dot, end = name.rpartition(".")
    stem, end = (stem, f"{dot}{end}") if stem else (name, "")
    mark = content_hash(result.data or result.oid.encode())[:6] if result.key.startswith("path:") else result.key[:_SHOWN_ID]
    again = f"-{number}" if number > 1 else ""
    return f"{folder}/{stem}-{mark}{again}{end}".lstrip("/")
