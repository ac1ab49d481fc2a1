"""`import`: take in a folder of notes, or a memory in the cognitive-memory format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from vault_tool.errors import GitError, Refused, UsageError
from vault_tool.features.imports.copy_paths import CopyPaths
from vault_tool.features.imports.import_run import Intake, source_folder
from vault_tool.features.imports.imported import Imported
from vault_tool.files import foreign, git, layout
from vault_tool.files.foreign import ForeignFile
from vault_tool.files.frontmatter import read
from vault_tool.files.reader import Reader
from vault_tool.importing import bundles, forms
from vault_tool.importing.notes import ImportOptions, Made, record_from_note
from vault_tool.model.ids import canonical, new_id
from vault_tool.model.types import RecordClass, is_type_name
from vault_tool.util.hints import option, shell
from vault_tool.util.note_links import is_note
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.operation import Operation
from vault_tool.vault.parameters import require_no_slip
from vault_tool.vault.request import looks, of_the_whole, verb


@verb
@looks
@of_the_whole
def import_markdown(
    vault: Context,
    source: str | Path,
    *,
    name: str = "",
    in_place: bool = False,
    type: str = "general",
    subject_names: Sequence[str] = (),
    project: str = "",
    folder_tags: bool = True,
    attachments: bool = False,
    prune: bool = False,
    dry_run: bool = False,
    new_type: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Copy the notes of a folder to `vault/imported/<name>/` (by default the folder's own name) and make records of them.

    Only lines in heads are added. A second run takes in what is new or changed, and nothing twice. With `in_place` the
    folder is one below `vault/`, and its pages become records where they are. `type` is for notes that have none that the
    vault knows (one that is new and nearly called like another needs `new_type`); `attachments` copies the other files too.
    A note that was renamed takes its copy along; one that is gone is reported, and with `prune` its copy is removed by a
    commit. Interrupted, whole notes are left and a second run does the rest.
    """
    folder = source_folder(vault, source, in_place=in_place)
    _check_type(vault, type, new_type)
    listing = foreign.survey(folder, vault.root)
    present = None if in_place else _still_there(folder, listing)
    intake = Intake(vault, folder, name, dry_run=dry_run, progress=progress or vault.progress, exists=present)
    asked = ImportOptions(type=type, subjects=tuple(map(one_line, subject_names)), project=project, folder_tags=folder_tags)
    with Reader(folder) as reader:
        files = _without_ignored(intake, folder, listing)
        others = [file for file in files if not is_note(file.path)]
        notes = _without_forms(intake, reader, [file for file in files if is_note(file.path)])
        if in_place:
            take = _Adoption(intake, reader, folder.relative_to(vault.root).as_posix(), asked).take
            target = folder.relative_to(vault.root).as_posix()
        else:
            places = CopyPaths(intake.name)
            target = places.root
            take = _Copying(intake, reader, places, notes, asked).take
            if attachments:
                others = _copied(intake, reader, places, others)
        intake.batches(notes, take, lambda file: file.size)
        if prune:
            _require_some(notes, folder)
            intake.prune()
    return intake.report(str(folder), target, listing.passed_over, [file.path for file in others])


def _still_there(folder: Path, listing: foreign.Listing) -> Callable[[str], bool]:
    """Whether a note is in the folder, taken in or not; in a folder that could not be looked into all still are."""
    present = {file.path for file in listing.files}
    closed = tuple(
        "" if problem.path == "." else f"{problem.path}/" for problem in listing.passed_over if problem.code == "unreadable"
    )
    return lambda path: path in present or path.startswith(closed) or os.path.lexists(folder / path)


def _require_some(notes: Sequence[ForeignFile], folder: Path) -> None:
    if not notes:
        raise Refused(f"{folder} has no note at all, so nothing is pruned", "is it the right folder, and is its disk there?")


def _check_type(vault: Context, type: str, new: bool) -> None:
    if not is_type_name(type) or vault.settings.types.spec(type).record_class is not RecordClass.OBSERVATION:
        raise UsageError(
            f"a note becomes an observation, and `{one_line(type, 40)}` is none", f"for example {option('type', 'fact')}"
        )
    if not new and not vault.settings.types.spec(type).known:
        require_no_slip(vault.settings.types, type, vault.index.catalog.types, "type")


def _without_forms(intake: Intake, reader: Reader, notes: list[ForeignFile]) -> list[ForeignFile]:
    """The notes that are neither forms for new ones, counted by folder and named once each, nor lists of a bundle's files."""
    lists = frozenset(bundles.listings([note.path for note in notes], reader.read))
    if lists:
        intake.leave("list-of-files", len(lists))
        notes = [note for note in notes if note.path not in lists]
    for folder in forms.folders(reader.read):
        left = [note for note in notes if not forms.is_within(note.path, folder)]
        count = len(notes) - len(left)
        if count:
            hint = "import that folder by itself to have them"
            intake.leave_out(folder, count, "template", f"its templates ({count}) are forms for notes, not notes", hint)
        notes = left
    for place in forms.filtered(reader.read):
        left = [note for note in notes if not forms.is_within(note.path, place)]
        if count := len(notes) - len(left):
            hint = "import it by itself to have them, or take it out of `userIgnoreFilters`"
            intake.leave_out(place, count, "excluded", f"its notes ({count}) are excluded in Obsidian's settings", hint)
        notes = left
    return notes


def _without_ignored(intake: Intake, folder: Path, listing: foreign.Listing) -> list[ForeignFile]:
    """The files that git is not told to ignore; a folder of which it ignores all is told once, with how many lie in it."""
    files = list(listing.files)
    # Without rules nothing is ignored, and git need not be asked.
    if not (any(problem.path.endswith(".gitignore") for problem in listing.passed_over) or git.find(folder) is not None):
        return files
    try:
        ignored = git.ignored_in(folder, [file.path for file in files])
    except GitError as fault:
        intake.leave_out(".", 0, "ignore-rules", f"what git ignores there is not known: {fault.message}", fault.hint)
        return files
    left = [file for file in files if file.path not in ignored]
    kept_folders = {str(above) for file in left for above in PurePosixPath(file.path).parents}
    places: Counter[str] = Counter()
    for path in ignored:
        above = (str(parent) for parent in reversed(PurePosixPath(path).parents))
        places[
            next((folder_above for folder_above in above if folder_above not in kept_folders and folder_above != "."), path)
        ] += 1
    for place, count in sorted(places.items()):
        hint = f"{shell('git check-ignore -v')} says by which rule; import it by itself to have it"
        what = "git is told to ignore it" if place in ignored else f"git is told to ignore what lies in it ({count})"
        intake.leave_out(place, count, "git-ignored", what, hint)
    return left


class _Copying:
    """Notes copied below `vault/imported/`, one by one."""

    def __init__(
        self, intake: Intake, reader: Reader, places: CopyPaths, notes: Sequence[ForeignFile], asked: ImportOptions
    ) -> None:
        self.intake = intake
        self.reader = reader
        self.asked = asked
        self.targets = {note.path: places.of(note.path) for note in notes}
        self.ignored = intake.ignored(list(self.targets.values()))

    def take(self, op: Operation, note: ForeignFile) -> None:
        """Plan one note."""
        target = self.intake.placed(note.path, self.targets[note.path], self.ignored)
        data = self.intake.bytes_of(self.reader, note) if target else None
        if data is None:
            return
        if subject := _subject_of(data):
            self.intake.subject(op, subject, summary=read(data)[1].strip())
            return
        asked = replace(self.asked, subjects=self.intake.subjects(op, self.asked.subjects))
        label = f"{self.intake.name}/{note.path}"
        types = self.intake.vault.settings.types

        def convert(identity: str, dated: str) -> Made:
            return record_from_note(note.path, data, asked, types, identity=identity, label=label, fallback=dated)

        self.intake.note(op, note.path, data, target, note.written_at, convert)


class _Adoption:
    """Pages below `vault/` made records where they are, one by one."""

    def __init__(self, intake: Intake, reader: Reader, below: str, asked: ImportOptions) -> None:
        self.intake = intake
        self.reader = reader
        self.below = below
        self.asked = asked

    def take(self, op: Operation, note: ForeignFile) -> None:
        """Plan one page; a record is left as it is."""
        path = f"{self.below}/{note.path}"
        data = self.intake.bytes_of(self.reader, note)
        if data is None:
            return
        if not path.lower().endswith(".md"):
            self.intake.skip(note.path, "other-ending", "a note of the vault's own ends in .md", "rename it")
            return
        if layout.file_kind(path) is not layout.FileKind.NOTE or is_record(data):
            self.intake.count("unchanged")
            return
        asked = replace(self.asked, subjects=self.intake.subjects(op, self.asked.subjects))
        types = self.intake.vault.settings.types
        result = record_from_note(note.path, data, asked, types, identity=new_id(), fallback=note.written_at)
        self.intake.tally.problems.extend(result.problems)
        if result.data is None or not result.identity:
            self.intake.tally.skipped[result.skipped or result.problems[0].code] += 1
        elif not self.intake.suspected(note.path, result.data, data):
            op.rewrite(path, data, result.data)
            self.intake.planned("imported")


def _subject_of(data: bytes) -> str:
    """The name of the subject whose text a file of a bundle is, as an export of a vault wrote it; else nothing."""
    head, _, _ = read(data)
    record = bundles.exported(head.values) if head is not None and head.usable else None
    return record.title if record is not None and record.type == RecordClass.SUBJECT else ""


def is_record(data: bytes) -> bool:
    """Whether a file's head has an id and a type as records have."""
    head, _, _ = read(data)
    if head is None or not head.usable:
        return False
    identity, kind = head.values.get("id"), head.values.get("type")
    return isinstance(identity, str) and canonical(identity) is not None and isinstance(kind, str) and is_type_name(kind)


def _copied(intake: Intake, reader: Reader, places: CopyPaths, others: Sequence[ForeignFile]) -> list[ForeignFile]:
    targets = {file.path: places.of(file.path) for file in others}
    ignored = intake.ignored(list(targets.values()))

    def take(op: Operation, file: ForeignFile) -> None:
        target = intake.placed(file.path, targets[file.path], ignored)
        data = intake.bytes_of(reader, file) if target else None
        if data is not None:
            intake.attachment(op, file.path, data, target)

    intake.batches(others, take, lambda file: file.size, "attachments")
    return list(others)
