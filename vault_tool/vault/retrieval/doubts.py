"""Which results are not sure to answer for what they lack, and why each weak one is, told by its own text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vault_tool.index.relations import names_of
from vault_tool.recall import doubt
from vault_tool.recall.candidate import Key
from vault_tool.recall.match import FEW, certainty
from vault_tool.recall.question import Question
from vault_tool.util.text import normal_name
from vault_tool.vault.retrieval.retrievers import Pool
from vault_tool.vault.retrieval.weighing import Ranked


class Doubts:
    """The doubts about the results of one question; `bar` is how sure each must be."""

    def __init__(self, read: Question, bar: Callable[[Ranked], float]) -> None:
        self._read = read
        self._bar = bar
        # A page of conversation names much that one memory need not have.
        self._subjects: dict[tuple[str, str], frozenset[str]] = {}
        self._wanted = () if read.page else tuple(dict.fromkeys((*read.codes, *doubt.proper_names(read.asked))))

    def note(self, hits: Sequence[Ranked], bodies: Mapping[Key, str]) -> None:
        """Make those weak that lack a name, number or code that is asked for, and say of each weak one why it is."""
        for each in hits:
            missing = self._missing(each, bodies.get(each.candidate.key, ""))
            each.weak = each.weak or bool(missing)
            each.weak_why = doubt.reason(missing, 0, 0, crowded=True) if each.weak and (missing or self._read.page) else ""
        unsaid = [each for each in hits if each.weak and not each.weak_why]
        for pool in {id(each.pool): each.pool for each in unsaid}.values():
            own = [each for each in unsaid if each.pool is pool]
            asked, counts = pool.vault.index.shared(self._read.words, [_told(each, bodies) for each in own])
            for each, count in zip(own, counts, strict=True):
                crowded = certainty(each.candidate, FEW) >= self._bar(each)
                each.weak_why = doubt.reason((), count, asked, crowded=crowded)

    def _missing(self, each: Ranked, body: str) -> tuple[str, ...]:
        if not self._wanted or each.candidate.exact:
            return ()
        missing = doubt.lacking(_whole(each, body), self._wanted)
        # Of a code and its number the code is told.
        longest = (name for name in missing if not any(name != other and name in other for other in missing))
        return tuple(name for name in longest if not self._is_about(each, name)) if missing else ()

    def _is_about(self, each: Ranked, name: str) -> bool:
        """Whether a memory is tagged with a subject that has this name too."""
        subjects = each.candidate.entry.subjects
        return bool(subjects) and not self._names_beside(each.pool, name).isdisjoint(map(normal_name, subjects))

    def _names_beside(self, pool: Pool, name: str) -> frozenset[str]:
        """All names of the subjects of one vault that have this name."""
        key = (pool.scope, name)
        if key not in self._subjects:
            self._subjects[key] = frozenset().union(*map(names_of, pool.catalog.subject_named(normal_name(name))))
        return self._subjects[key]


def _whole(each: Ranked, body: str) -> str:
    entry = each.candidate.entry
    return "\n".join((entry.path, entry.title, body, *entry.subjects, *entry.texts("tags"), *entry.texts("aliases")))


def _told(each: Ranked, bodies: Mapping[Key, str]) -> str:
    return _whole(each, bodies.get(each.candidate.key, "") or each.candidate.entry.preview)
