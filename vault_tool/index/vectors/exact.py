"""Exact search: the cosine of a question with every vector there is, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_tool.errors import Busy, StorageError
from vault_tool.index.vectors.ledger import Ledger
from vault_tool.index.vectors.port import GENERAL, Matrix, StoreUnavailable, Vector, VectorHit, Where
from vault_tool.index.vectors.rows import KEY_BYTES, Numbers, Rows
from vault_tool.index.vectors.vector_set import VectorSet

if TYPE_CHECKING:
    import numpy

_FIRST_LOOK = 40
_MORE = 4
_AT_ONCE = 16
_WORTH_ALL = 0.1


class Angle:
    """One perspective as it is searched: its lane's number, its rows and the question; products are made when they are asked."""

    def __init__(self, perspective: str, lane: int, rows: Rows, query: Vector) -> None:
        self.perspective = perspective
        self.lane = lane
        self.rows = rows
        self._query = query
        self._cosines: Vector | None = None
        self._heads: tuple[Numbers, Vector] | None = None

    @property
    def cosines(self) -> Vector:
        """The question's cosine with every row."""
        if self._cosines is None:
            self._cosines = _readable(self.rows).vectors @ self._query
        return self._cosines

    @property
    def heads(self) -> tuple[Numbers, Vector]:
        """The rows of first passages, and the question's cosine with each."""
        if self._heads is None:
            numbers, table = _by_heads(self.rows, self._query[None])
            self._heads = numbers, table[0]
        return self._heads

    def at(self, numbers: Sequence[int]) -> Vector:
        """Its cosine with some rows."""
        if self._cosines is None and len(numbers) < _WORTH_ALL * len(self.rows):
            some: Vector = _readable(self.rows).vectors[list(numbers)] @ self._query
            return some
        found: Vector = self.cosines[list(numbers)]
        return found


class Stand(NamedTuple):
    """How one file stands to a question, by one perspective: the cosine of its first passage (of all, where that one has no
    vector), of its best, and of all on average.
    """

    path: str
    perspective: str
    head: float
    best: float
    whole: float


Candidates: TypeAlias = Callable[[int], Collection[str]]
"""Files among which the best so many are, as another store believes."""


class Similarities:
    """How every text of the vault stands to one question. A picture of one moment: notes that change later are not in it."""

    def __init__(self, ledger: Ledger, angles: Sequence[Angle], candidates: Candidates | None = None) -> None:
        self._ledger = ledger
        self._angles = angles
        self._candidates = candidates

    def top(self, limit: int, within: Collection[str] | None = None) -> list[VectorHit]:
        """The best files, each by its best passage and perspective, best first; ties in the order of their paths.

        `within` limits the answer to these paths.
        """
        if within is not None:
            return _ranked(self.hits(within).values(), limit)
        if self._candidates is not None:
            with suppress(StoreUnavailable):
                return _ranked(self.hits(self._candidates(limit)).values(), limit)
        best: dict[str, VectorHit] = {}
        for angle in self._angles:
            every = range(len(angle.rows))
            _keep_best(best, _best_of(self._ledger, angle.rows, angle.perspective, every, angle.cosines, limit))
        return _ranked(best.values(), limit)

    def leading(self, limit: int) -> list[VectorHit]:
        """The best files by their first passage and perspective, best first: what a text is about stands at its beginning.

        A fraction of the time of `top` where notes are long, and better candidates: of many passages one is near by chance.
        """
        if self._candidates is not None:
            return self.top(limit)
        best: dict[str, VectorHit] = {}
        for angle in self._angles:
            _keep_best(best, _best_of(self._ledger, angle.rows, angle.perspective, *angle.heads, limit))
        return _ranked(best.values(), limit)

    def of(self, paths: Collection[str]) -> dict[str, float]:
        """The best cosine of each of these files that has a vector."""
        return {path: hit.cosine for path, hit in self.hits(paths).items()}

    def hits(self, paths: Collection[str]) -> dict[str, VectorHit]:
        """Each of these files that has a vector, by its best passage and perspective."""
        best: dict[str, VectorHit] = {}
        for path, perspective, cosines in self.passages(paths):
            passage = max(cosines, key=lambda n: (cosines[n], -n))
            _keep_best(best, [VectorHit(path, cosines[passage], perspective, passage)])
        return best

    def spread(self) -> dict[str, tuple[int, float, float]]:
        """What the question has in common with any note: for each perspective the number, mean and deviation of its cosines
        with their first passages.
        """
        found = {}
        for angle in self._angles:
            _, cosines = angle.heads
            found[angle.perspective] = (
                (len(cosines), float(cosines.mean()), float(cosines.std())) if len(cosines) else (0, 0.0, 0.0)
            )
        return found

    def passages(self, paths: Collection[str]) -> Iterator[tuple[str, str, dict[int, float]]]:
        """For each file and perspective the cosine of each of its passages that has a vector; passage 0 is its head."""
        for angle in self._angles:
            places = _places(self._ledger, angle.lane, angle.rows, paths)
            cosines = iter(angle.at([row for rows in places.values() for row in rows if row >= 0]).tolist())
            for path, rows in places.items():
                found = {n: next(cosines) for n, row in enumerate(rows) if row >= 0}
                if found:
                    yield path, angle.perspective, found

    def stands(self, paths: Collection[str]) -> Iterator[Stand]:
        """How each of these files that has a vector stands to the question, by each perspective."""
        import numpy  # 100 ms, and most commands look at no vector

        for angle in self._angles:
            places = _places(self._ledger, angle.lane, angle.rows, paths)
            there = {path: [row for row in rows if row >= 0] for path, rows in places.items()}
            there = {path: rows for path, rows in there.items() if rows}
            if not there:
                continue
            counts = [len(rows) for rows in there.values()]
            begins = numpy.cumsum([0, *counts[:-1]])
            cosines = angle.at(list(chain.from_iterable(there.values())))
            heads, best = cosines[begins].tolist(), numpy.maximum.reduceat(cosines, begins).tolist()
            whole = (numpy.add.reduceat(cosines, begins) / counts).tolist()
            for at, path in enumerate(there):
                yield Stand(path, angle.perspective, heads[at] if places[path][0] >= 0 else whole[at], best[at], whole[at])

    def nearest_of(self, paths: Collection[str], limit: int, among: Collection[str]) -> dict[str, list[VectorHit]]:
        """For each of these files the nearest of the others in `among`, by their heads in the first perspective; best first."""
        if not self._angles:
            return {}
        angle = self._angles[0]
        at = {
            path: rows[0]
            for path, rows in _places(self._ledger, angle.lane, angle.rows, {*paths, *among}).items()
            if rows and rows[0] >= 0
        }
        there = [path for path in dict.fromkeys(among) if path in at]
        asked = [path for path in paths if path in at]
        vectors = _readable(angle.rows).vectors
        table = vectors[[at[path] for path in asked]] @ vectors[[at[path] for path in there]].T
        found = {}
        for path, cosines in zip(asked, table.tolist(), strict=True):
            hits = zip(there, cosines, strict=True)
            found[path] = _ranked([VectorHit(to, cosine, angle.perspective, 0) for to, cosine in hits if to != path], limit)
        return found


class ExactStore:
    """Search over every row of one set. Raises StoreUnavailable where the set cannot be read now."""

    name = "exact"
    approximate = False

    def __init__(self, vectors: VectorSet, instructions: Mapping[str, str]) -> None:
        self._set = vectors
        self._instructions = instructions

    def search(self, queries: Mapping[str, Vector], limit: int, within: Where | None = None) -> list[VectorHit]:
        """See `VectorStore`."""
        found = self.similarities(queries)
        return found.top(limit, self._ledger().matching(within) if within else None)

    def similarities(self, queries: Mapping[str, Vector], candidates: Candidates | None = None) -> Similarities:
        """The cosine of each question (by perspective) with every text embedded for that perspective."""
        angles = []
        for perspective, query in queries.items():
            view = self._view(perspective)
            if view is None or len(query) != self._set.dimensions:
                continue
            lane, rows = view
            angles.append(Angle(perspective, lane, rows, query))
        return Similarities(self._ledger(), angles, candidates)

    def vectors_of(self, paths: Collection[str], perspective: str = GENERAL) -> dict[str, Vector]:
        """One vector a file, of length 1: the mean of its passages'."""
        import numpy  # 100 ms, and most commands look at no vector

        view = self._view(perspective)
        if view is None:
            return {}
        lane, rows = view
        found: dict[str, Vector] = {}
        for path, places in _places(self._ledger(), lane, rows, paths).items():
            numbers = [row for row in places if row >= 0]
            if numbers:
                mean = _readable(rows).vectors[numbers].mean(axis=0)
                length = float(numpy.linalg.norm(mean))
                if length > 0:
                    found[path] = (mean / length).astype(numpy.float32)
        return found

    def nearest(self, paths: Collection[str], limit: int, perspective: str = GENERAL) -> dict[str, list[VectorHit]]:
        """For each of these files the others whose first passage is nearest to it, best first."""
        import numpy  # as above

        view = self._view(perspective)
        if view is None:
            return {}
        vectors = list(self.vectors_of(paths, perspective).items())
        found: dict[str, list[VectorHit]] = {}
        for start in range(0, len(vectors), _AT_ONCE):
            some = vectors[start : start + _AT_ONCE]
            # This way round a block of questions costs little more than one.
            numbers, table = _by_heads(view[1], numpy.stack([vector for _, vector in some]))
            for (path, _), cosines in zip(some, table, strict=True):
                hits = _best_of(self._ledger(), view[1], perspective, numbers, cosines, limit + 1)
                found[path] = [hit for hit in hits if hit.path != path][:limit]
        return found

    def _view(self, perspective: str) -> tuple[int, Rows] | None:
        if perspective not in self._instructions:
            return None
        try:
            view = self._set.view(self._instructions[perspective])
        except (Busy, StorageError) as fault:
            raise StoreUnavailable(fault.message) from fault
        return (view.lane.number, view.rows) if view is not None else None

    def _ledger(self) -> Ledger:
        try:
            return self._set.ledger()
        except (Busy, StorageError) as fault:
            raise StoreUnavailable(fault.message) from fault


def _readable(rows: Rows) -> Rows:
    """The rows, looked at once more right before they are read: a map of a file that somebody cut ends the process."""
    if not rows.sound():
        raise StoreUnavailable("the file of vectors was cut short while it was open")
    return rows


def _by_heads(rows: Rows, queries: Matrix) -> tuple[Numbers, Matrix]:
    """The rows of first passages, and the cosine of each query with each of them."""
    heads = _readable(rows).heads()
    if heads is not None:
        return heads.numbers, queries @ heads.vectors.T
    numbers = rows.first_passages()
    return numbers, (queries @ rows.vectors.T)[:, numbers]


def table_between(one: Sequence[str], other: Sequence[str], found: Mapping[str, Vector]) -> Matrix:
    """The cosine of each file of one list with each of the other, by the vectors that were found; 0 where one has none."""
    import numpy  # as above

    if not found or not one or not other:
        return numpy.zeros((len(one), len(other)), dtype=numpy.float32)
    nothing = numpy.zeros_like(next(iter(found.values())))
    rows, columns = (numpy.stack([found.get(path, nothing) for path in paths]) for paths in (one, other))
    table: Matrix = rows @ columns.T
    return table


def mean_of(vectors: Sequence[Vector]) -> Vector:
    """What lies between several vectors, of length 1."""
    import numpy  # as above

    middle: Vector = numpy.mean(vectors, axis=0, dtype=numpy.float32)
    return middle / max(float(numpy.linalg.norm(middle)), 1e-12)


def _best_of(
    ledger: Ledger, rows: Rows, perspective: str, numbers: Sequence[int] | Numbers, cosines: Vector, limit: int
) -> list[VectorHit]:
    """The best files by the cosines of some rows; texts that no note has any more are passed over."""
    look = max(_FIRST_LOOK, limit + limit // 4)
    while True:
        highest = _highest(cosines, look)
        keys = rows.keys([int(numbers[at]) for at in highest])
        owners = ledger.owners(keys)
        best: dict[str, VectorHit] = {}
        for cosine, key in zip(cosines[highest].tolist(), keys, strict=True):
            _keep_best(best, [VectorHit(path, cosine, perspective, passage) for path, passage in owners.get(key, ())])
        # One file more than asked, so that ties at the limit fall by path and not by row.
        if len(best) > limit or look >= len(cosines):
            return _ranked(best.values(), limit)
        look *= _MORE


def _highest(cosines: Vector, count: int) -> list[int]:
    import numpy  # as above

    if count >= len(cosines):
        found: numpy.ndarray[tuple[int], numpy.dtype[numpy.intp]] = numpy.arange(len(cosines))
    else:
        found = numpy.argpartition(cosines, len(cosines) - count)[len(cosines) - count :]
    return [int(number) for number in found]


def _places(ledger: Ledger, lane: int, rows: Rows, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
    """In which rows the passages of each file are, -1 for one without a vector; nothing for a file without texts."""
    known = rows.places(ledger.state())
    missing = [path for path in paths if path not in known]
    if missing and _by_rows(ledger, lane, rows):
        keys = ledger.joined_keys(missing)
        numbers = iter(rows.numbers(b"".join(keys.values())))
        known.update((path, tuple(islice(numbers, len(joined) // KEY_BYTES))) for path, joined in keys.items())
        known.update((path, ()) for path in missing if path not in keys)
    elif missing:
        keys_of = ledger.note_keys(missing)
        said = ledger.row_numbers(lane, {key for keys in keys_of.values() for key in keys})
        at = {key: row for key, row in said.items() if row < len(rows)}
        known.update((path, tuple([at.get(key, -1) for key in keys_of.get(path, ())])) for path in missing)
    return {path: known[path] for path in paths}


def _by_rows(ledger: Ledger, lane: int, rows: Rows) -> bool:
    """Whether the rows themselves are to say where texts are: to one who asks again, or where another process may have
    written them anew meanwhile."""
    return rows.asked_before() or ledger.file_of(lane) != rows.name


def _keep_best(best: dict[str, VectorHit], hits: Iterable[VectorHit]) -> None:
    for hit in hits:
        known = best.get(hit.path)
        if known is None or (hit.cosine, known.passage) > (known.cosine, hit.passage):
            best[hit.path] = hit


def _ranked(hits: Iterable[VectorHit], limit: int) -> list[VectorHit]:
    return sorted(hits, key=lambda hit: (-hit.cosine, hit.path))[: max(limit, 0)]
