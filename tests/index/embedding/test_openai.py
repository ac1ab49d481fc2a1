"""The real client against a server on loopback, and a key that nobody sees."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator

import numpy as np
import pytest

from tests.fakes.loopback import Mode
from tests.fakes.openai_server import DIMENSIONS, FakeOpenAI
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.openai import OpenAI
from vault_tool.index.embedding.served import Limits
from vault_tool.machine import Key

SECRET = "sk-proj-0123456789abcdef0123456789abcdef"
SHORT = Limits(query=0.5, first=0.5, batch=0.5)
"""For servers that never answer; one that does may take its time, however busy the machine is."""
PATIENT = Limits(query=60, batch=60)
TEXTS = [f"The {word} is on the table" for word in ("cat", "dog", "poison", "mouse", "bird")]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(key=SECRET) as running:
        yield running


def _embedder(server: FakeOpenAI, key: str = SECRET, limits: Limits = PATIENT) -> OpenAI:
    return OpenAI(Key(key), server.base_url, limits=limits, retries=1)


def test_vectors_and_what_is_asked(server: FakeOpenAI) -> None:
    embedder = _embedder(server)
    done = embedder.embed(["soup", ""], Role.QUERY, "Represent for cooks:")
    assert done.vectors.shape == (2, DIMENSIONS)
    assert np.allclose(np.linalg.norm(done.vectors, axis=1), 1.0, atol=1e-6)
    asked = server.requests[0]
    assert asked.body["input"] == ["soup", " "]
    assert asked.body["model"] == "text-embedding-3-small"
    assert (embedder.name, embedder.dimensions, embedder.remote) == ("openai:text-embedding-3-small", 1536, False)


def test_an_empty_text_is_no_request_that_is_declined(server: FakeOpenAI) -> None:
    assert not _embedder(server).embed([""], Role.DOCUMENT).refused
    assert server.requests[0].body["input"] == [" "]


def test_elsewhere_is_remote() -> None:
    assert OpenAI(Key(SECRET), "https://api.openai.com/v1").remote


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (Mode.NAN, "NaN"),
        (Mode.INF, "infinity"),
        (Mode.NULL, "NaN"),
        (Mode.EMPTY, "empty"),
        (Mode.SHORT, f"{DIMENSIONS - 1} numbers"),
        (Mode.FEW, "0 vectors came for 1 texts"),
        (Mode.ZERO, "no direction"),
    ],
)
def test_only_the_bad_text_is_refused(server: FakeOpenAI, mode: Mode, reason: str) -> None:
    server.mode, server.poison = mode, "poison"
    done = _embedder(server).embed(TEXTS, Role.DOCUMENT)
    assert 2 in done.refused
    assert reason in done.refused[2]
    assert len(done.refused) == 1
    assert np.isfinite(done.vectors).all()


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (Mode.REFUSE, "cannot be reached"),
        (Mode.HANG, "did not answer"),
        (Mode.DRIP, "did not answer"),
        (Mode.ERROR, "answered 500"),
        (Mode.HTML, "does not speak OpenAI's protocol"),
        (Mode.DROP, "broke off"),
        (Mode.WRONG, f"{DIMENSIONS // 2} numbers"),
        (Mode.OTHER, "does not speak OpenAI's protocol"),
        (Mode.NEST, "does not speak OpenAI's protocol"),
        (Mode.INFLATE, "compressed"),
        (Mode.WIDE, "sends more than"),
        (Mode.ENDLESS, "sends more than"),
        (Mode.HEADERS, "broke off"),
        (Mode.LIMITED, "answered 429"),
        (Mode.UNAUTHORIZED, "refuses the key (401)"),
    ],
)
def test_one_line_without_the_key(mode: Mode, words: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeOpenAI(mode=mode, key=SECRET) as server:
        embedder = _embedder(server, limits=SHORT if mode in (Mode.HANG, Mode.DRIP) else PATIENT)
        with pytest.raises(EmbeddingUnavailable) as caught:
            embedder.embed(TEXTS, Role.QUERY)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
        shown = "".join(traceback.format_exception(caught.value)) + repr(embedder) + repr(vars(embedder)) + caplog.text
        assert SECRET not in shown
        assert len(server.requests) <= 2


def test_a_refusal_that_repeats_the_key_is_not_repeated(server: FakeOpenAI) -> None:
    other = SECRET[::-1]
    with pytest.raises(EmbeddingUnavailable) as caught:
        _embedder(server, other).embed(["soup"], Role.DOCUMENT)
    shown = "".join(traceback.format_exception(caught.value))
    assert other not in shown
    assert "OPENAI_API_KEY" in shown


def test_without_a_key_nothing_is_sent(server: FakeOpenAI) -> None:
    with pytest.raises(EmbeddingUnavailable, match="no key"):
        _embedder(server, "").embed(["soup"], Role.DOCUMENT)
    assert not server.requests


def test_text_and_key_follow_no_redirection_and_take_no_proxy_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI() as other:
        sly = FakeOpenAI(mode=Mode.REDIRECT, elsewhere=f"{other.base_url}/embeddings")
        with sly, pytest.raises(EmbeddingUnavailable, match="answered 307"):
            _embedder(sly).embed(["soup"], Role.DOCUMENT)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, other.url)
        with FakeOpenAI() as server:
            assert not _embedder(server).embed(["soup"], Role.DOCUMENT).refused
        assert not other.requests
