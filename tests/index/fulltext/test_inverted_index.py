"""Search in any script, by words, phrases and prefixes, whatever a person types."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from vault_tool.index.fulltext.documents import MOST_CLAUSES, SearchDocument, read_query, searchable
from vault_tool.index.fulltext.index_format import Analyzer, Builder
from vault_tool.index.fulltext.inverted_index import InvertedIndex

TEXTS = {
    "redis": SearchDocument(
        "redis", "Fixed Redis connection timeouts", "Redis . Homelab", "Added socket_keepalive=True to the settings."
    ),
    "pool": SearchDocument(
        "pool", "Connection pooling", "Databases", "Pools keep connections, so timeouts are rare.", "observation", "fact"
    ),
    "cafe": SearchDocument("cafe", "Café Müller", "", "Ein Gruß aus der Küche, naïveté", "page"),
    "decomposed": SearchDocument("decomposed", "Cafe\u0301 two", "", "written apart", "page"),
    "moscow": SearchDocument("moscow", "Заметка о Москве", "", "Сервер перезапущен, й не и"),
    "tokyo": SearchDocument("tokyo", "東京都庁の設定", "", "サーバーを再起動しました。猫が好き"),
    "kyoto": SearchDocument("kyoto", "京都の猫", "", "黒猫"),
    "seoul": SearchDocument("seoul", "서버를 다시 시작했다", "", ""),
    "thai": SearchDocument("thai", "เซิร์ฟเวอร์", "", "ภาษาไทย"),
    "order": SearchDocument("order", "Word order", "", "ice red is not what was meant"),
    "phrase": SearchDocument("phrase", "Words in order", "", "the red ice is here"),
}


@pytest.fixture(scope="module")
def lexical(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InvertedIndex]:
    folder = tmp_path_factory.mktemp("lexical") / "one"
    builder = Builder(folder, "english")
    for text in TEXTS.values():
        builder.add(text)
    builder.finish()
    yield InvertedIndex(folder, "english")


def _found(lexical: InvertedIndex, query: str) -> list[str]:
    return [hit.path for hit in lexical.search(query, 20)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("timeout", {"redis", "pool"}),
        ("CONNECTING", {"redis", "pool"}),
        ("socket_keepalive", {"redis"}),
        ("homelab", {"redis"}),
        ("cafe", {"cafe", "decomposed"}),
        ("CAFÉ", {"cafe", "decomposed"}),
        ("cafe\u0301", {"cafe", "decomposed"}),
        ("kuche", {"cafe"}),
        ("москве", {"moscow"}),
        ("СЕРВЕР", {"moscow"}),
        ("東京", {"tokyo"}),
        ("京都", {"tokyo", "kyoto"}),
        ("再起動", {"tokyo"}),
        ("猫", {"tokyo", "kyoto"}),
        ("黒猫", {"kyoto"}),
        ("ｻｰﾊﾞｰ", {"tokyo"}),
        ("서버", {"seoul"}),
        ("ภาษา", {"thai"}),
        ('"red ice"', {"phrase"}),
        ('"ice red"', {"order"}),
        ('"red ice" timeouts', {"phrase"}),
        ('"東京都庁"', {"tokyo"}),
        ("pool*", {"pool"}),
        ("conn*", {"redis", "pool"}),
        ("東京*", {"tokyo"}),
        ("nothing-like-it", set()),
        ("", set()),
        ('"', set()),
        ("*", set()),
        ("AND OR NOT ( ) : ^ ~ + - [a TO b] {} \\ /x/", set()),
        ("is not", {"order", "phrase"}),
    ],
)
def test_queries_find(lexical: InvertedIndex, query: str, expected: set[str]) -> None:
    assert set(_found(lexical, query)) == expected


def test_a_title_weighs_more_than_a_body(lexical: InvertedIndex) -> None:
    assert _found(lexical, "connection pooling")[0] == "pool"
    assert _found(lexical, "redis timeouts")[0] == "redis"


def test_classes_and_types_limit_the_answer(lexical: InvertedIndex) -> None:
    assert [hit.path for hit in lexical.search("timeouts", 5, classes={"observation"})] == ["pool"]
    assert [hit.path for hit in lexical.search("timeouts", 5, types={"fact"})] == ["pool"]
    assert lexical.search("timeouts", 5, classes=()) == []
    assert {hit.path for hit in lexical.search("cafe", 5, classes={"page"})} == {"cafe", "decomposed"}


def test_pending_texts_hide_and_add(lexical: InvertedIndex) -> None:
    pending = {"redis": None, "new": SearchDocument("new", "Redis again", "", "")}
    assert [hit.path for hit in lexical.search("redis", 5, pending=pending)] == ["new"]


def test_a_pending_text_scores_about_as_the_index_would_score_it(lexical: InvertedIndex) -> None:
    for query, path in (("redis timeouts", "redis"), ("東京都庁", "tokyo"), ('"red ice"', "phrase")):
        indexed = lexical.search(query, 1)[0]
        beside = lexical.search(query, 1, pending={path: TEXTS[path]})[0]
        assert beside.path == indexed.path == path
        assert 0.4 < beside.score / indexed.score < 2.5


def test_rare_words_weigh_more(lexical: InvertedIndex) -> None:
    assert lexical.weights("") == {}
    common, rare = lexical.weights("redis zebra")["redi"], lexical.weights("redis zebra")["zebra"]
    assert 0 < common < rare
    best = lexical.search("redis connection", 1)[0]
    assert 0 < best.score / sum(lexical.weights("redis connection").values()) < 5


def test_coverage_is_the_part_of_the_question_that_a_text_has(lexical: InvertedIndex) -> None:
    question = lexical.weights("redis timeouts zebra")  # nothing says anything of zebras
    covered = lexical.coverage(question, ["redis", "pool", "moscow"])
    assert covered["redis"] > covered["pool"] > 0
    assert covered["redis"] < 1
    assert covered.get("moscow", 0) == 0
    waiting = {"pool": SearchDocument("pool", "Zebra", "Redis", "A timeout.")}
    assert lexical.coverage(question, ["redis", "pool"], waiting) == {"redis": covered["redis"], "pool": pytest.approx(1)}
    assert lexical.coverage(question, []) == lexical.coverage({}, ["redis"]) == {}


def _as_long(paths: Collection[str]) -> dict[str, float]:
    return dict.fromkeys(paths, 0.0)


def test_a_long_text_has_many_words_by_chance(lexical: InvertedIndex) -> None:
    classes = {text.record_class for text in TEXTS.values()}
    said = [{"redis": 1.0, "timeouts": 1.0}]
    short = lexical.mentioned(said, 20, classes, _as_long)
    long = lexical.mentioned(said, 20, classes, lambda paths: {"redis": 0.5})
    weights = lexical.weights("redis timeouts")
    assert short["redis"] - long["redis"] == pytest.approx(sum(min(0.5, one) for one in weights.values()))
    assert {path: value for path, value in long.items() if path != "redis"} == {
        path: value for path, value in short.items() if path != "redis"
    }


_WORDS = ("redis", "timeouts", "connections", "settings", "pools", "ice", "red", "words", "weather", "tuesday", "are")


@settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    sentences=st.lists(st.dictionaries(st.sampled_from(_WORDS), st.sampled_from([0.5, 1.0]), max_size=5), max_size=4),
    waiting=st.sets(st.sampled_from(["redis", "pool", "order", "phrase"])),
)
def test_what_a_conversation_mentions_is_what_counting_words_by_hand_gives(
    lexical: InvertedIndex, sentences: list[dict[str, float]], waiting: set[str]
) -> None:
    analyze = Analyzer("english")
    classes = {text.record_class for text in TEXTS.values()}
    texts = {path: set(analyze(f"{text.title} {text.names} {text.body}")) for path, text in TEXTS.items()}
    said = [{analyze(word)[0]: part for word, part in one.items() if analyze.tells(word)} for one in sentences]
    pairs = [{**one, **other} for one, other in pairwise(said)]
    counts = [len(one) for one in said] + [len(one) + len(other) for one, other in pairwise(said)]
    expected: dict[str, float] = {}
    for words, count in zip([*said, *pairs], counts, strict=True):
        rare = lexical.weights(" ".join(words))
        for path, tokens in texts.items():
            if words.keys() & tokens:
                mass = sum(part * rare[word] for word, part in words.items() if word in tokens)
                beyond = mass - math.log(len(TEXTS)) - math.log(max(1, count))
                expected[path] = max(beyond, expected.get(path, beyond))
    found = lexical.mentioned(sentences, 20, classes, _as_long, {path: TEXTS[path] for path in waiting})
    assert found == pytest.approx(expected, abs=1e-4)


def test_changes_are_applied(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "l", "none")
    builder.add(SearchDocument("a", "one", "", ""))
    builder.add(SearchDocument("b", "one", "", ""))
    builder.finish()
    lexical = InvertedIndex(tmp_path / "l", "none")
    lexical.apply({"a": None, "b": SearchDocument("b", "two", "", ""), "c": SearchDocument("c", "one", "", "")})
    assert _found(lexical, "one") == ["c"]
    assert _found(lexical, "two") == ["b"]
    assert lexical.count == 2


def test_a_pasted_page_is_searched_by_its_first_words(lexical: InvertedIndex) -> None:
    page = "redis " + " ".join(f"w{number}" for number in range(50000))
    assert len(read_query(page, str.split)) == MOST_CLAUSES
    assert _found(lexical, page) == ["redis"]
    assert _found(lexical, "京" * 5000 + " redis")


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(query=st.text(max_size=60) | st.text(alphabet='"*()[]{}:^~+-\\/ abc東京', max_size=40))
def test_no_query_fails(lexical: InvertedIndex, query: str) -> None:
    pending = {"redis": TEXTS["redis"], "gone": None}
    for hits in (
        lexical.search(query, 10),
        lexical.search(query, 10, classes=["page"]),
        lexical.search(query, 10, pending=pending),
    ):
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.path))
    assert all(weight >= 0 for weight in lexical.weights(query).values())


def test_runs_without_spaces_become_pairs() -> None:
    assert searchable("plain ASCII stays") == "plain ASCII stays"
    assert searchable("das Café").split() == ["das", "Café"]
    assert searchable("v2の東京都").split() == ["v2", "の東", "東京", "京都", "都"]
    assert searchable("ｶﾞ").split() == ["ガ"]


def test_any_language_can_be_set(tmp_path: Path) -> None:
    for number, language in enumerate(("none", "german", "klingon")):
        builder = Builder(tmp_path / str(number), language)
        builder.add(SearchDocument("a", "Häuser", "", ""))
        builder.finish()
        assert _found(InvertedIndex(tmp_path / str(number), language), "häuser") == ["a"]


_SEAMLESS = st.text(st.sampled_from("我猫公园的什么海にりん゛かご고양이ไหมกิ้ ์東京ーab.7*"), max_size=14)


@settings(deadline=None, max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=_SEAMLESS)
def test_no_question_without_spaces_fails(lexical: InvertedIndex, query: str) -> None:
    lexical.search(query, 5)
    weights = lexical.weights(query)
    shares = lexical.coverage(weights, ["kyoto", "thai"])
    assert all(0 <= share <= 1.001 for share in shares.values())
    asked, counts = lexical.shared(query, ["京都の猫", "ภาษาไทย"])
    assert all(0 <= count <= asked for count in counts)


def test_marks_that_are_no_letters_leave_no_clause(lexical: InvertedIndex) -> None:
    assert lexical.search("ใคริ่", 5) == lexical.search("ใคริ่ ์", 5)
