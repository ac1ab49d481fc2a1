"""Search by meaning agrees with brute force after whatever happened to the notes, and nothing is embedded twice."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy
import orjson
import pytest

from tests.bounds import CAMPAIGN
from tests.git_repos import write
from tests.index.vaults import WORDS, change, make, note, path_of
from tests.index.vectors.made import Words, agrees, brute_force, vectors_of
from vault_tool.config import PERSPECTIVES
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.vectors import passages, row_map, rows
from vault_tool.index.vectors.exact_search import PerspectiveSearch
from vault_tool.index.vectors.hits import StoreUnavailable
from vault_tool.index.vectors.row_map import RowMap
from vault_tool.index.vectors.rows import Header
from vault_tool.index.vectors.service import Vectors
from vault_tool.index.vectors.vector_ledger import Partition
from vault_tool.index.vectors.vector_set import VectorView

QUESTIONS = ("amber and basalt", "what of the fjord?", "stone lasts", "quartz")


@pytest.mark.parametrize("seed", range(6 if CAMPAIGN else 2))
def test_search_agrees_with_brute_force(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = make(tmp_path / "v", 30)
    words = Words()
    vectors = vectors_of(root, words)
    for _ in range(6):
        for _ in range(chance.randrange(1, 6)):
            change(root, chance)
        assert vectors.catch_up().whole
        for question in QUESTIONS:
            truth = brute_force(root, words, question)
            similarities = vectors.similarities(vectors.query(question))
            assert agrees(similarities.top(7), truth)
            assert similarities.of(truth) == pytest.approx(truth, abs=1e-5)
            heads = brute_force(root, words, question, passages=1)
            assert agrees(similarities.leading(7), heads)
            (stands,) = similarities.scores(truth)
            assert dict(zip(stands.paths, stands.head, strict=True)) == pytest.approx(heads, abs=1e-5)
            assert dict(zip(stands.paths, stands.best, strict=True)) == pytest.approx(truth, abs=1e-5)
            assert len(similarities.top(1000)) == len(truth) == vectors.count
    vectors.close()


def test_a_text_may_be_the_first_passage_of_one_note_and_a_later_one_of_another(tmp_path: Path) -> None:
    one, other = passages.keys_of(["Kelp dries.", "Walls stand."]), passages.keys_of(["Walls stand.", "Kelp dries."])
    assert len({*one, *other}) == 4
    file = tmp_path / "rows.vec"
    rows.create(file, Header("made up", 4))
    rows.append(file, 4, 0, [*one, *other], numpy.eye(4, dtype=numpy.float32))
    found = rows.opened(file, 4, 4)
    assert found is not None
    assert found.first_passages().tolist() == [0, 2]
    assert found.numbers(b"".join([*other, *one])) == [2, 3, 0, 1]


def test_first_passages_are_gathered_for_who_asks_again_and_added_to_as_rows_come(tmp_path: Path) -> None:
    file = tmp_path / "rows.vec"
    rows.create(file, Header("made up", 8))
    vectors = numpy.random.default_rng(1).standard_normal((9000, 8)).astype(numpy.float32)
    keys = [key for n in range(3000) for key in passages.keys_of([f"{n} a", f"{n} b", f"{n} c"])]
    rows.append(file, 8, 0, keys[:3000], vectors[:3000])
    before = rows.opened(file, 8, 3000)
    assert before is not None and before.heads() is None
    first = before.heads()
    assert first is not None and first is before.heads()
    rows.append(file, 8, 3000, keys[3000:], vectors[3000:])
    after = rows.opened(file, 8, 9000)
    assert after is not None
    after.follow(before)
    second = after.heads()
    assert second is not None
    for heads, count in ((first, 1000), (second, 3000)):
        assert heads.numbers.tolist() == list(range(0, 3 * count, 3))
        assert (heads.vectors == vectors[: 3 * count : 3]).all()


def test_a_mapped_file_is_read_as_before_once_its_first_passages_are_gathered(tmp_path: Path) -> None:
    file, count, size = tmp_path / "rows.vec", 11_000, 384
    rows.create(file, Header("made up", size))
    vectors = numpy.random.default_rng(2).standard_normal((count, size)).astype(numpy.float32)
    rows.append(file, size, 0, [key for n in range(count // 2) for key in passages.keys_of([f"{n} a", f"{n} b"])], vectors)
    assert file.stat().st_size > rows._SMALL_BYTES
    opened = rows.opened(file, size, count)
    assert opened is not None and opened.heads() is None
    heads = opened.heads()
    assert heads is not None
    assert (heads.vectors == vectors[::2]).all()
    assert (opened.vectors == vectors).all()


def test_a_row_is_as_near_whoever_was_asked_before(tmp_path: Path) -> None:
    file, count, size = tmp_path / "rows.vec", 6000, 384
    chance = numpy.random.default_rng(3)
    rows.create(file, Header("made up", size))
    vectors = chance.standard_normal((count, size)).astype(numpy.float32)
    keys = [key for n in range(count // 3) for key in passages.keys_of([f"{n} a", f"{n} b", f"{n} c"])]
    rows.append(file, size, 0, keys, vectors)
    opened = rows.opened(file, size, count)
    assert opened is not None
    view = VectorView(Partition(0, "", file.name, count, []), opened, RowMap(), None)
    some = [0, 5999, *map(int, chance.integers(count, size=90)), 3, 3]
    found = []
    for _ in range(2):  # the second has first passages side by side
        for known in (False, True):
            search = PerspectiveSearch("general", view, vectors[7])
            _ = known and search.heads
            found.append(search.at(some).tolist())
            assert search.at([]).tolist() == []
    found.append(search.cosines[some].tolist())
    assert found == [found[0]] * 5
    assert found[0] == pytest.approx((vectors[some] @ vectors[7]).tolist(), abs=1e-3)


def test_nothing_is_embedded_twice(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    words = Words()
    vectors = vectors_of(root, words)
    assert vectors.catch_up().embedded == 16
    shutil.copytree(root / "vault", tmp_path / "before")
    file = root / path_of(1)
    file.write_text(note(1, "Of granite."))
    assert vectors.catch_up().embedded == 1
    shutil.rmtree(root / "vault")
    shutil.copytree(tmp_path / "before", root / "vault")
    file.rename(file.with_name("elsewhere.md"))
    for gone in [*(root / "_cache").glob("catalog*"), root / "_embeddings.json"]:
        gone.unlink()
    again = vectors_of(root, words)
    done = again.catch_up()
    assert (done.embedded, done.behind) == (0, 0)
    assert len(words.calls) == 17
    assert agrees(again.search(again.query("granite"), 5), brute_force(root, words, "granite"))


def test_no_embedder_and_no_vectors(tmp_path: Path) -> None:
    vectors = vectors_of(make(tmp_path / "v"), None)
    assert not vectors.ready
    assert (vectors.missing_count(), vectors.count, vectors.model, vectors.nearest("x", 3)) == (0, 0, "", [])
    assert vectors.catch_up().stopped == "there is no embedder"
    with pytest.raises(StoreUnavailable):
        vectors.search({}, 5)


def test_what_is_behind_is_counted_and_caught_up_in_parts(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 30)
    vectors = vectors_of(root, Words())
    assert vectors.missing_count() == 34
    assert vectors.catch_up(limit=10).behind == 24
    assert not vectors.catch_up(seconds=0).whole
    seen: list[tuple[int, int]] = []
    assert vectors.catch_up(progress=lambda done, total: seen.append((done, total))).whole
    assert seen == [(24, 24)]
    assert vectors.missing_count() == 0


def test_each_perspective_has_its_vectors(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    words = Words(follows_instructions=True)
    vectors = vectors_of(root, words)
    assert vectors.catch_up().embedded == 16 * 5
    assert vectors.perspectives == tuple(PERSPECTIVES)
    hits = vectors.search(vectors.query("decisions made about amber"), 8)
    assert agrees(hits, brute_force(root, words, "decisions made about amber", PERSPECTIVES))
    assert {hit.perspective for hit in hits} <= set(PERSPECTIVES)


def test_nearest_and_between(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    write(root, "vault/a.md", note(100, "kelp lichen kelp", title="", subjects=""))
    write(root, "vault/b.md", note(101, "lichen kelp lichen", title="", subjects=""))
    vectors = vectors_of(root, Words())
    vectors.catch_up()
    assert vectors.nearest("vault/a.md", 3)[0].path == "vault/b.md"
    table = vectors.between(["vault/a.md", "vault/none.md"], ["vault/b.md", "vault/a.md"])
    assert table.shape == (2, 2)
    assert table[0, 1] == pytest.approx(1, abs=1e-5)
    assert table[0, 0] > 0.7
    assert table[1].tolist() == [0, 0]


def test_a_refused_text_is_listed_and_not_asked_for_again(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    words = Words(refuses=lambda text: "it gave NaN" if "quartz" in text else "")
    vectors = vectors_of(root, words)
    done = vectors.catch_up()
    assert (done.embedded, done.refused, done.whole) == (15, 1, True)
    assert [(refusal.path, refusal.reason) for refusal in vectors.refusals()] == [("vault/readme.md", "it gave NaN")]
    asked = len(words.calls)
    assert vectors.catch_up().embedded == 0
    assert len(words.calls) == asked
    write(root, "vault/readme.md", "# A page\n\nWith flint in it.\n")
    assert vectors.catch_up().embedded == 1
    assert vectors.refusals() == []


def test_an_embedder_that_goes_away_leaves_what_it_did(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 120)
    words = Words()
    words.before = lambda: setattr(words, "down", "the machine is off" if words.calls else "")
    vectors = vectors_of(root, words)
    done = vectors.catch_up()
    assert (done.embedded, done.behind, done.stopped) == (50, 74, "the machine is off")
    words.before = lambda: None
    words.down = ""
    assert vectors.catch_up().embedded == 74


def test_secrets_do_not_leave_this_machine(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 3)
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(root, "vault/secret.md", note(50, f"The token is {key} for now."))
    far = Words(remote=True)
    vectors = vectors_of(root, far)
    assert vectors.catch_up().refused == 1
    assert not any(key in text for text in far.calls)
    assert vectors.refusals()[0].path == "vault/secret.md"
    with pytest.raises(EmbeddingUnavailable, match="stays here"):
        vectors.query(f"What is {key} for?")
    assert not any(key in text for text in far.calls)


def test_no_passage_of_a_note_with_a_secret_leaves_this_machine(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 3)
    lines = [f"Line{n:02}" + "aB3dE5gH7jK9" * 4 for n in range(49)]
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])
    write(root, "vault/key.md", note(50, f"In case:\n\n{key}\n\nThat is all."))
    far = Words(remote=True)
    vectors = vectors_of(root, far)
    assert vectors.catch_up().refused > 1
    assert not any("Line" in text for text in far.calls)


def test_the_old_model_answers_until_the_new_one_is_whole(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 30)
    old, new = Words(name="words:old"), Words(name="words:new", dimensions=32, size=32)
    first = vectors_of(root, old)
    first.catch_up()
    first.close()
    vectors = vectors_of(root, new, {"words:old": old})
    assert (vectors.model, vectors.ready) == ("words:old", True)
    vectors.catch_up(limit=10)
    assert vectors.model == "words:old"
    assert vectors.status().filling == "words:new"
    assert agrees(vectors.search(vectors.query("amber"), 5), brute_force(root, old, "amber"))
    assert vectors.catch_up().whole
    assert (vectors.model, vectors.dimensions, vectors.status().filling) == ("words:new", 32, "")
    assert agrees(vectors.search(vectors.query("amber"), 5), brute_force(root, new, "amber"))
    assert {(one.model, one.serving) for one in vectors.status().sets} == {("words:old", False), ("words:new", True)}


def test_what_another_process_embeds_answers_in_one_that_looked_before(tmp_path: Path) -> None:
    root, old, new = make(tmp_path / "v", 30), Words(name="words:old"), Words(name="words:new")
    early, late = vectors_of(root, old), vectors_of(root, old)
    assert [early.ready, late.catch_up().whole, early.ready] == [False, True, True]
    assert agrees(early.search(early.query("amber"), 5), brute_force(root, old, "amber"))
    changed = vectors_of(root, new, {old.name: old})
    assert [changed.model, vectors_of(root, new).catch_up().whole, changed.model] == [old.name, True, new.name]


def test_one_answer_is_of_one_state_and_of_what_was_written_for_it(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 6)
    vectors, another = vectors_of(root, Words()), vectors_of(root, Words())
    vectors.catch_up()
    with vectors.consistent_read():
        before = vectors.count
        write(root, path_of(70), note(70, "Seventy kelp."))
        assert vectors.catch_up().embedded == 1
        assert vectors.search(vectors.query("Seventy kelp."), 1)[0].path == path_of(70)
        # Another process loses all of it and makes it anew: what answers now goes on, the next answer is of the new one.
        shutil.rmtree(root / "_cache" / "vectors")
        another.catch_up()
        write(root, path_of(71), note(71, "Seventyone basalt."))
        another.catch_up()
        assert vectors.search(vectors.query("Seventy kelp."), 1)[0].path == path_of(70)
    assert vectors.count == another.count == before + 2
    assert vectors.search(vectors.query("Seventyone basalt."), 1)[0].path == path_of(71)
    for each in (vectors, another):
        each.close()


def test_a_model_that_changes_its_dimensions_gets_a_new_set(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    words = Words(dimensions=None)
    vectors = vectors_of(root, words)
    assert vectors.catch_up().whole
    words.size = 32
    write(root, "vault/more.md", note(60))
    done = vectors.catch_up()
    assert (done.embedded, done.whole) == (17, True)
    assert vectors.dimensions == 32
    assert agrees(vectors.search(vectors.query("amber"), 5), brute_force(root, words, "amber"))


def test_the_export_names_every_text(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    vectors = vectors_of(root, Words())
    vectors.catch_up()
    said = orjson.loads((root / "_embeddings.json").read_bytes())
    assert (said["version"], said["model"], said["dimensions"], said["count"]) == (1, "words:hashed", 64, 16)
    assert {row for note in said["notes"].values() for row in note["perspectives"]["general"]["rows"]} == set(range(16))
    assert {len(vector) for vector in said["entries"].values()} == {64} and len(said["entries"]) == 16
    (root / path_of(1)).unlink()
    assert vectors.missing_count() == 0 and vectors.export_waits
    vectors.export_if_small()
    assert orjson.loads((root / "_embeddings.json").read_bytes())["count"] == 15


def test_the_background_is_measured_once_there_is_enough(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    for number in range(1000, 1300):
        write(root, f"vault/x/{number}.md", note(number, f"{number} {WORDS[number % 12]} w{number * 7}"))
    vectors = vectors_of(root, Words())
    assert vectors.background().n == 0
    vectors.catch_up()
    found = vectors.background()
    assert found.n > 10_000
    assert -1 < found.mean < found.q90 < found.q99 <= found.q999 <= 1


def test_a_note_that_changes_while_others_are_embedded(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 1200)
    words = Words()
    edited: list[int] = []

    def edit() -> None:
        if not edited:
            for number in range(1200):
                (root / path_of(number)).write_text(note(number, f"Amber {number}."))
            edited.append(1)

    words.before = edit
    vectors = vectors_of(root, words)
    vectors.catch_up()
    for _ in range(3):
        done = vectors.catch_up()
    assert done.whole
    assert agrees(vectors.search(vectors.query("amber 7"), 30), brute_force(root, Words(), "amber 7"))


@pytest.mark.parametrize("seed", range(4))
def test_where_notes_are_is_told_alike_to_who_asks_once_again_and_often(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = make(tmp_path / "v", 20)
    words = Words()
    often = vectors_of(root, words)
    for _ in range(4):
        change(root, chance)
        assert often.catch_up().whole
        for question in (*QUESTIONS, *QUESTIONS):
            # A few at a time: who is told of all at once never asks again.
            every = sorted(brute_force(root, words, question))
            asked = often.similarities(often.query(question))
            for path in every:
                asked.of([path])
            once = vectors_of(root, words)
            first = once.similarities(once.query(question))
            assert agrees(asked.leading(9), {hit.path: hit.cosine for hit in first.leading(9)})
            assert asked.of(every) == pytest.approx(first.of(every), abs=1e-6)
            assert asked.nearest_of(every[:3], 4, every) == first.nearest_of(every[:3], 4, every)
            once.close()
    often.close()


def test_who_still_asks_of_an_earlier_state_takes_nothing_from_those_who_ask_of_the_present_one(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 16)
    words = Words()
    vectors = vectors_of(root, words)
    vectors.catch_up()
    for number in range(12):
        _told(vectors, [path_of(number), f"vault/nothing-{number}.md"])
    before = vectors.similarities(vectors.query("basalt"))
    new = root / path_of(40)
    new.write_text(note(40, "Basalt is a stone."))
    vectors.catch_up()
    now = vectors.similarities(vectors.query("basalt"))
    assert before.of([path_of(40)]) == {}
    assert now.of([path_of(40)]).keys() == {path_of(40)}
    assert vectors.similarities(vectors.query("basalt")).of([path_of(40)]).keys() == {path_of(40)}
    vectors.close()


def _told(vectors: Vectors, paths: Sequence[str]) -> tuple[dict[str, tuple[int, ...]], dict[int, set[str]] | None]:
    """Where notes are said to be, and which notes each row is said to begin."""
    exact = vectors._exact()
    view = exact._view("general")
    assert view is not None
    places = view.places.of(exact._ledger(), view.partition.number, view.rows, paths)
    headings = view.places.headings()
    return places, None if headings is None else {row: set(paths) for row, paths in headings.items()}


@pytest.mark.parametrize("few", [row_map._FEW, 9])
@pytest.mark.parametrize("seed", range(6 if CAMPAIGN else 2))
def test_places_that_are_kept_for_who_asks_often_follow_everychange(
    tmp_path: Path, seed: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_map, "_FEW", few)
    chance = random.Random(seed)
    root = make(tmp_path / "v", 16)
    words, other = Words(), Words()
    vectors = vectors_of(root, words)
    vectors.catch_up()
    for number in range(12):
        _, headings = _told(vectors, [path_of(number), f"vault/nothing-{number}.md"])
    assert (headings is None) == (few < 12)
    for turn in range(12):
        for _ in range(chance.randrange(1, 4)):
            change(root, chance)
        match chance.randrange(4):
            case 0:
                vectors.catch_up(limit=2)  # some are not embedded yet
            case 1:
                vectors_of(root, other).catch_up()  # another process did it
            case 2:
                words.refuses = lambda text: "no" if "kelp" in text else ""
                vectors.catch_up()
                words.refuses = lambda text: ""
            case _:
                vectors.catch_up()
        every = sorted(vectors._exact()._ledger().joined_keys())
        places, headings = _told(vectors, [*every, "vault/nothing.md", f"vault/nothing-{turn}.md"])
        fresh = vectors_of(root, words)
        expected, _ = _told(fresh, [*every, "vault/nothing.md", f"vault/nothing-{turn}.md"])
        assert places == expected
        if headings is not None:
            begun = {path: rows[0] for path, rows in expected.items() if rows and rows[0] >= 0}
            assert headings == {row: {path for path in begun if begun[path] == row} for row in begun.values()}
        fresh.close()
    vectors.close()


def test_the_first_passages_of_all_come_first_and_of_these_the_most_linked(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 0)
    long = " ".join(f"Sentence {n} is about kelp and stone." for n in range(40))
    for number in range(4):
        link = "Seen with [[Note 2]] and [[Note 3]]. " if number < 2 else "Seen with [[Note 3]]. " if number == 2 else ""
        write(root, path_of(number), note(number, f"{link}{long}", title=f"Note {number}"))
    words = Words()
    vectors = vectors_of(root, words)
    assert vectors.catch_up(limit=4).embedded == 4
    begun = [text.partition("Seen with")[0].partition("Sentence")[0].split(": ")[1].strip(" .") for text in words.calls]
    assert begun[:2] == ["Note 3", "Note 2"]
    assert sorted(begun) == ["Note 0", "Note 1", "Note 2", "Note 3"]
    similarities = vectors.similarities(vectors.query("kelp"))
    assert len(similarities.top(10)) == 4, "what has its beginning embedded answers before the rest is"
    assert vectors.catch_up().whole
    assert len(words.calls) > 12
    vectors.close()
