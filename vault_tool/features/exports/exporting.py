"""`export_as`: the memory as lines of JSON, from which it can be made again, or in the forms of other tools."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import field

from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.features.exports import agents_file, claude_code_folder, okf_folder, server_memory
from vault_tool.features.exports.outgoing import AskedFor
from vault_tool.files import layout, tombstones, writer
from vault_tool.files.episode_text import redacted_episode
from vault_tool.files.written_folder import WrittenFolder
from vault_tool.importing.sources.vault_lines import FORMAT, VERSION
from vault_tool.model.snapshot import Entry
from vault_tool.util import atomic
from vault_tool.util.atomic import storage
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, looks, of_the_whole, verb

AGENTS_MD = "agents-md"
FOLDERS = (claude_code_folder.FORM, okf_folder.FORM)
FORMS = ("jsonl", server_memory.FORM, AGENTS_MD, *FOLDERS)

# The parameters of a page for agents, and the folders of a vault that are no place for an export.
_TAKEN, _WIDER = frozenset({"budget"}), frozenset({"with_hidden"})
_OWN_FOLDERS = frozenset({layout.VAULT, layout.TEMPLATES, ".git"})

# The beginnings of files that are ours, which may be written over.
_OURS: Mapping[str, tuple[bytes, ...]] = {
    "jsonl": (f'{{"format": "{FORMAT}"'.encode(),),
    "server-memory": (b'{"type": "entity"',),
}


class ExportedAs(Answer, kw_only=True):
    """The outcome of an export: how many lines of which kind, and what the form cannot hold or must not show, by its reason.

    `changed` says whether a file was written: one that says the same already is left as it is. `renamed` are the notes that got
    another name.
    """

    form: str
    path: str
    changed: bool = True
    renamed: tuple[str, ...] = ()
    written: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@verb
@looks
@of_the_whole
def export_as(
    vault: Context, form: str, path: str | Path, *, since: str | None = None, subject_names: Sequence[str] = (),
    with_hidden: bool = False, force: bool = False, budget: int | None = None,
) -> ExportedAs:  # fmt: skip
    """Write the memory to a file in a form: `jsonl` (every field, to be imported or restored), `server-memory` (its graph),
    `agents-md` (the page of a session's start, in at most `budget` bytes between two markers of AGENTS.md or its kin); or to a
    folder: `claude-code` (as Claude Code keeps its memory), `okf` (the Open Knowledge Format 0.2).

    `since` and `subject_names` narrow the memories. Those that no reader is shown are left out unless `with_hidden`; a file
    that is there and none of ours is refused without `force`. A page takes none of these: it holds what the owner or a trusted
    person wrote or reviewed. A page or folder holds nothing that is about a user or hidden.
    """
    if form not in FORMS:
        raise UsageError(f"`{one_line(form, 40)}` is no form of export", f"forms are {', '.join(FORMS)}")
    optional = {"since": since, "subject_names": subject_names, "with_hidden": with_hidden, "force": force, "budget": budget}
    _require_fitting(form, frozenset(name for name, value in optional.items() if value))
    target = Path(path).expanduser()
    _require_outside(vault, target)
    if form == AGENTS_MD:
        _require_a_file(target)
        page, changed = agents_file.write_block(vault, target, budget)
        return ExportedAs(
            form=form, path=str(target), changed=changed, written={"memories": page.shown}, left_out=dict(page.left_out)
        )
    if form in FOLDERS:
        return _to_folder(vault, form, target, since, subject_names, force)
    _require_ours(target, form, force)
    if form == server_memory.FORM:
        lines, written, out = server_memory.graph(vault, since, subject_names, with_hidden=with_hidden)
        left_out = out.left_out
    else:
        material = _Material(vault, since, subject_names, with_hidden)
        lines, written, left_out = [*material.lines()], material.written, material.left_out
    with storage(str(target)):
        atomic.write(target, b"".join(map(_encoded, lines)), mode=0o600)
    return ExportedAs(form=form, path=str(target), written=_some(written), left_out=_some(left_out))


def _to_folder(
    vault: Context, form: str, target: Path, since: str | None, subject_names: Sequence[str], force: bool
) -> ExportedAs:  # fmt: skip
    folder = WrittenFolder(target, form, resolve.workspace_id(vault))
    renamed: Sequence[str] = ()
    if form == claude_code_folder.FORM:
        files, out = claude_code_folder.claude_code_files(vault, since, subject_names)
    else:
        files, out, renamed = okf_folder.okf_files(vault, since, subject_names)
    outcome = folder.write(files, force=force)
    counts = {"files": outcome.written, "unchanged": outcome.unchanged, "removed": outcome.removed, **out.told_otherwise}
    left_out = {**out.left_out, "of an earlier export, edited since": outcome.edited}
    return ExportedAs(
        form=form, path=str(target), changed=bool(outcome.written or outcome.removed), renamed=tuple(renamed),
        written=_some(counts), left_out=_some(left_out),
    )  # fmt: skip


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def exported_lines(vault: Context) -> Iterator[bytes]:
    """The lines of the form `jsonl`, each when it is asked for; what no reader is shown is left out (see `hidden_count`)."""
    return map(_encoded, _Material(vault, None, (), with_hidden=False).lines())


def hidden_count(vault: Context) -> int:
    """How much of an export is left out since no reader is shown it: records, entries of logs, and lines of journals."""
    if not vault.index.catalog.withheld():
        return 0
    material = _Material(vault, None, (), with_hidden=False)
    for _ in material.lines():
        pass
    return material.left_out["hidden"]


def _encoded(line: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", "surrogatepass")


def _require_fitting(form: str, names: frozenset[str]) -> None:
    """UsageError for a parameter that means nothing to a form."""
    foreign = names - _TAKEN if form == AGENTS_MD else names & (_TAKEN | (_WIDER if form in FOLDERS else frozenset()))
    if foreign:
        raise UsageError(f"{option(min(foreign))} means nothing to {form}", "leave it out")


def _require_outside(vault: Context, target: Path) -> None:
    """UsageError for a place among the vault's own files, where an export would become a page of it."""
    root, real = vault.root.resolve(), target.parent.resolve() / target.name
    inside = real.relative_to(root).parts if real.is_relative_to(root) else ()
    if inside and (inside[0] in _OWN_FOLDERS or inside[0].startswith("_")):
        raise UsageError(f"{target} lies among the vault's own files", "name a place outside of them")


def _require_a_file(target: Path) -> None:
    if target.is_dir() or not target.parent.is_dir():
        raise UsageError(f"{target} cannot be written", "name a file in a folder that is there")


def _require_ours(target: Path, form: str, force: bool) -> None:
    _require_a_file(target)
    if target.is_symlink() or (target.exists() and not force):
        with suppress(OSError), target.open("rb") as file:
            if not target.is_symlink() and file.read(64).startswith(_OURS[form]):
                return
        raise Refused(f"{target} is there and is none of ours", f"{option('force', True)} writes over it, or name another file")


class _Material:
    """The vault's files as they go out, with counts of what does and what does not."""

    def __init__(self, vault: Context, since: str | None, subjects: Sequence[str], with_hidden: bool) -> None:
        self.vault = vault.with_withheld()  # what is left out is counted
        self.written: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self._asked = AskedFor(vault, since, subjects)
        self._hidden = frozenset[str]() if with_hidden else self._not_shown(vault)

    def _not_shown(self, vault: Context) -> frozenset[str]:
        """The ids of what no reader is shown: what is withheld, and what was made of nothing else."""
        if not (withheld := vault.index.catalog.withheld()):
            return withheld
        shown = {entry.id for entry in vault.served().index.catalog.snapshot().entries}
        return withheld | {entry.id for entry in self.vault.index.catalog.snapshot().entries if entry.id not in shown}

    def lines(self) -> Iterator[dict[str, Any]]:
        """The header, then each record by its id, each line of a journal, each page, each forgotten id."""
        yield {"format": FORMAT, "version": VERSION}
        for entry in sorted(self.vault.index.catalog.snapshot().entries, key=lambda record: (record.id, record.path)):
            text = self._text(entry.path)
            if text is not None and self._takes(entry):
                self.written["records"] += 1
                yield {
                    "id": entry.id, "class": str(entry.record_class), "type": entry.type, "title": entry.title,
                    "content": Memory(self.vault, entry).told(_Content).content, "tags": list(entry.texts("tags")),
                    "subjects": list(entry.subjects), "created": entry.text("created"), "expires": entry.text("expires"),
                    "head": dict(entry.head), "path": entry.path, "text": text,
                }  # fmt: skip
        if not self._asked.is_narrowed:
            yield from self._others()

    def _others(self) -> Iterator[dict[str, Any]]:
        records = {entry.path for entry in self.vault.index.catalog.snapshot().entries}
        for path in sorted(self.vault.index.catalog.all_files()):
            text = self._text(path) if path not in records and not layout.is_around(path) else None
            if text is None:
                continue
            if layout.file_kind(path) is layout.FileKind.SIGNALS:
                for number, line in enumerate(text.splitlines(keepends=True), 1):
                    if any(identity in line for identity in self._hidden):
                        self.left_out["hidden"] += 1
                        continue
                    self.written["journal lines"] += 1
                    yield {"journal": path, "line": number, "text": line}
            else:
                self.written["pages"] += 1
                yield {"page": path, "text": self._without_hidden(path, text)}
        for identity in sorted(tombstones.files(self.vault.root)):
            path = tombstones.tombstone(identity)
            self.written["forgotten"] += 1
            yield {"forgotten": path, "text": self._text(path) or ""}

    def _without_hidden(self, path: str, text: str) -> str:
        """A page; of a day's log, entries about what is hidden keep their hour alone."""
        if not self._hidden or layout.file_kind(path) is not layout.FileKind.EPISODE:
            return text
        paths = {entry.path for identity in self._hidden for entry in self.vault.index.catalog.get(identity)}
        shown = redacted_episode(path, text.encode(), paths, lambda line: any(identity in line for identity in self._hidden))
        entries = zip(text.split("\n## "), shown.decode().split("\n## "), strict=True)
        self.left_out["hidden"] += sum(before != after for before, after in entries)
        return shown.decode()

    def _takes(self, entry: Entry) -> bool:
        if layout.is_around(entry.path):
            return False
        if entry.id in self._hidden:
            self.left_out["hidden"] += 1
            return False
        return self._asked.has(entry)

    def _text(self, path: str) -> str | None:
        try:
            return writer.read(self.vault.root, path).decode("utf-8")
        except (NotFound, Refused):
            return None
        except UnicodeDecodeError:
            self.left_out["not text"] += 1
            return None


class _Content(Struct, kw_only=True):
    """The text of a memory alone."""

    content: str
