"""A vault with vectors for tests: an honest small embedder of hashed words, and the brute force that search must agree with."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy

from tests.index.vaults import opened
from vault_tool.config import Config
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.files import git
from vault_tool.index.embedding.embedder import Embedded, Embedder, Role
from vault_tool.index.vault_index import Index
from vault_tool.index.vectors import passages
from vault_tool.index.vectors.hits import GENERAL, Matrix, VectorHit
from vault_tool.index.vectors.service import Vectors
from vault_tool.machine import Key
from vault_tool.util.clock import Clock

NO_KEY = Key()
_WORD = re.compile(r"\w+")


@dataclass
class Words:
    """An embedder in this process: a text is the sum of its words' random directions, so shared words make texts near.

    `calls` holds what was asked of it; `refuses` gives a reason for a text that it does not do; `after` is called
    before each batch.
    """

    name: str = "words:hashed"
    dimensions: int | None = 64
    follows_instructions: bool | None = False
    window: int = 300
    remote: bool = False
    provider: str = "words"
    model: str = "hashed"
    size: int = 64
    calls: list[str] = field(default_factory=list)
    refuses: Callable[[str], str] = lambda text: ""
    before: Callable[[], object] = lambda: None
    down: str = ""

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """See the port."""
        self.before()
        if self.down:
            raise EmbeddingUnavailable(self.down)
        self.calls.extend(texts)
        each = [instruction] * len(texts) if isinstance(instruction, str) else instruction
        told = [f"{own} {text}" if self.follows_instructions else text for text, own in zip(texts, each, strict=True)]
        refused = {n: why for n, text in enumerate(texts) if (why := self.refuses(text))}
        rows = numpy.stack([self._of(text) if n not in refused else numpy.zeros(self.size) for n, text in enumerate(told)])
        return Embedded(rows.astype(numpy.float32), refused)

    def _of(self, text: str) -> numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]:
        words = _WORD.findall(text.lower())
        total = sum((_vector(f"{self.name} {word}", self.size) for word in words), numpy.full(self.size, 1e-3))
        return numpy.asarray(total / numpy.linalg.norm(total))


@cache
def _vector(word: str, size: int) -> numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]:
    """A word's own: a generator is costly, and the few words come in each of hundreds of passages."""
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    made = numpy.random.default_rng(seed).standard_normal(size)
    made.flags.writeable = False
    return made


def vectors_of(
    root: Path,
    embedder: Embedder | None,
    others: Mapping[str, Embedder] | None = None,
    store: str = "exact",
    token: Key = NO_KEY,
) -> Vectors:
    """The vectors of a vault whose index is compared with the files each time that it is asked."""
    index = opened(root)

    def fresh() -> Index:
        index.refresh()
        return index

    known = others or {}
    return Vectors(root, fresh, Config(), git.find(root), Clock(), embedder, known.get, store, token)


def brute_force(
    root: Path, embedder: Words, query: str, instructions: Mapping[str, str] | None = None, passages: int | None = None
) -> dict[str, float]:
    """The best cosine of each note with a question, computed from the files alone: of all its passages, or of the first few."""
    best: dict[str, float] = {}
    asked = {GENERAL: ""} if instructions is None else instructions
    for instruction in asked.values():
        question = embedder.embed([query], Role.QUERY, instruction).vectors[0]
        for path, rows in _embedded(root, embedder, instruction).items():
            best[path] = max(best.get(path, -1.0), float((rows[:passages] @ question).max()))
    return best


def _embedded(root: Path, embedder: Words, instruction: str) -> dict[str, Matrix]:
    paths = [str(file.relative_to(root)) for file in sorted((root / "vault").rglob("*.md"))]
    read = passages.read_notes(root, Config().types, None, paths, embedder.window)
    return {note.path: embedder.embed(found, Role.DOCUMENT, instruction).vectors for note, found in read}


def agrees(hits: Sequence[VectorHit], truth: Mapping[str, float]) -> bool:
    """Whether hits are the best of the truth, in its order, with its cosines (to a rounding)."""
    wanted = sorted(truth.values(), reverse=True)[: len(hits)]
    close = numpy.allclose([hit.cosine for hit in hits], wanted, atol=1e-5)
    return bool(close and all(abs(truth.get(hit.path, -9) - hit.cosine) < 1e-5 for hit in hits))


def nearly_agrees(hits: Sequence[VectorHit], truth: Mapping[str, float], missed: int) -> bool:
    """Whether hits are files of the truth with its cosines, best first, and at most so many of the best are missing."""
    best = sorted(truth, key=lambda path: truth[path], reverse=True)[: len(hits)]
    right = all(abs(truth.get(hit.path, -9) - hit.cosine) < 1e-5 for hit in hits)
    ordered = [hit.cosine for hit in hits] == sorted((hit.cosine for hit in hits), reverse=True)
    return right and ordered and len(set(best) - {hit.path for hit in hits}) <= missed
