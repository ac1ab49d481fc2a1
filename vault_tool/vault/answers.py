"""What every answer says of a memory: its headline, its body, and that it is a hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import TypedDict

from vault_tool.errors import NotFound, VaultError
from vault_tool.files import frontmatter, git, reader
from vault_tool.index.relations import names_of
from vault_tool.model.details import Details, details_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.text import body_hash
from vault_tool.vault.context import Context
from vault_tool.vault.standing import confidence_of

EYES_FIRST = "Memories are hypotheses: check them against what you see now, which wins; write a conflict back."


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """Which memory it is, of what class (`kind`) and type, what it is called, and what it is about.

    `observed_at` is when it was so, by default when it was written; `confidence` (0..1) how sure its writer was, by default 0.8.
    `details` is what its head says beside the text, by field: steps, conditions, problem, failure_mode, rationale, mood.
    """

    id: str
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    observed_at: str
    confidence: float | None
    details: Details


@dataclass(frozen=True, slots=True)
class Rival:
    """The other one of two that contest each other: its id, its line, and who wrote it. The owner settles it by a review."""

    id: str
    line: str
    origin: str

    def lean(self, short: Callable[[str], str]) -> dict[str, str]:
        """What an agent needs of it; a vault's owner goes without saying."""
        return {"id": short(self.id), "line": self.line, **({} if self.origin == "owner" else {"by": self.origin})}


class HeadlineFields(TypedDict):
    """The fields of a Headline, for what is more than one."""

    id: str
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    observed_at: str
    confidence: float | None
    details: Details


def headline_of(entry: Entry) -> HeadlineFields:
    """What a head says of that; `summary` is None for what has none, `confidence` for what claims nothing."""
    claims = entry.record_class in (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING)
    return {
        "id": entry.id,
        "kind": entry.record_class.value,
        "type": entry.type,
        "title": entry.title,
        "subjects": entry.subjects,
        "summary": entry.text("summary") or None,
        "observed_at": entry.observed,
        "confidence": confidence_of(entry) if claims else entry.number("confidence"),
        "details": details_of(entry.head),
    }


def origin_of(vault: Context, entry: Entry) -> str:
    """Who wrote it; of a subject that a memory's writing made, whose head is its name alone, the writer of the oldest on it."""
    if entry.record_class is not RecordClass.SUBJECT or entry.text("origin") or entry.text("created"):
        return entry.origin
    oldest = vault.index.catalog.oldest_tagged(names_of(entry))
    return oldest.origin if oldest else entry.origin


def body_of(vault: Context, entry: Entry) -> str:
    """The body of a memory as its file has it, or as HEAD has it where the file cannot be read now, or is gone."""
    with reader.Reader(vault.root) as files:
        return _body(vault, entry, files)


def bodies_of(vault: Context, entries: Iterable[Entry]) -> dict[str, str]:
    """The bodies of several memories by path, each as `body_of` gives it; those that are to be had nowhere are left out."""
    found: dict[str, str] = {}
    # Side by side in the order of their paths, so that each folder is opened once.
    with reader.Reader(vault.root) as files:
        for entry in sorted(entries, key=attrgetter("path")):
            with suppress(VaultError):
                found[entry.path] = _body(vault, entry, files)
    return found


def _body(vault: Context, entry: Entry, files: reader.Reader) -> str:
    data = None
    with suppress(FileNotFoundError):
        data = files.read(entry.path, entry.size) if not entry.stale else _read_below_its_head(entry, files)
    if data is None and vault.repo is not None:
        data = git.show(vault.repo, "HEAD", entry.path)
    if data is None:
        raise NotFound(f"the file {entry.path} is gone", "put it back, or `vt reindex --confirm` if it is meant to be gone")
    return frontmatter.read_body(data).strip("\r\n")


def _read_below_its_head(entry: Entry, files: reader.Reader) -> bytes | None:
    """A note of which only the head cannot be read, where its text is what is served."""
    data = files.read(entry.path)
    same = body_hash(frontmatter.read_body(data)) == entry.body_hash
    return data if same else None
