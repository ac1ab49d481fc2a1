"""The real client against a server on loopback that answers well, badly, slowly or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import DIMENSIONS, FakeOllama
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.asking import EmbeddingServer, NoAnswer
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.ollama import MODEL, Ollama, models_at
from vault_tool.index.embedding.served import BATCH, Limits

SHORT = Limits(query=0.4, first=0.6, batch=0.5, idle=0.5)
"""For servers that never answer; one that does may take its time, however busy the machine is."""
PATIENT = Limits(query=60)
TEXTS = [f"The {word} is on the table" for word in ("cat", "dog", "poison", "mouse", "bird")]


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama() as running:
        yield running


def _embedder(server: FakeOllama, model: str = "") -> Ollama:
    return Ollama(server.url, model, PATIENT)


def _size(embedder: Ollama) -> int | None:
    return embedder.dimensions


class TestAnsweredWell:
    def test_vectors_are_unit_and_alike_where_texts_are(self, server: FakeOllama) -> None:
        embedder = _embedder(server)
        assert _size(embedder) is None
        done = embedder.embed(["the migration of databases", "migration of many databases", "a recipe for soup"], Role.DOCUMENT)
        assert done.vectors.shape == (3, DIMENSIONS)
        assert done.vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(done.vectors, axis=1), 1.0, atol=1e-6)
        near, far = done.vectors[0] @ done.vectors[1], done.vectors[0] @ done.vectors[2]
        assert near > 0.7 > 0.4 > far
        assert (embedder.name, embedder.remote) == ("ollama:nomic-embed-text", False)
        assert _size(embedder) == DIMENSIONS

    def test_at_most_fifty_texts_a_call(self, server: FakeOllama) -> None:
        texts = [f"text {number}" for number in range(2 * BATCH + 7)]
        done = _embedder(server).embed(texts, Role.DOCUMENT)
        assert [len(request.body["input"]) for request in server.asked("/api/embed")] == [BATCH, BATCH, 7]
        assert np.allclose(done.vectors[-1], _embedder(server).embed(texts[-1:], Role.DOCUMENT).vectors[0])

    def test_prefixes_of_the_model_and_the_instruction(self, server: FakeOllama) -> None:
        embedder = _embedder(server)
        embedder.embed(["soup"], Role.QUERY)
        embedder.embed(["soup"], Role.DOCUMENT, "Represent for cooks:")
        seen = [request.body["input"] for request in server.asked("/api/embed")]
        assert seen == [["search_query: soup"], ["search_document: Represent for cooks: soup"]]

    def test_a_model_that_heeds_no_instruction_gets_none(self) -> None:
        with FakeOllama(models={"all-minilm:latest": 32}) as server:
            embedder = _embedder(server, "all-minilm:latest")
            embedder.embed(["soup"], Role.DOCUMENT, "Represent for cooks:")
            assert server.asked("/api/embed")[0].body["input"] == ["soup"]
            assert (embedder.name, embedder.follows_instructions) == ("ollama:all-minilm", False)

    def test_nothing_is_asked_for_no_texts(self, server: FakeOllama) -> None:
        assert len(_embedder(server).embed([], Role.QUERY).vectors) == 0
        assert not server.requests

    def test_slow_is_well_enough(self) -> None:
        with FakeOllama(mode=Mode.SLOW, delay=0.2) as server:
            assert _embedder(server).embed(["soup"], Role.QUERY).vectors.shape == (1, DIMENSIONS)


class TestBadVectors:
    @pytest.mark.parametrize(
        ("mode", "reason"),
        [
            (Mode.NAN, "NaN"),
            (Mode.INF, "infinity"),
            (Mode.NULL, "NaN"),
            (Mode.NAN_ERROR, "unsupported value: NaN"),
            (Mode.EMPTY, "empty"),
            (Mode.SHORT, f"has {DIMENSIONS - 1} numbers where {DIMENSIONS} belong"),
            (Mode.FEW, "0 vectors came for 1 texts"),
            (Mode.ZERO, "no direction"),
        ],
    )
    def test_only_the_bad_text_is_refused_and_why(self, server: FakeOllama, mode: Mode, reason: str) -> None:
        well = _embedder(server).embed(TEXTS, Role.DOCUMENT).vectors
        server.mode, server.poison = mode, "poison"
        done = _embedder(server).embed(TEXTS, Role.DOCUMENT)
        assert list(done.refused) == [2]
        assert reason in done.refused[2]
        assert not done.vectors[2].any()
        kept = [0, 1, 3, 4]
        assert np.array_equal(done.vectors[kept], well[kept])
        assert np.isfinite(done.vectors).all()

    def test_vectors_of_another_size_than_before_are_refused(self, server: FakeOllama) -> None:
        embedder = _embedder(server)
        embedder.embed(["soup"], Role.DOCUMENT)
        server.mode = Mode.WRONG
        with pytest.raises(EmbeddingUnavailable, match=f"has {DIMENSIONS // 2} numbers where {DIMENSIONS} belong"):
            embedder.embed(TEXTS, Role.DOCUMENT)

    def test_texts_that_it_cannot_do_are_not_taken_for_its_own_fault(self, server: FakeOllama) -> None:
        server.mode, server.poison = Mode.NAN_ERROR, "poison"
        texts = [f"poison {number}" for number in range(20)]
        assert len(_embedder(server).embed(texts, Role.DOCUMENT).refused) == len(texts)
        assert len(server.requests) <= 3 * len(texts)

    @pytest.mark.parametrize("mode", [Mode.FEW, Mode.NAN_ERROR, Mode.DIGITS, Mode.MANY])
    def test_a_server_that_does_nothing_right_is_given_up_soon(self, server: FakeOllama, mode: Mode) -> None:
        server.mode = mode
        with pytest.raises(EmbeddingUnavailable, match="does no text"):
            _embedder(server).embed([f"text {number}" for number in range(BATCH)], Role.DOCUMENT)
        assert len(server.requests) <= 60


class TestNoAnswer:
    @pytest.mark.parametrize(
        ("mode", "words"),
        [
            (Mode.REFUSE, "cannot be reached"),
            (Mode.HANG, "did not answer within"),
            (Mode.DRIP, "did not answer within"),
            (Mode.ERROR, "answered 500: something went wrong"),
            (Mode.HTML, "does not speak Ollama's protocol"),
            (Mode.OTHER, "does not speak Ollama's protocol"),
            (Mode.NEST, "does not speak Ollama's protocol"),
            (Mode.INFLATE, "compressed"),
            (Mode.WIDE, "sends more than"),
            (Mode.ENDLESS, "sends more than"),
            (Mode.HEADERS, "broke off"),
            (Mode.DROP, "broke off"),
            (Mode.LIMITED, "answered 429"),
        ],
    )
    def test_one_line_says_what_is_wrong_in_time(self, mode: Mode, words: str) -> None:
        limits = SHORT if mode in (Mode.HANG, Mode.DRIP) else PATIENT
        with FakeOllama(mode=mode) as server:
            with pytest.raises(EmbeddingUnavailable) as caught:
                Ollama(server.url, "", limits).embed(TEXTS, Role.QUERY)
            assert words in str(caught.value)
            assert "\n" not in str(caught.value)
            assert len(server.requests) <= 1

    def test_a_call_that_nobody_waits_for_any_more_ends(self) -> None:
        with FakeOllama(mode=Mode.DRIP) as server, pytest.raises(NoAnswer, match="did not answer in time"):
            EmbeddingServer(server.url, remote=False).ask("/api/embed", {"model": MODEL, "input": TEXTS}, seconds=0.1, most=2**20)

    def test_texts_do_not_follow_a_redirection(self, server: FakeOllama) -> None:
        sly = FakeOllama(mode=Mode.REDIRECT, elsewhere=f"{server.url}/api/embed")
        with sly, pytest.raises(EmbeddingUnavailable, match="answered 307"):
            _embedder(sly).embed(TEXTS, Role.DOCUMENT)
        assert not server.requests

    def test_texts_for_this_machine_take_no_proxy(self, server: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
        with FakeOllama() as proxy:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url)
            assert not _embedder(server).embed(TEXTS, Role.DOCUMENT).refused
            assert not proxy.requests

    def test_who_waits_is_not_made_to_wait_twice(self) -> None:
        with FakeOllama(mode=Mode.HANG) as server:
            embedder = Ollama(server.url, "", SHORT)
            for words in ("did not answer within", "a moment ago"):
                with pytest.raises(EmbeddingUnavailable, match=words):
                    embedder.embed(["soup"], Role.QUERY)
            assert len(server.requests) == 1

    def test_a_model_that_is_not_there_is_named_and_never_pulled_unasked(self, server: FakeOllama) -> None:
        with pytest.raises(EmbeddingUnavailable, match="has no model all-minilm"):
            _embedder(server, "all-minilm").embed(["soup"], Role.DOCUMENT)
        assert not server.asked("/api/pull")


class TestPulling:
    def test_a_pull_tells_how_far_it_is(self, server: FakeOllama) -> None:
        told: list[tuple[int, int]] = []
        embedder = _embedder(server, "all-minilm")
        embedder.pull(lambda done, total: told.append((done, total)))
        assert embedder.embed(["soup"], Role.DOCUMENT).vectors.shape == (1, 32)
        assert told

    def test_a_model_that_nobody_has(self, server: FakeOllama) -> None:
        with pytest.raises(EmbeddingUnavailable, match="file does not exist"):
            _embedder(server, "no-such-model").pull(lambda done, total: None)

    def test_a_report_without_end_is_given_up(self) -> None:
        with FakeOllama(chatter=70_000_000) as server, pytest.raises(EmbeddingUnavailable, match="more than a report is long"):
            # Its length is what ends it, however slowly it comes.
            _embedder(server, "all-minilm").pull(lambda done, total: None)


class TestProbe:
    def test_names_without_the_usual_tag(self, server: FakeOllama) -> None:
        server.models["other:8b"] = 8
        assert models_at(server.url) == ("nomic-embed-text", "other:8b")

    def test_nobody_there_is_not_waited_for(self) -> None:
        with FakeOllama(mode=Mode.REFUSE) as server, pytest.raises(EmbeddingUnavailable, match="nobody answers"):
            models_at(server.url, 86400)

    @pytest.mark.parametrize("listing", [Mode.HANG, Mode.DRIP, Mode.HTML, Mode.ERROR, Mode.DROP])
    def test_whatever_answers_it_ends(self, listing: Mode) -> None:
        with FakeOllama(listing=listing) as server, pytest.raises(EmbeddingUnavailable):
            models_at(server.url, 0.5)
