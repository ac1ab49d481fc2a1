"""Twins among subjects: find them, and make two subjects one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

from msgspec.structs import replace

from vault_tool.consolidation.similar_names import near_pairs
from vault_tool.consolidation.understanding_coverage import contested
from vault_tool.errors import EditRefused, Refused, UsageError
from vault_tool.features.consolidation.open_intersections import SubjectLine, line_of
from vault_tool.features.consolidation.subject_similarity import between, prepared, unusual
from vault_tool.features.understandings.understandings import inherited
from vault_tool.files import git
from vault_tool.files.frontmatter import AddItems, Change, RemoveItems, Set
from vault_tool.files.render import body_text
from vault_tool.index.relations import Region, Regions, names_of, regions_of
from vault_tool.index.schema import REFERENCES
from vault_tool.model.ids import derived_id, new_id
from vault_tool.model.records import Understanding
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, normal_name, one_line
from vault_tool.vault import no_return, resolve, review_policy
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, body_of
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import Answer, looks, of_the_whole, verb

# The type of a merge's entry in the day's log: with its hyphen no memory can have it.
MERGE = "vault-merge"

# Most characters of the summary of what was merged, which grows with each merge.
SUMMARY = 300

# Up to so many shared memories an intersection is small for two subjects that mean nearly the same.
SMALL = 2


class UnfitNote(Struct, kw_only=True):
    """A note that has to change in a merge and cannot: where it is broken, and what mends it."""

    id: str
    title: str
    path: str
    reason: str
    hint: str


class Merged(Saved, kw_only=True):
    """Two subjects that are one: what was retagged and relinked, and the note that says so; with `dry_run` what would be.

    `contested` are understandings that now say the same thing twice, each kind's ids together: one that supersedes them
    settles it. `unfit` are told beforehand alone: notes that keep it from being done.
    """

    primary: SubjectLine
    duplicate: str
    aliases_added: tuple[str, ...]
    observations_retagged: int
    understandings_retagged: int
    relinked: int
    removed: str
    structural_understanding_id: str
    contested: tuple[tuple[str, ...], ...] = ()
    unfit: tuple[UnfitNote, ...] = ()
    dry_run: bool = False


class SimilarPair(Struct, kw_only=True):
    """Two subjects that may be one: how near their names are and their meanings (0..1, None where nothing says so)."""

    subject_a: SubjectLine
    subject_b: SubjectLine
    name_score: float | None
    similarity_score: float | None
    intersection_size: int
    suggestion: str


class SimilarSubjects(Answer, kw_only=True):
    """The answer of `find_similar_subjects`, the nearest pairs first."""

    results: tuple[SimilarPair, ...]
    more: int
    degraded: tuple[str, ...]
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
def find_similar_subjects(vault: Context, subject_name: str = "", *, limit: int | None = 20) -> SimilarSubjects:
    """Pairs of subjects that may be one, or should be tagged across: near in name, or in meaning with little shared.

    With `subject_name` only the pairs that it is in. Nothing is changed: `merge_subjects` makes one of two.
    """
    degraded = prepared(vault)
    regions = regions_of(vault.index.catalog)
    only = regions.called(resolve.existing_subject(vault, subject_name).title).key if subject_name else ""
    pairs = list(_similar(vault, regions, only))
    pairs.sort(
        key=lambda pair: (-max(pair.name_score or 0, pair.similarity_score or 0), pair.subject_a.name, pair.subject_b.name)
    )
    return SimilarSubjects(
        results=tuple(pairs[:limit]),
        more=len(pairs) - len(pairs[:limit]),
        degraded=degraded,
    )


@verb
@of_the_whole
def merge_subjects(vault: Context, primary: str, duplicate: str, *, reason: str = "", dry_run: bool = False) -> Merged:
    """Make two subjects one, in one commit: every memory of `duplicate` is tagged with `primary`, whose alias it becomes.

    The duplicate's file goes, its summary and notes into the structural understanding of `primary`, which also takes the place
    of what was said of the two as a pair. Refused, with nothing
    changed, where a note cannot be edited, where another subject claims one of the names, or where hand edits of the
    duplicate would be lost. With `dry_run` nothing changes, and the notes that cannot be edited are named.
    """
    vault = vault.with_withheld()
    with writing(vault, "merge-subjects") as op:
        primary_entry, gone = resolve.existing_subject(vault, primary), resolve.existing_subject(vault, duplicate)
        _require_mergeable(vault, primary_entry, gone)
        tagged = vault.index.catalog.tagged([names_of(gone)])
        pointing = vault.index.catalog.pointing_at(gone.id)
        unfit = {entry.path: _unreadable(entry) for entry in (primary_entry, gone) if entry.stale}
        plans = [(entry, partial(_retag, op, entry, primary_entry, gone)) for entry in tagged]
        plans += [(entry, partial(_relink, op, entry, field, primary_entry, gone)) for field, entry in pointing]
        plans += [(primary_entry, partial(_take_over, op, primary_entry, gone))]
        for entry, plan in plans:
            try:
                plan()
            except EditRefused as fault:
                unfit.setdefault(entry.path, _unfit(entry, fault))
        added = _names_added(primary_entry, gone)
        if dry_run:
            return _preview(vault, primary_entry, gone, tagged, len(pointing), added, tuple(unfit.values()))
        if unfit:
            first = next(iter(unfit.values()))
            more = f" (and {counted(len(unfit) - 1, 'more note')})" if len(unfit) > 1 else ""
            raise EditRefused(f"{first.reason}{more}", first.hint or "mend it, then merge again")
        note = _structural(op, primary_entry, gone, reason)
        op.remove(gone.path)
        summary = f"{counted(len(tagged), 'memory', 'memories')} retagged; {gone.path} removed"
        title = f"{gone.title} merged into {primary_entry.title}"
        op.log_entry(EpisodeEntry(at=vault.now(), title=title, type=MERGE, path=primary_entry.path, summary=summary))
        saved = op.carry_out(f"{gone.title} into {primary_entry.title}", [primary_entry.id, note.id])
    regions = regions_of(vault.index.catalog)
    primary_region = regions.called(primary_entry.title)
    disputes = tuple(_contested(regions, primary_region))
    return Merged(
        **saved.fields(*_remarks(disputes, primary_entry)),
        primary=line_of(vault, primary_region),
        duplicate=gone.title,
        aliases_added=added,
        observations_retagged=_count(tagged, RecordClass.OBSERVATION),
        understandings_retagged=_count(tagged, RecordClass.UNDERSTANDING),
        relinked=len(pointing),
        removed=gone.path,
        structural_understanding_id=note.id,
        contested=disputes,
    )


def _similar(vault: Context, regions: Regions, only: str) -> Iterator[SimilarPair]:
    """All pairs that come near in name or in meaning; with the key of a subject those that it is in."""
    entries = vault.index.catalog.of_class(RecordClass.SUBJECT)
    subjects = {entry.id: Region(entry.id, entry.title, names_of(entry), entry) for entry in entries}
    names = _near_in_name(subjects.values(), subjects.get(only))
    meanings = _near_in_meaning(vault, list(subjects.values()))
    for pair in dict.fromkeys((*names, *meanings)):
        if only and only not in pair:
            continue
        first, other = (subjects[key] for key in pair)
        shared = len(regions.observations(first) & regions.observations(other))
        if pair in names or shared <= SMALL:
            yield _pair(vault, first, other, names.get(pair), meanings.get(pair), shared)


def _near_in_name(subjects: Iterable[Region], only: Region | None) -> dict[tuple[str, str], float]:
    """The pairs of which some names are nearly one, or the same; where one subject is asked for, its pairs are among them."""
    owners: dict[str, list[str]] = defaultdict(list)
    for region in subjects:
        for name in region.names:
            owners[name].append(region.key)
    twins = ((key, other, 1.0) for keys in owners.values() for key, other in combinations(keys, 2))
    pairs = near_pairs(owners, only.names if only else None)
    near = ((key, other, score) for a, b, score in pairs for key in owners[a] for other in owners[b])
    scores: dict[tuple[str, str], float] = {}
    for key, other, score in (*twins, *near):
        if key != other:
            pair = (min(key, other), max(key, other))
            scores[pair] = max(scores.get(pair, 0.0), round(score, 3))
    return scores


def _pair(vault: Context, region: Region, other: Region, name: float | None, meaning: float | None, shared: int) -> SimilarPair:
    first, second = sorted((region, other), key=lambda region: normal_name(region.name))
    return SimilarPair(
        subject_a=line_of(vault, first),
        subject_b=line_of(vault, second),
        name_score=name,
        similarity_score=meaning,
        intersection_size=shared,
        suggestion="merge" if name is not None else "tag across, or merge",
    )


def _near_in_meaning(vault: Context, subjects: Sequence[Region]) -> Mapping[tuple[str, str], float]:
    """The pairs whose summaries are nearer than unrelated texts of this vault ever are."""
    least = unusual(vault)
    cosines = between(vault, subjects, subjects)
    return {(key, other): cosine for (key, other), cosine in cosines.items() if key < other and cosine >= least}


def _require_mergeable(vault: Context, primary: Entry, gone: Entry) -> None:
    if primary.path == gone.path or primary.id == gone.id:
        raise UsageError(f"`{primary.title}` cannot be merged with itself", "name two subjects, by id where one name means both")
    for name in names_of(gone):
        others = [e for e in vault.index.catalog.subject_named(name) if e.path not in (primary.path, gone.path)]
        if others:
            raise Refused(f"`{name}` is a name of {others[0].path} too", "rename one of them, or merge those first")
    # Undo brings back what was committed, and hand edits were not.
    if vault.repo and any(pending.path == gone.path for pending in git.uncommitted(vault.repo, [gone.path])):
        raise Refused(
            f"{gone.path} has changes that are not committed, and it would be removed", f"{step('commit', paths=gone.path)} first"
        )
    if review_policy.policy(vault, _draft(vault, primary, "", "")) == "review":
        raise Refused("a merge writes an understanding, and those wait for a person here", "ask the owner to merge them")


def _retag(op: Operation, entry: Entry, primary: Entry, gone: Entry) -> None:
    """Plan the subjects of one note: the duplicate's forms go, the primary stands there once; others are not touched."""
    own, old = set(names_of(primary)), set(names_of(gone)) - set(names_of(primary))
    leaving = [name for name in entry.texts("subjects") if normal_name(name) in old]
    staying = any(normal_name(name) in own for name in entry.texts("subjects"))
    changes: list[Change] = [RemoveItems("subjects", leaving)] if leaving else []
    if leaving and not staying:
        changes.append(AddItems("subjects", op.as_written([primary.title])))
    if not changes:
        return
    try:
        op.edit(entry.path, *changes)
    except EditRefused:
        # An unquoted link is a list in a list to YAML, of which not every single item can be taken out.
        op.edit(entry.path, Set("subjects", op.as_written(_replaced(entry.texts("subjects"), old, primary.title))))


def _replaced(names: Iterable[str], old: set[str], new: str) -> list[str]:
    renamed = (new if normal_name(name) in old else name for name in names)
    return list({normal_name(name): name for name in renamed}.values())


def _unfit(entry: Entry, fault: EditRefused) -> UnfitNote:
    return UnfitNote(id=entry.id, title=entry.title, path=entry.path, reason=fault.message, hint=fault.hint)


def _unreadable(entry: Entry) -> UnfitNote:
    reason = f"{entry.path} cannot be read now, and what it says would be lost"
    return UnfitNote(id=entry.id, title=entry.title, path=entry.path, reason=reason, hint=f"see {step('doctor')}")


def _preview(
    vault: Context, primary: Entry, gone: Entry, tagged: Sequence[Entry], relinked: int, added: tuple[str, ...],
    unfit: tuple[UnfitNote, ...],
) -> Merged:  # fmt: skip
    """The result that a merge would have."""
    regions = regions_of(vault.index.catalog)
    primary_region, other = regions.called(primary.title), regions.called(gone.title)
    touching = {entry.path: entry for region in (primary_region, other) for entry in regions.touching(region)}.values()
    # Structural understandings of either, or of the two as a pair, become one.
    held = [
        (entry, frozenset(primary_region.key if key.key == other.key else key.key for key in regions.of(entry)))
        for entry in touching
    ]
    ours = frozenset({primary_region.key})
    settled = {
        entry.path
        for entry, keys in held
        if keys == ours and (entry.type == "structural" or (entry.type == "relationship" and len(regions.of(entry)) > 1))
    }
    disputes = contested([(entry, keys) for entry, keys in held if entry.path not in settled])
    return Merged(
        primary=line_of(vault, primary_region), duplicate=gone.title, aliases_added=added,
        observations_retagged=_count(tagged, RecordClass.OBSERVATION),
        understandings_retagged=_count(tagged, RecordClass.UNDERSTANDING),
        relinked=relinked, removed=gone.path, structural_understanding_id="",
        contested=tuple(tuple(entry.id for entry in group) for group in disputes), unfit=unfit, dry_run=True,
    )  # fmt: skip


def _names_added(primary: Entry, gone: Entry) -> tuple[str, ...]:
    """The names that the primary answers to afterwards, and did not before."""
    primary_names = {normal_name(name) for name in (primary.text("name"), *primary.texts("aliases"))}
    theirs = {normal_name(name): name for name in (gone.text("name"), *gone.texts("aliases")) if name}
    return tuple(name for normal, name in theirs.items() if normal not in primary_names)


def _relink(op: Operation, entry: Entry, field: str, primary: Entry, gone: Entry) -> None:
    """Plan a head that points at the duplicate to point at the primary."""
    many = dict(REFERENCES[entry.record_class])[field]
    if many:
        op.edit(entry.path, RemoveItems(field, [gone.id]), AddItems(field, [primary.id]))
        return
    changes: list[Change] = [Set(field, primary.id)]
    title = field.removesuffix("_id") + "_title"
    if entry.text(title):
        changes.append(Set(title, primary.title))
    op.edit(entry.path, *changes)


def _take_over(op: Operation, primary: Entry, gone: Entry) -> None:
    """Plan what the primary gets of the duplicate's head: names as aliases, tags, and what it lacks itself."""
    added = _names_added(primary, gone)
    changes: list[Change] = [AddItems("aliases", added)] if added else []
    tags = [tag for tag in gone.texts("tags") if tag not in primary.texts("tags")]
    if tags:
        changes.append(AddItems("tags", tags))
    lacking = [field for field in ("summary", "key", "role") if gone.text(field) and not primary.text(field)]
    changes.extend(Set(field, gone.text(field)) for field in lacking)
    if gone.pinned and not primary.pinned:
        changes.append(Set("pinned", True))
    if changes:
        op.edit(primary.path, *changes)


def _structural(op: Operation, primary: Entry, gone: Entry, reason: str) -> Understanding:
    """Plan the structural understanding that says what was merged, with all that both had in theirs."""
    vault = op.vault
    regions = regions_of(vault.index.catalog)
    both = [regions.called(subject.title) for subject in (primary, gone)]
    before = list({e.id: e for region in both for e in regions.understandings([region], "structural")}.values())
    pair = regions.understandings(both, "relationship") if both[0].key != both[1].key else []
    bodies = [body_of(vault, entry) for entry in before]
    bodies += [f"When they were two, it was said of them:\n\n{body_of(vault, entry)}" for entry in pair]
    merged = f"Merged from {gone.title} ({gone.id}) in generation {vault.index.catalog.generation()}."
    own = [f"{merged} {one_line(reason)}".rstrip()]
    if gone.text("summary"):
        own.append(f"It was summarised as: {gone.text('summary')}")
    if text := body_of(vault, gone).strip():
        own.append(f"Its own page said:\n\n{text}")
    summary = " ".join([*(entry.text("summary") for entry in before), f"Merged from {gone.title}."])
    draft = _draft(vault, primary, "\n\n".join([*bodies, *own]), summary)
    # Two clones that merge the same two write the same bytes: of who and when git tells.
    label = "\n".join(["merged", primary.id, gone.id, draft.summary, draft.body])
    identity = derived_id(resolve.workspace_id(vault), label)
    taken = no_return.is_taken(vault, identity)
    record = replace(
        draft, id=draft.id if taken else identity, created=None, session="", model="",
        supersedes=tuple(entry.id for entry in (*before, *pair)), sources=inherited((*before, *pair), ()),
        pinned=any(entry.pinned for entry in (*before, *pair)), reason=one_line(reason) or "two subjects became one",
    )  # fmt: skip
    op.create(record)
    return record


def _draft(vault: Context, primary: Entry, content: str, summary: str) -> Understanding:
    return Understanding(
        id=new_id(), type="structural", body=body_text(content), title=f"{primary.title}: structure",
        summary=one_line(summary, SUMMARY), subjects=(primary.title,), generation=vault.index.catalog.generation(),
        created=vault.now(), **vault.who.provenance(),
    )  # fmt: skip


def _contested(regions: Regions, merged: Region) -> Iterator[tuple[str, ...]]:
    """The understandings of one subject, alone or with others, of which more than one of a kind and place is active."""
    held = [(entry, frozenset(region.key for region in regions.of(entry))) for entry in regions.touching(merged)]
    yield from (tuple(entry.id for entry in group) for group in contested(held))


def _remarks(disputes: Sequence[tuple[str, ...]], primary: Entry) -> Iterator[str]:
    if disputes:
        joining = step("update_understanding", understanding_id=disputes[0][0], join=True)
        yield f"{primary.title} has several active understandings of one kind now: {joining}"


def _count(entries: Iterable[Entry], kind: RecordClass) -> int:
    return sum(entry.record_class is kind for entry in entries)
