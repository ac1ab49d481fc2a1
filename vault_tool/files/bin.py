"""The bin: drafts that a person decided on, kept for a month on this machine alone, so that the decision can be taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from vault_tool.files.inbox import About, about_of
from vault_tool.files.layout import LOCAL, ignored_name
from vault_tool.files.local_trust import place
from vault_tool.model.ids import canonical
from vault_tool.util.atomic import PRIVATE_FILE, PrivateFolder, write_in
from vault_tool.util.clock import moment
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash

BIN = f"{LOCAL}/bin"

# So long a decided draft is kept.
DAYS = 30

_DAY = len("2026-11-20")

# The ends of files' names, by which what was refused is counted and nothing read.
_REFUSED, _ACCEPTED = ".json", ".accepted.json"


class DecidedDraft(Struct):
    """A draft that was decided at `at`: its id, its file's name and bytes in the inbox, why it waited there, and how."""

    id: str
    name: str
    data: bytes
    about: About
    at: str
    accepted: bool = False

    @property
    def told(self) -> str:
        """All that it says, in any of its parts."""
        texts = (self.name, self.about.reason, *self.about.context.values(), *self.about.edges)
        return "\n".join((self.data.decode("utf-8", "replace"), *texts))


class DraftBin:
    """The bin of the vault at `root`."""

    def __init__(self, root: Path) -> None:
        self._kept = PrivateFolder(partial(place, root), BIN)

    def keep(self, draft: DecidedDraft) -> None:
        """Keep a draft, on the disk when this returns; one of the same id that lies there already is replaced."""
        content = {"id": draft.id, "name": draft.name, "at": draft.at, "about": to_builtins(draft.about)}
        # Latin-1 holds every byte as one character.
        line = json.dumps(content | {"text": draft.data.decode("latin-1")}, ensure_ascii=True)
        older = self._of(draft.id)
        with self._kept.writing() as folder:
            write_in(folder, _name(draft), line.encode(), mode=PRIVATE_FILE)
            for name in older:
                if name != _name(draft):
                    folder.discard(name)

    def refused(self, now: str) -> list[DecidedDraft]:
        """The refused drafts that are not older than a month at `now`, the last refused first."""
        return [draft for draft in self.drafts(now) if not draft.accepted]

    def accepted(self, identity: str, now: str) -> DecidedDraft | None:
        """The draft that became the memory of an id."""
        drafts = (_draft(name, self._kept.read(name)) for name in self._of(identity))
        return next((draft for draft in drafts if draft and draft.accepted and not _is_over(draft.at, now)), None)

    def drafts(self, now: str) -> list[DecidedDraft]:
        """All drafts that are not older than a month at `now`, the last decided first."""
        drafts = (draft for name in self._names() if (draft := _draft(name, self._kept.read(name))) is not None)
        return sorted(
            (draft for draft in drafts if not _is_over(draft.at, now)), key=lambda draft: (draft.at, draft.id), reverse=True
        )

    def count(self, now: str) -> int:
        """How many were refused, by the names of their files."""
        return sum(not (_is_over(name[:_DAY], now) or name.endswith(_ACCEPTED)) for name in self._names())

    def discard(self, identity: str) -> bool:
        """Take one away; whether it lay there."""
        return self._drop(self._of(identity)) > 0

    def empty(self, now: str) -> int:
        """Take away what is older than a month, by the names of the files alone; returns how many that were."""
        return self._drop([name for name in self._names() if _is_over(name[:_DAY], now)])

    def forget(self, told_of: Callable[[DecidedDraft], bool]) -> int:
        """Take away every draft that tells of something; a file that cannot be read may do so. Returns how many."""
        read = ((name, _draft(name, self._kept.read(name))) for name in self._names())
        return self._drop([name for name, draft in read if draft is None or told_of(draft)])

    def _drop(self, names: list[str]) -> int:
        if not names:
            return 0
        with self._kept.writing() as folder:
            for name in names:
                folder.discard(name)
            folder.sync()
        return len(names)

    def _of(self, identity: str) -> list[str]:
        names = {_file_of(identity, end) for end in (_REFUSED, _ACCEPTED)}
        return [name for name in self._names() if name[_DAY + 1 :] in names]

    def _names(self) -> list[str]:
        return sorted(name for name in self._kept.names() if name.endswith(".json") and not ignored_name(name))


def _name(draft: DecidedDraft) -> str:
    return f"{draft.at[:_DAY]}-{_file_of(draft.id, _ACCEPTED if draft.accepted else _REFUSED)}"


def _file_of(identity: str, end: str) -> str:
    """The end of a file's name; what a hand wrote in place of an id leads nowhere else."""
    return f"{canonical(identity) or content_hash(identity.encode('utf-8', 'surrogatepass'))[:32]}{end}"


def _is_over(at: str, now: str) -> bool:
    """Whether a draft of that day is kept no longer; a name that begins with no day is nothing that is kept."""
    least = (moment(now) - timedelta(days=DAYS)).date().isoformat()
    return at[:_DAY] < least or not at[:4].isdigit()


def _draft(file: str, data: bytes | None) -> DecidedDraft | None:
    content: Any = None
    with suppress(ValueError):
        content = read_own(data) if data else None
    if not isinstance(content, dict) or not all(isinstance(content.get(name), str) for name in ("id", "name", "at", "text")):
        return None
    try:
        text = content["text"].encode("latin-1")
    except UnicodeEncodeError:
        return None
    name, about = Path(content["name"]).name, about_of(content.get("about"))
    return DecidedDraft(content["id"], name, text, about, content["at"], file.endswith(_ACCEPTED))
