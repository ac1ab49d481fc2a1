"""`get_stats` and `tags`: how much a vault holds, how much of it can be found by meaning, and which tags it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import nsmallest

from msgspec import field

from vault_tool.index.relations import successors, supersession
from vault_tool.index.slight import head_fields
from vault_tool.index.vectors.passages import count_embeddable
from vault_tool.model.snapshot import ENDS, Entry, is_over
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import moment
from vault_tool.util.structs import Struct
from vault_tool.util.text import tag_name
from vault_tool.vault.context import Context
from vault_tool.vault.request import Answer, looks, verb

# So many tags are named beside each.
_BESIDE = 5


class VaultName(Struct, kw_only=True):
    """The vault's id, name, description and folder."""

    id: str | None
    name: str
    description: str
    root: str


class EmbeddingCoverage(Struct, kw_only=True):
    """How many of the notes that can have vectors have them, in all and by perspective; `share` (0..1) is None without any."""

    model: str | None
    embedded: int
    embeddable: int
    share: float | None
    perspectives: Mapping[str, int] = field(default_factory=dict)


class Stats(Answer, kw_only=True):
    """The answer of `get_stats`; an understanding is active until another supersedes it."""

    workspace: VaultName
    subject_count: int
    observation_count: int
    understanding_count: int
    active_understanding_count: int
    edge_count: int
    consolidation_count: int
    page_count: int
    by_type: Mapping[str, int]
    signal_count: int
    embedding_coverage: EmbeddingCoverage
    current_generation: int
    last_consolidated_at: str | None


class CooccurringTag(Struct, kw_only=True):
    """A tag that stands beside another, and on how many memories both stand."""

    tag: str
    count: int


class TagCount(Struct, kw_only=True):
    """A tag as it is written most often, how many memories have it, and what stands beside it, most often first."""

    tag: str
    count: int
    beside: tuple[CooccurringTag, ...]


class Tags(Answer, kw_only=True):
    """The answer of `tags`, the most frequent first: `total` is how many there are, `tagged` how many memories have any."""

    total: int
    tagged: int
    results: tuple[TagCount, ...]


@verb
@looks
def tags(vault: Context, prefix: str = "", limit: int = 50) -> Tags:
    """The tags of the memories with how many have each, and which stand together; of all, or of those that begin with `prefix`.

    Tags are one whatever their case, and with `-`, `_` or a space. What a newer understanding replaced, and what has expired,
    does not count.
    """
    begins = tag_name(prefix)
    spelt: Counter[tuple[str, str]] = Counter()
    sets: list[frozenset[str]] = []
    named: dict[str, str] = {}
    for written in _tags_in_force(vault):
        spellings = {named.get(tag) or named.setdefault(tag, tag_name(tag)): tag.strip().removeprefix("#") for tag in written}
        spellings.pop("", None)
        if spellings:
            spelt.update(spellings.items())
            sets.append(frozenset(spellings))
    counts = Counter(name for names in sets for name in names)
    matching = [(name, count) for name, count in counts.items() if name.startswith(begins)]
    best = nsmallest(limit, matching, key=lambda pair: (-pair[1], pair[0]))
    around: dict[str, Counter[str]] = {name: Counter() for name, _ in best}
    for names in sets:
        for name in names & around.keys():
            around[name].update(names - {name})
    usual = {name: tag for (name, tag), _ in sorted(spelt.items(), key=lambda pair: (pair[1], pair[0]))}
    results = (
        TagCount(
            tag=usual[name],
            count=count,
            beside=tuple(
                CooccurringTag(tag=usual[other], count=shared)
                for other, shared in nsmallest(_BESIDE, around[name].items(), key=lambda pair: (-pair[1], pair[0]))
            ),
        )
        for name, count in best
    )
    return Tags(total=len(matching), tagged=len(sets), results=tuple(results))


def _tags_in_force(vault: Context) -> Iterator[tuple[str, ...]]:
    """The tags of each memory that has any and is still told."""
    now, replaced = vault.clock.now(), supersession(vault.index.catalog)
    for identity, (tags, *ends) in head_fields(vault.index.catalog, "tags", *ENDS):
        if tags and isinstance(tags, list) and identity not in replaced and not is_over(ends, now):
            yield tuple(map(str, tags))


@verb
@looks
def get_stats(vault: Context) -> Stats:
    """Counts of everything, the embedding coverage, the consolidation cycle and what the vault says it is."""
    catalog = vault.index.catalog
    by_type = catalog.count_by_type()
    classes: Counter[str] = Counter()
    for (record_class, _), count in by_type.items():
        classes[record_class] += count
    understandings = catalog.ids_of_class(RecordClass.UNDERSTANDING)
    counts = catalog.counts()
    passes = catalog.of_class(RecordClass.CONSOLIDATION)
    return Stats(
        workspace=_workspace(vault),
        subject_count=classes[RecordClass.SUBJECT.value],
        observation_count=classes[RecordClass.OBSERVATION.value],
        understanding_count=classes[RecordClass.UNDERSTANDING.value],
        active_understanding_count=sum(not successors(vault.index.catalog, understanding) for understanding in understandings),
        edge_count=classes[RecordClass.EDGE.value],
        consolidation_count=len(passes),
        page_count=counts.pages,
        by_type={kind: count for (_, kind), count in sorted(by_type.items(), key=lambda pair: (-pair[1], pair[0][1]))},
        signal_count=counts.signals,
        embedding_coverage=_coverage(vault),
        current_generation=catalog.generation(),
        last_consolidated_at=max((entry.text("created") for entry in passes), default=None, key=moment),
    )


def _workspace(vault: Context) -> VaultName:
    workspace: Entry | None = next(iter(vault.index.catalog.of_class(RecordClass.WORKSPACE)), None)
    if workspace is None:
        return VaultName(id=None, name=vault.root.name, description="", root=str(vault.root))
    description = workspace.text("description") or workspace.preview
    return VaultName(
        id=workspace.id, name=workspace.text("name") or workspace.title, description=description, root=str(vault.root)
    )


def _coverage(vault: Context) -> EmbeddingCoverage:
    vectors = vault.embedding.vectors
    embeddable, model = count_embeddable(vault.index.catalog), vectors.model or None
    if not vectors.stored:
        return EmbeddingCoverage(model=model, embedded=0, embeddable=embeddable, share=0.0 if model and embeddable else None)
    embedded = vectors.count
    return EmbeddingCoverage(
        model=model, embedded=embedded, embeddable=embeddable, share=embedded / (embeddable or 1), perspectives=vectors.coverage
    )
