"""The common part of answers about a memory: its status, its headline, its body, and the notice that it is a hypothesis."""

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

# The class shown for a file that is not a record, and for records that only the vault itself uses.
PAGE = "page"
_CLASSES = frozenset({RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT, RecordClass.EDGE})

HYPOTHESIS_NOTICE = "Memories are hypotheses: check them against what you see now, which wins; write a conflict back."


class Mark(Struct):
    """A mark beside a status: `by` are ids of memories or the address of a person, `why` is the reason in words."""

    mark: str
    by: tuple[str, ...] = ()
    why: str = ""

    @property
    def words(self) -> str:
        """The mark in words for a reader: `questioned`, `believed to be false`."""
        return _WORDS.get(self.mark, self.mark)

    def phrase(self, short: Callable[[str], str]) -> str:
        """`overtaken by a1b2c3`, `questioned: The firewall says otherwise.`"""
        names = ", ".join(map(short, self.by))
        return f"{self.words}{f' by {names}' if names else ''}{f': {self.why}' if self.why else ''}"

    def lean(self, short: Callable[[str], str]) -> dict[str, Any]:
        """The fields that an agent needs."""
        fields: dict[str, Any] = {"mark": self.mark, "by": [short(identity) for identity in self.by], "why": self.why}
        return {name: value for name, value in fields.items() if value}


# The statuses that lists leave out unless they are asked for.
HISTORY = frozenset({"waiting", "expired", "superseded"})
# The statuses of memories that do not describe the present: they are no answers, sources or lines of a page, and finding one
# does not count as a use.
NO_ANSWER = HISTORY | {"overtaken"}


class StatusFields(TypedDict):
    """The fields of a HasStatus."""

    status: str
    status_by: tuple[str, ...]
    status_why: str
    marks: tuple[Mark, ...]


class HasStatus(Struct, kw_only=True):
    """The status of a memory for its reader: waiting, expired, superseded, overtaken, contested, failed, solved, questioned,
    doubtful or current, the first that holds. `status_by` are the ids of the memories that cause it, `status_why` is the reason
    in words, and `marks` are further conditions that hold.
    """

    status: str = "current"
    status_by: tuple[str, ...] = ()
    status_why: str = ""
    marks: tuple[Mark, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether the memory describes the present; if not, a new understanding may not use it as a source."""
        return self.status not in NO_ANSWER

    def status_fields(self) -> StatusFields:
        """The fields of the status, for another answer about the same memory."""
        return {"status": self.status, "status_by": self.status_by, "status_why": self.status_why, "marks": self.marks}

    @property
    def in_a_word(self) -> str:
        """The status as a word beside the title; empty for a current memory, and where the type of the memory shows it."""
        return "" if self.status in ("current", "failed", "solved") else self.status

    @property
    def said_beside(self) -> tuple[Mark, ...]:
        """The marks to show beside the memory: reasons why it is not current, and doubts.

        Marks about the writer are left out, because the source shows them; so is `failed`, which the caution shows.
        """
        all_marks = (Mark(self.status, self.status_by, self.status_why), *self.marks)
        return tuple(mark for mark in all_marks if mark.mark not in _SAID_ELSEWHERE)

    def status_words(self, short: Callable[[str], str]) -> Iterator[str]:
        """The marks to show beside the memory, each as a phrase."""
        return (mark.phrase(short) for mark in self.said_beside)

    def lean_status(self, short: Callable[[str], str]) -> dict[str, Any]:
        """The status fields that an agent needs; empty for a current memory without marks, those about its writer aside."""
        marks = [mark.lean(short) for mark in self.marks if mark.mark not in _SOURCE]
        if self.status == "current":
            return {"marks": marks} if marks else {}
        # The details of a failed tactic name its problem.
        by = [short(identity) for identity in self.status_by] if self.status != "failed" else []
        fields = {"status": self.status, "status_by": by, "status_why": self.status_why, "marks": marks}
        return {name: value for name, value in fields.items() if value}


# The marks about a memory's writer, and the statuses that are shown elsewhere.
_SOURCE = frozenset({"pulled", "trusted", "not_reviewed"})
_SAID_ELSEWHERE = frozenset({"current", "failed", *_SOURCE})
_WORDS = {"doubtful": "believed to be false", "unsettled": "not settled", "perhaps_changed_by": "perhaps changed",
          "review_due": "review due"}  # fmt: skip


class Headline(HasStatus, kw_only=True):
    """The identity of a memory: its id, class, type, title and subjects.

    `observed` is the time that it is about, by default the time of writing. `confidence` (0..1) is its writer's, by default 0.8.
    `details` are further fields of its head: steps, conditions, problem, rationale and the like.
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
    """The other one of two memories that contest each other: its id, line and writer. The owner settles this by a review."""

    id: str
    line: str
    origin: str


def class_of(entry: Entry) -> str:
    """The class of a record as shown to readers: a record other than a memory, subject or edge, such as a ledger, is a page."""
    return entry.record_class.value if entry.record_class in _CLASSES else PAGE


def origin_of(vault: Context, entry: Entry) -> str:
    """The origin of a record. A subject that was made along with a memory has the origin of its oldest memory."""
    if entry.record_class is not RecordClass.SUBJECT or entry.text("origin") or entry.text("created"):
        return entry.origin
    oldest = vault.index.catalog.oldest_tagged(names_of(entry))
    return oldest.origin if oldest else entry.origin


def body_of(vault: Context, entry: Entry) -> str:
    """The body of a memory from its file, or from HEAD if the file is gone or cannot be read now."""
    with reader.Reader(vault.root) as files:
        return _body(vault, entry, files)


def bodies_of(vault: Context, entries: Iterable[Entry]) -> dict[str, str]:
    """The bodies of several memories by path, each as from `body_of`; a memory without a readable body is left out."""
    bodies: dict[str, str] = {}
    # In the order of their paths, so that each folder is opened once.
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
    """The bytes of a note whose head cannot be read, if its body is the one in the index; else None."""
    data = files.read(entry.path)
    same = body_hash(frontmatter.read_body(data)) == entry.body_hash
    return data if same else None
