"""One import under way: notes taken in by batches, each a whole operation, with a tally of what became of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import Busy, GitError, NotFound, Refused, StorageError, UsageError
from vault_tool.features.imports.batches import batches_of
from vault_tool.features.imports.copies import Copy, ImportedCopies
from vault_tool.features.imports.copy_paths import CopyPaths
from vault_tool.features.imports.import_log import ImportLog
from vault_tool.features.imports.imported import Imported, together
from vault_tool.files import frontmatter, git, layout, writer
from vault_tool.files.foreign import ForeignFile
from vault_tool.files.parse import parse
from vault_tool.files.parse import record as record_in
from vault_tool.files.reader import LARGEST, Reader
from vault_tool.files.render import render
from vault_tool.importing.notes import FROM, SOURCE_HASH, Made, exported_as, own_id, untouched, with_copy_hash
from vault_tool.model.ids import derived_id
from vault_tool.model.problems import Problem, Severity, note, warning
from vault_tool.model.records import Edge, Observation
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CHANGES
from vault_tool.util.hints import option, shell, step
from vault_tool.util.text import body_hash, content_hash, normal_name, slug
from vault_tool.vault import no_return, resolve, screening
from vault_tool.vault.context import Context, Progress
from vault_tool.vault.new_observation import resolve_subjects, subject_named
from vault_tool.vault.operation import Operation, Saved, writing

# The most files of one commit.
BATCH = 1000

# Of so many files or lines with one reason each is named; the others are counted.
MOST_NAMED = 1000

# The most bytes of one batch: what is held in memory at a time.
BATCH_BYTES = 64 * 2**20

Item = TypeVar("Item")
# From the id that a note gets and the moment it is dated with, where it says none itself, to what becomes of it.
Convert = Callable[[str, str], Made]


class _Tally(msgspec.Struct):
    """Counts and problems of the notes looked at so far."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    both: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    saved: list[Saved] = field(default_factory=list)
    subjects: dict[str, None] = field(default_factory=dict)


def source_folder(vault: Context, source: str | Path, *, in_place: bool = False) -> Path:
    """The resolved folder to import from; UsageError where it cannot be meant."""
    folder = Path(source).expanduser().resolve()
    if not folder.is_dir():
        raise NotFound(f"there is no folder {source}", "name the folder that holds the notes")
    notes = vault.root / layout.VAULT
    if in_place and not folder.is_relative_to(notes):
        raise UsageError(f"{source} is not below {notes}", f"leave {option('in_place', True)} out, and its notes are copied")
    if not in_place and folder.is_relative_to(notes):
        raise UsageError(
            f"{source} is in the vault already", f"say {option('in_place', True)} to make records of its pages where they are"
        )
    if not in_place and notes.is_relative_to(folder):
        advice = f"name the folders of notes in it, or move them below {layout.VAULT}/ and say {option('in_place', True)}"
        raise UsageError(f"{source} holds the vault itself", advice)
    if vault.notes_folder is not None and folder.is_relative_to(vault.notes_folder) and not folder.is_relative_to(vault.root):
        raise UsageError(f"{source} is served where it is", f"there is nothing to import: {step('recall')} finds its notes")
    if _is_the_tools_own(vault, folder):
        raise UsageError(f"{source} is a folder of the tool's own", "name a folder of notes")
    return folder


def _is_the_tools_own(vault: Context, folder: Path) -> bool:
    """Whether it lies beside `vault/` in what is local, derived, hidden, or for notes to start from."""
    below = folder.relative_to(vault.root).parts if folder.is_relative_to(vault.root) else ()
    return bool(below) and below[0] != layout.VAULT and (below[0].startswith(("_", ".")) or below[0] == layout.TEMPLATES)


class Intake:
    """An import called `name`: `batches` runs it, `note`, `page` and `attachment` take one file each into an operation."""

    def __init__(
        self,
        vault: Context,
        source: Path,
        name: str,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
        exists: Callable[[str], bool] | None = None,
        of: str = "",
    ) -> None:
        """`name` is as it was given; by default the import is called as the folder `source`.

        `exists` says whether the source still has a note; None where notes that moved are not followed. `of` is the kind of
        export: each has a file name of its own, and the import goes on with any of them.
        """
        self.vault = vault.with_withheld()
        # Each text is looked at once, on its own: a secret in one note must not keep its whole batch out.
        self.screened = not vault.allow_secrets
        self.vault.allow_secrets = True
        self.name = slug(name or source.name, "notes")
        self.dry_run = dry_run
        self.tally = _Tally()
        self._progress = progress
        self._begun = time.perf_counter()
        self._space = resolve.workspace_id(vault)
        self._claimed: set[str] = set()
        self._taken: dict[str, str] = {}
        self._bodies: set[int] = set()
        place = f"an export of {of}" if of else str(source)
        self._known = ImportLog(vault, self.name, place)
        if self._known.before not in ("", place) and (of or not name):
            hint = (
                f"call this one otherwise with {option('name')}, or say {option('name', self.name)} if it is the same one, moved"
            )
            raise UsageError(
                f"the import `{self.name}` is of the notes in {self._known.before}", hint if not of else hint.partition(",")[0]
            )
        self._copies = ImportedCopies(vault.index.catalog, self.name, exists)
        self._lost_pages = [path for path in self._known.pages if exists is not None and not exists(path)]
        self._planned = 0
        self._tagging: Operation | None = None
        self._tagged: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._minted: tuple[str, ...] = ()

    def batches(
        self, items: Iterable[Item], plan: Callable[[Operation, Item], None], size: Callable[[Item], int], what: str = "notes",
        begin: Callable[[Sequence[Item]], None] | None = None,
    ) -> None:  # fmt: skip
        """Plan and carry out all items, a commit for each batch that came to anything; an iterator is asked batch by batch.

        `begin` is given each batch before it is planned.
        """
        done, total = 0, len(items) if isinstance(items, Sequence) else 0
        for chunk in batches_of(items, size, BATCH, BATCH_BYTES):
            if begin is not None:
                begin(chunk)
            with self._operation() as op:
                self._planned = 0
                for each in chunk:
                    plan(op, each)
                    done += 1
                    if self._progress is not None and done % 20 == 0:
                        self._progress(done, total or done)
                self._carry_out(op, what)
        if self._progress is not None and done:
            self._progress(done, done)

    def note(self, op: Operation, path: str, data: bytes, target: str, dated: str, convert: Convert) -> None:
        """Take in a note that becomes a record: made, brought up to date, or left as it is where nothing changed."""
        derived, own = derived_id(self._space, f"{self.name}/{path}"), own_id(data)
        exported, untouched_since = exported_as(data)
        known = self.entry(exported) if exported else None
        if known is not None and not known.text(FROM).startswith(f"{self.name}/"):
            # What this vault exported comes back: the memory is here, whatever its file is called by now.
            if untouched_since:
                self.count("unchanged")
            else:
                self._both(path)
            return
        existing = known or self.entry(self._copies.of(path)) or self._unmarked(derived)
        moved = self._copies.moved(own, content_hash(data)) if existing is None else None
        existing = self.entry(moved.id) if moved else existing
        if existing is not None and moved is None and existing.text(SOURCE_HASH) == content_hash(data):
            self._claimed.add(existing.id)
            self.count("unchanged")
            return
        identity = existing.id if existing else self._own_or_derived(path, own, derived)
        if self._was_forgotten(path, identity):
            return
        self._claimed.add(identity)
        converted = convert(identity, (existing.text("created") if existing else "") or dated)
        self.tally.problems.extend(converted.problems)
        if converted.data is None:
            self.tally.skipped[converted.skipped] += 1
        elif self.suspected(path, converted.data, data):
            return
        elif not converted.identity and existing is None:
            self._page(op, path, converted.data, target)
        elif not converted.identity:
            self._both(path)
        elif existing is not None and moved is not None:
            self._move(op, path, existing, moved, converted.data, target)
        elif existing is not None:
            self._update(op, path, existing, converted.data)
        else:
            self._new(op, path, converted.data, target)

    def record(self, op: Operation, key: str, source: bytes, make: Callable[[str], Observation]) -> None:
        """Take in a record that is made of what another tool keeps under `key`: made, brought up to date, or left as it is.

        `source` is what the tool says, as bytes that are the same as long as it says the same.
        """
        identity, digest = self._identity(key), content_hash(source)
        if self._is_again(key, identity, digest):
            return
        self._claimed.add(identity)
        if self._was_forgotten(key, identity):
            return
        existing = self.entry(identity)
        if existing is not None and existing.text(SOURCE_HASH) == digest:
            self.count("unchanged")
            return
        draft = make(identity)
        record = replace(draft, extra={**draft.extra, FROM: f"{self.name}/{key}", SOURCE_HASH: digest})
        if existing is None and self._says_the_same(record):
            self._claimed.discard(identity)
            del self._taken[identity]
            self.leave("copy")
            return
        data = with_copy_hash(render(record, op.as_written(record.subjects)))
        faults = [
            problem for problem in parse(key, data, self.vault.settings.types).problems if problem.severity is Severity.ERROR
        ]
        if len(data) > LARGEST or faults:
            reason = faults[0].message if faults else "it is longer than a note may be"
            self.skip(key, faults[0].code if faults else "too-large", f"it cannot be kept as a note: {reason}")
        elif self.suspected(key, data):
            return
        elif existing is not None:
            self._update(op, key, existing, data)
        else:
            op.put(op.place(record), data)
            self.planned("imported")

    def _is_again(self, place: str, name: str, digest: str) -> bool:
        """Whether this run has met a name before: the first text of it is taken, and another one is named."""
        before = self._taken.setdefault(name, "")
        if not before:
            self._taken[name] = digest
        elif before == digest:
            self.leave("copy")
        else:
            why = "the export has its id twice, with another text"
            self.skip(screening.masked(place), "id-twice", why, "only the first one was taken in")
        return bool(before)

    def copy_of(self, key: str) -> Entry | None:
        """The record that is here of what another tool keeps under a key."""
        return self.entry(self._identity(key))

    def was_forgotten(self, place: str, key: str) -> bool:
        """Whether the record of a key was forgotten here; what is at `place` is then named, and must not be taken in."""
        return self._was_forgotten(place, self._identity(key))

    def _identity(self, key: str) -> str:
        """The id of the record of a key: that of the copy which is here, else the one that each run gives it."""
        return self._copies.of(key) or self.derived(key)

    def _was_forgotten(self, path: str, identity: str) -> bool:
        """Whether an id was forgotten here; what has it is then named, and must not be taken in."""
        if no_return.is_buried(self.vault, identity):
            self.skip(path, "forgotten", "it is a memory that was forgotten here")
            return True
        return False

    def _says_the_same(self, record: Observation) -> bool:
        """Whether this import has a record of the same text for the same user before, in this run or an earlier one."""
        text_key = hash((record.body, record.subjects, record.user))
        if text_key in self._bodies:
            return True
        self._bodies.add(text_key)
        return any(
            entry.text(FROM).startswith(f"{self.name}/")
            and entry.text("user") == record.user
            and set(entry.subjects) == set(record.subjects)
            for entry in self.vault.index.catalog.by_body(body_hash(record.body))
        )

    def change(self, op: Operation, new: str, old: str, text: str = "", user: str = "") -> bool:
        """Plan the edge that says that a memory of the import changed another, where both are there.

        False where the older one is there alone, which is then told as if nothing had taken its place.
        """
        ends = [self._identity(key) for key in (new, old)]
        are_here = [end in self._claimed or self.entry(end) is not None for end in ends]
        if all(are_here):
            if text and self.suspected(f"{new} to {old}", text.encode("utf-8", "replace")):
                text = ""
            edge = Edge(
                id=self.derived(f"edge/CHANGES--{new}--{old}"), type=CHANGES, from_id=ends[0], to_id=ends[1],
                created=self.vault.now(), origin="import", user=user,
                body=text or "A later text of the same memory.",
            )  # fmt: skip
            self.create(op, edge.id, render(edge), op.place(edge))
        return all(are_here) or not are_here[1]

    def leave(self, reason: str, count: int = 1) -> None:
        """Count what is left out as it should be: it is not named."""
        self.tally.skipped[reason] += count

    def prune(self) -> None:
        """Remove the copies whose source is gone, by a commit of its own; what a person changed here stays."""
        if not (self._copies.lost or self._lost_pages) or self.dry_run:
            return
        with self._operation() as op:
            self._planned = 0
            for copy in self._copies.lost.values():
                entry = self.entry(copy.id)
                old = self.on_disk(entry.path) if entry else None
                if entry is None or old is None:
                    continue
                if not untouched(old):
                    self._both(copy.source)
                    continue
                op.remove(entry.path)
                self.planned("pruned")
            for path in self._lost_pages:
                where, digest = self._known.pages.pop(path)
                old = self.on_disk(where)
                if old is not None and content_hash(old) == digest:
                    op.remove(where)
                    self.planned("pruned")
            self._carry_out(op, "notes that are gone", "Removed")

    def page(self, op: Operation, path: str, data: bytes, target: str) -> None:
        """Take in a file as it is, as a page."""
        if not self._is_again(path, path, content_hash(data)) and not self.suspected(path, data):
            self._page(op, path, data, target)

    def attachment(self, op: Operation, path: str, data: bytes, target: str) -> None:
        """Take in a file that is no note, as it is."""
        if self.suspected(path, data):
            return
        present = self.on_disk(target)
        if present is None:
            op.put(target, data)
            self._planned += 1
            self.count("attachments")
        elif present != data:
            self._both(path)

    def create(self, op: Operation, identity: str, data: bytes, path: str) -> None:
        """Plan a record that the import itself makes (an edge), unless the vault has it."""
        new_record = record_in(path, data, self.vault.settings.types)
        if self.entry(identity) is None and identity not in self._claimed and not no_return.buried_in(self.vault, new_record):
            self._claimed.add(identity)
            op.put(path, data)
            self.planned("edges")

    def subjects(self, op: Operation, names: Sequence[str]) -> tuple[str, ...]:
        """The subjects called `names` as a head has them; those that the vault lacks are planned in `op`, once."""
        key = tuple(names)
        if key not in self._named(op):
            key = tuple(name for name in names if not self._is_secret(name))
        if key not in self._tagged:
            tagging = resolve_subjects(op, key)
            self._tagged[key] = tuple(tagging.names)
            self._minted += tagging.created
        return tuple(op.as_written(self._tagged[key]))

    def subject(self, op: Operation, name: str, role: str = "", summary: str = "") -> str:
        """The name of the subject that a thing of another tool's is, which is planned in `op` where the vault lacks it.

        Empty where the name looks like a secret: it would be a file's name.
        """
        key = (name,)
        if key not in self._named(op):
            if self._is_secret(name):
                return ""
            existing, minted = resolve.subject(self.vault, name), op.minted(normal_name(name))
            if existing is None and minted is None:
                role, summary = ("" if self._is_secret(text) else text for text in (role, summary))
                op.create(replace(subject_named(self.vault, name), role=role, summary=summary))
                self._minted += (name,)
                self._planned += 1
            self._tagged[key] = (minted or (existing.text("name") if existing else name),)
        return self._tagged[key][0]

    def _is_secret(self, text: str) -> bool:
        """Whether a name or a word of a subject looks like a secret; it is then named, and must not be taken in."""
        return bool(text) and self.suspected("a subject", text.encode("utf-8", "replace"))

    def _named(self, op: Operation) -> dict[tuple[str, ...], tuple[str, ...]]:
        if op is not self._tagging:
            self._tagging, self._tagged, self._minted = op, {}, ()
        return self._tagged

    def planned(self, what: str, by: int = 1) -> None:
        """Count something that this batch will write."""
        self._planned += 1
        self.count(what, by)

    def count(self, what: str, by: int = 1) -> None:
        """Add to one of the report's numbers."""
        self.tally.counts[what] += by

    def placed(self, path: str, target: str, ignored: set[str], hint: str = "rename it") -> str:
        """Where a file goes; empty, and named, where it cannot go anywhere."""
        if not target:
            self.skip(path, "odd-name", "no file of a vault can be called so", hint)
            return ""
        if target in ignored:
            self.skip(
                path, "git-ignored", f"git is told to ignore {target}", f"{shell('git check-ignore -v')} says by which rule"
            )
            return ""
        return target

    def bytes_of(self, reader: Reader, file: ForeignFile) -> bytes | None:
        """The bytes of a foreign file; None, and named, where it cannot be read."""
        try:
            return reader.read(file.path, file.size)
        except (OSError, Refused) as fault:
            reason = fault.message if isinstance(fault, Refused) else (fault.strerror or "it cannot be read").lower()
            self.skip(file.path, "unreadable", reason, "check its permissions")
            return None

    def skip(self, path: str, reason: str, message: str, hint: str = "", line: int = 0) -> None:
        """Name a file, or a line of one, that is not taken in; of a reason that is met without end the first ones."""
        self.tally.skipped[reason] += 1
        if self.tally.skipped[reason] <= MOST_NAMED:
            self.tally.problems.append(warning(path, line, reason, message, hint))

    def leave_out(self, folder: str, count: int, reason: str, message: str, hint: str) -> None:
        """Name a folder whose files are not meant to be taken in."""
        self.tally.skipped[reason] += count
        self.tally.problems.append(note(folder, 0, reason, message, hint))

    def suspected(self, path: str, data: bytes, source: bytes = b"") -> bool:
        """Whether a text, or the path that it has, looks as if it held a secret; it is then named, and must not be taken in.

        Its line is that of `source`, where the text is made from another one and the person will look.
        """
        shown = screening.masked(path)
        secrets = [*screening.unmarked(shown, data), *screening.unmarked(shown, path.encode())] if self.screened else []
        if secrets:
            secrets = screening.unmarked(shown, source) or secrets
            self.tally.skipped["secret"] += 1
            self.tally.problems.extend(replace(problem, hint=problem.hint + screening.OR_ALLOWED) for problem in secrets)
        return bool(secrets)

    def entry(self, identity: str) -> Entry | None:
        """The record of an id, as last indexed."""
        return next(iter(self.vault.index.catalog.get(identity)), None)

    def on_disk(self, path: str) -> bytes | None:
        """The bytes of a file of the vault, or None."""
        try:
            return writer.read(self.vault.root, path)
        except NotFound:
            return None

    def derived(self, label: str) -> str:
        """The id of something that the import makes: the same in each run."""
        return derived_id(self._space, f"{self.name}/{label}")

    def ignored(self, targets: Sequence[str]) -> set[str]:
        """Which of these paths git is told to ignore: it would refuse the whole batch for one of them."""
        if self.vault.repo is None:
            return set()
        try:
            return git.ignored(self.vault.repo, [target for target in targets if target])
        except GitError:
            return set()

    def report(self, source: str, target: str, passed_over: Sequence[Problem] = (), attachments: Sequence[str] = ()) -> Imported:
        """The outcome of the import."""
        tally = self.tally
        skipped = tally.skipped + Counter(problem.code for problem in passed_over)
        named = [problem for problem in passed_over if problem.code != "hidden"]
        done = tally.counts
        new, known = self._known.new_problems(sorted({*tally.problems, *named}))
        if not self.dry_run and (done.total() or known or self._known.before):
            self._known.keep()
        return replace(
            together(tally.saved),
            source=source, target=target, dry_run=self.dry_run,
            imported=done["imported"], updated=done["updated"], moved=done["moved"], unchanged=done["unchanged"],
            pages=done["pages"], edges=done["edges"], episodes=done["episodes"], uses=done["uses"],
            gone=tuple(sorted([*(copy.source for copy in self._copies.lost.values()), *self._lost_pages])), pruned=done["pruned"],
            changed_on_both_sides=tuple(tally.both), skipped=dict(skipped),
            attachments=tuple(attachments), attachments_copied=done["attachments"], subjects_created=tuple(tally.subjects),
            problems=new, known_problems=known, seconds=round(time.perf_counter() - self._begun, 3),
        )  # fmt: skip

    @contextmanager
    def _operation(self) -> Iterator[Operation]:
        if self.dry_run:
            yield Operation(self.vault, "import")
            return
        with writing(self.vault, "import") as op:
            yield op

    def _carry_out(self, op: Operation, what: str, done: str = "Imported") -> None:
        if self._planned:
            self.tally.subjects.update(dict.fromkeys(self._minted))
        if self.dry_run or not self._planned:
            return
        title = f"{self._planned} {what} from {self.name}"
        op.log_entry(EpisodeEntry(at=self.vault.now(), title=f"{done} {title}", type="import"))
        # After an import was stopped, the next write must not carry out the rest of it.
        self.tally.saved.append(op.carry_out(title, repeatable=True))
        self._known.keep()
        # Batch by batch: the texts of them all at once would need as much memory as there are.
        with suppress(Busy, StorageError):
            self.vault.index.flush()

    def _unmarked(self, identity: str) -> Entry | None:
        """The copy of a note by the id that its place gives it, where the line that names its source was taken out."""
        entry = self.entry(identity)
        return entry if entry is not None and not entry.text(FROM) else None

    def _own_or_derived(self, path: str, own: str, derived: str) -> str:
        if own and (own in self._claimed or self.entry(own) is not None):
            self.tally.problems.append(note(path, 0, "id-taken", "its id is another note's, so it gets one of its own"))
        elif own:
            return own
        number = 1
        # A note that moved away from this place has taken the id of the place with it.
        while derived in self._claimed or self.entry(derived) is not None:
            number += 1
            derived = derived_id(self._space, f"{self.name}/{path}\n{number}")
        return derived

    def _new(self, op: Operation, path: str, data: bytes, target: str) -> None:
        """A record: in the place of the page that it was while its head was broken, unless that page was edited."""
        page = self._known.pages.pop(path, None)
        old = self.on_disk(page[0]) if page else None
        if page and old is not None and content_hash(old) == page[1]:
            op.rewrite(page[0], old, data)
            self.planned("updated")
            return
        self._put(op, path, data, target)
        self.planned("imported")

    def _update(self, op: Operation, path: str, existing: Entry, data: bytes) -> None:
        old = self.on_disk(existing.path)
        if old is None or not untouched(old):
            self._both(path)
        elif old != data:
            op.rewrite(existing.path, old, data)
            self.planned("updated")
        else:
            self.count("unchanged")

    def _move(self, op: Operation, path: str, existing: Entry, moved: Copy, data: bytes, target: str) -> None:
        """A copy whose source was renamed: it goes along with its id, from where the import put it; a person's edits stay."""
        old = self.on_disk(existing.path)
        if old is None:
            self._both(path)
            return
        if not untouched(old):
            if existing.text(SOURCE_HASH) != moved.digest:
                self._both(path)
            data = frontmatter.edit(old, [frontmatter.Set(FROM, f"{self.name}/{path}")])
        if existing.path == CopyPaths(self.name).of(moved.source):
            self._put(op, path, data, target)
            op.remove(existing.path)
        else:
            op.rewrite(existing.path, old, data)
        self.planned("moved")

    def _page(self, op: Operation, path: str, data: bytes, target: str) -> None:
        where, known = self._known.pages.get(path, (target, ""))
        old, digest = self.on_disk(where), content_hash(data)
        if known == digest and old is not None:
            self.count("unchanged")
            return
        if old is not None and old == data:
            self.count("unchanged")
        elif old is None or (not known and self.vault.index.catalog.by_path(where) is not None):
            where = self._put(op, path, data, target)
            self.planned("imported")
        elif known == content_hash(old):
            op.rewrite(where, old, data)
            self.planned("updated")
        else:
            self._both(path)
            return
        self._known.pages[path] = (where, digest)
        self.count("pages")

    def _put(self, op: Operation, path: str, data: bytes, target: str) -> str:
        where = op.put(target, data)
        if where != target:
            message = f"its name was taken (perhaps by one that differs in case only): it is {where}"
            self.tally.problems.append(note(path, 0, "renamed", message))
        return where

    def _both(self, path: str) -> None:
        self.tally.both.append(path)
