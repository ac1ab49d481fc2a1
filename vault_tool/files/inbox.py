"""The inbox: memories that wait for a person, as markdown files of this machine alone; never in the vault, never in git."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import field, to_builtins

from vault_tool.files.layout import LOCAL, ignored_name
from vault_tool.files.local_trust import place
from vault_tool.model.ids import canonical
from vault_tool.util.atomic import PRIVATE_FILE, PrivateFolder
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct

INBOX = f"{LOCAL}/inbox"

_ABOUT = "about"
_DECIDED = "decided.jsonl"


class About(Struct):
    """Why a memory waits: since when, held by which verb, for what reason, and what a person needs to judge it.

    `edges` are whole edge notes, as text, that are written with the memory once it is accepted.
    """

    at: str = ""
    verb: str = ""
    reason: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    edges: tuple[str, ...] = ()


class Inbox:
    """The inbox of the vault at `root`; a note in it is whatever its file holds now, as a person may have edited it."""

    def __init__(self, root: Path) -> None:
        self._kept = PrivateFolder(partial(place, root), INBOX)

    def put(self, identity: str, name: str, data: bytes, about: About) -> str:
        """Keep a note, on the disk when this returns; its path, relative to the root. A note of that name is replaced."""
        # What is said of it comes first: a kill between the two leaves no note without its context.
        self._kept.write(_about_name(identity), json.dumps(to_builtins(about), ensure_ascii=True).encode(), _ABOUT)
        self._kept.write(name, data)
        return f"{INBOX}/{name}"

    def notes(self) -> list[tuple[str, bytes]]:
        """The name and the bytes of every waiting note, in the order of their names."""
        names = sorted(name for name in self._kept.names() if name.endswith(".md") and not ignored_name(name))
        return [(name, data) for name in names if (data := self._kept.read(name)) is not None]

    def read(self, name: str) -> bytes | None:
        """The bytes of one note as they are now, or None where it is gone."""
        return self._kept.read(name)

    def about(self, identity: str) -> About:
        """The reason why a memory waits, as far as it is known; empty for a note that a person put here by hand."""
        return about_of(_json(self._kept.read(_about_name(identity), _ABOUT)))

    def decide(self, identity: str, verdict: str, at: str) -> None:
        """Write down that a memory was accepted or refused: by its id alone, so that no repeat brings it back."""
        line = json.dumps({"id": identity, "verdict": verdict, "at": at})
        with self._kept.writing() as folder:
            folder.append(_DECIDED, f"{line}\n".encode(), mode=PRIVATE_FILE)

    def decided(self) -> dict[str, str]:
        """Every id that was decided, with the last verdict."""
        lines = (_json(line) for line in (self._kept.read(_DECIDED) or b"").split(b"\n"))
        return {str(line["id"]): str(line.get("verdict")) for line in lines if isinstance(line, dict) and "id" in line}

    def discard(self, identity: str, name: str, data: bytes | None = None) -> bool:
        """Take a note away, with what was said of it; False, with both kept, where it is not `data` any more."""
        # A person may have saved an edit between the look and the decision: that text is not what was decided.
        if data is not None and self._kept.read(name) not in (None, data):
            return False
        with self._kept.writing() as folder:
            folder.discard(name)
            folder.sync()
        with self._kept.writing(_ABOUT) as folder:
            folder.discard(_about_name(identity))
        return True


def about_of(values: Any) -> About:
    """Why a memory waits, as a file says it; empty for what says nothing of the kind."""
    if not isinstance(values, dict):
        return About()
    context = values.get("context")
    edges = values.get("edges")
    return About(
        **{name: str(values.get(name) or "") for name in ("at", "verb", "reason")},
        context={str(key): str(value) for key, value in context.items()} if isinstance(context, dict) else {},
        edges=tuple(map(str, edges)) if isinstance(edges, list) else (),
    )


def _about_name(identity: str) -> str:
    """The file that says why a memory waits; a malformed id, as a hand may write into a note, leads to no other file."""
    return f"{canonical(identity) or 'unknown'}.json"


def _json(data: bytes | None) -> Any:
    try:
        return read_own(data) if data else None
    except ValueError:
        return None
