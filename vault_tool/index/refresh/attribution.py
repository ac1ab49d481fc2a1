"""The authors of the texts that are being taken in, and the latest that their times may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from vault_tool.errors import GitError, Refused
from vault_tool.files import git, reader
from vault_tool.files.layout import is_around
from vault_tool.index import evidence_text
from vault_tool.index.authorship import (
    Foreign,
    HistoryDelta,
    digest,
    hid_by,
    known_texts,
    others_text,
    pin_of,
    put_by,
    work_tree_blobs,
)
from vault_tool.index.catalog import Catalog
from vault_tool.index.fulltext.documents import named_anew
from vault_tool.index.refresh import ahead
from vault_tool.index.refresh.reading import Seen
from vault_tool.model.authority import Act, Effect, authority, by_origin
from vault_tool.model.problems import Problem
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import PUT, Entry, Put
from vault_tool.util.clock import parse_time, stamp

_TIMES = ("created", "observed", "updated")
_ASKED_ONE_BY_ONE = 8


class Attribution:
    """Beliefs about files that are being taken in: the author of each text, and the latest that its times may be."""

    def __init__(
        self, repo: git.Repo | None, head: str, now: datetime, texts: Iterable[Foreign], root: Path | None = None
    ) -> None:
        self._repo = repo
        self._head = head
        self._now = now
        self._late = stamp(now)
        self._lately = stamp(now - timedelta(days=1))[:10]
        self._texts: dict[str, dict[str, Foreign]] = defaultdict(dict)
        for text in texts:
            self._texts[text.path][text.text] = text
        self._blobs = work_tree_blobs(repo, self._texts)
        self._committed: dict[str, int] | None = None
        self._at_head: dict[str, str] = {}
        self._asked = 0
        self._root = root
        self.first_ahead: datetime | None = None
        """Until when one of those that were taken in is dated ahead: the first that will be so no longer."""

    def of(self, seen: Iterable[Seen]) -> Iterator[Seen]:
        """The same, where others' texts say who brought them, and no time is later than it can be."""
        for file in seen:
            if file.signals:
                yield replace(file, signals=tuple(self._signal(file.path, signal) for signal in file.signals))
            elif file.entry is not None and (file.path in self._texts or file.entry.pulled or _is_late(file.entry, self._lately)):
                entry = self._entry(file.entry)
                text = file.text if file.text is None or PUT not in entry.head else named_anew(file.text, entry)
                attributed = (
                    file if entry is file.entry else replace(file, entry=entry, problems=self._problems(file, file.entry))
                )
                yield attributed if text is file.text else replace(attributed, text=text)
            else:
                yield file

    def _problems(self, file: Seen, entry: Entry) -> tuple[Problem, ...]:
        """The problems of a file, with those of its dates that are ahead of the clock."""
        dates = ahead.dates(entry, self._now) if _is_late(entry, self._lately) else {}
        if not dates:
            return file.problems
        self.first_ahead = min(filter(None, (self.first_ahead, *dates.values())))
        return (*file.problems, ahead.problem(self._root, file.path, dates))

    def _entry(self, entry: Entry) -> Entry:
        theirs = self._bringer(entry)
        late = [name for name in _TIMES if (at := _time(entry.head.get(name))) is not None and at > self._now]
        pinned_by = self._pinned_by_another(entry) if theirs is None and entry.pinned else None
        put = self._put_by_others(entry) if theirs is None else []
        if theirs is None and not late and not entry.pulled and pinned_by is None and not put:
            return entry
        head = dict(entry.head)
        if theirs is None and entry.pulled:
            # Who brought a text the history says, whatever an older version of the tool wrote into it.
            head.pop("origin", None)
        if pinned_by is not None:
            head.pop("pinned", None)
        if put:
            head[PUT] = [list(value) for value in put]
            for value in put:
                # Where it does not count, what they put there does not hold, nor that they took it away.
                if value.field == "pinned" and value.taken:
                    head["pinned"] = True
                elif value.field == "not_at_start" and not _may_hide(value.by, entry):
                    head["not_at_start"] = value.taken
        if theirs is not None:
            head["origin"] = theirs.author
            # Only its owner keeps a memory from fading.
            head.pop("pinned", None)
            head = self._unhidden(entry, head)
        if late:
            limit = theirs.at if theirs is not None else self._committed_at(entry.path)
            head |= dict.fromkeys(late, self._earlier(limit))
        return replace(entry, head=head)

    def _unhidden(self, entry: Entry, head: dict[str, Any]) -> dict[str, Any]:
        """A head of others' words over the owner's, with the end and the user that the owner's had: no one else hides them."""
        texts = self._texts.get(entry.path, {})
        before = hid_by(texts, self._blobs.get(entry.path, "")) or hid_by(texts, self._blob_at_head(entry.path))
        if before is None:
            return head
        hiding: dict[str, Any] = {name: value for name, value in zip(evidence_text.HIDING, before, strict=True) if value}
        hiding |= {name: hiding[name] == str(True) for name in evidence_text.FLAGS if name in hiding}
        return {name: value for name, value in head.items() if name not in evidence_text.HIDING} | hiding

    def _bringer(self, entry: Entry) -> Foreign | None:
        texts = self._texts.get(entry.path)
        if not texts:
            return None
        blob = self._blobs.get(entry.path, "")
        if entry.stale and self._repo is not None:
            committed = git.committed_blobs(self._repo, self._head, [entry.path]).get(entry.path, "")
            # Its head is of one and its text may be of the other.
            return others_text(texts, committed) or others_text(texts, blob)
        return others_text(texts, blob) or self._edited_here(entry.path, blob, texts)

    def _edited_here(self, path: str, blob: str, texts: Mapping[str, Foreign]) -> Foreign | None:
        """The author of a text that is in no commit, if it says the same as the committed text."""
        theirs = texts.get(self._blob_at_head(path)) if blob else None
        return theirs if theirs is not None and self._says_the_same(path, theirs.text) else None

    def _pinned_by_another(self, entry: Entry) -> Foreign | None:
        """The agent or person that pinned a note of the owner's which is as they left it, or is uncommitted and says the same."""
        texts = self._texts.get(entry.path, {})
        if not any(text.startswith(pin_of("")) for text in texts):
            return None
        blob = self._blobs.get(entry.path, "")
        return texts.get(pin_of(blob)) or texts.get(pin_of(self._blob_at_head(entry.path)))

    def _put_by_others(self, entry: Entry) -> list[Put]:
        """Items that others put into the lists of a note of the owner's and that still stand there."""
        texts = self._texts.get(entry.path, {}).values()
        if not texts:
            return []
        values = put_by(texts, self._blobs.get(entry.path, "")) or put_by(texts, self._blob_at_head(entry.path))
        present = {name: evidence_text.items_of(entry.head, name) for name in evidence_text.FLAGS}
        return sorted(
            value for value in values if (value.item in present.get(value.field, entry.texts(value.field))) is not value.taken
        )

    def _blob_at_head(self, path: str) -> str:
        if self._repo is None or not self._head:
            return ""
        if path not in self._at_head:
            with suppress(GitError):
                asked = [path for path in self._texts if path not in self._at_head]
                self._at_head |= dict.fromkeys(asked, "") | git.committed_blobs(self._repo, self._head, asked)
        return self._at_head.get(path, "")

    def _says_the_same(self, path: str, blob: str) -> bool:
        """Whether a file says what a blob of it says, apart from what anybody may put to it."""
        with suppress(GitError, OSError, Refused):
            if self._repo is not None:
                now = evidence_text.evidence_of(path, reader.read(self._repo.root, path))
                return any(
                    now.same_as(evidence_text.evidence_of(path, data), own=True)
                    for data in git.blobs(self._repo, [blob]).values()
                )
        return False

    def _signal(self, path: str, signal: Signal) -> Signal:
        theirs = texts.get(digest(signal)) if (texts := self._texts.get(path)) else None
        if theirs is not None:
            signal = replace(signal, origin=theirs.author)
        if signal.at > self._late:
            signal = replace(signal, at=self._earlier(theirs.at if theirs is not None else self._committed_at(path)))
        return signal

    def _earlier(self, at: int | None) -> str:
        """A commit's time, or now where there is none; its author may have set it into the future as well."""
        if at is None or at >= self._now.timestamp():
            return self._late
        return stamp(datetime.fromtimestamp(at, UTC))

    def _committed_at(self, path: str) -> int | None:
        if self._repo is None or not self._head or is_around(path):
            return None
        with suppress(GitError):
            self._asked += 1
            if self._committed is None and self._asked <= _ASKED_ONE_BY_ONE:
                return git.committed_at(self._repo, [path]).get(path)
            if self._committed is None:
                self._committed = git.committed_at(self._repo, ())
            return self._committed.get(path)
        return None


def _may_hide(by: str, entry: Entry) -> bool:
    """Whether a memory stands on no page of a session's start where its head says so by another's hand."""
    return authority(Act.HIDE, by_origin(by), by_origin(entry.origin)) is Effect.ALLOWED


def attribution(
    repo: git.Repo | None,
    catalog: Catalog,
    history: HistoryDelta,
    paths: Collection[str],
    now: datetime,
    head: str,
    root: Path | None = None,
) -> Attribution:
    """The attribution of these files, from the catalogue and the history that is about to be taken in."""
    known: list[Foreign] = []
    if not history.whole and catalog.rows("SELECT 1 FROM foreign_texts LIMIT 1"):
        for path in paths:
            known.extend(known_texts(catalog, path))
    path_set = set(paths)
    texts = [text for text in known if text.commit not in history.lost] + [text for text in history.came if text.path in path_set]
    return Attribution(repo, head, now, texts, root)


def clock_fact(known: str, first: datetime | None, now: datetime) -> str:
    """The fact `clock` of a catalogue into which notes were taken: on which day, and when the `first` of them, or of those
    before, is ahead no longer.
    """
    before = known.partition(" ")[2]
    ends = [end for end in (before, stamp(first) if first else "") if end > stamp(now)]
    return f"{stamp(now)[:10]} {min(ends, default='')}"


def _is_late(entry: Entry, lately: str) -> bool:
    """Whether a time may lie in the future: by its first letters, which spares reading most."""
    for name in _TIMES:  # asked of each note of a rebuild, where a generator costs more than what it looks at
        value = entry.head.get(name)
        if isinstance(value, str) and value.lstrip() >= lately:
            return True
    return False


def _time(value: object) -> datetime | None:
    return parse_time(value) if isinstance(value, str) else None
