"""The interface of an embedder: texts in, unit vectors out, with the texts that it could not do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import field

from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Role(StrEnum):
    """The role of a text in a search: many models put different words before the two."""

    QUERY = "query"
    DOCUMENT = "document"


class Embedded(Struct):
    """Vectors of texts: float32, a row a text, each of length 1; the row of a text in `refused` (with its reason) is zero."""

    vectors: NDArray[np.float32]
    refused: Mapping[int, str] = field(default_factory=dict)
    state: str = ""
    """The state of the files of the model that made them, where it is in files of this machine (`weights.state`)."""


class Embedder(Protocol):
    """A model that turns texts into vectors. Its properties cost nothing; only `embed` loads or calls anything."""

    @property
    def name(self) -> str:
        """Provider and model, `ollama:nomic-embed-text`: vectors of one name can be compared with each other."""

    @property
    def provider(self) -> str:
        """`local`, `ollama` or `openai`."""

    @property
    def model(self) -> str:
        """The model's name as its provider has it."""

    @property
    def dimensions(self) -> int | None:
        """How many numbers a vector has; None until the model has been asked once."""

    @property
    def follows_instructions(self) -> bool | None:
        """Whether an instruction before a text changes what its vector shows; None if that is not known."""

    @property
    def window(self) -> int:
        """How many characters of English the model takes in at once, with room to spare."""

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine."""

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text, in order. Raises EmbeddingUnavailable when the call as a whole could not be done.

        `instruction` is one for all or one a text. `seconds` is how long somebody waits for all of it; None where
        nobody does, which leaves a server its own limits.
        """


@runtime_checkable
class OfFiles(Protocol):
    """An embedder whose model is in files of this machine, which may become others under the same name."""

    def state(self) -> str:
        """How the files are now, as the system tells without reading them; empty where they are missing."""

    def mark(self, before: str = "") -> str:
        """The digest of the files with their state; `before` where they are as it says. Empty where nothing can be said."""


def state_of(maker: Embedder) -> str:
    """The state of an embedder's files; empty for one that has none."""
    return maker.state() if isinstance(maker, OfFiles) else ""


def mark_of(maker: Embedder, before: str) -> str:
    """The mark of an embedder's files; empty for one that has none."""
    return maker.mark(before) if isinstance(maker, OfFiles) else ""
