"""How well recall finds what was said: asked through the product's own engine, beside plain rankers, without each stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from bench.machine import Failed
from bench.perspectives import tell
from bench.questions import JudgedQuery, QuestionSet, Row, identity, make_vault, said, vault_folder
from bench.ranking import Bm25, Fts5, Quality, fused, measure
from vault_tool import Vault
from vault_tool.files.layout import SETTINGS_FILE
from vault_tool.index.fulltext.index_format import Analyzer
from vault_tool.index.vectors.hits import Vector
from vault_tool.recall.weights import TARGETED, Weights
from vault_tool.vault.retrieval.engine import Query, gather

LIMIT = 20
_DEEP = 200
_ALONE = replace(TARGETED, beside=0.0, beyond=0.0)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """One way of asking: with the product's weights, or without one of its stages."""

    name: str
    weights: Weights
    hops: int = 0


STAGES = (
    Stage("recall", TARGETED),
    Stage("without words (meaning alone)", replace(TARGETED, words=0.0)),
    Stage("without meaning (words alone)", replace(TARGETED, meaning=0.0)),
    Stage("without neighbours", _ALONE),
    Stage("without sessions", replace(TARGETED, session=0.0)),
    Stage("without named subjects", replace(TARGETED, named=0.0)),
    Stage("with implicit chains", TARGETED, hops=2),
    Stage("best passages alone", replace(TARGETED, passage=1.0, head=0.0)),
    Stage("first passages alone", replace(TARGETED, passage=0.0, head=1.0)),
    Stage("fusion alone", replace(_ALONE, session=0.0, named=0.0)),
)


class Conversation:
    """One conversation as an open vault, with the plain rankers over the same rows."""

    def __init__(self, vault: Vault, rows: Sequence[Row]) -> None:
        self.vault = vault
        self._rows = {identity(row.id): row.id for row in rows}
        self._bm25 = Bm25({row.id: said(row) for row in rows}, Analyzer("english"))
        self._fts5 = Fts5({row.id: said(row) for row in rows})
        self._paths = {
            entry.path: self._rows[entry.id] for entry in vault.index.catalog.snapshot().entries if entry.id in self._rows
        }
        ask = vault.embedding.vectors.query
        known: dict[tuple[str, ...], dict[str, Vector]] = {}

        def remembered(text: str, *others: str, seconds: float | None = None) -> dict[str, Vector]:
            if (text, *others) not in known:
                known[text, *others] = ask(text, *others)
            return known[text, *others]

        # Each question is asked once a stage; its vector is the same.
        vault.embedding.vectors.query = remembered  # type: ignore[method-assign]

    def recalled(self, query: JudgedQuery, stage: Stage) -> list[str]:
        """The rows that recall gives, best first."""
        asked = Query(query=query.question, limit=LIMIT, hops=stage.hops, include_global=False)
        return [self._rows[one.id] for one in gather(self.vault, asked, stage.weights).results if one.id in self._rows]

    def by_words(self, query: JudgedQuery, limit: int = LIMIT) -> list[str]:
        """BM25 alone."""
        return self._bm25.ranked(query.question, limit)

    def by_fts5(self, query: JudgedQuery) -> list[str]:
        """SQLite's FTS5 alone, the words left out that only make a question."""
        return self._fts5.ranked(query.question, LIMIT)

    def by_meaning(self, query: JudgedQuery, limit: int = LIMIT) -> list[str]:
        """The best passage's cosine alone."""
        found = self.vault.embedding.vectors.search(self.vault.embedding.vectors.query(query.question), limit + 20)
        return [self._paths[hit.path] for hit in found if hit.path in self._paths][:limit]

    def by_rank(self, query: JudgedQuery) -> list[str]:
        """Both, by reciprocal ranks of equal weight."""
        return fused([self.by_words(query, _DEEP), self.by_meaning(query, _DEEP)], LIMIT)


def run(one: QuestionSet, folder: Path, say: Say, stages: Sequence[Stage] = STAGES) -> Iterator[tuple[str, Quality]]:
    """The quality of every system on one set: the plain rankers first, then recall, then recall without each stage."""
    with ExitStack() as open_vaults:
        asked = opened(one, folder, open_vaults, say)
        queries = [query for query in one.queries if query.evidence]
        systems: Mapping[str, Callable[[Conversation, JudgedQuery], list[str]]] = {
            "BM25 alone": Conversation.by_words,
            "FTS5, question words left out": Conversation.by_fts5,
            "vectors alone (best passage)": Conversation.by_meaning,
            "equal reciprocal ranks": Conversation.by_rank,
            **{stage.name: _at(stage) for stage in stages},
        }
        for name, system in systems.items():
            say(f"{one.name}: {name}")
            yield name, measure([(query.evidence, system(asked[query.conv], query)) for query in queries])


def _at(stage: Stage) -> Callable[[Conversation, JudgedQuery], list[str]]:
    return lambda conversation, query: conversation.recalled(query, stage)


def run_told(one: QuestionSet, folder: Path, say: Say) -> Quality:
    """The quality of recall with all perspectives, their instructions put before the texts of a model that ignores them."""
    with ExitStack() as open_vaults:
        asked = opened(one, folder, open_vaults, say, told=True)
        system = _at(STAGES[0])
        return measure([(query.evidence, system(asked[query.conv], query)) for query in one.queries if query.evidence])


def opened(one: QuestionSet, folder: Path, open_vaults: ExitStack, say: Say, *, told: bool = False) -> dict[str, Conversation]:
    """The conversations of a set as vaults, made and embedded where they are not yet."""
    found = {}
    for conv, rows in one.conversations.items():
        root = vault_folder(folder, one.name, conv)
        if not (root / SETTINGS_FILE).exists():
            make_vault(root, conv, rows)
        vault = open_vaults.enter_context(Vault.open(root))
        vault.fresh()
        if told:
            tell(vault)
        say(f"{one.name}: {conv}, {vault.embedding.vectors.missing_count()} notes to embed")
        vault.embedding.vectors.catch_up()
        if vault.embedding.vectors.embedder is None or not vault.embedding.vectors.ready:
            raise Failed(f"no embeddings: {vault.embedding.choice.why}; set VAULT_MODELS to the folder that holds the model")
        vault.is_current = lambda: True  # nothing changes while questions are asked
        found[conv] = Conversation(vault, rows)
    return found
