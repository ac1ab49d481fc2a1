"""The project that a page is made for: which memories are its own, which are another's, and which are of none."""

from __future__ import annotations

from functools import lru_cache

from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name


class CoreProject(Struct):
    """A project by all its names, and the names of the others, all normalised."""

    names: frozenset[str]
    others: frozenset[str] = frozenset()

    def has(self, entry: Entry) -> bool:
        """Whether a memory is of this project, perhaps of others too."""
        return not self.names.isdisjoint(_names(entry))

    def is_elsewhere(self, entry: Entry) -> bool:
        """Whether a memory is of other projects and not of this one."""
        names = _names(entry)
        return self.names.isdisjoint(names) and not self.others.isdisjoint(names)


def _names(entry: Entry) -> frozenset[str]:
    """The names that a memory is about: its project, its subjects and its tags."""
    return _normal((entry.text("project"), *entry.subjects, *entry.own("tags")))


# Each memory is asked twice, and many have the same subjects.
@lru_cache(maxsize=4096)
def _normal(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(normal_name, names)) - {""}
