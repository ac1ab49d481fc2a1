"""Exact search: the cosine of a question with every vector there is, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

from vault_tool.errors import Busy, StorageError
from vault_tool.index.vectors.hits import GENERAL, Background, Matrix, StoreUnavailable, Vector, VectorHit
from vault_tool.index.vectors.rows import FirstPassages, Numbers, Rows
from vault_tool.index.vectors.vector_ledger import VectorLedger
from vault_tool.index.vectors.vector_set import VectorSet, VectorView
from vault_tool.util.background import Future
from vault_tool.util.deferred import numpy as np

# The least deviation that cosines are measured by.
_LEAST = 0.02
_FIRST_LOOK = 40
_MORE = 4
_AT_ONCE = 16
_WORTH_ALL = 0.1
_PART = 65_536
# A product of fewer takes 3 ms, and two threads that take turns at the interpreter lose more than that.
_WORTH_A_THREAD = 30_000


class PerspectiveSearch:
    """One perspective as it is searched: its rows and the question; products are made when they are asked."""

    def __init__(self, perspective: str, view: VectorView, query: Vector) -> None:
        self.perspective = perspective
        self.view = view
        self.rows = view.rows
        self._query = query
        self._cosines: Vector | None = None
        self._heads: tuple[Numbers, Vector] | None = None
        self._begun: Future[Vector] | None = None

    def begin(self) -> None:
        """Have the product with first passages made beside other work, where these are many, and side by side in memory."""
        if self._gathered is not None and len(self._gathered.numbers) >= _WORTH_A_THREAD:
            self._begun = Future(partial(_product, self._gathered.vectors, self._query))

    @property
    def cosines(self) -> Vector:
        """The question's cosine with every row."""
        if self._cosines is None:
            self._cosines = _product_with_all(_readable(self.rows), self._query)
        return self._cosines

    @property
    def heads(self) -> tuple[Numbers, Vector]:
        """The rows of first passages, and the question's cosine with each."""
        if self._heads is None:
            self._heads = self._cosines_of_heads()
        return self._heads

    def _cosines_of_heads(self) -> tuple[Numbers, Vector]:
        if self._gathered is None:
            numbers = self.rows.first_passages()
            return numbers, self.cosines[numbers]
        product = self._begun.result() if self._begun is not None else _product(self._gathered.vectors, self._query)
        return self._gathered.numbers, product

    @cached_property
    def _gathered(self) -> FirstPassages | None:
        # Asked once: whoever asks the rows a second time has them gathered.
        return _readable(self.rows).heads()

    @property
    def first_passages(self) -> tuple[Numbers, Matrix]:
        """The rows of first passages, ascending, with their vectors."""
        if self._gathered is not None:
            return self._gathered.numbers, self._gathered.vectors
        numbers = self.rows.first_passages()
        return numbers, _readable(self.rows).vectors_at(numbers)

    def at(self, numbers: list[int]) -> Vector:
        """Its cosine with some rows."""
        if self._cosines is None and len(numbers) < _WORTH_ALL * len(self.rows):
            return self._without_all(np.array(numbers, np.intp))
        cosines: Vector = self.cosines[numbers]
        return cosines

    def _without_all(self, numbers: Numbers) -> Vector:
        """The same without a product with every row; those of first passages are known where these were asked for."""
        if self._heads is None or not len(self.heads[0]):
            return _product(_readable(self.rows).vectors_at(numbers), self._query)
        firsts, known = self.heads
        at = np.minimum(np.searchsorted(firsts, numbers), len(firsts) - 1)
        cosines: Vector = known[at]
        others = np.flatnonzero(firsts[at] != numbers)
        cosines[others] = _product(_readable(self.rows).vectors_at(numbers[others]), self._query)
        return cosines


class PerspectiveScores(NamedTuple):
    """How several files stand to a question by one perspective. Of each in turn: the cosine of its first passage (of all,
    where that one has no vector), of its best, and of all on average.
    """

    perspective: str
    paths: Sequence[str]
    head: Vector
    best: Vector
    whole: Vector


# Files among which the best so many are, as another store believes.
Candidates: TypeAlias = Callable[[int], Collection[str]]


class Similarities:
    """How every text of the vault stands to one question. A picture of one moment: notes that change later are not in it."""

    def __init__(self, ledger: VectorLedger, searches: Sequence[PerspectiveSearch], candidates: Candidates | None = None) -> None:
        self._ledger = ledger
        self._searches = searches
        self._candidates = candidates

    def begin(self) -> None:
        """Have what `leading` and `spread` ask for made beside other work from now on."""
        if self._candidates is None:
            for search in self._searches:
                search.begin()

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
        for search in self._searches:
            every = range(len(search.rows))
            for hit in _best_of(self._ledger, search.rows, search.perspective, every, search.cosines, limit):
                _keep(best, hit)
        return _ranked(best.values(), limit)

    def leading(self, limit: int) -> list[VectorHit]:
        """The best files by their first passage and perspective, best first: what a text is about stands at its beginning.

        A fraction of the time of `top` where notes are long, and better candidates: of many passages one is near by chance.
        """
        if self._candidates is not None:
            return self.top(limit)
        best_of_searches = (
            _best_heads(self._ledger, search.view, search.perspective, *search.heads, limit) for search in self._searches
        )
        if len(self._searches) == 1:
            return next(best_of_searches)
        best: dict[str, VectorHit] = {}
        for hits in best_of_searches:
            for hit in hits:
                _keep(best, hit)
        return _ranked(best.values(), limit)

    def of(self, paths: Collection[str]) -> dict[str, float]:
        """The best cosine of each of these files that has a vector."""
        return {path: hit.cosine for path, hit in self.hits(paths).items()}

    def hits(self, paths: Collection[str]) -> dict[str, VectorHit]:
        """Each of these files that has a vector, by its best passage and perspective."""
        best: dict[str, VectorHit] = {}
        for path, perspective, cosines in self.passages(paths):
            passage = max(cosines, key=lambda n: (cosines[n], -n))
            _keep(best, VectorHit(path, cosines[passage], perspective, passage))
        return best

    def spread(self) -> dict[str, tuple[int, float, float]]:
        """The question's likeness to any note: for each perspective the number, mean and deviation of its cosines
        with their first passages.
        """
        spreads = {}
        for search in self._searches:
            _, cosines = search.heads
            spreads[search.perspective] = (
                (len(cosines), float(cosines.mean()), float(cosines.std())) if len(cosines) else (0, 0.0, 0.0)
            )
        return spreads

    def passages(self, paths: Collection[str]) -> Iterator[tuple[str, str, dict[int, float]]]:
        """For each file and perspective the cosine of each of its passages that has a vector; passage 0 is its head."""
        for search in self._searches:
            places = _places(self._ledger, search.view, paths)
            cosines = iter(search.at([row for rows in places.values() for row in rows if row >= 0]).tolist())
            for path, rows in places.items():
                cosine_of = {n: next(cosines) for n, row in enumerate(rows) if row >= 0}
                if cosine_of:
                    yield path, search.perspective, cosine_of

    def scores(self, paths: Collection[str]) -> Iterator[PerspectiveScores]:
        """How those of these files that have a vector stand to the question, by each perspective."""
        for search in self._searches:
            present: list[str] = []
            rows: list[int] = []
            begins: list[int] = []
            headless: list[int] = []
            for path, places in _places(self._ledger, search.view, paths).items():
                with_vector = _with_vector(places)
                if with_vector:
                    if places[0] < 0:
                        headless.append(len(present))
                    present.append(path)
                    begins.append(len(rows))
                    rows.extend(with_vector)
            if not present:
                continue
            cosines = search.at(rows)
            counts = np.diff([*begins, len(rows)])
            whole = (np.add.reduceat(cosines, begins) / counts).astype(np.float32)
            head = cosines[begins]
            head[headless] = whole[headless]
            yield PerspectiveScores(search.perspective, present, head, np.maximum.reduceat(cosines, begins), whole)

    def windows(self, sentences: Matrix, known: Background, small: float) -> Windows:
        """How near each note is to the sentences of a conversation; see `Windows`."""
        return Windows(self, sentences, known, small)

    def first_passages(self) -> tuple[Numbers, Matrix]:
        """The rows of all first passages, ascending, with their vectors, as the first perspective has them."""
        return self._searches[0].first_passages

    def head_rows(self, paths: Collection[str]) -> dict[str, int]:
        """The row of each of these files' first passage that has a vector."""
        places = _places(self._ledger, self._searches[0].view, paths)
        return {path: rows[0] for path, rows in places.items() if rows and rows[0] >= 0}

    def best_of(self, numbers: Numbers, values: Vector, limit: int) -> list[VectorHit]:
        """The files of the first passages (`numbers`) with the highest `values`, best first."""
        return _best_heads(self._ledger, self._searches[0].view, self._searches[0].perspective, numbers, values, limit)

    def nearest_of(self, paths: Collection[str], limit: int, among: Collection[str]) -> dict[str, list[VectorHit]]:
        """For each of these files the nearest of the others in `among`, by their heads in the first perspective; best first."""
        if not self._searches:
            return {}
        search = self._searches[0]
        at = self.head_rows({*paths, *among})
        present = [path for path in dict.fromkeys(among) if path in at]
        asked = [path for path in paths if path in at]
        if not present or not asked:
            return {}
        rows = _readable(search.rows)
        others = rows.vectors_at([at[path] for path in present])
        nearest = {}
        for path in asked:
            cosines = _product(others, rows.vectors[at[path]])
            # One more than asked for, for the file itself is among them, and all that are as near as the last of these.
            best = [(present[n], cosine) for n, cosine in _best_and_equal(cosines, limit + 1)]
            nearest[path] = _ranked([VectorHit(to, cosine, search.perspective, 0) for to, cosine in best if to != path], limit)
        return nearest


class Windows:
    """How near each note is to the sentences of a conversation, and to each two of them that follow each other.

    Of each first passage the deviations above what the sentence, or the pair, that it is nearest to has in common
    with any note. A small vault's own mean stands beside what is known of unrelated texts, worth `small` texts.
    """

    def __init__(self, similarities: Similarities, sentences: Matrix, known: Background, small: float) -> None:
        self._found = similarities
        self._numbers, vectors = similarities.first_passages()
        cosines = vectors @ sentences.T
        # A pair's vector is the mean of its two, so that its cosines follow from theirs.
        lengths = np.maximum(np.linalg.norm(sentences[:-1] + sentences[1:], axis=1), _LEAST)
        cosines = np.hstack([cosines, (cosines[:, :-1] + cosines[:, 1:]) / lengths])
        share = len(cosines) / (len(cosines) + small)
        mean = share * cosines.mean(axis=0) + (1 - share) * known.mean
        # What is foreign to a vault is far from all of it alike: by so narrow a spread something would always stand out.
        deviation = np.maximum(cosines.std(axis=0), max(known.sd, _LEAST))
        self._deviations: Vector = ((cosines - mean) / deviation).max(axis=1)

    def leading(self, limit: int) -> list[str]:
        """The paths of the nearest notes, best first."""
        return [hit.path for hit in self._found.best_of(self._numbers, self._deviations, limit)]

    def of(self, paths: Collection[str]) -> dict[str, float]:
        """The deviations of each of these notes whose first passage has a vector."""
        rows = self._found.head_rows(paths)
        at = np.searchsorted(self._numbers, list(rows.values()))
        return dict(zip(rows, self._deviations[at].tolist(), strict=True))


class ExactStore:
    """Search over every row of one set. Raises StoreUnavailable where the set cannot be read now."""

    def __init__(self, vectors: VectorSet, instructions: Mapping[str, str]) -> None:
        self._set = vectors
        self._instructions = instructions

    def similarities(self, queries: Mapping[str, Vector], candidates: Candidates | None = None) -> Similarities:
        """The cosine of each question (by perspective) with every text embedded for that perspective."""
        searches = []
        for perspective, query in queries.items():
            view = self._view(perspective)
            if view is None or len(query) != self._set.dimensions:
                continue
            searches.append(PerspectiveSearch(perspective, view, query))
        return Similarities(self._ledger(), searches, candidates)

    def vectors_of(self, paths: Collection[str], perspective: str = GENERAL) -> dict[str, Vector]:
        """One vector a file, of length 1: the mean of its passages'."""
        view = self._view(perspective)
        if view is None:
            return {}
        vectors: dict[str, Vector] = {}
        for path, places in _places(self._ledger(), view, paths).items():
            numbers = _with_vector(places)
            if numbers:
                mean = _readable(view.rows).vectors_at(list(numbers)).mean(axis=0)
                length = float(np.linalg.norm(mean))
                if length > 0:
                    vectors[path] = (mean / length).astype(np.float32)
        return vectors

    def nearest(self, paths: Collection[str], limit: int, perspective: str = GENERAL) -> dict[str, list[VectorHit]]:
        """For each of these files the others whose first passage is nearest to it, best first."""
        view = self._view(perspective)
        if view is None:
            return {}
        vectors = list(self.vectors_of(paths, perspective).items())
        nearest: dict[str, list[VectorHit]] = {}
        for start in range(0, len(vectors), _AT_ONCE):
            batch = vectors[start : start + _AT_ONCE]
            # This way round a block of questions costs little more than one.
            numbers, table = _by_heads(view.rows, np.stack([vector for _, vector in batch]))
            for (path, _), cosines in zip(batch, table, strict=True):
                hits = _best_heads(self._ledger(), view, perspective, numbers, cosines, limit + 1)
                nearest[path] = [hit for hit in hits if hit.path != path][:limit]
        return nearest

    def _view(self, perspective: str) -> VectorView | None:
        if perspective not in self._instructions:
            return None
        try:
            view = self._set.view(self._instructions[perspective])
            if view is not None:
                view.places.drop_stale(self._set.ledger(), view.rows)
            return view
        except (Busy, StorageError) as fault:
            raise StoreUnavailable(fault.message) from fault

    def _ledger(self) -> VectorLedger:
        try:
            return self._set.ledger()
        except (Busy, StorageError) as fault:
            raise StoreUnavailable(fault.message) from fault


def _readable(rows: Rows) -> Rows:
    """The rows, looked at once more right before reading: a mapped file that was cut meanwhile ends the process."""
    if not rows.sound():
        raise StoreUnavailable("the file of vectors was cut short while it was open")
    return rows


def _product(vectors: Matrix, query: Vector) -> Vector:
    """The product of each row with the query."""
    # As fast as BLAS on two cores, for memory is what it waits for, and leaves no thread spinning beside the rest of the answer.
    product: Vector = np.einsum("ij,j->i", vectors, query)
    return product


def _product_with_all(rows: Rows, query: Vector) -> Vector:
    """The product of every row with the query. Of a mapped file no more than a part counts as this process's memory."""
    if len(rows) <= _PART:
        return _product(rows.vectors, query)

    product = np.empty(len(rows), dtype=np.float32)
    for at in range(0, len(rows), _PART):
        product[at : at + _PART] = _product(rows.vectors[at : at + _PART], query)
        rows.release_pages()
    return product


def _by_heads(rows: Rows, queries: Matrix) -> tuple[Numbers, Matrix]:
    """The rows of first passages, and the cosine of each query with each of them."""
    heads = _readable(rows).heads()
    if heads is not None:
        return heads.numbers, queries @ heads.vectors.T
    numbers = rows.first_passages()
    return numbers, (queries @ rows.vectors.T)[:, numbers]


def table_between(paths: Sequence[str], other: Sequence[str], vectors: Mapping[str, Vector]) -> Matrix:
    """The cosine of each file of one list with each of the other, by the vectors that were found; 0 where one has none."""
    if not vectors or not paths or not other:
        return np.zeros((len(paths), len(other)), dtype=np.float32)
    nothing = np.zeros_like(next(iter(vectors.values())))
    rows, columns = (np.stack([vectors.get(path, nothing) for path in paths]) for paths in (paths, other))
    table: Matrix = rows @ columns.T
    return table


def mean_of(vectors: Sequence[Vector]) -> Vector:
    """The mean direction of several vectors, of length 1."""
    middle: Vector = np.mean(vectors, axis=0, dtype=np.float32)
    return middle / max(float(np.linalg.norm(middle)), 1e-12)


def _best_of(
    ledger: VectorLedger, rows: Rows, perspective: str, numbers: Sequence[int] | Numbers, cosines: Vector, limit: int
) -> list[VectorHit]:
    """The best files by the cosines of some rows; texts that no note has any more are passed over."""

    def owned(at: Sequence[int]) -> list[list[tuple[str, int]]]:
        keys = _readable(rows).keys([int(numbers[n]) for n in at])
        owners = ledger.owners(keys)
        return [owners.get(key, []) for key in keys]

    return _best_owned(owned, perspective, cosines, limit)


def _best_heads(
    ledger: VectorLedger, view: VectorView, perspective: str, numbers: Numbers, cosines: Vector, limit: int
) -> list[VectorHit]:
    """The same by first passages."""
    headings = view.places.headings()
    if headings is None:
        return _best_of(ledger, view.rows, perspective, numbers, cosines, limit)

    def owned(at: Sequence[int]) -> list[list[tuple[str, int]]]:
        return [[(path, 0) for path in headings.get(number, ())] for number in numbers[at].tolist()]

    return _best_owned(owned, perspective, cosines, limit)


def _best_owned(
    owned: Callable[[Sequence[int]], list[list[tuple[str, int]]]], perspective: str, cosines: Vector, limit: int
) -> list[VectorHit]:
    """The best files, where `owned` gives the owners and passages of some of the texts that `cosines` are of."""
    look = max(_FIRST_LOOK, limit + limit // 4)
    while True:
        highest = _highest(cosines, look)
        best: dict[str, VectorHit] = {}
        for cosine, owners in zip(cosines[highest].tolist(), owned(highest), strict=True):
            for path, passage in owners:
                _keep(best, VectorHit(path, cosine, perspective, passage))
        # One file more than asked, so that ties at the limit fall by path and not by row.
        if len(best) > limit or look >= len(cosines):
            return _ranked(best.values(), limit)
        look *= _MORE


def _highest(cosines: Vector, count: int) -> list[int]:
    if count >= len(cosines):
        return list(range(len(cosines)))
    highest: list[int] = np.argpartition(cosines, len(cosines) - count)[len(cosines) - count :].tolist()
    return highest


def _best_and_equal(cosines: Vector, count: int) -> list[tuple[int, float]]:
    """The highest, with all that equal the last of them: each with its number."""
    least = np.partition(cosines, len(cosines) - count)[len(cosines) - count] if count < len(cosines) else -2.0
    candidates = np.flatnonzero(cosines >= least)
    return list(zip(candidates.tolist(), cosines[candidates].tolist(), strict=True))


def _places(ledger: VectorLedger, view: VectorView, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
    """In which rows the passages of each file are, -1 for one without a vector; nothing for a file without texts."""
    return view.places.of(ledger, view.partition.number, view.rows, paths)


def _with_vector(rows: tuple[int, ...]) -> Sequence[int]:
    """Those of a file's rows that are there; nearly always all."""
    return [row for row in rows if row >= 0] if -1 in rows else rows


def _keep(best: dict[str, VectorHit], hit: VectorHit) -> None:
    """Note a hit, if it is the best of its file so far."""
    known = best.get(hit.path)
    if known is None or (hit.cosine, known.passage) > (known.cosine, hit.passage):
        best[hit.path] = hit


def _ranked(hits: Iterable[VectorHit], limit: int) -> list[VectorHit]:
    return sorted(hits, key=lambda hit: (-hit.cosine, hit.path))[: max(limit, 0)]
