"""What `auto` takes: a local Ollama that has the model, else the files, else nobody; and what it says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from tests.wording import typed
from vault_tool.index.embedding.choose import choose, choose_anew
from vault_tool.index.embedding.onnx import FILES
from vault_tool.machine import Key, Machine, unusable


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each choice anew, and as on a machine where no package brings a model."""
    for name in ("PACKAGE", "MULTILINGUAL_PACKAGE"):
        monkeypatch.setattr(f"vault_tool.index.embedding.choose.{name}", "no_such_package")
    choose_anew()
    yield
    choose_anew()


def _with_files(folder: Path) -> Path:
    for name in FILES:
        (folder / name).write_text("x")
    return folder


def test_ollama_first_when_it_has_the_model(tmp_path: Path) -> None:
    with FakeOllama() as server:
        found = choose(Machine(ollama_host=server.url), _with_files(tmp_path))
        assert found.embedder is not None
        assert (found.provider, found.embedder.name, found.tried) == ("ollama", "ollama:nomic-embed-text", ())
        assert not server.asked("/api/embed")


def test_what_was_picked_is_remembered(tmp_path: Path) -> None:
    with FakeOllama() as server:
        first = choose(Machine(ollama_host=server.url), tmp_path)
        assert choose(Machine(ollama_host=server.url), tmp_path) is first
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (FakeOllama(mode=Mode.REFUSE), "nobody answers"),
        (FakeOllama(models={"llama3:latest": 8}), "has no nomic-embed-text"),
        (FakeOllama(listing=Mode.HANG), "did not answer within 0.8 s"),
        (FakeOllama(listing=Mode.HTML), "is no Ollama"),
    ],
)
def test_else_the_files(tmp_path: Path, server: FakeOllama, why: str) -> None:
    with server:
        found = choose(Machine(ollama_host=server.url), _with_files(tmp_path))
    assert found.provider == "local"
    assert len(found.tried) == 1
    assert why in found.tried[0]
    assert not server.asked("/api/pull")


def test_else_nobody_and_what_to_do(tmp_path: Path) -> None:
    with FakeOllama(mode=Mode.REFUSE) as server:
        found = choose(Machine(ollama_host=server.url, openai_key=Key("sk-there-is-one")), tmp_path)
    assert (found.embedder, found.provider) == (None, "none")
    assert "vt embed --download" in typed(found.tried[1])


def test_auto_sends_nothing_to_another_machine(tmp_path: Path) -> None:
    found = choose(Machine(ollama_host="http://192.0.2.1:11434"), tmp_path)
    assert found.provider == "none"
    assert "another machine" in found.tried[0]


@pytest.mark.parametrize("provider", ["ollama", "openai", "local"])
def test_who_is_chosen_by_name_is_not_asked_first(tmp_path: Path, provider: str) -> None:
    found = choose(Machine(provider=provider, ollama_host="http://192.0.2.1:1", sources={"provider": "_config.json"}), tmp_path)
    assert found.embedder is not None
    assert (found.embedder.provider, found.why) == (provider, f"_config.json says {provider}")
    assert found.embedder.remote is (provider != "local")


def test_none_and_settings_with_faults_are_nobody(tmp_path: Path) -> None:
    assert choose(Machine(provider="none"), tmp_path).embedder is None
    found = choose(unusable("_config.json is not JSON"), _with_files(tmp_path))
    assert (found.embedder, found.why) == (None, "_config.json is not JSON")
