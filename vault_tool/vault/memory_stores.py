"""The tracked files that hold words of memories, as stores: their notes, and the journals and ledgers that tell of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from msgspec import to_builtins

from vault_tool.consolidation import ledger
from vault_tool.files import reader
from vault_tool.files.episode_text import redacted_episode
from vault_tool.files.signal_lines import redacted_signals, signal_line
from vault_tool.model.consent import consent_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.vault.store_interface import Rewrites, Store, Traces

# The folder of an export in which the notes are as they are in the vault.
NOTES = "notes"


class Memories(Store):
    """The notes. What forgets them removes their files itself, in a commit; here they are given out."""

    sections = ("memories",)

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        """The notes about a user with the consent to each, and the links among them."""
        for entry in entries_of(self, user):
            consent = consent_of(entry, self.vault.index.catalog.signals(entry.id))
            about = {
                "id": entry.id, "type": entry.type, "file": f"{NOTES}/{entry.path}", "consent": consent.state,
                "consents": [to_builtins(record) for record in consent.records],
            }  # fmt: skip
            yield "memories", json.dumps(about, ensure_ascii=False)
            yield f"{NOTES}/{entry.path}", reader.read(self.vault.root, entry.path).decode("utf-8", "surrogateescape")


class Signals(Store):
    """The journals of what was judged of memories."""

    sections = ("signals",)

    def rewrites(self, traces: Traces, spared: Collection[Entry]) -> Rewrites:
        """Without what was judged of the memories, and without their words."""
        ids = {entry.id for entry in spared}
        rewrites = {}
        for path in self.vault.index.catalog.of_kind("signals"):
            data = reader.read(self.vault.root, path)
            rewrites[path] = data, redacted_signals(data, traces.ids, traces.repeated_in, ids)
        return _changed(rewrites)

    def holds(self, identity: str) -> bool:
        """Whether anything was judged of it."""
        return any(signal.target == identity for signal in self.vault.index.catalog.signals())

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        """The judgements of the user's memories; of a memory that several people see, this user's alone."""
        for entry in entries_of(self, user):
            for signal in self.vault.index.catalog.signals(entry.id):
                if entry.text("user") or not signal.user:
                    yield "signals", signal_line(signal)


class Episodes(Store):
    """The journals of what was done."""

    def rewrites(self, traces: Traces, spared: Collection[Entry]) -> Rewrites:
        """Without the entries of the memories, and without their words."""
        paths = {entry.path for entry in spared}
        rewrites = {}
        for path in self.vault.index.catalog.of_kind("episode"):
            data = reader.read(self.vault.root, path)
            rewrites[path] = data, redacted_episode(path, data, traces.paths, traces.mentioned_in, paths)
        return _changed(rewrites)


class Ledgers(Store):
    """The ledgers of consolidation."""

    def rewrites(self, traces: Traces, spared: Collection[Entry]) -> Rewrites:
        """Without the memories' lines, and without their words."""
        rewrites = {}
        for entry in self.vault.index.catalog.of_class(RecordClass.CONSOLIDATION):
            data = reader.read(self.vault.root, entry.path)
            rewrites[entry.path] = data, ledger.redacted(data, traces.ids, traces.repeated_in)
        return _changed(rewrites)


def entries_of(store: Store, user: str) -> list[Entry]:
    """The entries about a user, and the keeper's links between two things that are about them, or about no user."""
    catalog = store.vault.index.catalog
    theirs = catalog.of_user(user)
    ids = {entry.id for entry in theirs}

    def is_seen(identity: str) -> bool:
        return all(entry.text("user") in ("", user) for entry in catalog.get(identity))

    links = []
    for edge in catalog.of_class(RecordClass.EDGE):
        ends = {edge.text("from_id"), edge.text("to_id")}
        if edge.text("user") == "" and ends & ids and all(map(is_seen, ends)):
            links.append(edge)
    return [*theirs, *links]


def _changed(rewrites: Rewrites) -> Rewrites:
    return {path: texts for path, texts in rewrites.items() if texts[0] != texts[1]}
