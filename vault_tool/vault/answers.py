"""The common part of answers about a memory: its headline, its body, and that it is a hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from operator import attrgetter
from typing import Any, TypedDict

from vault_tool.errors import NotFound, VaultError
from vault_tool.files import frontmatter, git, reader
from vault_tool.index.relations import names_of
from vault_tool.model.details import Details
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash
from vault_tool.vault.context import Context

# What is no record, or is one for the vault alone.
PAGE = "page"
_CLASSES = frozenset({RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT, RecordClass.EDGE})

HYPOTHESIS_NOTICE = "Memories are hypotheses: check them against what you see now, which wins; write a conflict back."


class Mark(Struct):
    """A mark beside a status: `by` are ids of memories, or the address of the person it is of, `why` is in words."""

    mark: str
    by: tuple[str, ...] = ()
    why: str = ""

    @property
    def words(self) -> str:
        """The mark as it is read: `questioned`, `believed to be false`."""
        return _WORDS.get(self.mark, self.mark)

    def phrase(self, short: Callable[[str], str]) -> str:
        """`overtaken by a1b2c3`, `questioned: The firewall says otherwise.`"""
        names = ", ".join(map(short, self.by))
        return f"{self.words}{f' by {names}' if names else ''}{f': {self.why}' if self.why else ''}"

    def lean(self, short: Callable[[str], str]) -> dict[str, Any]:
        """The fields that an agent needs."""
        fields: dict[str, Any] = {"mark": self.mark, "by": [short(identity) for identity in self.by], "why": self.why}
        return {name: value for name, value in fields.items() if value}


# What lists leave out unless it is asked for.
HISTORY = frozenset({"waiting", "expired", "superseded"})
# What does not say how things are now: it is no answer, no source and no line of a page, and its being found is no use of it.
NO_ANSWER = HISTORY | {"overtaken"}


class StatusFields(TypedDict):
    """The fields of a HasStatus."""

    status: str
    status_by: tuple[str, ...]
    status_why: str
    marks: tuple[Mark, ...]


class HasStatus(Struct, kw_only=True):
    """The status of a memory for its reader: waiting, expired, superseded, overtaken, contested, failed, solved, questioned,
    doubtful or current, the first that holds. `status_by` are the ids of what makes it so, `status_why` says it in words,
    `marks` are what holds besides.
    """

    status: str = "current"
    status_by: tuple[str, ...] = ()
    status_why: str = ""
    marks: tuple[Mark, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether it says how things are now: else it is no source of what is understood anew."""
        return self.status not in NO_ANSWER

    def status_fields(self) -> StatusFields:
        """The same for another answer about the same memory."""
        return {"status": self.status, "status_by": self.status_by, "status_why": self.status_why, "marks": self.marks}

    @property
    def in_a_word(self) -> str:
        """The word beside its title that makes it less than current; empty where nothing does, or its type tells it."""
        return "" if self.status in ("current", "failed", "solved") else self.status

    @property
    def said_beside(self) -> tuple[Mark, ...]:
        """The marks to tell beside the memory: reasons why it is less than current, and doubts.

        Who wrote it stands in its source, and that a tactic failed in its caution.
        """
        all_marks = (Mark(self.status, self.status_by, self.status_why), *self.marks)
        return tuple(mark for mark in all_marks if mark.mark not in _SAID_ELSEWHERE)

    def status_words(self, short: Callable[[str], str]) -> Iterator[str]:
        """The same as a phrase each."""
        return (mark.phrase(short) for mark in self.said_beside)

    def lean_status(self, short: Callable[[str], str]) -> dict[str, Any]:
        """The fields that an agent needs: empty for a current memory without a mark that is told elsewhere."""
        marks = [mark.lean(short) for mark in self.marks if mark.mark not in _SOURCE]
        if self.status == "current":
            return {"marks": marks} if marks else {}
        # Which problem a tactic failed at stands among its details.
        by = [short(identity) for identity in self.status_by] if self.status != "failed" else []
        fields = {"status": self.status, "status_by": by, "status_why": self.status_why, "marks": marks}
        return {name: value for name, value in fields.items() if value}


# The marks of who wrote a memory, and what a failed tactic's caution says.
_SOURCE = frozenset({"pulled", "trusted", "not_reviewed"})
_SAID_ELSEWHERE = frozenset({"current", "failed", *_SOURCE})
_WORDS = {"doubtful": "believed to be false", "unsettled": "not settled", "perhaps_changed_by": "perhaps changed",
          "review_due": "review due"}  # fmt: skip


class Headline(HasStatus, kw_only=True):
    """Which memory it is, of what class and type, what it is called, and what it is about.

    `observed` is when it was so, by default when it was written; `confidence` (0..1) how sure its writer was, by default 0.8.
    `details` is what its head says beside the text, by field: steps, conditions, problem, rationale and the like.
    """

    id: str
    record_class: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    observed: str
    confidence: float | None
    details: Details


class Rival(Struct):
    """The other one of two that contest each other: its id, its line, and who wrote it. The owner settles it by a review."""

    id: str
    line: str
    origin: str


def class_of(entry: Entry) -> str:
    """The class of a record for a reader: a record that is no memory, subject or edge, as a pass's ledger, reads as a page."""
    return entry.record_class.value if entry.record_class in _CLASSES else PAGE


def origin_of(vault: Context, entry: Entry) -> str:
    """The writer of a record; of a subject with its name alone, made by a memory's writing, the oldest memory's writer."""
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
    bodies: dict[str, str] = {}
    # Side by side in the order of their paths, so that each folder is opened once.
    with reader.Reader(vault.root) as files:
        for entry in sorted(entries, key=attrgetter("path")):
            with suppress(VaultError):
                bodies[entry.path] = _body(vault, entry, files)
    return bodies


def _body(vault: Context, entry: Entry, files: reader.Reader) -> str:
    data = None
    with suppress(FileNotFoundError):
        data = files.read(entry.path, entry.size) if not entry.stale else _read_below_its_head(entry, files)
    if data is None and vault.repo is not None:
        data = git.show(vault.repo, "HEAD", entry.path)
    if data is None:
        raise NotFound(
            f"the file {entry.path} is gone", f"put it back, or {step('reindex', confirm=True)} if it is meant to be gone"
        )
    return frontmatter.read_body(data).strip("\r\n")


def _read_below_its_head(entry: Entry, files: reader.Reader) -> bytes | None:
    """A note of which only the head cannot be read, where its text is what is served."""
    data = files.read(entry.path)
    same = body_hash(frontmatter.read_body(data)) == entry.body_hash
    return data if same else None
