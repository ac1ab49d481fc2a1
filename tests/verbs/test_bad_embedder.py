"""A server that answers badly, or not at all, never stops full text; and once it is good again nobody need help it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN
from tests.fakes.loopback import Loopback, Mode
from tests.fakes.ollama_server import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from vault_tool import Vault
from vault_tool.index.embedding import choose
from vault_tool.util.clock import FixedClock
from vault_tool.vault.vector_upkeep import keep_vectors

pytestmark = pytest.mark.without_git

WAIT = "embedding_wait = 0.3\n"
BAD = [
    Mode.HANG, Mode.DRIP, Mode.HEADERS, Mode.ENDLESS, Mode.INFLATE, Mode.NEST, Mode.WIDE, Mode.MANY, Mode.OTHER, Mode.DIGITS,
    Mode.WRONG, Mode.DROP, Mode.HTML,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    choose.choose_anew()
    yield
    choose.choose_anew()


def _set(root: Path, option: str) -> None:
    path = root / "vault.toml"
    path.write_text(option + path.read_text())


def _environ(server: Loopback) -> dict[str, str]:
    if isinstance(server, FakeOpenAI):
        return {"VAULT_PROVIDER": "openai", "OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": server.base_url}
    return {"VAULT_PROVIDER": "ollama", "OLLAMA_HOST": server.url}


def _opened(root: Path, server: Loopback, clock: FixedClock, **more: str) -> Vault:
    return Vault.open(root, clock=clock, environ={"HOME": str(root), **_environ(server), **more})


def _asked_to_embed(server: Loopback) -> list[list[str]]:
    return [request.body["input"] for request in server.requests if "input" in request.body]


@pytest.mark.parametrize(
    ("mode", "kind"),
    # Each client meets each of them in its own tests too.
    [(mode, kind) for n, mode in enumerate(BAD) for k, kind in enumerate((FakeOllama, FakeOpenAI)) if CAMPAIGN or n % 2 == k],
)
def test_full_text_answers_and_a_good_server_catches_up(
    root: Path, clock: FixedClock, kind: type[FakeOllama | FakeOpenAI], mode: Mode
) -> None:
    if mode in (Mode.HANG, Mode.DRIP):
        _set(root, WAIT)
    with kind() as server, _opened(root, server, clock) as vault:
        vault.embed()
        vault.remember("Kelp dries on the harbor wall.", ["Harbor"])
        server.mode = mode
        found = vault.search("where does kelp dry?")
        assert any("Kelp" in one.title for one in found.results)
        assert any(said.startswith(("no embeddings", "not embedded yet")) for said in found.degraded)
        assert len(server.requests) <= 40
        assert not vault.embedding.vectors.refusals()
        server.mode = Mode.WELL
        assert (vault.embed().complete, vault.embedding.vectors.missing_count()) == (True, 0)


def test_a_vault_without_vectors_waits_no_longer(root: Path, clock: FixedClock) -> None:
    _set(root, WAIT)
    with FakeOllama(mode=Mode.HANG) as server, _opened(root, server, clock) as vault:
        vault.remember("Kelp dries on the harbor wall.", ["Harbor"])
        for _ in range(3):
            assert vault.search("where does kelp dry?").results
        assert len(_asked_to_embed(server)) == 1


def test_a_slow_server_is_waited_for_once_in_an_answer(root: Path, clock: FixedClock) -> None:
    _set(root, WAIT)
    with FakeOllama() as server, _opened(root, server, clock) as vault:
        vault.embed()
        vault.remember("Kelp dries on the harbor wall.", ["Harbor"])
        server.mode, server.delay = Mode.SLOW, 30.0
        found = vault.search("where does kelp dry?")
        assert found.results
        assert any("no embeddings" in said for said in found.degraded)
        assert len(_asked_to_embed(server)) <= 6 + 1


def test_what_was_refused_is_tried_again_once_texts_are_done_again(root: Path, clock: FixedClock) -> None:
    with FakeOllama() as server, _opened(root, server, clock) as vault:
        vault.embed()
        server.mode, server.poison = Mode.NAN, "kelp"
        vault.remember("Where the kelp dries.", ["Harbor"])
        keep_vectors(vault, 60)
        assert vault.embedding.vectors.refusals()
        server.mode = Mode.WELL
        vault.remember("Salt lies in the barn.", ["Harbor"])
        keep_vectors(vault, 60)
        assert (vault.embedding.vectors.refusals(), vault.embedding.vectors.missing_count()) == ([], 0)


def test_a_text_that_no_server_does_is_tried_ever_less(root: Path, clock: FixedClock) -> None:
    with FakeOllama() as server, _opened(root, server, clock) as vault:
        server.mode, server.poison = Mode.NAN, "kelp"
        vault.remember("Where the kelp dries.", ["Harbor"])
        vault.embed()
        for number in range(12):
            clock.advance(timedelta(minutes=30))
            vault.remember(f"Salt lies in barn {number}.", ["Harbor"])
            keep_vectors(vault, 60)
        tried = sum(any("kelp" in text for text in texts) for texts in _asked_to_embed(server))
        assert len({refusal.path for refusal in vault.embedding.vectors.refusals()}) == 1
        assert tried <= 10 * len(vault.settings.perspectives)
        before = len(_asked_to_embed(server))
        vault.embed()
        assert any("kelp" in text for texts in _asked_to_embed(server)[before:] for text in texts)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"VAULT_PROVIDER": "openai"}, "OPENAI_API_KEY"),
        ({"VAULT_PROVIDER": "local", "VAULT_MODELS": "/nowhere"}, "download=True"),
        ({"VAULT_PROVIDER": "auto", "VAULT_MODELS": "/nowhere", "OLLAMA_HOST": "127.0.0.1:9"}, "download=True"),
    ],
)
def test_advice_is_about_the_provider_that_is_configured(root: Path, environ: dict[str, str], said: str) -> None:
    with Vault.open(root, environ={"HOME": str(root), **environ}) as vault:
        vault.remember("Kelp dries on the harbor wall.", ["Harbor"])
        advice = "\n".join(vault.status().next)
        assert said in advice
        others = {"OPENAI_API_KEY", "download=True", "ollama serve"} - {said}
        assert not [other for other in others if other in advice]


@pytest.mark.parametrize(
    ("url", "said"), [("http://127.0.0.1:9/v1", "start what is to answer there"), ("http://127.0.0.1:9", "")]
)
def test_nobody_is_told_to_start_another_providers_server(root: Path, url: str, said: str) -> None:
    environ = {"HOME": str(root), "VAULT_PROVIDER": "openai", "OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": url}
    with Vault.open(root, environ=environ) as vault:
        degraded = " ".join(vault.search("where does kelp dry?").degraded)
        assert "ollama" not in degraded.lower()
        assert said in vault.embed().stopped or "cannot be reached" in vault.embed().stopped


@pytest.mark.parametrize(
    ("model", "settings", "times"),
    [
        ("bge-m3", "", 1),
        ("multilingual-e5-small", "", 1),
        ("nobody-knows-it", "", 1),
        ("nobody-knows-it", 'active_perspectives = ["general", "technical"]\n', 2),
        ("bge-m3", 'active_perspectives = ["general", "technical"]\n', 1),
        ("nomic-embed-text", "", 5),
    ],
)
def test_only_a_model_that_heeds_instructions_is_given_several(
    root: Path, clock: FixedClock, model: str, settings: str, times: int
) -> None:
    _set(root, settings)
    with FakeOllama(models={f"{model}:latest": 32}) as server, _opened(root, server, clock, VAULT_EMBEDDING_MODEL=model) as vault:
        vault.remember("Kelp dries on the harbor wall.", ["Harbor"])
        vault.embed()
        assert sum("Kelp" in text for texts in _asked_to_embed(server) for text in texts) == times
        before = len(_asked_to_embed(server))
        vault.search("where does the salt lie?")
        (question,) = _asked_to_embed(server)[before:]
        assert sum("salt" in text for text in question) == times
