"""Drafts of memories on this machine, as stores: what waits for review, what was refused there, and what was set aside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from msgspec import to_builtins

from vault_tool.files.bin import DecidedDraft, DraftBin
from vault_tool.files.inbox import INBOX, Inbox
from vault_tool.files.layout import LOCAL
from vault_tool.files.parse import parse
from vault_tool.files.parse import record as record_in
from vault_tool.vault.drafts import undecided
from vault_tool.vault.store_interface import Cleaned, Store, Traces, by_user


class WaitingDrafts(Store):
    """The inbox of a person who reviews."""

    sections = ("waiting",)
    counted_as = "waiting"

    def erase(self, traces: Traces) -> Iterator[Cleaned]:
        """Refuse and drop the drafts of the memories, or those about a user; no repeat brings them back."""
        inbox = Inbox(self.vault.root)
        for name, identity in self._told_of(inbox, traces):
            inbox.decide(identity, "refused", self.vault.now())
            yield Cleaned(f"{INBOX}/{name}", int(inbox.discard(identity, name)))

    def _told_of(self, inbox: Inbox, traces: Traces) -> list[tuple[str, str]]:
        types, telling = self.vault.settings.types, []
        for name, data in inbox.notes():
            head, record = parse(name, data, types).head, record_in(name, data, types)
            if traces.user:
                if head.get("user") == traces.user:
                    telling.append((name, str(head.get("id") or "")))
            elif record is not None and (record.id in traces.ids or traces.repeated_in(record.body)):
                telling.append((name, record.id))
        return telling

    def holds(self, identity: str) -> bool:
        """Whether a draft of it waits."""
        read = (record_in(name, data, self.vault.settings.types) for name, data in Inbox(self.vault.root).notes())
        return any(record is not None and record.id == identity for record in read)

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        """The drafts about a user: file, text, and why it waits."""
        inbox = Inbox(self.vault.root)
        for name, data in undecided(self.vault):
            head = parse(name, data, self.vault.settings.types).head
            if head.get("user") == user:
                why = to_builtins(inbox.about(str(head.get("id") or "")))
                yield "waiting", _json({"file": name, "text": data.decode("utf-8", "replace"), "why": why})

    def people(self) -> Mapping[str, set[str]]:
        """The drafts about each user, by their files."""
        return by_user((user_in(self, name, data), name) for name, data in undecided(self.vault))


class DecidedDrafts(Store):
    """The bin, in which what was refused lies for a month, and what a memory was before it was accepted."""

    sections = ("refused", "accepted")
    counted_as = "refused"

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Drop what tells of the memories: an id may be told in a link, or beside it in what helped to judge it."""

        def is_meant(draft: DecidedDraft) -> bool:
            if traces.user:
                return user_in(self, draft.name, draft.data) == traces.user
            return draft.id in traces.ids or traces.mentioned_in(draft.told)

        return [Cleaned(f"{LOCAL}/bin", DraftBin(self.vault.root).forget(is_meant))]

    def holds(self, identity: str) -> bool:
        """Whether its draft was decided lately."""
        return any(draft.id == identity for draft in self._drafts())

    def of_person(self, user: str) -> Iterator[tuple[str, str]]:
        """The drafts about a user: file, text, when it was decided, and why it waited."""
        for draft in self._drafts():
            if user_in(self, draft.name, draft.data) == user:
                text = draft.data.decode("utf-8", "replace")
                yield (
                    "accepted" if draft.accepted else "refused",
                    _json({"file": draft.name, "text": text, "at": draft.at, "why": to_builtins(draft.about)}),
                )

    def people(self) -> Mapping[str, set[str]]:
        """The drafts about each user that were refused, by their ids and when; one that was accepted is a memory."""
        refused = (draft for draft in self._drafts() if not draft.accepted)
        return by_user((user_in(self, draft.name, draft.data), f"{draft.id} {draft.at}") for draft in refused)

    def _drafts(self) -> list[DecidedDraft]:
        return DraftBin(self.vault.root).drafts(self.vault.now())


class KeptDrafts(Store):
    """The drafts that a refused write left for its writer."""

    def erase(self, traces: Traces) -> Iterator[Cleaned]:
        """Drop those that repeat the memories or name them."""
        folder = self.vault.local.place / LOCAL / "drafts"
        for draft in folder.glob("*.md") if folder.is_dir() else ():
            if traces.mentioned_in(draft.read_text(encoding="utf-8", errors="replace")):
                draft.unlink()
                yield Cleaned(f"{LOCAL}/drafts/{draft.name}")


def user_in(store: Store, name: str, data: bytes) -> str:
    """The user whom a note's text is about; empty where it names none."""
    user = parse(name, data, store.vault.settings.types).head.get("user")
    return user if isinstance(user, str) else ""


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
