"""The sets of vectors in a cache folder, and which answers: an old model's goes on until the new one's is whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import VECTORS
from vault_tool.index.embedding.embedder import Embedder, Role, mark_of, state_of
from vault_tool.index.embedding.model_weights import alike
from vault_tool.index.seals import discard, make_folder, make_way
from vault_tool.index.vectors import rows, vector_set
from vault_tool.util import atomic
from vault_tool.util.text import slug

if TYPE_CHECKING:
    from vault_tool.index.vectors.vector_set import VectorSet

_MARK = "model.mark"
"""The file of a set that tells the files of the model that made it: see `embedding.model_weights`."""

# The embedder of a name that was used before, where it may be asked.
Other = Callable[[str], Embedder | None]


class Sets:
    """The sets in one cache folder, seen by one who has chosen an embedder (or none)."""

    def __init__(self, cache: Path, wait: float, chosen: Embedder | None, other: Other) -> None:
        self._cache = cache
        self._wait = wait
        self._chosen = chosen
        self._other = other
        self._serving: tuple[VectorSet, Embedder | None] | None = None
        self._looked = False
        self._seen: object = None
        """How the sets were when it was last looked."""
        self._made_of: str | None = None
        """How the files of the chosen embedder were then."""

    def close(self) -> None:
        """Let go of all files."""
        if self._serving is not None:
            self._serving[0].close()
        self._serving, self._looked = None, False

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Take the set that answers, and its ledger as it is looked at first, for what they are until the end or `look_again`."""
        serving = self.found()
        with serving[0].consistent_read() if serving is not None else nullcontext():
            yield

    def look_again(self) -> None:
        """Have the next `found` look which set answers."""
        self._looked = False

    def found(self) -> tuple[VectorSet, Embedder | None] | None:
        """The set that answers and its embedder; looked for again while it is not the wanted one, for others may make that."""
        if self._looked and self._serving is not None and self._serving[0].holds:
            return self._serving
        is_there = self._serving is not None and self._serving[0].folder.is_dir()
        if self._looked and is_there and self._is_wanted():
            return self._serving
        now = stamp(self._cache), state_of(self._chosen) if self._chosen is not None else None
        if self._looked and now == self._seen and (is_there or self._serving is None):
            return self._serving
        chosen = self._choose()
        if self._serving is not None and (chosen is None or self._serving[0].folder != chosen[0].folder):
            self._serving[0].close()
            self._serving = None
        if chosen is not None and self._serving is None:
            self._serving = chosen
        self._looked, self._seen, self._made_of = True, now, now[1]
        return self._serving

    def _is_wanted(self) -> bool:
        """Whether the set that answers is the chosen embedder's own, whose files are as they were."""
        if self._serving is None or self._chosen is None:
            return self._serving is not None
        return self._serving[0].model == self._chosen.name and self._made_of == state_of(self._chosen)

    def _choose(self) -> tuple[VectorSet, Embedder | None] | None:
        """The chosen model's set once it is whole; until then another that is, if its questions can be embedded."""
        sets = folders(self._cache)
        if self._chosen is None:
            return next(((self.at(*folder), None) for folder in sets), None)
        name, size = self._chosen.name, self._chosen.dimensions
        named = [folder for folder in sets if folder[1] == name and size in (None, folder[2])]
        own = [folder for folder in named if fits(folder[0], self._chosen)]
        if own and self._is_whole(*own[0]):
            return self.at(*own[0]), self._chosen
        for folder in sets:
            if folder not in named and self._is_whole(*folder):
                maker = self._other(folder[1]) if folder[1] != name else None
                if maker is not None and maker.name == folder[1] and fits(folder[0], maker):
                    return self.at(*folder), maker
        return (self.at(*own[0]), self._chosen) if own else None

    def _is_whole(self, folder: Path, model: str, dimensions: int) -> bool:
        vectors = self.at(folder, model, dimensions)
        try:
            return vectors.ledger().meta("whole") == "1"
        except (Busy, StorageError):
            return False
        finally:
            self.let_go(vectors)

    def let_go(self, vectors: VectorSet) -> None:
        """Close a set, unless it is the one that answers."""
        if self._serving is None or self._serving[0] is not vectors:
            vectors.close()

    def own(self, maker: Embedder) -> VectorSet | None:
        """The set of an embedder's vectors, if there is one; to be let go."""
        for folder, model, size in folders(self._cache, maker.name):
            if maker.dimensions in (None, size) and fits(folder, maker):
                return self.at(folder, model, size)
        return None

    @property
    def outdated(self) -> bool:
        """Whether the chosen embedder's vectors were made by other files than it has now."""
        if self._chosen is None or not state_of(self._chosen):
            return False  # nobody embeds, or nothing can be said of its files
        return any(not fits(folder, self._chosen) for folder, _, _ in folders(self._cache, self._chosen.name))

    def at(self, folder: Path, model: str, dimensions: int) -> VectorSet:
        """The set in a folder; to be let go."""
        if self._serving is not None and self._serving[0].folder == folder:
            return self._serving[0]
        return vector_set.VectorSet(folder, model, dimensions, self._wait)

    def of(self, model: str, dimensions: int) -> VectorSet:
        """The set of a model, made if need be."""
        folder = folder_of(self._cache, model, dimensions)
        if self._serving is not None and self._serving[0].folder == folder and folder.is_dir():
            return self._serving[0]
        return make(folder, model, dimensions, self._wait)

    def _replace(self, folder: Path, maker: Embedder) -> None:
        """Remove a set that other files made, unless another process did meanwhile."""
        if fits(folder, maker):
            return
        if self._serving is not None and self._serving[0].folder == folder:
            self._serving[0].close()
            self._serving = None
        discard(folder)
        self.look_again()

    def to_fill(self, maker: Embedder, seconds: float | None = None) -> VectorSet:
        """The set of an embedder that may have to be asked once how long its vectors are; `seconds` as it is asked them.

        What other files of the same name made is removed, once the present ones were seen to make a vector.
        """
        for folder, _, _ in folders(self._cache, maker.name):
            if not fits(folder, maker):
                maker.embed(["another model"], Role.DOCUMENT, seconds=seconds)
                self._replace(folder, maker)
        if maker.dimensions:
            return self.of(maker.name, maker.dimensions)
        own = folders(self._cache, maker.name)
        if own:
            return self.of(maker.name, own[0][2])
        return self.of(maker.name, int(maker.embed(["dimensions"], Role.DOCUMENT, seconds=seconds).vectors.shape[1]))


def fits(folder: Path, maker: Embedder) -> bool:
    """Whether a set was made by its maker's present files; a set without that note is taken to be, and noted."""
    path = folder / _MARK
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, ValueError):
        before = ""
    now = mark_of(maker, before)
    if not now or now == before:
        return True
    if before and not alike(before, now):
        return False
    with suppress(OSError, StorageError):
        atomic.write(path, now.encode(), durable=False)
    return True


def folder_of(cache: Path, model: str, dimensions: int) -> Path:
    """Where the vectors of one model are kept."""
    return cache / VECTORS / f"{_stem(model)}-{dimensions}"


def folders(cache: Path, model: str | None = None) -> list[tuple[Path, str, int]]:
    """The sets that there are, of all models or of one: folder, model and dimensions, the last written first."""
    listed: list[tuple[float, Path, str, int]] = []
    for folder in (cache / VECTORS).glob("*-*" if model is None else f"{_stem(model)}-*"):
        headers = map(rows.header, sorted(folder.glob(f"rows-{rows.VERSION}-*.vec")))
        header = next((candidate for candidate in headers if candidate is not None and candidate.version == rows.VERSION), None)
        if header is not None and folder == folder_of(cache, header.model, header.dimensions):
            listed.append((_last_written(folder), folder, header.model, header.dimensions))
    return [listing[1:] for listing in sorted(listed, key=lambda listing: (-listing[0], str(listing[1])))]


def _last_written(folder: Path) -> float:
    """When a file of the folder was written last; files that another process removes meanwhile do not count."""
    newest = 0.0
    for file in folder.glob("*"):
        with suppress(OSError):
            newest = max(newest, file.stat().st_mtime)
    return newest


def stamp(cache: Path) -> tuple[tuple[str, float], ...]:
    """A value that changes when a set is made, filled or removed."""
    return tuple(sorted((folder.name, _last_written(folder)) for folder in (cache / VECTORS).glob("*-*")))


def bytes_of(folder: Path) -> int:
    """The bytes that a set takes."""
    return sum(vector_set.size_of(file) for file in folder.glob("*"))


def make(folder: Path, model: str, dimensions: int, wait: float) -> VectorSet:
    """The set in a folder, which is made if need be; raises StorageError."""
    try:
        for level in (folder.parent.parent, folder.parent, folder):
            make_way(level, folder=True)
            make_folder(level)
    except OSError as fault:
        reason = os.strerror(fault.errno or 0).lower()
        raise StorageError(f"cannot make {folder.name}: {reason}", "look at the permissions of `_cache`") from fault
    return vector_set.VectorSet(folder, model, dimensions, wait)


def _stem(model: str) -> str:
    # Models whose names differ in signs alone share a slug.
    return f"{slug(model, 'model')[:40]}-{hashlib.blake2b(model.encode(), digest_size=4).hexdigest()}"
