"""The subjects that a question names, and which memories are of just these: its understanding, or what they have to do with
each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vault_tool.index.catalog import Catalog
from vault_tool.index.relations import names_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.candidate import Candidate
from vault_tool.recall.question import SELF, Question, asks_of, is_last_name
from vault_tool.util.seamless import RUN
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

OF_ONE = "single_subject"
OF_SEVERAL = "relationship"

_SELF = frozenset(SELF)
_NEWEST = 24


class Named(Struct):
    """The subjects that a question names, each by all its names; `[SELF]` where it names none and is about the asker.

    `told` are those that count in how well a memory fits. `whole` says that the question asks what is known of the one subject
    that it names, and no more; `related` the same of several and what they have to do with each other.
    """

    groups: Sequence[frozenset[str]]
    told: Sequence[frozenset[str]]
    whole: bool = False
    related: bool = False

    @property
    def several(self) -> bool:
        """Whether they are two or more."""
        return len(self.groups) > 1

    def part(self, about: set[str]) -> float:
        """The part of the subjects named that are among these normalised names."""
        return sum(not about.isdisjoint(group) for group in self.groups) / len(self.groups)

    def understands(self, entry: Entry) -> bool:
        """Whether it is the understanding of one of these subjects alone."""
        return _understands(entry, self.groups)

    def told_of(self, entry: Entry) -> bool:
        """Whether it is the understanding of a subject whose naming counts in how well it fits, or of all of several."""
        return _understands(entry, self.told) or self.relates(entry)

    def relates(self, entry: Entry) -> bool:
        """Whether it is the understanding of what all of several subjects, and no other, have to do with each other."""
        return entry.type == OF_SEVERAL and self.several and self._of_all(entry) and self._of_no_other(entry)

    def _of_all(self, entry: Entry) -> bool:
        tagged = set(map(normal_name, entry.subjects))
        return not any(tagged.isdisjoint(group) for group in self.groups)

    def _of_no_other(self, entry: Entry) -> bool:
        return frozenset[str]().union(*self.groups).issuperset(map(normal_name, entry.subjects))

    def known(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The memories that a question which only names subjects asks for: their understanding, else what was seen of them."""
        listed = list(candidates)
        if self.whole:
            return [candidate for candidate in listed if self.understands(candidate.entry)] or [
                candidate
                for candidate in listed
                if any(not group.isdisjoint(map(normal_name, candidate.entry.subjects)) for group in self.groups)
            ]
        if self.related:
            return [candidate for candidate in listed if self.relates(candidate.entry)] or [
                candidate
                for candidate in listed
                if candidate.entry.record_class is RecordClass.OBSERVATION and self._of_all(candidate.entry)
            ]
        return []

    def paths(self, catalog: Catalog) -> list[str]:
        """The newest memories of all of several subjects, and the understandings of what they have to do with each other."""
        if not self.several:
            return []
        related = catalog.newest_of_all(self.groups, _NEWEST, OF_SEVERAL)
        return [*related, *(catalog.newest_of_all(self.groups, _NEWEST) if self.related else ())]


def named_subjects(catalog: Catalog, question: Question) -> Named:
    """The subjects that a question names; of names within names the longest.

    The last word of a name is enough where only one subject has it: beside another that is named, or where nothing else is
    asked; somebody who asks means it anyway. A function word is a name where it is spelled as one.
    """
    subjects: dict[str, frozenset[str]] = {}
    for name in sorted(catalog.known_names(question.names), key=lambda name: -len(name)):
        if not _is_within(name, subjects):
            subjects[name] = _all_names(catalog, name)
    if not subjects:
        subjects = _as_spelled(catalog, question)
    exact = list(dict.fromkeys(subjects.values()))
    ends = [] if question.page else list(dict.fromkeys(_by_last_word(catalog, question, subjects)))
    groups = [*exact, *ends]
    if not groups:
        return Named([_SELF], []) if question.own else Named([], [])
    every = frozenset[str]().union(*groups) - _SELF
    asks = asks_of(question.text, every, several=len(groups) > 1)
    asked = groups if asks or exact else []
    return Named(asked if question.conversational else groups, asked, asks and len(groups) == 1, asks and len(groups) > 1)


def _understands(entry: Entry, groups: Sequence[frozenset[str]]) -> bool:
    if entry.type != OF_ONE:
        return False
    tagged = set(map(normal_name, entry.subjects))
    return any(tagged <= group for group in groups)


def _is_within(name: str, others: Iterable[str]) -> bool:
    # In a script without spaces a name stands in another as it is.
    around = "" if RUN.fullmatch(name) else " "
    return any(f"{around}{name}{around}" in f"{around}{longer}{around}" for longer in others)


def _all_names(catalog: Catalog, name: str) -> frozenset[str]:
    subjects = catalog.subject_named(name)
    return frozenset(names_of(subjects[0])) if len(subjects) == 1 else frozenset((name,))


def _as_spelled(catalog: Catalog, question: Question) -> dict[str, frozenset[str]]:
    """The subjects that are called by a word of a question in which nothing tells, spelled as it is there."""
    subjects: dict[str, frozenset[str]] = {}
    for word in question.spelled:
        name = normal_name(word)
        if any(word in (entry.text("name"), *entry.texts("aliases")) for entry in catalog.subject_named(name)):
            subjects[name] = _all_names(catalog, name)
    return subjects


def _by_last_word(catalog: Catalog, question: Question, subjects: dict[str, frozenset[str]]) -> Iterable[frozenset[str]]:
    """The subjects of which a question has the last word of a name, where it is no other's."""
    words = [word for word in question.names if is_last_name(word) and not _is_within(word, subjects)]
    known = frozenset[str]().union(*subjects.values())
    for word, names in catalog.names_ending_in(words).items():
        group = _all_names(catalog, names[0])
        if group.issuperset(names) and known.isdisjoint(group):
            # The word with them: to be told from the rest of the question.
            yield group | {word}
