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
from vault_tool.index.refresh.diff import NEAR, Clocked
from vault_tool.index.refresh.reading import Seen
from vault_tool.model.authority import Act, Effect, authority, by_origin
from vault_tool.model.problems import Problem
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import PUT, Entry, Put
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time, stamp

_ASKED_ONE_BY_ONE = 8
_NEXT = timedelta(seconds=1)


class Attribution:
    """Beliefs about files that are being taken in: the author of each text, and the latest that its times may be."""

    def __init__(
        self, repo: git.Repo | None, head: str, now: datetime, texts: Iterable[Foreign], root: Path | None = None
    ) -> None:
        self._repo = repo
        self._head = head
        self._now = now
        self._present, self._near = stamp(now), stamp(now + NEAR)
        self._lately = stamp(now - NEAR)[:10]
        self._texts: dict[str, dict[str, Foreign]] = defaultdict(dict)
        for text in texts:
            self._texts[text.path][text.text] = text
        self._blobs = work_tree_blobs(repo, self._texts)
        self._committed: dict[str, int] | None = None
        self._at_head: dict[str, str] = {}
        self._asked = 0
        self._root = root
        self.clocked = Clocked(self._present)
        """By which clock times were placed, and when they must be placed once more."""

    def of(self, seen: Iterable[Seen]) -> Iterator[Seen]:
        """The same, where others' texts say who brought them, and no time is later than it can be."""
        for file in seen:
            if file.signals:
                yield replace(file, signals=tuple(self._signals(file.path, file.signals)))
            elif file.entry is not None and self._is_concerned(file.entry):
                entry = self._entry(file.entry)
                text = file.text if file.text is None or PUT not in entry.head else named_anew(file.text, entry)
                attributed = (
                    file if entry is file.entry else replace(file, entry=entry, problems=self._problems(file, file.entry))
                )
                yield attributed if text is file.text else replace(attributed, text=text)
            else:
                yield file

    def _is_concerned(self, entry: Entry) -> bool:
        return entry.path in self._texts or entry.pulled or self._may_be_ahead(entry)

    def _may_be_ahead(self, entry: Entry) -> bool:
        for name in ahead.TIMES:  # asked of each note of a rebuild, where a generator costs more than what it looks at
            value = entry.head.get(name)
            if isinstance(value, str) and value.lstrip() >= self._lately:
                written = value.endswith("+00:00")  # as the vault writes a time, so that its letters say when it is
                if not written or value > self._present:
                    return True
        return False

    def _problems(self, file: Seen, entry: Entry) -> tuple[Problem, ...]:
        """The problems of a file, with those of its dates that are ahead of the clock."""
        dates = ahead.dates(entry, self._now)
        if not dates:
            return file.problems
        return (*file.problems, ahead.problem(self._root, file.path, dates))

    def _entry(self, entry: Entry) -> Entry:
        theirs = self._bringer(entry)
        late = self._late(entry, brought=theirs is not None)
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
            head |= dict.fromkeys(late, self._instead(entry, late, theirs))
        return replace(entry, head=head)

    def _instead(self, entry: Entry, late: Mapping[str, datetime], theirs: Foreign | None) -> str:
        """The time that counts in the place of late ones: nothing was observed after it was written down."""
        if theirs is not None:
            return self._earlier(theirs.at, *late.values())
        created = parse_time(entry.text("created")) if "created" not in late else None
        if created is not None:
            return self._placed(stamp(created), *late.values())
        return self._earlier(self._committed_at(entry.path), *late.values())

    def _late(self, entry: Entry, *, brought: bool) -> dict[str, datetime]:
        """The times of a record that do not count as they are written."""
        times = ahead.moments(entry, self._now)
        if not times or not (brought or entry.record_class is RecordClass.OBSERVATION):
            return {}
        late = ahead.late(times, self._now)
        self.clocked = self.clocked.beside(
            Clocked(max((stamp(at) for name, at in times.items() if name not in late), default=""))
        )
        return late

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

    def _signals(self, path: str, signals: Iterable[Signal]) -> Iterator[Signal]:
        """The judgements of a journal. One that is ahead counts as of its commit, or a second after the line before it."""
        before = ""
        for signal in signals:
            theirs = texts.get(digest(signal)) if (texts := self._texts.get(path)) else None
            judged = replace(signal, origin=theirs.author) if theirs is not None else signal
            late = parse_time(signal.at) if signal.at > self._near else None
            if late is not None:
                after = parse_time(before) if theirs is None else None
                limit = theirs.at if theirs is not None else None if after is not None else self._committed_at(path)
                at = self._earlier(limit, late) if after is None else self._placed(stamp(after + _NEXT), late)
                judged = replace(judged, at=at)
            elif signal.at > self._present:
                self.clocked = self.clocked.beside(Clocked(signal.at))
            before = judged.at
            yield judged

    def _earlier(self, at: int | None, *late: datetime) -> str:
        """The time that counts in the place of some that are ahead: a commit's, or the beginning of this day.

        The latter where there is no commit, or its author set that into the future as well.
        """
        committed = datetime.fromtimestamp(at, UTC) if at is not None else None
        if committed is not None and committed <= self._now + NEAR:
            self.clocked = self.clocked.beside(Clocked(stamp(committed)))
            return self._placed(stamp(committed), *late)
        self.clocked = self.clocked.beside(Clocked(day=self._present[:10]))
        today = self._now.astimezone(UTC).replace(hour=0, minute=0, second=0)
        return self._placed(stamp(today), *late, *((committed,) if committed is not None else ()))

    def _placed(self, at: str, *late: datetime) -> str:
        self.clocked = self.clocked.beside(Clocked(first=stamp(min(late) - NEAR)))
        return at

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
