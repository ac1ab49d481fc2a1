"""`restore`: an empty vault made what another one was, out of its lines of JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.files import layout, writer
from vault_tool.files.export_files import ExportFiles
from vault_tool.files.tombstones import tombstone
from vault_tool.importing.sources import vault_lines
from vault_tool.importing.sources.foreign_items import LeftOut, mapping, values
from vault_tool.model.ids import canonical
from vault_tool.model.problems import Problem, warning
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.util.hints import step
from vault_tool.util.text import one_line
from vault_tool.vault import person
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import of_the_whole, verb

_STARTERS = (RecordClass.WORKSPACE, RecordClass.UNDERSTANDING)


class Restored(Saved, kw_only=True):
    """The outcome of a restore, or its plan: how many files of which kind, and how many records of which origin."""

    source: str
    dry_run: bool = False
    files: int = 0
    origins: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@verb
@of_the_whole
def restore(vault: Context, source: str | Path, *, dry_run: bool = False) -> Restored:
    """Make an empty vault what another one was: its records, pages, judgements and forgotten ids, byte for byte.

    The file is what `export_as` writes as `jsonl`. Origins are kept as they stand in it, so a person alone may do it; with
    `dry_run` they are counted. Refused where the vault holds a memory already.
    """
    person.require_person(vault, "restore a vault")
    path = Path(source).expanduser()
    texts, origins, problems = _read(path.resolve())
    with writing(vault, "restore") as op:
        catalog = vault.index.catalog
        entries = catalog.snapshot().entries
        if any(entry.record_class not in _STARTERS or entry.type not in (*KEPT_TYPES, "workspace") for entry in entries):
            raise Refused("the vault holds memories already", f"{step('init')} makes an empty one to restore into")
        outcome = Restored(source=str(source), dry_run=dry_run, files=len(texts), origins=dict(origins), problems=tuple(problems))
        if dry_run:
            return outcome
        for entry in entries:
            if entry.path not in texts:
                op.remove(entry.path)
        for target, data in texts.items():
            try:
                before = writer.read(vault.root, target)
            except NotFound:
                op.restore(target, data)
                continue
            if before != data:
                op.rewrite(target, before, data)
        saved = op.carry_out(f"{len(texts)} files", repeatable=True)
    return replace(outcome, **saved.fields())


def _read(path: Path) -> tuple[dict[str, bytes], Counter[str], list[Problem]]:
    """The files that the lines say, by their paths; what leads out of the vault's notes is refused."""
    lines_of: dict[str, list[tuple[int, str]]] = defaultdict(list)
    texts: dict[str, bytes] = {}
    origins: Counter[str] = Counter()
    problems: list[Problem] = []
    with ExportFiles(path) as files:
        if not vault_lines.fits(files):
            raise UsageError(f"{one_line(str(path), 200)} is none of ours", "name a file that an export of a vault wrote")
        for piece in values(files.files[0]):
            if isinstance(piece, LeftOut):
                problems.append(warning(piece.place, piece.line, piece.reason, piece.message))
                continue
            record = mapping(piece.value)
            text, number = record.get("text"), record.get("line")
            place = next(
                (record[name] for name in ("path", "page", "journal", "forgotten") if isinstance(record.get(name), str)), ""
            )
            if not place or not isinstance(text, str):
                continue
            _require_within(place, "forgotten" in record)
            if "journal" in record:
                lines_of[place].append((number if isinstance(number, int) else 0, text))
                continue
            texts[place] = text.encode("utf-8")
            if "class" in record:
                origins[str(mapping(record.get("head")).get("origin") or "unsaid")] += 1
    for place, lines in lines_of.items():
        texts[place] = "".join(text for _, text in sorted(lines)).encode("utf-8")
    return texts, origins, problems


def _require_within(path: str, is_grave: bool) -> None:
    parts = path.split("/")
    grave = is_grave and path == tombstone(canonical(parts[-1]) or "")
    if parts[0] != layout.VAULT or ".." in parts or (layout.path_fault(path) and not grave) or not path.isprintable():
        raise Refused(f"it has a file that does not belong into a vault: {one_line(path, 100)}", "take no export from a stranger")
