"""The common part of embedders that ask a server: their name, prompts, batches, bounds and patience."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.asking import EmbeddingServer, NoAnswer, NoJson
from vault_tool.index.embedding.batching import MOST_DIMENSIONS, Numbers, in_batches
from vault_tool.index.embedding.calling import Patience
from vault_tool.index.embedding.embedder import Embedded, Role
from vault_tool.index.embedding.prompts import prompts_of
from vault_tool.machine import is_loopback
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

BATCH = 50

_LEAST_DIMENSIONS = 4096
# Bytes that a number takes as JSON, with room to spare.
_NUMBER = 32
_AROUND = 2**16


class Limits(Struct):
    """Seconds in all for one call: for a question with a caller waiting, a first batch (a model loads), later ones."""

    query: float = 2.0
    first: float = 300.0
    batch: float = 60.0
    idle: float = 300.0
    """Seconds without news in which a pull is given up."""


class Served(ABC):
    """A model behind `url`, asked fifty texts a call; nothing is asked of it before the first `embed`."""

    provider: ClassVar[str]
    option: ClassVar[str]
    """The setting that says where it is."""

    def __init__(self, url: str, model: str, who: str, limits: Limits, dimensions: int | None = None) -> None:
        self.model = model
        self.dimensions = dimensions
        self.remote = not is_loopback(url)
        self._prompts = prompts_of(model)
        self._limits = limits
        self._patience = Patience()
        self._protocol = who
        self._who = f"{who} at {url}"
        self._server = EmbeddingServer(url, remote=self.remote)

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self.model}"

    @property
    def follows_instructions(self) -> bool | None:
        """Whether the model heeds an instruction."""
        return self._prompts.follows_instructions

    @property
    def window(self) -> int:
        """Characters of a passage."""
        return self._prompts.window

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text; see the port."""
        each = [instruction] * len(texts) if isinstance(instruction, str) else instruction
        prompts = [self._acceptable(self._prompts.before(text, role, title)) for text, title in zip(texts, each, strict=True)]
        if seconds is None and role is Role.QUERY:
            seconds = self._limits.query
        self._server.ready()  # before the clock runs
        until = None if seconds is None else time.monotonic() + seconds
        done = in_batches(prompts, lambda batch: self._asked(batch, until), BATCH, self.dimensions, self._who)
        self.dimensions = self.dimensions or done.vectors.shape[1] or None
        return done

    def _asked(self, texts: Sequence[str], until: float | None) -> Sequence[Numbers]:
        limit = self._limits.first if self.dimensions is None else self._limits.batch
        if until is not None:
            limit = min(limit, until - time.monotonic())
        most = _AROUND + len(texts) * max(self.dimensions or MOST_DIMENSIONS, _LEAST_DIMENSIONS) * _NUMBER

        def call() -> Sequence[Numbers]:
            with self._explained():
                return self._answered(texts, limit, most)

        return self._patience.call(limit, call, self._who, waiting=until is not None)

    def _acceptable(self, text: str) -> str:
        """The text as the provider takes it, without halves of characters."""
        return text.encode("utf-8", "replace").decode("utf-8")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what a call came to into one line for a person."""
        try:
            yield
        except NoAnswer as fault:
            raise EmbeddingUnavailable(f"{self._who} {fault}", self._hint(fault.refused)) from None
        except (NoJson, KeyError, TypeError, ValueError, OverflowError):
            raise self._other_protocol() from None

    def _other_protocol(self) -> EmbeddingUnavailable:
        return EmbeddingUnavailable(
            f"{self._who} does not speak {self._protocol}'s protocol", f"see {step('config')}: {self.option}"
        )

    @abstractmethod
    def _hint(self, refused: bool) -> str:
        """The next step for a person if the server does not answer; `refused` says that no program listens there."""

    @abstractmethod
    def _answered(self, texts: Sequence[str], seconds: float, most: int) -> Sequence[Numbers]:
        """One call: a list of numbers for each text, from an answer of at most so many bytes.

        Raises EmbeddingUnavailable, BadBatch for the fault of a text, or what `Server.ask` raises; what a wrong shape
        raises is no answer in this protocol.
        """


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object; TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value
