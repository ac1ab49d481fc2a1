"""`import cognitive-memory`: memories, edges, logs and use of a memory in that format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from vault_tool.errors import EditRefused, NotFound, UsageError
from vault_tool.features.imports import cognitive
from vault_tool.features.imports.cognitive import SourceLink, SourceState, SourceUse
from vault_tool.features.imports.copy_paths import CopyPaths
from vault_tool.features.imports.import_run import Intake, source_folder
from vault_tool.features.imports.imported import Imported
from vault_tool.files import foreign, frontmatter, layout
from vault_tool.files.additions import with_fields
from vault_tool.files.foreign import ForeignFile
from vault_tool.files.frontmatter import Change, Remove, Set, Value
from vault_tool.files.parse import parse
from vault_tool.files.placing import place
from vault_tool.files.reader import Reader
from vault_tool.files.render import render
from vault_tool.importing.notes import FROM, SOURCE_HASH, Made, with_copy_hash
from vault_tool.index.relations import declared_projects
from vault_tool.model.ids import canonical
from vault_tool.model.problems import note, warning
from vault_tool.model.records import Edge, Record, from_head
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.hints import step
from vault_tool.util.note_links import is_note
from vault_tool.util.text import body_hash, content_hash, normal_name
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.operation import Operation
from vault_tool.vault.request import looks, of_the_whole, verb

_FOLDERS = ("graph", "vault", "episodes")


@verb
@looks
@of_the_whole
def import_cognitive_memory(
    vault: Context,
    source: str | Path,
    *,
    name: str = "",
    project: str = "",
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Take in a memory with a `graph/` tree: its memories as observations, its relations and edge files as edges.

    UUIDs are kept. Both ends' tellings of a relation become one edge. `episodes/` become logs of their days, access
    counts become `use` signals, so that what had faded stays faded, and what lies in `vault/` is pinned. A second run
    takes in what is new or changed, and nothing twice.
    """
    folder = source_folder(vault, source)
    if folder.name == "graph" and not (folder / "graph").is_dir():
        folder = folder.parent
    if not (folder / "graph").is_dir():
        raise UsageError(f"{folder} has no folder `graph`", f"for other notes: {step('import_markdown', source=...)}")
    listing = foreign.survey(folder, vault.root)
    intake = Intake(vault, folder, name, dry_run=dry_run, progress=progress or vault.progress)
    with Reader(folder) as reader:
        taking = _Taking(intake, reader, listing.files, project)
        intake.batches(taking.notes, taking.memory, lambda file: file.size)
        intake.batches(taking.missing_edges(), taking.edge, lambda _: 500, "edges")
        intake.batches(taking.logs, taking.log, lambda file: file.size, "logs")
        intake.batches(taking.unknown_uses(), taking.use, lambda _: 200, "counts of use")
        warnings = list(taking.unnamed_projects(listing.files))
    others = [file.path for file in listing.files if not is_note(file.path) and file.path not in cognitive.DERIVED]
    done = intake.report(str(folder), layout.VAULT, listing.passed_over, others)
    return replace(done, warnings=(*done.warnings, *warnings))


class _Taking:
    """One memory being taken in: which of its files are what, and what was learnt of them on the way."""

    def __init__(self, intake: Intake, reader: Reader, files: Sequence[ForeignFile], project: str) -> None:
        self.intake = intake
        self.reader = reader
        self.project = project
        self.places = CopyPaths(intake.name)
        ours = [file for file in files if is_note(file.path) and file.path not in cognitive.DERIVED]
        self.logs = [file for file in ours if cognitive.episode_day(file.path)]
        notes = [file for file in ours if file.path.split("/")[0] in _FOLDERS and not cognitive.episode_day(file.path)]
        # Pinned ones first: a copy of one that lies in `graph/` too has the same id, and is then known.
        self.notes = sorted(notes, key=lambda file: (not cognitive.pinned_by_place(file.path), file.path))
        self.ignored = intake.ignored([self.places.of(file.path) for file in self.notes])
        self.state = self._state(files)
        self.relations: dict[tuple[str, str, str], SourceLink] = {}
        self.edges: set[tuple[str, str, str]] = set()
        self.titles: dict[str, str] = {}
        self.moved: dict[str, str] = {}
        self.bodies: dict[str, str] = {}
        self.ids = self._identities()

    def memory(self, op: Operation, file: ForeignFile) -> None:
        """Plan one memory, or one edge file."""
        data = self.intake.bytes_of(self.reader, file)
        if data is None:
            return
        registry = self.intake.vault.settings.types
        first = self.ids.get(file.path, "")
        copied = bool(first) and first != file.path
        if copied and self.bodies[first] == self.bodies[file.path]:
            self.intake.skip(file.path, "copy", f"it has the id and the text of {first}, which is taken instead")
            return
        target = ""

        def convert(identity: str, dated: str) -> Made:
            return self._made(file, data, identity, dated)

        head = parse(file.path, data, registry)
        # Another text under the same id is a memory of its own: nothing that was written is lost.
        identity = self.intake.derived(file.path) if copied else canonical(str(head.head.get("id") or "")) or ""
        self.ids.setdefault(identity, file.path)
        if head.readable and head.record_class is not None:
            draft = from_head(head.record_class, {**head.head, "id": identity, "created": head.head.get("created")}, head.body)
            target = place(replace(draft, **_titled(draft, head.title)), {}, lambda _: False)
            self._learn(data, identity, head.title, draft)
            self.moved[file.path] = target
        target = target or self.intake.placed(file.path, self.places.of(file.path), self.ignored)
        self.intake.note(op, file.path, data, target, file.written_at, convert)

    def missing_edges(self) -> list[SourceLink]:
        """The relations that no edge file tells, each once, whose both ends are here or in the vault."""
        missing = []
        for relation in self.relations.values():
            if relation.key in self.edges:
                continue
            lost = [end for end in (relation.start, relation.end) if not self._known(end)]
            if lost:
                message = f"a relation {relation.kind} leads to {lost[0]}, which is not here: it stays in the note's head"
                self.intake.tally.problems.append(warning("graph", 0, "dangling-relation", message, "import that memory too"))
            else:
                missing.append(relation)
        return missing

    def edge(self, op: Operation, relation: SourceLink) -> None:
        """Plan the edge of a relation."""
        label = "--".join(relation.key)
        # The file of that id may tell the same relation of another text under the same id.
        own = relation.edge_id if relation.edge_id and self.intake.entry(relation.edge_id) is None else ""
        edge = Edge(
            id=own or self.intake.derived(f"edge/{label}"), type=relation.kind, from_id=relation.start,
            from_title=self.titles.get(relation.start, ""), to_id=relation.end, to_title=self.titles.get(relation.end, ""),
            strength=relation.strength, body=relation.context, created=self.intake.vault.now(), origin="import",
        )  # fmt: skip
        if not self._edge_there(relation):
            self.intake.create(op, edge.id, render(edge), place(edge, {}, lambda _: False))

    def unnamed_projects(self, files: Sequence[ForeignFile]) -> Iterator[str]:
        """The projects that its REFLECTION.md counted by, where neither the settings nor a subject name them here."""
        page = next((file for file in files if file.path == layout.REFLECTION_FILE), None)
        data = self.intake.bytes_of(self.reader, page) if page else None
        vault = self.intake.vault
        subjects = vault.index.catalog.of_class(RecordClass.SUBJECT)
        known = {normal_name(name) for name in declared_projects(vault.settings.projects, subjects)}
        new = [name for name in cognitive.projects(data or b"") if normal_name(name) not in known]
        if new:
            naming = step("config", name="projects", value=", ".join([*vault.settings.projects, *new]))
            yield f"its REFLECTION.md counts by projects that are tags here: {naming} names them"

    def log(self, op: Operation, file: ForeignFile) -> None:
        """Plan a day's log: a file of its own beside the vault's own ones, made longer when its source is."""
        data = self.intake.bytes_of(self.reader, file)
        if data is None:
            return
        target = layout.episode_path(cognitive.episode_day(file.path), f"{layout.IMPORTED_LOG[1:]}{self.intake.name}")
        try:
            after = cognitive.episode(data, file.path, target, lambda path: self.moved.get(path, ""))
        except UnicodeDecodeError:
            self.intake.skip(file.path, "not-text", "it is not UTF-8", "save it as UTF-8")
            return
        before = self.intake.on_disk(target)
        if before == after:
            self.intake.count("unchanged")
        elif before is None and not self.intake.suspected(file.path, after):
            op.put(target, after)
            self.intake.planned("episodes")
        elif before is not None and after.startswith(before):
            op.rewrite(target, before, after)
            self.intake.planned("episodes")
        elif before is not None:
            self.intake.tally.both.append(file.path)

    def unknown_uses(self) -> list[tuple[SourceUse, int]]:
        """The uses that no earlier run has told of, of memories that are here."""
        known = [use for use in self.state.uses if self._known(use.target)]
        for fault in self.state.faults:
            self.intake.tally.problems.append(warning(layout.STATE_FILE, 0, "odd-use", fault))
        return list(cognitive.uses_since(iter(known), self._signal_sum))

    def use(self, op: Operation, use_and_rest: tuple[SourceUse, int]) -> None:
        """Plan the signal of one memory's uses."""
        use, more = use_and_rest
        identity = self.intake.derived(f"use/{use.target}/{use.count}")
        at = use.last or self._written(use.target)
        op.signal(Signal(id=identity, at=at, target=use.target, kind=SignalKind.USE, value=float(more), origin="import"))
        self.intake.planned("uses")

    def _written(self, target: str) -> str:
        """When a memory was written last, by its head."""
        entry = self.intake.entry(target)
        moments = (entry.text(name) for name in ("updated", "created")) if entry else ()
        return next((stamp(moment) for text in moments if (moment := parse_time(text))), self.intake.vault.now())

    def _signal_sum(self, target: str) -> float:
        return sum(
            signal.value
            for signal in self.intake.vault.index.catalog.signals(target)
            if signal.kind is SignalKind.USE and signal.origin == "import"
        )

    def _made(self, file: ForeignFile, data: bytes, identity: str, dated: str) -> Made:
        """A memory's bytes with where they come from; its relations are taken out where all of them are edges now."""
        registry = self.intake.vault.settings.types
        parsed = parse(file.path, data, registry)
        if not parsed.readable or parsed.record_class in (None, RecordClass.WORKSPACE, RecordClass.CONSOLIDATION):
            first = parsed.problems[0] if parsed.problems else None
            message = first.message if first else "its head has no id and type"
            problem = warning(file.path, first.line if first else 0, "not-a-memory", f"kept as a page, unchanged: {message}")
            return Made(data=data if data.strip() else None, skipped="empty", problems=(problem,))
        fields: list[tuple[str, Value]] = [("id", identity), ("origin", "import"), (FROM, f"{self.intake.name}/{file.path}")]
        fields.append((SOURCE_HASH, content_hash(data)))
        if self.project and not parsed.head.get("project"):
            fields.append(("project", self.project))
        if not parsed.head.get("created"):
            fields.append(("created", dated))
        changes: list[Change] = []
        if cognitive.pinned_by_place(file.path) or identity in self.state.pinned:
            changes.append(Set("pinned", True))
        told_relations, odd = cognitive.relations(data, identity, registry)
        if (
            told_relations
            and not odd
            and all(self._known(end) for relation in told_relations for end in (relation.start, relation.end))
        ):
            changes.append(Remove("relations"))
        try:
            return Made(data=with_copy_hash(with_fields(data, fields, changes)), identity=identity)
        except EditRefused as fault:
            problem = warning(file.path, 0, "read-only-head", f"kept as a page, unchanged: {fault.message}", fault.hint)
            return Made(data=data, problems=(problem,))

    def _learn(self, data: bytes, identity: str, title: str, draft: Record) -> None:
        """Remember what a memory is called and what it is linked to, or which link an edge file tells."""
        if isinstance(draft, Edge):
            self.edges.add((draft.type, draft.from_id, draft.to_id))
            return
        self.titles[identity] = title
        links, odd = cognitive.relations(data, identity, self.intake.vault.settings.types)
        for link in links:
            other = self.relations.get(link.key)
            outgoing = link.start == identity
            self.relations[link.key] = cognitive.merged(*((link, other) if outgoing or other is None else (other, link)))
        if odd:
            self.intake.tally.problems.append(
                note("graph", 0, "odd-relation", f"{odd} relations of `{title}` say no target or type: they stay in its head")
            )

    def _known(self, identity: str) -> bool:
        return identity in self.ids or self.intake.entry(identity) is not None

    def _edge_there(self, relation: SourceLink) -> bool:
        """Whether the vault has an edge of this type between these two."""
        pointing = self.intake.vault.index.catalog.pointing_at(relation.start, ("from_id",))
        return any((e.type, e.text("from_id"), e.text("to_id")) == relation.key for _, e in pointing)

    def _identities(self) -> dict[str, str]:
        """Two maps in one: from each file to the first file with its id, and from each id to that file."""
        first_paths: dict[str, str] = {}
        for file in self.notes:
            try:
                head, body, _ = frontmatter.read(self.reader.read(file.path, file.size))
            except (OSError, NotFound, UsageError):
                continue
            identity = canonical(str(head.values.get("id") or "")) if head is not None else None
            if identity:
                first_paths[file.path] = first_paths.setdefault(identity, file.path)
                self.bodies[file.path] = body_hash(body)
        return first_paths

    def _state(self, files: Sequence[ForeignFile]) -> SourceState:
        path = next((file for file in files if file.path == layout.STATE_FILE), None)
        data = self.intake.bytes_of(self.reader, path) if path else None
        if data is None:
            return SourceState()
        try:
            return cognitive.state(data)
        except ValueError as fault:
            self.intake.skip(layout.STATE_FILE, "unreadable", f"use is not taken over: {fault}")
            return SourceState()


def _titled(draft: Record, title: str) -> dict[str, Any]:
    return {"title": title} if hasattr(draft, "title") else {}
