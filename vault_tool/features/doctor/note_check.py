"""Checks between the notes of a vault, which read only those notes that can be wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from vault_tool.check import check, in_order, references
from vault_tool.check.vocabulary import MOST_SUBJECTS
from vault_tool.index import suspects
from vault_tool.index.catalog import Catalog
from vault_tool.index.since import Mark, added_only, mark_of
from vault_tool.model.evidence import fault_in
from vault_tool.model.fields import OF_WORDS
from vault_tool.model.problems import Problem
from vault_tool.model.snapshot import Snapshot
from vault_tool.model.types import RecordClass, Registry
from vault_tool.util.structs import Struct

# Where so many are suspect, all are looked at at once.
MOST = 20_000
_ENDS = ("from_id", "to_id")
_WORKSPACE = "vault/workspace.md"


def checked(catalog: Catalog, registry: Registry, forgotten: Collection[str]) -> tuple[Problem, ...]:
    """All problems that `check` finds in the catalogue.

    The rules are the same: they are given the records at which one of them can find anything, and what these refer to.
    """
    suspicion: _Suspicion = catalog.derived(
        "suspects", lambda: _suspicion(catalog, registry), lambda known, _: _followed(known, catalog, registry)
    )
    if len(suspicion.numbers) > MOST:
        return check(catalog.snapshot(), registry, forgotten)
    looked_at = suspects.numbered(catalog, suspicion.numbers, suspicion.twins)
    beside = suspects.looked_up_by(catalog, looked_at.values(), looked_at) - looked_at.keys()
    entries = sorted((*looked_at.values(), *suspects.numbered(catalog, beside).values()), key=lambda entry: entry.path)
    pages, problems = catalog.of_kind("page"), catalog.problems()
    # Of what is only looked up nothing is known: what it refers to is not there.
    paths = {*(entry.path for entry in looked_at.values()), *pages, _WORKSPACE}
    whole = check(Snapshot(tuple(entries), pages, problems, catalog.barred()), registry, forgotten)
    return in_order({*problems, *(problem for problem in whole if problem.path in paths)})


class _Suspicion(Struct):
    """The numbers and paths at which a rule can find anything, of a catalogue as it was at `mark`, with its `pages` then.

    Numbers of records that went may be among them, and records that are in order by now: the rules decide.
    """

    mark: Mark
    pages: tuple[str, ...]
    numbers: set[int]
    twins: set[str]


def _suspicion(catalog: Catalog, registry: Registry) -> _Suspicion:
    """By a look at all records."""
    numbers, twins = _suspects(catalog, registry), suspects.path_twins(catalog)
    return _Suspicion(mark_of(catalog), catalog.of_kind("page"), numbers, twins)


def _followed(known: _Suspicion, catalog: Catalog, registry: Registry) -> _Suspicion:
    """The same where records only came: what is beside those is looked at, and all is where others went or were replaced."""
    now, pages = mark_of(catalog), catalog.of_kind("page")
    came = added_only(catalog, known.mark, now)
    if came is None or pages != known.pages:
        return _suspicion(catalog, registry)
    entries = suspects.numbered(catalog, came).values()
    numbers = {*known.numbers, *came, *suspects.beside(catalog, entries), *suspects.in_a_circle(catalog)}
    return _Suspicion(now, pages, numbers, known.twins | suspects.path_twins_of(catalog, entries))


def _suspects(catalog: Catalog, registry: Registry) -> set[int]:
    """The numbers of the records at which a rule can find anything."""
    suspected = suspects.doubled_or_alone(catalog) | suspects.in_a_circle(catalog)
    unknown = [name for name in catalog.types() if not registry.spec(name).known]
    suspected |= suspects.of_types(catalog, unknown) if unknown else set()
    ends: dict[int, list[str]] = defaultdict(lambda: ["", "", ""])
    for number, kind, type_, field, target, target_class, target_type, itself in suspects.references_joined(catalog):
        if field in _ENDS:
            ends[number][_ENDS.index(field)], ends[number][2] = target, type_
        if target_class is None or itself or not _leads_there(kind, type_, field, target_class, str(target_type)):
            suspected.add(number)
    suspected |= _doubled(ends)
    for number, (evidence, relations, *values), tags in suspects.said_besides(catalog, MOST_SUBJECTS):
        wrong = isinstance(evidence, list) and any(fault_in(str(reference)) for reference in evidence)
        words, said_ends = values[: len(OF_WORDS)], values[len(OF_WORDS) :]
        if tags > MOST_SUBJECTS or relations or wrong or _odd(words) or any(said_ends):
            suspected.add(number)
    return suspected


def _odd(words: Sequence[object]) -> bool:
    """Whether a field of one word holds none of the usual ones."""
    return any(word and word not in field.words for field, word in zip(OF_WORDS, words, strict=True))


def _doubled(ends: Mapping[int, Sequence[str]]) -> set[int]:
    """The edges of one type between the same two, and those from one to itself."""
    same: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, end in ends.items():
        same[tuple(end)].append(number)
    return {number for (start, end, _), numbers in same.items() if len(numbers) > 1 or start == end for number in numbers}


def _leads_there(kind: str, type_: str, field: str, target_class: str, target_type: str) -> bool:
    """Whether a reference leads to such a record as its field is for."""
    if RecordClass(target_class) not in references.FIELDS.get(RecordClass(kind), {}).get(field, ()):
        return False
    if field == "problem":
        return target_type == "problem"
    if field == "supersedes":
        return target_type == type_
    expected = dict(zip(("from_id", "to_id"), references.ENDS.get(type_, ("", "")), strict=True)).get(field, "")
    return not expected or target_type == expected
