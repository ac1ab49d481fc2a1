"""A store: whatever holds words of memories. What forgets, exports, erases, and looks for problems asks each of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_body

if TYPE_CHECKING:
    from vault_tool.model.problems import Problem
    from vault_tool.model.snapshot import Entry
    from vault_tool.vault.context import Context

_IDS = re.compile(r"\b(?:id|from_id|to_id): ([0-9a-f-]{36})")

# Texts of tracked files before and after, by their paths.
Rewrites = Mapping[str, tuple[bytes, bytes]]


class Traces(Struct):
    """By what a text that repeats one of the memories is known: ids, paths, titles, and passages of what they say.

    With a `user` all is meant that is about them, and nothing else is known of it.
    """

    ids: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    quotes: tuple[str, ...] = ()
    user: str = ""

    def repeated_in(self, text: str) -> bool:
        """Whether a text repeats one of the memories."""
        return self.quoted_by(text) or any(title in normal_body(text) for title in self.titles)

    def quoted_by(self, text: str) -> bool:
        """Whether a text repeats what the memory says: a title may stand anywhere by chance, a passage does not."""
        flat = normal_body(text)
        return any(quote in flat for quote in self.quotes)

    def is_head_of(self, text: str) -> bool:
        """Whether a text is a memory's own file, or a link's to it."""
        return any(identity in self.ids for identity in _IDS.findall(text))

    def mentioned_in(self, text: str) -> bool:
        """Whether a text repeats one of the memories or names its id."""
        return any(identity in text for identity in self.ids) or self.repeated_in(text)


class Phase(Enum):
    """When a store is erased from: before the notes go, while they say by which words they are known, or after them."""

    LOCAL = "before"
    DERIVED = "after"


class Cleaned(Struct):
    """A place that was cleaned of memories: how many things went there, or a `remark` on what could not go."""

    place: str
    count: int = 1
    remark: str = ""


class Store:
    """One place that holds words of memories, of an open vault; each method does nothing where a store needs none.

    A new store is a subclass and a line in the table of `stores`, or a call of `register` there.
    """

    phase: ClassVar[Phase] = Phase.LOCAL
    sections: ClassVar[tuple[str, ...]] = ()
    """The sections of `records.json` that `of_person` gives, which are in it also where they are empty."""

    counted_as: ClassVar[str] = ""
    """Under which name what there is of each user is counted: `turns`, `waiting` or `refused`."""

    def __init__(self, vault: Context) -> None:
        self.vault = vault

    def refresh(self, changes: Sequence[tuple[str, Entry | None, Entry | None]]) -> None:
        """Follow the notes of which the indexes took a change in, whoever made it: each id with what it was and is.

        Asked of the stores that were added; those of the table follow the catalogue by its number, each at its own time.
        """

    def rewrites(self, traces: Traces, spared: Collection[Entry]) -> Rewrites:
        """The store's tracked files that repeat the memories, for the commit that erases them.

        What they say of the entries that are `spared`, which say the same themselves, stays.
        """
        return {}

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Take the memories out of what git does not track; gives the places that were cleaned."""
        return ()

    def holds(self, identity: str) -> bool:
        """Whether a memory stands here that may stand nowhere else."""
        return False

    def of_person(self, user: str) -> Iterable[tuple[str, str]]:
        """All that is about a user, as (place, text): a path with a slash is a file, any other place a section of
        `records.json`, to which the text adds a JSON value.
        """
        return ()

    def people(self) -> Mapping[str, Collection[str]]:
        """How much there is of each user: the ids of what is about them."""
        return {}

    def figures(self) -> Mapping[str, int]:
        """The store's own numbers in `status`, by their names there."""
        return {}

    def health(self, *, thorough: bool) -> Iterable[Problem]:
        """The problems of the store; `thorough` for `doctor`, which may take its time."""
        return ()


def by_user(items: Iterable[tuple[str, str]]) -> Mapping[str, set[str]]:
    """Ids by the user whom each is about, from pairs of both; those of no user are left out."""
    places: dict[str, set[str]] = defaultdict(set)
    for user, identity in items:
        if user:
            places[user].add(identity)
    return places
