"""`import_from`: memories of another tool, out of the export that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from vault_tool.errors import UsageError
from vault_tool.features.imports import foreign_rows
from vault_tool.features.imports.copy_paths import CopyPaths
from vault_tool.features.imports.import_run import Intake
from vault_tool.features.imports.imported import Imported
from vault_tool.files.export_files import ExportFiles
from vault_tool.files.frontmatter.head_writer import render_head
from vault_tool.files.render import body_text
from vault_tool.files.repository_rules import RepositoryRules
from vault_tool.importing.notes import FROM, ImportOptions, Made, record_from_note
from vault_tool.importing.sources.foreign_items import (
    ForeignChange,
    ForeignMemory,
    ForeignNote,
    ForeignPage,
    ForeignSubject,
    Item,
    LeftOut,
    Remark,
    Wanted,
)
from vault_tool.importing.sources.kinds import KINDS, TRIED, kind_of
from vault_tool.model.made_titles import given_title
from vault_tool.model.records import Observation
from vault_tool.model.snapshot import Entry
from vault_tool.util.clock import parse_time
from vault_tool.util.hints import step
from vault_tool.util.note_links import NOTE_ENDS
from vault_tool.util.text import counted, one_line
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.folder_project import client_project
from vault_tool.vault.operation import Operation
from vault_tool.vault.parameters import require_moment
from vault_tool.vault.request import looks, of_the_whole, verb

# The kind that is any text at all, if a person says so.
PASTED = "memories"


@verb
@looks
@of_the_whole
def import_from(
    vault: Context,
    source: str | Path,
    *,
    kind: str = "",
    name: str = "",
    since: str | None = None,
    only: str = "",
    subject_names: Sequence[str] = (),
    chats: bool = False,
    all_kinds: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Take in the memories of another tool from its export: a zip, a folder or a file, form by its content or of this `kind`.

    Memories become observations with `origin: import`, `imported_from` and `source_id`; conversations are left out and
    counted, with `chats` they become pages. `since` takes what is of then or later, `only` what a pattern fits. A second
    run, also of a later export, adds what is new and brings up to date what changed. The import is called as its kind, or
    `name`. Interrupted, whole notes are left and a second run does the rest.
    """
    path = _source(Path(source).expanduser(), kind)
    wants = _Wants(vault, since, only, subject_names)
    with ExportFiles(path if path.is_symlink() else path.resolve()) as files:
        form = _kind(files, kind, str(source))
        intake = Intake(vault, path.resolve(), name or form, dry_run=dry_run, progress=progress or vault.progress, of=form)
        for problem in files.passed_over:
            intake.tally.skipped[problem.code] += 1
            intake.tally.problems.append(problem)
        taking = _Taking(intake, wants)
        wishes = Wanted(
            chats=chats, all_kinds=all_kinds, project_of=lambda folder: client_project(vault, folder),
            # What a zip says of folders is another machine's word.
            rules_of=RepositoryRules.around if files.source.is_dir() else lambda _: None,
        )  # fmt: skip
        items = foreign_rows.database_items(files, wishes, form) if foreign_rows.is_database(files) else None
        each = items if items is not None else KINDS[form].items(files, wishes)
        intake.batches(taking.taken(each), taking.take, _size, "memories", taking.begin)
    done = intake.report(str(source), taking.places.root)
    remarks = (*taking.remarks, *taking.alone())
    return replace(done, form=KINDS[form].words, tried=TRIED, warnings=(*done.warnings, *remarks))


def _source(path: Path, kind: str) -> Path:
    """The file or folder that is the export: the database of a tool where the folder itself is none."""
    database = foreign_rows.database_within(path) if kind in ("", foreign_rows.CLAUDE_MEM, foreign_rows.MEM0) else None
    if database is None:
        return path
    with ExportFiles(path) as files:
        return path if kind_of(files) else database


def _kind(files: ExportFiles, asked: str, shown: str) -> str:
    if asked and asked not in KINDS:
        raise UsageError(f"`{one_line(asked, 40)}` is no kind of export that is known", f"known are {', '.join(KINDS)}")
    if asked in ("", foreign_rows.CLAUDE_MEM, foreign_rows.MEM0) and foreign_rows.is_database(files):
        return foreign_rows.database_kind(files, asked)
    if asked == PASTED or (asked and KINDS[asked].fits(files)):
        return asked
    form = kind_of(files)
    if asked and form:
        raise UsageError(f"{shown} is not {KINDS[asked].words}, but {KINDS[form].words}", f"import it as {form}")
    if not form and files.source.is_dir() and files.ending(*NOTE_ENDS):
        raise UsageError(
            f"{shown} is not an export that is known, but a folder of notes",
            f"{step('import_markdown', source=shown)} takes it in",
        )
    if not form:
        raise UsageError(
            f"{shown} is not an export that is known", f"known are {', '.join(KINDS)}, markdown and cognitive-memory"
        )
    return form


class _Wants:
    """A person's wishes for an export: from when on, by which pattern, and under which subjects."""

    def __init__(self, vault: Context, since: str | None, only: str, subjects: Sequence[str]) -> None:
        self.since = require_moment(since, vault.clock.now()) if since else None
        self.subjects = tuple(dict.fromkeys(name for each in subjects if (name := one_line(each))))
        try:
            self.only = re.compile(only, re.IGNORECASE) if only else None
        except (re.error, RecursionError, OverflowError) as fault:
            raise UsageError(
                f"`{one_line(only, 60)}` is no pattern: {fault}", "a regular expression, such as 'deploy|release'"
            ) from fault

    def takes(self, texts: Sequence[str], moment: str) -> bool:
        """Whether it is wanted; what has no time is not of any."""
        if self.since is not None:
            at = parse_time(moment) if moment else None
            if at is None or at < self.since:
                return False
        return self.only is None or any(self.only.search(text) for text in texts)


class _Taking:
    """An export being taken in, item by item."""

    def __init__(self, intake: Intake, wants: _Wants) -> None:
        self.intake = intake
        self.wants = wants
        self.places = CopyPaths(intake.name)
        self.remarks: dict[str, None] = {}
        self._ignored: set[str] = set()
        self._alone: set[str] = set()

    def taken(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items that are to be written; the others are counted here, while the vault is not held."""
        for each in items:
            match each:
                case LeftOut():
                    self._left(each)
                case Remark():
                    self.remarks[each.text] = None
                case ForeignChange():
                    yield each
                case ForeignSubject():
                    if not (self.wants.only or self.wants.since):
                        yield each
                case _:
                    if self.wants.takes(*_said(each)):
                        yield each
                    else:
                        self.intake.leave("not-wanted")

    def begin(self, batch: Sequence[Item]) -> None:
        """Ask git once which files of a batch it is told to ignore."""
        paths = (each.path for each in batch if isinstance(each, (ForeignPage, ForeignNote)))
        targets = [self.places.of(path) for path in paths]
        self._ignored = self.intake.ignored(targets) if targets else set()

    def take(self, op: Operation, each: Item) -> None:
        """Plan one item."""
        match each:
            case ForeignMemory():
                self._memory(op, each)
            case ForeignSubject():
                self.intake.subject(op, each.name, each.role, each.summary)
            case ForeignChange():
                if not self.intake.change(op, each.new, each.old, body_text(each.text), each.user):
                    self._alone.add(each.old)
            case ForeignPage():
                self._page(op, each)
            case ForeignNote():
                self._note(op, each)

    def alone(self) -> Iterator[str]:
        """A sentence on the memories whose place others took there that are not here."""
        if self._alone:
            older = counted(len(self._alone), "older memory", "older memories")
            yield f"{older} came without what took its place there: told here as current"

    def _left(self, each: LeftOut) -> None:
        if not each.message:
            self.intake.leave(each.reason, each.count)
            return
        self.intake.skip(one_line(each.place, 200), each.reason, each.message, each.hint, each.line)

    def _memory(self, op: Operation, each: ForeignMemory) -> None:
        if not each.text.strip():
            self.intake.skip(each.key, "empty", "it holds nothing")
            return
        intake = self.intake
        if each.earlier_of:
            if intake.was_forgotten(each.key, each.earlier_of):
                return
            each = _as_the_later(each, intake.copy_of(each.earlier_of))
        names = [*each.subjects, *self.wants.subjects]

        def make(identity: str) -> Observation:
            subjects = tuple(dict.fromkeys(filter(None, (intake.subject(op, name) for name in names))))
            extra = {"source_id": each.source_id} if each.source_id else {}
            return Observation(
                id=identity, type=each.type, title=given_title(each.title, each.text), subjects=subjects, tags=each.tags,
                observed=each.observed or None, created=each.created or each.observed or intake.vault.now(), origin="import",
                session=each.session, user=each.user, project=each.project, expires=each.expires or None,
                until=each.until or None, review_by=each.review_by or None, evidence=each.evidence,
                body=body_text(each.text), extra=extra,
            )  # fmt: skip

        if each.only_new and intake.copy_of(each.key) is not None:
            intake.count("unchanged")
        else:
            intake.record(op, each.key, each.source(), make)
        for key in each.before:
            intake.change(op, each.key, key)

    def _page(self, op: Operation, each: ForeignPage) -> None:
        if target := self._place(each.path):
            self.intake.page(op, each.path, each.data if each.data is not None else self._page_text(each), target)

    def _place(self, path: str) -> str:
        """Where a file of the export goes; empty, and named, where it cannot go anywhere."""
        return self.intake.placed(path, self.places.of(path), self._ignored, hint="")

    def _page_text(self, each: ForeignPage) -> bytes:
        head = [("title", one_line(each.title, 200)), ("chat", True if each.chat else None), ("created", each.created or None),
                (FROM, f"{self.intake.name}/{each.path}"), ("source_id", each.source_id or None)]  # fmt: skip
        return (render_head([(key, value) for key, value in head if value]) + body_text(each.text)).encode("utf-8", "replace")

    def _note(self, op: Operation, each: ForeignNote) -> None:
        intake = self.intake
        target = self._place(each.path)
        if not target:
            return
        names = tuple(dict.fromkeys((*each.subjects, *self.wants.subjects)))
        asked = ImportOptions(
            type="fact", subjects=intake.subjects(op, names) if names else (), folder_tags=False, source_id=each.source_id
        )

        def convert(identity: str, dated: str) -> Made:
            types = intake.vault.settings.types
            label = f"{intake.name}/{each.key}"
            return record_from_note(each.path, each.data, asked, types, identity=identity, label=label, fallback=dated)

        intake.note(op, each.key, each.data, target, each.written_at or intake.vault.now(), convert)


def _as_the_later(earlier: ForeignMemory, later: Entry | None) -> ForeignMemory:
    """An earlier text as one of the same user, subjects, project and session as the memory that is here."""
    if later is None:
        return earlier
    return replace(
        earlier, user=later.text("user"), subjects=later.subjects, project=later.text("project"), session=later.text("session")
    )


def _said(each: Item) -> tuple[Sequence[str], str]:
    """The texts of an item that a pattern may fit, and when it was."""
    match each:
        case ForeignMemory():
            return (each.title, each.text), each.moment
        case ForeignPage():
            return (each.title, each.text or (each.data or b"").decode("utf-8", "replace")), each.created
        case ForeignNote():
            return (each.key, each.data.decode("utf-8", "replace")), each.written_at
    return (), ""


def _size(each: Item) -> int:
    match each:
        case ForeignMemory() | ForeignPage():
            return len(each.text) + len(getattr(each, "data", None) or b"") + 500
        case ForeignNote():
            return len(each.data)
    return 200
