"""What embedders that ask a server have in common: their name, prompts, batches and patience."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from vault_tool.index.embedding.batching import Numbers, in_batches
from vault_tool.index.embedding.calling import Patience
from vault_tool.index.embedding.port import Embedded, Role
from vault_tool.index.embedding.prompts import prompts_of
from vault_tool.machine import is_loopback

BATCH = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds in all for one call: for a question that somebody waits for, a first batch (a model loads), later ones."""

    query: float = 10.0
    first: float = 300.0
    batch: float = 60.0
    idle: float = 300.0
    """Seconds without a word in which a pull is given up."""


class Served(ABC):
    """A model behind `url`, asked fifty texts a call; nothing is asked of it before the first `embed`."""

    provider: ClassVar[str]

    def __init__(self, url: str, model: str, who: str, limits: Limits, dimensions: int | None = None) -> None:
        self.model = model
        self.dimensions = dimensions
        self.remote = not is_loopback(url)
        self._prompts = prompts_of(model)
        self._limits = limits
        self._patience = Patience()
        self._who = f"{who} at {url}"

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self.model}"

    @property
    def follows_instructions(self) -> bool:
        """Whether the model heeds an instruction."""
        return self._prompts.follows_instructions

    @property
    def window(self) -> int:
        """Characters of a passage."""
        return self._prompts.window

    def embed(self, texts: Sequence[str], role: Role, instruction: str = "") -> Embedded:
        """A vector a text; see the port."""
        told = [self._told(self._prompts.before(text, role, instruction)) for text in texts]
        done = in_batches(told, lambda batch: self._asked(batch, role), BATCH, self.dimensions, self._who)
        self.dimensions = self.dimensions or done.vectors.shape[1] or None
        return done

    def _asked(self, texts: Sequence[str], role: Role) -> Sequence[Numbers]:
        self._ready()  # before the clock runs: loading a client takes its time
        limits = self._limits
        limit = limits.query if role is Role.QUERY else limits.first if self.dimensions is None else limits.batch
        return self._patience.call(limit, lambda: self._answered(texts), self._who, waiting=role is Role.QUERY)

    def _told(self, text: str) -> str:
        """The text as the provider takes it."""
        return text

    @abstractmethod
    def _ready(self) -> None:
        """Load the client."""

    @abstractmethod
    def _answered(self, texts: Sequence[str]) -> Sequence[Numbers]:
        """One call: a list of numbers for each text. Raises EmbeddingUnavailable, or BadBatch for the fault of a text."""
