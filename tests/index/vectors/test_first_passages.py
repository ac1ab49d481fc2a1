"""The copies of a large file of rows: what they answer is what the rows say, and what is not as it was left is made anew."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

from tests.bounds import CAMPAIGN
from tests.git_repos import write
from tests.index import spoiling
from tests.index.vaults import WORDS, make, note, path_of
from tests.index.vectors.made import Words, agrees, brute_force, vectors_of
from vault_tool.index.seals import lock
from vault_tool.index.vectors import row_map, rows
from vault_tool.index.vectors.first_passages import KEYS, VECTORS
from vault_tool.index.vectors.hits import StoreUnavailable
from vault_tool.index.vectors.maintenance import erase
from vault_tool.index.vectors.service import Vectors

QUESTION = "amber and basalt"


@pytest.fixture(autouse=True)
def _every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rows, "_SMALL_BYTES", 0)
    monkeypatch.setattr(rows, "_MOST_TAKEN_IN", 3)
    monkeypatch.setattr(row_map, "_FEW", 8)
    yield


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make(tmp_path / "v", 40)
    for number in range(60, 64):
        body = "\n\n".join(f"{WORDS[n % 12].title()} {number}, {' '.join(WORDS[n % 5 : n % 7 + 5])}." * 9 for n in range(24))
        write(made, path_of(number), note(number, body))
    return made


def _filled(root: Path, words: Words) -> Vectors:
    vectors = vectors_of(root, words)
    assert vectors.catch_up().whole
    return vectors


def _copy(root: Path, prefix: str) -> Path:
    (found,) = root.glob(f"_cache/vectors/*/{prefix}*")
    return found


def _leading(vectors: Vectors, count: int = 50) -> list[tuple[str, float]]:
    hits = vectors.similarities(vectors.query(QUESTION)).leading(count)
    return [(hit.path, round(hit.cosine, 5)) for hit in hits]


def _right(vectors: Vectors, root: Path) -> None:
    truth = brute_force(root, Words(), QUESTION, passages=1)
    found = vectors.similarities(vectors.query(QUESTION))
    assert agrees(found.leading(50), truth)
    assert agrees(found.top(50), brute_force(root, Words(), QUESTION))
    ((count, mean, _),) = found.spread().values()
    assert count == len(truth)
    assert mean == pytest.approx(sum(truth.values()) / len(truth), abs=1e-5)
    assert found.of([path_of(61)])[path_of(61)] == pytest.approx(brute_force(root, Words(), QUESTION)[path_of(61)], abs=1e-5)


def _rows_of(root: Path) -> rows.Rows:
    """All rows of the only set that there is."""
    (file,) = root.glob("_cache/vectors/*/rows-*.vec")
    opened = rows.opened(file, 64, (file.stat().st_size - rows.HEADER_BYTES) // (32 + 4 * 64))
    assert opened is not None
    return opened


def test_the_first_question_is_answered_by_the_copies_as_by_the_rows(root: Path) -> None:
    vectors = _filled(root, Words())
    vectors.close()
    again = vectors_of(root, Words())
    found = again.similarities(again.query(QUESTION))
    assert _copy(root, VECTORS).stat().st_size == 4 * 64 * len(found.first_passages()[0])
    assert len(found.first_passages()[0]) < len(_rows_of(root))
    _right(again, root)
    _right(again, root)


def test_who_asks_often_is_answered_as_by_the_rows_and_keeps_few_places(root: Path) -> None:
    vectors = _filled(root, Words())
    told = _leading(vectors)
    every = sorted(brute_force(root, Words(), QUESTION))
    for number in range(2 * row_map._OFTEN):
        assert _leading(vectors) == told
        some = every[number : number + 5]
        assert set(vectors.similarities(vectors.query(QUESTION)).of(some)) == set(some)
        view = vectors._exact()._view("general")
        assert view is not None
        assert len(view.places._known) <= row_map._FEW
        assert view.places.headings() is None
    _right(vectors, root)


def test_their_keys_are_those_of_the_rows(root: Path) -> None:
    vectors = _filled(root, Words())
    _right(vectors, root)
    view, bare = vectors._exact()._view("general"), _rows_of(root)
    assert view is not None and view.rows.has_copies and not bare.ordered
    some = [3, 0, len(bare) - 1]
    assert view.rows.keys(some) == bare.keys(some)
    assert numpy.array_equal(view.rows.vectors_at(some), bare.vectors[some])


def test_what_comes_is_added_to_them(root: Path) -> None:
    vectors = _filled(root, Words())
    before = _copy(root, VECTORS)
    _right(vectors, root)
    for number in range(70, 75):
        write(root, path_of(number), note(number, f"Of {WORDS[number % 12]} and amber."))
    assert vectors.catch_up().embedded == 5
    assert _copy(root, VECTORS) == before
    _right(vectors, root)
    _right(vectors_of(root, Words()), root)


def test_a_set_of_an_earlier_version_gets_them_by_the_first_question(root: Path) -> None:
    vectors = _filled(root, Words())
    told = _leading(vectors)
    vectors.close()
    for prefix in (VECTORS, KEYS):
        _copy(root, prefix).unlink()
    words = Words()
    again = vectors_of(root, words)
    assert _leading(again) == told
    assert _copy(root, VECTORS).exists() and _copy(root, KEYS).exists()
    assert words.calls == [QUESTION]


def test_without_room_or_turn_for_them_the_rows_answer(root: Path) -> None:
    vectors = _filled(root, Words())
    told = _leading(vectors)
    vectors.close()
    _copy(root, VECTORS).unlink()
    (folder,) = root.glob("_cache/vectors/*")
    with lock(folder / "write.lock", 5, "the vectors"):
        again = vectors_of(root, Words())
        assert [_leading(again) for _ in range(3)] == [told] * 3
        assert not list(folder.glob(f"{VECTORS}*"))


def _older(file: Path, root: Path) -> None:
    shutil.copy2(root.parent / f"{file.name.partition('-')[0]}.older", file)


def _foreign(file: Path, root: Path) -> None:
    other = make(root.parent / "other", 30)
    _filled(other, Words(name="other:words")).close()
    shutil.copy2(_copy(other, VECTORS if file.name.startswith(VECTORS) else KEYS), file)


FAULTS: dict[str, Callable[[Path, Path], None]] = {
    **{name: lambda file, _, fault=fault: fault(file) for name, fault in spoiling.FAULTS.items()},  # type: ignore[misc]
    "older": _older,
    "foreign": _foreign,
}


PLACES = tuple(itertools.product((VECTORS, KEYS), (False, True)))
TRIALS = [
    (fault, *place)
    for n, fault in enumerate(FAULTS)
    for at, place in enumerate(PLACES)
    if CAMPAIGN or at == n % len(PLACES) or fault == "flipped bits"
]
"""Every fault in one place, and one in all of them; in a campaign each with each."""


@pytest.mark.parametrize(("fault", "prefix", "live"), TRIALS)
def test_a_spoilt_copy_is_made_anew(root: Path, fault: str, prefix: str, live: bool) -> None:
    vectors = _filled(root, Words())
    shutil.copy2(_copy(root, prefix), root.parent / f"{prefix.partition('-')[0]}.older")
    write(root, path_of(70), note(70, "Of amber and then of basalt."))
    vectors.catch_up()
    told = _leading(vectors)
    if not live:
        vectors.close()
        vectors = vectors_of(root, Words())
    FAULTS[fault](_copy(root, prefix), root)
    assert _leading(vectors) == told
    _right(vectors, root)
    whole = vectors_of(root, words := Words())
    assert _leading(whole) == told
    assert words.calls == [QUESTION], "embedded again"


@pytest.mark.parametrize("prefix", [VECTORS, KEYS])
def test_one_that_is_cut_in_the_middle_of_an_answer_ends_no_process(root: Path, prefix: str) -> None:
    vectors = _filled(root, Words())
    found = vectors.similarities(vectors.query(QUESTION))
    os.truncate(_copy(root, prefix), 8)
    with pytest.raises(StoreUnavailable):
        found.leading(5)
    _right(vectors, root)


@pytest.mark.parametrize("prefix", [VECTORS, KEYS])
def test_one_that_is_cut_while_another_process_writes_is_read_no_more(root: Path, prefix: str) -> None:
    vectors = _filled(root, Words())
    told = _leading(vectors)
    os.truncate(_copy(root, prefix), 8)
    (folder,) = root.glob("_cache/vectors/*")
    with lock(folder / "write.lock", 5, "the vectors"):
        assert [_leading(vectors) for _ in range(3)] == [told] * 3
    _right(vectors, root)


def test_a_text_that_is_erased_is_in_no_copy(root: Path) -> None:
    write(root, path_of(80), note(80, "Of a secret garnet in the garden."))
    vectors = _filled(root, Words())
    (secret,) = vectors.vectors_of([path_of(80)]).values()
    assert secret.tobytes() in _copy(root, VECTORS).read_bytes()
    vectors.close()
    (root / path_of(80)).unlink()
    erase(root / "_cache", [path_of(80)], 5)
    left = [file for file in root.glob("_cache/vectors/*/*") if secret.tobytes() in file.read_bytes()]
    assert left == []
    again = vectors_of(root, Words())
    assert again.catch_up().embedded == 0
    _right(again, root)


def test_keys_that_came_late_are_found_before_they_are_in_order(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 3)
    vectors = _filled(root, Words())
    keys = _copy(root, KEYS)
    for number in range(100, 130):
        write(root, path_of(number), note(number, f"Of {number} and cedar."))
    assert vectors.catch_up().embedded == 30
    assert _copy(root, KEYS) == keys
    again = vectors_of(root, Words())
    for _ in range(4):
        found = again.similarities(again.query(QUESTION)).of([path_of(n) for n in range(100, 130)])
        assert len(found) == 30
        assert numpy.isfinite(list(found.values())).all()
